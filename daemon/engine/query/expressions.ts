// Decides how each regular expression of a query is run: by literal search if it is a choice of literals, else by its program.

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

/** `name`: a symbol's name, with one range however often the expression matches within it. */
export type Expression = ChoiceOrProgram | { readonly kind: 'name'; readonly literal: NameLiteral };

export interface ProgramExpression {
  readonly kind: 'program';
  readonly regex: CompiledRegex;
  /** A choice of literals whose matches can overlap. */
  readonly isChoice: boolean;
  /** It matches every name, as the empty match does. */
  readonly isAlwaysTrue: boolean;
}

/** Options of compileSteps; default of `subject`: the text that the expression is run on. */
export type Effort = Pick<CompileOptions, 'subject' | 'isBrief'>;

/** The expression of a leaf of a query; each step handles part of one. Errors: QueryError for a pattern that is too large. */
export function* expressionOf(
  node: RegexNode | PatternNode,
  effort: Effort = {},
): Steps<Expression> {
  if (node.kind === 'pattern' && node.prefix === 'sym') return yield* nameExpression(node, effort);
  const { tree, position } = node;
  const subject = node.kind === 'regex' ? 'content' : 'name';
  // For repos only the test counts, not the location of matches.
  const isTestOnly = node.kind === 'pattern' && node.prefix === 'repo';
  const choice = reduceToLiterals(tree, subject);
  const isPlain = choice !== undefined && (isTestOnly || areAllPlain(choice, subject));
  if (isPlain && (isTestOnly || !mayOverlap(choice.alternatives)))
    return { kind: 'literals', choice };
  const regex = yield* compileSteps(tree, { position, subject, ...effort });
  const isAlwaysTrue = subject === 'name' && choice !== undefined && matchesEveryName(choice);
  return { kind: 'program', regex, isChoice: isPlain, isAlwaysTrue };
}

function* nameExpression({ tree, position }: PatternNode, effort: Effort): Steps<Expression> {
  const literal = reduceToName(tree);
  if (literal !== undefined) return { kind: 'name', literal };
  const choice = reduceToLiterals(tree, 'name');
  const regex = yield* compileSteps(tree, { position, subject: 'symbol', ...effort });
  const isChoice = choice !== undefined && areAllPlain(choice, 'name');
  return { kind: 'program', regex, isChoice, isAlwaysTrue: false };
}

/** Whether an alternative matches every name. */
function matchesEveryName({ alternatives }: LiteralChoice): boolean {
  return alternatives.some((one) => one.text === '' && !(one.anchoredStart && one.anchoredEnd));
}

/** Whether literal search can search for each alternative separately. */
function areAllPlain({ alternatives }: LiteralChoice, subject: Subject): boolean {
  return alternatives.every(
    ({ text, anchoredStart, anchoredEnd }) =>
      // An empty text may stand for an expression with other matches, such as `x*`.
      text !== '' && (subject === 'name' || !(anchoredStart || anchoredEnd)),
  );
}

/**
 * Whether matches of two alternatives can overlap. Their order would then decide: `aa|ba` finds `ba` and `aa` in `baaa`, but
 * literal search for `aa` alone begins one character earlier. Of those that end with the name the leftmost matches.
 */
function mayOverlap(alternatives: LiteralChoice['alternatives']): boolean {
  return alternatives.some((one, i) =>
    alternatives.some((other, j) => {
      const endTogether = one.anchoredEnd && other.anchoredEnd;
      return i !== j && !endTogether && overlaps(one.text, other.text);
    }),
  );
}

/** Whether `other` can begin inside `text`. */
function overlaps(text: string, other: string): boolean {
  for (let start = 0; start < text.length; start++) {
    const rest = text.slice(start);
    if (rest.startsWith(other) || other.startsWith(rest)) return true;
  }
  return false;
}
