// The score of a doc whose content matched (API.md 6.7), from one walk over its ranges: how often
// and how well its atoms match, the symbol that they cover best, how near together they stand, and
// what they cover of the base name of its path. All is worked out in f64 in a fixed order, so that
// it is the same wherever the doc lies.
//
//   text    mean over the atoms of sum / (sum + 0.3 + 0.9 for each 10,000 bytes); the sum has 1 for
//           a range, 1 more for a whole word, 4 more in a symbol
//   symbol  of the best one: share of the atoms in it x share of its letters that they cover
//           x (1 + points of its kind + 0.2 if all are spelled exactly)
//   name    share of the base name's letters that atoms cover, share of atoms that are words of it
//   near    most atoms on one line, within 600 bytes, and next to each other as the query has them
//
// Measured: 2026-11-22: on 192 queries over four trees 0.82 of the reciprocal rank of what was
// meant, where the best range alone gave 0.54.

import { findByte } from '../scan/newlines.ts';
import { SYMBOL_KIND_POINTS } from '../shared/kinds.ts';
import { NODE_SYMBOL, NODE_TEXT } from '../shared/plan.ts';
import { SYMBOL_OTHER } from '../shared/symbols.ts';
import { hasSymbols } from '../shard/symbols.ts';
import { isWordBorder } from '../text/words.ts';
import { boundView } from './bound.ts';
import { current } from './current.ts';
import { activeInContent, Atom, atomAt, SLOT_COUNT } from './node.ts';
import { coverName, isNamePart, nameShare, nameWords } from './name-cover.ts';
import { Range } from './ranges.ts';
import { meetsSymbol, walk } from './symbol-walk.ts';

const UNIT: f64 = 10_000;

const SUM_RANGE: f64 = 1;
const SUM_WORD: f64 = 1;
const SUM_SYMBOL: f64 = 4;
/** What the sum of an atom is measured against: of every doc, and for each byte. */
const SUM_HALF: f64 = 0.3;
const SUM_HALF_BYTE: f64 = 0.9 / 10_000;

const TEXT_LONE: f64 = 0.4;
const TEXT_SEVERAL: f64 = 0.75;
const KIND_LONE: f64 = 0.8;
const KIND_SEVERAL: f64 = 0.2;
const EXACT: f64 = 0.2;
const NAME_LETTERS: f64 = 0.5;
const NAME_WORDS: f64 = 0.3;
const NEAR: f64 = 0.3;
/** Of docs in tests, vendored and generated ones. */
const TIER: f64 = 0.7;

const WINDOW: usize = 600;
/** No symbol gives a lone atom much more. */
const SYMBOL_ENOUGH: f64 = 1.8;
/** Ranges of a lone atom that are looked at where there are no symbols: its sum says no more then. */
const RANGES_ENOUGH: u32 = 64;

/** What the ranges of the current doc have given so far. Addresses. */
@unmanaged
class DocScore {
  slots: u32; // those of the active atoms, a bit each
  slotCount: u32;
  rangeCount: u32;
  // The symbol that the last range overlaps:
  symbolStart: usize; // 0: none yet
  symbolSlots: u32; // the atoms in it
  symbolLetters: u32; // letters and digits of its name
  symbolCovered: u32; // those of them in ranges
  isExact: bool; // all of these are spelled as the query is
  // The last range:
  start: usize; // 0: there was none
  end: usize;
  slot: u32;
  lineSlots: u32; // the atoms on its line, up to it
  run: u32; // atoms in a row, up to it
  // The best so far:
  symbol: f64;
  line: u32;
  window: u32;
  row: u32;
}
const score = changetype<DocScore>(memory.data(80, 8));
if (offsetof<DocScore>() > 80) ERROR('DocScore: size');

/** By slot: the sum, f64; where the last range starts. */
const sums = memory.data(8 * SLOT_COUNT, 8);
const starts = memory.data(4 * SLOT_COUNT, 4);

/** Begins the score of the current doc, whose active atoms are known (evaluate.ts). */
export function beginScore(): void {
  memory.fill(changetype<usize>(score), 0, offsetof<DocScore>());
  memory.fill(sums, 0, 8 * SLOT_COUNT);
  memory.fill(starts, 0, 4 * SLOT_COUNT);
  for (let i: u32 = 0; i < activeInContent.count; i++)
    score.slots |= 1 << atomAt(activeInContent, i).slot;
  score.slotCount = popcnt(score.slots);
}

/** Whether further ranges of a lone atom say nothing but that they are there. */
export function isScoreSettled(): bool {
  if (activeInContent.count > 1) return false;
  return hasSymbols(boundView)
    ? score.symbol >= SYMBOL_ENOUGH
    : score.rangeCount >= RANGES_ENOUGH;
}

/** Counts ranges of a lone atom beyond those that were looked at. */
export function scoreRest(count: u32): void {
  addSum(atomAt(activeInContent, 0).slot, <f64>count * SUM_RANGE);
}

@inline
function addSum(slot: u32, points: f64): void {
  const sum = sums + (<usize>slot << 3);
  store<f64>(sum, load<f64>(sum) + points);
}

/** Looks at the next range; their starts ascend. A symbol walk goes along (symbol-walk.ts). */
export function scoreRange(range: Range): void {
  const isWord =
    isWordBorder(range.start, current.start, current.end) &&
    isWordBorder(range.end, current.start, current.end);
  const isInSymbol = meetsSymbol(range.start, range.end);
  score.rangeCount++;
  addSum(range.slot, SUM_RANGE + (isWord ? SUM_WORD : 0) + (isInSymbol ? SUM_SYMBOL : 0));
  if (isInSymbol) scoreSymbol(range);
  if (score.slotCount > 1) scoreNear(range);
}

/** Counts a range for the symbol that it overlaps, the one that the walk stands on. */
function scoreSymbol(range: Range): void {
  if (walk.start != score.symbolStart) {
    score.symbolStart = walk.start;
    score.symbolSlots = 0;
    score.symbolLetters = countLetters(walk.start, walk.end);
    score.symbolCovered = 0;
    score.isExact = true;
  }
  score.symbolSlots |= 1 << range.slot;
  score.symbolCovered += countLetters(max(range.start, walk.start), min(range.end, walk.end));
  score.isExact = score.isExact && isSpelledExactly(range);
  if (score.symbolLetters == 0) return;
  // Safety: there are points for each kind up to SYMBOL_OTHER.
  const kind = <f64>unchecked(SYMBOL_KIND_POINTS[min(walk.kind, SYMBOL_OTHER)]) / 1000;
  const weight = score.slotCount == 1 ? KIND_LONE : KIND_SEVERAL;
  const atoms = <f64>popcnt(score.symbolSlots) / score.slotCount;
  const covered = <f64>score.symbolCovered / score.symbolLetters;
  const points = atoms * covered * (1 + weight * kind + (score.isExact ? EXACT : 0));
  score.symbol = max(score.symbol, points);
}

function countLetters(start: usize, end: usize): u32 {
  let count: u32 = 0;
  for (let ptr = start; ptr < end; ptr++) if (isNamePart(load<u8>(ptr))) count++;
  return count;
}

/** Whether a literal stands there letter for letter; what an expression matched never does. */
function isSpelledExactly(range: Range): bool {
  const atom = changetype<Atom>(range.atom);
  if (atom.kind != NODE_TEXT && atom.kind != NODE_SYMBOL) return false;
  const size = range.end - range.start;
  return size == atom.dataSize && memory.compare(range.start, atom.data, size) == 0;
}

/** Counts a range for the atoms on its line, near it, and in a row with it. */
function scoreNear(range: Range): void {
  const slot: u32 = 1 << range.slot;
  const isFirst = score.start == 0;
  const isNear = !isFirst && range.start - score.start <= WINDOW;
  if (!isNear || findByte(score.start, range.start, 10) < range.start) score.lineSlots = 0;
  score.lineSlots |= slot;
  score.line = max(score.line, popcnt(score.lineSlots));
  // A range starts at or behind the end of the one before.
  const follows = !isFirst && range.slot == score.slot + 1 && range.start - score.end <= 1;
  score.run = follows ? score.run + 1 : 1;
  score.row = max(score.row, score.run);
  store<u32>(starts + (<usize>range.slot << 2), <u32>range.start);
  score.window = max(score.window, countInWindow(range.start));
  score.start = range.start;
  score.end = range.end;
  score.slot = range.slot;
}

/** Atoms whose last range starts within the window that ends at `start`. */
function countInWindow(start: usize): u32 {
  let count: u32 = 0;
  for (let slot: u32 = 0; slot < SLOT_COUNT; slot++) {
    const last = <usize>load<u32>(starts + (<usize>slot << 2));
    if (last != 0 && start - last <= WINDOW) count++;
  }
  return count;
}

/** The score of the current doc, whose ranges have all been looked at or counted. */
export function docScore(tier: u32): u32 {
  const n = <f64>score.slotCount;
  const isLone = score.slotCount == 1;
  const near: f64 = isLone ? 3 : <f64>(score.line + score.window + score.row) / n;
  const parts =
    score.symbol + namePart() + (isLone ? TEXT_LONE : TEXT_SEVERAL) * textPart() + NEAR * near;
  return <u32>(UNIT * parts * (tier == 0 ? 1 : TIER));
}

function namePart(): f64 {
  coverName();
  return NAME_LETTERS * nameShare + (NAME_WORDS * <f64>popcnt(nameWords)) / <f64>score.slotCount;
}

function textPart(): f64 {
  const half = SUM_HALF + SUM_HALF_BYTE * <f64>(current.end - current.start);
  let total: f64 = 0;
  for (let slot: u32 = 0; slot < SLOT_COUNT; slot++) {
    const sum = load<f64>(sums + (<usize>slot << 3));
    if (sum > 0) total += sum / (sum + half);
  }
  return total / <f64>score.slotCount;
}
