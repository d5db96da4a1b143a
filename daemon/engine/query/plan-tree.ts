// The plan of a query: a tree of conditions on docs, encoded for the core (encode.ts), printed, and evaluated for repos
// (repos.ts). Creates lists and negations, with constants folded.

import { PLAN_NODES_MAX } from '../../../core/shared/plan.ts';
import { QueryError } from '../regex/query-error.ts';
import type { LetterCase, LiteralAlternative, NameLiteral } from '../regex/literals.ts';
import type { ProgramExpression } from './expressions.ts';
import type { DocsNode } from './revisions.ts';

/** Leaf: the content, the path, or a symbol's name matches an expression. */
export interface ExpressionNode {
  readonly kind: 'regex' | 'pathRegex' | 'symbolRegex';
  readonly pattern: string;
  readonly expression: ProgramExpression;
}

export type PlanNode =
  | { readonly kind: 'const'; readonly value: boolean }
  | { readonly kind: 'and' | 'or'; readonly children: readonly PlanNode[] }
  | { readonly kind: 'not'; readonly child: PlanNode }
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly letterCase?: LetterCase;
      /** Also searched in paths. */
      readonly isInPath?: boolean;
    }
  | {
      readonly kind: 'path';
      readonly literal: LiteralAlternative;
      readonly letterCase?: LetterCase;
    }
  | ExpressionNode
  | { readonly kind: 'symbol'; readonly pattern: string; readonly literal: NameLiteral }
  | { readonly kind: 'language'; readonly name: string }
  | { readonly kind: 'repos'; readonly ids: ReadonlySet<number> }
  | DocsNode;

export function tooManyConditions(): QueryError {
  return new QueryError(`the query has too many conditions, limit ${PLAN_NODES_MAX}`, 0);
}

const ALWAYS: PlanNode = { kind: 'const', value: true };

export function not(child: PlanNode): PlanNode {
  if (child.kind === 'const') return { kind: 'const', value: !child.value };
  const isAlwaysTrue = child.kind === 'or' && child.children.includes(ALWAYS);
  return isAlwaysTrue ? { kind: 'const', value: false } : { kind: 'not', child };
}

export function list(kind: 'and' | 'or', children: readonly PlanNode[]): PlanNode {
  const deciding = kind === 'or';
  const others = children.filter((child) => child.kind !== 'const');
  // Sets of docs first: if they are empty, nothing else is looked up.
  const rest = kind === 'or' ? others : others.sort((a, b) => docsFirst(a) - docsFirst(b));
  if (children.some((child) => child.kind === 'const' && child.value === deciding)) {
    // Why: an OR that always holds still has ranges of its literals.
    return deciding && rest.some(hasRanges)
      ? { kind, children: [ALWAYS, ...rest] }
      : { kind: 'const', value: deciding };
  }
  if (rest.length === 0) return { kind: 'const', value: !deciding };
  return rest.length === 1 ? rest[0]! : { kind, children: rest };
}

function docsFirst(plan: PlanNode): number {
  return plan.kind === 'docs' ? 0 : 1;
}

const LEAF_KINDS: ReadonlySet<string> = new Set<PlanNode['kind']>([
  'text',
  'path',
  'regex',
  'pathRegex',
  'symbol',
  'symbolRegex',
]);

/** Whether the plan may give ranges to a doc that it matches. */
function hasRanges(plan: PlanNode): boolean {
  if (plan.kind === 'and' || plan.kind === 'or') return plan.children.some(hasRanges);
  return LEAF_KINDS.has(plan.kind);
}
