// Shared by `trawl search` and `trawl explain`: the options for the query and its target, and running it.

import { type Command, Option } from 'commander';
import type { SearchCall } from '../api/search/search-schemas.ts';
import { type CliContext, EXIT_ERROR } from './context.ts';
import { describeError, NoIndexError, UsageError } from './errors.ts';
import { commonOptions, DATA_DIR, integer, readSecret, readVariable } from './options.ts';
import { openRemoteSearch } from './remote-search.ts';
import type { CommonOptions } from './services.ts';
import type { SearchSource } from './search-source.ts';

export interface QueryFlags extends CommonOptions {
  readonly regex?: true;
  readonly caseSensitive?: true;
  readonly matches: number;
  readonly context: number;
  readonly url?: string;
  readonly apiKey?: string;
}

export function addQueryOptions(command: Command): Command {
  return command
    .showHelpAfterError(
      'Add --help for the options and examples; put -- before a query that begins with -.',
    )
    .option('--regex', 'words are regular expressions')
    .option('--case-sensitive', 'case-sensitive')
    .option('-n, --matches <count>', 'maximum number of matches', integer(1), 1000)
    .option('-C, --context <lines>', 'lines to show around each match', integer(0), 0)
    .addOption(new Option('--url <url>', 'daemon to search (env: TRAWL_URL)'))
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

/** The named daemon, else the local index, else the daemon of this machine on the default port. */
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
    const local = `http://127.0.0.1:${readVariable(env, 'TRAWL_PORT') ?? 3000}`;
    if (!(await isTrawl(local))) throw error;
    stderr.write(`no index here; searching the daemon at ${local}\n`);
    // Not the key of the environment: anybody on this machine may listen there.
    return openRemoteSearch(local, flags.apiKey);
  }
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

/** Makes `command` run a query; errors are printed with their place in the query. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the flags that the command declares
export function runWith<Flags extends QueryFlags>(
  command: Command,
  run: (query: string, flags: Flags, context: CliContext) => Promise<void>,
  context: CliContext,
): void {
  command.action(async (query: string, flags: Flags) => {
    try {
      if (query.trim() === '') throw new UsageError('the query is empty');
      await run(query, flags, context);
    } catch (error) {
      context.stderr.write(`${describeError(error, query)}\n`);
      context.setExitCode(EXIT_ERROR);
    }
  });
}
