// Decides how each regular expression of a query is run: by literal search if it is only a choice of literals, else by its
// program.

import { type CompiledRegex, type CompileOptions, compileSteps } from '../regex/compile.ts';
import {
  type LiteralChoice,
  type NameLiteral,
  reduceToLiterals,
  reduceToName,
  type Subject,
} from '../regex/literals.ts';
import type { PatternNode, RegexNode } from './tree.ts';
import type { Steps } from '../../base/steps.ts';

export type ChoiceOrProgram =
  { readonly kind: 'literals'; readonly choice: LiteralChoice } | ProgramExpression;

/** `name`: of a symbol, which has one range however often the expression matches within its name. */
export type Expression = ChoiceOrProgram | { readonly kind: 'name'; readonly literal: NameLiteral };

export interface ProgramExpression {
  readonly kind: 'program';
  readonly regex: CompiledRegex;
  /** It is a choice of literals, of which matches can overlap. */
  readonly isChoice: boolean;
  /** It holds for every name, as an empty match does. */
  readonly holdsAlways: boolean;
}

/** How an expression is compiled, as for compileRegex; default of `subject`: what the expression is run on. */
export type Effort = Pick<CompileOptions, 'subject' | 'isBrief'>;

/**
 * The expression of a leaf of a query; a step is about part of one.
 *
 * Errors: QueryError for a pattern that is too large.
 */
export function* expressionOf(
  node: RegexNode | PatternNode,
  effort: Effort = {},
): Steps<Expression> {
  if (node.kind === 'pattern' && node.prefix === 'sym') return yield* nameExpression(node, effort);
  const { tree, position } = node;
  const subject = node.kind === 'regex' ? 'content' : 'name';
  // Of repos only counts whether it holds, not where it matches.
  const isTestOnly = node.kind === 'pattern' && node.prefix === 'repo';
  const choice = reduceToLiterals(tree, subject);
  const isPlain = choice !== undefined && (isTestOnly || areAllPlain(choice, subject));
  if (isPlain && (isTestOnly || !mayOverlap(choice.alternatives)))
    return { kind: 'literals', choice };
  const regex = yield* compileSteps(tree, { position, subject, ...effort });
  const holdsAlways = subject === 'name' && choice !== undefined && standsAnywhere(choice);
  return { kind: 'program', regex, isChoice: isPlain, holdsAlways };
}

/** The expression of names of symbols. Errors: as expressionOf. */
function* nameExpression({ tree, position }: PatternNode, effort: Effort): Steps<Expression> {
  const literal = reduceToName(tree);
  if (literal !== undefined) return { kind: 'name', literal };
  const choice = reduceToLiterals(tree, 'name');
  const regex = yield* compileSteps(tree, { position, subject: 'symbol', ...effort });
  const isChoice = choice !== undefined && areAllPlain(choice, 'name');
  return { kind: 'program', regex, isChoice, holdsAlways: false };
}

/** Whether an alternative stands in every name. */
function standsAnywhere({ alternatives }: LiteralChoice): boolean {
  return alternatives.some((one) => one.text === '' && !(one.anchoredStart && one.anchoredEnd));
}

/** Whether the alternatives are literals that literal search can look for, each by itself. */
function areAllPlain({ alternatives }: LiteralChoice, subject: Subject): boolean {
  return alternatives.every(
    ({ text, anchoredStart, anchoredEnd }) =>
      // Empty text also stands for whatever else an expression may match where it matches nothing.
      text !== '' && (subject === 'name' || !(anchoredStart || anchoredEnd)),
  );
}

/**
 * Whether matches of two alternatives can overlap. Which of them matches depends on their order then, and
 * where the next one matches on that: `aa|ba` finds `ba` and `aa` in `baaa`, but literal search for `aa`
 * alone begins one character earlier. Of those that end with the name the leftmost matches, whatever the order.
 */
function mayOverlap(alternatives: LiteralChoice['alternatives']): boolean {
  return alternatives.some((one, i) =>
    alternatives.some((other, j) => {
      const endTogether = one.anchoredEnd && other.anchoredEnd;
      return i !== j && !endTogether && overlaps(one.text, other.text);
    }),
  );
}

/** Whether `other` can begin within `text`. */
function overlaps(text: string, other: string): boolean {
  for (let start = 0; start < text.length; start++) {
    const rest = text.slice(start);
    if (rest.startsWith(other) || other.startsWith(rest)) return true;
  }
  return false;
}
