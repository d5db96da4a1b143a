// `trawl explain QUERY`: runs a search in a daemon or the local index and explains it.

import type { Command } from 'commander';
import { type CliContext, EXIT_OK } from '../context.ts';
import { formatExplanation } from '../explain-output.ts';
import { addCommonOptions, addExamples } from '../options.ts';
import {
  addQueryOptions,
  openSource,
  type QueryFlags,
  runWith,
  searchCall,
} from '../query-options.ts';

interface ExplainFlags extends QueryFlags {
  readonly json?: true;
}

async function runExplain(query: string, flags: ExplainFlags, context: CliContext): Promise<void> {
  const source = await openSource(flags, context);
  try {
    const call = searchCall(query, flags);
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
    .argument('<query>', 'the query; put -- before one that starts with a dash');
  addQueryOptions(command);
  command.option('--json', 'the explanation as JSON');
  addCommonOptions(command);
  addExamples(command, [
    'trawl explain \'lang:go "func main"\'',
    "trawl explain --regex 'mutex_(un)?lock' --url http://localhost:3000",
  ]);
  runWith(command, runExplain, context);
}
