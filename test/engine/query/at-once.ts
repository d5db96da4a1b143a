// Compiles expressions, plans and encodes queries, each in one step.

import { atOnce } from '../../../daemon/base/steps.ts';
import type { EncodedPlan } from '../../../daemon/engine/host/encoded-plan.ts';
import { encodeSteps } from '../../../daemon/engine/query/encode.ts';
import { type PlanContext, planSteps } from '../../../daemon/engine/query/plan.ts';
import type { PlanNode } from '../../../daemon/engine/query/plan-tree.ts';
import type { PlannedShardView } from '../../../daemon/engine/query/revisions.ts';
import type { QueryNode } from '../../../daemon/engine/query/tree.ts';
import {
  type CompiledRegex,
  type CompileOptions,
  compileSteps,
} from '../../../daemon/engine/regex/compile.ts';
import type { RegexTree } from '../../../daemon/engine/regex/tree.ts';

export function compileRegex(tree: RegexTree, options: CompileOptions = {}): CompiledRegex {
  return atOnce(compileSteps(tree, options));
}

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
