// What was built on demand and is kept for the next search that asks for it: docs, within a budget of bytes, and snapshots
// of searches that look at them. What is used least goes first, its files when no search looks at them or waits for them.

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

/** Snapshots that are kept open for the next search that asks for the same. */
const SNAPSHOTS_MAX = 32;
/** Guess: kept sets take some KB each. */
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
  /** No longer to be found, but a search may still look at it. */
  readonly #leaving = new Set<DemandedDocs>();
  /** By what they have, least recently used first; each is held. */
  readonly #snapshots = new Map<string, KeptSnapshot>();
  /** Those of them that are no longer given out, while searches hold them. */
  readonly #outgoing = new Set<KeptSnapshot>();
  /** Keys of what each search waits for. */
  readonly #claims = new Set<ReadonlySet<string>>();

  /** @param diskBytes  of all that is kept, as it is now */
  constructor(keeper: SnapshotKeeper, log: Log, diskBytes: () => number) {
    this.#keeper = keeper;
    this.#log = log;
    this.#diskBytes = diskBytes;
  }

  /** Files and bytes that are kept. */
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

  /** For a search that waits for several: docs whose key is among these stay, until `endClaim`. */
  claim(keys: ReadonlySet<string>): void {
    this.#claims.add(keys);
  }

  endClaim(keys: ReadonlySet<string>): void {
    this.#claims.delete(keys);
    this.shrink();
  }

  /**
   * Takes in what was built; what was used least makes room.
   *
   * @param isFound  whether it may be found from now on; else it goes as soon as no search looks at it
   */
  add(docs: DemandedDocs, isFound: boolean): void {
    if (isFound) this.#kept.set(docs.key, docs);
    else this.#leaving.add(docs);
    this.shrink(docs);
  }

  isKept(docs: DemandedDocs): boolean {
    return this.#kept.get(docs.key) === docs;
  }

  /** Searches that begin from now on see these symbols. */
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

  /** Lets go of what was used least, until the rest fits, but not of what searches look at or wait for. */
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
   * The snapshot with these docs, and what could not be read, held; undefined: some are lost, or do not fit the current one.
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

  /** Gives no snapshot out any more, and finds only docs of which this holds. */
  restrict(isCurrent: (docs: DemandedDocs) => boolean): void {
    this.#letGo(() => true);
    for (const docs of this.#kept.values()) if (!isCurrent(docs)) this.#leave(docs);
    this.#sweep();
  }

  /** From now on the docs with this shard, by its id as searches know it, are not found; false: there are none. */
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

  /** Removes the files of docs. */
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

  /** Holds no snapshot any more. */
  close(): void {
    this.#letGo(() => true);
  }

  #isHeld(docs: DemandedDocs): boolean {
    for (const keys of this.#claims) if (keys.has(docs.key)) return true;
    for (const kept of this.#outgoing)
      if (!this.#keeper.isHeld(kept.snapshot)) this.#outgoing.delete(kept);
    return [...this.#snapshots.values(), ...this.#outgoing].some((one) => one.docs.includes(docs));
  }

  /** From now on it is not found. */
  #leave(docs: DemandedDocs): void {
    this.#kept.delete(docs.key);
    this.#leaving.add(docs);
  }

  /** Gives no snapshot out any more that has these docs. */
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

  /** Removes the files that no search looks at any more. */
  #sweep(): void {
    for (const docs of this.#leaving) {
      if (this.#isHeld(docs)) continue;
      this.#leaving.delete(docs);
      void this.remove(docs);
    }
  }
}
