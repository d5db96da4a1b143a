// `trawl search QUERY`: searches a daemon or the local index and prints the answer. ripgrep's options mean what they mean there;
// daemon/cli/refused-options.ts refuses those that Trawl lacks; the table in daemon/cli/README.md compares both.

import { once } from 'node:events';
import { type Command, Option } from 'commander';
import type { SearchCall, SearchEvent } from '../../api/search/search-schemas.ts';
import { type CliContext, EXIT_ERROR, EXIT_NONE, EXIT_OK } from '../context.ts';
import { addCommonOptions, addExamples, integer, readVariable } from '../options.ts';
import { pathStarts } from '../path-starts.ts';
import {
  addQueryOptions,
  CONTEXT_LINES,
  openSource,
  type QueryFlags,
  runWith,
} from '../query-options.ts';
import { formatHints, formatIncomplete, formatResponse, formatStats } from '../search-output.ts';
import type { OutputForm, OutputOptions } from '../search-output.ts';
import type { SearchSource } from '../search-source.ts';

interface SearchFlags extends QueryFlags {
  readonly beforeContext?: number;
  readonly afterContext?: number;
  readonly maxCount?: number;
  readonly maxColumns?: number;
  readonly json?: true;
  readonly stats?: true;
  readonly files?: true;
  readonly filesWithMatches?: true;
  readonly count?: true;
  readonly countMatches?: true;
  readonly onlyMatching?: true;
  readonly vimgrep?: true;
  readonly column?: true;
  readonly lineNumber: boolean;
  readonly filename: boolean;
  /** Absent: on a terminal. */
  readonly heading?: boolean;
  readonly null?: true;
  readonly quiet?: true;
  readonly sort: 'rank' | 'path';
  readonly color: 'auto' | 'always' | 'never';
}

/** Whoever reads a pipe wants all; a daemon has its own limit. */
const MATCHES_PIPED = 100_000;

function formOf(flags: SearchFlags): OutputForm {
  const { files, filesWithMatches, count, countMatches, onlyMatching } = flags;
  if (files || filesWithMatches) return 'files';
  if (countMatches || (count && onlyMatching)) return 'matchCounts';
  return count ? 'lineCounts' : 'lines';
}

function unitOf({ onlyMatching, vimgrep }: SearchFlags): OutputOptions['unit'] {
  if (onlyMatching) return 'text';
  return vimgrep ? 'match' : 'line';
}

function outputOptions(flags: SearchFlags, { stdout }: CliContext): OutputOptions {
  const isTerminal = stdout.isTTY === true;
  const isColorWelcome =
    isTerminal && readVariable('NO_COLOR') === undefined && process.env['TERM'] !== 'dumb';
  const hasColor = flags.color === 'auto' ? isColorWelcome : flags.color === 'always';
  const form = formOf(flags);
  const unit = unitOf(flags);
  const hasContext = form === 'lines';
  const isVimgrep = flags.vimgrep === true;
  return {
    form,
    unit,
    hasHeading: !isVimgrep && form === 'lines' && (flags.heading ?? isTerminal),
    hasFileName: isVimgrep || form === 'files' || flags.filename,
    hasLineNumber: isVimgrep || flags.lineNumber,
    hasColumn: isVimgrep || flags.column === true,
    hasNull: flags.null ?? false,
    before: hasContext ? (flags.beforeContext ?? flags.context) : 0,
    after: hasContext ? (flags.afterContext ?? flags.context) : 0,
    lineCountMax: flags.maxCount ?? Infinity,
    lineSizeMax: flags.maxColumns || Infinity,
    hasColor,
    // Forced colours are meant for a terminal further down the pipe.
    isEscaped: isTerminal || hasColor,
    sort: flags.sort,
  };
}

async function runSearch(
  asked: SearchCall,
  flags: SearchFlags,
  context: CliContext,
): Promise<void> {
  const source = await openSource(flags, context);
  try {
    const output = outputOptions(flags, context);
    const isRead = context.stdout.isTTY === true || flags.json === true;
    const { matches = isRead ? asked.matches : MATCHES_PIPED } = flags;
    const contextLines = Math.max(output.before, output.after);
    const call = { ...asked, contextLines, matches: flags.quiet ? 1 : matches };
    if (flags.json) await printEvents(source, call, flags, context);
    else await printAnswer(source, call, flags, output, context);
  } finally {
    await source.close();
  }
}

async function printAnswer(
  source: SearchSource,
  call: SearchCall,
  flags: SearchFlags,
  output: OutputOptions,
  context: CliContext,
): Promise<void> {
  const response = await source.search(call, new AbortController().signal);
  context.setExitCode(response.files.length > 0 ? EXIT_OK : EXIT_NONE);
  if (!flags.quiet) {
    const starts = await pathStarts(source, response.files);
    await context.page(formatResponse(response, output, starts));
    context.stderr.write(formatIncomplete(response, call.matches) + formatHints(response.hints));
  }
  if (flags.stats) context.stderr.write(formatStats(response.stats));
}

async function printEvents(
  source: SearchSource,
  call: SearchCall,
  flags: SearchFlags,
  context: CliContext,
): Promise<void> {
  let exitCode = EXIT_NONE;
  for await (const event of source.stream(call, new AbortController().signal)) {
    const canWrite = flags.quiet || context.stdout.write(`${JSON.stringify(event)}\n`);
    if (!canWrite) await once(context.stdout, 'drain');
    if (event.type === 'chunk' && event.files.length > 0 && exitCode === EXIT_NONE)
      exitCode = EXIT_OK;
    if (event.type === 'error') exitCode = EXIT_ERROR;
    if (event.type === 'final') printEnd(event, call, flags, context);
  }
  context.setExitCode(exitCode);
}

function printEnd(
  final: Extract<SearchEvent, { type: 'final' }>,
  { matches }: SearchCall,
  flags: SearchFlags,
  { stderr }: CliContext,
): void {
  const { accumulatedStats: stats } = final;
  if (flags.stats) stderr.write(formatStats(stats));
  if (!flags.quiet)
    stderr.write(formatIncomplete({ ...final, stats }, matches) + formatHints(final.hints));
}

function addOutputOptions(command: Command): Command {
  addLineOptions(command);
  return command
    .addOption(
      new Option('-l, --files-with-matches', 'only the names of files').conflicts([
        'count',
        'countMatches',
      ]),
    )
    .option('-c, --count', 'only the number of matching lines of each file')
    .option('--count-matches', 'only the number of matches in each file')
    .option(
      '--files',
      'only the names of the files that would be searched; the query may be left out',
    )
    .option('-0, --null', 'a zero byte behind each file name, for xargs -0')
    .option('-q, --quiet', 'nothing but the exit code')
    .addOption(
      new Option(
        '--json',
        'the events of a stream as they arrive, one JSON object per line',
      ).conflicts([
        'files',
        'filesWithMatches',
        'count',
        'countMatches',
        'sort',
        'vimgrep',
        'onlyMatching',
      ]),
    )
    .option('--stats', 'statistics of the search, on standard error')
    .addOption(
      new Option('--sort <order>', 'best first, or by repository and path')
        .choices(['rank', 'path'])
        .default('rank'),
    )
    .addOption(
      new Option('--color <when>', 'auto: on a terminal, unless NO_COLOR is set or TERM is dumb')
        .choices(['auto', 'always', 'never'])
        .default('auto'),
    )
    .addOption(
      new Option('-p, --pretty', 'as on a terminal: colours and headings').implies({
        color: 'always',
        heading: true,
      }),
    )
    .option(
      '--matches <count>',
      'maximum number of matches (default: 1000 on a terminal, else 100000)',
      integer(1),
    );
}

function addLineOptions(command: Command): void {
  command
    .option('-A, --after-context <lines>', 'lines to show behind each match', CONTEXT_LINES)
    .option('-B, --before-context <lines>', 'lines to show before each match', CONTEXT_LINES)
    .option('-m, --max-count <lines>', 'matching lines to show of a file at most', integer(1))
    .option('-M, --max-columns <bytes>', 'longer lines are not shown', integer(0))
    .option('-o, --only-matching', 'only what matches, one match a line')
    .option('--vimgrep', 'path:line:column:text, a line for each match')
    .option('--column', 'show the column of the first match of a line')
    .option('-n, --line-number', 'show line numbers (default)')
    .option('-N, --no-line-number', 'show none')
    .option('-H, --filename', 'show file names (default)')
    .option('-I, --no-filename', 'show none')
    .option('--heading', 'the file name once, above its lines (default on a terminal)')
    .option('--no-heading', 'the file name before each line')
    .setOptionValueWithSource('lineNumber', true, 'default')
    .setOptionValueWithSource('filename', true, 'default')
    .setOptionValueWithSource('heading', undefined, 'default');
}

export function addSearchCommand(program: Command, context: CliContext): void {
  const command = program
    .command('search')
    .summary('search the index')
    .description(
      'Searches the daemon at --url, or without it the daemon or the index that has this folder, ' +
        'or else the daemon on port 3000 of this machine. ' +
        'Paths are relative to this folder where the source is on this machine.\n' +
        'Exit code: 0 match found, 1 no match, 2 error.',
    )
    .argument('[query...]', 'words of the query; put -- before one that starts with a dash');
  addQueryOptions(command);
  addOutputOptions(command);
  addCommonOptions(command);
  addExamples(command, [
    'trawl search lang:typescript \'"new Map("\'',
    "trawl search -C 2 --sort path mutex_lock -- '-file:^tools/'",
    'trawl search -w -t c -l kmalloc',
    "trawl search --vimgrep -e 'k[mz]alloc' -g '*.h'",
  ]);
  runWith(command, runSearch, context, (words, { files, regexp = [] }: SearchFlags) =>
    files && words.length + regexp.length === 0 ? ['file:.'] : words,
  );
}
