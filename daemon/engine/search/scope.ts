// The part of a snapshot that one search covers, and the data of its shards that ordering and answer need.

import type { Searcher } from '../host/searcher.ts';
import type { RepoRecord } from '../../repos/records.ts';
import type { RepoAccess } from '../../repos/repo-access.ts';
import { RepoNames } from '../query/repo-names.ts';
import type { RepoSet } from '../query/repo-set.ts';
import { partOf, type ShardPart } from '../shards/parts.ts';
import { ShardTables } from '../shards/tables.ts';
import type { DocVersion, OrderContext } from './order.ts';
import type { LiveShard, QuarantinedShard, Snapshot } from './snapshot.ts';
import { visibleQuarantined, visibleShards } from './visible.ts';

export interface Scope {
  readonly shards: readonly LiveShard[];
  readonly quarantined: readonly QuarantinedShard[];
}

/** Names, and ranks by their bytes. */
interface RepoOrder {
  readonly repos: readonly RepoRecord[];
  /** Index in `repos`, by repoId. */
  readonly positions: ReadonlyMap<number, number>;
  readonly ranks: ReadonlyMap<number, number>;
  readonly names: RepoNames;
}

const orders = new WeakMap<readonly RepoRecord[], RepoOrder>();
/** Kept, as consecutive lists usually have the same ids and names. */
let lastOrder: RepoOrder = {
  repos: [],
  positions: new Map(),
  ranks: new Map(),
  names: new RepoNames([]),
};

/** Computed once per list; it also orders visible parts of the list. */
export function repoOrderOf(repos: readonly RepoRecord[]): RepoOrder {
  const cached = orders.get(repos);
  if (cached !== undefined) return cached;
  lastOrder = { ...(hasOrderOf(repos, lastOrder.repos) ? lastOrder : newOrder(repos)), repos };
  orders.set(repos, lastOrder);
  return lastOrder;
}

function hasOrderOf(repos: readonly RepoRecord[], others: readonly RepoRecord[]): boolean {
  return (
    repos.length === others.length &&
    repos.every((repo, position) => isAlike(repo, others[position]!))
  );
}

function isAlike(repo: RepoRecord, other: RepoRecord): boolean {
  return repo === other || (repo.repoId === other.repoId && repo.name === other.name);
}

function newOrder(repos: readonly RepoRecord[]): Omit<RepoOrder, 'repos'> {
  const byName = repos
    .map(({ repoId, name }) => ({ repoId, key: Buffer.from(name) }))
    .sort((a, b) => Buffer.compare(a.key, b.key));
  return {
    positions: new Map(repos.map(({ repoId }, position) => [repoId, position])),
    ranks: new Map(byName.map(({ repoId }, rank) => [repoId, rank])),
    names: new RepoNames(repos.map(({ repoId, name }) => ({ repoId, name }))),
  };
}

/** Without shards that have no live doc of these repos. */
export function scopeOf(snapshot: Snapshot, repoAccess: RepoAccess, wanted: RepoSet): Scope {
  return {
    shards: visibleShards(snapshot, repoAccess, wanted),
    quarantined: visibleQuarantined(snapshot, repoAccess, wanted),
  };
}

/** Tables and repos of the shards in scope, created on first use. */
export class ScopeView implements OrderContext {
  readonly #searcher: Searcher;
  readonly #order: RepoOrder;
  readonly #shards: readonly LiveShard[];
  readonly #tables = new Map<number, ShardTables>();

  constructor(searcher: Searcher, order: RepoOrder, shards: readonly LiveShard[]) {
    this.#searcher = searcher;
    this.#shards = shards;
    this.#order = order;
  }

  #partOf(shard: number, docId: number): ShardPart {
    return partOf(this.#shards[shard]!, docId);
  }

  repoOf(shard: number, docId: number): RepoRecord {
    const { repoId } = this.#partOf(shard, docId);
    const { repos, positions } = this.#order;
    const repo = repos[positions.get(repoId) ?? repos.length];
    if (repo === undefined) throw new Error(`no repo ${repoId} in the snapshot`);
    return repo;
  }

  tablesOf(shard: number): ShardTables {
    let tables = this.#tables.get(shard);
    if (tables === undefined) {
      const { shardId } = this.#shards[shard]!;
      tables = openTables(this.#searcher, shardId);
      this.#tables.set(shard, tables);
    }
    return tables;
  }

  isPlain(shard: number): boolean {
    const { parts } = this.#shards[shard]!;
    return parts.length === 1 && (parts[0]!.revisions?.sets.length ?? 1) === 1;
  }

  repoRank(shard: number, docId: number): number {
    return this.#order.ranks.get(this.#partOf(shard, docId).repoId) ?? 0;
  }

  pathOf(shard: number, docId: number): Uint8Array {
    return this.tablesOf(shard).pathOf(docId);
  }

  comparePaths(shardA: number, docA: number, shardB: number, docB: number): number {
    return this.tablesOf(shardA).comparePath(docA, this.tablesOf(shardB), docB);
  }

  versionOf(shard: number, docId: number): DocVersion {
    const { docStart, revisions } = this.#partOf(shard, docId);
    const isDefault = revisions?.contains(0, docId - docStart) ?? true;
    return { isDefault, oid: this.oidOf(shard, docId) };
  }

  /** git id of a doc's content; "": unknown. */
  oidOf(shard: number, docId: number): string {
    const tables = this.tablesOf(shard);
    const { blobId } = tables.doc(docId);
    if (blobId !== undefined) return tables.blobHash(blobId);
    const { docStart, revisions } = this.#partOf(shard, docId);
    return revisions?.unstoredOid(docId - docStart) ?? '';
  }
}

/** Errors: ShardError, also if the file size has changed. */
export function openTables(searcher: Searcher, shardId: string): ShardTables {
  const space = searcher.spaceOf(shardId);
  space.checkNowAndThen(shardId);
  return new ShardTables(space.bytesOf(shardId));
}
