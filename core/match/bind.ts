// Binds the match tree to one shard: finds the docs that each leaf may hold for, combines them up
// the tree, and lists the remaining candidates. Everything lives in the arena until the next shard.

import { Arena } from '../base/arena.ts';
import { beginWork, countWork, isStopped } from '../base/work.ts';
import * as layout from '../shared/plan.ts';
import {
  STATUS_BAD_PLAN,
  STATUS_OK,
  STATUS_OUT_OF_MEMORY,
  STATUS_STOPPED,
} from '../shared/status.ts';
import { BITMAP_SIZE } from '../shared/format.ts';
import { forgetRegexTexts } from '../regex/regex.ts';
import { getBit, setBit } from '../base/bits.ts';
import { ShardView } from '../shard/view.ts';
import { addBlocksOfDocs, blockSetsInit, countBits, newBlockBitmap } from './block-sets.ts';
import {
  ALL_DOCS,
  beginBinding,
  blockBitmapSize,
  boundView,
  docBitmapSize,
  enterNode,
  failBinding,
  failStatus,
  indexBytes,
  intersectBitmaps,
  isEmptyBitmap,
  MANY_ENDS,
  MANY_NOTED,
  newDocBitmap,
  NO_DOCS,
  partSegments,
  regexRuns,
  restrictedDocs,
  restrictTo,
  restrictToBlocks,
  segmentsOf,
  setManyBlocksAction,
  uniteBitmaps,
} from './bound.ts';
import {
  candidateBytes,
  candidateDocCount,
  collectCandidates,
  countCandidateBlocks,
  cutUnits,
  headCount,
  unitCount,
} from './candidates.ts';
import {
  bindConst,
  bindDocs,
  bindLanguage,
  bindRepos,
  visibleDocs,
  DocsNode,
  LanguageNode,
} from './filters.ts';
import { firstPart, loneLeaf, mayHaveParts, partBlocks } from './first-part.ts';
import { definingDocs, namedDocs } from './heads.ts';
import { lookupCount, resetLookups } from './lookups.ts';
import { matchRoot, nodeCounts, nodeCountsSize, setNodeCounts } from './match-tree.ts';
import {
  contentLeafAt,
  ContentLeaf,
  contentLeaves,
  isInContent,
  MatchNode,
  nodeAt,
  RULED_OUT,
  RULED_OUT_FOLDED,
  setNode,
} from './node.ts';
import { bindPath, bindPathRegex, PathLeaf } from './path-leaf.ts';
import { bindRegex, RegexLeaf } from './regex-leaf.ts';
import { bindSymbol, SymbolLeaf } from './symbol-leaf.ts';
import { bindText, TextLeaf } from './text-leaf.ts';

/** Guess: steps of work (base/work.ts) for binding a node, besides reading its lists. */
const NODE_STEPS: u32 = 256;
/** Guess: bytes of lists read per step, as a power of 2. */
const STEP_SHIFT: u32 = 3;
const BYTES_MAX: u32 = 1 << 26;

/** Bitmaps of docs, 0: none: the heads (heads.ts), and those of them found by name. */
let heads: usize = 0;
let nameHeads: usize = 0;

/** Which docs a binding is of. */
export const OF_HEADS: u32 = 0;
export const OF_PART: u32 = 1;
export const OF_ALL: u32 = 2;
/** The extent of the present binding. */
export let extent: u32 = OF_ALL;

/**
 * Binds the compiled tree to `view`; counters go to `stats` (BIND_*). Reads tables, postings, paths
 * and names of symbols, but no other content.
 * @param mayBePart  the heads and the first part suffice if a literal has many blocks (first-part.ts)
 * Errors: STATUS_FRAME for a damaged list, STATUS_BAD_PLAN, STATUS_OUT_OF_MEMORY; STATUS_STOPPED
 * (base/work.ts).
 */
export function bindShard(arena: Arena, view: ShardView, mayBePart: bool, stats: usize): i32 {
  if (!begin(arena, view)) return STATUS_OUT_OF_MEMORY;
  extent = OF_ALL;
  // Lists are also of hidden docs, which must not decide where a unit ends.
  const isOpen = view.repoCount == 1 || visibleDocs(matchRoot) == ALL_DOCS;
  if (isOpen && mayHaveParts(view))
    setManyBlocksAction(mayBePart ? MANY_ENDS : MANY_NOTED, partBlocks(), loneLeaf());
  const verdict = bindNode(arena, matchRoot);
  const segments = partSegments;
  if (isStopped) return STATUS_STOPPED;
  if (mayBePart && segments != 0) return bindPart(arena, view, segments, stats);
  if (verdict != NO_DOCS) findHeads(arena);
  const part: usize = segments == 0 ? 0 : firstPart(arena, segments);
  return listCandidates(arena, verdict, part, stats);
}

function bindPart(arena: Arena, view: ShardView, segments: u32, stats: usize): i32 {
  if (!begin(arena, view)) return STATUS_OUT_OF_MEMORY;
  extent = OF_PART;
  findHeads(arena);
  const part = firstPart(arena, segments);
  const docs = newDocBitmap(arena);
  if (failStatus != STATUS_OK) return failStatus;
  memory.copy(docs, part, docBitmapSize());
  const blocks = newBlockBitmap(arena);
  if (blocks == 0) return failStatus;
  memory.fill(blocks, 0xff, <usize>segments * BITMAP_SIZE);
  let segmentsToBind = (<u32>1 << segments) - 1;
  if (heads != 0) {
    uniteBitmaps(docs, heads, docBitmapSize());
    addBlocksOfDocs(heads, blocks);
    segmentsToBind |= segmentsOf(heads);
  }
  restrictTo(docs, segmentsToBind);
  restrictToBlocks(blocks);
  return listCandidates(arena, bindNode(arena, matchRoot), part, stats);
}

/**
 * As bindShard, but only for the heads (heads.ts): its only unit, and the first one of bindShard.
 * Reads only the lists of the segments with heads.
 */
export function bindHeads(arena: Arena, view: ShardView, stats: usize): i32 {
  if (!begin(arena, view)) return STATUS_OUT_OF_MEMORY;
  extent = OF_HEADS;
  findHeads(arena);
  if (heads != 0) restrictTo(heads, segmentsOf(heads));
  const verdict: usize = heads == 0 ? NO_DOCS : bindNode(arena, matchRoot);
  return listCandidates(arena, verdict, 0, stats);
}

/**
 * Binds the tree for evaluating some docs, a bitmap; there are no candidates. Errors: as bindShard.
 */
export function bindSome(arena: Arena, view: ShardView, docs: usize): i32 {
  if (!begin(arena, view)) return STATUS_OUT_OF_MEMORY;
  restrictTo(docs, segmentsOf(docs));
  bindNode(arena, matchRoot);
  return isStopped ? STATUS_STOPPED : failStatus;
}

/** Finds the heads among the visible docs: nothing may reveal that there are others. */
function findHeads(arena: Arena): void {
  const visible = visibleDocs(matchRoot);
  if (visible == NO_DOCS) return;
  nameHeads = namedDocs(arena, visible);
  heads = definingDocs(arena, visible);
  if (heads == 0) heads = nameHeads;
  else if (nameHeads != 0) uniteBitmaps(heads, nameHeads, docBitmapSize());
  if (heads == 0 || visible == ALL_DOCS) return;
  intersectBitmaps(heads, visible, docBitmapSize());
  if (isEmptyBitmap(heads, docBitmapSize())) heads = 0;
}

/** False: the arena is full. */
function begin(arena: Arena, view: ShardView): bool {
  beginBinding(view);
  heads = 0;
  nameHeads = 0;
  resetLookups();
  beginWork();
  // Other texts may be at the addresses of the previous shard.
  forgetRegexTexts();
  // An AND that is ruled out does not bind its other children, which keep the state of the previous
  // shard.
  for (let i: u32 = 0; i < contentLeaves.count; i++) contentLeafAt(i).ruledOut = RULED_OUT;
  if (nodeCounts != 0) memory.fill(nodeCounts, 0xff, nodeCountsSize());
  return blockSetsInit(arena);
}

/** @param part  0, or the docs of the first part */
function listCandidates(arena: Arena, verdict: usize, part: usize, stats: usize): i32 {
  if (isStopped) return STATUS_STOPPED;
  if (failStatus != STATUS_OK) return failStatus;
  const docs = verdict == ALL_DOCS && extent != OF_ALL ? restrictedDocs : verdict;
  let status = collectCandidates(arena, docs, nameHeads, heads, part, extent == OF_ALL);
  if (status != STATUS_OK) return status;
  status = cutUnits(arena);
  if (status != STATUS_OK) return status;
  store<f64>(stats, lookupCount, layout.BIND_LOOKUPS_OFFSET);
  store<f64>(stats, indexBytes, layout.BIND_INDEX_BYTES_OFFSET);
  store<f64>(stats, countCandidateBlocks(), layout.BIND_BLOCKS_OFFSET);
  store<f64>(stats, candidateDocCount, layout.BIND_DOCS_OFFSET);
  store<f64>(stats, candidateBytes, layout.BIND_BYTES_OFFSET);
  store<f64>(stats, unitCount, layout.BIND_UNITS_OFFSET);
  store<f64>(stats, regexRuns, layout.BIND_REGEXPS_OFFSET);
  store<f64>(stats, headCount > 0 ? 1 : 0, layout.BIND_HEAD_UNITS_OFFSET);
  const mayMatchFolded = matchRoot.ruledOut != RULED_OUT_FOLDED;
  store<f64>(stats, mayMatchFolded ? 1 : 0, layout.BIND_MAY_MATCH_FOLDED_OFFSET);
  store<f64>(stats, extent == OF_PART ? 1 : 0, layout.BIND_IS_PART_OFFSET);
  return STATUS_OK;
}

/** Returns NO_DOCS, ALL_DOCS or the address of a bitmap of docs that may satisfy the subtree. */
function bindNode(arena: Arena, node: MatchNode): usize {
  if (failStatus != STATUS_OK || isStopped) return NO_DOCS;
  node.ruledOut = 0;
  const bytesBefore = indexBytes;
  enterNode(changetype<usize>(node));
  const verdict = bindKind(arena, node);
  countWork(NODE_STEPS + (<u32>min<f64>(indexBytes - bytesBefore, <f64>BYTES_MAX) >> STEP_SHIFT));
  // What the shard's tables rule out has no case.
  if (verdict != NO_DOCS) node.ruledOut = 0;
  else node.ruledOut = max(node.ruledOut, kindOrder(node.kind) == 0 ? RULED_OUT_FOLDED : RULED_OUT);
  if (nodeCounts != 0) countNode(node, verdict);
  return verdict;
}

/** Counts the docs and blocks of a bound node. Why at once: verdicts are combined in place. */
function countNode(node: MatchNode, verdict: usize): void {
  let docs: u32 = 0;
  if (verdict == ALL_DOCS) docs = boundView.docCount;
  else if (verdict != NO_DOCS) docs = countBits(verdict, docBitmapSize());
  let blocks: u32 = 0;
  if (isInContent(node.kind) && docs > 0) {
    const bitmap = changetype<ContentLeaf>(node).bitmap;
    blocks = bitmap == 0 ? layout.NODE_UNCOUNTED : countBits(bitmap, blockBitmapSize);
  }
  setNodeCounts(node, docs, blocks);
}

function bindKind(arena: Arena, node: MatchNode): usize {
  switch (node.kind) {
    case layout.NODE_CONST:
      return bindConst(node);
    case layout.NODE_TEXT:
      return bindText(arena, changetype<TextLeaf>(node));
    case layout.NODE_REGEX:
      return bindRegex(arena, changetype<RegexLeaf>(node));
    case layout.NODE_SYMBOL:
    case layout.NODE_SYMBOL_REGEX:
      return bindSymbol(arena, changetype<SymbolLeaf>(node));
    case layout.NODE_PATH:
      return bindPath(arena, changetype<PathLeaf>(node));
    case layout.NODE_PATH_REGEX:
      return bindPathRegex(arena, changetype<PathLeaf>(node));
    case layout.NODE_LANGUAGE:
      return bindLanguage(arena, changetype<LanguageNode>(node));
    case layout.NODE_REPOS:
      return bindRepos(arena, node);
    case layout.NODE_DOCS:
      return bindDocs(arena, changetype<DocsNode>(node));
    case layout.NODE_AND:
      return bindAnd(arena, node);
    case layout.NODE_OR:
      return bindOr(arena, node);
    case layout.NODE_NOT:
      return bindNot(arena, node);
    default:
      // GRAMS occur only below expressions.
      failBinding(STATUS_BAD_PLAN);
      return NO_DOCS;
  }
}

/** Rules out only docs that certainly satisfy the child: a literal may give false candidates. */
function bindNot(arena: Arena, node: MatchNode): usize {
  const child = nodeAt(node.children, 0);
  const verdict = bindNode(arena, child);
  node.cost = child.cost;
  if (!isExact(child) || verdict == NO_DOCS) return ALL_DOCS;
  if (verdict == ALL_DOCS) return NO_DOCS;
  return complement(arena, verdict);
}

function isExact(node: MatchNode): bool {
  switch (node.kind) {
    case layout.NODE_TEXT:
    case layout.NODE_REGEX:
    case layout.NODE_SYMBOL:
    case layout.NODE_SYMBOL_REGEX:
      return false;
  }
  for (let i: u32 = 0; i < node.childCount; i++)
    if (!isExact(nodeAt(node.children, i))) return false;
  return true;
}

/** The other docs, in a new bitmap: that of the child is still used. */
function complement(arena: Arena, docs: usize): usize {
  const others = newDocBitmap(arena);
  if (others == 0) return NO_DOCS;
  const count = boundView.docCount;
  const words = <usize>(count >> 6) << 3;
  for (let offset: usize = 0; offset < words; offset += 8)
    store<u64>(others + offset, ~load<u64>(docs + offset));
  for (let docId: u32 = count & ~63; docId < count; docId++)
    if (getBit(docs, docId) == 0) setBit(others, docId);
  return others;
}

/**
 * Binds the children until one is ruled out; the others keep the state of the previous shard. In a
 * first part all are bound: elsewhere in the shard that one may hold, and the units must be the same.
 */
function bindAnd(arena: Arena, node: MatchNode): usize {
  let verdict: usize = ALL_DOCS;
  sortForBinding(node);
  for (let i: u32 = 0; i < node.childCount; i++) {
    const child = nodeAt(node.children, i);
    const docs = bindNode(arena, child);
    if (docs == NO_DOCS && verdict != NO_DOCS) {
      node.ruledOut = child.ruledOut;
      if (extent != OF_PART) return NO_DOCS;
      verdict = NO_DOCS;
    }
    if (docs == ALL_DOCS || verdict == NO_DOCS) continue;
    if (verdict == ALL_DOCS) verdict = docs;
    else intersectBitmaps(verdict, docs, docBitmapSize());
  }
  sortByCost(node);
  return verdict;
}

/** Binds all children: each may give ranges. */
function bindOr(arena: Arena, node: MatchNode): usize {
  let verdict: usize = NO_DOCS;
  let ruledOut = RULED_OUT_FOLDED;
  for (let i: u32 = 0; i < node.childCount; i++) {
    const child = nodeAt(node.children, i);
    const docs = bindNode(arena, child);
    ruledOut = min(ruledOut, child.ruledOut);
    if (docs == NO_DOCS || verdict == ALL_DOCS) continue;
    if (docs == ALL_DOCS || verdict == NO_DOCS) verdict = docs;
    else uniteBitmaps(verdict, docs, docBitmapSize());
  }
  node.ruledOut = ruledOut;
  sortByCost(node);
  return verdict;
}

/**
 * Sorts the children by kind, then by plan order. Why not by cost: that is of the previous shard,
 * which must not influence where binding stops, and so its counts.
 */
function sortForBinding(node: MatchNode): void {
  sortChildren(node, bindingOrder);
}

/** Sorts the children by a number, ascending and stable (insertion sort: few children). */
function sortChildren(node: MatchNode, orderOf: (node: MatchNode) => u64): void {
  const list = <usize>node.children;
  for (let i: u32 = 1; i < node.childCount; i++) {
    const moving = nodeAt(list, i);
    const order = orderOf(moving);
    let position = i;
    for (; position > 0 && orderOf(nodeAt(list, position - 1)) > order; position--)
      setNode(list, position, nodeAt(list, position - 1));
    setNode(list, position, moving);
  }
}

function bindingOrder(node: MatchNode): u64 {
  // Nodes are in plan order.
  return (<u64>kindOrder(node.kind) << 32) | changetype<usize>(node);
}

/**
 * Order of binding: kinds that cost nothing, paths, literals, kinds that cost more or exclude less,
 * subtrees.
 */
function kindOrder(kind: u32): u32 {
  switch (kind) {
    case layout.NODE_CONST:
    case layout.NODE_DOCS:
    case layout.NODE_REPOS:
    case layout.NODE_LANGUAGE:
      return 0;
    case layout.NODE_PATH:
      return 1;
    case layout.NODE_TEXT:
      return 2;
    case layout.NODE_SYMBOL:
    case layout.NODE_SYMBOL_REGEX:
    case layout.NODE_REGEX:
    case layout.NODE_PATH_REGEX:
      return 3;
    default:
      return 4;
  }
}

/** Cheap children first; a node costs what its most expensive child costs. */
function sortByCost(node: MatchNode): void {
  sortChildren(node, (child) => child.cost);
  node.cost = nodeAt(node.children, node.childCount - 1).cost;
}
