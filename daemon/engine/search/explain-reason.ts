// Explains why a shard was ruled out without reading content: finds the condition that no doc of it satisfies (API.md 7.5),
// by probing parts of the plan, from the whole down.

import type { Condition } from '../regex/condition.ts';
import { gramsOf } from './explain-plan.ts';
import type { PlanNode } from '../query/plan-tree.ts';
import { printPlan } from '../query/print-plan.ts';
import type { Probe } from './probe.ts';
import type { LiveShard } from './snapshot.ts';

/** Sides of an `or` named in a reason. */
const SIDES_MAX = 3;

/** Why no doc of `shard` satisfies `plan`, given that none does. */
export function reasonOf(plan: PlanNode, shard: LiveShard, probe: Probe): string {
  switch (plan.kind) {
    case 'and':
      return reasonOfAnd(plan.children, shard, probe);
    case 'or': {
      const sides = plan.children.slice(0, SIDES_MAX).map((side) => reasonOf(side, shard, probe));
      const distinct = [...new Set(sides)];
      return `${distinct.join('; ')}${plan.children.length > SIDES_MAX ? '; ...' : ''}`;
    }
    case 'not':
      return 'every doc is excluded by a negation';
    case 'text':
      return absentGram(gramsOf(plan.text), shard, probe) ?? `no block contains ${printPlan(plan)}`;
    case 'regex':
      return (
        absentIn(plan.expression.regex.condition, shard, probe) ??
        `no block contains the texts required by ${printPlan(plan)}`
      );
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

function reasonOfAnd(children: readonly PlanNode[], shard: LiveShard, probe: Probe): string {
  const culprit = children.find((child) => probe.bind(child, shard)?.candidateDocs === 0);
  return culprit === undefined
    ? 'no doc passes all conditions together'
    : reasonOf(culprit, shard, probe);
}

function absentGram(grams: readonly string[], shard: LiveShard, probe: Probe): string | undefined {
  const absent = grams.find((gram) => probe.gramBlocks(gram, shard) === 0);
  return absent === undefined ? undefined : `trigram ${JSON.stringify(absent)} absent`;
}

/** The missing trigram that excludes the condition, if there is one. */
function absentIn(condition: Condition, shard: LiveShard, probe: Probe): string | undefined {
  switch (condition.kind) {
    case 'literal':
      return absentGram(gramsOf(condition.text), shard, probe);
    case 'and':
      return condition.children
        .map((child) => absentIn(child, shard, probe))
        .find((reason) => reason !== undefined);
    case 'or': {
      const sides = condition.children.map((child) => absentIn(child, shard, probe));
      if (sides.includes(undefined)) return undefined;
      const listed = [...new Set(sides)].slice(0, SIDES_MAX);
      return `${listed.join('; ')}${sides.length > SIDES_MAX ? '; ...' : ''}`;
    }
    default:
      return undefined;
  }
}
