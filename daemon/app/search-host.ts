// Joins a catalog with the engine that searches it: for the owner of a data directory (instance.ts), and for one search of a
// process that owns nothing. Each `trawl search` loads this file: nothing below it builds, stores or runs git.

import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { messageOf } from '../base/caught.ts';
import type { LogLines } from '../base/log.ts';
import { CheckedPages } from '../engine/host/checked-pages.ts';
import { compileCore } from '../engine/host/core.ts';
import { mappingShares, mappingWarning } from '../engine/host/mapping-budget.ts';
import { SearchPool } from '../engine/host/pool.ts';
import { makeNotes, readNotes } from '../engine/host/search-note.ts';
import { Searcher } from '../engine/host/searcher.ts';
import type { EngineParts } from '../engine/search/prepare.ts';
import { ShortSearches } from '../engine/search/short-searches.ts';
import { SnapshotManager } from '../engine/search/snapshot.ts';
import { StartThreads } from '../engine/search/start-threads.ts';
import type { Catalog } from '../index/catalog/catalog.ts';
import { Served } from '../index/served/served.ts';
import { readCatalog } from './read-catalog.ts';

const UNBUILT = 'repositories are not searched until they are built again';

const NOTE_FILE = 'searching';

/** For one search in a process of its own, where nobody waits: as long as starting a thread takes. */
const ALONE_NS = 60_000_000n;

export interface SearchOptions {
  readonly dataDir: string;
  readonly searchTimeoutMs: number;
  readonly workers?: number | undefined;
  readonly log: LogLines;
  readonly onCompleted?: EngineParts['onCompleted'];
}

/** What a search needs. */
export interface Searching {
  readonly catalog: Catalog;
  readonly served: Served;
  readonly parts: EngineParts;
  readonly pool: SearchPool;
  close(): Promise<void>;
}

export type SearchHost = ReturnType<typeof openSearchHost>;

/** @param isOwner  false: for one search; nothing is recorded */
export function openSearchHost(
  { dataDir, log, workers }: SearchOptions,
  catalog: Catalog,
  module: WebAssembly.Module,
  isOwner: boolean,
) {
  if (catalog.unusable !== undefined) log.warn(UNBUILT, catalog.unusable);
  // The owner has replaced them.
  if (!isOwner && catalog.damaged.length > 0)
    log.warn(UNBUILT, { count: catalog.damaged.length, reason: 'entries of index.db are damaged' });
  const threadCount = workers ?? availableParallelism();
  const shares = mappingShares(threadCount);
  const notePath = path.join(dataDir, NOTE_FILE);
  // Shards that were being searched when the last process crashed.
  const notedIds = isOwner ? readNotes(notePath) : [];
  const hasNotes = isOwner && areNotesMade(notePath, log);
  const checkedPages = CheckedPages.newBuffer();
  const searcher = new Searcher(module, {
    checkedPages,
    mappingMax: shares?.main,
    note: hasNotes ? { path: notePath, slot: 0 } : undefined,
  });
  const tooMany = mappingWarning(catalog.shardFiles, threadCount);
  if (tooMany !== undefined) log.warn(tooMany);
  const pool = new SearchPool({
    module,
    checkedPages,
    workers: threadCount,
    notePath: hasNotes ? notePath : undefined,
    onDeath: (error) => log.error('search thread died and was replaced', { error: error.message }),
  });
  const snapshots = new SnapshotManager(searcher, pool);
  const inlineNs = isOwner ? undefined : ALONE_NS;
  return { module, searcher, pool, snapshots, threadCount, notePath, notedIds, inlineNs };
}

/** False: searches are not recorded. */
function areNotesMade(notePath: string, log: LogLines): boolean {
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

/** @param more  what only an owner knows */
export function enginePartsOf(
  options: SearchOptions,
  catalog: Catalog,
  { searcher, pool, snapshots, inlineNs }: SearchHost,
  onShardFailure: NonNullable<EngineParts['onShardFailure']>,
  more: Pick<EngineParts, 'connectionsOf' | 'revisions' | 'lacksRepos'> = {},
): EngineParts {
  return {
    ...more,
    searcher,
    pool,
    inlineNs,
    snapshots,
    tooLargeOf: (repoId) => catalog.repo(repoId)?.skipped['too_large'] ?? 0,
    startThreads: new StartThreads(pool),
    shortSearches: new ShortSearches(pool),
    get timeoutMs() {
      return options.searchTimeoutMs;
    },
    onShardFailure,
    onCompleted: options.onCompleted,
  };
}

/** The owner removed files of an index after this process read its catalog. */
class StaleCatalogError extends Error {}

/** Opens an index read-only, whoever owns it: nothing is removed, locked or built. Errors: CatalogError. */
export async function openToSearch(options: SearchOptions): Promise<Searching> {
  // Threads of V8 compile while this one reads.
  const [module, catalog] = await Promise.all([
    compileCore(undefined, true),
    readWhole(options.dataDir),
  ]);
  const first = searchingIn(options, catalog, module, false);
  try {
    first.served.publish();
    return first;
  } catch (error) {
    await first.close();
    if (!(error instanceof StaleCatalogError)) throw error;
  }
  const second = searchingIn(options, await readWhole(options.dataDir), module, true);
  second.served.publish();
  return second;
}

/** Reads it again if a revision file is gone that it names. */
async function readWhole(dataDir: string): Promise<Catalog> {
  const catalog = await readCatalog(dataDir);
  const isTorn = catalog.repos.some((repo) => catalog.revisionsOf(repo) instanceof Error);
  return isTorn ? readCatalog(dataDir) : catalog;
}

/** @param isFinal  false: a missing file ends the first publish with StaleCatalogError */
function searchingIn(
  options: SearchOptions,
  catalog: Catalog,
  module: WebAssembly.Module,
  isFinal: boolean,
): Searching {
  const host = openSearchHost(options, catalog, module, false);
  const { snapshots, pool } = host;
  let mayBeStale = !isFinal;
  const served = new Served({
    catalog,
    log: options.log,
    publish: (snapshot) => {
      const refused = snapshots.publish(snapshot);
      if (mayBeStale && refused.length > 0 && lacksFiles(catalog)) throw new StaleCatalogError();
      mayBeStale = false;
      return refused;
    },
    onDamage: () => {},
    onSymbolsLost: () => {},
  });
  const parts = enginePartsOf(
    options,
    catalog,
    host,
    (shardId, reason, fault) => served.noteShardFailure(shardId, reason, fault),
    { lacksRepos: catalog.damaged.length > 0 },
  );
  return {
    catalog,
    served,
    parts,
    pool,
    async close() {
      served.close();
      await pool.close();
    },
  };
}

function lacksFiles(catalog: Catalog): boolean {
  return catalog.fileNames.some((name) => !existsSync(catalog.filePath(name)));
}
