// Docs whose base name consists of a query's words: heads (heads.ts), beside docs that define the
// named symbol. A single word is the whole name, `slab` of mm/slab.c, or the end of the path from
// some folder on. Several words are in the path, at least one in the base name; docs whose base
// name they cover most come first. Few groups of docs have all these grams (shard/path-grams.ts),
// and no list is read.

import { Arena } from '../base/arena.ts';
import { LETTER_BITS, NONE_ID, PATH_ROW_SIZE_MAX } from '../shared/format.ts';
import { NODE_TEXT } from '../shared/plan.ts';
import { findNeedle, foundEnd, HAYSTACK_FOLDS_INTO_ASCII } from '../scan/literal.ts';
import { docAt } from '../shard/open.ts';
import { pathRowOf } from '../shard/path-grams.ts';
import { getBit, setBit } from '../shard/piece.ts';
import { ShardView } from '../shard/view.ts';
import { LETTER_NEWLINE, textKey } from '../text/letters.ts';
import { decodedSize, decodeUtf8 } from '../text/utf8.ts';
import {
  addDocsOfBlob,
  ALL_DOCS,
  boundView,
  intersectBitmaps,
  isEmptyBitmap,
  newDocBitmap,
} from './bound.ts';
import { keyAt } from './grams.ts';
import { coverNameOf, nameWords } from './name-cover.ts';
import { Atom, atomAt, slotAtoms } from './node.ts';
import { TextAtom } from './text-atom.ts';

/** Bound: if this many docs have all words in their paths, the words are not a name. */
const FITTING_MAX: u32 = 256;
/** Most results; for one word the first ones, as all are equal. */
const NAMED_MAX: u32 = 8;
/** Bound: slots that are distinguished (near.ts). */
const WORDS_MAX: u32 = 16;

const PAIR_MASK: u32 = (1 << (2 * LETTER_BITS)) - 1;
const LETTER_SLASH: u32 = 47;
const LETTER_DOT: u32 = 46;

/** Groups that may have such a doc, a bit each. */
const groups = memory.data(128, 16);
if (PATH_ROW_SIZE_MAX > 128) ERROR('groups: size');

/** A doc found by name. */
@unmanaged
class Named {
  docId: u32;
  points: u32;
}
const named = memory.data(128, 4);
if (offsetof<Named>() * NAMED_MAX > 128) ERROR('named: size');
let namedCount: u32 = 0;

@inline
function namedAt(index: u32): Named {
  return changetype<Named>(named + <usize>index * offsetof<Named>());
}

/** Whether an open shard may have such docs. */
export function hasNamed(view: ShardView): bool {
  return findNamed(view, ALL_DOCS, true);
}

/**
 * The best of the bound shard among the visible docs (filters.ts), each with all docs of the same
 * content; 0: there are none.
 */
export function namedDocs(arena: Arena, sight: usize): usize {
  if (!findNamed(boundView, sight, false)) return 0;
  const docs = newDocBitmap(arena);
  if (docs == 0) return 0;
  for (let i: u32 = 0; i < namedCount; i++) {
    const docId = namedAt(i).docId;
    const blobId = docAt(boundView, docId).blobId;
    if (blobId == NONE_ID) setBit(docs, docId);
    else addDocsOfBlob(docs, blobId);
  }
  return docs;
}

/**
 * Lists the best visible docs; returns whether there are any.
 *
 * @param isTest  ends with the first doc; also true if more docs fit than are tested
 */
function findNamed(view: ShardView, sight: usize, isTest: bool): bool {
  namedCount = 0;
  if (!areWords() || !findGroups(view)) return false;
  const most = slotAtoms.count == 1 ? NAMED_MAX : FITTING_MAX;
  let fitting: u32 = 0;
  const shift = view.pathGroupShift;
  const groupCount = (view.docCount + (<u32>1 << shift) - 1) >> shift;
  for (let group: u32 = 0; group < groupCount; group++) {
    if (getBit(groups, group) == 0) continue;
    const end = min(view.docCount, (group + 1) << shift);
    for (let docId = group << shift; docId < end; docId++) {
      if (sight != ALL_DOCS && getBit(sight, docId) == 0) continue;
      if (!fits(view, docId)) continue;
      const points = pointsOf(view, docId);
      if (points > 0) insert(docId, points);
      fitting++;
      if (isTest && (points > 0 || fitting == most)) return true;
      if (fitting == most) return namedCount > 0;
    }
  }
  return namedCount > 0;
}

/** Whether all atoms are words searched in paths, of two letters or more. */
function areWords(): bool {
  if (slotAtoms.count == 0 || slotAtoms.count > WORDS_MAX) return false;
  for (let i: u32 = 0; i < slotAtoms.count; i++) {
    const atom = atomAt(slotAtoms, i);
    if (atom.kind != NODE_TEXT) return false;
    const text = changetype<TextAtom>(atom);
    if (changetype<usize>(text.path) == 0 || text.grams.letterCount < 2) return false;
  }
  return true;
}

/**
 * Finds the groups whose paths have the grams; false: there are none, or several words have no
 * gram.
 */
function findGroups(view: ShardView): bool {
  const size = view.pathRowSize;
  let hasGrams = slotAtoms.count == 1;
  memory.fill(groups, 0xff, PATH_ROW_SIZE_MAX);
  for (let i: u32 = 0; i < slotAtoms.count; i++) {
    const grams = changetype<TextAtom>(atomAt(slotAtoms, i)).grams;
    if (grams.letterCount < 3) continue;
    hasGrams = true;
    for (let k: u32 = 0; k < grams.keyCount; k++) {
      const row = pathRowOf(view, keyAt(grams, k));
      if (row == 0) return false;
      intersectBitmaps(groups, row, size);
    }
  }
  // Otherwise the paths of all docs would be scanned.
  if (!hasGrams) return false;
  if (slotAtoms.count == 1 && !keepWhole(view, changetype<TextAtom>(atomAt(slotAtoms, 0)))) return false;
  return !isEmptyBitmap(groups, size);
}

/**
 * Keeps the groups in which a word begins a path or a part of one, and ends one or precedes a dot.
 */
function keepWhole(view: ShardView, word: TextAtom): bool {
  const grams = word.grams;
  const first = grams.letterCount < 3 ? keyAt(grams, 0) & PAIR_MASK : keyAt(grams, 0) >> LETTER_BITS;
  const last = textKey(word.data, <usize>word.data + word.dataSize) & PAIR_MASK;
  return (
    keepEither(
      view,
      (LETTER_NEWLINE << (2 * LETTER_BITS)) | first,
      (LETTER_SLASH << (2 * LETTER_BITS)) | first,
    ) && keepEither(view, (last << LETTER_BITS) | LETTER_NEWLINE, (last << LETTER_BITS) | LETTER_DOT)
  );
}

/** Keeps the groups with either gram; false: no path has one. */
function keepEither(view: ShardView, one: u32, other: u32): bool {
  const size = view.pathRowSize;
  const first = pathRowOf(view, one);
  const second = pathRowOf(view, other);
  if (first == 0 && second == 0) return false;
  for (let i: u32 = 0; i < size; i += 8) {
    const bits =
      (first == 0 ? 0 : load<u64>(first + i)) | (second == 0 ? 0 : load<u64>(second + i));
    store<u64>(groups + i, load<u64>(groups + i) & bits);
  }
  return true;
}

/** Whether the doc's path has all words, or one word makes its name. */
function fits(view: ShardView, docId: u32): bool {
  const doc = docAt(view, docId);
  const start = <usize>view.paths + doc.pathOffset;
  const end = start + doc.pathSize;
  if (slotAtoms.count == 1) return isWhole(atomAt(slotAtoms, 0), start, end);
  for (let i: u32 = 0; i < slotAtoms.count; i++) {
    const needle = changetype<TextAtom>(atomAt(slotAtoms, i)).needle;
    if (findNeedle(needle, start, end, HAYSTACK_FOLDS_INTO_ASCII) >= end) return false;
  }
  return true;
}

/** How well the words cover the name of a doc that fits: 0 not at all, else 1 to 1,001. */
function pointsOf(view: ShardView, docId: u32): u32 {
  if (slotAtoms.count == 1) return 1;
  const doc = docAt(view, docId);
  const start = <usize>view.paths + doc.pathOffset;
  const share = coverNameOf(start, start + doc.pathSize, slotAtoms);
  return nameWords == 0 ? 0 : 1 + <u32>(1000 * share);
}

/**
 * Whether the word is the base name, with or without its extension, or a path's end from a folder
 * on.
 */
function isWhole(atom: Atom, start: usize, end: usize): bool {
  const needle = changetype<TextAtom>(atom).needle;
  let dot = end;
  while (dot > start && load<u8>(dot - 1) != LETTER_DOT && load<u8>(dot - 1) != LETTER_SLASH) dot--;
  const nameEnd = dot > start && load<u8>(dot - 1) == LETTER_DOT ? dot - 1 : end;
  for (let ptr = start; ptr < end; ) {
    const found = findNeedle(needle, ptr, end, HAYSTACK_FOLDS_INTO_ASCII);
    if (found >= end) return false;
    const isAtStart = found == start || load<u8>(found - 1) == LETTER_SLASH;
    if (isAtStart && (foundEnd() == end || foundEnd() == nameEnd)) return true;
    ptr = found + decodedSize(decodeUtf8(found, end));
  }
  return false;
}

/** Inserts a doc after those with as many points; drops the last one if there are too many. */
function insert(docId: u32, points: u32): void {
  let place = namedCount;
  if (namedCount < NAMED_MAX) namedCount++;
  else if (namedAt(NAMED_MAX - 1).points >= points) return;
  else place = NAMED_MAX - 1;
  for (; place > 0 && namedAt(place - 1).points < points; place--) {
    namedAt(place).docId = namedAt(place - 1).docId;
    namedAt(place).points = namedAt(place - 1).points;
  }
  namedAt(place).docId = docId;
  namedAt(place).points = points;
}
