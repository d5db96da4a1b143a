// Opens the tags file of a shard and reads it: which tags (symbols of the code) each block of the shard holds, and an
// order of their names. FORMAT.md is the authority. Opening checks the header and every table; rows and lists are
// checked while they are read, so that no byte of the file leads outside of it.

import {
  HEADER_CHECKSUM_OFFSET,
  LIST_SINGLE_SHIFT,
  PAGE_SHIFT,
  PAGE_SIZE,
  SECTION_ROW_SIZE,
  TAIL_SIZE,
} from '../shared/format.ts';
import {
  TAG_KEY_SIZE_MAX,
  TAG_KIND_BITS,
  TAG_KIND_COUNT,
  TAG_NAME_SIZE_MAX,
  TAG_PARENT_NAMED,
  TAG_PARENT_NONE,
  TAG_PARENT_ROW_SIZE,
  TAGS_BLOCK_COUNT_OFFSET,
  TAGS_CHECKSUM_OFFSET,
  TAGS_FILE_SIZE_OFFSET,
  TAGS_HEADER_SIZE,
  TAGS_MAGIC_HIGH,
  TAGS_MAGIC_LOW,
  TAGS_MAGIC_OFFSET,
  TAGS_NAME_COUNT_OFFSET,
  TAGS_PARENT_COUNT_OFFSET,
  TAGS_SECTION_COUNT,
  TAGS_SECTION_LISTS,
  TAGS_SECTION_NAME_LISTS,
  TAGS_SECTION_NAME_SIZES,
  TAGS_SECTION_NAMES,
  TAGS_SECTION_PAGE_SUMS,
  TAGS_SECTION_PARENT_NAMES,
  TAGS_SECTION_PARENTS,
  TAGS_SECTION_ROWS,
  TAGS_SECTION_STARTS,
  TAGS_SECTIONS_OFFSET,
  TAGS_SHARD_OFFSET,
  TAGS_TAG_COUNT_OFFSET,
  TAGS_VERSION,
  TAGS_VERSION_OFFSET,
} from '../shared/tags.ts';
import {
  STATUS_HEADER_CHECKSUM,
  STATUS_NOT_A_SHARD,
  STATUS_OK,
  STATUS_PAGE_SUM,
  STATUS_SECTION_CHECKSUM,
  STATUS_SECTION_TABLE,
  STATUS_TAG_TABLE,
  STATUS_TAGS_OF_OTHER_SHARD,
  STATUS_TRUNCATED,
  STATUS_VERSION,
} from '../shared/status.ts';
import { xxh64, xxh64Without } from '../base/xxh64.ts';
import { foldCodePoint } from '../text/fold.ts';
import { decodedPoint, decodedSize, decodeUtf8 } from '../text/utf8.ts';
import { blockAt, openFail } from './open.ts';
import { ShardView } from './view.ts';
import { arePagesSound, failedPageOf, findDamagedPage, needBytes, needTagBytes } from './pages.ts';
import { misplacedSection, SectionRow } from './rows.ts';

/** Most bytes of a coded number. */
const NUMBER_SIZE_MAX: usize = 5;

/** What a tag that is not in another one has in place of a parent. */
export const NO_PARENT: u32 = 0xffffffff;

/** A parent; its name lies in the section of their names. */
@unmanaged
export class TagParentRow {
  nameOffset: u32;
  nameSize: u16;
  kind: u16;
}
if (offsetof<TagParentRow>() != TAG_PARENT_ROW_SIZE) ERROR('TagParentRow: size');

/** Checksum of the header of a tags file: its bytes with the checksum field as zeros. */
export function tagsHeaderChecksum(base: usize): u64 {
  return xxh64Without(base, TAGS_HEADER_SIZE, TAGS_CHECKSUM_OFFSET);
}

/**
 * Opens the tags file of `size` bytes at `base` as that of the open shard `view`. Linear in the small tables.
 *
 * Safety: [base, base + size) is readable and stays as it is for as long as the view is used.
 */
export function openTags(base: usize, size: u32, view: ShardView): i32 {
  view.tagStarts = 0;
  const status = checkHeader(base, size, view);
  if (status != STATUS_OK) return status;
  if (!placeSections(base, size, view)) return openFail(STATUS_SECTION_TABLE, failedSection, 0);
  const sums = sectionRow(base, TAGS_SECTION_PAGE_SUMS);
  if (xxh64(view.tagPageSums, sums.size, 0) != sums.checksum) {
    return openFail(STATUS_SECTION_CHECKSUM, TAGS_SECTION_PAGE_SUMS, 0);
  }
  if (!areTablePagesSound(base, view)) return openFail(STATUS_PAGE_SUM, 0, failedPageOf(base));
  if (!areStartsSound(base, view)) return openFail(STATUS_TAG_TABLE, TAGS_SECTION_STARTS, failedRow);
  if (!areParentsSound(base, view)) return openFail(STATUS_TAG_TABLE, TAGS_SECTION_PARENTS, failedRow);
  if (!areNamesSound(view)) return openFail(STATUS_TAG_TABLE, TAGS_SECTION_NAMES, failedRow);
  view.tagStarts = addressOf(base, TAGS_SECTION_STARTS);
  return STATUS_OK;
}

/** Checks the pages of all sections but rows and lists. */
function areTablePagesSound(base: usize, view: ShardView): bool {
  const sums = view.tagPageSums;
  const starts = addressOf(base, TAGS_SECTION_STARTS);
  return (
    arePagesSound(base, TAGS_HEADER_SIZE, sums, starts, view.tagRows) &&
    arePagesSound(base, TAGS_HEADER_SIZE, sums, view.tagParents, view.tagLists)
  );
}

/**
 * Checks every byte of the tags file at `base`, which `view` has open: the checksums of its sections, that the rows of
 * each block are tags within it, that names ascend and their lists can be read.
 *
 * @param bitmap  scratch memory of SHARD_BITMAP_SIZE bytes
 */
export function verifyTags(base: usize, view: ShardView, bitmap: usize): i32 {
  for (let kind: u32 = 1; kind <= TAGS_SECTION_COUNT; kind++) {
    const row = sectionRow(base, kind);
    if (xxh64(base + row.start, row.size, 0) != row.checksum) {
      return openFail(STATUS_SECTION_CHECKSUM, kind, 0);
    }
  }
  const damaged = findDamagedPage(base, TAGS_HEADER_SIZE, view.tagPageSums);
  if (damaged != 0xffffffff) return openFail(STATUS_PAGE_SUM, 0, damaged);
  let count: u32 = 0;
  for (let blockId: u32 = 0; blockId < view.blockCount; blockId++) {
    const own = countTags(view, blockId);
    if (own < 0) return openFail(STATUS_TAG_TABLE, TAGS_SECTION_ROWS, blockId);
    count += <u32>own;
  }
  if (count != view.tagCount) return openFail(STATUS_TAG_TABLE, TAGS_SECTION_ROWS, count);
  for (let name: u32 = 0; name < view.tagNameCount; name++) {
    const isInOrder = name == 0 || compareFolded(nameAt(view, name - 1), nameSizeAt(view, name - 1), nameAt(view, name), nameSizeAt(view, name), false) <= 0;
    if (!isInOrder) return openFail(STATUS_TAG_TABLE, TAGS_SECTION_NAMES, name);
    if (!readTagList(view, name, bitmap)) return openFail(STATUS_TAG_TABLE, TAGS_SECTION_LISTS, name);
  }
  return STATUS_OK;
}

/** Tags of a block; below 0 if a row is damaged. */
function countTags(view: ShardView, blockId: u32): i32 {
  const size = blockAt(view, blockId + 1).contentOffset - blockAt(view, blockId).contentOffset;
  const end = tagRowsEndOf(view, blockId);
  let ptr = tagRowsOf(view, blockId);
  let place: u64 = 0;
  let parent: u32 = NO_PARENT;
  let count: i32 = 0;
  while (readTag(view, ptr, end, parent)) {
    place += <u64>tagGap + tagSize;
    if (place > size) return -1;
    ptr = tagNext;
    if (tagParent != NO_PARENT) parent = tagParent;
    count++;
  }
  return ptr == end ? count : -1;
}

@inline
function nameAt(view: ShardView, name: u32): usize {
  return <usize>view.content + load<u32>(<usize>view.tagNames + (<usize>name << 2));
}
@inline
function nameSizeAt(view: ShardView, name: u32): u32 {
  return load<u8>(<usize>view.tagNameSizes + name);
}

let failedSection: u32 = 0;
let failedRow: u32 = 0;

function checkHeader(base: usize, size: u32, view: ShardView): i32 {
  if (size < TAGS_HEADER_SIZE + TAIL_SIZE) return openFail(STATUS_TRUNCATED, 0, size);
  const isTags =
    load<u32>(base, TAGS_MAGIC_OFFSET) == TAGS_MAGIC_LOW && load<u32>(base, TAGS_MAGIC_OFFSET + 4) == TAGS_MAGIC_HIGH;
  if (!isTags) return openFail(STATUS_NOT_A_SHARD, 0, 0);
  const version = load<u32>(base, TAGS_VERSION_OFFSET);
  if (version != TAGS_VERSION) return openFail(STATUS_VERSION, 0, version);
  if (load<u32>(base, TAGS_FILE_SIZE_OFFSET) != size) return openFail(STATUS_TRUNCATED, 0, size);
  if (load<u64>(base, TAGS_CHECKSUM_OFFSET) != tagsHeaderChecksum(base)) return openFail(STATUS_HEADER_CHECKSUM, 0, 0);
  const isOfShard =
    load<u64>(base, TAGS_SHARD_OFFSET) == load<u64>(view.base, HEADER_CHECKSUM_OFFSET) &&
    load<u32>(base, TAGS_BLOCK_COUNT_OFFSET) == view.blockCount;
  return isOfShard ? STATUS_OK : openFail(STATUS_TAGS_OF_OTHER_SHARD, 0, 0);
}

@inline
function sectionRow(base: usize, kind: u32): SectionRow {
  return changetype<SectionRow>(base + TAGS_SECTIONS_OFFSET + <usize>(kind - 1) * SECTION_ROW_SIZE);
}

@inline
function addressOf(base: usize, kind: u32): u32 {
  return <u32>base + sectionRow(base, kind).start;
}

function hasRows(base: usize, kind: u32, count: u32, rowSize: u32): bool {
  failedSection = kind;
  return <u64>sectionRow(base, kind).size == <u64>count * rowSize;
}

/** Checks order, alignment and bounds of the sections and the sizes that the counts demand. */
function placeSections(base: usize, fileSize: u32, view: ShardView): bool {
  failedSection = misplacedSection(base + TAGS_SECTIONS_OFFSET, TAGS_SECTION_COUNT, TAGS_HEADER_SIZE, fileSize);
  if (failedSection != 0) return false;
  view.tagCount = load<u32>(base, TAGS_TAG_COUNT_OFFSET);
  view.tagNameCount = load<u32>(base, TAGS_NAME_COUNT_OFFSET);
  view.tagParentCount = load<u32>(base, TAGS_PARENT_COUNT_OFFSET);
  view.tagRows = addressOf(base, TAGS_SECTION_ROWS);
  view.tagParents = addressOf(base, TAGS_SECTION_PARENTS);
  view.tagParentNames = addressOf(base, TAGS_SECTION_PARENT_NAMES);
  view.tagNames = addressOf(base, TAGS_SECTION_NAMES);
  view.tagNameSizes = addressOf(base, TAGS_SECTION_NAME_SIZES);
  view.tagNameLists = addressOf(base, TAGS_SECTION_NAME_LISTS);
  view.tagLists = addressOf(base, TAGS_SECTION_LISTS);
  view.tagListsSize = sectionRow(base, TAGS_SECTION_LISTS).size;
  view.tagBase = <u32>base;
  view.tagPageSums = addressOf(base, TAGS_SECTION_PAGE_SUMS);
  const pageCount = (sectionRow(base, TAGS_SECTION_PAGE_SUMS).start + PAGE_SIZE - 1) >> PAGE_SHIFT;
  return (
    hasRows(base, TAGS_SECTION_STARTS, view.blockCount + 1, 4) &&
    hasRows(base, TAGS_SECTION_PARENTS, view.tagParentCount, TAG_PARENT_ROW_SIZE) &&
    hasRows(base, TAGS_SECTION_NAMES, view.tagNameCount, 4) &&
    hasRows(base, TAGS_SECTION_NAME_SIZES, view.tagNameCount, 1) &&
    hasRows(base, TAGS_SECTION_NAME_LISTS, view.tagNameCount, 4) &&
    hasRows(base, TAGS_SECTION_PAGE_SUMS, pageCount, 4)
  );
}

/** The starts of the blocks' rows ascend, up to the size of the rows. */
function areStartsSound(base: usize, view: ShardView): bool {
  const starts = <usize>addressOf(base, TAGS_SECTION_STARTS);
  let previous: u32 = 0;
  for (let i: u32 = 0; i <= view.blockCount; i++) {
    const start = load<u32>(starts + (<usize>i << 2));
    failedRow = i;
    if (start < previous) return false;
    previous = start;
  }
  return previous == sectionRow(base, TAGS_SECTION_ROWS).size;
}

function areParentsSound(base: usize, view: ShardView): bool {
  const namesSize = sectionRow(base, TAGS_SECTION_PARENT_NAMES).size;
  for (let i: u32 = 0; i < view.tagParentCount; i++) {
    const row = tagParentAt(view, i);
    failedRow = i;
    const isSound =
      row.kind < <u16>TAG_KIND_COUNT &&
      row.nameSize <= <u16>TAG_NAME_SIZE_MAX &&
      row.nameOffset <= namesSize &&
      row.nameSize <= namesSize - row.nameOffset;
    if (!isSound) return false;
  }
  return true;
}

/** Names lie in the content of the shard, their lists in the section of lists. */
function areNamesSound(view: ShardView): bool {
  for (let i: u32 = 0; i < view.tagNameCount; i++) {
    failedRow = i;
    const offset = load<u32>(<usize>view.tagNames + (<usize>i << 2));
    const size = <u32>load<u8>(<usize>view.tagNameSizes + i);
    if (offset > view.contentSize || size > view.contentSize - offset) return false;
    const list = load<u32>(<usize>view.tagNameLists + (<usize>i << 2));
    const isSound =
      list >> LIST_SINGLE_SHIFT ? (list & 0x7fffffff) < view.blockCount : list < view.tagListsSize;
    if (!isSound) return false;
  }
  return true;
}

@inline
export function tagParentAt(view: ShardView, parent: u32): TagParentRow {
  return changetype<TagParentRow>(<usize>view.tagParents + <usize>parent * TAG_PARENT_ROW_SIZE);
}

/** Whether the shard has a tags file. */
@inline
export function hasTags(view: ShardView): bool {
  return view.tagStarts != 0;
}

/** Whether a block holds tags. Safety: hasTags; blockId < blockCount. */
@inline
export function blockHasTags(view: ShardView, blockId: u32): bool {
  const row = <usize>view.tagStarts + (<usize>blockId << 2);
  return load<u32>(row) < load<u32>(row, 4);
}

/** Makes sure that the rows of a block can be read and are sound. Safety: as for blockHasTags. */
@inline
export function needTagRows(view: ShardView, blockId: u32): void {
  needTagBytes(view, tagRowsOf(view, blockId), tagRowsEndOf(view, blockId));
}

/** Addresses of a block's rows; their end. Safety: as for blockHasTags. */
@inline
export function tagRowsOf(view: ShardView, blockId: u32): usize {
  return <usize>view.tagRows + load<u32>(<usize>view.tagStarts + (<usize>blockId << 2));
}
@inline
export function tagRowsEndOf(view: ShardView, blockId: u32): usize {
  return <usize>view.tagRows + load<u32>(<usize>view.tagStarts + (<usize>blockId << 2), 4);
}

// The tag that readTag read.
/** Address of the row behind it. */
export let tagNext: usize = 0;
/** Bytes between the tag before, or the start of the block, and this one; its bytes; its kind. */
export let tagGap: u32 = 0;
export let tagSize: u32 = 0;
export let tagKind: u32 = 0;
/** Index of its parent; NO_PARENT. */
export let tagParent: u32 = 0;

/**
 * Reads the tag whose row starts at `ptr`, in front of `end`.
 *
 * @param lastParent  parent of the last tag of the block that has one; NO_PARENT
 * @returns  false at the end, and for damaged rows
 */
export function readTag(view: ShardView, ptr: usize, end: usize, lastParent: u32): bool {
  if (ptr >= end) return false;
  tagNext = ptr;
  tagGap = readNumber(end);
  tagSize = readNumber(end);
  if (tagNext >= end || tagSize == 0) return false;
  const packed = <u32>load<u8>(tagNext);
  tagNext++;
  tagKind = packed & ((1 << TAG_KIND_BITS) - 1);
  if (tagKind >= TAG_KIND_COUNT) return false;
  const mode = packed >> TAG_KIND_BITS;
  tagParent = mode == TAG_PARENT_NONE ? NO_PARENT : mode == TAG_PARENT_NAMED ? readNumber(end) : lastParent;
  return tagNext <= end && (tagParent < view.tagParentCount || tagParent == NO_PARENT);
}

/** A number of 7 bits a byte, lowest first; moves tagNext behind it, or behind `end` if it does not end in time. */
function readNumber(end: usize): u32 {
  let value: u32 = 0;
  for (let shift: u32 = 0; shift < 35; shift += 7) {
    if (tagNext >= end) break;
    const byte = <u32>load<u8>(tagNext);
    tagNext++;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  tagNext = end + 1;
  return 0;
}

/**
 * Compares two texts by the folded code points of their first TAG_KEY_SIZE_MAX bytes; below 0 if the first one comes
 * first. With `isPrefix` a second text that begins with the first counts as equal to it.
 */
export function compareFolded(a: usize, aSize: u32, b: usize, bSize: u32, isPrefix: bool): i32 {
  const aEnd = a + min(aSize, TAG_KEY_SIZE_MAX);
  const bEnd = b + min(bSize, TAG_KEY_SIZE_MAX);
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

/** First name that does not come before `text`; with `isBehind` the first that comes behind it and all it begins. */
export function lowerTagName(view: ShardView, text: usize, size: u32, isPrefix: bool, isBehind: bool): u32 {
  let start: u32 = 0;
  let end = view.tagNameCount;
  while (start < end) {
    const middle = (start + end) >> 1;
    const name = nameAt(view, middle);
    const nameSize = nameSizeAt(view, middle);
    if (nameSize > 0) needBytes(view, name, name + nameSize);
    const order = compareFolded(text, size, name, nameSize, isPrefix);
    if (order > 0 || (isBehind && order == 0)) start = middle + 1;
    else end = middle;
  }
  return start;
}

/** Bytes of the list that readTagList read. */
export let tagListBytes: u32 = 0;

/** Sets the bits of the blocks that hold tags with this name, or with this part of a name. */
export function readTagList(view: ShardView, name: u32, bitmap: usize): bool {
  const list = load<u32>(<usize>view.tagNameLists + (<usize>name << 2));
  tagListBytes = 4;
  if (list >> LIST_SINGLE_SHIFT) {
    setBlock(bitmap, list & 0x7fffffff);
    return true;
  }
  const end = <usize>view.tagLists + view.tagListsSize;
  tagNext = <usize>view.tagLists + list;
  const start = tagNext;
  needTagBytes(view, start, min(end, start + NUMBER_SIZE_MAX));
  const count = readNumber(end);
  needTagBytes(view, start, min(end, start + (<usize>count + 1) * NUMBER_SIZE_MAX));
  let blockId: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    blockId += readNumber(end);
    if (tagNext > end || blockId >= view.blockCount) return false;
    setBlock(bitmap, blockId);
  }
  tagListBytes = <u32>(tagNext - start);
  return tagNext <= end;
}

@inline
function setBlock(bitmap: usize, blockId: u32): void {
  const ptr = bitmap + (blockId >> 3);
  store<u8>(ptr, load<u8>(ptr) | <u8>((<u32>1) << (blockId & 7)));
}
