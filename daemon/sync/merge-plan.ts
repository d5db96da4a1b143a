// Which shards are merged next. Small ones become one of many times their size, so that each doc is written again once or
// twice; those of which half the docs are dead are written again without them. Large ones stay as they are.

/** A shard that may be merged. */
export interface MergeCandidate {
  readonly shardId: string;
  /** Shards of different kinds are not merged. */
  readonly kind: string;
  readonly docCount: number;
  /** Docs that live, and about the bytes of their contents. */
  readonly liveCount: number;
  readonly liveSize: number;
}

export interface MergeLimits {
  /** Bytes up to which a shard is small, and up to which it may be merged at all: one level each. */
  readonly levels: readonly number[];
  /** As many of a level as that are merged. */
  readonly shardCount: number;
  /** Of what comes out. */
  readonly docCountMax: number;
  readonly sizeMax: number;
}

/** Guess: levels 16 apart write each doc twice; sixteen of a level cost a search 0.1 ms. */
export const MERGE_LIMITS: MergeLimits = {
  levels: [1 << 20, 16 << 20],
  shardCount: 16,
  docCountMax: 200_000,
  sizeMax: 256 << 20,
};

/** Which of the levels a shard is of, from 0; undefined: it is large. */
export function levelOf(
  { liveSize }: Pick<MergeCandidate, 'liveSize'>,
  { levels }: MergeLimits,
): number | undefined {
  const level = levels.findIndex((size) => liveSize < size);
  return level < 0 ? undefined : level;
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
    const some = firstOf(group, limits);
    if (some.length >= limits.shardCount) return some;
  }
  return deadOnes(candidates, limits);
}

/** As many of the first as fit a shard. */
function firstOf(
  group: readonly MergeCandidate[],
  { docCountMax, sizeMax }: MergeLimits,
): MergeCandidate[] {
  let [docs, size] = [0, 0];
  return group.filter(({ liveCount, liveSize }) => {
    docs += liveCount;
    size += liveSize;
    return docs <= docCountMax && size <= sizeMax;
  });
}

/** A shard of which at least half the docs are dead. */
function deadOnes(
  candidates: readonly MergeCandidate[],
  { sizeMax }: MergeLimits,
): MergeCandidate[] | undefined {
  const dead = candidates.find(
    ({ docCount, liveCount, liveSize }) =>
      liveCount > 0 && 2 * liveCount <= docCount && liveSize <= sizeMax,
  );
  return dead === undefined ? undefined : [dead];
}
