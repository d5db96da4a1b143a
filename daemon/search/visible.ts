// The part of a snapshot that a sight leaves: its shards and repos, without a trace of the others. What all see
// alike is worked out once for a snapshot; what a user sees beyond that is put in between, so that many users over
// many repos cost little each.

import { LRUCache } from 'lru-cache';
import type { RepoRecord } from '../repos/records.ts';
import { isSeen, type Sight } from '../repos/sight.ts';
import type { LiveShard, QuarantinedShard, Snapshot } from './snapshot.ts';

/** What a search may look at. */
export type VisibleSnapshot = Pick<Snapshot, 'shards' | 'repos' | 'quarantined'>;

/** Lists that are the same for all who share a base, and where each item stands in the snapshot. */
interface Part<Item> {
  readonly items: readonly Item[];
  readonly places: readonly number[];
}

interface Tables {
  readonly bases: Map<ReadonlySet<number>, { shards: Part<LiveShard>; repos: Part<RepoRecord> }>;
  /** Place of each repo, places of its shards, by repoId. */
  readonly repoPlaces: ReadonlyMap<number, number>;
  readonly shardPlaces: ReadonlyMap<number, readonly number[]>;
  readonly views: LRUCache<Sight, VisibleSnapshot>;
}

/** Guess: users whose searches come close together; a view of 100,000 shards takes 2 MB. */
const VIEWS_MAX = 32;

const tablesOf = new WeakMap<Snapshot, Tables>();

/** What of the snapshot `sight` sees; the same object for the same two as long as both are in use. */
export function visibleIn(snapshot: Snapshot, sight: Sight): VisibleSnapshot {
  if (sight.base === 'all') return snapshot;
  const tables = tablesFor(snapshot);
  const kept = tables.views.get(sight);
  if (kept !== undefined) return kept;
  const view = makeView(snapshot, tables, sight, sight.base);
  tables.views.set(sight, view);
  return view;
}

function tablesFor(snapshot: Snapshot): Tables {
  const known = tablesOf.get(snapshot);
  if (known !== undefined) return known;
  const shardPlaces = new Map<number, number[]>();
  for (const [place, { repoId }] of snapshot.shards.entries()) {
    const places = shardPlaces.get(repoId);
    if (places === undefined) shardPlaces.set(repoId, [place]);
    else places.push(place);
  }
  const tables: Tables = {
    bases: new Map(),
    repoPlaces: new Map(snapshot.repos.map(({ repoId }, place) => [repoId, place])),
    shardPlaces,
    views: new LRUCache({ max: VIEWS_MAX }),
  };
  tablesOf.set(snapshot, tables);
  return tables;
}

function makeView(
  snapshot: Snapshot,
  tables: Tables,
  sight: Sight,
  base: ReadonlySet<number>,
): VisibleSnapshot {
  const { shards, repos } = basePart(snapshot, tables, base);
  const extra = [...sight.extra];
  const shardPlaces = extra.flatMap((repoId) => tables.shardPlaces.get(repoId) ?? []);
  const repoPlaces = extra.flatMap((repoId) => tables.repoPlaces.get(repoId) ?? []);
  return {
    shards: withExtra(shards, shardPlaces, snapshot.shards),
    repos: withExtra(repos, repoPlaces, snapshot.repos),
    quarantined: snapshot.quarantined.filter((shard: QuarantinedShard) =>
      isSeen(sight, shard.repoId),
    ),
  };
}

function basePart(snapshot: Snapshot, { bases }: Tables, base: ReadonlySet<number>) {
  const known = bases.get(base);
  if (known !== undefined) return known;
  const made = { shards: partOf(snapshot.shards, base), repos: partOf(snapshot.repos, base) };
  bases.set(base, made);
  return made;
}

function partOf<Item extends { readonly repoId: number }>(
  all: readonly Item[],
  base: ReadonlySet<number>,
): Part<Item> {
  const items: Item[] = [];
  const places: number[] = [];
  if (base.size === 0) return { items, places };
  for (const [place, item] of all.entries()) {
    if (!base.has(item.repoId)) continue;
    items.push(item);
    places.push(place);
  }
  return { items, places };
}

/** The items of a part and those at further places, in the order of all. */
function withExtra<Item>(
  part: Part<Item>,
  extra: readonly number[],
  all: readonly Item[],
): readonly Item[] {
  if (extra.length === 0) return part.items;
  const merged: Item[] = [];
  let next = 0;
  for (const place of extra.toSorted((a, b) => a - b)) {
    const end = placeAfter(part.places, place, next);
    for (; next < end; next++) merged.push(part.items[next]!);
    merged.push(all[place]!);
  }
  for (; next < part.items.length; next++) merged.push(part.items[next]!);
  return merged;
}

/** Index of the first of the ascending places from `start` on that is above `place`. */
function placeAfter(places: readonly number[], place: number, start: number): number {
  let low = start;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (places[middle]! < place) low = middle + 1;
    else high = middle;
  }
  return low;
}
