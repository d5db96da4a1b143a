// PATH and PATH_REGEX: the path holds a literal, has a match of an expression. Paths are not
// indexed: all of a shard's are a few megabytes, and one scan over them costs less than a posting
// list.

import { Arena } from '../base/arena.ts';
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
import { STATUS_OK } from '../shared/status.ts';
import { docAt } from '../shard/open.ts';
import { setBit } from '../shard/piece.ts';
import { decodedPoint, decodedSize, decodeUtf8, REPLACEMENT } from '../text/utf8.ts';
import { ALL_DOCS, boundView, countRegexRuns, newDocBitmap, NO_DOCS } from './bound.ts';
import { current } from './current.ts';
import { makeExpression } from './expression.ts';
import {
  addAtom,
  Atom,
  compileStatus,
  makeNeedle,
  NODE_SIZE,
  pathAtoms,
  STATE_NO,
  STATE_UNKNOWN,
  STATE_YES,
} from './node.ts';
import { ADVANCE_STEPS } from './runs.ts';

/** Its cursor is an address in the path of the current doc. */
@unmanaged
export class PathAtom extends Atom {
  needle: u32; // PATH: address of the compiled needle; 0: the literal is empty, all paths hold it
  regex: u32; // PATH_REGEX: address of the compiled expression
}
if (offsetof<PathAtom>() > NODE_SIZE) ERROR('PathAtom: size');

/** Errors: compileStatus is set as by makeExpression, and if the arena is full. */
export function compilePath(arena: Arena, node: PathAtom, index: u32): void {
  if (node.kind == NODE_PATH_REGEX) {
    const expression = makeExpression(arena, node, index);
    if (compileStatus != STATUS_OK) return;
    node.regex = expression.regex;
  } else if (node.dataSize > 0) node.needle = makeNeedle(arena, node);
  addAtom(pathAtoms, node);
}

/**
 * The docs whose path holds the literal, by one scan over all paths, which lie back to back: a
 * match that runs from one path into the next is none.
 */
export function bindPath(arena: Arena, node: PathAtom): usize {
  node.cost = 2;
  if (node.needle == 0) return ALL_DOCS;
  const docs = newDocBitmap(arena);
  if (docs == 0) return NO_DOCS;
  // U+FFFD stands for bad bytes, of which neighbours may make a character together.
  if (holdsReplacement(node)) return bindPathByPath(node, docs);
  const end = <usize>boundView.paths + boundView.pathsSize;
  let docId: u32 = 0;
  let ptr = <usize>boundView.paths;
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
  return count == 0 ? NO_DOCS : docs;
}

/** Whether the literal has a U+FFFD, or a bad byte, which counts as one. */
function holdsReplacement(node: PathAtom): bool {
  const end = <usize>node.data + node.dataSize;
  for (let ptr = <usize>node.data; ptr < end; ) {
    const decoded = decodeUtf8(ptr, end);
    if (decodedPoint(decoded) == REPLACEMENT) return true;
    ptr += decodedSize(decoded);
  }
  return false;
}

/** As bindPath, with a search of its own in each path: dearer. */
function bindPathByPath(node: PathAtom, docs: usize): usize {
  let count: u32 = 0;
  for (let docId: u32 = 0; docId < boundView.docCount; docId++) {
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
  return count == 0 ? NO_DOCS : docs;
}

/**
 * The docs whose path the expression matches; where it has needles, only paths that hold one are
 * tried.
 */
export function bindPathRegex(arena: Arena, node: PathAtom): usize {
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

/** Address behind a doc's path, which is where the next one's begins. */
@inline
function pathEndOf(docId: u32): usize {
  const doc = docAt(boundView, docId);
  return <usize>boundView.paths + doc.pathOffset + doc.pathSize;
}

/** The doc from `docId` on whose path holds the byte at `ptr` (galloping, then binary search). */
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

/**
 * Whether [start, end), a match in all paths together, lies in this doc's path, anchored as asked.
 */
function isPathMatch(node: PathAtom, docId: u32, start: usize, end: usize): bool {
  const pathEnd = pathEndOf(docId);
  const pathStart = pathEnd - docAt(boundView, docId).pathSize;
  if (end > pathEnd) return false;
  if ((node.flags & PLAN_FLAG_AT_START) != 0 && start != pathStart) return false;
  return (node.flags & PLAN_FLAG_AT_END) == 0 || end == pathEnd;
}

/**
 * Whether the path of the current doc holds the literal, or has a match; an empty match holds, but
 * is no range.
 */
export function holdsPath(node: PathAtom): bool {
  if (node.state == STATE_UNKNOWN) node.state = isPathRight(node) ? STATE_YES : STATE_NO;
  return node.state == STATE_YES;
}

/** Without the memory of holdsPath. */
function isPathRight(node: PathAtom): bool {
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

/** Puts the cursor in front of the path of the current doc. */
export function enterPath(node: PathAtom): void {
  node.cursor = <u32>current.pathStart;
  node.cursorEnd = <u32>current.pathEnd;
  if (node.kind == NODE_PATH_REGEX)
    beginRegexText(node.regex, current.pathStart, current.pathEnd, TEXT_ANY);
}

/** Moves the cursor to the next match; matchStart = 0 if there is none. */
export function advancePath(node: PathAtom): void {
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
    // Why: a failed match may overlap the anchored one (`aa$` in `aaa`), so go on one character
    // further.
    node.cursor = <u32>(isAnchored ? end : found + decodedSize(decodeUtf8(found, current.pathEnd)));
    if (!isAnchored) continue;
    node.matchStart = <u32>found;
    node.matchEnd = <u32>end;
    return;
  }
}
