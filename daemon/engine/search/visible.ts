// The part of a snapshot that a caller may see, without a trace of the rest. The part shared by many users is computed once a
// snapshot; a user's further repos are merged in while iterating. Measured: copying the lists for each user took 0.8 ms with
// 25,000 repos in common.

import { LRUCache } from 'lru-cache';
import type { RepoRecord } from '../../repos/records.ts';
import { canSee, NO_REPOS, type RepoAccess } from '../../repos/repo-access.ts';
import { isInSet, type RepoSet } from '../query/repo-set.ts';
import { containsAll, isCovered, liveCountOf, type ShardPart } from '../shards/parts.ts';
import type { LiveShard, QuarantinedShard, Snapshot } from './snapshot.ts';

/** Visible to all who share a base; `positions`: indexes in the snapshot. */
interface Share<Item> {
  readonly items: readonly Item[];
  readonly positions: readonly number[];
}

/** Derived tables, computed on first use: while repos are indexed, few searches share a snapshot. */
class Tables {
  readonly #snapshot: Snapshot;
  readonly shardShares = new Map<RepoAccess['base'], Share<LiveShard>>();
  readonly repoShares = new Map<ReadonlySet<number>, Share<RepoRecord>>();
  // Of users whose searches name repos. Bound: memory; a list of 100,000 takes 1 MB.
  readonly repoLists = new LRUCache<RepoAccess, readonly RepoRecord[]>({ max: 32 });
  /** Whether a base holds one of `partial`. */
  readonly partialBases = new Map<ReadonlySet<number>, boolean>();
  #repoPositions: ReadonlyMap<number, readonly number[]> | undefined;
  #shardPositions: ReadonlyMap<number, readonly number[]> | undefined;
  #partial: ReadonlySet<number> | undefined;
  #isPartial: boolean | undefined;

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  /** By repoId. */
  get repoPositions(): ReadonlyMap<number, readonly number[]> {
    return (this.#repoPositions ??= positionsByRepo(this.#snapshot.repos, ({ repoId }) => [
      repoId,
    ]));
  }

  /** Shards with docs of a repo, by repoId. */
  get shardPositions(): ReadonlyMap<number, readonly number[]> {
    return (this.#shardPositions ??= positionsByRepo(this.#snapshot.shards, ({ parts }) =>
      parts.map(({ repoId }) => repoId),
    ));
  }

  /** Repos with docs that a search without conditions must exclude. */
  get partial(): ReadonlySet<number> {
    return (this.#partial ??= partialRepos(this.#snapshot));
  }

  get isPartial(): boolean {
    const { repos, shards } = this.#snapshot;
    return (this.#isPartial ??=
      !shards.every(isOfOneRepo) || repos.some(({ revisions }) => revisions !== undefined));
  }
}

const tablesOf = new WeakMap<Snapshot, Tables>();

/** The shards, in the order of the snapshot, with the visible parts of these repos that have live docs. */
export function visibleShards(
  snapshot: Snapshot,
  repoAccess: RepoAccess,
  wanted: RepoSet,
): readonly LiveShard[] {
  const { items, positions } = shardsVisibleTo(snapshot, repoAccess);
  const { ids, isOfOthers } = wanted;
  if (ids.size === 0) return isOfOthers ? items : [];
  const { shardPositions } = tablesFor(snapshot);
  // By position: 1 for those that hold some of the ids. All others hold none.
  const named = new Uint8Array(snapshot.shards.length);
  for (const repoId of ids)
    for (const position of shardPositions.get(repoId) ?? []) named[position] = 1;
  const found: LiveShard[] = [];
  for (const [index, shard] of items.entries()) {
    const isNamed = named[positions[index]!] === 1;
    const selected = isNamed
      ? withParts(shard, ({ repoId }) => isInSet(wanted, repoId))
      : isOfOthers && shard;
    if (selected) found.push(selected);
  }
  return found;
}

function shardsVisibleTo(snapshot: Snapshot, repoAccess: RepoAccess): Share<LiveShard> {
  const tables = tablesFor(snapshot);
  const { shards } = snapshot;
  const share = shareOf(tables.shardShares, repoAccess.base, shards, (shard, base) =>
    visiblePart(shard, { base, extra: NO_REPOS }),
  );
  if (repoAccess.extra.size === 0) return share;
  const extra = positionsOf(tables.shardPositions, repoAccess.extra);
  return merged(share, extra, (position) => visiblePart(shards[position]!, repoAccess));
}

/** Undefined: nothing is visible. */
function visiblePart(shard: LiveShard, repoAccess: RepoAccess): LiveShard | undefined {
  const visible = withParts(shard, ({ repoId }) => canSee(repoAccess, repoId));
  if (visible === undefined) return undefined;
  return withParts(visible === shard ? shard : { ...visible, hidesDocs: true }, hasLiveDocs);
}

function hasLiveDocs(part: ShardPart): boolean {
  return liveCountOf(part) > 0;
}

/** Undefined: no part is left. */
function withParts<Shard extends LiveShard>(
  shard: Shard,
  isMatch: (part: ShardPart) => boolean,
): Shard | undefined {
  const { parts } = shard;
  // For speed: of thousands of shards most have one part.
  if (parts.length === 1) return isMatch(parts[0]!) ? shard : undefined;
  const selected = parts.filter(isMatch);
  if (selected.length === parts.length) return shard;
  return selected.length === 0 ? undefined : { ...shard, parts: selected };
}

/** Out of service, with visible live docs of these repos. */
export function visibleQuarantined(
  snapshot: Snapshot,
  repoAccess: RepoAccess,
  wanted: RepoSet,
): readonly QuarantinedShard[] {
  const isWanted = (part: ShardPart): boolean =>
    canSee(repoAccess, part.repoId) && isInSet(wanted, part.repoId) && hasLiveDocs(part);
  return snapshot.quarantined.flatMap((shard) => {
    const visible = withParts(shard, isWanted);
    return visible === undefined ? [] : [visible];
  });
}

/** In the order of the snapshot. */
export function visibleRepos(snapshot: Snapshot, repoAccess: RepoAccess): readonly RepoRecord[] {
  if (repoAccess.base === 'all') return snapshot.repos;
  const { repoShares, repoPositions, repoLists } = tablesFor(snapshot);
  const kept = repoLists.get(repoAccess);
  if (kept !== undefined) return kept;
  const { repos } = snapshot;
  const share = shareOf(repoShares, repoAccess.base, repos, (repo, base) =>
    base.has(repo.repoId) ? repo : undefined,
  );
  const { items: list } = merged(
    share,
    positionsOf(repoPositions, repoAccess.extra),
    (position) => repos[position],
  );
  repoLists.set(repoAccess, list);
  return list;
}

/**
 * Whether a search must name its docs: a visible repo has further revisions, or shares a shard with docs that not everybody
 * sees, or that belong to no repo.
 */
export function needsDocSets(snapshot: Snapshot, { base, extra }: RepoAccess): boolean {
  const tables = tablesFor(snapshot);
  if (base === 'all' || !tables.isPartial) return tables.isPartial;
  const { partial, partialBases } = tables;
  for (const repoId of extra) if (partial.has(repoId)) return true;
  let isPartial = partialBases.get(base);
  if (isPartial === undefined) {
    isPartial = [...partial].some((repoId) => base.has(repoId));
    partialBases.set(base, isPartial);
  }
  return isPartial;
}

function tablesFor(snapshot: Snapshot): Tables {
  const cached = tablesOf.get(snapshot);
  if (cached !== undefined) return cached;
  const tables = new Tables(snapshot);
  tablesOf.set(snapshot, tables);
  return tables;
}

/** Whether all docs of a shard are of one repo, which has one revision. */
function isOfOneRepo(shard: LiveShard): boolean {
  return shard.parts.length === 1 && containsAll(shard.parts[0]!) && isCovered(shard);
}

function partialRepos({ repos, shards }: Snapshot): Set<number> {
  const partial = new Set<number>();
  for (const { repoId, revisions } of repos) if (revisions !== undefined) partial.add(repoId);
  for (const shard of shards)
    if (!isOfOneRepo(shard)) for (const { repoId } of shard.parts) partial.add(repoId);
  return partial;
}

function positionsByRepo<Item>(
  items: readonly Item[],
  reposOf: (item: Item) => readonly number[],
): ReadonlyMap<number, readonly number[]> {
  const byRepo = new Map<number, number[]>();
  for (const [position, item] of items.entries()) {
    for (const repoId of reposOf(item)) {
      const positions = byRepo.get(repoId);
      if (positions === undefined) byRepo.set(repoId, [position]);
      else if (positions.at(-1) !== position) positions.push(position);
    }
  }
  return byRepo;
}

/** Ascending, distinct. */
function positionsOf(
  byRepo: ReadonlyMap<number, readonly number[]>,
  repoIds: Iterable<number>,
): readonly number[] {
  const positions = new Set<number>();
  for (const repoId of repoIds)
    for (const position of byRepo.get(repoId) ?? []) positions.add(position);
  return [...positions].sort((a, b) => a - b);
}

/** @param visibleIn  the part of an item visible to all who share a base; undefined: nothing */
function shareOf<Item, Base extends RepoAccess['base']>(
  cached: Map<Base, Share<Item>>,
  base: Base,
  all: readonly Item[],
  visibleIn: (item: Item, base: Base) => Item | undefined,
): Share<Item> {
  const kept = cached.get(base);
  if (kept !== undefined) return kept;
  const items: Item[] = [];
  const positions: number[] = [];
  const isNothing = base !== 'all' && base.size === 0;
  for (const [position, item] of isNothing ? [] : all.entries()) {
    const visible = visibleIn(item, base);
    if (visible === undefined) continue;
    items.push(visible);
    positions.push(position);
  }
  const share = { items, positions };
  cached.set(base, share);
  return share;
}

/** In snapshot order; at a common index the item of `extra` wins. */
function merged<Item>(
  share: Share<Item>,
  extra: readonly number[],
  itemAt: (position: number) => Item | undefined,
): Share<Item> {
  if (extra.length === 0) return share;
  const items: Item[] = [];
  const positions: number[] = [];
  const add = (item: Item | undefined, position: number): void => {
    if (item === undefined) return;
    items.push(item);
    positions.push(position);
  };
  let next = 0;
  const addUntil = (end: number): void => {
    for (; next < share.positions.length && share.positions[next]! < end; next++)
      add(share.items[next], share.positions[next]!);
  };
  for (const position of extra) {
    addUntil(position);
    if (share.positions[next] === position) next++;
    add(itemAt(position), position);
  }
  addUntil(Infinity);
  return { items, positions };
}
