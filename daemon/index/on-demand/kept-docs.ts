// A cache of revisions built on demand: docs within a byte budget, and snapshots of searches that use them. The least
// recently used go first; their files are removed when no search uses them or waits for them.

import { rm } from 'node:fs/promises';
import { messageOf } from '../../base/caught.ts';
import { sumOf } from '../../base/lists.ts';
import type { Log } from '../../base/log.ts';
import type { Snapshot, SnapshotManager, UnreadRevision } from '../../engine/search/snapshot.ts';
import { SymbolPasses } from '../../engine/symbols/pass.ts';
import { shardIdOf } from '../served/visible-index.ts';
import {
  type OnDemandRepo,
  type OnDemandDocs,
  type OnDemandShard,
  sizeOnDisk,
  withOnDemandDocs,
} from './on-demand-docs.ts';

/** Snapshots kept open for further searches of the same revisions. */
const SNAPSHOTS_MAX = 32;
/** Builds. Bound: memory; each takes some KB. */
const KEPT_MAX = 1000;

interface KeptSnapshot {
  readonly snapshot: Snapshot;
  readonly docs: readonly OnDemandDocs[];
}

export class KeptDocs {
  readonly #manager: SnapshotManager;
  readonly #log: Log;
  readonly #diskBytes: () => number;
  /** By key, least recently used first. */
  readonly #kept = new Map<string, OnDemandDocs>();
  /** No longer found, but a search may still use them. */
  readonly #leaving = new Set<OnDemandDocs>();
  /** By content, least recently used first; each is held. */
  readonly #snapshots = new Map<string, KeptSnapshot>();
  /** Keys that each search waits for. */
  readonly #claims = new Set<ReadonlySet<string>>();

  /** @param diskBytes  the current limit for all kept files */
  constructor(manager: SnapshotManager, log: Log, diskBytes: () => number) {
    this.#manager = manager;
    this.#log = log;
    this.#diskBytes = diskBytes;
  }

  get size(): { readonly count: number; readonly bytes: number } {
    const all = [...this.#kept.values(), ...this.#leaving];
    return { count: all.length, bytes: sumOf(all, sizeOnDisk) };
  }

  find(key: string): OnDemandDocs | undefined {
    const docs = this.#kept.get(key);
    if (docs === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, docs);
    return docs;
  }

  /** For a search that waits for several builds: docs with these keys stay until `endClaim`. */
  claim(keys: ReadonlySet<string>): void {
    this.#claims.add(keys);
  }

  endClaim(keys: ReadonlySet<string>): void {
    this.#claims.delete(keys);
    this.shrink();
  }

  /**
   * Adds a build; the least recently used ones make room.
   * @param isFound  whether later searches may find it; else it goes as soon as no search uses it
   */
  add(docs: OnDemandDocs, isFound: boolean): void {
    if (isFound) this.#kept.set(docs.key, docs);
    else this.#leaving.add(docs);
    this.shrink(docs);
  }

  isKept(docs: OnDemandDocs): boolean {
    return this.#kept.get(docs.key) === docs;
  }

  /** Later searches see these symbols. Takes ownership of the file; false: the docs are gone, or there is no room. */
  async addSymbols(
    docs: OnDemandDocs,
    shard: OnDemandShard,
    symbols: NonNullable<OnDemandShard['symbols']>,
  ): Promise<boolean> {
    if (!this.isKept(docs) || sizeOnDisk(docs) + symbols.size > this.#diskBytes()) {
      await this.#removeFile(symbols.path);
      return false;
    }
    shard.symbols = symbols;
    this.#letGoOf(docs);
    this.shrink(docs);
    return true;
  }

  /** Drops the least recently used docs until the rest fits, except those that searches use or wait for. */
  shrink(spared?: OnDemandDocs): void {
    const diskBytes = this.#diskBytes();
    this.#sweep();
    for (const docs of this.#kept.values()) {
      if (this.size.bytes <= diskBytes && this.#kept.size <= KEPT_MAX) break;
      if (docs === spared) continue;
      this.#letGoOf(docs);
      if (!this.#isInUse(docs)) this.#leave(docs);
      this.#sweep();
    }
  }

  /**
   * Holds and returns the snapshot with these docs, and with what could not be read; undefined: some are lost, or do
   * not fit the current one.
   * Errors: ShardError.
   */
  retain(
    onDemand: readonly OnDemandRepo[],
    unread: readonly UnreadRevision[],
  ): Snapshot | undefined {
    if (!onDemand.every(({ docs }) => this.isKept(docs))) return undefined;
    const contents = onDemand.map(({ docs, revisions }) => [docs.key, revisions]);
    const key = JSON.stringify([contents, unread]);
    const cached = this.#snapshots.get(key);
    const snapshot = cached?.snapshot ?? withOnDemandDocs(this.#manager.current, onDemand, unread);
    if (snapshot === undefined) return undefined;
    const refused = this.#manager.retain(snapshot);
    if (refused.length > 0) {
      this.#manager.release(snapshot);
      const lost = refused.filter(({ shardId }) => this.drop(shardId));
      for (const { message } of lost)
        this.#log.warn('a shard that was built on demand is lost', { error: message });
      if (lost.length > 0) return undefined;
      throw refused[0]!;
    }
    if (cached === undefined) this.#manager.retain(snapshot);
    const docs = onDemand.map((one) => one.docs);
    this.#snapshots.delete(key);
    this.#snapshots.set(key, cached ?? { snapshot, docs });
    const [oldest] = this.#snapshots.values();
    if (this.#snapshots.size > SNAPSHOTS_MAX) this.#letGo((kept) => kept === oldest);
    return snapshot;
  }

  /** Stops handing out snapshots, and keeps only docs that satisfy the predicate. */
  restrict(isCurrent: (docs: OnDemandDocs) => boolean): void {
    this.#letGo(() => true);
    for (const docs of this.#kept.values()) if (!isCurrent(docs)) this.#leave(docs);
    this.#sweep();
  }

  /** Stops finding the docs with this live shard id; false: there are none. */
  drop(liveId: string): boolean {
    const containsShard = ({ shards }: OnDemandDocs): boolean =>
      shards.some(({ shardId }) => shardId === shardIdOf(liveId));
    const found = [...this.#kept.values(), ...this.#leaving].find(containsShard);
    if (found === undefined) return false;
    this.#letGoOf(found);
    this.#leave(found);
    this.#sweep();
    return true;
  }

  async remove({ shards }: Pick<OnDemandDocs, 'shards'>): Promise<void> {
    for (const { path, symbols } of shards) {
      await this.#removeFile(path);
      if (symbols !== undefined) await this.#removeFile(symbols.path);
    }
  }

  async #removeFile(path: string): Promise<void> {
    await rm(path, { force: true }).catch((error: unknown) =>
      this.#log.warn('a file could not be removed', { path, error: messageOf(error) }),
    );
  }

  close(): void {
    this.#letGo(() => true);
  }

  #isInUse(docs: OnDemandDocs): boolean {
    for (const keys of this.#claims) if (keys.has(docs.key)) return true;
    return docs.shards.some(({ path }) => this.#manager.isOpen(path));
  }

  /** Later searches do not find it. */
  #leave(docs: OnDemandDocs): void {
    this.#kept.delete(docs.key);
    this.#leaving.add(docs);
  }

  /** Stops handing out snapshots with these docs. */
  #letGoOf(docs: OnDemandDocs): void {
    this.#letGo((kept) => kept.docs.includes(docs));
  }

  #letGo(isDropped: (kept: KeptSnapshot) => boolean): void {
    const gone = [...this.#snapshots].filter(([, kept]) => isDropped(kept));
    for (const [key] of gone) this.#snapshots.delete(key);
    this.#manager.releaseAll(gone.map(([, { snapshot }]) => snapshot));
  }

  /** Removes files that no search uses any more. */
  #sweep(): void {
    for (const docs of this.#leaving) {
      if (this.#isInUse(docs)) continue;
      this.#leaving.delete(docs);
      void this.remove(docs);
    }
  }
}

/** Finds the symbols of kept docs, one shard after the other. Until then symbol searches report that some are missing. */
export class OnDemandSymbols {
  readonly #kept: KeptDocs;
  readonly #log: Log;
  readonly #workers: number;
  readonly #passes: SymbolPasses;
  readonly #stop = new AbortController();
  #last: Promise<void> = Promise.resolve();

  /** @param workers  contents read at a time */
  constructor(module: WebAssembly.Module, kept: KeptDocs, log: Log, workers: number) {
    this.#kept = kept;
    this.#log = log;
    this.#workers = workers;
    this.#passes = new SymbolPasses(module);
  }

  /** Queues docs; they are processed in order. */
  find(docs: OnDemandDocs): void {
    this.#last = this.#findBehind(this.#last, docs);
  }

  async #findBehind(before: Promise<void>, docs: OnDemandDocs): Promise<void> {
    await before;
    for (const shard of docs.shards) {
      if (this.#stop.signal.aborted || !this.#kept.isKept(docs)) return;
      await this.#findIn(docs, shard);
    }
  }

  /** Errors: none; failures are logged. */
  async #findIn(docs: OnDemandDocs, shard: OnDemandShard): Promise<void> {
    const log = this.#log;
    const path = `${shard.path}.tags`;
    try {
      const { signal } = this.#stop;
      const order = { shardPath: shard.path, outPath: path, log, signal };
      const found = await this.#passes.run({ ...order, concurrency: this.#workers });
      const { fileId: symbolsId, size, symbolCount } = found;
      if (await this.#kept.addSymbols(docs, shard, { symbolsId, path, size }))
        log.info('symbols found in revisions on demand', { commits: docs.commits, symbolCount });
    } catch (error) {
      // Files of docs that are not kept may be removed at any time.
      if (this.#stop.signal.aborted || !this.#kept.isKept(docs)) return;
      const fields = { commits: docs.commits, error: messageOf(error) };
      log.warn('symbols could not be found in revisions on demand', fields);
    }
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the daemon is stopping'));
    await this.#last;
    await this.#passes.close();
  }
}
