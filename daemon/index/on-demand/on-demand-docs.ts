// Docs of revisions built on demand: the build of a repo, and the snapshot of a search that uses it.

import type { LiveShard, Snapshot, UnreadRevision } from '../../engine/search/snapshot.ts';
import type { ShardPart } from '../../engine/shards/parts.ts';
import type { ShardRevisions } from '../../engine/shards/revisions.ts';
import { FORM_ALL, FORM_NONE } from '../../engine/shards/set-code.ts';
import { omitUndefined } from '../../base/omit-undefined.ts';
import { liveIdOf, shardIdOf } from '../served/visible-index.ts';

/** A shard built on demand; all its docs are of one repo. */
export interface OnDemandShard {
  readonly shardId: string;
  readonly path: string;
  readonly size: number;
  /** Its docs per commit. */
  readonly revisions: ShardRevisions;
  /** The file with its symbols, once found. */
  symbols?: { readonly symbolsId: string; readonly path: string; readonly size: number };
}

/** The build for commits of a repo. */
export interface OnDemandDocs {
  /** Identifies the state of the repo's index and the commits. */
  readonly key: string;
  readonly repoId: number;
  readonly state: string;
  readonly commits: readonly string[];
  readonly shards: readonly OnDemandShard[];
  /** The docs per commit in the repo's part of each indexed shard, by catalog id. */
  readonly ofIndexed: ReadonlyMap<string, ShardRevisions>;
  /** Bytes of its shards. */
  readonly size: number;
  /** What of the commits could not be read; undefined: nothing. */
  readonly unread: string | undefined;
}

export function sizeOnDisk({ size, shards }: Pick<OnDemandDocs, 'size' | 'shards'>): number {
  return shards.reduce((sum, { symbols }) => sum + (symbols?.size ?? 0), size);
}

/** What a search requested in a repo. */
export interface OnDemandRepo {
  readonly docs: OnDemandDocs;
  /** The names that its git knows, with their commits, which are in `docs`. */
  readonly revisions: readonly { readonly name: string; readonly commit: string }[];
}

const EMPTY = new Uint8Array();

/**
 * A snapshot whose repos have further revisions; undefined: the docs do not fit its shards.
 * @param unread  the revisions that are missing or incomplete
 */
export function withOnDemandDocs(
  base: Snapshot,
  onDemand: readonly OnDemandRepo[],
  unread: readonly UnreadRevision[],
): Snapshot | undefined {
  const byRepo = new Map(onDemand.map((one) => [one.docs.repoId, one]));
  const counts = new Map<number, number>();
  const repos = base.repos.map((repo) => {
    const revisions = byRepo.get(repo.repoId)?.revisions;
    if (revisions === undefined) return repo;
    counts.set(repo.repoId, repo.revisions?.length ?? 1);
    return { ...repo, onDemand: revisions.map(({ name }) => name) };
  });
  const shards: LiveShard[] = [];
  for (const [repoId, count] of counts)
    shards.push(...liveShardsOf(byRepo.get(repoId)!, repoId, count));
  for (const shard of base.shards) {
    const parts = shard.parts.map((part) => partWith(part, shard, byRepo.get(part.repoId)));
    if (parts.includes(undefined)) return undefined;
    const isSame = parts.every((part, index) => part === shard.parts[index]);
    shards.push(isSame ? shard : { ...shard, parts: parts.flatMap((part) => part ?? []) });
  }
  const names = onDemand.flatMap(({ revisions }) => revisions.map(({ name }) => name));
  return {
    ...base,
    repos,
    shards,
    onDemand: names.length === 0 ? undefined : new Set(names),
    unread: unread.length === 0 ? undefined : unread,
  };
}

/** For each revision the index of its commit. */
function commitIndexesOf({ docs, revisions }: OnDemandRepo): number[] {
  return revisions.map(({ commit }) => docs.commits.indexOf(commit));
}

/** @param count  indexed revisions, which have none of the docs */
function liveShardsOf(onDemand: OnDemandRepo, repoId: number, count: number): LiveShard[] {
  const none = Array.from({ length: count }, () => ({ form: FORM_NONE, bytes: EMPTY }));
  return onDemand.docs.shards.map(({ shardId, path, size, symbols, revisions }) => {
    const { docCount } = revisions;
    const sets = revisions.behind(none, commitIndexesOf(onDemand));
    return {
      shardId: liveIdOf(shardId, symbols),
      path,
      size,
      ...omitUndefined({ symbols }),
      docCount,
      parts: [{ repoId, docStart: 0, docEnd: docCount, revisions: sets }],
    };
  });
}

/** A part with further revisions, if its repo has some; undefined: they do not fit. */
function partWith(
  part: ShardPart,
  { shardId }: LiveShard,
  onDemand: OnDemandRepo | undefined,
): ShardPart | undefined {
  if (onDemand === undefined) return part;
  const found = onDemand.docs.ofIndexed.get(shardIdOf(shardId));
  if (found === undefined || found.docCount !== part.docEnd - part.docStart) return undefined;
  const indexed = part.revisions?.sets ?? [{ form: FORM_ALL, bytes: EMPTY }];
  return { ...part, revisions: found.behind(indexed, commitIndexesOf(onDemand)) };
}
