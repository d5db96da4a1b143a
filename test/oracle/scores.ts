// The score of a doc (API.md 6.7) in the simplest way, and the points that order its chunks. Based on API.md and the
// results of brute-force.ts.

import { behindMark } from './brute-force.ts';
import type { BruteLeaf, BruteDoc, BruteMatch, BruteSymbol, ByteRange } from './brute-force.ts';

export interface OracleDoc extends BruteDoc {
  readonly tier: number;
}

const isWordByte = (byte: number | undefined): boolean =>
  byte !== undefined && /\w/.test(String.fromCharCode(byte));

function contentPoints(bytes: Uint8Array, [start, end]: ByteRange): number {
  const borders = [start, end].filter(
    (at) => isWordByte(bytes[at - 1]) !== isWordByte(bytes[at]),
  ).length;
  return [0, 50, 500][borders]!;
}

export const KINDS = [
  ['class', 1000],
  ['struct', 950],
  ['enum', 900],
  ['enumMember', 500],
  ['interface', 900],
  ['trait', 900],
  ['type', 800],
  ['union', 800],
  ['function', 800],
  ['method', 700],
  ['constructor', 700],
  ['property', 550],
  ['field', 550],
  ['constant', 500],
  ['variable', 400],
  ['macro', 550],
  ['module', 550],
  ['namespace', 550],
  ['package', 100],
  ['object', 800],
  ['section', 100],
  ['label', 100],
  ['other', 100],
] as const;

/** The first symbol that overlaps the range. */
export function symbolAt(
  { symbols = [] }: BruteDoc,
  [start, end]: ByteRange,
): BruteSymbol | undefined {
  return symbols.find((one) => one.start < end && one.start + one.size > start);
}

function symbolPoints(doc: BruteDoc, range: ByteRange): number {
  const symbol = symbolAt(doc, range);
  if (symbol === undefined) return 0;
  const edges = Number(symbol.start === range[0]) + Number(symbol.start + symbol.size === range[1]);
  return [4000, 5500, 7000][edges]! + KINDS[symbol.kind]![1];
}

export function bestPoints(doc: BruteDoc, ranges: readonly ByteRange[]): number {
  return Math.max(
    ...ranges.map((range) => contentPoints(doc.bytes, range) + symbolPoints(doc, range)),
  );
}

function pathPoints(path: Buffer, [start, end]: ByteRange): number {
  const base = path.lastIndexOf('/') + 1;
  const points = contentPoints(path, [start, end]);
  if (start < base) return points;
  const edges = (start === base ? 1 : 0) + (end === path.length ? 1 : 0);
  return points + [4000, 5500, 7000][edges]!;
}

const SLOTS_MAX = 16;
const WINDOW = 600;

/** A range with the number of its leaf. */
interface LeafRange {
  readonly start: number;
  readonly end: number;
  readonly slot: number;
  readonly leaf: BruteLeaf;
}

/** The ranges of a doc, each with the leaf that it is of: of equal ones that of a symbol, then the first. */
function leafRanges(leaves: readonly BruteLeaf[]): LeafRange[] {
  let last = 0;
  return leaves
    .flatMap((leaf, slot) =>
      leaf.ranges.map(([start, end]) => ({
        start,
        end,
        slot: Math.min(slot, SLOTS_MAX - 1),
        leaf,
      })),
    )
    .sort(
      (a, b) =>
        a.start - b.start ||
        b.end - a.end ||
        Number(b.leaf.isSymbol) - Number(a.leaf.isSymbol) ||
        a.slot - b.slot,
    )
    .filter(({ start, end }) => start >= last && ((last = end), true));
}

const isAsciiLetter = (byte: number): boolean =>
  byte >= 128 || /[a-z\d]/i.test(String.fromCharCode(byte));
const countLetters = (bytes: Uint8Array): number => bytes.filter(isAsciiLetter).length;

const FUNCTIONS = ['function', 'method', 'constructor'];

function kindPoints({ kind, parent }: BruteSymbol): number {
  const isInFunction = parent !== undefined && FUNCTIONS.includes(KINDS[parent.kind]![0]);
  return (KINDS[kind]![1] / 1000) * (isInFunction ? 0.5 : 1);
}

function isSpelled(bytes: Uint8Array, { start, end, leaf }: LeafRange): boolean {
  return (
    leaf.literal !== undefined && Buffer.compare(bytes.subarray(start, end), leaf.literal) === 0
  );
}

/** What the ranges in a symbol, the best so far of which is the last, give. */
function symbolPart(
  bytes: Uint8Array,
  symbol: BruteSymbol,
  ranges: readonly LeafRange[],
  n: number,
): number {
  const end = symbol.start + symbol.size;
  const letterCount = countLetters(bytes.subarray(symbol.start, end));
  if (letterCount === 0) return 0;
  const parts = ranges.map((range) =>
    bytes.subarray(Math.max(range.start, symbol.start), Math.min(range.end, end)),
  );
  const covered = parts.reduce((sum, part) => sum + countLetters(part), 0);
  const isWhole = covered === letterCount;
  const coverage = new Set(ranges.map(({ slot }) => slot)).size / n;
  if (n > 1) return coverage * (covered / letterCount) + (isWhole && coverage === 1 ? 0.5 : 0);
  const points = kindPoints(symbol);
  const whole = isWhole ? points + (isSpelled(bytes, ranges.at(-1)!) ? 0.5 : 0) : 0;
  return coverage * (covered / letterCount) * (1 + 0.8 * points) + whole;
}

/** By leaf the sum of what its ranges say, and the best symbol. */
function textAndSymbol(
  doc: BruteDoc,
  leaves: readonly BruteLeaf[],
  ranges: readonly LeafRange[],
  n: number,
): { text: number; symbol: number } {
  const sums = Array.from({ length: n }, () => 0);
  const isAlone = leaves.filter((leaf) => leaf.ranges.length > 0).length === 1;
  const inSymbol: LeafRange[] = [];
  let symbolOfLast: BruteSymbol | undefined;
  let best = 0;
  for (const [index, range] of ranges.entries()) {
    const span = [range.start, range.end] as const;
    // A lone leaf is settled by then: what follows counts as one range each.
    const isSettled = isAlone && ((doc.symbols ?? []).length === 0 ? index >= 64 : best >= 2.6);
    const symbol = isSettled ? undefined : symbolAt(doc, span);
    const isWord = !isSettled && contentPoints(doc.bytes, span) === 500;
    sums[range.slot]! += 1 + (isWord ? 1 : 0);
    if (!isSettled && isSpelled(doc.bytes, range)) sums[range.slot]! += 0.25;
    if (symbol === undefined) continue;
    if (symbol !== symbolOfLast) inSymbol.length = 0;
    symbolOfLast = symbol;
    inSymbol.push(range);
    best = Math.max(best, symbolPart(doc.bytes, symbol, inSymbol, n));
  }
  const half = 0.3 + (0.9 / 10_000) * behindMark(doc.bytes).length;
  return { text: sums.reduce((all, sum) => all + sum / (sum + half), 0) / n, symbol: best };
}

/** How many leaves the last of the ranges have, from the end back as long as each but the last `belongs` to the next. */
function leavesWhile(
  ranges: readonly LeafRange[],
  end: number,
  belongs: (range: LeafRange, next: LeafRange) => boolean,
): number {
  const slots = new Set<number>();
  for (let i = end; i >= 0 && (i === end || belongs(ranges[i]!, ranges[i + 1]!)); i--)
    slots.add(ranges[i]!.slot);
  return slots.size;
}

/** Most leaves on one line, within the window, and in a row. */
function nearPart({ bytes }: BruteDoc, ranges: readonly LeafRange[], n: number): number {
  if (n === 1) return 1;
  const isNear = (a: LeafRange, b: LeafRange): boolean => b.start - a.start <= WINDOW;
  const isOnLine = (a: LeafRange, b: LeafRange): boolean =>
    isNear(a, b) && !bytes.subarray(a.start, b.start).includes(10);
  const follows = (a: LeafRange, b: LeafRange): boolean =>
    b.slot === a.slot + 1 && b.start - a.end <= 1;
  let [line, window, row] = [0, 0, 0];
  for (const [index, last] of ranges.entries()) {
    line = Math.max(line, leavesWhile(ranges, index, isOnLine));
    window = Math.max(
      window,
      leavesWhile(ranges, index, (range) => isNear(range, last)),
    );
    row = Math.max(row, leavesWhile(ranges, index, follows));
  }
  return (line + window + row) / n;
}

/** What active leaves cover of the base name without its extension. */
function namePart({ path }: BruteDoc, leaves: readonly BruteLeaf[], n: number): number {
  const base = Buffer.from(path.slice(path.lastIndexOf('/') + 1)).toString('latin1');
  const name = base.replace(/(?<=.)\.[^.]*$/s, '').slice(0, 64);
  const small = name.replaceAll(/[A-Z]/g, (char) => char.toLowerCase());
  const covered = new Set<number>();
  const wholeWords = new Set<number>();
  const cover = (slot: number, start: number, end: number): void => {
    for (let i = start; i < end; i++) covered.add(i);
    if (isNameBorder(name, start) && isNameBorder(name, end))
      wholeWords.add(Math.min(slot, SLOTS_MAX - 1));
  };
  for (const [slot, { literal, isActive, rangesIn }] of leaves.entries()) {
    if (!isActive) continue;
    if (literal === undefined) {
      for (const [start, end] of rangesIn(Buffer.from(name, 'latin1'))) cover(slot, start, end);
      continue;
    }
    const needle = literal.toString('latin1').replaceAll(/[A-Z]/g, (char) => char.toLowerCase());
    for (let at = small.indexOf(needle); at >= 0; at = small.indexOf(needle, at + 1))
      cover(slot, at, at + needle.length);
  }
  const letterIndexes = name
    .split('')
    .flatMap((one, at) => (isAsciiLetter(one.charCodeAt(0)) ? [at] : []));
  const share =
    letterIndexes.filter((at) => covered.has(at)).length / Math.max(1, letterIndexes.length);
  const inPath = Math.min(n, leaves.filter(({ isInPath }) => isInPath).length) / n;
  const ofPath = n === 1 ? 0 : 0.3 * inPath + (inPath === 1 && share === 1 ? 0.8 : 0);
  return 0.5 * share + (share === 1 ? 0.3 : 0) + (0.3 * wholeWords.size) / n + ofPath;
}

function isNameBorder(name: string, at: number): boolean {
  const isPart = (index: number): boolean =>
    index >= 0 && index < name.length && isAsciiLetter(name.charCodeAt(index));
  return !isPart(at - 1) || !isPart(at) || /^[^A-Z][A-Z]$/s.test(name.slice(at - 1, at + 1));
}

/** In points; the tier is what those before it are multiplied by, but for the name. */
export interface OracleParts {
  readonly symbol: number;
  readonly name: number;
  readonly text: number;
  readonly near: number;
  readonly tier: number;
  readonly path: number;
  readonly leaves: number;
}

function contentParts({ doc, leaves }: BruteMatch): Omit<OracleParts, 'path' | 'leaves'> {
  const n = Math.min(leaves.length, SLOTS_MAX);
  const ranges = leafRanges(leaves);
  const { text, symbol } = textAndSymbol(doc, leaves, ranges, n);
  return {
    symbol,
    name: namePart(doc, leaves, n),
    text: (n === 1 ? 0.4 : 0.75) * text,
    near: 0.9 * nearPart(doc, ranges, n),
    tier: (doc as OracleDoc).tier === 0 ? 1 : 0.7,
  };
}

function pathScore({ doc, nameRanges, isWholePath, leaves }: BruteMatch): number {
  // What shows the whole path for want of anything else says nothing about it.
  if (isWholePath) return 0;
  const best = 4 * Math.max(...nameRanges.map((range) => pathPoints(Buffer.from(doc.path), range)));
  if (!leaves.some(({ isInPath }) => isInPath)) return best;
  return Math.max(
    best,
    Math.floor(10_000 * namePart(doc, leaves, Math.min(leaves.length, SLOTS_MAX))),
  );
}

const NOTHING = { symbol: 0, name: 0, text: 0, near: 0, tier: 0 };

function partsOf(match: BruteMatch): OracleParts {
  const [active, all] = match.share;
  const content = match.isByName ? NOTHING : contentParts(match);
  const path = match.isByName ? pathScore(match) : 0;
  return { ...content, path, leaves: all === 0 ? 0 : Math.floor((400 * active) / all) };
}

export function scoreOf(match: BruteMatch): number {
  const { symbol, name, text, near, tier, path, leaves } = partsOf(match);
  return Math.floor(10_000 * ((symbol + text + near) * tier + name)) + path + leaves;
}

/** As explain tells them. */
export function roundedParts(match: BruteMatch): OracleParts {
  const { symbol, name, text, near, ...rest } = partsOf(match);
  return {
    symbol: Math.round(10_000 * symbol),
    name: Math.round(10_000 * name),
    text: Math.round(10_000 * text),
    near: Math.round(10_000 * near),
    ...rest,
  };
}
