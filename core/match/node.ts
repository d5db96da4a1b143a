// The records of the match tree. Each begins with the head common to all nodes; the fields of its
// kind follow, in the file of that kind. All records have the same size, so that a plan row's index
// locates its node.
//
//   MatchNode              kind, children, results of binding           AND, OR, NOT, CONST, REPOS
//     GramsNode            conditions.ts                                GRAMS
//     LanguageNode, DocsNode   filters.ts                               LANGUAGE, DOCS
//     RangeLeaf            finds ranges: a cursor, its current match
//       PathLeaf           path-leaf.ts                                 PATH, PATH_REGEX
//       ContentLeaf        reads the content by runs of blocks
//         TextLeaf         text-leaf.ts                                 TEXT
//         RegexLeaf        regex-leaf.ts                                REGEX
//         SymbolLeaf       symbol-leaf.ts                               SYMBOL, SYMBOL_REGEX
//
// Fields have three lifetimes: set by compiling, for the request; "of the bound shard", set by each
// binding; "of the current blob" or doc, set by evaluating.

import { Arena, arenaAlloc } from '../base/arena.ts';
import {
  NODE_REGEX,
  NODE_SYMBOL,
  NODE_SYMBOL_REGEX,
  NODE_TEXT,
  PLAN_FLAG_CASE_SENSITIVE,
} from '../shared/plan.ts';
import { STATUS_BAD_PLAN, STATUS_OK, STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { compileNeedle, needleSizeMax } from '../scan/literal.ts';

/** A node: the head of all records. */
@unmanaged
export class MatchNode {
  kind: u32; // NODE_*
  flags: u32; // PLAN_FLAG_*
  children: u32; // AND, OR, NOT: address of u32 addresses of nodes
  childCount: u32; // 0: a leaf
  data: u32; // address of literal, name, ids or expression; CONST: the value; DOCS: the set's index
  dataSize: u32; // bytes
  // Of the bound shard:
  cost: u32; // evaluation order among siblings: about the blocks to read, more for costly kinds
  ruledOut: u32; // RULED_OUT...: holds for no doc of the shard; nothing below is bound; 0: it may
}

/** Ruled out as written, or whatever the case of its letters. */
export const RULED_OUT: u32 = 1;
export const RULED_OUT_FOLDED: u32 = 2;

export const STATE_UNKNOWN: u32 = 0;
export const STATE_NO: u32 = 1;
export const STATE_YES: u32 = 2;

/** A leaf that finds ranges, one after the other, as addresses in the shard. */
@unmanaged
export class RangeLeaf extends MatchNode {
  // Of the request:
  slot: u32; // of a content leaf under no negation: its index among them (doc-score.ts)
  // Of the current doc, or of all docs with the current blob:
  state: u32; // STATE_*: whether it holds
  cursor: u32; // next address to scan
  cursorEnd: u32; // end of the range that the cursor is in
  matchStart: u32; // its current match; 0: none remains
  matchEnd: u32;
  isFresh: u32; // 1: the current match is the first one of the current doc
}

/** A leaf in the content. Its index results are bitmaps of the shard's blocks, a bit each. */
@unmanaged
export class ContentLeaf extends RangeLeaf {
  // Of the bound shard:
  bitmap: u32; // candidate blocks: all that a match may extend into; 0: every block
  starts: u32; // REGEX: those in which a match may begin; 0: all of `bitmap`
  borders: u32; // REGEX: those of `starts` where it may begin only at the end; 0: none
  isUnlisted: u32; // SYMBOL: 1: `bitmap` has all symbols, not the result of lists
  // Of the current blob:
  cursorBlock: u32; // block after the run that the cursor is in
  isRead: u32; // 1: `state` was computed by reading blocks
  countedEnd: u32; // block (SYMBOL_REGEX: address of a row) up to which its runs are counted
}

/** Size of a node: that of the largest record. */
export const NODE_SIZE: usize = 112;

let nodes: usize = 0;
let nodeCount: u32 = 0;

/** The first failure while the plan is compiled. */
export let compileStatus: i32 = STATUS_OK;

@unmanaged
export class LeafList {
  leaves: u32; // address of their addresses, u32 each
  count: u32;
}
const LIST_SIZE: i32 = 8;
/** All leaves of the plan, in plan order: those in content, those in paths. */
export const contentLeaves = changetype<LeafList>(memory.data(LIST_SIZE, 4));
export const pathLeaves = changetype<LeafList>(memory.data(LIST_SIZE, 4));
/** The content leaves under no negation, in the order of their slots. */
export const slotLeaves = changetype<LeafList>(memory.data(LIST_SIZE, 4));
/** The leaves that are active in the current doc (evaluate.ts). */
export const activeInContent = changetype<LeafList>(memory.data(LIST_SIZE, 4));
export const activeInPath = changetype<LeafList>(memory.data(LIST_SIZE, 4));
/** The path leaves of active TEXT leaves. */
export const activeWords = changetype<LeafList>(memory.data(LIST_SIZE, 4));

/** `count` zeroed nodes, and empty lists for as many leaves, for the request. */
export function makeNodes(arena: Arena, count: u32): void {
  compileStatus = STATUS_OK;
  nodeCount = count;
  nodes = arenaAlloc(arena, nodesSize(), 16);
  if (nodes == 0) return failCompiling(STATUS_OUT_OF_MEMORY);
  memory.fill(nodes, 0, nodesSize());
  makeList(arena, contentLeaves);
  makeList(arena, pathLeaves);
  makeList(arena, slotLeaves);
  makeList(arena, activeInContent);
  makeList(arena, activeInPath);
  makeList(arena, activeWords);
}

function makeList(arena: Arena, list: LeafList): void {
  list.count = 0;
  list.leaves = <u32>arenaAlloc(arena, <usize>nodeCount * 4, 8);
  if (list.leaves == 0) failCompiling(STATUS_OUT_OF_MEMORY);
}

export function addLeaf(list: LeafList, leaf: RangeLeaf): void {
  setNode(list.leaves, list.count, leaf);
  list.count++;
}

@inline
export function leafAt(list: LeafList, index: u32): RangeLeaf {
  return changetype<RangeLeaf>(nodeAt(list.leaves, index));
}
@inline
export function contentLeafAt(index: u32): ContentLeaf {
  return changetype<ContentLeaf>(leafAt(contentLeaves, index));
}

/** Fails the compilation; the first reason is kept. Callers may continue safely, or end. */
export function failCompiling(status: i32): void {
  if (compileStatus == STATUS_OK) compileStatus = status;
}

export function nodesSize(): usize {
  return <usize>nodeCount * NODE_SIZE;
}

@inline
export function nodeOf(index: u32): MatchNode {
  return changetype<MatchNode>(nodes + <usize>index * NODE_SIZE);
}

@inline
export function nodeAt(list: usize, index: u32): MatchNode {
  return changetype<MatchNode>(<usize>load<u32>(list + (<usize>index << 2)));
}

@inline
export function setNode(list: usize, index: u32, node: MatchNode): void {
  store<u32>(list + (<usize>index << 2), changetype<usize>(node));
}

export function isInContent(kind: u32): bool {
  return (
    kind == NODE_TEXT || kind == NODE_REGEX || kind == NODE_SYMBOL || kind == NODE_SYMBOL_REGEX
  );
}

@inline
export function isCaseSensitive(node: MatchNode): bool {
  return (node.flags & PLAN_FLAG_CASE_SENSITIVE) != 0;
}

/** Compiles the literal in the node's data; address of the needle, 0 with compileStatus set. */
export function makeNeedle(arena: Arena, node: MatchNode): u32 {
  const capacity = needleSizeMax(node.dataSize);
  const needle = arenaAlloc(arena, capacity, 16);
  if (needle == 0) failCompiling(STATUS_OUT_OF_MEMORY);
  else if (compileNeedle(node.data, node.dataSize, isCaseSensitive(node), needle, capacity) < 0) {
    failCompiling(STATUS_BAD_PLAN);
  }
  return <u32>needle;
}
