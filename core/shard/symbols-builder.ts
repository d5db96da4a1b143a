// Builds the sections of a symbols file, blob by blob. Rows are encoded at once; names, and the
// words within names (`run` of `Job.run`), are collected in a hash table with their blocks, then
// sorted.
//   symbolsBegin -> symbolsAddBlob* -> symbolsFinish -> read the sections

import { LIST_SINGLE_SHIFT } from '../shared/format.ts';
import * as layout from '../shared/symbols.ts';
import { STATUS_OK, STATUS_OUT_OF_MEMORY, STATUS_SYMBOL_INPUT } from '../shared/status.ts';
import { sortByKey, SORT_ROW_SIZE } from '../base/sort.ts';
import { foldCodePoint } from '../text/fold.ts';
import { decodedPoint, decodedSize, decodeUtf8 } from '../text/utf8.ts';
import { isWordByte } from '../text/words.ts';
import { blobAt, blockAt } from './open.ts';
import { BlobRow } from './rows.ts';
import { ShardView } from './view.ts';
import { compareFolded, NO_PARENT } from './symbols.ts';

// The memory layout, one table after the other; pages are touched as they are used.
//
//   slots    128 MiB   u32 index of a name plus one, by its hash; 0: free (open addressing)
//   names    448 MiB   Name
//   links    320 MiB   u32 blockId, u32 index plus one of the name's next link
//   starts             u32 for each blockId, and one more: start of its rows
//   rows     384 MiB   rows of symbols as in the file (FORMAT.md, "Symbol")
//   rest               for symbolsFinish: rows to sort, twice; offsets, sizes, references, lists
const HASH_SLOTS: u32 = 1 << 25;
const NAMES_MAX: u32 = 1 << 24;
const ROWS_SIZE: usize = 384 << 20;
const LINKS_MAX: u32 = 40 << 20;
const NUMBER_SIZE_MAX: usize = 5;
/** Bound: a content with more names and words would leave no room for those of others. */
const BLOB_NAMES_MAX: u32 = 1 << 20;

/**
 * A distinct name, or the end of one from a word on, and its blocks: the first here, the others in a
 * chain of links. Names that fold alike have separate, adjacent rows.
 */
@unmanaged
class Name {
  ptr: u32; // address in the content of the shard
  size: u32; // at most SYMBOL_KEY_SIZE_MAX
  firstBlock: u32; // blockIds ascend
  lastBlock: u32;
  firstLink: u32; // index plus one of the link for the second block; 0: none
  lastLink: u32;
  blockCount: u32; // distinct blocks
}
const NAME_SIZE: usize = 28;
if (offsetof<Name>() != NAME_SIZE) ERROR('Name: size');

const LINK_SIZE: usize = 8;

/** The shard, and the tables. The host reads the exports after symbolsFinish. */
let view: ShardView = changetype<ShardView>(0);
let slots: usize = 0;
let names: usize = 0;
export let nameCount: u32 = 0;
let links: usize = 0;
let linkCount: u32 = 0;
export let starts: usize = 0;
export let rows: usize = 0;
export let rowsEnd: usize = 0;
let rest: usize = 0;
let limit: usize = 0;
export let symbolCount: u32 = 0;
/** Block of the last symbol; its end in the content section; the last parent in that block. */
let block: u32 = 0;
let blockEnd: u32 = 0;
let lastEnd: u32 = 0;
let lastParent: u32 = NO_PARENT;
/** First block whose start is not written yet. */
let openBlock: u32 = 0;

/** The sections made by symbolsFinish. */
export let nameOffsets: usize = 0;
export let nameSizes: usize = 0;
export let nameLists: usize = 0;
export let lists: usize = 0;
export let listsEnd: usize = 0;

/** Begins a build in the memory [start, end), all zeros. Errors: STATUS_OUT_OF_MEMORY if it is too small. */
export function symbolsBegin(shard: ShardView, start: usize, end: usize): i32 {
  view = shard;
  slots = (start + 15) & ~15;
  names = slots + <usize>HASH_SLOTS * 4;
  links = names + <usize>NAMES_MAX * NAME_SIZE;
  starts = links + <usize>LINKS_MAX * LINK_SIZE;
  rows = starts + (<usize>view.blockCount + 1) * 4;
  rest = (rows + ROWS_SIZE + 15) & ~15;
  limit = end;
  if (rest < start || rest + (64 << 20) > end) return STATUS_OUT_OF_MEMORY;
  nameCount = 0;
  linkCount = 0;
  rowsEnd = rows;
  symbolCount = 0;
  block = 0;
  blockEnd = 0;
  openBlock = 0;
  return STATUS_OK;
}

/**
 * Adds the symbols at `input` (SYMBOL_INPUT_SIZE each, ascending, disjoint) of a blob after the
 * previous one. Cost: linear in the bytes of their names, times the words in a name.
 * Errors: STATUS_OUT_OF_MEMORY if they do not fit: nothing was added, another blob may fit;
 * STATUS_SYMBOL_INPUT for a symbol that is not within one block after the previous one, or has an
 * unknown kind, which ends the build.
 */
export function symbolsAddBlob(blobId: u32, input: usize, count: u32): i32 {
  if (blobId >= view.blobCount) return STATUS_SYMBOL_INPUT;
  const blob = blobAt(view, blobId);
  if (blob.firstBlock < openBlock) return STATUS_SYMBOL_INPUT;
  if (!hasRoom(count, nameCountOf(blob, input, count))) return STATUS_OUT_OF_MEMORY;
  enterBlock(blob.firstBlock);
  const endBlock = blob.firstBlock + blob.blockCount;
  for (let i: u32 = 0; i < count; i++) {
    const row = input + <usize>i * layout.SYMBOL_INPUT_SIZE;
    const start = load<u32>(row);
    const size = load<u32>(row, 4);
    const kind = load<u32>(row, 8) & 0xff;
    const parent = load<u32>(row, 8) >> layout.SYMBOL_INPUT_PARENT_SHIFT;
    if (size == 0 || size > layout.SYMBOL_NAME_SIZE_MAX || kind >= layout.SYMBOL_KIND_COUNT)
      return STATUS_SYMBOL_INPUT;
    if (start > blob.size || size > blob.size - start) return STATUS_SYMBOL_INPUT;
    const position = blob.contentOffset + start;
    while (position >= blockEnd && block + 1 < endBlock) enterBlock(block + 1);
    // It must be after the previous symbol, and in one block.
    if (position < lastEnd || position + size > blockEnd) return STATUS_SYMBOL_INPUT;
    addRow(position, size, kind, parent - 1);
    addNames(<usize>view.content + position, size);
  }
  return STATUS_OK;
}

/** The names of the symbols at `input`, and the words that begin within them. */
function nameCountOf(blob: BlobRow, input: usize, count: u32): u64 {
  let total: u64 = count;
  for (let i: u32 = 0; i < count; i++) {
    const row = input + <usize>i * layout.SYMBOL_INPUT_SIZE;
    const start = load<u32>(row);
    const size = load<u32>(row, 4);
    if (start > blob.size || size > blob.size - start) return total;
    const ptr = <usize>view.content + blob.contentOffset + start;
    for (let word = ptr + 1; word < ptr + size; word++) if (isWordStart(word)) total++;
  }
  return total;
}

/** Whether the tables have room for so many symbols and names, and symbolsFinish for its lists. */
function hasRoom(symbols: u32, added: u64): bool {
  if (added > BLOB_NAMES_MAX || nameCount + <u32>added > NAMES_MAX) return false;
  if (linkCount + <u32>added > LINKS_MAX) return false;
  if (rowsEnd + <usize>symbols * (3 * NUMBER_SIZE_MAX + 1) > rows + ROWS_SIZE) return false;
  return endOfLists(nameCount + <u32>added, linkCount + <u32>added) <= limit;
}

/** Where the lists of symbolsFinish end at the latest. */
function endOfLists(names: u64, links: u64): u64 {
  const ofName = <u64>(2 * SORT_ROW_SIZE + 9 + 2 * NUMBER_SIZE_MAX);
  return <u64>rest + names * ofName + links * <u64>NUMBER_SIZE_MAX + 16;
}

/** Makes `blockId` the current block; those between have no symbols. Gaps count from its start. */
function enterBlock(blockId: u32): void {
  block = blockId;
  blockEnd = blockAt(view, blockId + 1).contentOffset;
  lastEnd = blockAt(view, blockId).contentOffset;
  lastParent = NO_PARENT;
  writeStarts(blockId);
}

/** Writes the missing starts of the blocks up to `last`: the position of the next row. */
function writeStarts(last: u32): void {
  for (; openBlock <= last; openBlock++)
    store<u32>(starts + (<usize>openBlock << 2), <u32>(rowsEnd - rows));
}

/** Writes the row of a symbol at `position` of the content; `parent` NO_PARENT: none. */
function addRow(position: u32, size: u32, kind: u32, parent: u32): void {
  rowsEnd = writeNumber(rowsEnd, position - lastEnd);
  rowsEnd = writeNumber(rowsEnd, size);
  const mode =
    parent == NO_PARENT
      ? layout.SYMBOL_PARENT_NONE
      : parent == lastParent
        ? layout.SYMBOL_PARENT_SAME
        : layout.SYMBOL_PARENT_NAMED;
  store<u8>(rowsEnd, <u8>(kind | (mode << layout.SYMBOL_KIND_BITS)));
  rowsEnd++;
  if (mode == layout.SYMBOL_PARENT_NAMED) {
    rowsEnd = writeNumber(rowsEnd, parent);
    lastParent = parent;
  }
  lastEnd = position + size;
  symbolCount++;
}

/** Writes 7 bits a byte, lowest first, bit 7 set in all but the last; returns the end. */
function writeNumber(ptr: usize, value: u32): usize {
  while (value >= 0x80) {
    store<u8>(ptr, <u8>(value | 0x80));
    ptr++;
    value >>= 7;
  }
  store<u8>(ptr, <u8>value);
  return ptr + 1;
}

/** Adds a name and the words that begin within it. */
function addNames(ptr: usize, size: u32): void {
  const end = ptr + size;
  addName(ptr, size);
  for (let word = ptr + 1; word < end; word++)
    if (isWordStart(word)) addName(word, <u32>(end - word));
}

@inline
function isWordStart(ptr: usize): bool {
  return isWordByte(load<u8>(ptr)) && !isWordByte(load<u8>(ptr - 1));
}

/** Adds the current block to the name, cut to the size of keys. Safety: `hasRoom`. */
function addName(ptr: usize, size: u32): void {
  const keySize = min(size, layout.SYMBOL_KEY_SIZE_MAX);
  let slot = hashOf(ptr, keySize) & (HASH_SLOTS - 1);
  for (;;) {
    const index = load<u32>(slots + (<usize>slot << 2));
    if (index == 0) break;
    const name = nameAt(index - 1);
    if (name.size == keySize && memory.compare(name.ptr, ptr, keySize) == 0) {
      addLink(name);
      return;
    }
    slot = (slot + 1) & (HASH_SLOTS - 1);
  }
  const name = nameAt(nameCount);
  nameCount++;
  store<u32>(slots + (<usize>slot << 2), nameCount);
  name.ptr = <u32>ptr;
  name.size = keySize;
  name.firstBlock = block;
  name.lastBlock = block;
  name.firstLink = 0;
  name.lastLink = 0;
  name.blockCount = 1;
}

@inline
function nameAt(index: u32): Name {
  return changetype<Name>(names + <usize>index * NAME_SIZE);
}

function addLink(name: Name): void {
  if (name.lastBlock == block) return;
  const position = links + <usize>linkCount * LINK_SIZE;
  linkCount++;
  store<u32>(position, block);
  store<u32>(position, 0, 4);
  if (name.lastLink == 0) name.firstLink = linkCount;
  else store<u32>(links + <usize>(name.lastLink - 1) * LINK_SIZE, linkCount, 4);
  name.lastLink = linkCount;
  name.lastBlock = block;
  name.blockCount++;
}

/** Source: FNV-1a. */
function hashOf(ptr: usize, size: u32): u32 {
  let hash: u32 = 0x811c9dc5;
  for (let i: u32 = 0; i < size; i++) hash = (hash ^ load<u8>(ptr + i)) * 0x01000193;
  return hash ^ (hash >> 15);
}

/**
 * Sorts the names and writes their lists, valid until the next symbolsBegin. Errors:
 * STATUS_OUT_OF_MEMORY.
 */
export function symbolsFinish(): i32 {
  writeStarts(view.blockCount);
  const sorted = rest;
  const scratch = sorted + <usize>nameCount * SORT_ROW_SIZE;
  nameOffsets = scratch + <usize>nameCount * SORT_ROW_SIZE;
  nameSizes = nameOffsets + <usize>nameCount * 4;
  nameLists = (nameSizes + nameCount + 3) & ~3;
  lists = nameLists + <usize>nameCount * 4;
  if (endOfLists(nameCount, linkCount) > limit) return STATUS_OUT_OF_MEMORY;
  for (let i: u32 = 0; i < nameCount; i++) {
    const row = sorted + <usize>i * SORT_ROW_SIZE;
    const name = nameAt(i);
    store<u64>(row, foldedPrefix(name.ptr, name.size));
    store<u32>(row, i, 8);
  }
  const inOrder = sortByKey(sorted, nameCount, scratch, compareNames);
  listsEnd = lists;
  for (let i: u32 = 0; i < nameCount; i++) {
    const name = nameAt(load<u32>(inOrder + <usize>i * SORT_ROW_SIZE, 8));
    store<u32>(nameOffsets + (<usize>i << 2), name.ptr - view.content);
    store<u8>(nameSizes + i, <u8>name.size);
    store<u32>(nameLists + (<usize>i << 2), writeList(name));
  }
  return STATUS_OK;
}

/** The first 8 bytes of a name, folded, highest first, as far as they are ASCII. */
function foldedPrefix(ptr: usize, size: u32): u64 {
  let key: u64 = 0;
  const end = ptr + size;
  for (let shift: i32 = 56; shift >= 0; shift -= 8) {
    if (ptr >= end) return key;
    const decoded = decodeUtf8(ptr, end);
    const point = foldCodePoint(decodedPoint(decoded));
    // The rest is compared separately.
    if (point >= 0x80) return key | ((<u64>0xff) << shift);
    key |= (<u64>point) << shift;
    ptr += decodedSize(decoded);
  }
  return key;
}

/** Order of two names with equal keys: that of their folded texts, else of their bytes. */
function compareNames(a: u32, b: u32): i32 {
  const first = nameAt(a);
  const second = nameAt(b);
  const order = compareFolded(first.ptr, first.size, second.ptr, second.size, false);
  if (order != 0) return order;
  const bytes = memory.compare(first.ptr, second.ptr, min(first.size, second.size));
  return bytes != 0 ? bytes : <i32>first.size - <i32>second.size;
}

function writeList(name: Name): u32 {
  if (name.blockCount == 1) return name.firstBlock | (1 << LIST_SINGLE_SHIFT);
  const start = listsEnd;
  listsEnd = writeNumber(listsEnd, name.blockCount);
  listsEnd = writeNumber(listsEnd, name.firstBlock);
  let previous = name.firstBlock;
  for (let position = name.firstLink; position != 0;) {
    const row = links + <usize>(position - 1) * LINK_SIZE;
    const blockId = load<u32>(row);
    listsEnd = writeNumber(listsEnd, blockId - previous);
    previous = blockId;
    position = load<u32>(row, 4);
  }
  return <u32>(start - lists);
}
