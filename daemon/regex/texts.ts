// Bottom-up knowledge of the texts that an expression matches: all of them if they are few, else what they
// begin and end with, and what they must hold between. Assertions count as empty, so everything here is
// necessary for a match, not sufficient. Only non-empty matches are described; whether a part can be empty
// is kept beside. Source: R. Cox, https://swtch.com/~rsc/regexp/regexp4.html.

import { ALL, anyOf, both, type Condition, either } from './condition.ts';
import { foldCodePoint } from './fold.ts';
import type { SetNode, SimpleRepeatNode, SimpleTree } from './simple-tree.ts';

/** Most texts of one list. */
const TEXT_COUNT_MAX = 64;
/** Code points of one text. */
const TEXT_LENGTH_MAX = 100;
/** Members of a set that is listed: the letters, and some more. */
const SET_COUNT_MAX = 32;
/** Copies of a repeated part that are written out. */
const COPY_COUNT_MAX = 16;
/** Copies that may be left out and are written out. */
const OPTION_COUNT_MAX = 4;
/** To a text of so many code points, a set of more than FEW members adds little but work. */
const ENOUGH_LENGTH = 3;
const FEW = 4;

/** Of all non-empty matches; `exact`, if there, are the matches, and the same as the other two lists. */
export interface Texts {
  readonly exact?: readonly string[];
  /** Every match begins with one of these. */
  readonly prefix: readonly string[];
  /** Every match ends with one of these. */
  readonly suffix: readonly string[];
  /** What every match holds besides `exact`. */
  readonly condition: Condition;
}

/** What is known of a part of an expression. */
export interface Knowledge {
  readonly canBeEmpty: boolean;
  /** Absent: no match but the empty one. */
  readonly texts?: Texts;
}

export interface TextOptions {
  /** Texts are folded, and so is what is compared with them. */
  readonly isFolded: boolean;
  /** Code points of the shortest literal of a condition. */
  readonly literalMin: number;
}

/** Some text, of which nothing else is known. */
const ANY_TEXT: Texts = { prefix: [''], suffix: [''], condition: ALL };

/** What the matches of `tree` are known to be. No text holds a newline. */
export function knowledgeOf(tree: SimpleTree, options: TextOptions): Knowledge {
  switch (tree.kind) {
    case 'set':
      return ofSet(tree, options);
    case 'assertion':
      return { canBeEmpty: true };
    case 'repeat':
      return ofRepeat(tree, options);
    case 'sequence':
      return ofSequence(tree.children, options);
    case 'choice':
      return tree.children
        .map((child) => knowledgeOf(child, options))
        .reduce((left, right) => join(left, right, options));
  }
}

/** What every non-empty match holds. */
export function conditionOf(texts: Texts, options: TextOptions): Condition {
  return texts.exact === undefined ? texts.condition : someOf(texts.exact, options);
}

function someOf(texts: readonly string[], { literalMin }: TextOptions): Condition {
  return texts.some((text) => lengthOf(text) < literalMin) ? ALL : anyOf(texts);
}

function lengthOf(text: string): number {
  return Array.from(text).length;
}

function exactly(texts: readonly string[]): Texts {
  return { exact: texts, prefix: texts, suffix: texts, condition: ALL };
}

function ofSet({ ranges }: SetNode, { isFolded }: TextOptions): Knowledge {
  if (ranges.length === 0) return { canBeEmpty: false };
  const unknown = { canBeEmpty: false, texts: ANY_TEXT };
  const members = new Set<string>();
  let count = 0;
  for (const { start, end } of ranges) {
    count += end - start;
    // Why: of code points that fold together there are at most 4.
    if (count > 4 * SET_COUNT_MAX || (start <= 0x0a && end > 0x0a)) return unknown;
    for (let codePoint = start; codePoint < end; codePoint++) {
      members.add(String.fromCodePoint(isFolded ? foldCodePoint(codePoint) : codePoint));
    }
  }
  return members.size > SET_COUNT_MAX
    ? unknown
    : { canBeEmpty: false, texts: exactly([...members]) };
}

function ofRepeat(node: SimpleRepeatNode, options: TextOptions): Knowledge {
  const { min, max } = node;
  const child = knowledgeOf(node.child, options);
  if (max === undefined && min <= 1) {
    return { ...several(child, options), canBeEmpty: min === 0 || child.canBeEmpty };
  }
  let tail: Knowledge = { canBeEmpty: true };
  if (max !== undefined && max <= COPY_COUNT_MAX && max - min <= OPTION_COUNT_MAX) {
    for (let count = max; count > min; count--) {
      tail = { ...follow(child, tail, options), canBeEmpty: true };
    }
  } else if (max !== min || min > COPY_COUNT_MAX) {
    tail = { ...several(child, options), canBeEmpty: true };
  }
  let copies: Knowledge = { canBeEmpty: true };
  for (let count = Math.min(min, COPY_COUNT_MAX); count > 0; count--) {
    copies = follow(copies, child, options);
  }
  return follow(copies, tail, options);
}

/** One or more of the same. */
function several(child: Knowledge, options: TextOptions): Knowledge {
  if (child.texts === undefined) return child;
  const { prefix, suffix } = child.texts;
  return { ...child, texts: { prefix, suffix, condition: conditionOf(child.texts, options) } };
}

function ofSequence(children: readonly SimpleTree[], options: TextOptions): Knowledge {
  const parts: Knowledge[] = [];
  // Single texts are joined first: what is long enough then needs no set beside it.
  for (const part of children.map((child) => knowledgeOf(child, options))) {
    const last = parts.at(-1);
    if (last !== undefined && isSingle(last) && isSingle(part)) {
      parts[parts.length - 1] = follow(last, part, options);
    } else {
      parts.push(part);
    }
  }
  return parts.reduce((left, right) => follow(left, right, options), { canBeEmpty: true });
}

function isSingle({ canBeEmpty, texts }: Knowledge): boolean {
  return !canBeEmpty && texts?.exact?.length === 1;
}

/** Either of two. */
function join(left: Knowledge, right: Knowledge, options: TextOptions): Knowledge {
  const texts =
    left.texts && right.texts
      ? joinTexts(left.texts, right.texts, options)
      : (left.texts ?? right.texts);
  return withTexts(left.canBeEmpty || right.canBeEmpty, texts);
}

/** One behind the other. */
function follow(left: Knowledge, right: Knowledge, options: TextOptions): Knowledge {
  const cases: Texts[] = [];
  if (left.texts && right.texts) cases.push(followTexts(left.texts, right.texts, options));
  if (left.texts && right.canBeEmpty) cases.push(left.texts);
  if (right.texts && left.canBeEmpty) cases.push(right.texts);
  const texts = cases.length === 0 ? undefined : cases.reduce((a, b) => joinTexts(a, b, options));
  return withTexts(left.canBeEmpty && right.canBeEmpty, texts);
}

function withTexts(canBeEmpty: boolean, texts: Texts | undefined): Knowledge {
  return texts === undefined ? { canBeEmpty } : { canBeEmpty, texts };
}

function joinTexts(left: Texts, right: Texts, options: TextOptions): Texts {
  if (left.exact && right.exact) {
    const exact = [...new Set([...left.exact, ...right.exact])];
    if (exact.length <= TEXT_COUNT_MAX) return exactly(exact);
  }
  return {
    prefix: fewest([...left.prefix, ...right.prefix], 'start'),
    suffix: fewest([...left.suffix, ...right.suffix], 'end'),
    condition: either(conditionOf(left, options), conditionOf(right, options)),
  };
}

function followTexts(left: Texts, right: Texts, options: TextOptions): Texts {
  const across = product(left.suffix, right.prefix);
  if (left.exact && right.exact && across) return exactly(across);
  const sides = both(conditionOf(left, options), conditionOf(right, options));
  return {
    prefix: left.exact ? (product(left.exact, right.prefix) ?? left.exact) : left.prefix,
    suffix: right.exact ? (product(left.suffix, right.exact) ?? right.exact) : right.suffix,
    condition: across ? both(sides, someOf(across, options)) : sides,
  };
}

/** Every text of `left` before every one of `right`; undefined if that is too much for what it says. */
function product(left: readonly string[], right: readonly string[]): readonly string[] | undefined {
  if (left.length * right.length > TEXT_COUNT_MAX) return undefined;
  if (isWasteful(left, right) || isWasteful(right, left)) return undefined;
  const texts = new Set(left.flatMap((first) => right.map((second) => first + second)));
  return [...texts].some((text) => lengthOf(text) > TEXT_LENGTH_MAX) ? undefined : [...texts];
}

function isWasteful(texts: readonly string[], set: readonly string[]): boolean {
  const isSet = set.length > FEW && set.every((text) => lengthOf(text) <= 1);
  return isSet && texts.every((text) => lengthOf(text) >= ENOUGH_LENGTH);
}

/** Beginnings or ends that stand for all of `texts`: no more than TEXT_COUNT_MAX, none part of another. */
export function fewest(texts: readonly string[], side: 'start' | 'end'): readonly string[] {
  for (const size of [Infinity, 6, 4, 3, 2, 1]) {
    const cut = withoutLonger([...new Set(texts.map((text) => cutTo(text, size, side)))], side);
    if (cut.length <= TEXT_COUNT_MAX) return cut;
  }
  return [''];
}

function cutTo(text: string, size: number, side: 'start' | 'end'): string {
  const points = Array.from(text);
  if (points.length <= size) return text;
  return (side === 'start' ? points.slice(0, size) : points.slice(-size)).join('');
}

function withoutLonger(texts: readonly string[], side: 'start' | 'end'): readonly string[] {
  return texts.filter(
    (text) =>
      !texts.some(
        (other) =>
          other.length < text.length &&
          (side === 'start' ? text.startsWith(other) : text.endsWith(other)),
      ),
  );
}
