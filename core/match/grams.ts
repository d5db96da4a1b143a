// The grams of a literal: the keys that every block with it has. Made once a request.

import { Arena, arenaAlloc } from '../base/arena.ts';
import { CASE_MARKS_SIZE } from '../shared/format.ts';
import { NODE_PATH } from '../shared/plan.ts';
import { STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { marksOfText } from '../text/case-marks.ts';
import { appendGramChar, GRAM_CHAR_NEWLINE } from '../text/gram-chars.ts';
import { decodedPoint, decodedSize, decodeUtf8 } from '../text/utf8.ts';
import { expectLookups } from './lookups.ts';
import { failCompiling, isCaseSensitive, MatchNode } from './node.ts';

@unmanaged
export class Grams {
  keys: u32; // address of the distinct keys, u32 each, as they occur; of short ones the letters
  keyCount: u32; // 0: the literal has less than three letters
  gramCharCount: u32; // letters (text/gram-chars.ts) of the literal, as many as code points
  marks: u32; // address of the case marks that blocks with the literal have; 0: none
  spansLines: u32; // 1: the literal may span several blocks, or has a newline that no gram has
}

/** Null, with compileStatus set, if the arena is full. Cost: quadratic in the number of keys. */
export function makeGrams(arena: Arena, node: MatchNode): Grams {
  const grams = changetype<Grams>(arenaAlloc(arena, offsetof<Grams>(), 8));
  const keys = arenaAlloc(arena, <usize>node.dataSize * 4, 8);
  if (changetype<usize>(grams) == 0 || keys == 0) {
    failCompiling(STATUS_OUT_OF_MEMORY);
    return changetype<Grams>(0);
  }
  memory.fill(changetype<usize>(grams), 0, offsetof<Grams>());
  grams.keys = <u32>keys;
  listKeys(grams, node.data, <usize>node.data + node.dataSize);
  // The grams of paths have no lists, and no case marks.
  if (node.kind == NODE_PATH) return grams;
  expectLookups(grams.keyCount);
  if (isCaseSensitive(node)) grams.marks = makeMarks(arena, node);
  return grams;
}

/** Decodes the literal [ptr, end); the key of three letters slides over it. */
function listKeys(grams: Grams, ptr: usize, end: usize): void {
  let key: u32 = 0;
  while (ptr < end) {
    const decoded = decodeUtf8(ptr, end);
    const point = decodedPoint(decoded);
    ptr += decodedSize(decoded);
    key = appendGramChar(key, point);
    // A newline ends its block, so only the last letter may be one.
    if (point == GRAM_CHAR_NEWLINE && (ptr < end || grams.gramCharCount == 1)) grams.spansLines = 1;
    grams.gramCharCount++;
    if (grams.gramCharCount >= 3) addDistinct(grams, key);
  }
  // With one or two letters they are a part of the keys to look up (block-sets.ts).
  if (grams.gramCharCount < 3) store<u32>(grams.keys, key);
}

function addDistinct(grams: Grams, key: u32): void {
  for (let i: u32 = 0; i < grams.keyCount; i++) if (keyAt(grams, i) == key) return;
  store<u32>(<usize>grams.keys + (<usize>grams.keyCount << 2), key);
  grams.keyCount++;
}

/** The case marks of the node's literal; 0 if it has none. */
function makeMarks(arena: Arena, node: MatchNode): u32 {
  const marks = arenaAlloc(arena, CASE_MARKS_SIZE, 16);
  if (marks == 0) failCompiling(STATUS_OUT_OF_MEMORY);
  else if (marksOfText(node.data, <usize>node.data + node.dataSize, marks)) return <u32>marks;
  return 0;
}

@inline
export function keyAt(grams: Grams, index: u32): u32 {
  return load<u32>(<usize>grams.keys + (<usize>index << 2));
}
