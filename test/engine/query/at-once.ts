// Plans and encodes queries in one step.

import { atOnce } from '../../../daemon/base/steps.ts';
import type { EncodedPlan } from '../../../daemon/engine/host/encoded-plan.ts';
import { encodeSteps } from '../../../daemon/engine/query/encode.ts';
import { type PlanContext, planSteps } from '../../../daemon/engine/query/plan.ts';
import type { PlanNode } from '../../../daemon/engine/query/plan-tree.ts';
import type { PlannedShardView } from '../../../daemon/engine/query/revisions.ts';
import type { QueryNode } from '../../../daemon/engine/query/tree.ts';

export function planQuery(query: QueryNode, context: PlanContext): PlanNode {
  return atOnce(planSteps(query, context));
}

export function encodePlan(
  plan: PlanNode,
  isCaseSensitive: boolean,
  shards: readonly PlannedShardView[] = [],
): EncodedPlan {
  return atOnce(encodeSteps(plan, isCaseSensitive, shards));
}
