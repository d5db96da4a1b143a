// What the larger commands do. Heavy parts are loaded on first use, so that `--help` and `version` stay fast.

import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Configuration } from '../base/config/configuration.ts';
import { readProductVersion } from '../base/config/version.ts';
import { createLog, type Log } from '../base/log.ts';
import type { Daemon } from '../app/main.ts';
import type { JobResult } from '../sync/jobs/jobs.ts';
import { UsageError } from './errors.ts';
import type { CheckedFile, HostOpener } from './probe-connections.ts';
import { noteSources } from './known-sources.ts';
import { type CommonOptions, configurationOf, quietly } from './open-local.ts';
import { type CommonFlags, repoChange } from './options.ts';
import type { IndexProgress, ProgressListener } from './progress.ts';
import type { ToolCalls } from './tool-calls.ts';

export interface ServeFlags extends CommonFlags {
  readonly host: string;
  readonly port: number;
  readonly baseUrl?: string;
  readonly anonymous?: boolean;
  readonly workers?: number;
  /** Source if neither sources nor connections are given; `npm start` passes the checkout. */
  readonly defaultSource?: string;
}

export interface Serving extends Omit<Daemon, 'needsCredential' | 'handle' | 'isFirstIndexing'> {
  readonly needsKey: boolean;
}

const NOT_WAITED_FOR =
  'a missing source is waited for if there are others, or if it was indexed in this data directory before; ' +
  'there is nothing to serve';

/** Errors: the reason for which a daemon does not start. */
async function waitsForNone(error: unknown): Promise<never> {
  const { ProbeError } = await import('../sources/git/path-kind.ts');
  const isMissing = error instanceof ProbeError && error.failure === 'not_found';
  throw isMissing ? new UsageError(`${error.message}; ${NOT_WAITED_FOR}`) : error;
}

/** Resolves once the daemon listens. `onWait` gets the reason while it waits for the configuration file. */
export async function serve(
  given: readonly string[],
  flags: ServeFlags,
  onProgress: ProgressListener,
  onWait: (reason: string) => void,
): Promise<Serving> {
  const { host, port, baseUrl, anonymous: anonymousAccess, workers, defaultSource, mode } = flags;
  const change = repoChange(flags);
  const { startDaemon } = await import('../app/main.ts');
  const { supervised } = await import('../app/supervised.ts');
  const values = { host, port, baseUrl, anonymousAccess, workers };
  const configuration = await configurationOf(flags, values, onWait);
  const log = createLog(configuration.log);
  const isAlone = Object.keys(configuration.connections).length === 0;
  const isDefault = given.length === 0 && isAlone && defaultSource !== undefined;
  const sources = (isDefault ? [defaultSource] : given).map(localPath);
  if (isAlone && sources.length > 0)
    await checkSources(configuration.dataDir, sources).catch(waitsForNone);
  const show = withSpeed(progressListener(configuration, log, onProgress));
  const started = startDaemon({
    configuration,
    log,
    env: process.env,
    sources,
    mode,
    change,
    onProgress: (repo, progress) => show({ repo, ...progress }),
  });
  const daemon = await started.catch(waitsForNone);
  noteSources(configuration.dataDir, given.map(localPath));
  const needsKey = daemon.needsCredential && configuration.anonymousAccess !== true;
  return { ...daemon, ...supervised(daemon, configuration.manager, log), needsKey };
}

const NOTHING = 'nothing to index: give a path';

/**
 * A command that can do nothing must not make a data directory, which would hide one in a folder above. Errors: ProbeError
 * of the first source, if none can be read; UsageError without sources, or if one is in the data directory.
 */
async function checkSources(dataDir: string, sources: readonly string[]): Promise<void> {
  const { isDataDir } = await import('../index/catalog/data-dir.ts');
  // Sources that it knows may be missing for a while.
  if (await isDataDir(dataDir)) return;
  const { layoutOf } = await import('../sources/git/path-kind.ts');
  const { claimOwnFolder, isInOwnFolder } = await import('../sources/disk/own-folder.ts');
  claimOwnFolder(path.resolve(dataDir));
  const inside = sources.find(isInOwnFolder);
  if (inside !== undefined) throw new UsageError(`${inside} is the data directory, or in it`);
  const found = await Promise.allSettled(sources.map(layoutOf));
  const [first] = found;
  if (first === undefined) throw new UsageError(NOTHING);
  if (first.status === 'rejected' && found.every(({ status }) => status === 'rejected'))
    throw first.reason;
}

/** Serves tool clients until the input ends. */
export async function serveTools(
  sources: readonly string[],
  flags: CommonOptions,
  streams: { readonly stdin: Readable; readonly stdout: Writable },
): Promise<void> {
  const paths = sources.map(localPath);
  const configuration = await quietly(flags);
  const log = createLog(configuration.log);
  let tools: Promise<ToolCalls> | undefined;
  // A client should not wait for that with its first answer.
  const open = async (): Promise<ToolCalls> => {
    const { ToolCalls: Calls } = await import('./tool-calls.ts');
    return new Calls({ configuration, log, sources: paths });
  };
  const { servePipe } = await import('./tool-pipe.ts');
  await servePipe(() => (tools ??= open()), streams, readProductVersion(), log);
  await (await tools)?.close();
}

/** The path of a source argument. Errors: UsageError for a remote address, or an empty text. */
function localPath(source: string): string {
  if (source === '')
    throw new UsageError('a source is empty; give the path of a folder, such as .');
  if (source.startsWith('file://')) return decodeURIComponent(new URL(source).pathname);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(source) || /^[^/@\s]+@[^/:\s]+:/.test(source)) {
    throw new UsageError(
      `${source}: an argument is a path; put the address into a connection of a configuration file (README.md), or clone it and give the path`,
    );
  }
  return path.resolve(source);
}

export interface IndexFlags extends CommonFlags {
  readonly repo?: string;
  readonly force?: true;
  readonly json?: true;
  readonly symbols: boolean;
}

/** @param onLogLine  receives each log line, in JSON, instead of standard error */
export async function indexSources(
  given: readonly string[],
  flags: IndexFlags,
  onProgress: ProgressListener,
  onLogLine?: (line: string) => void,
): Promise<readonly JobResult[]> {
  const { repo: only, force: isForced = false, symbols: findsSymbols, mode } = flags;
  const change = repoChange(flags);
  const { openInstance } = await import('../app/instance.ts');
  const configuration = await configurationOf(flags);
  const log = createLog(
    onLogLine === undefined
      ? configuration.log
      : { ...configuration.log, format: 'json', write: onLogLine },
  );
  const show = withSpeed(progressListener(configuration, log, onProgress));
  const sources = given.map(localPath);
  await checkSources(configuration.dataDir, sources);
  const instance = await openInstance({
    configuration,
    log,
    findsSymbols,
    onProgress: (repo, progress) => show({ repo, ...progress }),
    onSymbolProgress: (repo, { blobsDone, blobsTotal, bytesDone, bytesTotal }) =>
      show({
        repo,
        phase: 'symbols',
        filesDone: blobsDone,
        filesTotal: blobsTotal,
        bytesDone,
        bytesTotal,
        skipped: 0,
      }),
  });
  try {
    const { served, symbols } = instance;
    const indexer = instance.indexer;
    if (sources.length === 0) {
      await indexer.sources.confirm();
      await indexer.rules.changeServed(change, only);
    }
    const { records, failed } =
      sources.length > 0
        ? await indexer.sources.add(sources, mode, change)
        : { records: served.records, failed: [] };
    const selected = records.filter(({ name }) => only === undefined || name === only);
    if (selected.length === 0) throw new UsageError(NOTHING);
    noteSources(configuration.dataDir, sources);
    const results = await indexer.jobs.indexAll(selected, isForced);
    await indexer.merger.run();
    // A forced build may be meant to remove something from the files.
    if (isForced) await indexer.merger.purge();
    if (findsSymbols) await symbols?.run();
    return [...failed, ...results];
  } finally {
    await instance.close();
  }
}

function progressListener(
  configuration: Configuration,
  log: Log,
  listener: ProgressListener,
): ProgressListener {
  return configuration.log.format === 'json' ? logProgress(log) : listener;
}

/** A log line at each change of repo or phase, and every few seconds. */
function logProgress(log: Log): ProgressListener {
  let topic = '';
  let loggedMs = 0;
  return ({ repo, phase, ...counts }) => {
    const next = `${phase} ${repo}`;
    if (next === topic && Date.now() - loggedMs < 3000) return;
    topic = next;
    loggedMs = Date.now();
    log.info('indexing', { repo, phase, progress: counts });
  };
}

/** Adds the speed since the start of a listing, of a repo, or of its symbols. */
function withSpeed(
  listener: ProgressListener,
): (progress: Omit<IndexProgress, 'bytesPerSecond'>) => void {
  let [startMs, startBytes] = [Date.now(), 0];
  let last: { readonly repo: string; readonly bytesDone: number } | undefined;
  return (progress) => {
    const { repo, phase, bytesDone } = progress;
    if (phase === 'listing' || repo !== last?.repo || bytesDone < last.bytesDone)
      [startMs, startBytes] = [Date.now(), bytesDone];
    last = { repo, bytesDone };
    const seconds = Math.max((Date.now() - startMs) / 1000, 0.001);
    listener({ ...progress, bytesPerSecond: Math.round((bytesDone - startBytes) / seconds) });
  };
}

/** @param location  path or address. Errors: ConfigError if the file cannot be read. */
export async function checkConfiguration(
  location: string,
  isOnline: boolean,
  probeMs?: number,
): Promise<CheckedFile> {
  const { openSource } = await import('../base/config/file-source.ts');
  const { checkFile } = await import('../base/config/file-check.ts');
  const { probeConnections, refusedConnections } = await import('./probe-connections.ts');
  const source = openSource(location, process.cwd(), process.env);
  await source.refresh();
  const fileCheck = checkFile(source, process.env);
  const { openConnection } = await import('../sync/sources/local-host.ts');
  const { connections, apps, identityProviders } = fileCheck.file;
  const log = createLog({ level: 'warn', format: 'text', file: undefined });
  const open: HostOpener = (name, settings) =>
    openConnection(name, settings, { log, env: process.env, apps });
  const refused = await refusedConnections(connections, open);
  if (refused.length > 0 || !isOnline) {
    const diagnostics = [...fileCheck.diagnostics, ...refused];
    return { ...fileCheck, diagnostics, probed: [], probedProviders: [] };
  }
  const { probeProviders } = await import('./probe-providers.ts');
  const probed = await probeConnections(connections, open, probeMs);
  const probedProviders = await probeProviders(identityProviders, process.env);
  return { ...fileCheck, probed, probedProviders };
}
