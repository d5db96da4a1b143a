// Translates a parsed query into a plan, within the cost limit of a query.

import { PLAN_NODES_MAX } from '../../../core/shared/plan.ts';
import { resolveLanguage } from '../../sources/languages/languages.ts';
import { QueryError } from '../regex/query-error.ts';
import { atOnce, type Steps } from '../../base/steps.ts';
import { type Expression, expressionOf, type ProgramExpression } from './expressions.ts';
import { type ExpressionNode, list, not, type PlanNode, tooManyConditions } from './plan-tree.ts';
import {
  isOfRepos,
  joinRepos,
  planRepoContext,
  planRepoPattern,
  planRepoValue,
  type RepoContext,
} from './repos.ts';
import { type DocsNode, planLiveDocs, planRevisions } from './revisions.ts';
import type { ListNode, PatternNode, QueryNode, RegexNode, ValueNode } from './tree.ts';

export interface PlanContext extends RepoContext {
  /** Some of their docs must be excluded by default, such as those of further revisions. */
  readonly needsDocSets: boolean;
  readonly hasOnDemand?: boolean | undefined;
}

/** Most states of all automata of one query. Bound: compiling them takes about a second. */
export const QUERY_STATES_MAX = 100_000;

/** The context, the remaining cost of compiling, and results for equal leaves. */
interface Planning extends PlanContext {
  remainingStates: number;
  remainingPrograms: number;
  readonly expressions: Map<string, Expression>;
  readonly revisions: Map<string, DocsNode>;
  readonly picked: Map<string, PlanNode>;
}

/**
 * The plan of a query; without `rev:` it covers the default revisions. Errors: QueryError for patterns that are too large,
 * separately or together, and for unsupported queries; UnknownContextError.
 */
export function planQuery(query: QueryNode, context: PlanContext): PlanNode {
  return atOnce(planSteps(query, context));
}

/** As planQuery; each step handles one leaf of the query, or part of it. */
export function* planSteps(query: QueryNode, context: PlanContext): Steps<PlanNode> {
  if (countLeaves(query) > PLAN_NODES_MAX) throw tooManyConditions();
  const plan = yield* planNode(query, {
    ...context,
    remainingStates: QUERY_STATES_MAX,
    // From the 33rd program on compilation is brief. Bound: its time; people write fewer.
    remainingPrograms: 32,
    expressions: new Map(),
    revisions: new Map(),
    picked: new Map(),
  });
  return context.needsDocSets
    ? list('and', [planLiveDocs(query, context.hasOnDemand ?? false), plan])
    : plan;
}

function countLeaves(query: QueryNode): number {
  if (query.kind === 'not') return countLeaves(query.child);
  if (query.kind !== 'and' && query.kind !== 'or') return 1;
  return query.children.reduce((sum, child) => sum + countLeaves(child), 0);
}

function* planNode(query: QueryNode, context: Planning): Steps<PlanNode> {
  switch (query.kind) {
    case 'const':
      return query;
    case 'not':
      return not(yield* planNode(query.child, context));
    case 'and':
    case 'or':
      return list(query.kind, yield* planChildren(query, context));
    case 'text':
      return { kind: 'text', text: query.text, isInPath: query.isOfContent !== true };
    case 'regex':
      return yield* planContentRegex(query, context);
    case 'pattern':
      return yield* planPattern(query, context);
    case 'value':
      return yield* planValue(query, context);
  }
}

/** Children that depend only on repos are joined. Why: each may list all of many repos. */
function* planChildren({ kind, children }: ListNode, context: Planning): Steps<PlanNode[]> {
  const plans: PlanNode[] = [];
  let position: number | undefined;
  for (const child of children) {
    const plan = yield* planNode(child, context);
    yield;
    if (isOfRepos(plan) && position !== undefined)
      plans[position] = joinRepos(kind, plans[position]!, plan, context.repos());
    else if (isOfRepos(plan)) position = plans.push(plan) - 1;
    else plans.push(plan);
  }
  return plans;
}

/** Compiles an expression and subtracts its states from the budget. */
function* readWithinBudget(node: RegexNode | PatternNode, context: Planning): Steps<Expression> {
  const key = `${node.kind === 'pattern' ? node.prefix : ''}:${node.pattern}`;
  const effort = { isBrief: context.remainingPrograms <= 0 };
  const cached = context.expressions.get(key);
  const expression = cached ?? (yield* expressionOf(node, effort));
  context.expressions.set(key, expression);
  if (expression.kind !== 'program') return expression;
  context.remainingPrograms--;
  context.remainingStates -= expression.regex.stateCount + expression.regex.reverseStateCount;
  if (context.remainingStates >= 0) return expression;
  const reason = `the regular expressions of the query are too large together, limit ${QUERY_STATES_MAX} states`;
  throw new QueryError(reason, node.position);
}

function* planContentRegex(node: RegexNode, context: Planning): Steps<PlanNode> {
  const expression = yield* readWithinBudget(node, context);
  if (expression.kind === 'program') return regexNode('regex', node.pattern, expression);
  if (expression.kind === 'name') throw new Error('content has no names');
  const { alternatives, letterCase } = expression.choice;
  return list(
    'or',
    alternatives.map(({ text }) => ({ kind: 'text', text, letterCase })),
  );
}

function regexNode(
  kind: ExpressionNode['kind'],
  pattern: string,
  expression: ProgramExpression,
): PlanNode {
  const { condition, canBeEmpty } = expression.regex;
  const isImpossible = condition.kind === 'none' && !(kind === 'pathRegex' && canBeEmpty);
  return isImpossible ? { kind: 'const', value: false } : { kind, pattern, expression };
}

function* planPattern(node: PatternNode, context: Planning): Steps<PlanNode> {
  const { prefix, pattern } = node;
  const expression = yield* readWithinBudget(node, context);
  if (expression.kind === 'name') return { kind: 'symbol', pattern, literal: expression.literal };
  if (prefix === 'sym') {
    if (expression.kind !== 'program') throw new Error('the name of a symbol is a choice');
    return regexNode('symbolRegex', pattern, expression);
  }
  if (prefix === 'repo') return yield* planRepoPattern(expression, context);
  if (expression.kind === 'program') return regexNode('pathRegex', pattern, expression);
  const { alternatives, letterCase } = expression.choice;
  return list(
    'or',
    alternatives.map((literal) => ({ kind: 'path', literal, letterCase })),
  );
}

function* planValue(node: ValueNode, context: Planning): Steps<PlanNode> {
  const { value } = node;
  switch (node.prefix) {
    case 'lang': {
      const name = resolveLanguage(value);
      return name === undefined ? { kind: 'const', value: false } : { kind: 'language', name };
    }
    case 'rev': {
      const plan = context.revisions.get(value) ?? planRevisions(context.repos(), value);
      context.revisions.set(value, plan);
      return plan;
    }
    case 'context': {
      const plan = context.picked.get(value) ?? (yield* planRepoContext(value, context));
      context.picked.set(value, plan);
      return plan;
    }
    default:
      return planRepoValue(node.prefix, value, context.repos());
  }
}
