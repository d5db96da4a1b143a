// One open data directory: catalog, engine, indexer, joined. The daemon serves it; the command line opens it
// for one search or one build.

import { compileCore } from './engine/core.ts';
import { SearchPool } from './engine/pool.ts';
import { Searcher } from './engine/searcher.ts';
import type { BuildProgress } from './ingest/build.ts';
import type { FilterSettings } from './ingest/filters.ts';
import { SnapshotKeeper } from './search/snapshot.ts';
import { HeapTrimmer } from './engine/heap.ts';
import { Turns } from './search/turns.ts';
import type { EngineParts } from './search/prepare.ts';
import { allowGitPaths } from './repos/git-place.ts';
import { Catalog } from './shards/catalog.ts';
import { takeDataDir } from './shards/data-dir.ts';
import type { PassProgress } from './symbols/pass-loop.ts';
import { Indexer } from './sync/indexer.ts';
import { SymbolKeeper } from './sync/symbol-keeper.ts';
import type { Log } from './telemetry/log.ts';

export interface InstanceOptions {
  /** Absolute path. */
  readonly dataDir: string;
  /** False: read only, whoever owns the directory; nothing is swept, locked or built. */
  readonly isOwner: boolean;
  readonly filters: FilterSettings;
  /** Absolute paths outside of sources that git may read for them; default: none. */
  readonly gitPaths?: readonly string[];
  readonly searchTimeoutMs: number;
  readonly workers?: number;
  readonly log: Log;
  /** False: symbols stay as they are. */
  readonly findsSymbols?: boolean;
  readonly onProgress?: (repo: string, progress: BuildProgress) => void;
  readonly onSymbolProgress?: (repo: string, progress: PassProgress) => void;
}

export interface Instance {
  readonly catalog: Catalog;
  readonly indexer: Indexer;
  /** Absent where nothing is built. */
  readonly symbols: SymbolKeeper | undefined;
  readonly parts: EngineParts;
  close(): Promise<void>;
}

/**
 * Opens a data directory and shows what its catalog holds.
 *
 * Errors: LockedError if it has an owner already; a catalog that cannot be read.
 */
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
  const { dataDir, isOwner, log, workers } = options;
  allowGitPaths(options.gitPaths ?? []);
  const catalog = new Catalog(dataDir);
  await catalog.load();
  for (const fields of catalog.unusable)
    log.warn('the index of a repo cannot be used and has to be built again', fields);
  if (isOwner) await catalog.sweep();
  const module = await compileCore();
  const searcher = new Searcher(module);
  const pool = new SearchPool({
    module,
    ...(workers === undefined ? {} : { workers }),
    onDeath: (error) => log.error('search thread died and was replaced', { error: error.message }),
  });
  const snapshots = new SnapshotKeeper(searcher, pool);
  const indexer: Indexer = new Indexer({
    module,
    catalog,
    isOwner,
    filters: options.filters,
    ...(workers === undefined ? {} : { workers }),
    log,
    publish: (snapshot) => snapshots.publish(snapshot),
    onNewShards: () => void symbols?.run(),
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  });
  const symbols =
    isOwner && options.findsSymbols !== false
      ? new SymbolKeeper({
          module,
          indexer,
          folder: catalog.shardFolder,
          log,
          ...(workers === undefined ? {} : { workers }),
          ...(options.onSymbolProgress === undefined
            ? {}
            : { onProgress: options.onSymbolProgress }),
        })
      : undefined;
  const heap = new HeapTrimmer();
  const parts: EngineParts = {
    searcher,
    pool,
    snapshots,
    turns: new Turns(pool),
    heap,
    timeoutMs: options.searchTimeoutMs,
    onShardFailure: (shardId, reason) => indexer.noteShardFailure(shardId, reason),
  };
  return {
    catalog,
    indexer,
    symbols,
    parts,
    async close() {
      await symbols?.close();
      await indexer.close();
      await pool.close();
      heap.close();
      unlock();
    },
  };
}
