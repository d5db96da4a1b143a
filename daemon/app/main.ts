// The daemon: opens the instance, listens, indexes in the background, and shuts down cleanly.

import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../base/caught.ts';
import type { Configuration } from '../base/config/configuration.ts';
import { type ControlPlane, openControlPlane } from './control-plane.ts';
import type { ControlServer } from '../http/control-server.ts';
import type { HttpHandler } from '../http/adapters/adapter.ts';
import { Certificate } from '../http/certificate.ts';
import { type MetricsServer, startMetricsServer } from '../http/metrics-server.ts';
import { createLocalServer, createServer, type LocalServer } from '../http/server.ts';
import type { CompletedSearch } from '../engine/search/answer.ts';
import type { SearchOrigin } from '../engine/search/prepare.ts';
import type { BuildProgress } from '../engine/build/build.ts';
import { readSecretSource } from '../base/config/secret-source.ts';
import { traceChoice } from '../base/config/traces.ts';
import { memberSyncOf } from './member-lists.ts';
import type { MemberSync } from '../sync/members/member-sync.ts';
import { listingConnection, nameOfListing } from '../store/host-readers.ts';
import { openConnection } from '../sync/sources/local-host.ts';
import { HealthSeries } from './health-series.ts';
import { privateSizeOfProcess } from '../engine/host/heap.ts';
import { type Instance, openInstance } from './instance.ts';
import type { Services } from '../api/shapes/endpoint-services.ts';
import type { StatusReport } from '../api/shapes/status-report.ts';
import { RepoDirectory } from '../repos/directory.ts';
import { History } from '../sources/history/history.ts';
import { endGits } from '../sources/git/git.ts';
import { objectPool } from '../sources/git/object-pool.ts';
import type { RepoRecord, SourceKind } from '../repos/records.ts';
import { Reread } from './reread.ts';
import type { Indexer } from '../sync/indexer.ts';
import type { JobResult } from '../sync/jobs/jobs.ts';
import type { AddedSources } from '../sync/sources/repo-sources.ts';
import type { Served } from '../index/served/served.ts';
import type { Metrics } from './metrics.ts';
import { type MetricSources, readMetrics } from './metric-sources.ts';
import { servicesOf } from './services.ts';
import { logSlow } from './slow-searches.ts';
import { statusSource } from './status.ts';
import type { Traces } from './traces.ts';
import { watchSources } from '../sync/source-watch.ts';
import { someNames } from '../repos/some-names.ts';
import type { RepoChange } from '../index/register/change-repo.ts';
import type { Log } from '../base/log.ts';

export interface DaemonOptions {
  readonly configuration: Configuration;
  readonly log: Log;
  /** Paths to serve; empty: the repos of the catalog. */
  readonly sources: readonly string[];
  /** Absent: the files on disk for a work tree, else commits. */
  readonly mode?: SourceKind | undefined;
  readonly change?: RepoChange;
  readonly onProgress?: ((repo: string, progress: BuildProgress) => void) | undefined;
  /** Environment with secrets of connections and proxy addresses; default: empty. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Answers on the control socket only, and ignores the connections of the configuration. */
  readonly isLocal?: boolean;
}

export interface Daemon {
  readonly url: string;
  /** One-time address where the first owner is created, or sets a password. */
  readonly setupUrl: string | undefined;
  /** Requests need a credential, unless there is anonymous access. */
  readonly needsCredential: boolean;
  readonly indexed: Promise<readonly JobResult[]>;
  /** The first indexing runs, and a repository has no index yet. */
  isFirstIndexing(): boolean;
  readonly handle: HttpHandler;
  /** Errors: NOT_READY. */
  status(): Promise<StatusReport>;
  /** Errors: none: a refused file is logged, and nothing changes. */
  readConfigurationAgain(): Promise<void>;
  close(): Promise<void>;
}

/** Per job; if all fail, another job follows (sync/jobs/job-runner.ts). */
const JOB_ATTEMPTS = 2;

/** Resolves once it listens, while sources are being indexed. Errors: ConfigError, LockedError, ProbeError. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { configuration, log } = options;
  for (const notice of configuration.notices) log.warn(notice);
  const startedMs = Date.now();
  const observers: Observers = {};
  const instance = await openDataDir(options, observers);
  const abort = new AbortController();
  const opened = new OpenedParts(instance);
  try {
    await applyConnections(instance, options);
    const probed = await probeSources(instance, options, abort.signal);
    instance.served.publish();
    const directory = new RepoDirectory(() => instance.parts.snapshots.current.repos);
    const control = opened.add(await openControl(instance, directory, options));
    const members = opened.add(openMembers(instance, control, log));
    const history = opened.add(await openHistory(options, instance));
    let server: LocalServer | undefined;
    const { signal } = abort;
    const serverOf = () => server;
    const reread = opened.add(openReread(options, instance, control, members, serverOf, signal));
    const health = opened.add(openHealth(instance, serverOf));
    observers.health = health;
    const problems = (): readonly string[] => problemsOf(instance, services);
    const urlOf = (): string | null => (options.isLocal || !server ? null : server.url);
    const status = statusSource(instance, urlOf, startedMs, problems);
    const services: Services = servicesOf({
      configuration,
      log,
      instance,
      directory,
      control,
      members,
      history,
      reread,
      health,
      status,
      stopping: signal,
    });
    const read = { instance, control, server: serverOf, problems };
    observers.metrics = await openMetrics(options, read);
    observers.traces = opened.add(await openTraces(options));
    server = opened.add(await openServer(options, instance, control, reread, services, observers));
    opened.add(await serveMetrics(options, observers.metrics));
    opened.add(await openControlSocket(server, log));
    instance.pool.start();
    const indexer = instance.indexer;
    opened.add(watchSources({ ...instance, indexer, probed: probed.adding, log, signal }));
    members.start();
    const { prepared, ...first } = startJobs(instance, probed, history, signal);
    return {
      url: server.url,
      setupUrl: server.setupUrl,
      needsCredential: !control.accounts.callers.allowsLocalAnonymous,
      ...first,
      handle: server.handle,
      status: () => status.report(),
      readConfigurationAgain: () => reread.run(),
      close: async () => {
        log.info('the daemon is stopping');
        abort.abort(new Error('the daemon is stopping'));
        await whileGitsEnd(() => opened.close(() => Promise.allSettled([first.indexed, prepared])));
        log.info('the daemon has stopped');
      },
    };
  } catch (error) {
    abort.abort(error);
    await opened.close();
    throw error;
  }
}

class OpenedParts {
  readonly #instance: Instance;
  readonly #opened: { close(): Promise<void> | void }[] = [];

  constructor(instance: Instance) {
    this.#instance = instance;
  }

  /** It is closed before those that were added earlier. */
  add<One extends { close(): Promise<void> | void } | undefined>(one: One): One {
    if (one !== undefined) this.#opened.push(one);
    return one;
  }

  async close(whenIdle?: () => Promise<unknown>): Promise<void> {
    for (const one of this.#opened.toReversed()) await one.close();
    await whenIdle?.();
    await this.#instance.close();
  }
}

function openHealth({ parts }: Instance, serverOf: () => LocalServer | undefined): HealthSeries {
  return new HealthSeries(() => ({
    waiting: serverOf()?.searchCounts().waiting ?? 0,
    privateBytes: privateSizeOfProcess(),
    shards: parts.snapshots.current.shards.length,
  }));
}

/** Who is told of requests and searches; absent: not yet, or not wanted. */
interface Observers {
  health?: HealthSeries;
  metrics?: Metrics | undefined;
  traces?: Traces | undefined;
}

function noteSearch(
  { health, metrics, traces }: Observers,
  search: CompletedSearch,
  origin: SearchOrigin,
): void {
  health?.noteSearch(search.durationNs / 1e6);
  metrics?.noteSearch(search);
  traces?.noteSearch(search, origin);
}

/** Undefined: nobody asks for metrics. Loaded on demand, as most daemons need none. */
async function openMetrics(
  { configuration, isLocal = false }: DaemonOptions,
  sources: MetricSources,
): Promise<Metrics | undefined> {
  if (configuration.metrics === undefined || isLocal) return undefined;
  const { Metrics } = await import('./metrics.ts');
  return new Metrics(readMetrics(sources));
}

/** Undefined: they are off. Loaded on demand, as the metrics. */
async function openTraces({
  env = {},
  log,
  isLocal = false,
}: DaemonOptions): Promise<Traces | undefined> {
  const { isOn, refused } = traceChoice(env);
  if (refused !== undefined) log.warn('there are no traces', { reason: refused });
  if (!isOn || isLocal) return undefined;
  const { Traces } = await import('./traces.ts');
  return new Traces(log.labelled('traces'));
}

/** Errors: ConfigError. */
async function serveMetrics(
  { configuration, log }: DaemonOptions,
  metrics: Metrics | undefined,
): Promise<Pick<MetricsServer, 'close'>> {
  const { metrics: at } = configuration;
  if (at === undefined || metrics === undefined) return { close: () => Promise.resolve() };
  const server = await startMetricsServer(at, metrics);
  log.info('metrics are served', { url: server.url });
  return server;
}

function openServer(
  { configuration, log, isLocal = false }: DaemonOptions,
  instance: Instance,
  control: ControlPlane,
  { certificate }: Reread,
  services: Services,
  { metrics, traces }: Observers,
): Promise<LocalServer> {
  return (isLocal ? createLocalServer : createServer)({
    configuration,
    services,
    certificate,
    log,
    onAnswerOver: (size) => instance.heap.noteFreed(size),
    onArrival: traces && ((request, startMs) => traces.begin(request, startMs)),
    onRequest:
      (metrics ?? traces) &&
      ((request) => {
        metrics?.noteRequest(request);
        traces?.noteRequest(request);
      }),
    ...control,
  });
}

function openReread(
  options: DaemonOptions,
  instance: Instance,
  control: ControlPlane,
  members: MemberSync,
  server: () => LocalServer | undefined,
  signal: AbortSignal,
): Reread {
  const { configuration, log, isLocal = false } = options;
  const { tls } = configuration;
  return new Reread({
    configuration,
    log: log.labelled('configuration'),
    certificate:
      tls === undefined || isLocal ? undefined : new Certificate(tls, log.labelled('http')),
    apply: (changed) => {
      control.accounts.applyConfiguration();
      server()?.applySettings();
      instance.onDemand?.noteLimits();
      members.noteListed();
      if (changed.some((name) => name === 'apps' || name.startsWith('connections.')))
        applyConnections(instance, options, changed.includes('apps')).catch((error: unknown) =>
          log.error('connections could not be applied yet', { error }),
        );
    },
    index: () => instance.indexer.jobs.indexAll(instance.served.records, false, signal),
  });
}

/** Closes without waiting for git processes that hang. */
async function whileGitsEnd(close: () => Promise<void>): Promise<void> {
  const ending = setInterval(endGits, 1_000).unref();
  await close();
  await objectPool.close();
  clearInterval(ending);
}

function openDataDir(
  { configuration, log, onProgress, env = {} }: DaemonOptions,
  observers: Observers,
): Promise<Instance> {
  return openInstance({
    configuration,
    log,
    jobAttempts: JOB_ATTEMPTS,
    isOnDemand: true,
    hosts: {
      openHost: (name, settings) =>
        openConnection(name, settings, { log, env, apps: configuration.apps }),
      // Loaded on demand: the code for hosts adds 0.2 s to a start, and most daemons need none.
      fetchMirror: async (call) =>
        (await import('../hosts/mirrors/fetch-mirror.ts')).fetchMirror(call),
      webhookSecret: () => {
        const { secret } = configuration.settings.webhooks;
        return secret && readSecretSource(secret, env);
      },
    },
    onProgress,
    onCompleted: (search, origin) => {
      noteSearch(observers, search, origin);
      logSlow(log, configuration.settings.slowSearchMs, search, origin);
    },
  });
}

/** Applies the connections of the configuration; without a configuration nothing listed before is removed. */
async function applyConnections(
  { indexer }: Instance,
  { configuration: { connections, source }, isLocal = false }: DaemonOptions,
  areReopened = false,
): Promise<void> {
  if (source !== undefined && !isLocal)
    await indexer.connections?.configure(connections, areReopened);
}

interface ProbedSources {
  readonly adding: Promise<AddedSources>;
  readonly early: AddedSources | undefined;
}

async function probeSources(
  instance: Instance,
  { configuration, log, sources, mode, change }: DaemonOptions,
  signal: AbortSignal,
): Promise<ProbedSources> {
  const indexer = instance.indexer;
  const adding =
    sources.length > 0
      ? indexer.sources.add(sources, mode, change, signal)
      : startAgain(instance.served, indexer, change ?? {}, signal);
  if (sources.length > 0)
    void adding.then(
      () => warnOfUnserved(instance, log),
      () => {},
    );
  // The daemon waits this long for sources to be probed; then it listens. With an index there is something to serve.
  const waitMs = instance.served.repos.length > 0 ? 100 : 2_000;
  const early =
    (await Promise.race([adding, sleep(waitMs, undefined, { ref: false })])) ?? undefined;
  if (early === undefined) log.info('requests are answered before all sources have been checked');
  else if (
    early.records.length + early.failed.length === 0 &&
    indexer.connections?.all.length === 0
  )
    log.warn(
      `there is nothing to search: no source was given and ${configuration.dataDir} holds no index; ` +
        'give one: "trawl serve PATH"',
    );
  return { adding, early };
}

async function openControl(
  instance: Instance,
  directory: RepoDirectory,
  { configuration, log }: DaemonOptions,
): Promise<ControlPlane> {
  const store = instance.index.store;
  const control = await openControlPlane(configuration, directory, log, store);
  const applyRules = (): Promise<void> =>
    instance.indexer.rules
      .apply()
      .catch((error: unknown) =>
        log.error('permissions of repositories could not be applied', { error }),
      );
  control.store.onChange((change) => {
    if (!('topic' in change) || change.topic === 'settings' || change.topic === 'readers') return;
    void applyRules();
  });
  // Changes by other daemons after the first read of the repos were not noticed until here.
  if (store.kind === 'postgres') await applyRules();
  return control;
}

function openMembers(instance: Instance, { accounts }: ControlPlane, log: Log): MemberSync {
  const { connections } = instance.indexer;
  // Why: a configuration that was just read may not be applied to the connections yet.
  const appliedName = (connection: string): string | undefined => {
    const name = nameOfListing(connection);
    const settings = connections?.settingsOf(name);
    if (settings === undefined) return undefined;
    const applied = listingConnection(instance.index.instanceId, name, settings);
    return applied === connection ? name : undefined;
  };
  const members = memberSyncOf(
    accounts,
    {
      reposOf: (connection) =>
        connections
          ?.reposOf(appliedName(connection) ?? '')
          ?.flatMap(({ repoId, name, visibility, host }) =>
            host === undefined
              ? []
              : [{ repoId, name, visibility, hostId: host.hostId, path: host.facts.path }],
          ),
      hostOf: (connection) =>
        connections?.hostOf(appliedName(connection) ?? '') ??
        Promise.reject(new Error('there are no connections')),
      relist: (repoId) => connections?.relist(repoId),
    },
    log,
  );
  connections?.onListed(() => members.noteListed());
  return members;
}

/** Without those that the status report has as counts. */
function problemsOf(instance: Instance, { readiness }: Services): readonly string[] {
  const pending = new Set(instance.indexer.pending);
  return readiness.status().degraded.filter((sentence) => !pending.has(sentence));
}

/** If that fails, the daemon continues without. */
function openControlSocket(server: LocalServer, log: Log): Promise<ControlServer> {
  return server.openControl().catch((error: unknown) => {
    log.warn('commands such as "trawl user" cannot reach this daemon', { error: String(error) });
    return { close: () => Promise.resolve() };
  });
}

/** Indexes the sources, writes commit graphs, then starts the recurring work. */
function startJobs(
  instance: Instance,
  { adding, early }: ProbedSources,
  history: History,
  signal: AbortSignal,
): Pick<Daemon, 'indexed' | 'isFirstIndexing'> & { readonly prepared: Promise<void> } {
  const jobs = adding
    .then(async ({ records, failed }) => {
      if (early === undefined) instance.served.publish();
      const indexer = instance.indexer;
      const requested = await indexer.jobs.requestAll(records, false, signal);
      await indexer.connections?.start();
      indexer.jobs.failUnrequested();
      const results = await requested.results;
      void indexer.merger.run();
      return { records, results: [...failed, ...results] };
    })
    .catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return { records: [], results: [] };
    });
  instance.integrity.run();
  const prepared = jobs.then(
    ({ records, results }) => prepareHistories(results, records, history, signal),
    () => {},
  );
  let isOver = false;
  const end = (): void => void (isOver = true);
  jobs.then(end, end);
  return {
    indexed: jobs.then(({ results }) => results),
    isFirstIndexing: () => {
      const { records } = instance.served;
      const isMissing = records.some(({ indexedAt }) => indexedAt === undefined);
      return !isOver && (isMissing || records.length === 0);
    },
    prepared,
  };
}

/** Opens the history reader, and drops cached data of repos that the catalog no longer has. */
async function openHistory(
  { configuration, log }: DaemonOptions,
  { catalog }: Instance,
): Promise<History> {
  const history = new History({
    get timeoutMs() {
      return configuration.settings.gitTimeoutMs;
    },
    get sourceSizeMax() {
      return configuration.settings.maxSourceBytes;
    },
    graphs: {
      folder: path.join(configuration.dataDir, 'history'),
      onFailure: ({ repoId }, error) =>
        log.warn('no commit graph could be written', { repoId, error: messageOf(error) }),
    },
  });
  const repoIds = new Set(catalog.repos.map(({ record }) => record.repoId));
  await history.sweep((repoId) => repoIds.has(repoId));
  return history;
}

/** A commit graph makes a history fast to read. */
async function prepareHistories(
  jobs: readonly JobResult[],
  repos: readonly RepoRecord[],
  history: History,
  signal: AbortSignal,
): Promise<void> {
  const built = new Set(jobs.filter(({ isUnchanged }) => !isUnchanged).map(({ repo }) => repo));
  for (const repo of repos) {
    if (signal.aborted) return;
    if (built.has(repo.name)) await history.prepare(repo, signal).catch(() => {});
  }
}

async function startAgain(
  served: Served,
  indexer: Indexer,
  change: RepoChange,
  signal: AbortSignal,
): Promise<AddedSources> {
  await indexer.sources.confirm(signal);
  await indexer.rules.changeServed(change);
  return { records: served.records, failed: [] };
}

/** Warns of indexed repos that are not served, because nobody named their source. */
function warnOfUnserved({ catalog, served }: Instance, log: Log): void {
  const servedRepos = new Set(served.repos);
  const unservedRepos = catalog.repos.filter((repo) => !servedRepos.has(repo));
  if (unservedRepos.length === 0) return;
  const names = someNames(unservedRepos.map(({ record }) => record.name));
  const count =
    unservedRepos.length === 1
      ? '1 known repository is'
      : `${unservedRepos.length} known repositories are`;
  log.warn(`${count} not among the sources, and not served: ${names}`);
}
