// Opens a data directory: catalog, engine and indexer. Used by the daemon, and by commands that search or build.

import { availableParallelism } from 'node:os';
import path from 'node:path';
import { compileCore } from '../engine/host/core.ts';
import { mappingShares, mappingWarning } from '../engine/host/mapping-budget.ts';
import { SearchPool } from '../engine/host/pool.ts';
import { clearNotes, makeNotes, readNotes } from '../engine/host/search-note.ts';
import { Searcher } from '../engine/host/searcher.ts';
import type { ShardFault } from '../engine/host/space.ts';
import type { BuildProgress } from '../engine/build/build.ts';
import type { FilterSettings } from '../engine/build/filters.ts';
import { type LiveShard, SnapshotManager } from '../engine/search/snapshot.ts';
import { HeapTrimmer } from '../engine/host/heap.ts';
import { ShortSearches } from '../engine/search/short-searches.ts';
import { StartThreads } from '../engine/search/start-threads.ts';
import type { EngineParts } from '../engine/search/prepare.ts';
import { BuildThreads } from '../engine/build/build-threads.ts';
import { GIT_TIMEOUT_MS } from '../sources/git/git.ts';
import { allowGitPaths } from '../sources/git/git-paths.ts';
import { boundGit } from '../sources/git/git-watch.ts';
import { type Index, openIndex, readCatalog } from './open-index.ts';
import type { Catalog } from '../index/catalog/catalog.ts';
import { takeDataDir } from '../index/catalog/data-dir.ts';
import type { PassProgress } from '../engine/symbols/pass-loop.ts';
import { Indexer } from '../sync/indexer.ts';
import type { HostAccess } from '../sync/connections/connections.ts';
import {
  type ConnectionLimits,
  connectionLimitsOf,
  type JobLimits,
  jobLimitsOf,
} from '../sync/jobs/job-limits.ts';
import type { MergeLimits } from '../index/merge/merge-plan.ts';
import { Served } from '../index/served/served.ts';
import { OnDemandRevisions } from '../index/on-demand/on-demand.ts';
import type { OnDemandLimits } from '../index/on-demand/on-demand-limits.ts';
import { IntegrityPass } from '../index/upkeep/integrity-pass.ts';
import { SymbolIndexer } from '../sync/symbol-indexer.ts';
import { messageOf } from '../base/caught.ts';
import { readSettings, type Settings } from '../base/config/settings.ts';
import type { Log } from '../base/log.ts';

const NOTE_FILE = 'searching';
const ON_DEMAND_FOLDER = 'on-demand';

export interface InstanceOptions {
  readonly dataDir: string;
  /** False: read only, whoever owns the directory; nothing is removed, locked or built. */
  readonly isOwner: boolean;
  /** Of a PostgreSQL store; absent: the embedded store. Only for an owner. */
  readonly databaseUrl?: string | undefined;
  readonly filters: FilterSettings;
  /** Absolute paths outside of the sources that git may read for them; default: none. */
  readonly gitPaths?: readonly string[];
  /** Of a git call for a request; a call without progress for twice as long is killed. Default: as in the settings. */
  readonly gitTimeoutMs?: number;
  readonly searchTimeoutMs: number;
  /** Absent: only indexed revisions are searched. */
  readonly onDemand?: OnDemandLimits | undefined;
  readonly workers?: number | undefined;
  readonly log: Log;
  readonly findsSymbols?: boolean;
  /** The current limits; default: one attempt, so that a failure is reported at once. */
  readonly jobLimits?: () => JobLimits;
  /** For merging shards; default: MERGE_LIMITS. */
  readonly mergeLimits?: MergeLimits | undefined;
  readonly hosts?: HostAccess | undefined;
  /** Default: as in the default settings. */
  readonly connectionLimits?: () => ConnectionLimits;
  readonly onProgress?: ((repo: string, progress: BuildProgress) => void) | undefined;
  readonly onCompleted?: EngineParts['onCompleted'];
  readonly onSymbolProgress?: (repo: string, progress: PassProgress) => void;
}

export interface Instance {
  readonly catalog: Catalog;
  /** Undefined: the data directory is open read-only. */
  readonly index: Index | undefined;
  readonly served: Served;
  readonly indexer: Indexer | undefined;
  readonly symbols: SymbolIndexer | undefined;
  readonly onDemand: OnDemandRevisions | undefined;
  /** Checks shards in the background once started; absent in read-only mode. */
  readonly integrity: IntegrityPass | undefined;
  readonly parts: EngineParts;
  readonly pool: SearchPool;
  readonly heap: HeapTrimmer;
  close(): Promise<void>;
}

/** Errors: LockedError if it has an owner already; an unreadable catalog. */
export async function openInstance(options: InstanceOptions): Promise<Instance> {
  const { dataDir, isOwner } = options;
  const unlock = isOwner ? await takeDataDir(dataDir) : () => {};
  try {
    return await openLocked(options, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

async function openLocked(options: InstanceOptions, unlock: () => void): Promise<Instance> {
  const { dataDir, isOwner, databaseUrl, log } = options;
  allowGitPaths(options.gitPaths ?? []);
  boundGit(() => options.gitTimeoutMs ?? GIT_TIMEOUT_MS);
  if (!isOwner) return joined(options, await readCatalog(dataDir), undefined, unlock);
  const index = await openIndex(dataDir, databaseUrl, log);
  const { catalog } = index;
  const close = async (): Promise<void> => {
    await index.close();
    unlock();
  };
  try {
    await catalog.sweep();
    return await joined(options, catalog, index, close);
  } catch (error) {
    await index.close();
    throw error;
  }
}

type SearchHost = Awaited<ReturnType<typeof openSearchHost>>;

async function openSearchHost(options: InstanceOptions, catalog: Catalog) {
  const { dataDir, isOwner, log, workers } = options;
  const module = await compileCore(undefined, !isOwner);
  const threadCount = workers ?? availableParallelism();
  const shares = mappingShares(threadCount);
  const notePath = path.join(dataDir, NOTE_FILE);
  // Shards that were being searched when the last process crashed.
  const notedIds = isOwner ? readNotes(notePath) : [];
  const hasNotes = isOwner && areNotesMade(notePath, log);
  const searcher = new Searcher(module, {
    mappingMax: shares?.main,
    note: hasNotes ? { path: notePath, slot: 0 } : undefined,
  });
  const tooMany = mappingWarning(catalog.shardFiles, threadCount);
  if (tooMany !== undefined) log.warn(tooMany);
  const pool = new SearchPool({
    module,
    workers: threadCount,
    notePath: hasNotes ? notePath : undefined,
    onDeath: (error) => log.error('search thread died and was replaced', { error: error.message }),
  });
  const snapshots = new SnapshotManager(searcher, pool);
  const heap = new HeapTrimmer();
  return { module, searcher, pool, snapshots, heap, threadCount, notePath, notedIds };
}

/** Limits of one attempt, read once. */
function defaultOf<Limits>(
  limitsOf: (settings: Settings, attempts: number) => Limits,
): () => Limits {
  const limits = limitsOf(readSettings(), 1);
  return () => limits;
}

/** Files that a search may open stay until it has ended. */
function keepSearched(catalog: Catalog, snapshots: SnapshotManager, log: Log): void {
  catalog.isSearched = (file) => snapshots.isOpen(file);
  snapshots.onChange = () =>
    void catalog.removeLeft().catch((error: unknown) => {
      log.warn('files of replaced shards could not be removed', { error: messageOf(error) });
    });
}

type Upkeep = Pick<Instance, 'served' | 'indexer' | 'symbols' | 'onDemand'>;

async function openUpkeep(
  options: InstanceOptions,
  catalog: Catalog,
  index: Index | undefined,
  { module, snapshots, heap, threadCount: workers }: SearchHost,
): Promise<Upkeep> {
  const { log, dataDir, findsSymbols = true } = options;
  const registry = index?.registry;
  let indexer: Indexer | undefined;
  let onDemand: OnDemandRevisions | undefined;
  let symbols: SymbolIndexer | undefined;
  const served = new Served({
    catalog,
    registry,
    log,
    isConnected: (repoId) => indexer?.connections?.has(repoId),
    connected: () => indexer?.connections?.configured,
    publish: (snapshot) => {
      const refused = snapshots.publish(snapshot);
      onDemand?.noteChange();
      void symbols?.run();
      return refused;
    },
    onDamage: (repo) => indexer?.jobs.buildAgain(repo),
    onSymbolsLost: (shardId, reason) => indexer?.symbols.findAgain(shardId, reason),
  });
  if (index === undefined) return { served, indexer, symbols, onDemand };
  if (options.onDemand !== undefined)
    onDemand = await OnDemandRevisions.open({
      module,
      catalog,
      snapshots,
      folder: path.join(dataDir, ON_DEMAND_FOLDER),
      isOut: (shardId) => served.isOut(shardId),
      filters: () => options.filters,
      // Safety: if it is there once, it always is.
      limits: () => options.onDemand!,
      threads: new BuildThreads(module, workers, 'demand'),
      symbolWorkers: findsSymbols ? workers : 0,
      log,
    });
  indexer = new Indexer({
    module,
    catalog,
    registry: index.registry,
    served,
    jobRows: index.store.jobs,
    filters: () => options.filters,
    threads: new BuildThreads(module, workers),
    jobLimits: options.jobLimits ?? defaultOf(jobLimitsOf),
    log,
    mergeLimits: options.mergeLimits,
    connectionRows: index.store.connections,
    instance: index.instanceId,
    isAlone: index.store.kind === 'embedded',
    hosts: options.hosts,
    connectionLimits: options.connectionLimits ?? defaultOf(connectionLimitsOf),
    onProgress: options.onProgress,
    onNewShards: () => heap.noteBuilt(),
    findSymbols: () => void symbols?.run(),
  });
  const folder = catalog.shardFolder;
  const { onSymbolProgress: onProgress } = options;
  if (findsSymbols)
    symbols = new SymbolIndexer({ module, served, indexer, folder, log, workers, onProgress });
  return { served, indexer, symbols, onDemand };
}

async function joined(
  options: InstanceOptions,
  catalog: Catalog,
  index: Index | undefined,
  close: () => void | Promise<void>,
): Promise<Instance> {
  const { isOwner, log } = options;
  if (catalog.unusable !== undefined)
    log.warn('repositories are not searched until they are built again', catalog.unusable);
  const host = await openSearchHost(options, catalog);
  const { module, pool, snapshots, heap } = host;
  keepSearched(catalog, snapshots, log);
  const upkeep = await openUpkeep(options, catalog, index, host);
  const { served, indexer, symbols, onDemand } = upkeep;
  await indexer?.jobs.recall((repoId) => catalog.repo(repoId)?.record.name);
  const onDamage = (shardId: string, reason: string, fault?: ShardFault): void => {
    if (onDemand?.noteShardFailure(shardId, reason) !== true)
      served.noteShardFailure(shardId, reason, fault);
  };
  const shards = (): readonly LiveShard[] => snapshots.current.shards;
  const integrity = new IntegrityPass({
    module,
    shards,
    isBusy: () => pool.isBusy,
    onDamage,
    log,
  });
  await served.quarantineNoted(host.notedIds, (noted) => integrity.checkNow(noted));
  const parts = enginePartsOf(options, catalog, host, upkeep, onDamage);
  return {
    catalog,
    index,
    served,
    indexer,
    symbols,
    onDemand,
    integrity: isOwner ? integrity : undefined,
    parts,
    pool,
    heap,
    async close() {
      await symbols?.close();
      await integrity.close();
      served.close();
      await indexer?.close();
      await onDemand?.close();
      await pool.close();
      heap.close();
      if (isOwner) clearNotes(host.notePath);
      await close();
    },
  };
}

/** For one search in a process of its own, where nobody waits: as long as starting a thread takes. */
const ALONE_NS = 60_000_000n;

function enginePartsOf(
  options: InstanceOptions,
  catalog: Catalog,
  { searcher, pool, snapshots }: SearchHost,
  { indexer, onDemand }: Upkeep,
  onShardFailure: NonNullable<EngineParts['onShardFailure']>,
): EngineParts {
  return {
    searcher,
    pool,
    inlineNs: options.isOwner ? undefined : ALONE_NS,
    snapshots,
    connectionsOf: (repoId) => indexer?.connections?.namesOf(repoId) ?? [],
    tooLargeOf: (repoId) => catalog.repo(repoId)?.skipped['too_large'] ?? 0,
    revisions: onDemand && ((...requested) => onDemand.snapshotWith(...requested)),
    startThreads: new StartThreads(pool),
    shortSearches: new ShortSearches(pool),
    get timeoutMs() {
      return options.searchTimeoutMs;
    },
    onShardFailure,
    onCompleted: options.onCompleted,
  };
}

/** Errors: the data directory is open read-only. */
export function indexerOf({ indexer }: Instance): Indexer {
  if (indexer === undefined) throw new Error('the data directory is open read-only');
  return indexer;
}

/** False: searches are not recorded. */
function areNotesMade(notePath: string, log: Log): boolean {
  try {
    makeNotes(notePath);
    return true;
  } catch (error) {
    log.warn('searched shards cannot be recorded: after a crash no shard is checked before use', {
      error: messageOf(error),
    });
    return false;
  }
}
