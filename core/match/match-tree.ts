// Compiles the plan into the match tree once a request, children before their parents, then bound
// to one shard after the other (bind.ts).
//   plan   | header | rows, PLAN_NODE_SIZE each | children, u32 rows | data
//   arena  | nodes, NODE_SIZE each | children, u32 addresses | needles, keys, programs, ...

import * as layout from '../shared/plan.ts';
import { STATUS_BAD_PLAN, STATUS_OK, STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { Arena, arenaAlloc } from '../base/arena.ts';
import { beginRegexes } from '../regex/regex.ts';
import { compileGrams, GramsNode } from './conditions.ts';
import { compileHeads } from './heads.ts';
import { beginLookups, forgetLookups } from './lookups.ts';
import {
  addLeaf,
  RangeLeaf,
  compileStatus,
  failCompiling,
  isInContent,
  makeNodes,
  MatchNode,
  nodeAt,
  NODE_SIZE,
  nodeOf,
  nodesSize,
  setNode,
  slotLeaves,
} from './node.ts';
import { compilePath, PathLeaf } from './path-leaf.ts';
import { compileRegexLeaf, RegexLeaf } from './regex-leaf.ts';
import { compileSymbol, SymbolLeaf } from './symbol-leaf.ts';
import { compileText, TextLeaf } from './text-leaf.ts';

export let matchRoot: MatchNode = changetype<MatchNode>(0);
/** Leaves that count for a doc's share: those under no negation, except DOCS and CONST. */
export let positiveLeafCount: u32 = 0;
/** Number of these leaves that search contents; their slots are numbered in plan order. */
export let slotCount: u32 = 0;
/** Counts of the nodes in the bound shard (NODE_COUNTS_SIZE each); 0: the plan requests none. */
export let nodeCounts: usize = 0;

/** The plan: addresses of its rows, children and data; numbers of rows and children, bytes of data. */
let planRows: usize = 0;
let planChildren: usize = 0;
let planData: usize = 0;
let rowCount: u32 = 0;
let childCount: u32 = 0;
let dataSize: u32 = 0;

/** The compiled lists of children; the next free position; their end. */
let lists: usize = 0;
let nextList: usize = 0;
let listsEnd: usize = 0;

/**
 * Compiles the plan, which must stay in place. Errors: STATUS_BAD_PLAN for anything inconsistent
 * with its counts, STATUS_OUT_OF_MEMORY.
 */
export function compilePlan(arena: Arena, plan: usize, size: u32): i32 {
  if (!readHeader(plan, size)) return STATUS_BAD_PLAN;
  makeNodes(arena, rowCount);
  makeLists(arena);
  forgetLookups();
  const expressionCount = countExpressions();
  const status = expressionCount > 0 ? beginRegexes(arena, expressionCount) : STATUS_OK;
  if (status != STATUS_OK) failCompiling(status);
  for (let i: u32 = 0; i < rowCount && compileStatus == STATUS_OK; i++) compileNode(arena, i);
  if (compileStatus != STATUS_OK) return compileStatus;
  if (!beginLookups(arena)) return STATUS_OUT_OF_MEMORY;
  nodeCounts = 0;
  if (load<u32>(plan, layout.PLAN_COUNTS_OFFSET) != 0) {
    nodeCounts = arenaAlloc(arena, nodeCountsSize(), 8);
    if (nodeCounts == 0) return STATUS_OUT_OF_MEMORY;
  }
  matchRoot = nodeOf(rowCount - 1);
  positiveLeafCount = 0;
  slotCount = 0;
  visitCount = 0;
  if (!countPositive(matchRoot, true, 0)) return STATUS_BAD_PLAN;
  compileHeads(arena);
  return compileStatus;
}

/** False if the parts do not match the plan's size. Rows are checked when they are compiled. */
function readHeader(plan: usize, size: u32): bool {
  if (size < layout.PLAN_HEADER_SIZE) return false;
  rowCount = load<u32>(plan, layout.PLAN_NODE_COUNT_OFFSET);
  childCount = load<u32>(plan, layout.PLAN_CHILD_COUNT_OFFSET);
  dataSize = load<u32>(plan, layout.PLAN_DATA_SIZE_OFFSET);
  // Bound: so no sum wraps.
  if (rowCount == 0 || rowCount > layout.PLAN_NODES_MAX || childCount > rowCount || dataSize > size)
    return false;
  planRows = plan + layout.PLAN_HEADER_SIZE;
  planChildren = planRows + <usize>rowCount * layout.PLAN_NODE_SIZE;
  planData = planChildren + <usize>childCount * 4;
  return planData + dataSize == plan + size;
}

/** Allocates the children of AND and OR, and one child of each NOT. */
function makeLists(arena: Arena): void {
  const size = <usize>(rowCount + childCount) * 4;
  lists = arenaAlloc(arena, size, 8);
  nextList = lists;
  listsEnd = lists + size;
  if (lists == 0) failCompiling(STATUS_OUT_OF_MEMORY);
}

export function treeSize(): usize {
  return nodesSize() + (listsEnd - lists);
}

/** Copies what binding changes: the nodes, and the order of their children. */
export function saveTree(out: usize): void {
  memory.copy(out, changetype<usize>(nodeOf(0)), nodesSize());
  memory.copy(out + nodesSize(), lists, listsEnd - lists);
}

export function restoreTree(saved: usize): void {
  memory.copy(changetype<usize>(nodeOf(0)), saved, nodesSize());
  memory.copy(lists, saved + nodesSize(), listsEnd - lists);
}

export function nodeCountsSize(): usize {
  return <usize>rowCount * layout.NODE_COUNTS_SIZE;
}

/** Stores the counts of a node of the bound shard. Only if the plan requests them. */
export function setNodeCounts(node: MatchNode, docs: u32, blocks: u32): void {
  const index = (changetype<usize>(node) - changetype<usize>(nodeOf(0))) / NODE_SIZE;
  const row = nodeCounts + index * layout.NODE_COUNTS_SIZE;
  store<u32>(row, docs, layout.NODE_DOCS_OFFSET);
  store<u32>(row, blocks, layout.NODE_BLOCKS_OFFSET);
}

@inline
function rowAt(index: u32): usize {
  return planRows + <usize>index * layout.PLAN_NODE_SIZE;
}

/** Number of expressions in the plan, which share the memory for caches. */
function countExpressions(): u32 {
  let count: u32 = 0;
  for (let i: u32 = 0; i < rowCount; i++) {
    const kind = load<u32>(rowAt(i), layout.PLAN_NODE_KIND_OFFSET);
    const isExpression =
      kind == layout.NODE_REGEX ||
      kind == layout.NODE_PATH_REGEX ||
      kind == layout.NODE_SYMBOL_REGEX;
    if (isExpression) count++;
  }
  return count;
}

/** Compiles the row `index` of the plan, after all rows that it names. */
function compileNode(arena: Arena, index: u32): void {
  const row = rowAt(index);
  const node = nodeOf(index);
  node.kind = load<u32>(row, layout.PLAN_NODE_KIND_OFFSET);
  node.flags = load<u32>(row, layout.PLAN_NODE_FLAGS_OFFSET);
  const first = load<u32>(row, layout.PLAN_NODE_FIRST_OFFSET);
  const size = load<u32>(row, layout.PLAN_NODE_SIZE_OFFSET);
  switch (node.kind) {
    case layout.NODE_CONST:
    case layout.NODE_DOCS:
      node.data = first;
      return;
    case layout.NODE_NOT:
      return linkChild(node, first, index);
    case layout.NODE_AND:
    case layout.NODE_OR:
      return linkChildren(node, first, size, index);
  }
  if (first > dataSize || size > dataSize - first) return failCompiling(STATUS_BAD_PLAN);
  node.data = <u32>planData + first;
  node.dataSize = size;
  compileLeaf(arena, node, index);
}

function compileLeaf(arena: Arena, node: MatchNode, index: u32): void {
  switch (node.kind) {
    case layout.NODE_TEXT:
      return compileText(arena, changetype<TextLeaf>(node));
    case layout.NODE_REGEX:
      return compileRegexLeaf(arena, changetype<RegexLeaf>(node), index);
    case layout.NODE_PATH:
    case layout.NODE_PATH_REGEX:
      return compilePath(arena, changetype<PathLeaf>(node), index);
    case layout.NODE_SYMBOL:
    case layout.NODE_SYMBOL_REGEX:
      return compileSymbol(arena, changetype<SymbolLeaf>(node), index);
    case layout.NODE_GRAMS:
      return compileGrams(arena, changetype<GramsNode>(node));
    case layout.NODE_LANGUAGE:
      return;
    case layout.NODE_REPOS:
      if (node.dataSize % 4 == 0) return;
  }
  failCompiling(STATUS_BAD_PLAN);
}

function linkChild(node: MatchNode, child: u32, index: u32): void {
  if (child >= index || nextList + 4 > listsEnd) return failCompiling(STATUS_BAD_PLAN);
  if (node.childCount == 0) node.children = <u32>nextList;
  setNode(nextList, 0, nodeOf(child));
  nextList += 4;
  node.childCount++;
}

/** Links `count` children, rows named in the plan's list from `first` on, to the node. */
function linkChildren(node: MatchNode, first: u32, count: u32, index: u32): void {
  if (first > childCount || count > childCount - first || count == 0)
    return failCompiling(STATUS_BAD_PLAN);
  for (let i: u32 = 0; i < count; i++)
    linkChild(node, load<u32>(planChildren + ((<usize>(first + i)) << 2)), index);
}

let visitCount: u32 = 0;

function giveSlot(leaf: RangeLeaf): void {
  leaf.slot = slotCount++;
  addLeaf(slotLeaves, leaf);
  if (leaf.kind != layout.NODE_TEXT) return;
  const path = changetype<TextLeaf>(leaf).path;
  if (changetype<usize>(path) != 0) path.slot = leaf.slot;
}

/**
 * Counts the leaves under no negation; false if the tree is too deep, or not a tree: nodes with
 * several parents would be more active leaves than there is room for.
 */
function countPositive(node: MatchNode, isPositive: bool, depth: u32): bool {
  visitCount++;
  if (depth > layout.PLAN_DEPTH_MAX || visitCount > rowCount) return false;
  // Why not DOCS: in which revision a doc is does not tell how well it matches.
  if (node.kind >= layout.NODE_TEXT && node.kind != layout.NODE_DOCS && isPositive) {
    positiveLeafCount++;
    if (isInContent(node.kind)) giveSlot(changetype<RangeLeaf>(node));
  }
  for (let i: u32 = 0; i < node.childCount; i++) {
    const isChildPositive = isPositive && node.kind != layout.NODE_NOT;
    if (!countPositive(nodeAt(node.children, i), isChildPositive, depth + 1)) return false;
  }
  return true;
}
