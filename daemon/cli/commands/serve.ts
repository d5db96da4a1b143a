// `trawl serve [PATH...]`: runs the daemon until a signal stops it.

import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { type CliContext, EXIT_OK } from '../context.ts';
import { describeError } from '../errors.ts';
import { addExamples, addSourceOptions, integer, isLogOnTerminal } from '../options.ts';
import type { StatusReport } from '../../api/shapes/status-report.ts';
import { DEFAULTS } from '../../base/config/search-configuration.ts';
import { createProgress, type ProgressView } from '../progress.ts';
import { serve, type ServeFlags, type Serving } from '../services.ts';
import { escapeControls } from '../terminal-text.ts';
import { describeIgnored, describeResult } from './index-sources.ts';
import { describeRound, isRoundOver } from './status.ts';

const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 } as const;

function greeting({ url, needsKey, setupUrl }: Serving, dataDir: string): string {
  // A printed key would end up in logs and histories.
  const key = needsKey ? ' -H "authorization: Bearer $TRAWL_API_KEY"' : '';
  const body = '{"query":"TODO","matches":10}';
  const lines = [
    `Serving on ${url}`,
    `Index and accounts are in ${escapeControls(path.resolve(dataDir))}`,
    ...(setupUrl === undefined
      ? ['Open it in a browser.']
      : [
          'Create the first account in a browser (one-time link, valid until restart):',
          `  ${setupUrl}`,
        ]),
    `Try: curl -s ${url}/api/search${key} -H 'content-type: application/json' -d '${body}'`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Signals this close are one: npm, timeout(1) and a terminal forward what all of them get. */
const SAME_SIGNAL_MS = 500;

/** Resolves after the first SIGINT or SIGTERM has closed the daemon; a later one exits at once. */
function closedBySignal(serving: Serving): Promise<void> {
  return new Promise((resolve, reject) => {
    let closingSinceMs: number | undefined;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        const nowMs = performance.now();
        if (closingSinceMs === undefined) {
          closingSinceMs = nowMs;
          serving.close().then(resolve, reject);
        } else if (nowMs - closingSinceMs > SAME_SIGNAL_MS) process.exit(SIGNAL_EXIT[signal]);
      });
    }
  });
}

/** SIGHUP makes the daemon read its configuration again; but when a terminal closes, SIGHUP stops it as SIGTERM. */
function reloadOnHangup(): (serving: Serving) => void {
  const hadTerminal = hasTerminal();
  let serving: Serving | undefined;
  let isDue = false;
  process.on('SIGHUP', () => {
    if (hadTerminal && !hasTerminal()) process.kill(process.pid, 'SIGTERM');
    else if (serving === undefined) isDue = true;
    else void serving.readConfigurationAgain();
  });
  return (started) => {
    serving = started;
    if (isDue) void started.readConfigurationAgain();
  };
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

async function reportIndexing(
  serving: Serving,
  progress: ProgressView,
  { stderr }: CliContext,
): Promise<void> {
  try {
    const results = await serving.indexed;
    progress.end();
    for (const result of results) stderr.write(`${describeResult(result)}\n`);
    const isFirst = results.some(({ isUnchanged }) => !isUnchanged);
    if (isFirst) stderr.write(describeIgnored(results));
  } catch (error) {
    progress.end();
    stderr.write(`${describeError(error)}\n`);
  }
}

/** Reports until everything that the connections list is indexed or has failed. */
async function reportConnections(serving: Serving, { stderr }: CliContext): Promise<void> {
  const written = new Set<string>();
  for (let last = ''; ;) {
    const report = await serving.status().catch(() => undefined);
    if (report?.connections.length === 0) return;
    // Undefined if the store is busy or the daemon is closing.
    if (report !== undefined) {
      for (const line of problemsOf(report)) {
        if (!written.has(line)) stderr.write(line);
        written.add(line);
      }
      const line = describeRound(report);
      if (line !== last) stderr.write(`${line}\n`);
      last = line;
      if (isRoundOver(report)) return;
    }
    await sleep(3_000, undefined, { ref: false });
  }
}

function problemsOf({ connections }: StatusReport): string[] {
  return connections.flatMap(({ name, state, failure }) => {
    const what = state === 'incomplete' ? 'was listed only in part' : 'cannot be listed';
    return failure === null ? [] : [`${name} ${what}: ${escapeControls(failure)}\n`];
  });
}

async function runServe(
  sources: readonly string[],
  flags: ServeFlags,
  context: CliContext,
): Promise<void> {
  const { stderr } = context;
  const logged = isLogOnTerminal(flags, context) ? { ...flags, logLevel: 'warn' } : flags;
  const progress = createProgress(stderr, stderr.isTTY === true);
  const heedHangups = reloadOnHangup();
  let serving: Serving;
  try {
    const onWait = (reason: string): void => void stderr.write(`${escapeControls(reason)}\n`);
    serving = await serve(sources, logged, progress.update, onWait);
  } finally {
    progress.stop();
  }
  const closed = closedBySignal(serving);
  heedHangups(serving);
  stderr.write(greeting(serving, flags.dataDir));
  const reported = reportIndexing(serving, progress, context).then(() =>
    reportConnections(serving, context),
  );
  await Promise.race([closed, reported]);
  await closed;
  context.setExitCode(EXIT_OK);
}

export function addServeCommand(program: Command, context: CliContext): void {
  const command = program
    .command('serve')
    .summary('run the daemon')
    .description('Indexes the given sources and answers searches over HTTP until it is stopped.')
    .argument('[source...]', 'paths of git repositories or folders')
    .addOption(
      new Option('--port <number>', 'port to listen on, 0 for any free one')
        .env('TRAWL_PORT')
        .argParser(integer(0, 65_535))
        .default(DEFAULTS.port),
    )
    .addOption(
      new Option('--host <address>', 'address to listen on').env('TRAWL_HOST').default('127.0.0.1'),
    )
    .addOption(new Option('--base-url <url>', 'public address').env('TRAWL_BASE_URL'))
    .option('--anonymous', 'allow anonymous searches (env: TRAWL_ANONYMOUS_ACCESS)')
    .addOption(
      new Option('--workers <count>', 'search threads (default: number of cores)')
        .env('TRAWL_WORKERS')
        .argParser(integer(1, 1024)),
    )
    .addOption(new Option('--default-source <path>').hideHelp());
  addSourceOptions(command);
  addExamples(command, [
    'trawl serve .',
    'trawl serve --port 3001 --anonymous ~/src/linux',
    'trawl serve --mode commits ~/src/linux /srv/git/tools.git',
    'trawl serve --visibility private --enforce-permissions /srv/git/secret.git',
    "trawl serve --branches 'main,release/**' --tags 'v*' /srv/git/tools.git",
  ]);
  command.action((sources: string[], flags: ServeFlags) => runServe(sources, flags, context));
}
