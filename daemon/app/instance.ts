// Opens a data directory for its owner: catalog, engine and indexer. Used by the daemon, and by commands that build.
// search-host.ts opens an index for others.

import path from 'node:path';
import type { ShardFault } from '../engine/host/space.ts';
import type { BuildProgress } from '../engine/build/build.ts';
import { type LiveShard, SnapshotManager } from '../engine/search/snapshot.ts';
import { HeapTrimmer } from '../engine/host/heap.ts';
import { compileCore } from '../engine/host/core.ts';
import { clearNotes } from '../engine/host/search-note.ts';
import { BuildThreads } from '../engine/build/build-threads.ts';
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
import { type ConnectionLimits, connectionLimitsOf, jobLimitsOf } from '../sync/jobs/job-limits.ts';
import type { MergeLimits } from '../index/merge/merge-plan.ts';
import { Served } from '../index/served/served.ts';
import { OnDemandRevisions } from '../index/on-demand/on-demand.ts';
import { IntegrityPass } from '../index/upkeep/integrity-pass.ts';
import { SymbolIndexer } from '../sync/symbol-indexer.ts';
import { messageOf } from '../base/caught.ts';
import type { Configuration } from '../base/config/configuration.ts';
import type { Log } from '../base/log.ts';

const ON_DEMAND_FOLDER = 'on-demand';

export interface InstanceOptions {
  readonly configuration: Configuration;
  readonly log: Log;
  /** Of each job; default: one, so that a failure is reported at once. */
  readonly jobAttempts?: number;
  /** Default: only indexed revisions are searched. */
  readonly isOnDemand?: boolean;
  readonly findsSymbols?: boolean;
  /** For merging shards; default: MERGE_LIMITS. */
  readonly mergeLimits?: MergeLimits | undefined;
  readonly hosts?: HostAccess | undefined;
  /** Default: by the settings. */
  readonly connectionLimits?: (() => ConnectionLimits) | undefined;
  readonly onProgress?: ((repo: string, progress: BuildProgress) => void) | undefined;
  readonly onSymbolProgress?: (repo: string, progress: PassProgress) => void;
  readonly onCompleted?: SearchOptions['onCompleted'];
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
  const unlock = await takeDataDir(options.configuration.dataDir);
  try {
    return await openLocked(options, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

async function openLocked(options: InstanceOptions, unlock: () => void): Promise<Instance> {
  const { configuration, log } = options;
  allowGitPaths(configuration.gitPaths);
  boundGit(() => configuration.settings.gitTimeoutMs);
  const index = await openIndex(configuration.dataDir, configuration.databaseUrl?.reveal(), log);
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
  const { configuration, log, jobAttempts = 1, findsSymbols = true } = options;
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
  if (options.isOnDemand === true)
    onDemand = await OnDemandRevisions.open({
      module,
      catalog,
      snapshots,
      folder: path.join(configuration.dataDir, ON_DEMAND_FOLDER),
      isOut: (shardId) => served.isOut(shardId),
      filters: () => configuration.settings,
      limits: () => configuration.settings.onDemandRevisions,
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
    filters: () => configuration.settings,
    threads: new BuildThreads(module, workers),
    jobLimits: () => jobLimitsOf(configuration.settings, jobAttempts),
    log,
    mergeLimits: options.mergeLimits,
    connectionRows: store.connections,
    instance: instanceId,
    isAlone: store.kind === 'embedded',
    hosts: options.hosts,
    connectionLimits:
      options.connectionLimits ?? (() => connectionLimitsOf(configuration.settings, jobAttempts)),
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
  const { configuration, log, onCompleted } = options;
  const { catalog } = index;
  const searching: SearchOptions = {
    dataDir: configuration.dataDir,
    get searchTimeoutMs() {
      return configuration.settings.searchTimeoutMs;
    },
    workers: configuration.workerCount,
    log,
    onCompleted,
  };
  const host = openSearchHost(searching, catalog, await compileCore(), true);
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
  const parts = enginePartsOf(searching, catalog, host, onDamage, {
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
