// The match tree: the plan compiled into records in an arena. Leaves carry their compiled needle and gram
// keys; fields that belong to one shard, one blob or one doc are reset by bind.ts and evaluate.ts. Made
// once per request, bound to one shard after the other.

import {
  NODE_AND,
  NODE_CONST,
  NODE_DOCS,
  NODE_GRAMS,
  NODE_LANGUAGE,
  NODE_NOT,
  NODE_OR,
  NODE_PATH,
  NODE_PATH_REGEX,
  NODE_REGEX,
  NODE_REPOS,
  NODE_SYMBOL_REGEX,
  NODE_TEXT,
  PLAN_CHILD_COUNT_OFFSET,
  PLAN_DATA_SIZE_OFFSET,
  PLAN_DEPTH_MAX,
  PLAN_FLAG_CASE_SENSITIVE,
  PLAN_HEADER_SIZE,
  PLAN_NODE_COUNT_OFFSET,
  PLAN_NODE_KIND_OFFSET,
  PLAN_NODE_SIZE,
  PLAN_NODES_MAX,
  REGEX_CHAIN_OFFSET,
  REGEX_CONDITION_OFFSET,
  REGEX_HEAD_SIZE,
  REGEX_NEAR_OFFSET,
  REGEX_START_OFFSET,
} from '../shared/plan.ts';
import { CASE_MARKS_SIZE } from '../shared/format.ts';
import { STATUS_BAD_PLAN, STATUS_OK, STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { Arena, arenaAlloc } from '../base/arena.ts';
import { beginRegexes, compileRegex, regexSpansLines, regexStatus } from '../regex/regex.ts';
import { compileNeedle, needleSizeMax } from '../scan/literal.ts';
import { wantMarks } from '../text/case-marks.ts';
import { appendLetter, LETTER_NEWLINE } from '../text/letters.ts';
import { beginLookups, FOREIGN_KEYS_MAX } from './lookups.ts';
import { decodedPoint, decodedSize, decodeUtf8 } from '../text/utf8.ts';

/** A node. Leaves that find ranges (TEXT, REGEX, SYMBOL, SYMBOL_REGEX, PATH, PATH_REGEX) are atoms. */
@unmanaged
export class MatchNode {
  kind: u32;
  flags: u32; // PLAN_FLAG_*
  children: u32; // AND, OR, NOT: address of u32 addresses of nodes
  childCount: u32;
  data: u32; // address of the literal, name or ids; CONST: the value; DOCS: index of the set
  dataSize: u32;
  needle: u32; // TEXT, PATH: address of the compiled needle
  regex: u32; // REGEX, PATH_REGEX: address of the compiled expression
  condition: u32; // REGEX: address of the node with the grams of its matches; 0: none
  startCondition: u32; // REGEX that spans lines: that with the grams of where matches begin; 0: none
  nearCondition: u32; // that with the grams of what stands there or in the next block; 0: none
  chain: u32; // address of the ASCII bytes that may stand between (REGEX_CHAIN_SIZE)
  startSize: u32; // bytes at least, in front of any newline, of a match that begins as startCondition says
  keys: u32; // TEXT, GRAMS: address of the distinct gram keys, u32 each
  keyCount: u32;
  marks: u32; // TEXT, GRAMS: case marks that blocks with the literal have; 0: none
  letterCount: u32; // TEXT, GRAMS: letters of the literal
  spansLines: u32; // TEXT, SYMBOL: 1: a match may lie in more than one block, or is no gram. REGEX: it may hold a newline
  isPositive: u32; // 1: under no negation
  // Of the bound shard:
  starts: u32; // REGEX: candidate blocks in which a match may begin; 0: all of `bitmap`
  borders: u32; // REGEX: those of `starts` where it may do so at the end alone; 0: none
  bitmap: u32; // TEXT, REGEX: candidate blocks; 0: every block. DOCS: the set (bound.ts)
  cost: u32; // order of evaluation among brothers
  localId: u32; // LANGUAGE: row of the shard's languages
  isRuledOut: u32; // 1: holds for no doc of the shard; nothing below is bound
  // Of the current blob or doc:
  state: u32; // UNKNOWN, NO, YES
  cursorBlock: u32; // TEXT: block after the run that the cursor is in
  cursor: u32; // next address to look at
  cursorEnd: u32; // end of the run
  matchStart: u32; // the match the cursor stands on; 0: none left
  matchEnd: u32;
  isFresh: u32; // 1: the cursor stands on the first match of the current blob
  countedBlock: u32; // REGEX: block of the current blob up to which runs of the engine are counted; SYMBOL_REGEX: row
  isRead: u32; // TEXT, REGEX, SYMBOL: 1: what `state` says was found out by reading blocks
  symbolEnd: u32; // SYMBOL, SYMBOL_REGEX: address behind the symbol that the row in front of `cursor` is of
  symbolParent: u32; // parent last named in the block (shard/symbols.ts)
  isUnlisted: u32; // 1: `bitmap` is that of all symbols, not of lists
}
export const MATCH_NODE_SIZE: usize = 148;
if (offsetof<MatchNode>() != MATCH_NODE_SIZE) ERROR('MatchNode: size');

export const STATE_UNKNOWN: u32 = 0;
export const STATE_NO: u32 = 1;
export const STATE_YES: u32 = 2;

/** The compiled request: root, and all atoms in plan order. */
export let matchRoot: MatchNode = changetype<MatchNode>(0);
/** Addresses (u32) of the TEXT, REGEX, SYMBOL and SYMBOL_REGEX nodes, and of the PATH and PATH_REGEX nodes. */
export let textNodes: usize = 0;
export let textNodeCount: u32 = 0;
export let pathNodes: usize = 0;
export let pathNodeCount: u32 = 0;
/** Atoms, and all leaves that a doc's share is counted over: those under no negation. */
export let positiveLeafCount: u32 = 0;

let planNodes: usize = 0;
let nodes: usize = 0;
let planChildren: usize = 0;
let planData: usize = 0;
let planNodeCount: u32 = 0;
let planChildCount: u32 = 0;
let planDataSize: u32 = 0;

@inline
export function nodeAt(list: usize, index: u32): MatchNode {
  return changetype<MatchNode>(<usize>load<u32>(list + (<usize>index << 2)));
}

/**
 * Compiles the plan of `size` bytes at `plan` into `arena`; the plan must stay where it is.
 * Errors: STATUS_BAD_PLAN for anything that does not fit its own counts, STATUS_OUT_OF_MEMORY.
 */
export function compilePlan(arena: Arena, plan: usize, size: u32): i32 {
  if (size < PLAN_HEADER_SIZE) return STATUS_BAD_PLAN;
  planNodeCount = load<u32>(plan, PLAN_NODE_COUNT_OFFSET);
  planChildCount = load<u32>(plan, PLAN_CHILD_COUNT_OFFSET);
  planDataSize = load<u32>(plan, PLAN_DATA_SIZE_OFFSET);
  if (planNodeCount == 0 || planNodeCount > PLAN_NODES_MAX) return STATUS_BAD_PLAN;
  if (planChildCount > planNodeCount || planDataSize > size) return STATUS_BAD_PLAN;
  const wanted = PLAN_HEADER_SIZE + planNodeCount * PLAN_NODE_SIZE + planChildCount * 4 + planDataSize;
  if (wanted != size) return STATUS_BAD_PLAN;
  planNodes = plan + PLAN_HEADER_SIZE;
  planChildren = planNodes + <usize>planNodeCount * PLAN_NODE_SIZE;
  planData = planChildren + <usize>planChildCount * 4;
  nodes = arenaAlloc(arena, <usize>planNodeCount * MATCH_NODE_SIZE, 16);
  // Both lists of atoms, the children of AND and OR, and one child for each NOT.
  const listsSize = <usize>(planNodeCount * 3 + planChildCount) * 4;
  const lists = arenaAlloc(arena, listsSize, 8);
  if (nodes == 0 || lists == 0) return STATUS_OUT_OF_MEMORY;
  memory.fill(nodes, 0, <usize>planNodeCount * MATCH_NODE_SIZE);
  textNodes = lists;
  pathNodes = lists + <usize>planNodeCount * 4;
  childPtr = pathNodes + <usize>planNodeCount * 4;
  childStart = childPtr;
  childEnd = lists + listsSize;
  textNodeCount = 0;
  pathNodeCount = 0;
  positiveLeafCount = 0;
  hasRegexes = false;
  keyedCount = 0;
  keyCount = 0;
  for (let i: u32 = 0; i < planNodeCount; i++) {
    const status = compileNode(arena, i);
    if (status != STATUS_OK) return status;
  }
  if (!beginLookups(arena, keyedCount, keyCount)) return STATUS_OUT_OF_MEMORY;
  matchRoot = compiledNode(planNodeCount - 1);
  return markPositive(matchRoot, true, 0);
}

let hasRegexes: bool = false;
/** Leaves that have grams, and their keys in all. */
let keyedCount: u32 = 0;
let keyCount: u32 = 0;
let childStart: usize = 0;
let childPtr: usize = 0;
let childEnd: usize = 0;

/** Bytes that saveTree writes. */
export function treeSize(): usize {
  return nodesSize() + (childEnd - childStart);
}

/** Copies what binding changes in the tree to `out`: the nodes, and the order of their children. */
export function saveTree(out: usize): void {
  memory.copy(out, nodes, nodesSize());
  memory.copy(out + nodesSize(), childStart, childEnd - childStart);
}

/** Takes back what saveTree wrote. */
export function restoreTree(saved: usize): void {
  memory.copy(nodes, saved, nodesSize());
  memory.copy(childStart, saved + nodesSize(), childEnd - childStart);
}

@inline
function nodesSize(): usize {
  return <usize>planNodeCount * MATCH_NODE_SIZE;
}

@inline
function compiledNode(index: u32): MatchNode {
  return changetype<MatchNode>(nodes + <usize>index * MATCH_NODE_SIZE);
}

function compileNode(arena: Arena, index: u32): i32 {
  const row = planNodes + <usize>index * PLAN_NODE_SIZE;
  const node = compiledNode(index);
  node.kind = load<u32>(row);
  node.flags = load<u32>(row, 4);
  const first = load<u32>(row, 8);
  const size = load<u32>(row, 12);
  if (node.kind == NODE_CONST || node.kind == NODE_DOCS) {
    node.data = first;
    return STATUS_OK;
  }
  if (node.kind == NODE_NOT) return linkChild(node, first, index);
  if (node.kind == NODE_AND || node.kind == NODE_OR) return linkChildren(node, first, size, index);
  if (!isLeafKind(node.kind)) return STATUS_BAD_PLAN;
  if (first > planDataSize || size > planDataSize - first) return STATUS_BAD_PLAN;
  node.data = <u32>planData + first;
  node.dataSize = size;
  if (node.kind == NODE_LANGUAGE) return STATUS_OK;
  if (node.kind == NODE_REPOS) return size % 4 == 0 ? STATUS_OK : STATUS_BAD_PLAN;
  if (node.kind == NODE_GRAMS) return collectKeys(arena, node);
  if (isExpressionKind(node.kind)) return compileExpression(arena, node, index);
  return compileAtom(arena, node);
}

function isLeafKind(kind: u32): bool {
  return (kind >= NODE_TEXT && kind <= NODE_REPOS) || (kind >= NODE_REGEX && kind <= NODE_SYMBOL_REGEX);
}

@inline
function isExpressionKind(kind: u32): bool {
  return kind == NODE_REGEX || kind == NODE_PATH_REGEX || kind == NODE_SYMBOL_REGEX;
}

/** Adds an atom to the list of its kind. */
function addAtom(node: MatchNode): void {
  if (node.kind == NODE_PATH || node.kind == NODE_PATH_REGEX) {
    store<u32>(pathNodes + (<usize>pathNodeCount << 2), changetype<usize>(node));
    pathNodeCount++;
  } else {
    store<u32>(textNodes + (<usize>textNodeCount << 2), changetype<usize>(node));
    textNodeCount++;
  }
}

function compileExpression(arena: Arena, node: MatchNode, index: u32): i32 {
  if (node.dataSize < REGEX_HEAD_SIZE) return STATUS_BAD_PLAN;
  const condition = load<u32>(node.data, REGEX_CONDITION_OFFSET);
  const start = load<u32>(node.data, REGEX_START_OFFSET);
  const near = load<u32>(node.data, REGEX_NEAR_OFFSET);
  if (condition > index || start > index || near > index) return STATUS_BAD_PLAN;
  node.condition = nodeBefore(condition);
  node.startCondition = nodeBefore(start);
  node.nearCondition = nodeBefore(near);
  node.chain = node.data + REGEX_CHAIN_OFFSET;
  if (start != 0) node.startSize = leastLetters(compiledNode(start - 1), 0);
  if (!hasRegexes) {
    const status = beginRegexes(arena, countExpressions());
    if (status != STATUS_OK) return status;
    hasRegexes = true;
  }
  const regex = compileRegex(arena, <usize>node.data + REGEX_HEAD_SIZE, node.dataSize - REGEX_HEAD_SIZE);
  if (regex == 0) return regexStatus;
  node.regex = <u32>regex;
  node.spansLines = regexSpansLines(regex) ? 1 : 0;
  // Binding may ask for grams of no literal besides.
  if (near != 0) {
    keyedCount++;
    keyCount += FOREIGN_KEYS_MAX;
  }
  addAtom(node);
  return STATUS_OK;
}

/** Address of the node with this index plus one; 0 for 0. */
function nodeBefore(index: u32): u32 {
  return index == 0 ? 0 : <u32>changetype<usize>(compiledNode(index - 1));
}

/** Letters at least, and so bytes, of a line that satisfies the condition. */
function leastLetters(condition: MatchNode, depth: u32): u32 {
  if (condition.kind == NODE_GRAMS) return condition.letterCount;
  if (depth > PLAN_DEPTH_MAX || (condition.kind != NODE_AND && condition.kind != NODE_OR)) return 0;
  let least: u32 = 0;
  for (let i: u32 = 0; i < condition.childCount; i++) {
    const own = leastLetters(nodeAt(condition.children, i), depth + 1);
    least = i == 0 ? own : condition.kind == NODE_AND ? max(least, own) : min(least, own);
  }
  return least;
}

/** Expressions of the plan. */
function countExpressions(): u32 {
  let count: u32 = 0;
  for (let i: u32 = 0; i < planNodeCount; i++) {
    const kind = load<u32>(planNodes + <usize>i * PLAN_NODE_SIZE, PLAN_NODE_KIND_OFFSET);
    if (isExpressionKind(kind)) count++;
  }
  return count;
}

function linkChild(node: MatchNode, child: u32, index: u32): i32 {
  if (child >= index || childPtr + 4 > childEnd) return STATUS_BAD_PLAN;
  node.children = <u32>childPtr;
  node.childCount = 1;
  store<u32>(childPtr, changetype<usize>(compiledNode(child)));
  childPtr += 4;
  return STATUS_OK;
}

function linkChildren(node: MatchNode, first: u32, count: u32, index: u32): i32 {
  if (first > planChildCount || count > planChildCount - first || count == 0) return STATUS_BAD_PLAN;
  if (childPtr + ((<usize>count) << 2) > childEnd) return STATUS_BAD_PLAN;
  node.children = <u32>childPtr;
  node.childCount = count;
  for (let i: u32 = 0; i < count; i++) {
    const child = load<u32>(planChildren + (<usize>(first + i) << 2));
    if (child >= index) return STATUS_BAD_PLAN;
    store<u32>(childPtr, changetype<usize>(compiledNode(child)));
    childPtr += 4;
  }
  return STATUS_OK;
}

function compileAtom(arena: Arena, node: MatchNode): i32 {
  if (node.dataSize == 0 && node.kind != NODE_PATH) return STATUS_BAD_PLAN;
  if (node.dataSize > 0) {
    const capacity = needleSizeMax(node.dataSize);
    const needle = arenaAlloc(arena, capacity, 16);
    if (needle == 0) return STATUS_OUT_OF_MEMORY;
    const isCaseSensitive = (node.flags & PLAN_FLAG_CASE_SENSITIVE) != 0;
    const status = compileNeedle(node.data, node.dataSize, isCaseSensitive, needle, capacity);
    if (status < 0) return STATUS_BAD_PLAN;
    node.needle = <u32>needle;
  }
  addAtom(node);
  return node.kind == NODE_PATH ? STATUS_OK : collectKeys(arena, node);
}

/** The distinct gram keys of a literal, in order of occurrence, and its number of letters. */
function collectKeys(arena: Arena, node: MatchNode): i32 {
  const keys = arenaAlloc(arena, <usize>node.dataSize * 4, 8);
  if (keys == 0) return STATUS_OUT_OF_MEMORY;
  let key: u32 = 0;
  let ptr = <usize>node.data;
  const end = ptr + node.dataSize;
  while (ptr < end) {
    const decoded = decodeUtf8(ptr, end);
    const point = decodedPoint(decoded);
    ptr += decodedSize(decoded);
    key = appendLetter(key, point);
    // A newline ends its block, so that only the last letter may be one.
    if (point == LETTER_NEWLINE && (ptr < end || node.letterCount == 1)) node.spansLines = 1;
    node.letterCount++;
    if (node.letterCount >= 3) addDistinct(keys, node, key);
  }
  // Literals of one and two letters keep what they have as a prefix; see bind.ts.
  if (node.letterCount < 3) store<u32>(keys, key);
  node.keys = <u32>keys;
  keyedCount++;
  keyCount += node.keyCount;
  return (node.flags & PLAN_FLAG_CASE_SENSITIVE) != 0 ? collectMarks(arena, node) : STATUS_OK;
}

function collectMarks(arena: Arena, node: MatchNode): i32 {
  const marks = arenaAlloc(arena, CASE_MARKS_SIZE, 16);
  if (marks == 0) return STATUS_OUT_OF_MEMORY;
  if (wantMarks(node.data, <usize>node.data + node.dataSize, marks)) node.marks = <u32>marks;
  return STATUS_OK;
}

function addDistinct(keys: usize, node: MatchNode, key: u32): void {
  for (let i: u32 = 0; i < node.keyCount; i++) {
    if (load<u32>(keys + (<usize>i << 2)) == key) return;
  }
  store<u32>(keys + (<usize>node.keyCount << 2), key);
  node.keyCount++;
}

function markPositive(node: MatchNode, isPositive: bool, depth: u32): i32 {
  if (depth > PLAN_DEPTH_MAX) return STATUS_BAD_PLAN;
  node.isPositive = isPositive ? 1 : 0;
  // Why not DOCS: which revision a doc is in says nothing of how well it matches.
  if (node.kind >= NODE_TEXT && node.kind != NODE_DOCS && isPositive) positiveLeafCount++;
  for (let i: u32 = 0; i < node.childCount; i++) {
    const child = nodeAt(node.children, i);
    const status = markPositive(child, isPositive && node.kind != NODE_NOT, depth + 1);
    if (status != STATUS_OK) return status;
  }
  return STATUS_OK;
}
