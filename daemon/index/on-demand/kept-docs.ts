// A cache of revisions built on demand: docs within a byte budget, and snapshots of searches that use them. The least
// recently used go first; their files are removed when no search uses them or waits for them.

import { rm } from 'node:fs/promises';
import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import type { Snapshot, SnapshotKeeper, UnreadRevision } from '../../engine/search/snapshot.ts';
import { shardIdOf } from '../served/shown.ts';
import {
  type Demanded,
  type DemandedDocs,
  type DemandedShard,
  sizeOnDisk,
  withDemandedDocs,
} from './demanded-docs.ts';
import type { SymbolsKeeper } from './demanded-symbols.ts';

/** Snapshots kept open for further searches of the same revisions. */
const SNAPSHOTS_MAX = 32;
/** Guess: each set takes some KB. */
const KEPT_MAX = 1000;

interface KeptSnapshot {
  readonly snapshot: Snapshot;
  readonly docs: readonly DemandedDocs[];
}

export class KeptDocs implements SymbolsKeeper {
  readonly #keeper: SnapshotKeeper;
  readonly #log: Log;
  readonly #diskBytes: () => number;
  /** By key, least recently used first. */
  readonly #kept = new Map<string, DemandedDocs>();
  /** No longer found, but a search may still use them. */
  readonly #leaving = new Set<DemandedDocs>();
  /** By content, least recently used first; each is held. */
  readonly #snapshots = new Map<string, KeptSnapshot>();
  /** Snapshots no longer handed out that searches still hold. */
  readonly #outgoing = new Set<KeptSnapshot>();
  /** Keys that each search waits for. */
  readonly #claims = new Set<ReadonlySet<string>>();

  /** @param diskBytes  the current limit for all kept files */
  constructor(keeper: SnapshotKeeper, log: Log, diskBytes: () => number) {
    this.#keeper = keeper;
    this.#log = log;
    this.#diskBytes = diskBytes;
  }

  get size(): { readonly count: number; readonly bytes: number } {
    const all = [...this.#kept.values(), ...this.#leaving];
    return { count: all.length, bytes: all.reduce((sum, docs) => sum + sizeOnDisk(docs), 0) };
  }

  find(key: string): DemandedDocs | undefined {
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
   *
   * @param isFound  whether later searches may find it; else it goes as soon as no search uses it
   */
  add(docs: DemandedDocs, isFound: boolean): void {
    if (isFound) this.#kept.set(docs.key, docs);
    else this.#leaving.add(docs);
    this.shrink(docs);
  }

  isKept(docs: DemandedDocs): boolean {
    return this.#kept.get(docs.key) === docs;
  }

  /** Later searches see these symbols. */
  async addSymbols(
    docs: DemandedDocs,
    shard: DemandedShard,
    symbols: NonNullable<DemandedShard['symbols']>,
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
  shrink(spared?: DemandedDocs): void {
    const diskBytes = this.#diskBytes();
    this.#sweep();
    for (const docs of this.#kept.values()) {
      if (this.size.bytes <= diskBytes && this.#kept.size <= KEPT_MAX) break;
      if (docs === spared) continue;
      this.#letGoOf(docs);
      if (!this.#isHeld(docs)) this.#leave(docs);
      this.#sweep();
    }
  }

  /**
   * Holds and returns the snapshot with these docs, and with what could not be read; undefined: some are lost, or do
   * not fit the current one.
   *
   * Errors: ShardError.
   */
  hold(demanded: readonly Demanded[], unread: readonly UnreadRevision[]): Snapshot | undefined {
    if (!demanded.every(({ docs }) => this.isKept(docs))) return undefined;
    const held = demanded.map(({ docs, revisions }) => [docs.key, revisions]);
    const key = JSON.stringify([held, unread]);
    const known = this.#snapshots.get(key);
    const snapshot = known?.snapshot ?? withDemandedDocs(this.#keeper.current, demanded, unread);
    if (snapshot === undefined) return undefined;
    const refused = this.#keeper.hold(snapshot);
    if (refused.length > 0) {
      this.#keeper.release(snapshot);
      const lost = refused.filter(({ shardId }) => this.drop(shardId));
      for (const { message } of lost)
        this.#log.warn('a shard that was built on demand is lost', { error: message });
      if (lost.length > 0) return undefined;
      throw refused[0]!;
    }
    if (known === undefined) this.#keeper.hold(snapshot);
    const docs = demanded.map((one) => one.docs);
    this.#snapshots.delete(key);
    this.#snapshots.set(key, known ?? { snapshot, docs });
    const [oldest] = this.#snapshots.values();
    if (this.#snapshots.size > SNAPSHOTS_MAX) this.#letGo((kept) => kept === oldest);
    return snapshot;
  }

  /** Stops handing out snapshots, and keeps only docs that satisfy the predicate. */
  restrict(isCurrent: (docs: DemandedDocs) => boolean): void {
    this.#letGo(() => true);
    for (const docs of this.#kept.values()) if (!isCurrent(docs)) this.#leave(docs);
    this.#sweep();
  }

  /** Stops finding the docs with this live shard id; false: there are none. */
  drop(liveId: string): boolean {
    const isHolder = ({ shards }: DemandedDocs): boolean =>
      shards.some(({ shardId }) => shardId === shardIdOf(liveId));
    const holder = [...this.#kept.values(), ...this.#leaving].find(isHolder);
    if (holder === undefined) return false;
    this.#letGoOf(holder);
    this.#leave(holder);
    this.#sweep();
    return true;
  }

  async remove({ shards }: Pick<DemandedDocs, 'shards'>): Promise<void> {
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

  /** Releases all snapshots. */
  close(): void {
    this.#letGo(() => true);
  }

  #isHeld(docs: DemandedDocs): boolean {
    for (const keys of this.#claims) if (keys.has(docs.key)) return true;
    for (const kept of this.#outgoing)
      if (!this.#keeper.isHeld(kept.snapshot)) this.#outgoing.delete(kept);
    return [...this.#snapshots.values(), ...this.#outgoing].some((one) => one.docs.includes(docs));
  }

  /** Later searches do not find it. */
  #leave(docs: DemandedDocs): void {
    this.#kept.delete(docs.key);
    this.#leaving.add(docs);
  }

  /** Stops handing out snapshots with these docs. */
  #letGoOf(docs: DemandedDocs): void {
    this.#letGo((kept) => kept.docs.includes(docs));
  }

  #letGo(isMeant: (kept: KeptSnapshot) => boolean): void {
    const gone = [...this.#snapshots].filter(([, kept]) => isMeant(kept));
    for (const [key, kept] of gone) {
      this.#snapshots.delete(key);
      this.#outgoing.add(kept);
    }
    this.#keeper.releaseAll(gone.map(([, { snapshot }]) => snapshot));
  }

  /** Removes files that no search uses any more. */
  #sweep(): void {
    for (const docs of this.#leaving) {
      if (this.#isHeld(docs)) continue;
      this.#leaving.delete(docs);
      void this.remove(docs);
    }
  }
}
