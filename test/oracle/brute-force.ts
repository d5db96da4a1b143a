// The search engine in a few lines: reads every doc, decodes it to code points, tries every position. Based only on
// API.md 6 and 9 and the syntax tree of the query, so that it can be checked by reading. Supports text, regular
// expressions (expressions.ts), sym:, file:, lang:, repo:. Ranges are in bytes.

import { decodeText, findPoints, type Point } from '../core/oracle.ts';
import { foldCodePoint } from '../../daemon/engine/regex/fold.ts';
import { expressionOf, matchesAnywhere, matchesOf } from './expressions.ts';
import type { QueryNode } from '../../daemon/engine/query/tree.ts';

export interface BruteDoc {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly language: string;
  readonly repo: string;
  /** Ascending, disjoint. */
  readonly symbols?: readonly BruteSymbol[];
}
export interface BruteSymbol {
  readonly start: number;
  readonly size: number;
  readonly kind: number;
  readonly parent?: { readonly name: string; readonly kind: number };
}
export type ByteRange = readonly [start: number, end: number];
/** A doc that matches. */
export interface BruteMatch {
  readonly doc: BruteDoc;
  /** In its content, and in its path. */
  readonly ranges: readonly ByteRange[];
  readonly nameRanges: readonly ByteRange[];
  /** It has no range in its content. */
  readonly isByName: boolean;
  /** Nothing was found: the one range is the whole path. */
  readonly isWholePath: boolean;
  /** Ranges that `sym:` asked for, joined by a dash. */
  readonly symbolRanges: ReadonlySet<string>;
  /** Leaves that hold, and all leaves, under no negation. */
  readonly share: readonly [active: number, all: number];
  /** Its leaves about content, under no negation, in the order of the query; inactive ones have no ranges. */
  readonly leaves: readonly BruteLeaf[];
}
export interface BruteMode {
  readonly isCaseSensitive: boolean;
  /** The leaves that are texts were given as patterns. */
  readonly isRegexEnabled?: boolean;
}
export interface BruteLeaf {
  readonly ranges: readonly ByteRange[];
  readonly isActive: boolean;
  readonly isSymbol: boolean;
  /** It is a word that the path has. */
  readonly isInPath: boolean;
  /** What it looks for; nothing: it is an expression. */
  readonly literal: Buffer | undefined;
  /** Its ranges in another text. */
  readonly rangesIn: (text: Uint8Array) => readonly ByteRange[];
}

const decoded = new WeakMap<Uint8Array, Point[]>();

function pointsOf(bytes: Uint8Array): Point[] {
  const points = decoded.get(bytes) ?? decodeText(bytes);
  decoded.set(bytes, points);
  return points;
}

const MARK = Buffer.from('\ufeff');
const texts = new WeakMap<Uint8Array, Uint8Array>();

/** What a file holds behind a byte order mark, which is no part of its text. The same object each time. */
export function behindMark(file: Uint8Array): Uint8Array {
  const cached = texts.get(file);
  if (cached !== undefined) return cached;
  const isMarked = Buffer.compare(file.subarray(0, MARK.length), MARK) === 0;
  const text = isMarked ? file.subarray(MARK.length) : file;
  texts.set(file, text);
  return text;
}

/** Ranges of a file, of those that are found in its text. */
function inFile(file: Uint8Array, find: (text: Uint8Array) => ByteRange[]): ByteRange[] {
  const text = behindMark(file);
  const skipped = file.length - text.length;
  return find(text).map(([start, end]): ByteRange => [start + skipped, end + skipped]);
}

const toPoints = (text: string): number[] => Array.from(text, (one) => one.codePointAt(0)!);

/** The text that bytes stand for; bad ones are U+FFFD. */
export function textOf(bytes: Uint8Array): string {
  return pointsOf(bytes)
    .map(({ point }) => String.fromCodePoint(point))
    .join('');
}

/** Where the code points of the text of a file begin. */
export function offsetsOf(file: Uint8Array): number[] {
  const text = behindMark(file);
  return pointsOf(text).map(({ offset }) => offset + file.length - text.length);
}

/** All ranges of `text`, from the left, not overlapping. */
function rangesOf(bytes: Uint8Array, text: string, isExact: boolean): ByteRange[] {
  const points = pointsOf(bytes);
  const literal = toPoints(text);
  const ranges: ByteRange[] = [];
  for (let from = 0; ;) {
    const found = findPoints(points, literal, from, isExact);
    if (found < 0) return ranges;
    from = found + literal.length;
    ranges.push([points[found]!.offset, points[from]?.offset ?? bytes.length]);
  }
}

/** All ranges of an expression, and whether it holds for a name, for which an empty match does. */
export function expressionRanges(
  bytes: Uint8Array,
  pattern: string,
  isExact: boolean,
): { ranges: ByteRange[]; matchesName: boolean } {
  const points = pointsOf(bytes);
  const expression = expressionOf(pattern, !isExact);
  const offsetOf = (index: number): number => points[index]?.offset ?? bytes.length;
  const ranges = matchesOf(expression, points).map(({ start, end }): ByteRange => [
    offsetOf(start),
    offsetOf(end),
  ]);
  return { ranges, matchesName: ranges.length > 0 || matchesAnywhere(expression, points) };
}

interface Found {
  readonly isMatch: boolean;
  readonly text?: ByteRange[];
  readonly path?: ByteRange[];
  readonly isSymbol?: boolean;
  /** Its ranges in the path show beside those in the content. */
  readonly isWord?: boolean;
}
type Leaf = (doc: BruteDoc, isExact: boolean) => Found;

/** What a leaf says of a doc. */
function leafOf(node: QueryNode): Leaf {
  if (node.kind === 'text')
    return ({ bytes, path: name }, isExact) => {
      const text = inFile(bytes, (one) => rangesOf(one, node.text, isExact));
      if (node.isOfContent === true) return some('text', text);
      const path = rangesOf(Buffer.from(name), node.text, isExact);
      return { isMatch: text.length + path.length > 0, text, path, isWord: true };
    };
  if (node.kind === 'regex')
    return ({ bytes }, isExact) =>
      some(
        'text',
        inFile(bytes, (text) => expressionRanges(text, node.pattern, isExact).ranges),
      );
  if (node.kind === 'value') return ({ language }) => ({ isMatch: language === node.value });
  if (node.kind !== 'pattern') throw new Error(`no leaf: ${node.kind}`);
  if (node.prefix === 'file')
    return ({ path }, isExact) => {
      const found = expressionRanges(Buffer.from(path), node.pattern, isExact);
      return { isMatch: found.matchesName, path: found.ranges };
    };
  if (node.prefix === 'sym')
    return ({ bytes, symbols = [] }, isExact) => {
      const ranges = symbols.flatMap(({ start, size }): ByteRange[] => {
        const name = bytes.subarray(start, start + size);
        const [first] = expressionRanges(name, node.pattern, isExact).ranges;
        return first === undefined ? [] : [[start + first[0], start + first[1]]];
      });
      return { ...some('text', ranges), isSymbol: true };
    };
  return ({ repo }) => ({
    isMatch: expressionRanges(Buffer.from(repo), node.pattern, true).matchesName,
  });
}

const some = (kind: 'text' | 'path', ranges: ByteRange[]): Found => ({
  isMatch: ranges.length > 0,
  [kind]: ranges,
});

/** A leaf under no negation; it is active if it and all above it hold. */
interface Requested {
  readonly node: QueryNode;
  readonly found: Found;
  readonly isActive: boolean;
}

/** Whether the tree holds, and its leaves under no negation. */
function evaluate(
  node: QueryNode,
  doc: BruteDoc,
  isExact: boolean,
): { isMatch: boolean; leaves: Requested[] } {
  if (node.kind === 'const') return { isMatch: node.value, leaves: [] };
  if (node.kind === 'not')
    return { isMatch: !evaluate(node.child, doc, isExact).isMatch, leaves: [] };
  if (node.kind !== 'and' && node.kind !== 'or') {
    const found = leafOf(node)(doc, isExact);
    return { isMatch: found.isMatch, leaves: [{ node, found, isActive: found.isMatch }] };
  }
  const parts = node.children.map((child) => evaluate(child, doc, isExact));
  const isMatch =
    node.kind === 'and' ? parts.every((part) => part.isMatch) : parts.some((part) => part.isMatch);
  const leaves = parts.flatMap((part) => part.leaves);
  return {
    isMatch,
    leaves: leaves.map((leaf) => ({ ...leaf, isActive: isMatch && leaf.isActive })),
  };
}

const isInContent = ({ kind, ...node }: QueryNode): boolean =>
  kind === 'text' || kind === 'regex' || ('prefix' in node && node.prefix === 'sym');

/** The text that a pattern stands for, if it is a literal; a name's may be held to begin or end there. */
function literalOf(node: QueryNode): string | undefined {
  if (node.kind === 'text') return node.text;
  if (node.kind !== 'regex' && node.kind !== 'pattern') return undefined;
  const literal = String.raw`((?:\\\W|[^\\^$.*+?()[\]{}|])+)`;
  const shape = node.kind === 'regex' ? literal : String.raw`(?:\^|\\b)?${literal}(?:\$|\\b)?`;
  const text = new RegExp(`^${shape}$`, 'u').exec(node.pattern)?.[1];
  return text?.replaceAll(/\\(\W)/gu, '$1');
}

/** Of a pattern whose letter case does not count nobody knows any more how it was typed: its letters are folded. */
function bruteLeafOf({ node, found, isActive }: Requested, mode: BruteMode): BruteLeaf {
  const ranges = isActive ? (found.text ?? []) : [];
  const typed = literalOf(node);
  const isPattern = node.kind === 'pattern' || mode.isRegexEnabled;
  const isFolded = isPattern && !mode.isCaseSensitive;
  const literal = isFolded && typed !== undefined ? foldText(typed) : typed;
  return {
    ranges,
    isActive,
    isSymbol: found.isSymbol === true,
    isInPath: isActive && found.isWord === true && found.path!.length > 0,
    literal: literal === undefined ? undefined : Buffer.from(literal),
    rangesIn: (text) =>
      node.kind === 'regex'
        ? expressionRanges(text, node.pattern, mode.isCaseSensitive).ranges
        : [],
  };
}

const foldText = (text: string): string =>
  String.fromCodePoint(...toPoints(text).map(foldCodePoint));

/** Sorted by start, at equal start the longest first; what overlaps a kept range is dropped. */
export function mergeRanges(ranges: readonly ByteRange[]): ByteRange[] {
  let end = 0;
  return [...ranges]
    .sort((a, b) => a[0] - b[0] || b[1] - a[1])
    .filter(([from, to]) => from >= end && ((end = to), true));
}

/** All docs that match, in the order given. */
export function bruteSearch(
  docs: readonly BruteDoc[],
  query: QueryNode,
  mode: BruteMode,
): BruteMatch[] {
  return docs.flatMap((doc) => {
    const { isMatch, leaves } = evaluate(query, doc, mode.isCaseSensitive);
    if (!isMatch) return [];
    const active = leaves.flatMap((leaf) => (leaf.isActive ? [leaf.found] : []));
    const matchedLeaves = leaves
      .filter(({ node }) => isInContent(node))
      .map((leaf) => bruteLeafOf(leaf, mode));
    const texts = mergeRanges(active.flatMap(({ text = [] }) => text));
    const paths = mergeRanges(active.flatMap(({ path = [] }) => path));
    const whole: ByteRange = [0, Buffer.byteLength(doc.path)];
    const words = mergeRanges(active.flatMap(({ path = [], isWord }) => (isWord ? path : [])));
    const byName = paths.length > 0 ? paths : [whole];
    const isByName = texts.length === 0;
    const nameRanges = isByName ? byName : words;
    const share = [active.length, leaves.length] as const;
    const isWholePath = isByName && paths.length === 0;
    const requested = active.flatMap(({ isSymbol, text = [] }) => (isSymbol === true ? text : []));
    const symbolRanges = new Set(requested.map((range) => range.join('-')));
    return [
      {
        doc,
        ranges: texts,
        nameRanges,
        isByName,
        isWholePath,
        share,
        symbolRanges,
        leaves: matchedLeaves,
      },
    ];
  });
}

export interface BruteLocation {
  readonly byteOffset: number;
  readonly lineNumber: number;
  readonly column: number;
}

const locations = new WeakMap<Uint8Array, Map<number, BruteLocation>>();

/** Where a code point begins, or the text ends: lines end with LF, columns count code points. */
export function locate(bytes: Uint8Array, byteOffset: number): BruteLocation | undefined {
  const cached = locations.get(bytes) ?? locationsOf(bytes);
  locations.set(bytes, cached);
  return cached.get(byteOffset);
}

function locationsOf(bytes: Uint8Array): Map<number, BruteLocation> {
  const found = new Map<number, BruteLocation>();
  const text = behindMark(bytes);
  let [lineNumber, column] = [1, 1];
  for (const { offset, point } of pointsOf(text)) {
    const byteOffset = offset + bytes.length - text.length;
    found.set(byteOffset, { byteOffset, lineNumber, column });
    if (point === 10) [lineNumber, column] = [lineNumber + 1, 1];
    else column++;
  }
  return found.set(bytes.length, { byteOffset: bytes.length, lineNumber, column });
}

function lineStarts(bytes: Uint8Array): number[] {
  const starts = [bytes.length - behindMark(bytes).length];
  for (const [index, byte] of bytes.entries()) if (byte === 10) starts.push(index + 1);
  if (starts.at(-1) !== bytes.length) starts.push(bytes.length);
  return starts;
}

/** The line of the last byte before `end`. */
function lastLine(bytes: Uint8Array, end: number): number {
  const { lineNumber } = locate(bytes, end)!;
  return bytes[end - 1] === 10 ? lineNumber - 1 : lineNumber;
}

export interface BruteChunk {
  readonly content: string;
  readonly start: number;
  readonly ranges: readonly ByteRange[];
}

/** The chunks of a doc by line: ranges whose lines, widened by the context, meet stand together. */
export function chunksOf(
  bytes: Uint8Array,
  ranges: readonly ByteRange[],
  context: number,
): BruteChunk[] {
  const groups: { first: number; last: number; ranges: ByteRange[] }[] = [];
  for (const range of ranges) {
    const first = locate(bytes, range[0])!.lineNumber;
    const last = lastLine(bytes, range[1]);
    const group = groups.at(-1);
    if (group !== undefined && group.last + context >= first - context) {
      group.last = Math.max(group.last, last);
      group.ranges.push(range);
    } else groups.push({ first, last, ranges: [range] });
  }
  const starts = lineStarts(bytes);
  return groups.map((group) => {
    const start = starts[Math.max(0, group.first - 1 - context)]!;
    const end = starts[Math.min(starts.length - 1, group.last + context)]!;
    return { content: textOf(bytes.subarray(start, end)), start, ranges: group.ranges };
  });
}
