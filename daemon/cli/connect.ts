// Binds the services of the command line to the engine, the build and the server. The heavy parts are
// loaded inside each service, on first use, so that `--help` and `version` stay quick.

import path from 'node:path';
import { FORMAT_VERSION } from '../../core/shared/format.ts';
import { readConfiguration, type Configuration } from '../base/config/configuration.ts';
import { readProductVersion } from '../base/config/version.ts';
import type { BuildProgress } from '../engine/build/build.ts';
import type { PassProgress } from '../symbols/pass-loop.ts';
import { SEES_ALL } from '../repos/sight.ts';
import { messageOf } from '../base/caught.ts';
import type { RepoChange } from '../sync/change-repo.ts';
import { createLog, type Log } from '../base/log.ts';
import { UsageError } from './errors.ts';
import type { RestoreReport } from '../backup/restore.ts';
import type {
  BackupOptions,
  CliServices,
  CommonOptions,
  Explanation,
  IndexOptions,
  IndexResult,
  ProgressListener,
  RestoreCall,
  SearchEvent,
  SearchResponse,
  SearchSource,
  ServeOptions,
  Serving,
  SourceOptions,
  VerifyOptions,
  ShardCheck,
} from './services.ts';

const API_LABEL = 'v5.1.6';

/** The services of this installation. */
export function connectServices(): CliServices {
  return {
    openLocalSearch,
    serve,
    indexSources,
    inspectShard: async (options) =>
      (await import('../engine/shards/inspect.ts')).inspectShard(options),
    verifyShards,
    openOperator: async ({ isMaking, ...common }) =>
      (await import('./operator.ts')).openOperator(configurationOf(common), isMaking),
    backup,
    restore,
    versions: () => ({
      product: readProductVersion(),
      shardFormat: FORMAT_VERSION,
      api: API_LABEL,
    }),
  };
}

function configurationOf(
  options: CommonOptions,
  flags: Record<string, string | number | boolean> = {},
): Configuration {
  return readConfiguration({
    env: process.env,
    flags: {
      dataDir: options.dataDir,
      ...(options.logLevel === undefined ? {} : { logLevel: options.logLevel }),
      ...(options.config === undefined ? {} : { config: options.config }),
      ...flags,
    },
  });
}

async function openLocalSearch(dataDir: string): Promise<SearchSource> {
  const { openInstance } = await import('../instance.ts');
  const { search } = await import('../engine/search/service.ts');
  const { allBytes } = await import('../http/api/lazy-bytes.ts');
  const { startStream } = await import('../engine/search/stream.ts');
  const { toSearchCall } = await import('../http/api/search.ts');
  const configuration = configurationOf({ dataDir, logLevel: 'warn' });
  const log = createLog(configuration.log);
  const { settings } = configuration;
  const instance = await openInstance({
    dataDir: path.resolve(dataDir),
    isOwner: false,
    filters: settings,
    gitPaths: configuration.gitPaths,
    searchTimeoutMs: settings.searchTimeoutMs,
    log,
  });
  if (instance.catalog.repos.length === 0) {
    await instance.close();
    throw noIndexError(dataDir);
  }
  instance.served.publish();
  const baseUrl = configuration.baseUrl ?? `http://localhost:${configuration.port}`;
  return {
    async search(call, signal) {
      const { json } = await withErrorObject(
        search(instance.parts, toSearchCall(call, settings.maxMatchCount), {
          signal,
          baseUrl,
          sight: SEES_ALL,
        }),
      );
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own engine's answer
      return JSON.parse(Buffer.from(allBytes(json)).toString()) as SearchResponse;
    },
    async explain(call, signal) {
      const { explain } = await import('../engine/search/explain.ts');
      const clamped = toSearchCall(call, settings.maxMatchCount);
      const explained = await withErrorObject(
        explain(instance.parts, clamped, { signal, baseUrl, sight: SEES_ALL }),
      );
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as a daemon would send it
      return JSON.parse(JSON.stringify(explained)) as Explanation;
    },
    async *stream(call, signal) {
      const clamped = toSearchCall(call, settings.maxMatchCount);
      const environment = { signal, baseUrl, sight: SEES_ALL, eventSizeMax: Infinity };
      const events = await withErrorObject(startStream(instance.parts, clamped, environment));
      try {
        for (;;) {
          const event = await withErrorObject(events.next());
          if (event === undefined) return;
          yield await searchEventOf(event);
        }
      } finally {
        events.close();
      }
    },
    close: () => instance.close(),
  };
}

function noIndexError(dataDir: string): UsageError {
  const folder = path.resolve(dataDir);
  return new UsageError(
    `no index in ${folder}; make one with "trawl index PATH", or name its folder by --data-dir`,
  );
}

/** The event as a daemon would send it. */
async function searchEventOf(
  event: { readonly json: Uint8Array } | { readonly error: unknown },
): Promise<SearchEvent> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own engine's event
  if ('json' in event) return JSON.parse(Buffer.from(event.json).toString()) as SearchEvent;
  const { ApiError, toApiError } = await import('../http/api/errors.ts');
  const known = toApiError(event.error);
  const error = known ?? new ApiError('UNEXPECTED_ERROR', messageOf(event.error));
  return { type: 'error', error: error.toObject() };
}

/** Gives errors of a search the members of the API's error object, as a daemon would answer them. */
async function withErrorObject<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    const { toApiError } = await import('../http/api/errors.ts');
    const known = toApiError(error);
    throw known ?? error;
  }
}

async function serve(options: ServeOptions, onProgress: ProgressListener): Promise<Serving> {
  const { startDaemon } = await import('../main.ts');
  const configuration = configurationOf(options, {
    host: options.host,
    port: options.port,
    ...(options.baseUrl === undefined ? {} : { baseUrl: options.baseUrl }),
    ...(options.isAnonymous ? { anonymousAccess: true } : {}),
    ...(options.workers === undefined ? {} : { workers: options.workers }),
  });
  const log = createLog(configuration.log);
  const daemon = await startDaemon({
    configuration,
    log,
    sources: options.sources.map(localPath),
    ...(options.mode === undefined ? {} : { mode: options.mode }),
    change: changeOf(options),
    onProgress: progressOf(progressListener(configuration, log, onProgress)),
  });
  return {
    url: daemon.url,
    needsKey: daemon.needsCredential && configuration.anonymousAccess !== true,
    ...(daemon.setupUrl === undefined ? {} : { setupUrl: daemon.setupUrl }),
    indexed: daemon.indexed,
    readConfigurationAgain: () => daemon.readConfigurationAgain(),
    close: () => daemon.close(),
  };
}

/** The path of a source given on the command line. Errors: UsageError for a remote address, and for no text at all. */
function localPath(source: string): string {
  if (source === '')
    throw new UsageError('a source is empty; give the path of a folder, such as .');
  if (source.startsWith('file://')) return decodeURIComponent(new URL(source).pathname);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(source) || /^[^/@\s]+@[^/:\s]+:/.test(source)) {
    throw new UsageError(`${source}: this version does not fetch; clone it and give the path`);
  }
  return path.resolve(source);
}

async function indexSources(
  options: IndexOptions,
  onProgress: ProgressListener,
): Promise<readonly IndexResult[]> {
  const { indexerOf, openInstance } = await import('../instance.ts');
  const configuration = configurationOf(options);
  const log = createLog(configuration.log);
  const listener = progressListener(configuration, log, onProgress);
  const instance = await openInstance({
    dataDir: configuration.dataDir,
    isOwner: true,
    databaseUrl: configuration.databaseUrl?.reveal(),
    filters: configuration.settings,
    gitPaths: configuration.gitPaths,
    gitTimeoutMs: configuration.settings.gitTimeoutMs,
    searchTimeoutMs: 0,
    workers: configuration.workerCount,
    log,
    findsSymbols: options.findsSymbols,
    onProgress: progressOf(listener),
    onSymbolProgress: symbolProgressOf(listener),
  });
  try {
    const { served, symbols } = instance;
    const indexer = indexerOf(instance);
    const sources = options.sources.map(localPath);
    if (sources.length === 0) {
      await indexer.sources.confirm();
      await indexer.rules.changeServed(changeOf(options), options.repo);
    }
    const { records, failed } =
      sources.length > 0
        ? await indexer.sources.add(sources, options.mode, changeOf(options))
        : { records: served.records, failed: [] };
    const wanted = records.filter(
      ({ name }) => options.repo === undefined || name === options.repo,
    );
    if (wanted.length === 0) throw new UsageError('nothing to index: give a path');
    const results = await indexer.jobs.indexAll(wanted, options.isForced);
    if (options.findsSymbols) await symbols?.run();
    return [...failed, ...results];
  } finally {
    await instance.close();
  }
}

/** What the command line says of the repos. */
function changeOf({ branches, tags, visibility, enforcement }: SourceOptions): RepoChange {
  return {
    ...(branches === undefined ? {} : { branches }),
    ...(tags === undefined ? {} : { tags }),
    ...(visibility === undefined ? {} : { visibility }),
    ...(enforcement === undefined ? {} : { enforcement }),
  };
}

/** Where progress goes: to people as text, or, where logs are read by programs, into the log. */
function progressListener(
  configuration: Configuration,
  log: Log,
  listener: ProgressListener,
): ProgressListener {
  return configuration.log.format === 'json' ? logProgress(log) : listener;
}

const LOG_INTERVAL_MS = 3000;

/** A log line at each change of repo or phase, and every few seconds. */
function logProgress(log: Log): ProgressListener {
  let topic = '';
  let loggedMs = 0;
  return ({ repo, phase, ...counts }) => {
    const next = `${phase} ${repo}`;
    if (next === topic && Date.now() - loggedMs < LOG_INTERVAL_MS) return;
    topic = next;
    loggedMs = Date.now();
    log.info('indexing', { repo, phase, progress: counts });
  };
}

/** Adds the speed to the progress of a build. */
function progressOf(listener: ProgressListener): (repo: string, progress: BuildProgress) => void {
  let started = Date.now();
  return (repo, progress) => {
    if (progress.phase === 'listing') started = Date.now();
    const seconds = Math.max((Date.now() - started) / 1000, 0.001);
    listener({ repo, ...progress, bytesPerSecond: Math.round(progress.bytesDone / seconds) });
  };
}

/** The progress of a symbol pass as that of a build. */
function symbolProgressOf(
  listener: ProgressListener,
): (repo: string, progress: PassProgress) => void {
  let started = Date.now();
  let lastDone = Infinity;
  return (repo, { blobsDone, blobsTotal, bytesDone, bytesTotal }) => {
    if (blobsDone < lastDone) started = Date.now();
    lastDone = blobsDone;
    const seconds = Math.max((Date.now() - started) / 1000, 0.001);
    listener({
      repo,
      phase: 'symbols',
      filesDone: blobsDone,
      filesTotal: blobsTotal,
      bytesDone,
      bytesTotal,
      skipped: 0,
      bytesPerSecond: Math.round(bytesDone / seconds),
    });
  };
}

async function verifyShards({ dataDir, paths }: VerifyOptions): Promise<readonly ShardCheck[]> {
  const { compileCore } = await import('../engine/host/core.ts');
  const { verifyShardFile, verifySymbolsFile } = await import('../engine/host/verify.ts');
  const { readCatalog } = await import('../open-index.ts');
  const module = await compileCore();
  if (paths.length > 0) return paths.map((file) => checkOf(file, verifyShardFile(module, file)));
  const catalog = await readCatalog(path.resolve(dataDir));
  if (catalog.repos.every(({ record }) => record.indexedAt === undefined))
    throw noIndexError(dataDir);
  return catalog.repos.flatMap(({ shards }) =>
    shards.flatMap(({ shardId, symbols }) => {
      const shardPath = catalog.shardPath(shardId);
      const shard = checkOf(shardPath, verifyShardFile(module, shardPath));
      if (symbols === undefined || shard.problems.length > 0) return [shard];
      const file = catalog.symbolsPath(symbols.symbolsId);
      return [shard, checkOf(file, verifySymbolsFile(module, shardPath, file))];
    }),
  );
}

function checkOf(file: string, problem: string | undefined): ShardCheck {
  return { path: file, problems: problem === undefined ? [] : [problem] };
}

async function backup(options: BackupOptions): Promise<{ readonly size: number }> {
  const { openOperator } = await import('./operator.ts');
  const { writeBackupFile } = await import('./backup-file.ts');
  const { file, withIndex, passphrase, ...common } = options;
  const operator = await openOperator(configurationOf(common), false);
  try {
    const input = { withIndex, ...(passphrase === undefined ? {} : { passphrase }) };
    return await writeBackupFile(file, operator.backup(input));
  } finally {
    await operator.close();
  }
}

async function restore(options: RestoreCall): Promise<RestoreReport> {
  const { restoreBackup } = await import('../backup/restore.ts');
  const { file, isForced, passphrase, ...common } = options;
  const { dataDir, databaseUrl, secret, log } = configurationOf(common);
  return restoreBackup({
    dataDir,
    databaseUrl: databaseUrl?.reveal(),
    file,
    isForced,
    passphrase,
    secret: options.secret ?? secret?.reveal(),
    log: createLog(log),
  });
}
