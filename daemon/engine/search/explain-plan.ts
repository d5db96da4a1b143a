// The plan of a query for people (API.md 7.5): conditions with counts, grams, and engines of regular expressions.

import {
  ENGINE_DFA,
  ENGINE_INNER,
  ENGINE_LINES,
  ENGINE_PREFIX,
  ENGINE_RUN,
  ENGINE_SIMULATION,
} from '../../../core/shared/program.ts';
import type { Searcher } from '../host/searcher.ts';
import { printQuery } from '../query/print.ts';
import { printPlan } from '../query/print-plan.ts';
import type { PatternNode, QueryNode, RegexNode } from '../query/tree.ts';
import { ALL, anyOf, type Condition, printCondition } from '../regex/condition.ts';
import { printMatchStart } from '../regex/match-start.ts';
import { foldText } from '../regex/fold.ts';
import type { Steps } from '../../base/steps.ts';
import { type Expression, expressionOf } from '../query/expressions.ts';
import type { ExpressionNode, PlanNode } from '../query/plan-tree.ts';
import type { ConditionCounts } from './node-counts.ts';

/** How a literal or an expression is looked up in the index. */
export type GramNode =
  | { readonly kind: 'and' | 'or'; readonly children: readonly GramNode[] }
  /** Three characters, folded; for a literal of one or two characters all grams that contain it. */
  | { readonly kind: 'gram'; readonly gram: string }
  /** No look-up: all blocks are read. */
  | { readonly kind: 'scan' };

export type ConditionNode =
  | { readonly kind: 'all' | 'none' }
  | { readonly kind: 'and' | 'or' | 'not'; readonly children: readonly ConditionNode[] }
  | { readonly kind: 'filter'; readonly condition: string; readonly docs?: number }
  | ({
      readonly kind: 'content';
      readonly condition: string;
      readonly grams: GramNode;
    } & Partial<ConditionCounts>);

export interface RegexReport {
  /** In canonical form. */
  readonly expression: string;
  readonly engine: string;
  /** Required in every match, compared without regard to case. */
  readonly requires: string;
  /** If it may span lines: requirements on the block where a match begins, and on that and the next one together. */
  readonly begins?: string;
  /** Literals searched for, so that not all text is read. */
  readonly needles?: readonly string[];
}

/** Empty: they are withheld. */
export type CountsByNode = ReadonlyMap<PlanNode, ConditionCounts>;

export function explainConditions(plan: PlanNode, counts: CountsByNode): ConditionNode {
  switch (plan.kind) {
    case 'const':
      return { kind: plan.value ? 'all' : 'none' };
    case 'and':
    case 'or':
      return {
        kind: plan.kind,
        children: plan.children.map((child) => explainConditions(child, counts)),
      };
    case 'not':
      return { kind: 'not', children: [explainConditions(plan.child, counts)] };
    case 'text':
    case 'regex': {
      const own = counts.get(plan);
      const grams = gramsOfLeaf(plan, own);
      return { kind: 'content', condition: printPlan(plan), grams, ...own };
    }
    default: {
      const own = counts.get(plan);
      const head = { kind: 'filter' as const, condition: printPlan(plan) };
      return own === undefined ? head : { ...head, docs: own.docs };
    }
  }
}

function gramsOfLeaf(
  leaf: Extract<PlanNode, { kind: 'text' }> | ExpressionNode,
  counts: ConditionCounts | undefined,
): GramNode {
  const isScanned = counts !== undefined && counts.shardsScanned > 0 && counts.blocks === 0;
  if (isScanned) return { kind: 'scan' };
  return leaf.kind === 'text'
    ? gramsOfLiteral(leaf.text)
    : gramsOfCondition(leaf.expression.regex.condition);
}

function gramsOfCondition(condition: Condition): GramNode {
  if (condition.kind === 'literal') return gramsOfLiteral(condition.text);
  if (condition.kind === 'all' || condition.kind === 'none') return { kind: 'scan' };
  return { kind: condition.kind, children: condition.children.map(gramsOfCondition) };
}

function gramsOfLiteral(text: string): GramNode {
  const isShort = Array.from(text).length < 3;
  const grams = isShort ? [foldText(text)] : gramsOf(text);
  const children = grams.map((gram) => ({ kind: 'gram' as const, gram }));
  if (children.length === 0) return { kind: 'scan' };
  return children.length === 1 ? children[0]! : { kind: 'and', children };
}

/** Distinct, folded, in order. None has a newline in the middle: lines of one text may be in several blocks. */
function gramsOf(text: string): readonly string[] {
  const points = Array.from(foldText(text));
  const grams = points.slice(2).map((_, index) => points.slice(index, index + 3));
  return [...new Set(grams.filter((gram) => gram[1] !== '\n').map((gram) => gram.join('')))];
}

/** In order; each step handles part of one. */
export function* explainRegexps(
  query: QueryNode,
  searcher: Pick<Searcher, 'engineOf'>,
): Steps<RegexReport[]> {
  const reports: RegexReport[] = [];
  for (const node of leavesOf(query)) {
    // Paths are described like contents.
    const subject = node.kind === 'pattern' && node.prefix === 'sym' ? 'symbol' : 'content';
    const expression = yield* expressionOf(node, { subject });
    reports.push(reportOf(node, expression, searcher));
    yield;
  }
  return reports;
}

function reportOf(
  node: RegexNode | PatternNode,
  expression: Expression,
  searcher: Pick<Searcher, 'engineOf'>,
): RegexReport {
  const report = {
    expression: printQuery(node),
    engine: engineOf(expression, node.kind === 'regex', searcher),
    requires: printCondition(conditionOf(expression)),
  };
  if (expression.kind !== 'program') return report;
  const { needles, matchStart } = expression.regex;
  const isSearched = node.kind === 'regex' && matchStart !== undefined;
  return {
    ...report,
    // Lists of parts may be long.
    ...(isSearched ? { begins: printMatchStart(matchStart, 4) } : {}),
    ...(needles.texts.length === 0 ? {} : { needles: needles.texts }),
  };
}

function leavesOf(query: QueryNode): (RegexNode | PatternNode)[] {
  if (query.kind === 'not') return leavesOf(query.child);
  if (query.kind === 'and' || query.kind === 'or') return query.children.flatMap(leavesOf);
  return query.kind === 'regex' || query.kind === 'pattern' ? [query] : [];
}

function conditionOf(expression: Expression): Condition {
  if (expression.kind === 'program') return expression.regex.condition;
  if (expression.kind === 'name') return anyOf([expression.literal.text]);
  const texts = expression.choice.alternatives.map(({ text }) => text);
  return texts.includes('') ? ALL : anyOf(texts);
}

const ENGINE_NAMES: Readonly<Record<number, string>> = {
  [ENGINE_DFA]: 'DFA',
  [ENGINE_PREFIX]: 'prefix needles + DFA',
  [ENGINE_RUN]: 'run of bytes + DFA',
  [ENGINE_INNER]: 'inner needles + DFA',
  [ENGINE_LINES]: 'inner needles by line + DFA',
  [ENGINE_SIMULATION]: 'simulation',
};

function engineOf(
  expression: Expression,
  isContent: boolean,
  searcher: Pick<Searcher, 'engineOf'>,
): string {
  if (expression.kind !== 'program') return 'literal search';
  return ENGINE_NAMES[searcher.engineOf(expression.regex.program, !isContent)]!;
}
