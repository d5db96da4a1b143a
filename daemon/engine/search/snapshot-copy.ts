// Copies a snapshot to another thread: what has changed since the last copy, as data that can be posted.

import type { RepoRecord } from '../../repos/records.ts';
import { ShardRevisions, type RevisionsData } from '../shards/revisions.ts';
import type { ShardPart } from '../shards/parts.ts';
import type { LiveShard, QuarantinedShard, Snapshot } from './snapshot.ts';

/** A list by the one before. */
interface ListChange<Item> {
  /** Of each item: its index in the list before, or -1: the next of `added`. */
  readonly origins: Int32Array;
  readonly added: readonly Item[];
}

type PartData = Omit<ShardPart, 'revisions'> & { readonly revisions?: RevisionsData };
type ShardData<Shard extends LiveShard> = Omit<Shard, 'parts'> & {
  readonly parts: readonly PartData[];
};

export interface SnapshotChange {
  readonly shards: ListChange<ShardData<LiveShard>>;
  readonly repos: ListChange<RepoRecord>;
  readonly quarantined: ListChange<ShardData<QuarantinedShard>>;
}

export const NO_SNAPSHOT: Snapshot = { shards: [], repos: [], quarantined: [] };

/** Cost: linear in the number of shards and repos; unchanged ones, known by identity, are not copied. */
export function changeOf(before: Snapshot, after: Snapshot): SnapshotChange {
  return {
    shards: listChange(before.shards, after.shards, shardData),
    repos: listChange(before.repos, after.repos, (repo) => repo),
    quarantined: listChange(before.quarantined, after.quarantined, shardData),
  };
}

/** The snapshot that `changeOf` got as `after`. @param before  the copy of its `before` */
export function changedSnapshot(before: Snapshot, change: SnapshotChange): Snapshot {
  return {
    shards: changedList(before.shards, change.shards, shardOf),
    repos: changedList(before.repos, change.repos, (repo) => repo),
    quarantined: changedList(before.quarantined, change.quarantined, shardOf),
  };
}

function listChange<Item, Data>(
  before: readonly Item[],
  after: readonly Item[],
  dataOf: (item: Item) => Data,
): ListChange<Data> {
  let indexes: ReadonlyMap<Item, number> | undefined;
  const added: Data[] = [];
  const origins = Int32Array.from(after, (item, index) => {
    // Nearly all items keep their positions.
    if (before[index] === item) return index;
    indexes ??= new Map(before.map((one, position) => [one, position]));
    const origin = indexes.get(item) ?? -1;
    if (origin < 0) added.push(dataOf(item));
    return origin;
  });
  return { origins, added };
}

function changedList<Item, Data>(
  before: readonly Item[],
  { origins, added }: ListChange<Data>,
  itemOf: (data: Data) => Item,
): Item[] {
  let next = 0;
  return Array.from(origins, (origin) => (origin < 0 ? itemOf(added[next++]!) : before[origin]!));
}

function shardData<Shard extends LiveShard>(shard: Shard): ShardData<Shard> {
  const parts = shard.parts.map(({ revisions, ...part }) =>
    revisions === undefined ? part : { ...part, revisions: revisions.data },
  );
  return { ...shard, parts };
}

function shardOf<Shard extends LiveShard>(data: ShardData<Shard>): Shard {
  const parts = data.parts.map(({ revisions, ...part }) =>
    revisions === undefined ? part : { ...part, revisions: ShardRevisions.of(revisions) },
  );
  // Safety: `Shard` without `parts`, and `parts`.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { ...data, parts } as unknown as Shard;
}
