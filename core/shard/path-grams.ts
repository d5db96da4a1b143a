// The grams of paths: for each gram, the groups of docs whose paths have it. Docs are in order of
// tier and path, so that those of a group share folders. Built from the paths only, so that the
// check of a shard builds them again. FORMAT.md, "Path grams".

import {
  GRAM_KEY_COUNT,
  PATH_GROUP_SHIFT_MIN,
  PATH_ROW_SIZE_MAX,
  PATH_ROW_SIZE_MIN,
} from '../shared/format.ts';
import { clearKeys, extractKeys, KEY_SET_SIZE } from './extract.ts';
import { setBit } from '../base/bits.ts';
import { ShardView } from './view.ts';

/** Rows with a total of more bytes than this, or more than four times the paths, are shortened. */
const ROWS_SIZE_ENOUGH: u64 = 1 << 20;

/** The result of pathGramsBuild: keys, ascending, u32 each, and a row for each. */
export let pathKeys: usize = 0;
export let pathRows: usize = 0;
export let pathKeyCount: u32 = 0;
export let pathRowSize: u32 = 0;

/** Docs of a group, as a power of 2, with rows of `rowSize` bytes. */
export function pathGroupShift(docCount: u32, rowSize: u32): u32 {
  let shift = PATH_GROUP_SHIFT_MIN;
  while (docCount > 0 && (docCount - 1) >> shift >= rowSize << 3) shift++;
  return shift;
}

// Scratch of a build:
//
//   | keys of all paths, a bit each | keys before each u32 of that | keys of a group, a bit each |
//   | list of these | keys | rows |
let allKeys: usize = 0;
let keysBefore: usize = 0;
let groupKeys: usize = 0;
let groupList: usize = 0;

const SETS_SIZE: usize = 3 * KEY_SET_SIZE;
const LIST_SIZE: usize = <usize>GRAM_KEY_COUNT * 4 + 64;

/**
 * Builds the grams of the concatenated paths, in two passes; `ends` are u32 offsets of their ends.
 * Safety: from `scratch`, a multiple of 16, on there is room for all of the above.
 */
export function pathGramsBuild(paths: usize, ends: usize, docCount: u32, scratch: usize): void {
  allKeys = scratch;
  keysBefore = allKeys + KEY_SET_SIZE;
  groupKeys = keysBefore + KEY_SET_SIZE;
  groupList = scratch + SETS_SIZE;
  pathKeys = groupList + LIST_SIZE;
  memory.fill(scratch, 0, SETS_SIZE);
  const size = docCount == 0 ? 0 : load<u32>(ends + (<usize>(docCount - 1) << 2));
  listAllKeys(paths, ends, docCount);
  writeKeys();
  pathRowSize = chooseRowSize(docCount, size);
  pathRows = (pathKeys + (<usize>pathKeyCount << 2) + 15) & ~15;
  memory.fill(pathRows, 0, <usize>pathKeyCount * pathRowSize);
  const shift = pathGroupShift(docCount, pathRowSize);
  for (let first: u32 = 0, group: u32 = 0; first < docCount; first += 1 << shift, group++) {
    const listEnd = listKeys(paths, ends, first, min(docCount, first + (1 << shift)));
    for (let ptr = groupList; ptr < listEnd; ptr += 4) {
      setBit(pathRows + <usize>rankOf(load<u32>(ptr)) * pathRowSize, group);
    }
    clearKeys(groupKeys, groupList, listEnd);
  }
}

/** Sets the bits of the keys of all paths in allKeys. */
function listAllKeys(paths: usize, ends: usize, docCount: u32): void {
  const step: u32 = 1 << PATH_GROUP_SHIFT_MIN;
  for (let first: u32 = 0; first < docCount; first += step) {
    const listEnd = listKeys(paths, ends, first, min(docCount, first + step));
    for (let ptr = groupList; ptr < listEnd; ptr += 4) setBit(allKeys, load<u32>(ptr));
    clearKeys(groupKeys, groupList, listEnd);
  }
}

/** Lists the keys of the paths of the docs [first, end); returns the end of the list. */
function listKeys(paths: usize, ends: usize, first: u32, end: u32): usize {
  let listEnd = groupList;
  let pathStart = first == 0 ? 0 : load<u32>(ends + (<usize>(first - 1) << 2));
  for (let docId = first; docId < end; docId++) {
    const pathEnd = load<u32>(ends + (<usize>docId << 2));
    listEnd = extractKeys(paths + pathStart, paths + pathEnd, groupKeys, listEnd);
    pathStart = pathEnd;
  }
  return listEnd;
}

/** Writes the keys of all paths, ascending, and the number of keys before each word of the set. */
function writeKeys(): void {
  pathKeyCount = 0;
  for (let word: u32 = 0; word < GRAM_KEY_COUNT / 32; word++) {
    store<u32>(keysBefore + (<usize>word << 2), pathKeyCount);
    for (let bits = load<u32>(allKeys + (<usize>word << 2)); bits != 0; bits &= bits - 1) {
      store<u32>(pathKeys + (<usize>pathKeyCount << 2), word * 32 + ctz(bits));
      pathKeyCount++;
    }
  }
}

/** Index of a key among all keys. */
function rankOf(key: u32): u32 {
  const word = <usize>(key >> 5) << 2;
  const below = load<u32>(allKeys + word) & ((<u32>1 << (key & 31)) - 1);
  return load<u32>(keysBefore + word) + popcnt(below);
}

/** Bytes of a row: a bit for each of the smallest groups, or fewer if all rows would take too much room. */
function chooseRowSize(docCount: u32, size: u32): u32 {
  let rowSize = PATH_ROW_SIZE_MIN;
  while (rowSize < PATH_ROW_SIZE_MAX && docCount >> PATH_GROUP_SHIFT_MIN >= rowSize << 3)
    rowSize *= 2;
  const enough = max(ROWS_SIZE_ENOUGH, 4 * <u64>size);
  while (rowSize > PATH_ROW_SIZE_MIN && <u64>pathKeyCount * rowSize > enough) rowSize /= 2;
  return rowSize;
}

/** Address of the row of a gram of an open shard; 0: no path has it. */
export function pathRowOf(view: ShardView, key: u32): usize {
  const keys = <usize>view.pathGramKeys;
  let start: u32 = 0;
  let end = view.pathGramCount;
  while (start < end) {
    const middle = (start + end) >> 1;
    if (load<u32>(keys + (<usize>middle << 2)) < key) start = middle + 1;
    else end = middle;
  }
  if (start == view.pathGramCount || load<u32>(keys + (<usize>start << 2)) != key) return 0;
  return <usize>view.pathGramRows + <usize>start * view.pathRowSize;
}
