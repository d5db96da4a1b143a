// `trawl explain QUERY`: runs a search in a daemon or the local index and explains it.

import type { Command } from 'commander';
import type { SearchCall } from '../../api/search/search-schemas.ts';
import { type CliContext, EXIT_OK } from '../context.ts';
import { formatExplanation } from '../explain-output.ts';
import { addCommonOptions, addExamples, integer } from '../options.ts';
import {
  addQueryOptions,
  MATCHES_READ,
  openSource,
  type QueryFlags,
  runWith,
} from '../query-options.ts';

interface ExplainFlags extends QueryFlags {
  readonly json?: true;
}

async function runExplain(
  call: SearchCall,
  flags: ExplainFlags,
  context: CliContext,
): Promise<void> {
  const source = await openSource(flags, context);
  try {
    const explained = await source.explain(call, new AbortController().signal);
    const text = flags.json ? `${JSON.stringify(explained)}\n` : formatExplanation(explained);
    context.stdout.write(text);
    context.setExitCode(EXIT_OK);
  } finally {
    await source.close();
  }
}

export function addExplainCommand(program: Command, context: CliContext): void {
  const command = program
    .command('explain')
    .summary('run a search and explain it')
    .description(
      'Runs a search where "trawl search" does, and shows the plan, all numbers and, to owners, the ' +
        'result of each shard and the reason.',
    )
    .argument('[query...]', 'words of the query; put -- before one that starts with a dash');
  addQueryOptions(command);
  command
    .option('--json', 'the explanation as JSON')
    .option('--matches <count>', 'maximum number of matches', integer(1), MATCHES_READ);
  addCommonOptions(command);
  addExamples(command, [
    'trawl explain \'lang:go "func main"\'',
    "trawl explain --regex 'mutex_(un)?lock' --url http://localhost:3000",
  ]);
  runWith(command, runExplain, context);
}
