// Finds the docs that a query names by their paths; they are heads (heads.ts). A single word must be
// the whole base name, such as `slab` of mm/slab.c, or the end of the path from a folder on. Several
// words must all be in the path, at least one in the base name; docs whose names they cover most
// come first. Path grams find them: no list is read.

import { Arena } from '../base/arena.ts';
import { GRAM_CHAR_BITS, NONE_ID, PATH_ROW_SIZE_MAX } from '../shared/format.ts';
import { NODE_TEXT } from '../shared/plan.ts';
import { findNeedle, foundEnd, HAYSTACK_FOLDS_INTO_ASCII } from '../scan/literal.ts';
import { docAt } from '../shard/open.ts';
import { pathRowOf } from '../shard/path-grams.ts';
import { getBit, setBit } from '../base/bits.ts';
import { ShardView } from '../shard/view.ts';
import { GRAM_CHAR_NEWLINE, textKey } from '../text/gram-chars.ts';
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
import { RangeLeaf, leafAt, slotLeaves } from './node.ts';
import { TextLeaf } from './text-leaf.ts';

/** Bound: if this many docs have all words in their paths, the words are not a name. */
const FITTING_MAX: u32 = 256;
/** Most results; for one word the first ones, as all are equal. */
const NAME_HEADS_MAX: u32 = 8;
/** Bound: slots that are distinguished (near.ts). */
const WORDS_MAX: u32 = 16;

const PAIR_MASK: u32 = (1 << (2 * GRAM_CHAR_BITS)) - 1;
const GRAM_CHAR_SLASH: u32 = 47;
const GRAM_CHAR_DOT: u32 = 46;

/** Groups that may have such a doc, a bit each. */
const groups = memory.data(128, 16);
if (PATH_ROW_SIZE_MAX > 128) ERROR('groups: size');

@unmanaged
class NameHead {
  docId: u32;
  points: u32;
}
const nameHeads = memory.data(128, 4);
if (offsetof<NameHead>() * NAME_HEADS_MAX > 128) ERROR('nameHeads: size');
let nameHeadCount: u32 = 0;

@inline
function nameHeadAt(index: u32): NameHead {
  return changetype<NameHead>(nameHeads + <usize>index * offsetof<NameHead>());
}

/** Whether an open shard may have such docs. */
export function hasNameHeads(view: ShardView): bool {
  return findNameHeads(view, ALL_DOCS, true);
}

/** The best visible docs, each with all docs of the same content; 0: none. */
export function nameHeadDocs(arena: Arena, visible: usize): usize {
  if (!findNameHeads(boundView, visible, false)) return 0;
  const docs = newDocBitmap(arena);
  if (docs == 0) return 0;
  for (let i: u32 = 0; i < nameHeadCount; i++) {
    const docId = nameHeadAt(i).docId;
    const blobId = docAt(boundView, docId).blobId;
    if (blobId == NONE_ID) setBit(docs, docId);
    else addDocsOfBlob(docs, blobId);
  }
  return docs;
}

/**
 * Lists the best visible docs; returns whether there are any. @param isTest  ends with the first
 * doc; also true if more docs fit than are tested
 */
function findNameHeads(view: ShardView, visible: usize, isTest: bool): bool {
  nameHeadCount = 0;
  if (!areWords() || !findGroups(view)) return false;
  const most = slotLeaves.count == 1 ? NAME_HEADS_MAX : FITTING_MAX;
  let fitting: u32 = 0;
  const shift = view.pathGroupShift;
  const groupCount = (view.docCount + (<u32>1 << shift) - 1) >> shift;
  for (let group: u32 = 0; group < groupCount; group++) {
    if (getBit(groups, group) == 0) continue;
    const end = min(view.docCount, (group + 1) << shift);
    for (let docId = group << shift; docId < end; docId++) {
      if (visible != ALL_DOCS && getBit(visible, docId) == 0) continue;
      if (!fits(view, docId)) continue;
      const points = pointsOf(view, docId);
      if (points > 0) insert(docId, points);
      fitting++;
      if (isTest && (points > 0 || fitting == most)) return true;
      if (fitting == most) return nameHeadCount > 0;
    }
  }
  return nameHeadCount > 0;
}

/** Whether all leaves are words searched in paths, of two letters or more. */
function areWords(): bool {
  if (slotLeaves.count == 0 || slotLeaves.count > WORDS_MAX) return false;
  for (let i: u32 = 0; i < slotLeaves.count; i++) {
    const leaf = leafAt(slotLeaves, i);
    if (leaf.kind != NODE_TEXT) return false;
    const text = changetype<TextLeaf>(leaf);
    if (changetype<usize>(text.path) == 0 || text.grams.gramCharCount < 2) return false;
  }
  return true;
}

/** Finds the groups whose paths have the grams; false: none, or several words have no gram. */
function findGroups(view: ShardView): bool {
  const size = view.pathRowSize;
  let hasGrams = slotLeaves.count == 1;
  memory.fill(groups, 0xff, PATH_ROW_SIZE_MAX);
  for (let i: u32 = 0; i < slotLeaves.count; i++) {
    const grams = changetype<TextLeaf>(leafAt(slotLeaves, i)).grams;
    if (grams.gramCharCount < 3) continue;
    hasGrams = true;
    for (let k: u32 = 0; k < grams.keyCount; k++) {
      const row = pathRowOf(view, keyAt(grams, k));
      if (row == 0) return false;
      intersectBitmaps(groups, row, size);
    }
  }
  // Otherwise the paths of all docs would be scanned.
  if (!hasGrams) return false;
  if (slotLeaves.count == 1 && !keepWhole(view, changetype<TextLeaf>(leafAt(slotLeaves, 0))))
    return false;
  return !isEmptyBitmap(groups, size);
}

/** Keeps the groups in which a word begins a path or a part, and ends one or precedes a dot. */
function keepWhole(view: ShardView, word: TextLeaf): bool {
  const grams = word.grams;
  const first =
    grams.gramCharCount < 3 ? keyAt(grams, 0) & PAIR_MASK : keyAt(grams, 0) >> GRAM_CHAR_BITS;
  const last = textKey(word.data, <usize>word.data + word.dataSize) & PAIR_MASK;
  return (
    keepEither(
      view,
      (GRAM_CHAR_NEWLINE << (2 * GRAM_CHAR_BITS)) | first,
      (GRAM_CHAR_SLASH << (2 * GRAM_CHAR_BITS)) | first,
    ) &&
    keepEither(
      view,
      (last << GRAM_CHAR_BITS) | GRAM_CHAR_NEWLINE,
      (last << GRAM_CHAR_BITS) | GRAM_CHAR_DOT,
    )
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
  if (slotLeaves.count == 1) return isWhole(leafAt(slotLeaves, 0), start, end);
  for (let i: u32 = 0; i < slotLeaves.count; i++) {
    const needle = changetype<TextLeaf>(leafAt(slotLeaves, i)).needle;
    if (findNeedle(needle, start, end, HAYSTACK_FOLDS_INTO_ASCII) >= end) return false;
  }
  return true;
}

/** How well the words cover the name of a doc that fits: 0 not at all, else 1 to 1,001. */
function pointsOf(view: ShardView, docId: u32): u32 {
  if (slotLeaves.count == 1) return 1;
  const doc = docAt(view, docId);
  const start = <usize>view.paths + doc.pathOffset;
  const share = coverNameOf(start, start + doc.pathSize, slotLeaves);
  return nameWords == 0 ? 0 : 1 + <u32>(1000 * share);
}

/** Whether the word is the base name, with or without extension, or the path's end from a folder on. */
function isWhole(leaf: RangeLeaf, start: usize, end: usize): bool {
  const needle = changetype<TextLeaf>(leaf).needle;
  let dot = end;
  while (dot > start && load<u8>(dot - 1) != GRAM_CHAR_DOT && load<u8>(dot - 1) != GRAM_CHAR_SLASH)
    dot--;
  const nameEnd = dot > start && load<u8>(dot - 1) == GRAM_CHAR_DOT ? dot - 1 : end;
  for (let ptr = start; ptr < end; ) {
    const found = findNeedle(needle, ptr, end, HAYSTACK_FOLDS_INTO_ASCII);
    if (found >= end) return false;
    const isAtStart = found == start || load<u8>(found - 1) == GRAM_CHAR_SLASH;
    if (isAtStart && (foundEnd() == end || foundEnd() == nameEnd)) return true;
    ptr = found + decodedSize(decodeUtf8(found, end));
  }
  return false;
}

/** Inserts a doc after those with as many points; drops the last one if there are too many. */
function insert(docId: u32, points: u32): void {
  let position = nameHeadCount;
  if (nameHeadCount < NAME_HEADS_MAX) nameHeadCount++;
  else if (nameHeadAt(NAME_HEADS_MAX - 1).points >= points) return;
  else position = NAME_HEADS_MAX - 1;
  for (; position > 0 && nameHeadAt(position - 1).points < points; position--) {
    nameHeadAt(position).docId = nameHeadAt(position - 1).docId;
    nameHeadAt(position).points = nameHeadAt(position - 1).points;
  }
  nameHeadAt(position).docId = docId;
  nameHeadAt(position).points = points;
}
