// `trawl search QUERY`: searches a daemon or the local index and prints the answer.

import { once } from 'node:events';
import { type Command, Option } from 'commander';
import type { SearchCall, SearchEvent } from '../../api/search/search-schemas.ts';
import { type CliContext, EXIT_ERROR, EXIT_NONE, EXIT_OK } from '../context.ts';
import { addCommonOptions, addExamples, readVariable } from '../options.ts';
import {
  addQueryOptions,
  openSource,
  type QueryFlags,
  runWith,
  searchCall,
} from '../query-options.ts';
import { formatHints, formatIncomplete, formatResponse, formatStats } from '../search-output.ts';
import type { OutputForm, OutputOptions } from '../search-output.ts';
import type { SearchSource } from '../search-source.ts';

interface SearchFlags extends QueryFlags {
  readonly json?: true;
  readonly stats?: true;
  readonly files?: true;
  readonly count?: true;
  readonly sort: 'rank' | 'path';
  readonly color: 'auto' | 'always' | 'never';
}

function formOf({ files, count }: SearchFlags, isTerminal: boolean): OutputForm {
  if (files) return 'files';
  if (count) return 'count';
  return isTerminal ? 'terminal' : 'pipe';
}

function outputOptions(flags: SearchFlags, { stdout, env }: CliContext): OutputOptions {
  const isTerminal = stdout.isTTY === true;
  const isColorWelcome = isTerminal && readVariable(env, 'NO_COLOR') === undefined;
  const hasColor = flags.color === 'auto' ? isColorWelcome : flags.color === 'always';
  return {
    form: formOf(flags, isTerminal),
    hasColor,
    // Forced colours are meant for a terminal further down the pipe.
    isEscaped: isTerminal || hasColor,
    hasContext: flags.context > 0,
    sort: flags.sort,
  };
}

async function runSearch(query: string, flags: SearchFlags, context: CliContext): Promise<void> {
  const source = await openSource(flags, context);
  try {
    const call = searchCall(query, flags);
    if (flags.json) await printEvents(source, call, flags, context);
    else await printAnswer(source, call, flags, context);
  } finally {
    await source.close();
  }
}

async function printAnswer(
  source: SearchSource,
  call: SearchCall,
  flags: SearchFlags,
  context: CliContext,
): Promise<void> {
  const response = await source.search(call, new AbortController().signal);
  context.stdout.write(formatResponse(response, outputOptions(flags, context)));
  if (flags.stats) context.stderr.write(formatStats(response.stats));
  context.stderr.write(formatIncomplete(response) + formatHints(response.hints));
  context.setExitCode(response.files.length > 0 ? EXIT_OK : EXIT_NONE);
}

async function printEvents(
  source: SearchSource,
  call: SearchCall,
  flags: SearchFlags,
  context: CliContext,
): Promise<void> {
  let exitCode = EXIT_NONE;
  for await (const event of source.stream(call, new AbortController().signal)) {
    const canWrite = context.stdout.write(`${JSON.stringify(event)}\n`);
    if (!canWrite) await once(context.stdout, 'drain');
    if (event.type === 'chunk' && event.files.length > 0 && exitCode === EXIT_NONE)
      exitCode = EXIT_OK;
    if (event.type === 'error') exitCode = EXIT_ERROR;
    if (event.type === 'final') printEnd(event, flags, context);
  }
  context.setExitCode(exitCode);
}

function printEnd(
  final: Extract<SearchEvent, { type: 'final' }>,
  flags: SearchFlags,
  { stderr }: CliContext,
): void {
  const { accumulatedStats: stats } = final;
  if (flags.stats) stderr.write(formatStats(stats));
  stderr.write(formatIncomplete({ ...final, stats }) + formatHints(final.hints));
}

function addOutputOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--json',
        'the events of a stream as they arrive, one JSON object per line',
      ).conflicts(['files', 'count', 'sort']),
    )
    .option('--stats', 'statistics of the search, on standard error')
    .addOption(new Option('-l, --files', 'only names, repository:path').conflicts('count'))
    .option('-c, --count', 'number of matches in each file, repository:path:count')
    .addOption(
      new Option('--sort <order>', 'best first, or by repository and path')
        .choices(['rank', 'path'])
        .default('rank'),
    )
    .addOption(
      new Option('--color <when>', 'auto: on a terminal, unless NO_COLOR is set')
        .choices(['auto', 'always', 'never'])
        .default('auto'),
    );
}

export function addSearchCommand(program: Command, context: CliContext): void {
  const command = program
    .command('search')
    .summary('search the index')
    .description(
      'Searches the daemon at --url, or without it the index in .trawl in this or a parent folder, ' +
        'or else the daemon on port 3000 of this machine.\n' +
        'Exit code: 0 match found, 1 no match, 2 error.',
    )
    .argument('<query>', 'the query; put -- before one that starts with a dash');
  addQueryOptions(command);
  addOutputOptions(command);
  addCommonOptions(command);
  addExamples(command, [
    'trawl search \'lang:typescript "new Map("\'',
    'trawl search -C 2 --sort path "mutex_lock -file:^tools/"',
    'trawl search -l --url http://localhost:3000 kmalloc',
    'trawl search --json --stats -- -file:test',
  ]);
  runWith(command, runSearch, context);
}
