// Describes an index from its catalog without opening a shard: live docs per shard, the repos that share it, and the
// next merge. For people; the merger plans by the same figures.

import { sumOf } from '../../base/lists.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { type Holding, Holdings } from './holdings.ts';
import { levelOf, MERGE_LIMITS, type MergeCandidate, type MergeLimits } from './merge-plan.ts';

export interface ShardSummary {
  readonly shardId: string;
  /** Bytes of the file, and of the contents in it. */
  readonly size: number;
  readonly contentSize: number;
  readonly docCount: number;
  /**
   * Docs of no revision, and the approximate bytes of their contents by their share of docs. Null: a revision file is
   * damaged.
   */
  readonly deadCount: number | null;
  readonly deadSize: number | null;
  readonly repos: readonly string[];
  /** From 1, the smallest; null: large, so never merged with others, or unknown. */
  readonly level: number | null;
  readonly isMergedNext: boolean;
  /** Why it is out of service, as recorded by the previous process. */
  readonly outOfService?: string | undefined;
}

export interface NextMerge {
  readonly shardIds: readonly string[];
  /** Approximate size of the result. */
  readonly docCount: number;
  readonly contentSize: number;
  /** Docs of no revision, which it leaves out. */
  readonly droppedCount: number;
}

export interface IndexSummary {
  readonly repoCount: number;
  /** Repos with damaged entries, which are not in the other figures. */
  readonly damagedRepoCount: number;
  /** Over all shards; docs of unknown state count as live. */
  readonly docCount: number;
  readonly deadCount: number;
  readonly contentSize: number;
  readonly deadSize: number;
  /** Upper bounds of level 1, 2 and so on in bytes of live content; shards of a level and kind that are merged. */
  readonly levels: readonly number[];
  readonly mergedShardCount: number;
  /** Null: no merge is due. */
  readonly nextMerge: NextMerge | null;
  /** In the order of the repos. */
  readonly shards: readonly ShardSummary[];
}

/** @param outOfService  reasons by shardId */
export function summaryOf(
  catalog: Catalog,
  outOfService: ReadonlyMap<string, string>,
  limits: MergeLimits = MERGE_LIMITS,
): IndexSummary {
  const holdings = new Holdings(catalog);
  const isInService = (shardId: string): boolean => !outOfService.has(shardId);
  const merged = holdings.nextMerge(isInService, limits) ?? [];
  const mergedIds = new Set(merged.map(({ shardId }) => shardId));
  const shards = holdings.all.map((holding): ShardSummary => {
    const { shardId } = holding.shard;
    const reason = outOfService.get(shardId);
    return {
      ...shardOf(holding, holdings.candidateOf(holding), limits),
      isMergedNext: mergedIds.has(shardId),
      outOfService: reason,
    };
  });
  return {
    repoCount: catalog.repos.length,
    damagedRepoCount: catalog.damaged.length,
    docCount: sumOf(shards, ({ docCount }) => docCount),
    deadCount: sumOf(shards, ({ deadCount }) => deadCount ?? 0),
    contentSize: sumOf(shards, ({ contentSize }) => contentSize),
    deadSize: sumOf(shards, ({ deadSize }) => deadSize ?? 0),
    levels: limits.levels,
    mergedShardCount: limits.shardCount,
    nextMerge: merged.length === 0 ? null : mergeOf(merged),
    shards,
  };
}

function shardOf(
  { shard: { shardId, size, contentSize, docCount }, repos }: Holding,
  candidate: MergeCandidate | undefined,
  limits: MergeLimits,
): Omit<ShardSummary, 'isMergedNext'> {
  const level = candidate && levelOf(candidate, limits);
  return {
    shardId,
    size,
    contentSize,
    docCount,
    deadCount: candidate === undefined ? null : docCount - candidate.liveCount,
    deadSize: candidate === undefined ? null : Math.round(contentSize - candidate.liveSize),
    repos: repos.map(({ record }) => record.name),
    level: level === undefined ? null : level + 1,
  };
}

function mergeOf(merged: readonly MergeCandidate[]): NextMerge {
  const docCount = sumOf(merged, ({ liveCount }) => liveCount);
  return {
    shardIds: merged.map(({ shardId }) => shardId),
    docCount,
    contentSize: Math.round(sumOf(merged, ({ liveSize }) => liveSize)),
    droppedCount: sumOf(merged, (one) => one.docCount) - docCount,
  };
}
