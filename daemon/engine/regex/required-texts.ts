// Computes bottom-up the texts that an expression matches: all if they are few, else prefixes, suffixes and required inner
// texts. Assertions count as empty: the result is necessary for a non-empty match, not sufficient. Source: R. Cox,
// https://swtch.com/~rsc/regexp/regexp4.html.

import { ALL, anyOf, both, type Condition, countLiterals, either } from './condition.ts';
import { foldCodePoint } from './fold.ts';
import type { SetNode, SimpleRepeatNode, SimpleTree } from './simple-tree.ts';

/** Most texts of one list. */
const TEXT_COUNT_MAX = 64;
/** Most members of a listed set. */
const SET_COUNT_MAX = 16;
/** Most members of a set whose runs are listed, such as whitespace. */
const GAP_COUNT_MAX = 6;
/** Most listed copies of a repeated part. */
const COPY_COUNT_MAX = 16;
/** Code points on either side of a gap that are analysed together with it. */
const GAP_CONTEXT = 2;

/** Describes all non-empty matches; `exact`, if present, is all matches, and equals the other two lists. */
export interface Texts {
  readonly exact?: readonly string[];
  /** Every match begins with one of these. */
  readonly prefix: readonly string[];
  readonly suffix: readonly string[];
  /** Required in every match, besides `exact`. */
  readonly condition: Condition;
}

export interface RequiredTexts {
  readonly canBeEmpty: boolean;
  /** Absent: only the empty match. */
  readonly texts?: Texts;
  /** If present, one of these describes each non-empty match: more specific than `texts`, which describes all. */
  readonly cases?: readonly Texts[];
}

export interface TextOptions {
  readonly isFolded: boolean;
  /** Fewest code points of a literal in a condition. */
  readonly literalMin: number;
  /**
   * Runs of few kinds of characters are distinguished from single ones: the texts on both sides of whitespace are known. Texts
   * may contain newlines then; a literal of a condition may begin or end with one.
   */
  readonly hasGaps?: boolean;
}

type List = readonly string[];
type Side = 'start' | 'end';

const ANY_TEXT: Texts = { prefix: [''], suffix: [''], condition: ALL };

interface Reading extends TextOptions {
  remainingTexts: number;
}

/** No text contains a newline, unless there are gaps. Bound: texts and literals made. Measured: 2026-11-21: some 10 ms. */
export function requiredTextsOf(tree: SimpleTree, options: TextOptions): RequiredTexts {
  return ofTree(tree, { ...options, remainingTexts: 10_000 });
}

function ofTree(tree: SimpleTree, reading: Reading): RequiredTexts {
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

/** Required in every non-empty match. */
export function conditionOf(texts: Texts, options: TextOptions): Condition {
  return texts.exact === undefined ? texts.condition : someOf(texts.exact, options);
}

function someOf(texts: List, options: TextOptions): Condition {
  const { literalMin, hasGaps } = options;
  const isLong = (text: string): boolean =>
    text.length >= 2 * literalMin || lengthOf(text) >= literalMin;
  if (!hasGaps) return texts.every(isLong) ? anyOf(texts) : ALL;
  const lines = texts.map((text) => linesOf(text).filter(isLong));
  if (lines.some(({ length }) => length === 0)) return ALL;
  const single = lines.flatMap((texts) => (texts.length === 1 ? texts : []));
  const several = lines.filter(({ length }) => length > 1);
  return several
    .map((texts) => texts.map((line) => anyOf([line])).reduce(both))
    .reduce(either, anyOf(single));
}

/** The lines of a text, each with the newlines around it, since a block has these grams; none is empty. */
function linesOf(text: string): List {
  if (!text.includes('\n')) return [text];
  const lines = text.split('\n');
  const last = lines.length - 1;
  return lines.flatMap((line, index) =>
    line === '' ? [] : [`${index > 0 ? '\n' : ''}${line}${index < last ? '\n' : ''}`],
  );
}

function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

function exactly(texts: List): Texts {
  return { exact: texts, prefix: texts, suffix: texts, condition: ALL };
}

function ofSet({ ranges }: SetNode, { isFolded, hasGaps }: TextOptions): RequiredTexts {
  if (ranges.length === 0) return { canBeEmpty: false };
  const unknown = { canBeEmpty: false, texts: ANY_TEXT };
  const members = new Set<string>();
  let count = 0;
  for (const { start, end } of ranges) {
    count += end - start;
    // Why: at most 4 code points fold together.
    if (count > 4 * SET_COUNT_MAX) return unknown;
    if (!hasGaps && start <= 0x0a && end > 0x0a) return unknown;
    for (let codePoint = start; codePoint < end; codePoint++)
      members.add(String.fromCodePoint(isFolded ? foldCodePoint(codePoint) : codePoint));
  }
  return members.size > SET_COUNT_MAX
    ? unknown
    : { canBeEmpty: false, texts: exactly([...members]) };
}

function ofRepeat(node: SimpleRepeatNode, reading: Reading): RequiredTexts {
  const { min, max } = node;
  const child = ofTree(node.child, reading);
  if (max === undefined && min <= 1)
    return { ...several(child, reading), canBeEmpty: min === 0 || child.canBeEmpty };
  let tail: RequiredTexts = { canBeEmpty: true };
  if (max !== undefined && max <= COPY_COUNT_MAX && max - min <= 4) {
    for (let count = max; count > min; count--)
      tail = { ...follow(child, tail, reading), canBeEmpty: true };
  } else if (max !== min || min > COPY_COUNT_MAX) {
    tail = { ...several(child, reading), canBeEmpty: true };
  }
  let copies: RequiredTexts = { canBeEmpty: true };
  for (let count = Math.min(min, COPY_COUNT_MAX); count > 0; count--)
    copies = follow(copies, child, reading);
  return follow(copies, tail, reading);
}

function several(child: RequiredTexts, reading: Reading): RequiredTexts {
  if (child.texts === undefined) return child;
  const { prefix, suffix } = child.texts;
  const texts = { prefix, suffix, condition: conditionOf(child.texts, reading) };
  const cases = reading.hasGaps ? casesOfGap(child.texts) : undefined;
  const { canBeEmpty } = child;
  return cases ? { canBeEmpty, texts, cases } : { canBeEmpty, texts };
}

/** One character of a few, or several; undefined for longer texts and for more characters. */
function casesOfGap({ exact }: Texts): readonly Texts[] | undefined {
  if (exact === undefined || exact.length > GAP_COUNT_MAX) return undefined;
  if (exact.some((text) => lengthOf(text) !== 1)) return undefined;
  const pairs = exact.flatMap((first) => exact.map((second) => first + second));
  return [exactly(exact), { prefix: pairs, suffix: pairs, condition: ALL }];
}

function ofSequence(children: readonly SimpleTree[], reading: Reading): RequiredTexts {
  const parts: RequiredTexts[] = [];
  // Single texts are joined first: long texts need no set beside them.
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

function isSingle({ canBeEmpty, texts }: RequiredTexts): boolean {
  return !canBeEmpty && texts?.exact?.length === 1;
}

function ofChoice(children: readonly SimpleTree[], reading: Reading): RequiredTexts {
  const parts = children.map((child) => ofTree(child, reading));
  const present = parts.flatMap(({ texts }) => (texts === undefined ? [] : [texts]));
  const canBeEmpty = parts.some((part) => part.canBeEmpty);
  return withTexts(canBeEmpty, present.length === 0 ? undefined : joinTexts(present, reading));
}

/** The texts of `left` followed by `right`. */
function follow(left: RequiredTexts, right: RequiredTexts, reading: Reading): RequiredTexts {
  if (reading.remainingTexts <= 0) return withoutEnd(left, right, reading);
  const lefts = right.cases ? casesOf(left).map((one) => beforeGap(one, reading)) : casesOf(left);
  const rights = left.cases ? casesOf(right).map((one) => behindGap(one, reading)) : casesOf(right);
  const cases = lefts.flatMap((one) => rights.map((other) => followTexts(one, other, reading)));
  if (reading.remainingTexts <= 0) return withoutEnd(left, right, reading);
  if (right.canBeEmpty) cases.push(...lefts);
  if (left.canBeEmpty) cases.push(...rights);
  const texts = cases.length === 0 ? undefined : joinTexts(cases, reading);
  const all = withTexts(left.canBeEmpty && right.canBeEmpty, texts);
  // Distinguished up to the next part: only then are the texts on both sides of the gap known.
  return right.cases && cases.length <= 6 ? { ...all, cases } : all;
}

/** As follow, with only the prefix analysed. */
function withoutEnd(left: RequiredTexts, right: RequiredTexts, reading: Reading): RequiredTexts {
  if (left.canBeEmpty && left.texts === undefined) return right;
  const canBeEmpty = left.canBeEmpty && right.canBeEmpty;
  if (left.canBeEmpty || left.texts === undefined) return { canBeEmpty, texts: ANY_TEXT };
  const { prefix } = left.texts;
  const condition = conditionOf(left.texts, reading);
  return { canBeEmpty, texts: { prefix, suffix: [''], condition } };
}

/** Cuts texts before a gap to their last characters: only these matter. */
function beforeGap(texts: Texts, reading: Reading): Texts {
  if (!texts.suffix.some((text) => text.length > GAP_CONTEXT)) return texts;
  const suffix = cutAll(texts.suffix, GAP_CONTEXT, 'end');
  return { prefix: texts.prefix, suffix, condition: conditionOf(texts, reading) };
}

function behindGap(texts: Texts, reading: Reading): Texts {
  if (!texts.prefix.some((text) => text.length > GAP_CONTEXT)) return texts;
  const prefix = cutAll(texts.prefix, GAP_CONTEXT, 'start');
  return { prefix, suffix: texts.suffix, condition: conditionOf(texts, reading) };
}

function casesOf({ cases, texts }: RequiredTexts): readonly Texts[] {
  return cases ?? (texts === undefined ? [] : [texts]);
}

function withTexts(canBeEmpty: boolean, texts: Texts | undefined): RequiredTexts {
  return texts === undefined ? { canBeEmpty } : { canBeEmpty, texts };
}

/** Describes a text that one of `cases`, at least one, describes. */
function joinTexts(cases: readonly Texts[], reading: Reading): Texts {
  const [only] = cases;
  if (cases.length === 1 && only !== undefined) return only;
  if (reading.remainingTexts <= 0) return ANY_TEXT;
  for (const { prefix } of cases) reading.remainingTexts -= prefix.length;
  if (cases.every(({ exact }) => exact !== undefined)) {
    const exact = [...new Set(cases.flatMap((one) => one.exact ?? []))];
    if (exact.length <= TEXT_COUNT_MAX) return exactly(exact);
  }
  const [prefixes, suffixes] = [
    cases.flatMap(({ prefix }) => prefix),
    cases.flatMap(({ suffix }) => suffix),
  ];
  const condition = cases.map((one) => conditionOf(one, reading)).reduce(either);
  return {
    prefix: fewest(prefixes, 'start'),
    suffix: fewest(suffixes, 'end'),
    condition: counted(condition, reading),
  };
}

/** The literals count towards the limit of texts. */
function counted(condition: Condition, reading: Reading): Condition {
  reading.remainingTexts -= countLiterals(condition);
  return condition;
}

function followTexts(left: Texts, right: Texts, reading: Reading): Texts {
  const { exact } = left;
  const across = cross(left.suffix, right.prefix, reading);
  if (exact && right.exact) {
    const texts = product(exact, right.exact, reading);
    if (texts !== undefined) return exactly(texts);
  }
  const sides = counted(both(conditionOf(left, reading), conditionOf(right, reading)), reading);
  return {
    prefix: exact ? (product(exact, right.prefix, reading) ?? exact) : left.prefix,
    suffix: right.exact ? endsBefore(left.suffix, right.exact, reading) : right.suffix,
    condition: across ? both(sides, someOf(across, reading)) : sides,
  };
}

/** Suffixes of texts that end with one of `ends` followed by one of `last`. */
function endsBefore(ends: List, last: List, reading: Reading): List {
  const longer = product(ends, last, reading);
  if (longer !== undefined) return longer;
  if (!reading.hasGaps) return last;
  const cut = cutAll(ends, GAP_CONTEXT, 'end');
  return product(cut, last, reading) ?? product(cutAll(cut, 1, 'end'), last, reading) ?? last;
}

/** Texts across the border; undefined if there are too many. */
function cross(ends: List, prefixes: List, reading: Reading): List | undefined {
  const across = product(ends, prefixes, reading);
  if (across !== undefined || !reading.hasGaps) return across;
  const left = cutAll(ends, GAP_CONTEXT, 'end');
  return product(left, cutAll(prefixes, GAP_CONTEXT, 'start'), reading);
}

function product(left: List, right: List, reading: Reading): List | undefined {
  if (left.length * right.length > TEXT_COUNT_MAX) return undefined;
  const few = reading.hasGaps ? GAP_COUNT_MAX : 4;
  if (isWasteful(left, right, few) || isWasteful(right, left, few)) return undefined;
  reading.remainingTexts -= left.length * right.length;
  const texts = new Set<string>();
  for (const first of left) for (const second of right) texts.add(first + second);
  const product = [...texts];
  return product.some(isTooLong) ? undefined : product;
}

/** Unit: code points. */
function isTooLong(text: string): boolean {
  return text.length > 100 && lengthOf(text) > 100;
}

/** Behind longer texts, a set of more than a few members adds mainly work. */
function isWasteful(texts: List, set: List, few: number): boolean {
  const isSet = set.length > few && set.every((text) => lengthOf(text) <= 1);
  return isSet && texts.every((text) => lengthOf(text) >= 3);
}

/** Prefixes or suffixes that cover all `texts`: at most TEXT_COUNT_MAX, none part of another. */
export function fewest(texts: List, side: Side): List {
  for (const length of [Infinity, 6, 4, 3, 2, 1]) {
    const cut = cutAll(texts, length, side);
    if (cut.length <= TEXT_COUNT_MAX) return cut;
  }
  return [''];
}

function cutAll(texts: List, length: number, side: Side): List {
  const cut = length === Infinity ? texts : texts.map((text) => cutTo(text, length, side));
  return withoutLonger([...new Set(cut)], side);
}

function cutTo(text: string, size: number, side: Side): string {
  if (text.length <= size) return text;
  const points = Array.from(text);
  return (side === 'start' ? points.slice(0, size) : points.slice(-size)).join('');
}

function withoutLonger(texts: List, side: Side): List {
  const all = new Set(texts);
  return texts.filter((text) => {
    for (let size = 0; size < text.length; size++) {
      if (all.has(side === 'start' ? text.slice(0, size) : text.slice(-size || text.length)))
        return false;
    }
    return true;
  });
}
