// Opens a data directory for its owner: catalog, engine and indexer. Used by the daemon, and by commands that build.
// search-host.ts opens an index for others.

import path from 'node:path';
import type { ShardFault } from '../engine/host/space.ts';
import type { BuildProgress } from '../engine/build/build.ts';
import type { FilterSettings } from '../engine/build/filters.ts';
import { type LiveShard, SnapshotManager } from '../engine/search/snapshot.ts';
import { HeapTrimmer } from '../engine/host/heap.ts';
import { compileCore } from '../engine/host/core.ts';
import { clearNotes } from '../engine/host/search-note.ts';
import { BuildThreads } from '../engine/build/build-threads.ts';
import { GIT_TIMEOUT_MS } from '../sources/git/git.ts';
import { allowGitPaths } from '../sources/git/git-paths.ts';
import { boundGit } from '../sources/git/git-watch.ts';
import { type Index, openIndex } from './open-index.ts';
import {
  enginePartsOf,
  openSearchHost,
  type SearchHost,
  type Searching,
  type SearchOptions,
} from './search-host.ts';
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

const ON_DEMAND_FOLDER = 'on-demand';

export interface InstanceOptions extends SearchOptions {
  readonly log: Log;
  /** Of a PostgreSQL store; absent: the embedded store. */
  readonly databaseUrl?: string | undefined;
  readonly filters: FilterSettings;
  /** Absolute paths outside of the sources that git may read for them; default: none. */
  readonly gitPaths?: readonly string[];
  /** Of a git call for a request; a call without progress for twice as long is killed. Default: as in the settings. */
  readonly gitTimeoutMs?: number;
  /** Absent: only indexed revisions are searched. */
  readonly onDemand?: OnDemandLimits | undefined;
  readonly findsSymbols?: boolean;
  /** The current limits; default: one attempt, so that a failure is reported at once. */
  readonly jobLimits?: () => JobLimits;
  /** For merging shards; default: MERGE_LIMITS. */
  readonly mergeLimits?: MergeLimits | undefined;
  readonly hosts?: HostAccess | undefined;
  /** Default: as in the default settings. */
  readonly connectionLimits?: () => ConnectionLimits;
  readonly onProgress?: ((repo: string, progress: BuildProgress) => void) | undefined;
  readonly onSymbolProgress?: (repo: string, progress: PassProgress) => void;
}

export interface Instance extends Searching {
  readonly index: Index;
  readonly indexer: Indexer;
  /** Undefined: `findsSymbols` is false. */
  readonly symbols: SymbolIndexer | undefined;
  /** Undefined: only indexed revisions are searched. */
  readonly onDemand: OnDemandRevisions | undefined;
  /** Checks shards in the background once started. */
  readonly integrity: IntegrityPass;
  readonly heap: HeapTrimmer;
}

/** Errors: LockedError if it has an owner already; an unreadable catalog. */
export async function openInstance(options: InstanceOptions): Promise<Instance> {
  const unlock = await takeDataDir(options.dataDir);
  try {
    return await openLocked(options, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

async function openLocked(options: InstanceOptions, unlock: () => void): Promise<Instance> {
  const { dataDir, databaseUrl, log } = options;
  allowGitPaths(options.gitPaths ?? []);
  boundGit(() => options.gitTimeoutMs ?? GIT_TIMEOUT_MS);
  const index = await openIndex(dataDir, databaseUrl, log);
  const close = async (): Promise<void> => {
    await index.close();
    unlock();
  };
  try {
    await index.catalog.sweep();
    return await joined(options, index, close);
  } catch (error) {
    await index.close();
    throw error;
  }
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
  { catalog, registry, store, instanceId }: Index,
  { module, snapshots, threadCount: workers }: SearchHost,
  heap: HeapTrimmer,
): Promise<Upkeep> {
  const { log, dataDir, findsSymbols = true } = options;
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
    registry,
    served,
    jobRows: store.jobs,
    filters: () => options.filters,
    threads: new BuildThreads(module, workers),
    jobLimits: options.jobLimits ?? defaultOf(jobLimitsOf),
    log,
    mergeLimits: options.mergeLimits,
    connectionRows: store.connections,
    instance: instanceId,
    isAlone: store.kind === 'embedded',
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
  index: Index,
  close: () => Promise<void>,
): Promise<Instance> {
  const { log } = options;
  const { catalog } = index;
  const host = openSearchHost(options, catalog, await compileCore(), true);
  const { module, pool, snapshots } = host;
  const heap = new HeapTrimmer();
  keepSearched(catalog, snapshots, log);
  const upkeep = await openUpkeep(options, index, host, heap);
  const { served, indexer, symbols, onDemand } = upkeep;
  await indexer.jobs.recall((repoId) => catalog.repo(repoId)?.record.name);
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
  const parts = enginePartsOf(options, catalog, host, onDamage, {
    connectionsOf: (repoId) => indexer.connections?.namesOf(repoId) ?? [],
    revisions: onDemand && ((...requested) => onDemand.snapshotWith(...requested)),
  });
  return {
    catalog,
    index,
    served,
    indexer,
    symbols,
    onDemand,
    integrity,
    parts,
    pool,
    heap,
    async close() {
      await symbols?.close();
      await integrity.close();
      served.close();
      await indexer.close();
      await onDemand?.close();
      await pool.close();
      heap.close();
      clearNotes(host.notePath);
      await close();
    },
  };
}
