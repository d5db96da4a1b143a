// Explains why a shard was ruled out without reading content: finds the condition that no doc of it satisfies (API.md 7.5)
// in what binding counted.

import type { PlanNode } from '../query/plan-tree.ts';
import { printPlan } from '../query/print-plan.ts';
import type { LiveShard } from './snapshot.ts';

/** Sides of an `or` named in a reason. */
const SIDES_MAX = 3;

/**
 * Why no doc of `shard` satisfies `plan`, given that none does.
 *
 * @param isOut  whether no doc of the shard satisfies a part of the plan, as far as it was looked up
 */
export function reasonOf(
  plan: PlanNode,
  shard: Pick<LiveShard, 'symbols'>,
  isOut: (part: PlanNode) => boolean,
): string {
  switch (plan.kind) {
    case 'and': {
      const culprit = plan.children.find(isOut);
      return culprit === undefined
        ? 'no doc passes all conditions together'
        : reasonOf(culprit, shard, isOut);
    }
    case 'or': {
      const sides = plan.children.slice(0, SIDES_MAX).map((side) => reasonOf(side, shard, isOut));
      const distinct = [...new Set(sides)];
      return `${distinct.join('; ')}${plan.children.length > SIDES_MAX ? '; ...' : ''}`;
    }
    case 'not':
      return 'every doc is excluded by a negation';
    case 'text':
      return `no block contains ${printPlan(plan)}`;
    case 'regex':
      return `no block contains the texts required by ${printPlan(plan)}`;
    case 'symbol':
    case 'symbolRegex':
      return shard.symbols === undefined
        ? 'its symbols are not available'
        : `no symbol for ${printPlan(plan)}`;
    case 'language':
      return `no doc of language ${plan.name}`;
    case 'path':
    case 'pathRegex':
      return `no path for ${printPlan(plan)}`;
    case 'docs':
      return `no doc in ${printPlan(plan)}`;
    case 'repos':
      return 'no repository passes the filters';
    case 'const':
      return 'the query matches nothing';
  }
}
