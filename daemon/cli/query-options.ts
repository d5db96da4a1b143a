// Shared by `trawl search` and `trawl explain`: the options for the query and its target, and running it.

import { type Command, Option } from 'commander';
import type { SearchCall } from '../api/search/search-schemas.ts';
import { DEFAULTS } from '../base/config/search-configuration.ts';
import { type CliContext, EXIT_ERROR } from './context.ts';
import { PREFIX_NAMES } from '../engine/query/prefixes.ts';
import { CONTEXT_LINES_MAX } from '../engine/query/request.ts';
import { describeError, NoIndexError } from './errors.ts';
import { DATA_DIR } from './known-sources.ts';
import { commonOptions, integer, readSecret, readVariable } from './options.ts';
import { refuseOptions } from './refused-options.ts';
import { daemonAt, openRemoteSearch } from './remote-search.ts';
import { askedOf, type PatternFlags } from './ripgrep-query.ts';
import { type CommonOptions, openLocalSearch } from './open-local.ts';
import type { SearchSource } from './search-source.ts';

export interface QueryFlags extends CommonOptions, PatternFlags {
  readonly matches?: number;
  readonly context: number;
  readonly url?: string;
  readonly apiKey?: string;
}

/** Matches of an answer that a person reads. */
export const MATCHES_READ = 1000;

export const CONTEXT_LINES = integer(0, CONTEXT_LINES_MAX);

const LETTER_CASES = [
  ['-i, --ignore-case', 'ignore', 'upper and lower case are equal (default)'],
  ['-s, --case-sensitive', 'sensitive', 'they differ'],
  ['-S, --smart-case', 'smart', 'they differ if the words have an upper-case letter'],
] as const;

function listed(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

const NEGATED_FILTER = new RegExp(`^-(?:${PREFIX_NAMES.join('|')}):`);
/** No argument has a zero byte. */
const WORD_MARK = '\0';

/** The arguments with negated filters marked as words; not behind `--`, and not as the value of an option. */
function withMarkedWords(args: readonly string[], options: readonly Option[]): string[] {
  const valued = options.filter(({ required }) => required);
  const letters = valued.map(({ short = '' }) => short.slice(1)).join('');
  const names = valued.map(({ long }) => long).join('|');
  const beforeValue = new RegExp(`^(?:-[^-${letters}]*[${letters}]|${names})$`);
  let [isValue, isOver] = [false, false];
  return args.map((arg) => {
    const isWord = !isValue && !isOver && NEGATED_FILTER.test(arg);
    isOver ||= !isValue && arg === '--';
    isValue = !isValue && beforeValue.test(arg);
    return isWord ? `${WORD_MARK}${arg}` : arg;
  });
}

/** A negated filter, such as `-file:test`, is a word of a query, not a row of options. */
function takeNegatedFilters(command: Command): void {
  const parse = command.parseOptions.bind(command);
  command.parseOptions = (args) => {
    const { operands, unknown } = parse(withMarkedWords(args, command.options));
    return { operands: operands.map((word) => word.replace(WORD_MARK, '')), unknown };
  };
}

export function addQueryOptions(command: Command): Command {
  command.showHelpAfterError(
    'Add --help for the options and examples; put -- before a query that begins with -.',
  );
  takeNegatedFilters(command);
  // The last one counts.
  command.setOptionValueWithSource('letterCase', 'ignore', 'default');
  for (const [flags, letterCase, help] of LETTER_CASES) {
    const option = new Option(flags, help);
    command.addOption(option);
    command.on(`option:${option.name()}`, () =>
      command.setOptionValueWithSource('letterCase', letterCase, 'cli'),
    );
  }
  command
    .option('-w, --word-regexp', 'whole words only')
    .option('-F, --fixed-strings', 'the query, or each -e, is one literal of the content')
    .option(
      '-e, --regexp <pattern>',
      'an expression of the content, repeatable: any of them; the query narrows it',
      listed,
    )
    .option('--regex', 'words are regular expressions')
    .option('-U, --multiline', 'no effect: an expression may always match line feeds')
    .option(
      '-g, --glob <glob>',
      'only files with such a path; with ! before it none of them',
      listed,
    )
    .option('-t, --type <language>', 'only files of a language, as lang: names it', listed)
    .option('-T, --type-not <language>', 'no files of a language', listed)
    .option('-C, --context <lines>', 'lines to show around each match', CONTEXT_LINES, 0)
    .addOption(new Option('--url <url>', 'daemon to search (env: TRAWL_URL)'))
    .addOption(
      new Option('--api-key <key>', 'key for the daemon (env: TRAWL_API_KEY, TRAWL_API_KEY_FILE)'),
    );
  return refuseOptions(command);
}

/**
 * The named daemon, else that of the data directory, else its index, else the daemon of this machine on the default port, else an
 * index that is made when asked.
 */
export async function openSource(flags: QueryFlags, context: CliContext): Promise<SearchSource> {
  const { stderr } = context;
  const url = flags.url ?? readVariable('TRAWL_URL');
  if (url !== undefined)
    return openRemoteSearch(daemonAt(url, flags.apiKey ?? readSecret('TRAWL_API_KEY')));
  try {
    return await openLocalSearch(commonOptions(flags));
  } catch (error) {
    if (!(error instanceof NoIndexError) || flags.dataDir !== DATA_DIR) throw error;
    const local = `http://127.0.0.1:${readVariable('TRAWL_PORT') ?? DEFAULTS.port}`;
    if (await isTrawl(local)) {
      stderr.write(`no index here; searching the daemon at ${local}\n`);
      // Not the key of the environment: anybody on this machine may listen there.
      return openRemoteSearch(daemonAt(local, flags.apiKey));
    }
    // Asked on a terminal alone.
    const dataDir = isOnTerminal(context)
      ? await context.offerIndex(commonOptions(flags))
      : undefined;
    if (dataDir === undefined) throw error;
    return openLocalSearch({ ...commonOptions(flags), dataDir });
  }
}

function isOnTerminal({ stdin, stdout, stderr }: CliContext): boolean {
  return [stdin, stdout, stderr].every((stream) => 'isTTY' in stream && stream.isTTY);
}

async function isTrawl(url: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(1000);
    const answer: unknown = await (await fetch(`${url}/api/version`, { signal })).json();
    return typeof answer === 'object' && answer !== null && 'version' in answer;
  } catch {
    // Anything else there is not a daemon to search.
    return false;
  }
}

/** Makes `command` run a query, given as words; errors are printed with their place in the query. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the flags that the command declares
export function runWith<Flags extends QueryFlags>(
  command: Command,
  run: (call: SearchCall, flags: Flags, context: CliContext) => Promise<void>,
  context: CliContext,
  wordsOf = (words: string[], _flags: Flags): readonly string[] => words,
): void {
  command.action(async (words: string[], flags: Flags) => {
    let query: string | undefined;
    try {
      const asked = askedOf(wordsOf(words, flags), flags);
      ({ query } = asked);
      const { matches = MATCHES_READ, context: contextLines } = flags;
      await run({ ...asked, matches, contextLines, whole: false }, flags, context);
    } catch (error) {
      context.stderr.write(`${describeError(error, query)}\n`);
      context.setExitCode(EXIT_ERROR);
    }
  });
}
