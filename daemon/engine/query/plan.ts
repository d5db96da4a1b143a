// Translates a parsed query into a plan, within the cost limit of a query.

import { PLAN_NODES_MAX } from '../../../core/shared/plan.ts';
import { resolveLanguage } from '../../sources/languages/language-data.ts';
import { QueryError } from '../regex/query-error.ts';
import type { Steps } from '../../base/steps.ts';
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
import { planLiveDocs, planRevisions } from './revisions.ts';
import {
  leavesOf,
  type ListNode,
  type PatternNode,
  type QueryNode,
  type RegexNode,
  type ValueNode,
} from './tree.ts';

export interface PlanContext extends RepoContext {
  /** Some of their docs must be excluded by default, such as those of further revisions. */
  readonly needsDocSets: boolean;
  readonly hasOnDemand?: boolean | undefined;
}

/** Most states of all automata of one query. Bound: compiling them takes about a second. */
export const QUERY_STATES_MAX = 100_000;

/** The remaining budget for compiling, and the results of leaves, for equal ones. */
interface Planning {
  readonly context: PlanContext;
  remainingStates: number;
  remainingPrograms: number;
  readonly expressions: Map<string, Expression>;
  /** The nodes of `rev:` and `context:`, by prefix and value. */
  readonly values: Map<string, PlanNode>;
}

/**
 * The plan of a query; without `rev:` it covers the default revisions. Each step handles one leaf of the query, or part of it.
 * Errors: QueryError for patterns that are too large, separately or together, and for unsupported queries; UnknownContextError.
 */
export function* planSteps(query: QueryNode, context: PlanContext): Steps<PlanNode> {
  if (leavesOf(query).length > PLAN_NODES_MAX) throw tooManyConditions();
  const plan = yield* planNode(query, {
    context,
    remainingStates: QUERY_STATES_MAX,
    // Bound: the time of a query. Only the first 32 expressions are compiled with all optimizations; further ones get needles
    // only.
    remainingPrograms: 32,
    expressions: new Map(),
    values: new Map(),
  });
  return context.needsDocSets
    ? list('and', [planLiveDocs(query, context.hasOnDemand ?? false), plan])
    : plan;
}

function* planNode(query: QueryNode, planning: Planning): Steps<PlanNode> {
  switch (query.kind) {
    case 'const':
      return query;
    case 'not':
      return not(yield* planNode(query.child, planning));
    case 'and':
    case 'or':
      return list(query.kind, yield* planChildren(query, planning));
    case 'text':
      return { kind: 'text', text: query.text, isInPath: query.isOfContent !== true };
    case 'regex':
      return yield* planContentRegex(query, planning);
    case 'pattern':
      return yield* planPattern(query, planning);
    case 'value':
      return yield* planValue(query, planning);
  }
}

/** Plans the children of a list, and joins those that depend only on repos. Why: each may list all of many repos. */
function* planChildren({ kind, children }: ListNode, planning: Planning): Steps<PlanNode[]> {
  const plans: PlanNode[] = [];
  let position: number | undefined;
  for (const child of children) {
    const plan = yield* planNode(child, planning);
    yield;
    if (isOfRepos(plan) && position !== undefined)
      plans[position] = joinRepos(kind, plans[position]!, plan, planning.context.repos());
    else if (isOfRepos(plan)) position = plans.push(plan) - 1;
    else plans.push(plan);
  }
  return plans;
}

/** Compiles an expression and subtracts its states from the budget. */
function* readWithinBudget(node: RegexNode | PatternNode, planning: Planning): Steps<Expression> {
  const key = `${node.kind === 'pattern' ? node.prefix : ''}:${node.pattern}`;
  const effort = { isBrief: planning.remainingPrograms <= 0 };
  const cached = planning.expressions.get(key);
  const expression = cached ?? (yield* expressionOf(node, effort));
  planning.expressions.set(key, expression);
  if (expression.kind !== 'program') return expression;
  planning.remainingPrograms--;
  planning.remainingStates -= expression.regex.stateCount + expression.regex.reverseStateCount;
  if (planning.remainingStates >= 0) return expression;
  const reason = `the regular expressions of the query are too large together, limit ${QUERY_STATES_MAX} states`;
  throw new QueryError(reason, node.position);
}

function* planContentRegex(node: RegexNode, planning: Planning): Steps<PlanNode> {
  const expression = yield* readWithinBudget(node, planning);
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

function* planPattern(node: PatternNode, planning: Planning): Steps<PlanNode> {
  const { prefix, pattern } = node;
  const expression = yield* readWithinBudget(node, planning);
  if (expression.kind === 'name') return { kind: 'symbol', pattern, literal: expression.literal };
  if (prefix === 'sym') {
    if (expression.kind !== 'program') throw new Error('the name of a symbol is a choice');
    return regexNode('symbolRegex', pattern, expression);
  }
  if (prefix === 'repo') return yield* planRepoPattern(expression, planning.context);
  if (expression.kind === 'program') return regexNode('pathRegex', pattern, expression);
  const { alternatives, letterCase } = expression.choice;
  return list(
    'or',
    alternatives.map((literal) => ({ kind: 'path', literal, letterCase })),
  );
}

function* planValue(node: ValueNode, planning: Planning): Steps<PlanNode> {
  const { value } = node;
  const { context } = planning;
  switch (node.prefix) {
    case 'lang': {
      const name = resolveLanguage(value);
      return name === undefined ? { kind: 'const', value: false } : { kind: 'language', name };
    }
    case 'rev':
    case 'context': {
      const key = `${node.prefix}:${value}`;
      const plan =
        planning.values.get(key) ??
        (node.prefix === 'rev'
          ? planRevisions(context.repos(), value)
          : yield* planRepoContext(value, context));
      planning.values.set(key, plan);
      return plan;
    }
    default:
      return planRepoValue(node.prefix, value, context.repos());
  }
}
