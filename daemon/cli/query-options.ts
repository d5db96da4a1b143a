// What `trawl search` and `trawl explain` have in common: the options that say what to search and where, and what
// becomes of them.

import { type Command, Option } from 'commander';
import type { SearchCall } from '../api/search/search-schemas.ts';
import { type CliContext, EXIT_ERROR } from './context.ts';
import { describeError, NoIndexError } from './errors.ts';
import { DATA_DIR } from './find-data-dir.ts';
import { commonOptions, integer, readSecret, readVariable } from './options.ts';
import { openRemoteSearch } from './remote-search.ts';
import type { CommonOptions } from './services.ts';
import type { SearchSource } from './search-source.ts';

/** The parsed flags of `addQueryOptions` and `addCommonOptions`. */
export interface QueryFlags extends CommonOptions {
  readonly regex?: true;
  readonly caseSensitive?: true;
  readonly matches: number;
  readonly context: number;
  readonly url?: string;
  readonly apiKey?: string;
}

/** Adds the options of a query and of where it is asked, `--data-dir` apart. */
export function addQueryOptions(command: Command): Command {
  return command
    .option('--regex', 'words are regular expressions')
    .option('--case-sensitive', 'upper and lower case differ')
    .option('-n, --matches <count>', 'matches to return at most', integer(1), 1000)
    .option('-C, --context <lines>', 'lines to show around each match', integer(0), 0)
    .addOption(new Option('--url <url>', 'daemon to ask (env: TRAWL_URL)'))
    .addOption(
      new Option('--api-key <key>', 'key for the daemon (env: TRAWL_API_KEY, TRAWL_API_KEY_FILE)'),
    );
}

export function searchCall(query: string, flags: QueryFlags): SearchCall {
  return {
    query,
    matches: flags.matches,
    contextLines: flags.context,
    whole: false,
    isRegexEnabled: flags.regex ?? false,
    isCaseSensitivityEnabled: flags.caseSensitive ?? false,
  };
}

/** The daemon that was named, else the local index, else the daemon that serves this machine at the usual port. */
export async function openSource(
  flags: QueryFlags,
  { services, env, stderr }: CliContext,
): Promise<SearchSource> {
  const url = flags.url ?? readVariable(env, 'TRAWL_URL');
  if (url !== undefined)
    return openRemoteSearch(url, flags.apiKey ?? readSecret(env, 'TRAWL_API_KEY'));
  try {
    return await services.openLocalSearch(commonOptions(flags));
  } catch (error) {
    if (!(error instanceof NoIndexError) || flags.dataDir !== DATA_DIR) throw error;
    const local = `http://127.0.0.1:${readVariable(env, 'TRAWL_PORT') ?? DEFAULT_PORT}`;
    if (!(await isTrawl(local))) throw error;
    stderr.write(`no index here; searching the daemon at ${local}\n`);
    // Why no key of the environment: anybody on this machine may listen there.
    return openRemoteSearch(local, flags.apiKey);
  }
}

const DEFAULT_PORT = 3000;
const VERSION_MS_MAX = 1000;

/** Whether a daemon of ours answers at an address. */
async function isTrawl(url: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(VERSION_MS_MAX);
    const answer: unknown = await (await fetch(`${url}/api/version`, { signal })).json();
    return typeof answer === 'object' && answer !== null && 'version' in answer;
  } catch {
    // Whatever else is there, it is no daemon to search in.
    return false;
  }
}

/** Has `command` run a query; an error is told, with its place in the query. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the flags that the command declares
export function runWith<Flags extends QueryFlags>(
  command: Command,
  run: (query: string, flags: Flags, context: CliContext) => Promise<void>,
  context: CliContext,
): void {
  command.action(async (query: string, flags: Flags) => {
    try {
      await run(query, flags, context);
    } catch (error) {
      context.stderr.write(`${describeError(error, query)}\n`);
      context.setExitCode(EXIT_ERROR);
    }
  });
}
