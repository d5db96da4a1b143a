// The score of a doc whose content matched (API.md 6.7), from one walk over its ranges: how often
// and how well its leaves match, the symbol that they cover best, how near together they are, and
// what they cover of the path's base name. Computed in f64 in a fixed order, so that it does not
// depend on the doc's shard.
//
//   text    For each leaf, its ranges are summed up: more for a whole word, and for the spelling of the literal. The part is
//           the mean over the leaves of sum / (sum + HALF).
//   symbol  The part of the best symbol: share of the leaves in it x share of its letters that they cover. More if all
//           leaves together cover it whole. For a lone leaf, the kind of the symbol and the spelling also count.
//   name    Share of the base name's letters that leaves cover, more if that is all of them, and share of the leaves that
//           are words of it. For several leaves also the share of leaves in the path, more if all leaves are in the path
//           and cover the base name.
//   near    Most leaves on one line, most near together, and most in a row (near.ts).
//
// Leaves are counted by slots: those of the plan in content, under no negation. Leaves missing from
// the doc (sides of an `or`) count as zero.

import { SYMBOL_KIND_POINTS } from '../shared/kinds.ts';
import {
  NODE_SYMBOL,
  NODE_TEXT,
  SCORE_NAME_OFFSET,
  SCORE_NEAR_OFFSET,
  SCORE_SYMBOL_OFFSET,
  SCORE_TEXT_OFFSET,
  SCORE_TIER_OFFSET,
} from '../shared/plan.ts';
import { SYMBOL_CONSTRUCTOR, SYMBOL_FUNCTION, SYMBOL_OTHER } from '../shared/symbols.ts';
import { NO_PARENT, symbolParentAt } from '../shard/symbols.ts';
import { isWordBorder } from '../text/words.ts';
import { boundView } from './bound.ts';
import { current } from './current.ts';
import { slotCount } from './match-tree.ts';
import { coverName, isNamePart, nameShare, nameWords } from './name-cover.ts';
import {
  beginNear,
  leavesInRow,
  leavesInWindow,
  leavesOnLine,
  nearRange,
  slotBit,
  slotOf,
  SLOTS_MAX,
} from './near.ts';
import { activeInContent, activeWords, RangeLeaf, leafAt } from './node.ts';
import { Range } from './ranges.ts';
import { findSymbol, walk } from './symbol-walk.ts';

/** Points of a score of 1. */
const UNIT: f64 = 10_000;

const SUM_RANGE: f64 = 1;
const SUM_WORD: f64 = 1;
const SUM_SPELLED: f64 = 0.25;
/** HALF is SUM_HALF, plus SUM_HALF_BYTE for each byte of the doc: the sum that gets half of the points. */
const SUM_HALF: f64 = 0.3;
const SUM_HALF_BYTE: f64 = 0.9 / 10_000;

const TEXT_LONE: f64 = 0.4;
const TEXT_SEVERAL: f64 = 0.75;
const KIND_LONE: f64 = 0.8;
const WHOLE_LONE: f64 = 1;
const WHOLE_SEVERAL: f64 = 0.5;
const SPELLED: f64 = 0.5;
/** Factor of the kind's points for a symbol in a function. */
const NESTED: f64 = 0.5;
const NAME_LETTERS: f64 = 0.5;
const NAME_WHOLE: f64 = 0.3;
const NAME_WORDS: f64 = 0.3;
const NAME_PATH: f64 = 0.3;
const NAME_PATH_WHOLE: f64 = 0.8;
const NEAR: f64 = 0.9;
/** Factor for docs in tests, and for vendored and generated ones. */
const TIER: f64 = 0.7;

/** From this part on a lone leaf needs no better symbol: none gives much more. */
const SYMBOL_ENOUGH: f64 = 2.6;
/** Most ranges of a lone leaf to read if there are no symbols: its sum changes no more then. */
const RANGES_ENOUGH: u32 = 64;

/** Slots that are distinguished. */
let count: u32 = 0;
let rangeCount: u32 = 0;
let bestSymbol: f64 = 0;
/** An f64 for each slot: the sum of its ranges. */
const sums = memory.data(128, 8);
if (SLOTS_MAX * 8 > 128) ERROR('sums: size');

/** The leaves found so far in the symbol of the last range. */
@unmanaged
class SymbolCover {
  start: usize; // address; 0: there is none yet
  slots: u32; // its slots, a bit each
  letters: u32; // letters and digits of its name
  covered: u32; // those of them in ranges
}
const cover = changetype<SymbolCover>(memory.data(16, 8));
if (offsetof<SymbolCover>() > 16) ERROR('SymbolCover: size');

@unmanaged
class ScoreParts {
  symbol: f64;
  name: f64;
  text: f64;
  near: f64;
  tier: f64; // factor of all but the name
}
const scoreParts = changetype<ScoreParts>(memory.data(40, 8));
if (offsetof<ScoreParts>() > 40) ERROR('ScoreParts: size');

/** Begins the score of the current doc, whose active leaves are known (evaluate.ts). */
export function beginScore(): void {
  count = min(slotCount, SLOTS_MAX);
  rangeCount = 0;
  bestSymbol = 0;
  cover.start = 0;
  memory.fill(sums, 0, SLOTS_MAX * 8);
  beginNear();
}

/** Whether further ranges of a lone leaf do not change the score. */
export function isScoreSettled(): bool {
  if (activeInContent.count > 1) return false;
  return walk.isAtEnd ? rangeCount >= RANGES_ENOUGH : bestSymbol >= SYMBOL_ENOUGH;
}

/** Adds further ranges of a lone leaf, by their number. */
export function scoreRest(rest: u32): void {
  addSum(leafAt(activeInContent, 0).slot, <f64>rest * SUM_RANGE);
}

@inline
function addSum(slot: u32, points: f64): void {
  const sum = sums + (<usize>slotOf(slot) << 3);
  store<f64>(sum, load<f64>(sum) + points);
}

/** Adds the next range; starts must ascend. A symbol walk runs along (symbol-walk.ts). */
export function scoreRange(range: Range): void {
  const isWord =
    isWordBorder(range.start, current.start, current.end) &&
    isWordBorder(range.end, current.start, current.end);
  rangeCount++;
  const isSpelled = isSpelledAlike(range);
  addSum(range.slot, SUM_RANGE + (isWord ? SUM_WORD : 0) + (isSpelled ? SUM_SPELLED : 0));
  if (findSymbol(range.start, range.end)) scoreSymbol(range, isSpelled);
  if (count > 1) nearRange(range, count);
}

/** Adds a range to its symbol, the walk's current one. */
function scoreSymbol(range: Range, isSpelled: bool): void {
  if (walk.start != cover.start) beginCover();
  cover.slots |= slotBit(range.slot);
  cover.covered += countLetters(max(range.start, walk.start), min(range.end, walk.end));
  if (cover.letters > 0) bestSymbol = max(bestSymbol, symbolPart(isSpelled));
}

function beginCover(): void {
  cover.start = walk.start;
  cover.slots = 0;
  cover.letters = countLetters(walk.start, walk.end);
  cover.covered = 0;
}

function symbolPart(isSpelled: bool): f64 {
  const leaves = <f64>popcnt(cover.slots) / count;
  const covered = <f64>cover.covered / cover.letters;
  const isWhole = cover.covered == cover.letters;
  if (count > 1) return leaves * covered + (isWhole && leaves == 1 ? WHOLE_SEVERAL : 0);
  const points = kindPoints();
  const whole = isWhole ? WHOLE_LONE * points + (isSpelled ? SPELLED : 0) : 0;
  return leaves * covered * (1 + KIND_LONE * points) + whole;
}

/** Points of the kind of the walk's current symbol, at most 1. */
function kindPoints(): f64 {
  // Safety: every kind up to SYMBOL_OTHER has points.
  const points = <f64>unchecked(SYMBOL_KIND_POINTS[min(walk.kind, SYMBOL_OTHER)]) / 1000;
  if (walk.parent == NO_PARENT) return points;
  const parent = <u32>symbolParentAt(boundView, walk.parent).kind;
  const isInFunction = parent >= SYMBOL_FUNCTION && parent <= SYMBOL_CONSTRUCTOR;
  return isInFunction ? NESTED * points : points;
}

/** Whether the range has the exact spelling of its leaf's literal. */
function isSpelledAlike(range: Range): bool {
  const leaf = changetype<RangeLeaf>(<usize>range.leaf);
  if (leaf.kind != NODE_TEXT && leaf.kind != NODE_SYMBOL) return false;
  const size = range.end - range.start;
  return size == leaf.dataSize && memory.compare(range.start, leaf.data, size) == 0;
}

function countLetters(start: usize, end: usize): u32 {
  let letters: u32 = 0;
  for (let ptr = start; ptr < end; ptr++) if (isNamePart(load<u8>(ptr))) letters++;
  return letters;
}

/** The score of the current doc, after all ranges were added or counted. */
export function docScore(tier: u32): u32 {
  const parts = scoreParts;
  parts.symbol = bestSymbol;
  parts.name = namePart();
  parts.text = (count == 1 ? TEXT_LONE : TEXT_SEVERAL) * textPart();
  parts.near = NEAR * nearPart();
  parts.tier = tier == 0 ? 1 : TIER;
  return <u32>(UNIT * ((parts.symbol + parts.text + parts.near) * parts.tier + parts.name));
}

/** Writes the parts of the last docScore to `out` (SCORE_*). */
export function writeScoreParts(out: usize): void {
  store<f64>(out, UNIT * scoreParts.symbol, SCORE_SYMBOL_OFFSET);
  store<f64>(out, UNIT * scoreParts.name, SCORE_NAME_OFFSET);
  store<f64>(out, UNIT * scoreParts.text, SCORE_TEXT_OFFSET);
  store<f64>(out, UNIT * scoreParts.near, SCORE_NEAR_OFFSET);
  store<f64>(out, scoreParts.tier, SCORE_TIER_OFFSET);
}

function namePart(): f64 {
  coverName();
  const letters = NAME_LETTERS * nameShare + (nameShare == 1 ? NAME_WHOLE : 0);
  return letters + (NAME_WORDS * <f64>popcnt(nameWords)) / count + (count > 1 ? pathPart() : 0);
}

/** For several leaves: how many of them are in the path. */
function pathPart(): f64 {
  const share = <f64>min(activeWords.count, count) / count;
  return NAME_PATH * share + (share == 1 && nameShare == 1 ? NAME_PATH_WHOLE : 0);
}

/** The score of a doc without ranges in its content, by its name. */
export function nameScore(): u32 {
  count = min(slotCount, SLOTS_MAX);
  return <u32>(UNIT * namePart());
}

function textPart(): f64 {
  const half = SUM_HALF + SUM_HALF_BYTE * <f64>(current.end - current.start);
  let total: f64 = 0;
  for (let slot: u32 = 0; slot < count; slot++) {
    const sum = load<f64>(sums + (<usize>slot << 3));
    total += sum / (sum + half);
  }
  return total / count;
}

function nearPart(): f64 {
  return count == 1 ? 1 : <f64>(leavesOnLine + leavesInWindow + leavesInRow) / count;
}
