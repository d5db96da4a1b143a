// What a search counted of each condition of its plan while it bound the shards (API.md 7.5).

import { NODE_UNCOUNTED } from '../../../core/shared/plan.ts';
import type { Binding } from '../host/searcher.ts';
import type { NodeRows } from '../query/encode.ts';
import type { PlanNode } from '../query/plan-tree.ts';
import type { Steps } from '../../base/steps.ts';

/** Of a condition by itself, in the shards where it was looked up. */
export interface ConditionCounts {
  readonly blocks: number;
  readonly docs: number;
  /** Shards in which all blocks are candidates, because no list excludes one. */
  readonly shardsScanned: number;
}

/** Leaves out conditions that were looked up in no shard; each step adds one shard. */
export function* sumCounts(
  bindings: readonly Binding[],
  rows: NodeRows,
): Steps<ReadonlyMap<PlanNode, ConditionCounts>> {
  const sums = new Map<PlanNode, ConditionCounts>();
  for (const { nodeCounts } of bindings) {
    for (const [node, row] of rows) {
      const docs = nodeCounts?.[2 * row] ?? NODE_UNCOUNTED;
      const blocks = nodeCounts?.[2 * row + 1] ?? NODE_UNCOUNTED;
      if (docs !== NODE_UNCOUNTED) sums.set(node, added(sums.get(node), docs, blocks));
    }
    yield;
  }
  return sums;
}

function added(sum: ConditionCounts | undefined, docs: number, blocks: number): ConditionCounts {
  const isScanned = blocks === NODE_UNCOUNTED;
  return {
    blocks: (sum?.blocks ?? 0) + (isScanned ? 0 : blocks),
    docs: (sum?.docs ?? 0) + docs,
    shardsScanned: (sum?.shardsScanned ?? 0) + Number(isScanned),
  };
}

/** Whether no doc of the bound shard can satisfy the condition. False: some can, or it was not looked up. */
export function isRuledOut(node: PlanNode, { nodeCounts }: Binding, rows: NodeRows): boolean {
  const row = rows.get(node);
  return row !== undefined && nodeCounts?.[2 * row] === 0;
}
