// Reads the regular expressions of a query for the plan: what is only a choice of literals is answered by
// literal search, the rest by its program. Also writes the condition of a program, its grams, as plan nodes.

import { type CompiledRegex, type CompileOptions, compileSteps } from '../regex/compile.ts';
import {
  type LiteralChoice,
  type NameLiteral,
  reduceToLiterals,
  reduceToName,
  type Subject,
} from '../regex/literals.ts';
import type { PatternNode, RegexNode } from './tree.ts';
import type { Steps } from '../regex/steps.ts';
import { parseRegex } from '../regex/syntax.ts';

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

export interface ExpressionOptions {
  /** Where the pattern stands in the query, in code points. */
  readonly position: number;
  /** Letters match in any case, unless the pattern says otherwise. */
  readonly isFolded: boolean;
  readonly subject: Subject;
  /** Whether it holds is all that counts; where it matches does not. */
  readonly isTestOnly?: boolean;
  /** Most states of the automaton. */
  readonly stateCountMax?: number;
  readonly effort?: Effort;
}

/** The expression of a leaf of a query. Errors: as readExpression. */
export function* expressionOf(
  node: RegexNode | PatternNode,
  isCaseSensitive: boolean,
  effort: Effort = {},
): Steps<Expression> {
  const { position } = node;
  if (node.kind === 'pattern' && node.prefix === 'sym')
    return yield* readNameExpression(node.pattern, position, !isCaseSensitive, effort);
  const isRepo = node.kind === 'pattern' && node.prefix === 'repo';
  return yield* readExpression(node.pattern, {
    position,
    // Case never counts less for repos.
    isFolded: !isRepo && !isCaseSensitive,
    subject: node.kind === 'regex' ? 'content' : 'name',
    isTestOnly: isRepo,
    effort,
  });
}

/** The expression of names of symbols. Errors: as readExpression. */
function* readNameExpression(
  pattern: string,
  position: number,
  isFolded: boolean,
  effort: Effort,
): Steps<Expression> {
  const tree = parseRegex(pattern, { position, isFolded });
  const literal = reduceToName(tree);
  if (literal !== undefined) return { kind: 'name', literal };
  const choice = reduceToLiterals(tree, 'name');
  const regex = yield* compileSteps(tree, { position, subject: 'symbol', ...effort });
  const isChoice = choice !== undefined && areAllPlain(choice, 'name');
  return { kind: 'program', regex, isChoice, holdsAlways: false };
}

/** Errors: QueryError for a pattern that does not parse or is too large. */
export function* readExpression(
  pattern: string,
  options: ExpressionOptions,
): Steps<ChoiceOrProgram> {
  const { position, isFolded, subject, isTestOnly = false, effort } = options;
  const tree = parseRegex(pattern, { position, isFolded });
  const choice = reduceToLiterals(tree, subject);
  const isPlain = choice !== undefined && (isTestOnly || areAllPlain(choice, subject));
  if (isPlain && (isTestOnly || !mayOverlap(choice.alternatives)))
    return { kind: 'literals', choice };
  const { stateCountMax } = options;
  const limit = stateCountMax === undefined ? {} : { stateCountMax };
  const regex = yield* compileSteps(tree, { position, subject, ...effort, ...limit });
  const holdsAlways = subject === 'name' && choice !== undefined && standsAnywhere(choice);
  return { kind: 'program', regex, isChoice: isPlain, holdsAlways };
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
