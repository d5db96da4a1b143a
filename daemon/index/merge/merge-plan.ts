// Plans the next merge. Small shards are merged into one of many times their size, so that each doc is rewritten three
// times at most; shards with a quarter of dead docs are rewritten without them. Large shards stay until their repo is
// at rest: then its smaller shards are joined with the next larger one, if together they are large enough to justify
// the rewrite.

import { addToList } from '../../base/lists.ts';
import { blocksFor, SHARD_BLOCKS_MAX } from '../../engine/build/build-plan.ts';
import { SPACE_CAPACITY } from '../../engine/host/space.ts';
import { HOUR_MS } from '../../base/durations.ts';

export interface MergeCandidate {
  readonly shardId: string;
  /** Shards of different kinds are not merged. */
  readonly kind: string;
  /** Bytes of its files. */
  readonly fileSize: number;
  readonly docCount: number;
  /** Live docs, and the approximate bytes of their contents. */
  readonly liveCount: number;
  readonly liveSize: number;
  /** The repo of all its docs; undefined: several repos. */
  readonly repoId: number | undefined;
  /** Since a job last changed its repo. */
  readonly restMs: number;
}

export interface MergeLimits {
  /** Upper bounds of the levels in bytes; beyond the last a shard is large. Docs count as their share of `docCountMax`. */
  readonly levels: readonly number[];
  /** This many shards of a level are merged, or as few as fill the result. */
  readonly shardCount: number;
  /** Of the result. */
  readonly docCountMax: number;
  readonly sizeMax: number;
  /** The share of these limits at which the result is full. */
  readonly fullShare: number;
  /** Share of dead docs that a shard may have. */
  readonly deadShare: number;
  /** A repo without a change for this long is at rest. */
  readonly restMs: number;
  /** The smaller shards together hold at least this share of the larger one. */
  readonly restShare: number;
}

/**
 * Guess: sixteen of a level cost a search 0.1 ms. The third level takes what the first two leave between 16 and 64 MiB:
 * 5,000 repos of 1.1 MiB ended in 300 shards, now in 20. A repo at rest has a night, or nobody changes it; a 40th is
 * what 1,000 commits of a file change of half of the Linux tree. While a quarter may be dead, an index takes at most 2.04
 * times its live docs with one full shard, 1.66 with two, 1.54 with three (a test simulates it).
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

/** Bytes of files open for a merge; each takes some more, as it begins at a page. */
const OPEN_SIZE_MAX = SPACE_CAPACITY * 0.9;

type Living = Pick<MergeCandidate, 'liveSize' | 'liveCount'>;

/** The level of a shard, from 0; undefined: large. */
export function levelOf(shard: Living, limits: MergeLimits): number | undefined {
  const level = limits.levels.findIndex((size) => shareOf(shard, limits) < size / limits.sizeMax);
  return level < 0 ? undefined : level;
}

/** The share of a full result that it takes. */
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
    addToList(groups, `${level} ${candidate.kind}`, candidate);
  }
  for (const group of groups.values()) {
    const { some, share } = firstOf(group, limits);
    if (some.length >= limits.shardCount || share >= limits.fullShare) return some;
  }
  return deadOnes(candidates, limits) ?? idleOnes(candidates, limits);
}

/** As many of the first shards as fit one shard and one thread; and the share that they take. */
function firstOf(
  group: readonly MergeCandidate[],
  limits: MergeLimits,
): { some: MergeCandidate[]; share: number } {
  const sum = { liveCount: 0, liveSize: 0, fileSize: 0 };
  // Bound: open mappings, one or two a shard, beside those of searches.
  const some = group.slice(0, 2048).filter(({ liveCount, liveSize, fileSize }) => {
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

function fitsShard(docCount: number, size: number): boolean {
  return blocksFor(docCount, size) <= SHARD_BLOCKS_MAX;
}

/** A shard with that share of dead docs. */
function deadOnes(
  candidates: readonly MergeCandidate[],
  { deadShare }: MergeLimits,
): MergeCandidate[] | undefined {
  const dead = candidates.find(
    ({ docCount, liveCount, liveSize }) =>
      liveCount > 0 &&
      docCount - liveCount >= deadShare * docCount &&
      fitsShard(liveCount, liveSize),
  );
  return dead === undefined ? undefined : [dead];
}

/** The smaller shards of a repo at rest, and the largest one to join them with. */
function idleOnes(
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

/** As many of the smallest as reach the share of the last of them and fit a shard; none: no two do. */
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
    // Approximate: a result that is too large anyway stays apart (merger.ts).
    const fits = docs <= docCountMax && fitsShard(docs, size) && fileSizes <= OPEN_SIZE_MAX;
    if (isWorthwhile && fits) end = index + 1;
  }
  return bySize.slice(0, end);
}
