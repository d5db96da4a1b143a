// Reads the regular expressions of a query for the plan: what is only a choice of literals is answered by
// literal search, the rest by its program. Also writes the condition of a program, its grams, as plan nodes.

import { compileRegex, type CompiledRegex } from '../regex/compile.ts';
import { ALL, anyOf, type Condition } from '../regex/condition.ts';
import { type LiteralChoice, reduceToLiterals, type Subject } from '../regex/literals.ts';
import { parseRegex } from '../regex/syntax.ts';

export type Expression =
  | { readonly kind: 'literals'; readonly choice: LiteralChoice }
  | { readonly kind: 'program'; readonly regex: CompiledRegex };

export interface ExpressionOptions {
  /** Where the pattern stands in the query, in code points. */
  readonly position: number;
  /** Letters match in any case, unless the pattern says otherwise. */
  readonly isFolded: boolean;
  readonly subject: Subject;
  /** Most states of the automaton. */
  readonly stateCountMax?: number;
}

/** Errors: QueryError for a pattern that does not parse or is too large. */
export function readExpression(pattern: string, options: ExpressionOptions): Expression {
  const { position, isFolded, subject, stateCountMax } = options;
  const tree = parseRegex(pattern, { position, isFolded });
  const choice = reduceToLiterals(tree, subject);
  const isLiteral = choice !== undefined && (subject === 'name' || isSearchable(choice));
  if (isLiteral) return { kind: 'literals', choice };
  const limit = stateCountMax === undefined ? {} : { stateCountMax };
  return { kind: 'program', regex: compileRegex(tree, { position, ...limit }) };
}

/** Whether literal search gives the ranges of the expression. */
function isSearchable({ alternatives }: LiteralChoice): boolean {
  const isPlain = alternatives.every(
    ({ anchoredStart, anchoredEnd }) => !anchoredStart && !anchoredEnd,
  );
  // Where one literal overlaps another, which of them matches depends on their order.
  return (
    isPlain && (alternatives.length === 1 || !mayOverlap(alternatives.map(({ text }) => text)))
  );
}

/** Whether matches of two of the texts can begin at the same place. */
function mayOverlap(texts: readonly string[]): boolean {
  return texts.some((text, i) => texts.some((other, j) => i !== j && other.startsWith(text)));
}

/** Code points of the shortest literal that has a gram. */
const GRAM_SIZE = 3;

/**
 * What a block holds in which a match begins: the first line of the needle that the match begins with. Only of
 * use where a match may span lines, and so blocks.
 */
export function startConditionOf({ needles, spansLines }: CompiledRegex): Condition {
  if (!spansLines || needles.kind !== 'prefix') return ALL;
  const texts = needles.texts.map((text) => text.split('\n', 1)[0] ?? '');
  const isKnown = texts.every((text) => Array.from(text).length >= GRAM_SIZE);
  return isKnown ? anyOf(texts) : ALL;
}
