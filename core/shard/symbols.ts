// Opens and reads the symbols file of a shard. Layout: FORMAT.md. Opening checks header and tables;
// rows, names and lists are checked while they are read: no value in the file leads outside it.

import {
  HEADER_CHECKSUM_OFFSET,
  LIST_SINGLE_SHIFT,
  PAGE_SHIFT,
  PAGE_SIZE,
  SECTION_ROW_SIZE,
  TAIL_SIZE,
} from '../shared/format.ts';
import * as layout from '../shared/symbols.ts';
import {
  STATUS_HEADER_CHECKSUM,
  STATUS_NOT_A_SHARD,
  STATUS_OK,
  STATUS_PAGE_SUM,
  STATUS_SECTION_CHECKSUM,
  STATUS_SECTION_TABLE,
  STATUS_SYMBOL_TABLE,
  STATUS_SYMBOLS_OF_OTHER_SHARD,
  STATUS_TRUNCATED,
  STATUS_VERSION,
} from '../shared/status.ts';
import { setBit } from '../base/bits.ts';
import { xxh64, xxh64Without } from '../base/xxh64.ts';
import { foldAsciiBytes, foldCodePoint } from '../text/fold.ts';
import { decodedPoint, decodedSize, decodeUtf8 } from '../text/utf8.ts';
import { blockAt, openFail } from './open.ts';
import { ShardView } from './view.ts';
import {
  arePagesValid,
  failedPageOf,
  findDamagedPage,
  needBytes,
  needSymbolBytes,
  refusePage,
} from './pages.ts';
import { misplacedSection, SectionRow } from './rows.ts';

// References between the sections (FORMAT.md, "Symbols file"):
//
//   starts[block] --> rows: | gap | size | kind, mode | parent? | ... of the symbols of the block
//                                                        +--> parents[i] --> parent names
//   names[i], name sizes[i] --> content                in the order of their folded text
//   name lists[i] --> lists: | count | block | gap | ...   or the only block itself

const NUMBER_SIZE_MAX: usize = 5;

/** The bits of 8 bytes that no ASCII byte has. */
const NOT_ASCII: u64 = 0x8080808080808080;

/** Instead of a parent: the symbol has none. */
export const NO_PARENT: u32 = 0xffffffff;

/** A parent; its name, as written, is in the section of their names. */
@unmanaged
export class SymbolParentRow {
  nameOffset: u32; // bytes from the start of that section
  nameSize: u16; // bytes
  kind: u16; // SYMBOL_*
}
if (offsetof<SymbolParentRow>() != layout.SYMBOL_PARENT_ROW_SIZE) ERROR('SymbolParentRow: size');

export function symbolsHeaderChecksum(base: usize): u64 {
  return xxh64Without(base, layout.SYMBOLS_HEADER_SIZE, layout.SYMBOLS_CHECKSUM_OFFSET);
}

/**
 * Opens the symbols file at `base` as that of the open shard `view`. Cost: linear in the small
 * tables. Safety: [base, base + size) does not change as long as the view is used.
 */
export function openSymbols(base: usize, size: u32, view: ShardView): i32 {
  view.symbolStarts = 0;
  const status = checkHeader(base, size, view);
  if (status != STATUS_OK) return status;
  if (!locateSections(base, size, view)) return openFail(STATUS_SECTION_TABLE, failedSection, 0);
  const sums = sectionRow(base, layout.SYMBOLS_SECTION_PAGE_SUMS);
  if (xxh64(view.symbolPageSums, sums.size) != sums.checksum) {
    return openFail(STATUS_SECTION_CHECKSUM, layout.SYMBOLS_SECTION_PAGE_SUMS, 0);
  }
  if (!areTablePagesValid(base, view)) return openFail(STATUS_PAGE_SUM, 0, failedPageOf(base));
  if (!areStartsValid(base, view))
    return openFail(STATUS_SYMBOL_TABLE, layout.SYMBOLS_SECTION_STARTS, failedRow);
  if (!areParentsValid(base, view))
    return openFail(STATUS_SYMBOL_TABLE, layout.SYMBOLS_SECTION_PARENTS, failedRow);
  view.symbolStarts = addressOf(base, layout.SYMBOLS_SECTION_STARTS);
  return STATUS_OK;
}

/** Checks the pages of all sections except rows, names and lists. */
function areTablePagesValid(base: usize, view: ShardView): bool {
  const sums = view.symbolPageSums;
  const starts = addressOf(base, layout.SYMBOLS_SECTION_STARTS);
  return (
    arePagesValid(base, layout.SYMBOLS_HEADER_SIZE, sums, starts, view.symbolRows) &&
    arePagesValid(base, layout.SYMBOLS_HEADER_SIZE, sums, view.symbolParents, view.symbolNames)
  );
}

/**
 * Checks every byte: checksums, symbols within each block, ascending names, readable lists.
 * @param bitmap  scratch memory of SHARD_BITMAP_SIZE bytes
 */
export function verifySymbols(base: usize, view: ShardView, bitmap: usize): i32 {
  for (let kind: u32 = 1; kind <= layout.SYMBOLS_SECTION_COUNT; kind++) {
    const row = sectionRow(base, kind);
    if (xxh64(base + row.start, row.size) != row.checksum) {
      return openFail(STATUS_SECTION_CHECKSUM, kind, 0);
    }
  }
  const damaged = findDamagedPage(base, layout.SYMBOLS_HEADER_SIZE, view.symbolPageSums);
  if (damaged != 0xffffffff) return openFail(STATUS_PAGE_SUM, 0, damaged);
  let count: u32 = 0;
  for (let blockId: u32 = 0; blockId < view.blockCount; blockId++) {
    const symbols = countSymbols(view, blockId);
    if (symbols < 0) return openFail(STATUS_SYMBOL_TABLE, layout.SYMBOLS_SECTION_ROWS, blockId);
    count += <u32>symbols;
  }
  if (count != view.symbolCount) return openFail(STATUS_SYMBOL_TABLE, layout.SYMBOLS_SECTION_ROWS, count);
  if (!areNamesValid(view))
    return openFail(STATUS_SYMBOL_TABLE, layout.SYMBOLS_SECTION_NAMES, failedRow);
  for (let name: u32 = 0; name < view.symbolNameCount; name++) {
    const isInOrder =
      name == 0 ||
      compareFolded(
        nameAt(view, name - 1),
        nameSizeAt(view, name - 1),
        nameAt(view, name),
        nameSizeAt(view, name),
        false,
      ) <= 0;
    if (!isInOrder) return openFail(STATUS_SYMBOL_TABLE, layout.SYMBOLS_SECTION_NAMES, name);
    if (!readSymbolList(view, name, bitmap))
      return openFail(STATUS_SYMBOL_TABLE, layout.SYMBOLS_SECTION_LISTS, name);
  }
  return STATUS_OK;
}

/** Symbols of a block; below 0 if a row is damaged. */
function countSymbols(view: ShardView, blockId: u32): i32 {
  const size = blockAt(view, blockId + 1).contentOffset - blockAt(view, blockId).contentOffset;
  const end = symbolRowsEndOf(view, blockId);
  let ptr = symbolRowsOf(view, blockId);
  let position: u64 = 0;
  let parent: u32 = NO_PARENT;
  let count: i32 = 0;
  while (readSymbol(view, ptr, end, parent)) {
    position += <u64>symbolRow.gap + symbolRow.size;
    if (position > size) return -1;
    ptr = symbolRow.next;
    if (symbolRow.parent != NO_PARENT) parent = symbolRow.parent;
    count++;
  }
  return ptr == end ? count : -1;
}

/** Address and bytes of a row of the order of names. Safety: name < symbolNameCount. */
@inline
function nameAt(view: ShardView, name: u32): usize {
  return <usize>view.content + load<u32>(<usize>view.symbolNames + (<usize>name << 2));
}
@inline
function nameSizeAt(view: ShardView, name: u32): u32 {
  return load<u8>(<usize>view.symbolNameSizes + name);
}

/** Ensures that a name is in memory, valid, and inside the content; else the call ends here. */
function needName(view: ShardView, name: u32): void {
  const row = <usize>view.symbolNames + (<usize>name << 2);
  needSymbolBytes(view, row, row + 4);
  needSymbolBytes(view, <usize>view.symbolNameSizes + name, <usize>view.symbolNameSizes + name + 1);
  if (!isNameInside(view, name)) refusePage(row & ~(<usize>PAGE_SIZE - 1));
  const size = nameSizeAt(view, name);
  if (size > 0) needBytes(view, nameAt(view, name), nameAt(view, name) + size);
}

@inline
function isNameInside(view: ShardView, name: u32): bool {
  const offset = load<u32>(<usize>view.symbolNames + (<usize>name << 2));
  return offset <= view.contentSize && nameSizeAt(view, name) <= view.contentSize - offset;
}

/** Whether the list of a name, or its only block, is inside. */
@inline
function isListInside(view: ShardView, list: u32): bool {
  return list >> LIST_SINGLE_SHIFT
    ? (list & 0x7fffffff) < view.blockCount
    : list < view.symbolListsSize;
}

/** Where the last check failed. */
let failedSection: u32 = 0;
let failedRow: u32 = 0;

/** Checks that the file is complete, of this version, and belongs to this shard. */
function checkHeader(base: usize, size: u32, view: ShardView): i32 {
  if (size < layout.SYMBOLS_HEADER_SIZE + TAIL_SIZE) return openFail(STATUS_TRUNCATED, 0, size);
  const isSymbols =
    load<u32>(base, layout.SYMBOLS_MAGIC_OFFSET) == layout.SYMBOLS_MAGIC_LOW &&
    load<u32>(base, layout.SYMBOLS_MAGIC_OFFSET + 4) == layout.SYMBOLS_MAGIC_HIGH;
  if (!isSymbols) return openFail(STATUS_NOT_A_SHARD, 0, 0);
  const version = load<u32>(base, layout.SYMBOLS_VERSION_OFFSET);
  if (version != layout.SYMBOLS_VERSION) return openFail(STATUS_VERSION, 0, version);
  if (load<u32>(base, layout.SYMBOLS_FILE_SIZE_OFFSET) != size) return openFail(STATUS_TRUNCATED, 0, size);
  if (load<u64>(base, layout.SYMBOLS_CHECKSUM_OFFSET) != symbolsHeaderChecksum(base))
    return openFail(STATUS_HEADER_CHECKSUM, 0, 0);
  const isOfShard =
    load<u64>(base, layout.SYMBOLS_SHARD_OFFSET) == load<u64>(view.base, HEADER_CHECKSUM_OFFSET) &&
    load<u32>(base, layout.SYMBOLS_BLOCK_COUNT_OFFSET) == view.blockCount;
  return isOfShard ? STATUS_OK : openFail(STATUS_SYMBOLS_OF_OTHER_SHARD, 0, 0);
}

@inline
function sectionRow(base: usize, kind: u32): SectionRow {
  return changetype<SectionRow>(
    base + layout.SYMBOLS_SECTIONS_OFFSET + <usize>(kind - 1) * SECTION_ROW_SIZE,
  );
}

@inline
function addressOf(base: usize, kind: u32): u32 {
  return <u32>base + sectionRow(base, kind).start;
}

/** Whether a section has exactly `count` rows; in 64 bits, so that no count wraps. */
function hasRows(base: usize, kind: u32, count: u32, rowSize: u32): bool {
  failedSection = kind;
  return <u64>sectionRow(base, kind).size == <u64>count * rowSize;
}

/** Checks order, alignment and bounds of the sections and the sizes required by the counts. */
function locateSections(base: usize, fileSize: u32, view: ShardView): bool {
  failedSection = misplacedSection(
    base + layout.SYMBOLS_SECTIONS_OFFSET,
    layout.SYMBOLS_SECTION_COUNT,
    layout.SYMBOLS_HEADER_SIZE,
    fileSize,
  );
  if (failedSection != 0) return false;
  view.symbolCount = load<u32>(base, layout.SYMBOLS_COUNT_OFFSET);
  view.symbolNameCount = load<u32>(base, layout.SYMBOLS_NAME_COUNT_OFFSET);
  view.symbolParentCount = load<u32>(base, layout.SYMBOLS_PARENT_COUNT_OFFSET);
  view.symbolRows = addressOf(base, layout.SYMBOLS_SECTION_ROWS);
  view.symbolParents = addressOf(base, layout.SYMBOLS_SECTION_PARENTS);
  view.symbolParentNames = addressOf(base, layout.SYMBOLS_SECTION_PARENT_NAMES);
  view.symbolNames = addressOf(base, layout.SYMBOLS_SECTION_NAMES);
  view.symbolNameSizes = addressOf(base, layout.SYMBOLS_SECTION_NAME_SIZES);
  view.symbolNameLists = addressOf(base, layout.SYMBOLS_SECTION_NAME_LISTS);
  view.symbolLists = addressOf(base, layout.SYMBOLS_SECTION_LISTS);
  view.symbolListsSize = sectionRow(base, layout.SYMBOLS_SECTION_LISTS).size;
  view.symbolBase = <u32>base;
  view.symbolPageSums = addressOf(base, layout.SYMBOLS_SECTION_PAGE_SUMS);
  const pageCount =
    (sectionRow(base, layout.SYMBOLS_SECTION_PAGE_SUMS).start + PAGE_SIZE - 1) >> PAGE_SHIFT;
  return (
    hasRows(base, layout.SYMBOLS_SECTION_STARTS, view.blockCount + 1, 4) &&
    hasRows(base, layout.SYMBOLS_SECTION_PARENTS, view.symbolParentCount, layout.SYMBOL_PARENT_ROW_SIZE) &&
    hasRows(base, layout.SYMBOLS_SECTION_NAMES, view.symbolNameCount, 4) &&
    hasRows(base, layout.SYMBOLS_SECTION_NAME_SIZES, view.symbolNameCount, 1) &&
    hasRows(base, layout.SYMBOLS_SECTION_NAME_LISTS, view.symbolNameCount, 4) &&
    hasRows(base, layout.SYMBOLS_SECTION_PAGE_SUMS, pageCount, 4)
  );
}

/** The starts of the blocks' rows ascend, up to the size of the rows. */
function areStartsValid(base: usize, view: ShardView): bool {
  const starts = <usize>addressOf(base, layout.SYMBOLS_SECTION_STARTS);
  let previous: u32 = 0;
  for (let i: u32 = 0; i <= view.blockCount; i++) {
    const start = load<u32>(starts + (<usize>i << 2));
    failedRow = i;
    if (start < previous) return false;
    previous = start;
  }
  return previous == sectionRow(base, layout.SYMBOLS_SECTION_ROWS).size;
}

/** Kinds and sizes are in range, and names are inside their section. */
function areParentsValid(base: usize, view: ShardView): bool {
  const namesSize = sectionRow(base, layout.SYMBOLS_SECTION_PARENT_NAMES).size;
  for (let i: u32 = 0; i < view.symbolParentCount; i++) {
    const row = symbolParentAt(view, i);
    failedRow = i;
    const isValid =
      row.kind < <u16>layout.SYMBOL_KIND_COUNT &&
      row.nameSize <= <u16>layout.SYMBOL_NAME_SIZE_MAX &&
      row.nameOffset <= namesSize &&
      row.nameSize <= namesSize - row.nameOffset;
    if (!isValid) return false;
  }
  return true;
}

/** Names are inside the content of the shard, their lists inside the section of lists. */
function areNamesValid(view: ShardView): bool {
  for (let i: u32 = 0; i < view.symbolNameCount; i++) {
    failedRow = i;
    if (!isNameInside(view, i)) return false;
    if (!isListInside(view, load<u32>(<usize>view.symbolNameLists + (<usize>i << 2)))) return false;
  }
  return true;
}

/** Safety: parent < symbolParentCount, as readSymbol has checked. */
@inline
export function symbolParentAt(view: ShardView, parent: u32): SymbolParentRow {
  return changetype<SymbolParentRow>(
    <usize>view.symbolParents + <usize>parent * layout.SYMBOL_PARENT_ROW_SIZE,
  );
}

@inline
export function hasSymbols(view: ShardView): bool {
  return view.symbolStarts != 0;
}

/** Whether one of the blocks [first, end) holds symbols. Safety: hasSymbols; end <= blockCount. */
@inline
export function hasSymbolsIn(view: ShardView, first: u32, end: u32): bool {
  return symbolRowsOf(view, first) < symbolRowsOf(view, end);
}

/** Ensures that the rows of a block are in memory and valid. Safety: hasSymbols; blockId < blockCount. */
@inline
export function needSymbolRows(view: ShardView, blockId: u32): void {
  needSymbolBytes(view, symbolRowsOf(view, blockId), symbolRowsEndOf(view, blockId));
}

/** Addresses of a block's rows; their end. Safety: as for needSymbolRows; the start also of blockCount. */
@inline
export function symbolRowsOf(view: ShardView, blockId: u32): usize {
  return <usize>view.symbolRows + load<u32>(<usize>view.symbolStarts + (<usize>blockId << 2));
}
@inline
export function symbolRowsEndOf(view: ShardView, blockId: u32): usize {
  return <usize>view.symbolRows + load<u32>(<usize>view.symbolStarts + (<usize>blockId << 2), 4);
}

/** The result of readSymbol. */
@unmanaged
class SymbolRow {
  next: usize; // address after the last read
  gap: u32; // bytes between the previous symbol, or the start of the block, and this one
  size: u32; // bytes of its name
  kind: u32; // SYMBOL_*
  parent: u32; // index of its parent; NO_PARENT
}
export const symbolRow = changetype<SymbolRow>(memory.data(20, 8));
if (offsetof<SymbolRow>() != 20) ERROR('SymbolRow: size');

/**
 * Reads the symbol whose row starts at `ptr` into symbolRow. Values of a damaged row stay within
 * the row and the table of parents, but the caller must check the gap against the block; false at
 * the end, and for damaged rows. @param lastParent  last parent in the block; NO_PARENT
 */
export function readSymbol(view: ShardView, ptr: usize, end: usize, lastParent: u32): bool {
  if (ptr >= end) return false;
  symbolRow.next = ptr;
  symbolRow.gap = readNumber(end);
  symbolRow.size = readNumber(end);
  if (symbolRow.next >= end || symbolRow.size == 0) return false;
  const packed = <u32>load<u8>(symbolRow.next);
  symbolRow.next++;
  symbolRow.kind = packed & ((1 << layout.SYMBOL_KIND_BITS) - 1);
  if (symbolRow.kind >= layout.SYMBOL_KIND_COUNT) return false;
  const mode = packed >> layout.SYMBOL_KIND_BITS;
  symbolRow.parent =
    mode == layout.SYMBOL_PARENT_NONE
      ? NO_PARENT
      : mode == layout.SYMBOL_PARENT_NAMED
        ? readNumber(end)
        : lastParent;
  return (
    symbolRow.next <= end &&
    (symbolRow.parent < view.symbolParentCount || symbolRow.parent == NO_PARENT)
  );
}

/** 7 bits a byte, lowest first; advances symbolRow.next, past `end` if it does not end in time. */
function readNumber(end: usize): u32 {
  let value: u32 = 0;
  for (let shift: u32 = 0; shift < 35; shift += 7) {
    if (symbolRow.next >= end) break;
    const byte = <u32>load<u8>(symbolRow.next);
    symbolRow.next++;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  symbolRow.next = end + 1;
  return 0;
}

/**
 * Compares the folded code points of the first SYMBOL_KEY_SIZE_MAX bytes. With `isPrefix` a second
 * text that begins with the first counts as equal.
 */
export function compareFolded(a: usize, aSize: u32, b: usize, bSize: u32, isPrefix: bool): i32 {
  const aEnd = a + min(aSize, layout.SYMBOL_KEY_SIZE_MAX);
  const bEnd = b + min(bSize, layout.SYMBOL_KEY_SIZE_MAX);
  // Names have long beginnings in common.
  while (aEnd - a >= 8 && bEnd - b >= 8) {
    const aBytes = load<u64>(a);
    const bBytes = load<u64>(b);
    if (((aBytes | bBytes) & NOT_ASCII) != 0) break;
    const aFolded = foldAsciiBytes(aBytes);
    const bFolded = foldAsciiBytes(bBytes);
    if (aFolded != bFolded) {
      const shift = ctz(aFolded ^ bFolded) & 56;
      return <u8>(aFolded >> shift) < <u8>(bFolded >> shift) ? -1 : 1;
    }
    a += 8;
    b += 8;
  }
  while (a < aEnd && b < bEnd) {
    const aDecoded = decodeUtf8(a, aEnd);
    const bDecoded = decodeUtf8(b, bEnd);
    const aPoint = foldCodePoint(decodedPoint(aDecoded));
    const bPoint = foldCodePoint(decodedPoint(bDecoded));
    if (aPoint != bPoint) return aPoint < bPoint ? -1 : 1;
    a += decodedSize(aDecoded);
    b += decodedSize(bDecoded);
  }
  if (a == aEnd) return b == bEnd || isPrefix ? 0 : -1;
  return 1;
}

/** First name not before `text`; with `isBehind` the first after it and all that begin with it. */
export function lowerSymbolName(
  view: ShardView,
  text: usize,
  size: u32,
  isPrefix: bool,
  isBehind: bool,
): u32 {
  let start: u32 = 0;
  let end = view.symbolNameCount;
  while (start < end) {
    const middle = (start + end) >> 1;
    needName(view, middle);
    const order = compareFolded(
      text,
      size,
      nameAt(view, middle),
      nameSizeAt(view, middle),
      isPrefix,
    );
    if (order > 0 || (isBehind && order == 0)) start = middle + 1;
    else end = middle;
  }
  return start;
}

/** Whether a name equals `text`, or begins with it, ignoring case; false after the last name. */
export function isSymbolNamed(
  view: ShardView,
  name: u32,
  text: usize,
  size: u32,
  isPrefix: bool,
): bool {
  if (name >= view.symbolNameCount) return false;
  needName(view, name);
  return compareFolded(text, size, nameAt(view, name), nameSizeAt(view, name), isPrefix) == 0;
}

/** Whether a name begins with `text`, in the same case. */
export function beginsWithText(view: ShardView, name: u32, text: usize, size: u32): bool {
  needName(view, name);
  return nameSizeAt(view, name) >= size && memory.compare(nameAt(view, name), text, size) == 0;
}

/** Size in bytes of the list read by readSymbolList. */
export let symbolListBytes: u32 = 0;

/** Sets the bits of the blocks with symbols of this name, or of this part of a name. */
export function readSymbolList(view: ShardView, name: u32, bitmap: usize): bool {
  const place = <usize>view.symbolNameLists + (<usize>name << 2);
  needSymbolBytes(view, place, place + 4);
  const list = load<u32>(place);
  symbolListBytes = 4;
  if (!isListInside(view, list)) return false;
  if (list >> LIST_SINGLE_SHIFT) {
    setBit(bitmap, list & 0x7fffffff);
    return true;
  }
  const end = <usize>view.symbolLists + view.symbolListsSize;
  symbolRow.next = <usize>view.symbolLists + list;
  const start = symbolRow.next;
  needSymbolBytes(view, start, min(end, start + NUMBER_SIZE_MAX));
  const count = readNumber(end);
  needSymbolBytes(view, start, min(end, start + (<usize>count + 1) * NUMBER_SIZE_MAX));
  let blockId: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    blockId += readNumber(end);
    if (symbolRow.next > end || blockId >= view.blockCount) return false;
    setBit(bitmap, blockId);
  }
  symbolListBytes = <u32>(symbolRow.next - start);
  return symbolRow.next <= end;
}
