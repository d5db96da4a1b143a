// Reduces a regular expression to an equivalent choice of literals: `(test|spec)\.tsx?$` is `test.tsx`, `test.ts`, `spec.tsx`,
// `spec.ts` at the end. The choice is exact and in the expression's order, unlike required-texts.ts.

import { foldCodePoint, foldVariants } from './fold.ts';
import { isNullable } from './traits.ts';
import type { Assertion, ClassNode, RegexTree, RepeatNode } from './tree.ts';

/** Above this number: not reduced. Guess: literal search of more texts gains nothing. */
export const ALTERNATIVE_COUNT_MAX = 64;

/** What is searched: `name` is a single line (a path, a repo, a symbol), `content` has lines. */
export type Subject = 'name' | 'content';

export interface LiteralAlternative {
  readonly text: string;
  /** The text is at the start (end) of the name, or of a line of the content. */
  readonly anchoredStart: boolean;
  readonly anchoredEnd: boolean;
}

/** How the letters of all alternatives are compared; `none`: none has another case. */
export type LetterCase = 'exact' | 'folded' | 'none';

export interface LiteralChoice {
  /** At least one, distinct; at equal starts the earlier is preferred. */
  readonly alternatives: readonly LiteralAlternative[];
  /** Where it is `folded`, texts are folded. */
  readonly letterCase: LetterCase;
}

/** A literal within a name, with its position: anywhere, at a word border, at the name's end. */
export interface NameLiteral {
  readonly text: string;
  readonly letterCase: LetterCase;
  readonly start: 'any' | 'word' | 'name';
  readonly end: 'any' | 'word' | 'name';
}

type Alternatives = readonly LiteralAlternative[];
/** Undefined: not a short choice of literals. */
type Reduced = Alternatives | undefined;

interface Reduction {
  readonly subject: Subject;
  readonly letterCases: Set<'exact' | 'folded'>;
}

const EMPTY: LiteralAlternative = { text: '', anchoredStart: false, anchoredEnd: false };
const AT_START: LiteralAlternative = { text: '', anchoredStart: true, anchoredEnd: false };
const AT_END: LiteralAlternative = { text: '', anchoredStart: false, anchoredEnd: true };

/**
 * The literals that `tree` accepts; undefined if it is more than a short choice, or mixes case-sensitive and case-insensitive
 * letters. In a name, empty unanchored text is everywhere, so patterns with an empty match reduce to that. In content, where
 * only non-empty matches count, no alternative is empty.
 */
export function reduceToLiterals(
  tree: RegexTree,
  subject: Subject = 'name',
): LiteralChoice | undefined {
  const reduction: Reduction = { subject, letterCases: new Set() };
  const alternatives = reduce(tree, reduction);
  const [letterCase = 'none'] = reduction.letterCases;
  if (alternatives === undefined || reduction.letterCases.size > 1) {
    const isAlwaysTrue = subject === 'name' && isNullable(tree, false);
    return isAlwaysTrue ? { alternatives: [EMPTY], letterCase: 'none' } : undefined;
  }
  const distinct = withoutRepeats(alternatives);
  const hasEmpty = distinct.some((alternative) => alternative.text === '');
  return subject === 'content' && hasEmpty ? undefined : { alternatives: distinct, letterCase };
}

/** The literal equivalent to `tree` in names; undefined if there is none. */
export function reduceToName(tree: RegexTree): NameLiteral | undefined {
  const parts = tree.kind === 'sequence' ? tree.children : [tree];
  const [hasWordStart, hasWordEnd] = [isWordBorder(parts[0]), isWordBorder(parts.at(-1))];
  const rest = parts.slice(hasWordStart ? 1 : 0, hasWordEnd ? -1 : undefined);
  if (rest.length === 0) return undefined;
  const inner = rest.length === 1 ? rest[0]! : { kind: 'sequence' as const, children: rest };
  const choice = reduceToLiterals(inner, 'name');
  const [literal, second] = choice?.alternatives ?? [];
  if (choice === undefined || literal === undefined || second !== undefined) return undefined;
  const { text, anchoredStart, anchoredEnd } = literal;
  // A word border beside an anchor is a border of the name.
  const isPlain = text !== '' && !(anchoredStart && hasWordStart) && !(anchoredEnd && hasWordEnd);
  if (!isPlain) return undefined;
  return {
    text,
    letterCase: choice.letterCase,
    start: anchoredStart ? 'name' : hasWordStart ? 'word' : 'any',
    end: anchoredEnd ? 'name' : hasWordEnd ? 'word' : 'any',
  };
}

function isWordBorder(tree: RegexTree | undefined): boolean {
  return tree?.kind === 'assertion' && tree.at === 'wordBorder';
}

function reduce(tree: RegexTree, reduction: Reduction): Reduced {
  switch (tree.kind) {
    case 'literal':
      return codePointAlternatives([tree.codePoint], tree.isFolded, reduction);
    case 'class':
      return reduceClass(tree, reduction);
    case 'assertion':
      return reduceAssertion(tree.at, reduction.subject);
    case 'repeat':
      return reduceRepeat(tree, reduction);
    case 'sequence':
      return reduceSequence(tree.children, reduction);
    case 'choice':
      return reduceChoice(tree.children, reduction);
    default:
      return undefined;
  }
}

function codePointAlternatives(
  codePoints: readonly number[],
  isFolded: boolean,
  { letterCases }: Reduction,
): Reduced {
  // Why: UTF-8 has no surrogates, and two adjacent ones would become another code point.
  if (codePoints.some((codePoint) => codePoint >= 0xd800 && codePoint < 0xe000)) return undefined;
  if (codePoints.some((codePoint) => foldVariants(codePoint).length > 1)) {
    letterCases.add(isFolded ? 'folded' : 'exact');
  }
  const points = new Set(isFolded ? codePoints.map(foldCodePoint) : codePoints);
  return [...points].map((point) => ({ ...EMPTY, text: String.fromCodePoint(point) }));
}

function reduceClass(node: ClassNode, reduction: Reduction): Reduced {
  if (node.isNegated || node.properties.length > 0) return undefined;
  const codePoints: number[] = [];
  for (const { start, end } of node.ranges) {
    if (codePoints.length + (end - start) > ALTERNATIVE_COUNT_MAX) return undefined;
    for (let codePoint = start; codePoint < end; codePoint++) codePoints.push(codePoint);
  }
  return codePointAlternatives(codePoints, node.isFolded, reduction);
}

/** In content the anchors of an alternative mean lines, so only line assertions reduce there. */
function reduceAssertion(at: Assertion, subject: Subject): Reduced {
  if (at === 'lineStart' || (at === 'textStart' && subject === 'name')) return [AT_START];
  if (at === 'lineEnd' || (at === 'textEnd' && subject === 'name')) return [AT_END];
  return undefined;
}

function reduceChoice(children: readonly RegexTree[], reduction: Reduction): Reduced {
  let alternatives: Reduced = [];
  for (const child of children) {
    alternatives = join(alternatives, reduce(child, reduction));
    if (alternatives === undefined) return undefined;
  }
  return alternatives;
}

function reduceSequence(children: readonly RegexTree[], reduction: Reduction): Reduced {
  let alternatives: Reduced = [EMPTY];
  for (const child of children) {
    alternatives = product(alternatives, reduce(child, reduction));
    if (alternatives === undefined) return undefined;
  }
  return alternatives;
}

/** `x{2,4}` becomes `xx(x(x)?)?`, which keeps the order of preference. */
function reduceRepeat(node: RepeatNode, reduction: Reduction): Reduced {
  const { min, max, isLazy } = node;
  if (max === undefined) return undefined;
  const child = max === 0 ? [EMPTY] : reduce(node.child, reduction);
  let alternatives: Reduced = [EMPTY];
  for (let count = max; count > 0 && alternatives !== undefined; count--) {
    const longer = product(child, alternatives);
    if (count <= min) alternatives = longer;
    else alternatives = isLazy ? join([EMPTY], longer) : join(longer, [EMPTY]);
  }
  return alternatives;
}

function join(left: Reduced, right: Reduced): Reduced {
  return left && right && withinLimits([...left, ...right]);
}

function product(left: Reduced, right: Reduced): Reduced {
  if (left === undefined || right === undefined) return undefined;
  if (left.length * right.length > ALTERNATIVE_COUNT_MAX) return undefined;
  const alternatives: LiteralAlternative[] = [];
  for (const first of left) {
    for (const second of right) {
      const joined = concatenate(first, second);
      if (joined === undefined) return undefined;
      alternatives.push(joined);
    }
  }
  return withinLimits(alternatives);
}

/** Undefined if an anchor would end up inside the text. */
function concatenate(
  first: LiteralAlternative,
  second: LiteralAlternative,
): LiteralAlternative | undefined {
  const isStartInside = second.anchoredStart && first.text !== '';
  const isEndInside = first.anchoredEnd && second.text !== '';
  if (isStartInside || isEndInside) return undefined;
  return {
    text: first.text + second.text,
    anchoredStart: first.anchoredStart || second.anchoredStart,
    anchoredEnd: first.anchoredEnd || second.anchoredEnd,
  };
}

function withinLimits(alternatives: Alternatives): Reduced {
  if (alternatives.length > ALTERNATIVE_COUNT_MAX) return undefined;
  // UTF-16 units.
  const size = alternatives.reduce((sum, { text }) => sum + text.length, 0);
  return size > 65_536 ? undefined : alternatives;
}

function withoutRepeats(alternatives: Alternatives): Alternatives {
  return [...new Map(alternatives.map((one) => [JSON.stringify(one), one])).values()];
}
