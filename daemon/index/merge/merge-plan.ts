// Which shards are merged next. Small ones become one of many times their size, so that each doc is written again three times
// at most; those of which a quarter of the docs are dead are written again without them. Large ones stay as they are, until
// their repo is at rest: then its smaller shards are joined with the next larger one, if they hold enough to write that again
// for it.

import { addToList } from '../../base/lists.ts';
import { blocksFor, SHARD_BLOCKS_MAX } from '../../engine/build/build-plan.ts';
import { SPACE_CAPACITY } from '../../engine/host/space.ts';
import { HOUR_MS } from '../../base/durations.ts';

/** A shard that may be merged. */
export interface MergeCandidate {
  readonly shardId: string;
  /** Shards of different kinds are not merged. */
  readonly kind: string;
  /** Bytes of its files. */
  readonly fileSize: number;
  readonly docCount: number;
  /** Docs that live, and about the bytes of their contents. */
  readonly liveCount: number;
  readonly liveSize: number;
  /** The repo of all its docs; undefined: several have some. */
  readonly repoId: number | undefined;
  /** Since a job changed its repo. */
  readonly restMs: number;
}

export interface MergeLimits {
  /** Bytes below which a shard is of a level; it is large from the last one on. Docs count as their share of `docCountMax`. */
  readonly levels: readonly number[];
  /** As many of a level as that are merged, or as few as fill what comes out. */
  readonly shardCount: number;
  /** Of what comes out. */
  readonly docCountMax: number;
  readonly sizeMax: number;
  /** The share of these at which it is full. */
  readonly fullShare: number;
  /** Share of a shard's docs that may be dead. */
  readonly deadShare: number;
  /** How long a repo has not changed that is at rest. */
  readonly restMs: number;
  /** Share of a larger shard that the smaller ones hold together at least. */
  readonly restShare: number;
}

/**
 * Guess: sixteen of a level cost a search 0.1 ms. The third level is for what the first two leave between 16 and 64 MiB:
 * 5,000 repos of 1.1 MiB ended in 300 shards, and end in 20. A repo that rests has a night, or
 * nobody who changes it; a 40th is what 1,000 commits of a file change of half of the Linux tree. An index of three full
 * shards takes 1.53 times its living docs at most while a quarter may be dead, 1.61 with a third (a test simulates it).
 */
export const MERGE_LIMITS: MergeLimits = {
  levels: [1 << 20, 16 << 20, 64 << 20],
  shardCount: 16,
  docCountMax: 200_000,
  sizeMax: 256 << 20,
  fullShare: 3 / 4,
  deadShare: 1 / 4,
  restMs: HOUR_MS,
  restShare: 1 / 40,
};

/** Guess: shards that are open at a time for a merge. A mapping each or two, beside those that searches have. */
const OPEN_MAX = 2048;

/** Bytes of files that are open for a merge of several: each takes some more, as it begins at a page. */
const OPEN_SIZE_MAX = SPACE_CAPACITY * 0.9;

type Living = Pick<MergeCandidate, 'liveSize' | 'liveCount'>;

/** Which of the levels a shard is of, from 0; undefined: it is large. */
export function levelOf(shard: Living, limits: MergeLimits): number | undefined {
  const level = limits.levels.findIndex((size) => shareOf(shard, limits) < size / limits.sizeMax);
  return level < 0 ? undefined : level;
}

/** How much of what may come out of a merge it takes. */
function shareOf({ liveSize, liveCount }: Living, { docCountMax, sizeMax }: MergeLimits): number {
  return Math.max(liveSize / sizeMax, liveCount / docCountMax);
}

/** The shards to merge now, at least one, in their order; undefined: none. */
export function planMerge(
  candidates: readonly MergeCandidate[],
  limits: MergeLimits,
): readonly MergeCandidate[] | undefined {
  const groups = new Map<string, MergeCandidate[]>();
  for (const candidate of candidates) {
    const level = levelOf(candidate, limits);
    if (level === undefined || candidate.liveCount === 0) continue;
    const key = `${level} ${candidate.kind}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [candidate]);
    else group.push(candidate);
  }
  for (const group of groups.values()) {
    const { some, share } = firstOf(group, limits);
    if (some.length >= limits.shardCount || share >= limits.fullShare) return some;
  }
  return deadOnes(candidates, limits) ?? restingOnes(candidates, limits);
}

/** As many of the first as fit a shard, and a thread that opens them all; the share of a shard that they take. */
function firstOf(
  group: readonly MergeCandidate[],
  limits: MergeLimits,
): { some: MergeCandidate[]; share: number } {
  const sum = { liveCount: 0, liveSize: 0, fileSize: 0 };
  const some = group.slice(0, OPEN_MAX).filter(({ liveCount, liveSize, fileSize }) => {
    const next = {
      liveCount: sum.liveCount + liveCount,
      liveSize: sum.liveSize + liveSize,
      fileSize: sum.fileSize + fileSize,
    };
    if (shareOf(next, limits) > 1 || next.fileSize > OPEN_SIZE_MAX) return false;
    Object.assign(sum, next);
    return true;
  });
  return { some, share: shareOf(sum, limits) };
}

/** A shard of which that share of the docs is dead. */
function deadOnes(
  candidates: readonly MergeCandidate[],
  { deadShare, sizeMax }: MergeLimits,
): MergeCandidate[] | undefined {
  const dead = candidates.find(
    ({ docCount, liveCount, liveSize }) =>
      liveCount > 0 && docCount - liveCount >= deadShare * docCount && liveSize <= sizeMax,
  );
  return dead === undefined ? undefined : [dead];
}

/** The smaller shards of a repo at rest, and the largest one that they are joined with. */
function restingOnes(
  candidates: readonly MergeCandidate[],
  limits: MergeLimits,
): MergeCandidate[] | undefined {
  const groups = new Map<string, MergeCandidate[]>();
  for (const candidate of candidates) {
    const { repoId, kind, liveCount } = candidate;
    if (repoId === undefined || liveCount === 0 || !(candidate.restMs >= limits.restMs)) continue;
    addToList(groups, `${repoId} ${kind}`, candidate);
  }
  for (const group of groups.values()) {
    const some = joined(group, limits);
    if (some.length > 0) return some;
  }
  return undefined;
}

/** As many of the smallest as hold the share of the last of them, and fit a shard; none: no two do. */
function joined(
  group: readonly MergeCandidate[],
  { restShare, docCountMax }: MergeLimits,
): MergeCandidate[] {
  const bySize = [...group].sort((a, b) => a.liveSize - b.liveSize);
  let [docs, size, fileSizes, end] = [0, 0, 0, 0];
  for (const [index, { liveCount, liveSize, fileSize }] of bySize.entries()) {
    const isWorthwhile = index > 0 && size >= restShare * liveSize;
    docs += liveCount;
    size += liveSize;
    fileSizes += fileSize;
    // About: what comes out too large all the same stays apart (merger.ts).
    const fits =
      docs <= docCountMax &&
      blocksFor(docs, size) <= SHARD_BLOCKS_MAX &&
      fileSizes <= OPEN_SIZE_MAX;
    if (isWorthwhile && fits) end = index + 1;
  }
  return bySize.slice(0, end);
}
