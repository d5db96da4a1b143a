// The docs that a condition without content holds for, as a bitmap over the bound shard: paths, languages, sets
// that the host gives, and the other docs of such a set. Paths are not indexed: all of them are a few megabytes, and one scan over
// them costs less than a posting list.

import { Arena } from '../base/arena.ts';
import { isStopped } from '../base/work.ts';
import { findNeedle, foundEnd, HAYSTACK_FOLDS_INTO_ASCII } from '../scan/literal.ts';
import { LANGUAGE_ROW_SIZE, NONE_ID, REPO_ROW_SIZE } from '../shared/format.ts';
import {
  NODE_REGEX,
  NODE_SYMBOL,
  NODE_SYMBOL_REGEX,
  NODE_TEXT,
  PLAN_FLAG_ALWAYS,
  PLAN_FLAG_AT_END,
  PLAN_FLAG_AT_START,
  PLAN_FLAG_LITERALS,
} from '../shared/plan.ts';
import { docAt } from '../shard/open.ts';
import { ShardView } from '../shard/view.ts';
import { STATUS_BAD_PLAN } from '../shared/status.ts';
import { getBit, setBit } from '../shard/piece.ts';
import { LanguageRow, RepoRow } from '../shard/rows.ts';
import { decodedPoint, decodedSize, decodeUtf8, REPLACEMENT } from '../text/utf8.ts';
import { findRegexNeedle, regexHasNeedles, testRegex } from '../regex/regex.ts';
import { TEXT_ANY } from '../regex/text.ts';
import {
  ALL_DOCS,
  boundView,
  countRegexRuns,
  docBitmapSize,
  docSetCount,
  docSets,
  failBinding,
  newDocBitmap,
  NO_DOCS,
} from './bound.ts';
import { MatchNode, nodeAt } from './tree.ts';

/** Whether the bitmap of a bound subtree holds just the docs that satisfy it. */
export function isExact(node: MatchNode): bool {
  const isContent = node.kind == NODE_TEXT || node.kind == NODE_REGEX;
  if (isContent || node.kind == NODE_SYMBOL || node.kind == NODE_SYMBOL_REGEX) return false;
  for (let i: u32 = 0; i < node.childCount; i++) {
    if (!isExact(nodeAt(node.children, i))) return false;
  }
  return true;
}

/** The other docs, in a new bitmap: the node's own one is still needed. */
export function complement(arena: Arena, docs: usize): usize {
  const others = newDocBitmap(arena);
  if (others == 0) return NO_DOCS;
  for (let docId: u32 = 0; docId < boundView.docCount; docId++) {
    if (getBit(docs, docId) == 0) setBit(others, docId);
  }
  return others;
}

export function bindLanguage(arena: Arena, node: MatchNode): usize {
  const docs = newDocBitmap(arena);
  if (docs == 0) return NO_DOCS;
  for (let docId: u32 = 0; docId < boundView.docCount; docId++) {
    if (docAt(boundView, docId).languageIndex == node.localId) setBit(docs, docId);
  }
  return docs;
}

export function findLanguage(node: MatchNode): u32 {
  for (let i: u32 = 0; i < boundView.languageCount; i++) {
    const row = changetype<LanguageRow>(<usize>boundView.languages + <usize>i * LANGUAGE_ROW_SIZE);
    if (row.nameSize != node.dataSize) continue;
    if (memory.compare(<usize>boundView.names + row.nameOffset, node.data, node.dataSize) == 0) return i;
  }
  return NONE_ID;
}

export function bindRepos(node: MatchNode): usize {
  const count = countRepos(node);
  // Docs of shards with several repos are told apart when they are evaluated.
  return count == 0 ? NO_DOCS : ALL_DOCS;
}

function countRepos(node: MatchNode): u32 {
  let count: u32 = 0;
  for (let i: u32 = 0; i < boundView.repoCount; i++) {
    if (hasRepo(node, repoIdAt(boundView, i))) count++;
  }
  return count;
}

/** Whether a repo id is among those of a REPOS node (binary search). */
export function hasRepo(node: MatchNode, repoId: u32): bool {
  let start: u32 = 0;
  let end = node.dataSize >> 2;
  while (start < end) {
    const middle = (start + end) >> 1;
    if (load<u32>(<usize>node.data + (<usize>middle << 2)) < repoId) start = middle + 1;
    else end = middle;
  }
  return start < node.dataSize >> 2 && load<u32>(<usize>node.data + (<usize>start << 2)) == repoId;
}

/** The set that a DOCS node names, as a copy: verdicts are combined in place. */
export function bindDocs(arena: Arena, node: MatchNode): usize {
  if (node.data >= docSetCount) {
    failBinding(STATUS_BAD_PLAN);
    return NO_DOCS;
  }
  const set = <usize>load<u32>(docSets + (<usize>node.data << 2));
  node.bitmap = <u32>set;
  if (set == NO_DOCS || set == ALL_DOCS) return set;
  const docs = newDocBitmap(arena);
  if (docs == 0) return NO_DOCS;
  memory.copy(docs, set, docBitmapSize());
  return docs;
}

/** Whether a doc is in the set of a bound DOCS node. */
export function isInDocs(node: MatchNode, docId: u32): bool {
  const set = <usize>node.bitmap;
  return set == ALL_DOCS || (set != NO_DOCS && getBit(set, docId) != 0);
}

/** Repo of a row of the shard's repos table. */
@inline
export function repoIdAt(view: ShardView, repoIndex: u32): u32 {
  return changetype<RepoRow>(<usize>view.repos + <usize>repoIndex * REPO_ROW_SIZE).repoId;
}

/**
 * The docs whose path holds the literal, by one scan over all paths, which lie back to back: a match that
 * runs from one path into the next is none.
 */
export function bindPath(arena: Arena, node: MatchNode): usize {
  if (node.dataSize == 0) return ALL_DOCS;
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

function holdsReplacement(node: MatchNode): bool {
  const end = <usize>node.data + node.dataSize;
  for (let ptr = <usize>node.data; ptr < end; ) {
    const decoded = decodeUtf8(ptr, end);
    if (decodedPoint(decoded) == REPLACEMENT) return true;
    ptr += decodedSize(decoded);
  }
  return false;
}

function bindPathByPath(node: MatchNode, docs: usize): usize {
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

/** The docs whose path the expression matches; where it has needles, only paths that hold one are tried. */
export function bindPathRegex(arena: Arena, node: MatchNode): usize {
  if ((node.flags & PLAN_FLAG_ALWAYS) != 0) return ALL_DOCS;
  const docs = newDocBitmap(arena);
  if (docs == 0) return NO_DOCS;
  const hasNeedles = regexHasNeedles(node.regex);
  const end = <usize>boundView.paths + boundView.pathsSize;
  let count: u32 = 0;
  let runs: u32 = 0;
  for (let docId: u32 = 0; docId < boundView.docCount; docId++) {
    if (hasNeedles) {
      const found = findRegexNeedle(node.regex, pathEndOf(docId) - docAt(boundView, docId).pathSize, end);
      if (found >= end) break;
      docId = docOfPath(found, docId);
    }
    if (isStopped) break;
    const pathEnd = pathEndOf(docId);
    runs++;
    if (!testRegex(node.regex, pathEnd - docAt(boundView, docId).pathSize, pathEnd, TEXT_ANY)) continue;
    setBit(docs, docId);
    count++;
  }
  if ((node.flags & PLAN_FLAG_LITERALS) == 0) countRegexRuns(runs);
  return count == 0 ? NO_DOCS : docs;
}

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

function isPathMatch(node: MatchNode, docId: u32, start: usize, end: usize): bool {
  const pathEnd = pathEndOf(docId);
  const pathStart = pathEnd - docAt(boundView, docId).pathSize;
  if (end > pathEnd) return false;
  if ((node.flags & PLAN_FLAG_AT_START) != 0 && start != pathStart) return false;
  return (node.flags & PLAN_FLAG_AT_END) == 0 || end == pathEnd;
}
