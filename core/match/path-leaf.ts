// PATH and PATH_REGEX: the path contains a literal or a match; also the path part of a TEXT. For a
// literal only groups of docs with its grams are scanned (shard/path-grams.ts), for an expression
// all paths, a few megabytes.

import { Arena, arenaMark, arenaReset } from '../base/arena.ts';
import { countWork, isStopped } from '../base/work.ts';
import {
  beginRegexText,
  findRegex,
  findRegexNeedle,
  foundEnd as regexFoundEnd,
  foundStart as regexFoundStart,
  regexHasNeedles,
  testRegex,
} from '../regex/regex.ts';
import { TEXT_ANY } from '../regex/text.ts';
import { findNeedle, foundEnd, HAYSTACK_FOLDS_INTO_ASCII } from '../scan/literal.ts';
import {
  NODE_PATH_REGEX,
  PLAN_FLAG_ALWAYS,
  PLAN_FLAG_AT_END,
  PLAN_FLAG_AT_START,
  PLAN_FLAG_LITERALS,
} from '../shared/plan.ts';
import { PATH_ROW_SIZE_MAX } from '../shared/format.ts';
import { STATUS_OK } from '../shared/status.ts';
import { docAt } from '../shard/open.ts';
import { pathRowOf } from '../shard/path-grams.ts';
import { getBit, setBit } from '../base/bits.ts';
import { decodedPoint, decodedSize, decodeUtf8, REPLACEMENT } from '../text/utf8.ts';
import {
  ALL_DOCS,
  boundGroups,
  boundView,
  countRegexRuns,
  intersectBitmaps,
  isEmptyBitmap,
  newDocBitmap,
  NO_DOCS,
} from './bound.ts';
import { current } from './current.ts';
import { makeExpression } from './expression.ts';
import { Grams, keyAt, makeGrams } from './grams.ts';
import {
  addLeaf,
  RangeLeaf,
  compileStatus,
  makeNeedle,
  NODE_SIZE,
  pathLeaves,
  RULED_OUT_FOLDED,
  STATE_NO,
  STATE_UNKNOWN,
  STATE_YES,
} from './node.ts';
import { ADVANCE_STEPS } from './runs.ts';

/** Its cursor is an address in the path of the current doc. */
@unmanaged
export class PathLeaf extends RangeLeaf {
  needle: u32; // PATH: address of the compiled needle; 0: empty literal, in every path
  regex: u32; // PATH_REGEX: address of the compiled expression
  grams: Grams; // PATH: of the literal
}
if (offsetof<PathLeaf>() > NODE_SIZE) ERROR('PathLeaf: size');

/** Errors: compileStatus is set as by makeExpression, and if the arena is full. */
export function compilePath(arena: Arena, node: PathLeaf, index: u32): void {
  if (node.kind == NODE_PATH_REGEX) {
    const expression = makeExpression(arena, node, index);
    if (compileStatus != STATUS_OK) return;
    node.regex = expression.regex;
  } else if (node.dataSize > 0) {
    node.needle = makeNeedle(arena, node);
    node.grams = makeGrams(arena, node);
  }
  addLeaf(pathLeaves, node);
}

/** The groups of docs that have the grams of a literal, a bit each. */
const groups = memory.data(128, 16);
if (PATH_ROW_SIZE_MAX > 128) ERROR('groups: size');

/** The docs whose path contains the literal, by a scan over the groups of docs with its grams. */
export function bindPath(arena: Arena, node: PathLeaf): usize {
  node.cost = 2;
  node.ruledOut = 0;
  if (node.needle == 0) return ALL_DOCS;
  if (!findGroups(node.grams)) {
    node.ruledOut = RULED_OUT_FOLDED;
    return NO_DOCS;
  }
  const mark = arenaMark(arena);
  const docs = newDocBitmap(arena);
  if (docs == 0) return NO_DOCS;
  // U+FFFD stands for bad bytes; adjacent bad bytes may form a character.
  const isByPath = containsReplacement(node);
  const shift = boundView.pathGroupShift;
  const groupCount = (boundView.docCount + (<u32>1 << shift) - 1) >> shift;
  let count: u32 = 0;
  for (let group: u32 = 0; group < groupCount; group++) {
    if (getBit(groups, group) == 0) continue;
    const first = group;
    while (group + 1 < groupCount && getBit(groups, group + 1) != 0) group++;
    const end = min(boundView.docCount, (group + 1) << shift);
    count += isByPath
      ? markPathByPath(node, docs, first << shift, end)
      : markPaths(node, docs, first << shift, end);
  }
  if (count > 0) return docs;
  arenaReset(arena, mark);
  return NO_DOCS;
}

/** Finds the bound groups that have all grams; false: none. A shorter literal has no gram. */
function findGroups(grams: Grams): bool {
  memory.copy(groups, boundGroups, PATH_ROW_SIZE_MAX);
  if (grams.gramCharCount < 3) return true;
  const size = boundView.pathRowSize;
  for (let i: u32 = 0; i < grams.keyCount; i++) {
    const row = pathRowOf(boundView, keyAt(grams, i));
    if (row == 0) return false;
    intersectBitmaps(groups, row, size);
  }
  return !isEmptyBitmap(groups, size);
}

/**
 * Marks the docs of [first, endDoc) whose path contains the literal; returns how many. A match
 * across two paths does not count.
 */
function markPaths(node: PathLeaf, docs: usize, first: u32, endDoc: u32): u32 {
  const end = pathEndOf(endDoc - 1);
  let docId = first;
  let ptr = <usize>boundView.paths + docAt(boundView, first).pathOffset;
  let count: u32 = 0;
  while (ptr < end) {
    const found = findNeedle(node.needle, ptr, end, HAYSTACK_FOLDS_INTO_ASCII);
    if (found >= end) break;
    const matchEnd = foundEnd();
    docId = docOfPath(found, docId);
    if (isPathMatch(node, docId, found, matchEnd)) {
      setBit(docs, docId);
      count++;
      ptr = pathEndOf(docId);
    } else ptr = found + decodedSize(decodeUtf8(found, end));
  }
  return count;
}

/** Whether the literal has a U+FFFD, or a bad byte, which counts as one. */
function containsReplacement(node: PathLeaf): bool {
  const end = <usize>node.data + node.dataSize;
  for (let ptr = <usize>node.data; ptr < end; ) {
    const decoded = decodeUtf8(ptr, end);
    if (decodedPoint(decoded) == REPLACEMENT) return true;
    ptr += decodedSize(decoded);
  }
  return false;
}

/** As markPaths, with a separate search in each path: slower. */
function markPathByPath(node: PathLeaf, docs: usize, first: u32, endDoc: u32): u32 {
  let count: u32 = 0;
  for (let docId = first; docId < endDoc; docId++) {
    const end = pathEndOf(docId);
    let ptr = end - docAt(boundView, docId).pathSize;
    while (ptr < end) {
      const found = findNeedle(node.needle, ptr, end, HAYSTACK_FOLDS_INTO_ASCII);
      if (found >= end) break;
      if (isPathMatch(node, docId, found, foundEnd())) {
        setBit(docs, docId);
        count++;
        break;
      }
      ptr = found + decodedSize(decodeUtf8(found, end));
    }
  }
  return count;
}

/** Where the expression has needles, only paths with one are tried. */
export function bindPathRegex(arena: Arena, node: PathLeaf): usize {
  node.cost = 0x20000000;
  if ((node.flags & PLAN_FLAG_ALWAYS) != 0) return ALL_DOCS;
  const docs = newDocBitmap(arena);
  if (docs == 0) return NO_DOCS;
  const hasNeedles = regexHasNeedles(node.regex);
  const end = <usize>boundView.paths + boundView.pathsSize;
  let count: u32 = 0;
  let runs: u32 = 0;
  for (let docId: u32 = 0; docId < boundView.docCount; docId++) {
    if (hasNeedles) {
      const found = findRegexNeedle(
        node.regex,
        pathEndOf(docId) - docAt(boundView, docId).pathSize,
        end,
      );
      if (found >= end) break;
      docId = docOfPath(found, docId);
    }
    if (isStopped) break;
    const pathEnd = pathEndOf(docId);
    runs++;
    if (!testRegex(node.regex, pathEnd - docAt(boundView, docId).pathSize, pathEnd, TEXT_ANY))
      continue;
    setBit(docs, docId);
    count++;
  }
  if ((node.flags & PLAN_FLAG_LITERALS) == 0) countRegexRuns(runs);
  return count == 0 ? NO_DOCS : docs;
}

/** Address after a doc's path, where the next one's begins. */
@inline
function pathEndOf(docId: u32): usize {
  const doc = docAt(boundView, docId);
  return <usize>boundView.paths + doc.pathOffset + doc.pathSize;
}

/** The doc from `docId` on whose path contains `ptr` (galloping, then binary search). */
function docOfPath(ptr: usize, docId: u32): u32 {
  let step: u32 = 1;
  let start = docId;
  while (start + step < boundView.docCount && pathEndOf(start + step - 1) <= ptr) {
    start += step;
    step *= 2;
  }
  let end = min(start + step, boundView.docCount);
  while (start < end) {
    const middle = (start + end) >> 1;
    if (pathEndOf(middle) <= ptr) start = middle + 1;
    else end = middle;
  }
  return start;
}

/** Whether a match in the concatenated paths lies in this doc's path and satisfies the anchors. */
function isPathMatch(node: PathLeaf, docId: u32, start: usize, end: usize): bool {
  const pathEnd = pathEndOf(docId);
  const pathStart = pathEnd - docAt(boundView, docId).pathSize;
  if (end > pathEnd) return false;
  if ((node.flags & PLAN_FLAG_AT_START) != 0 && start != pathStart) return false;
  return (node.flags & PLAN_FLAG_AT_END) == 0 || end == pathEnd;
}

/** An empty match holds, but is no range. */
export function matchesPath(node: PathLeaf): bool {
  if (node.state == STATE_UNKNOWN) node.state = holdsForPath(node) ? STATE_YES : STATE_NO;
  return node.state == STATE_YES;
}

function holdsForPath(node: PathLeaf): bool {
  if (node.kind == NODE_PATH_REGEX) {
    return (
      (node.flags & PLAN_FLAG_ALWAYS) != 0 ||
      testRegex(node.regex, current.pathStart, current.pathEnd, TEXT_ANY)
    );
  }
  if (node.needle == 0) return true;
  enterPath(node);
  advancePath(node);
  return node.matchStart != 0;
}

export function enterPath(node: PathLeaf): void {
  node.cursor = <u32>current.pathStart;
  node.cursorEnd = <u32>current.pathEnd;
  if (node.kind == NODE_PATH_REGEX)
    beginRegexText(node.regex, current.pathStart, current.pathEnd, TEXT_ANY);
}

/** Moves the cursor to the next match; matchStart = 0 if there is none. */
export function advancePath(node: PathLeaf): void {
  node.matchStart = 0;
  countWork(ADVANCE_STEPS);
  if (node.kind == NODE_PATH_REGEX) {
    if (node.cursor == node.cursorEnd || !findRegex(node.regex, node.cursor, node.cursorEnd))
      return;
    node.matchStart = <u32>regexFoundStart;
    node.matchEnd = <u32>regexFoundEnd;
    node.cursor = node.matchEnd;
    return;
  }
  if (node.needle == 0) return;
  while (node.cursor < node.cursorEnd) {
    const found = findNeedle(node.needle, node.cursor, node.cursorEnd, current.pathFlags);
    if (found >= node.cursorEnd) return;
    const end = foundEnd();
    const isAnchored =
      ((node.flags & PLAN_FLAG_AT_START) == 0 || found == current.pathStart) &&
      ((node.flags & PLAN_FLAG_AT_END) == 0 || end == current.pathEnd);
    // Why: a failed match may overlap the anchored one (`aa$` in `aaa`), so continue one character
    // further.
    node.cursor = <u32>(isAnchored ? end : found + decodedSize(decodeUtf8(found, current.pathEnd)));
    if (!isAnchored) continue;
    node.matchStart = <u32>found;
    node.matchEnd = <u32>end;
    return;
  }
}
