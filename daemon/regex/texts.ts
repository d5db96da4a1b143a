// Bottom-up knowledge of the texts that an expression matches: all of them if they are few, else what they
// begin and end with, and what they must hold between. Assertions count as empty, so everything here is
// necessary for a match, not sufficient. Only non-empty matches are described; whether a part can be empty
// is kept beside. Source: R. Cox, https://swtch.com/~rsc/regexp/regexp4.html.

import { ALL, anyOf, both, type Condition, countLiterals, either } from './condition.ts';
import { foldCodePoint } from './fold.ts';
import type { SetNode, SimpleRepeatNode, SimpleTree } from './simple-tree.ts';

/** Most texts of one list. */
const TEXT_COUNT_MAX = 64;
/** Code points of one text. */
const TEXT_LENGTH_MAX = 100;
/** Members of a set that is listed. */
const SET_COUNT_MAX = 16;
/** Copies of a repeated part that are written out. */
const COPY_COUNT_MAX = 16;
/** Copies that may be left out and are written out. */
const OPTION_COUNT_MAX = 4;
/**
 * Texts that are made for one expression, and literals of its conditions. Measured: 2026-11-21: some 10 ms; a list of words as long as a pattern may
 * be takes half of it.
 */
const TEXTS_MADE_MAX = 10_000;
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

/** Options, and how many texts may still be made. */
interface Reading extends TextOptions {
  textsLeft: number;
}

/**
 * What the matches of `tree` are known to be. No text holds a newline.
 *
 * Cost: bound by TEXTS_MADE_MAX; behind it little more is known than before.
 */
export function knowledgeOf(tree: SimpleTree, options: TextOptions): Knowledge {
  return ofTree(tree, { ...options, textsLeft: TEXTS_MADE_MAX });
}

function ofTree(tree: SimpleTree, reading: Reading): Knowledge {
  switch (tree.kind) {
    case 'set':
      return ofSet(tree, reading);
    case 'assertion':
      return { canBeEmpty: true };
    case 'repeat':
      return ofRepeat(tree, reading);
    case 'sequence':
      return ofSequence(tree.children, reading);
    case 'choice':
      return ofChoice(tree.children, reading);
  }
}

/** What every non-empty match holds. */
export function conditionOf(texts: Texts, options: TextOptions): Condition {
  return texts.exact === undefined ? texts.condition : someOf(texts.exact, options);
}

function someOf(texts: readonly string[], { literalMin }: TextOptions): Condition {
  return texts.some((text) => !isLongerThan(text, literalMin - 1)) ? ALL : anyOf(texts);
}

/** Whether a text has more than `count` code points. */
function isLongerThan(text: string, count: number): boolean {
  if (text.length <= count) return false;
  return text.length > 2 * count || Array.from(text).length > count;
}

function exactly(texts: readonly string[]): Texts {
  return { exact: texts, prefix: texts, suffix: texts, condition: ALL };
}

function ofSet({ ranges }: SetNode, { isFolded }: Reading): Knowledge {
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

function ofRepeat(node: SimpleRepeatNode, reading: Reading): Knowledge {
  const { min, max } = node;
  const child = ofTree(node.child, reading);
  if (max === undefined && min <= 1) {
    return { ...several(child, reading), canBeEmpty: min === 0 || child.canBeEmpty };
  }
  let tail: Knowledge = { canBeEmpty: true };
  if (max !== undefined && max <= COPY_COUNT_MAX && max - min <= OPTION_COUNT_MAX) {
    for (let count = max; count > min; count--) {
      tail = { ...follow(child, tail, reading), canBeEmpty: true };
    }
  } else if (max !== min || min > COPY_COUNT_MAX) {
    tail = { ...several(child, reading), canBeEmpty: true };
  }
  let copies: Knowledge = { canBeEmpty: true };
  for (let count = Math.min(min, COPY_COUNT_MAX); count > 0; count--) {
    copies = follow(copies, child, reading);
  }
  return follow(copies, tail, reading);
}

/** One or more of the same. */
function several(child: Knowledge, reading: Reading): Knowledge {
  if (child.texts === undefined) return child;
  const { prefix, suffix } = child.texts;
  return { ...child, texts: { prefix, suffix, condition: conditionOf(child.texts, reading) } };
}

function ofSequence(children: readonly SimpleTree[], reading: Reading): Knowledge {
  const parts: Knowledge[] = [];
  // Single texts are joined first: what is long enough then needs no set beside it.
  for (const child of children) {
    const part = ofTree(child, reading);
    const last = parts.at(-1);
    if (last !== undefined && isSingle(last) && isSingle(part)) {
      parts[parts.length - 1] = follow(last, part, reading);
    } else {
      parts.push(part);
    }
  }
  return parts.reduce((left, right) => follow(left, right, reading), { canBeEmpty: true });
}

function isSingle({ canBeEmpty, texts }: Knowledge): boolean {
  return !canBeEmpty && texts?.exact?.length === 1;
}

/** One of several. */
function ofChoice(children: readonly SimpleTree[], reading: Reading): Knowledge {
  const parts = children.map((child) => ofTree(child, reading));
  const known = parts.flatMap(({ texts }) => (texts === undefined ? [] : [texts]));
  const canBeEmpty = parts.some((part) => part.canBeEmpty);
  return withTexts(canBeEmpty, known.length === 0 ? undefined : joinTexts(known, reading));
}

/** One behind the other. */
function follow(left: Knowledge, right: Knowledge, reading: Reading): Knowledge {
  if (reading.textsLeft <= 0) return withoutEnd(left, right, reading);
  const cases: Texts[] = [];
  if (left.texts && right.texts) cases.push(followTexts(left.texts, right.texts, reading));
  if (reading.textsLeft <= 0) return withoutEnd(left, right, reading);
  if (left.texts && right.canBeEmpty) cases.push(left.texts);
  if (right.texts && left.canBeEmpty) cases.push(right.texts);
  const texts = cases.length === 0 ? undefined : joinTexts(cases, reading);
  return withTexts(left.canBeEmpty && right.canBeEmpty, texts);
}

/** As follow, with no more than the beginning looked at. */
function withoutEnd(left: Knowledge, right: Knowledge, reading: Reading): Knowledge {
  if (left.canBeEmpty && left.texts === undefined) return right;
  const canBeEmpty = left.canBeEmpty && right.canBeEmpty;
  if (left.canBeEmpty || left.texts === undefined) return { canBeEmpty, texts: ANY_TEXT };
  const { prefix } = left.texts;
  const condition = conditionOf(left.texts, reading);
  return { canBeEmpty, texts: { prefix, suffix: [''], condition } };
}

function withTexts(canBeEmpty: boolean, texts: Texts | undefined): Knowledge {
  return texts === undefined ? { canBeEmpty } : { canBeEmpty, texts };
}

/** What is known of a text of which one of `cases`, at least one, is known. */
function joinTexts(cases: readonly Texts[], reading: Reading): Texts {
  const [only] = cases;
  if (cases.length === 1 && only !== undefined) return only;
  if (reading.textsLeft <= 0) return ANY_TEXT;
  for (const { prefix } of cases) reading.textsLeft -= prefix.length;
  if (cases.every(({ exact }) => exact !== undefined)) {
    const exact = [...new Set(cases.flatMap((one) => one.exact ?? []))];
    if (exact.length <= TEXT_COUNT_MAX) return exactly(exact);
  }
  return {
    prefix: fewest(
      cases.flatMap(({ prefix }) => prefix),
      'start',
    ),
    suffix: fewest(
      cases.flatMap(({ suffix }) => suffix),
      'end',
    ),
    condition: counted(cases.map((one) => conditionOf(one, reading)).reduce(either), reading),
  };
}

/** The condition; what it takes to make and compare it is counted like texts. */
function counted(condition: Condition, reading: Reading): Condition {
  reading.textsLeft -= countLiterals(condition);
  return condition;
}

function followTexts(left: Texts, right: Texts, reading: Reading): Texts {
  const across = product(left.suffix, right.prefix, reading);
  if (left.exact && right.exact && across) return exactly(across);
  const sides = counted(both(conditionOf(left, reading), conditionOf(right, reading)), reading);
  return {
    prefix: left.exact ? (product(left.exact, right.prefix, reading) ?? left.exact) : left.prefix,
    suffix: right.exact
      ? (product(left.suffix, right.exact, reading) ?? right.exact)
      : right.suffix,
    condition: across ? both(sides, someOf(across, reading)) : sides,
  };
}

/** Every text of `left` before every one of `right`; undefined if that is too much for what it says. */
function product(
  left: readonly string[],
  right: readonly string[],
  reading: Reading,
): readonly string[] | undefined {
  if (left.length * right.length > TEXT_COUNT_MAX) return undefined;
  if (isWasteful(left, right) || isWasteful(right, left)) return undefined;
  reading.textsLeft -= left.length * right.length;
  const texts = new Set(left.flatMap((first) => right.map((second) => first + second)));
  const list = [...texts];
  return list.some((text) => isLongerThan(text, TEXT_LENGTH_MAX)) ? undefined : list;
}

function isWasteful(texts: readonly string[], set: readonly string[]): boolean {
  const isSet = set.length > FEW && set.every((text) => !isLongerThan(text, 1));
  return isSet && texts.every((text) => isLongerThan(text, ENOUGH_LENGTH - 1));
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
  if (text.length <= size) return text;
  const points = Array.from(text);
  if (points.length <= size) return text;
  return (side === 'start' ? points.slice(0, size) : points.slice(-size)).join('');
}

/** Those of `texts`, which are distinct, of which no other one is the beginning, or the end. */
function withoutLonger(texts: readonly string[], side: 'start' | 'end'): readonly string[] {
  const known = new Set(texts);
  const lengths = [...new Set(texts.map(({ length }) => length))];
  const partOf = (text: string, length: number): string =>
    side === 'start' ? text.slice(0, length) : text.slice(text.length - length);
  return texts.filter(
    (text) => !lengths.some((length) => length < text.length && known.has(partOf(text, length))),
  );
}
