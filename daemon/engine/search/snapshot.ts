// What searches see: the live shards and their repos. Each publish makes a new snapshot; running searches keep theirs. A
// shard is closed, and its files may be removed, once no snapshot in use holds it.

import type { SearchPool } from '../host/pool.ts';
import type { Searcher } from '../host/searcher.ts';
import type { ShardError, ShardFile } from '../host/space.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { isCovered, type ShardPart } from '../shards/parts.ts';

export interface LiveShard extends ShardFile {
  readonly docCount: number;
  /** The visible ones, in the order of their docs. */
  readonly parts: readonly ShardPart[];
  /** It holds docs that the caller must not know of: index data of all docs is withheld. */
  readonly hidesDocs?: true | undefined;
}

export interface QuarantinedShard extends LiveShard {
  readonly reason: string;
}

export interface Snapshot {
  /** In search order. */
  readonly shards: readonly LiveShard[];
  /** Indexed or not. */
  readonly repos: readonly RepoRecord[];
  readonly quarantined: readonly QuarantinedShard[];
  /** Names of on-demand revisions that some of its repos have; absent: none. */
  readonly onDemand?: ReadonlySet<string> | undefined;
  /** On-demand revisions that are missing or incomplete in it; absent: none. */
  readonly unread?: readonly UnreadRevision[] | undefined;
}

/** A revision that a repo's git knows but cannot read completely. */
export interface UnreadRevision {
  /** As the query names it. */
  readonly name: string;
  readonly repoName: string;
  /** What could not be read, and why. */
  readonly detail: string;
}

/** Cached, as nearly all shards of a publish were in the one before. */
const marks = new WeakMap<LiveShard, LiveShard>();

/** A shard with docs of no current repo hides them: they may be secret. */
function marked(shard: LiveShard): LiveShard {
  const cached = marks.get(shard);
  if (cached !== undefined) return cached;
  const mark: LiveShard = isCovered(shard) ? shard : { ...shard, hidesDocs: true };
  marks.set(shard, mark);
  return mark;
}

function fileOf({ shardId, path, size, symbols }: LiveShard): ShardFile {
  return { shardId, path, size, ...(symbols === undefined ? {} : { symbols }) };
}

export class SnapshotManager {
  readonly #searcher: Searcher;
  readonly #pool: SearchPool;
  readonly #users = new Map<Snapshot, number>();
  #current: Snapshot = { shards: [], repos: [], quarantined: [] };
  #open: ReadonlySet<string> = new Set();
  #openPaths: ReadonlySet<string> = new Set();
  /** Called when shards were opened or closed. */
  onChange: (() => void) | undefined;

  constructor(searcher: Searcher, pool: SearchPool) {
    this.#searcher = searcher;
    this.#pool = pool;
  }

  get current(): Snapshot {
    return this.#current;
  }

  /** Whether a thread may open the file: it may start late, or map a shard only while it searches it. */
  isOpen(path: string): boolean {
    return this.#openPaths.has(path);
  }

  /** Returns the shards that could not be opened. */
  publish(snapshot: Snapshot): ShardError[] {
    this.#current = { ...snapshot, shards: snapshot.shards.map(marked) };
    return this.#openNeeded();
  }

  acquire(): Snapshot {
    this.#users.set(this.#current, (this.#users.get(this.#current) ?? 0) + 1);
    return this.#current;
  }

  /** Keeps a snapshot open until `release`, once for each call; returns the shards that could not be opened. */
  retain(snapshot: Snapshot): ShardError[] {
    const count = this.#users.get(snapshot) ?? 0;
    this.#users.set(snapshot, count + 1);
    return count === 0 ? this.#openNeeded() : [];
  }

  release(snapshot: Snapshot): void {
    if (this.#leave(snapshot)) this.#openNeeded();
  }

  /** Together: open shards are compared only once. */
  releaseAll(snapshots: readonly Snapshot[]): void {
    const gone = snapshots.filter((snapshot) => this.#leave(snapshot));
    if (gone.length > 0) this.#openNeeded();
  }

  /** Whether nobody uses it any more. */
  #leave(snapshot: Snapshot): boolean {
    const count = (this.#users.get(snapshot) ?? 0) - 1;
    if (count > 0) this.#users.set(snapshot, count);
    else this.#users.delete(snapshot);
    return count <= 0 && snapshot !== this.#current;
  }

  #openNeeded(): ShardError[] {
    const needed = new Map<string, LiveShard>();
    for (const { shards } of [this.#current, ...this.#users.keys()])
      for (const shard of shards) needed.set(shard.shardId, shard);
    const open = new Set(needed.keys());
    if (open.size === this.#open.size && [...open].every((id) => this.#open.has(id))) return [];
    this.#open = open;
    const files = [...needed.values()].map(fileOf);
    this.#openPaths = new Set(
      files.flatMap(({ path, symbols }) => (symbols === undefined ? path : [path, symbols.path])),
    );
    const refused = this.#searcher.setShards(files);
    const isRefused = new Set(refused.map((error) => error.shardId));
    this.#pool.setShards(files.filter((file) => !isRefused.has(file.shardId)));
    this.onChange?.();
    return refused;
  }
}
