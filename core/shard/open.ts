// Opens a shard in memory: checks header, section table and every row of the small tables, then
// fills a view, through which all readers go without checks. Posting frames are checked when
// decoded, pages when first read (pages.ts), everything by verify.ts.

import * as format from '../shared/format.ts';
import {
  STATUS_BLOB_ROW,
  STATUS_BLOCK_ROW,
  STATUS_DOC_ROW,
  STATUS_GRAM_KEYS,
  STATUS_HEADER_CHECKSUM,
  STATUS_LIST_RANGE,
  STATUS_NAME_ROW,
  STATUS_NOT_A_SHARD,
  STATUS_OK,
  STATUS_PAGE_SUM,
  STATUS_PATH_ORDER,
  STATUS_SECTION_CHECKSUM,
  STATUS_SECTION_TABLE,
  STATUS_TRUNCATED,
  STATUS_VERSION,
} from '../shared/status.ts';
import { xxh64, xxh64Without } from '../base/xxh64.ts';
import { arePagesValid, failedPageOf } from './pages.ts';
import { pathGroupShift } from './path-grams.ts';
import {
  BlobRow,
  BlockRow,
  DocRow,
  LanguageRow,
  misplacedSection,
  RepoRow,
  SectionRow,
} from './rows.ts';
import { ShardView } from './view.ts';

/** Where the last open failed: the section, and the row, page or other number in it. */
export let failSection: u32 = 0;
export let failIndex: u32 = 0;

export function openFail(status: i32, section: u32, index: u32): i32 {
  failSection = section;
  failIndex = index;
  return status;
}

export function headerChecksum(base: usize): u64 {
  return xxh64Without(base, format.HEADER_SIZE, format.HEADER_CHECKSUM_OFFSET);
}

/**
 * Opens the shard file at `base` into `view`, shardViewSize bytes of the host. Cost: linear in the
 * small tables. Safety: [base, base + size) does not change as long as the view is used.
 */
export function openShard(base: usize, size: u32, view: ShardView): i32 {
  let status = checkHeader(base, size);
  if (status != STATUS_OK) return status;
  view.base = <u32>base;
  view.symbolStarts = 0;
  view.keptIn = 0;
  view.namedIn = 0;
  view.docCount = load<u32>(base, format.HEADER_DOC_COUNT_OFFSET);
  view.blobCount = load<u32>(base, format.HEADER_BLOB_COUNT_OFFSET);
  view.blockCount = load<u32>(base, format.HEADER_BLOCK_COUNT_OFFSET);
  view.gramCount = load<u32>(base, format.HEADER_GRAM_COUNT_OFFSET);
  view.repoCount = load<u32>(base, format.HEADER_REPO_COUNT_OFFSET);
  view.languageCount = load<u32>(base, format.HEADER_LANGUAGE_COUNT_OFFSET);
  status = locateSections(view);
  if (status != STATUS_OK) return status;
  status = checkTablePages(view);
  if (status != STATUS_OK) return status;
  status = checkBlobs(view);
  if (status != STATUS_OK) return status;
  status = checkBlocks(view);
  if (status != STATUS_OK) return status;
  status = checkNames(view);
  if (status != STATUS_OK) return status;
  status = checkDocs(view);
  if (status != STATUS_OK) return status;
  status = checkGrams(view);
  return status != STATUS_OK ? status : checkPathGrams(view);
}

/** Checks that the file is a complete shard of this version; reads only the header. */
function checkHeader(base: usize, size: u32): i32 {
  if (size < format.HEADER_SIZE + format.TAIL_SIZE) return openFail(STATUS_TRUNCATED, 0, size);
  if (
    load<u32>(base, format.HEADER_MAGIC_OFFSET) != format.MAGIC_LOW ||
    load<u32>(base, format.HEADER_MAGIC_OFFSET + 4) != format.MAGIC_HIGH
  ) {
    return openFail(STATUS_NOT_A_SHARD, 0, 0);
  }
  const version = load<u32>(base, format.HEADER_VERSION_OFFSET);
  if (version != format.FORMAT_VERSION) return openFail(STATUS_VERSION, 0, version);
  if (load<u32>(base, format.HEADER_FILE_SIZE_OFFSET) != size)
    return openFail(STATUS_TRUNCATED, 0, size);
  if (load<u64>(base, format.HEADER_CHECKSUM_OFFSET) != headerChecksum(base)) {
    return openFail(STATUS_HEADER_CHECKSUM, 0, 0);
  }
  return STATUS_OK;
}

/**
 * Row of the section with this kind. Safety: 1 <= kind <= SECTION_COUNT; until locateSections has
 * run the row may be invalid.
 */
@inline
export function sectionRow(base: usize, kind: u32): SectionRow {
  return changetype<SectionRow>(
    base + format.HEADER_SECTIONS_OFFSET + <usize>(kind - 1) * format.SECTION_ROW_SIZE,
  );
}

/** Checks order, alignment, bounds and sizes of all sections, and stores their addresses. */
function locateSections(view: ShardView): i32 {
  const base = <usize>view.base;
  const fileSize = load<u32>(base, format.HEADER_FILE_SIZE_OFFSET);
  if (load<u32>(base, format.HEADER_SECTION_COUNT_OFFSET) != format.SECTION_COUNT) {
    return openFail(STATUS_SECTION_TABLE, 0, 0);
  }
  const misplaced = misplacedSection(
    base + format.HEADER_SECTIONS_OFFSET,
    format.SECTION_COUNT,
    format.HEADER_SIZE,
    fileSize,
  );
  if (misplaced != 0) return openFail(STATUS_SECTION_TABLE, misplaced, 0);
  const hashSize = load<u32>(base, format.HEADER_HASH_SIZE_OFFSET);
  if (hashSize != 20 && hashSize != 32)
    return openFail(STATUS_SECTION_TABLE, format.SECTION_BLOB_HASHES, 0);
  if (view.blockCount > format.SEGMENT_BLOCKS * format.SEGMENT_COUNT_MAX) {
    return openFail(STATUS_SECTION_TABLE, format.SECTION_BLOCKS, view.blockCount);
  }
  if (view.gramCount > format.GRAM_KEY_COUNT)
    return openFail(STATUS_SECTION_TABLE, format.SECTION_GRAM_KEYS, 0);
  view.hashSize = hashSize;
  storeAddresses(base, view);
  if (!areTablesSized(base, view, hashSize)) return openFail(STATUS_SECTION_TABLE, failSection, 0);
  view.pathGroupShift = pathGroupShift(view.docCount, view.pathRowSize);
  return STATUS_OK;
}

/** Stores the addresses of all sections, and the sizes that follow from theirs. */
function storeAddresses(base: usize, view: ShardView): void {
  view.content = addressOf(base, format.SECTION_CONTENT);
  view.contentSize = sectionRow(base, format.SECTION_CONTENT).size;
  view.blobs = addressOf(base, format.SECTION_BLOBS);
  view.blobHashes = addressOf(base, format.SECTION_BLOB_HASHES);
  view.blocks = addressOf(base, format.SECTION_BLOCKS);
  view.docs = addressOf(base, format.SECTION_DOCS);
  view.paths = addressOf(base, format.SECTION_PATHS);
  view.pathsSize = sectionRow(base, format.SECTION_PATHS).size;
  view.pathOrder = addressOf(base, format.SECTION_PATH_ORDER);
  view.repos = addressOf(base, format.SECTION_REPOS);
  view.languages = addressOf(base, format.SECTION_LANGUAGES);
  view.names = addressOf(base, format.SECTION_NAMES);
  view.namesSize = sectionRow(base, format.SECTION_NAMES).size;
  view.gramKeys = addressOf(base, format.SECTION_GRAM_KEYS);
  view.gramLists = addressOf(base, format.SECTION_GRAM_LISTS);
  view.postings = addressOf(base, format.SECTION_POSTINGS);
  view.postingsSize = sectionRow(base, format.SECTION_POSTINGS).size;
  view.caseMarks = addressOf(base, format.SECTION_CASE_MARKS);
  view.pathGramKeys = addressOf(base, format.SECTION_PATH_GRAM_KEYS);
  view.pathGramCount = sectionRow(base, format.SECTION_PATH_GRAM_KEYS).size >> 2;
  view.pathGramRows = addressOf(base, format.SECTION_PATH_GRAM_ROWS);
  view.pathRowSize =
    view.pathGramCount == 0
      ? format.PATH_ROW_SIZE_MIN
      : sectionRow(base, format.SECTION_PATH_GRAM_ROWS).size / view.pathGramCount;
  view.pageSums = addressOf(base, format.SECTION_PAGE_SUMS);
}

/** Whether every table has as many rows as the header says. */
function areTablesSized(base: usize, view: ShardView, hashSize: u32): bool {
  const pageCount =
    (sectionRow(base, format.SECTION_PAGE_SUMS).start + format.PAGE_SIZE - 1) >> format.PAGE_SHIFT;
  return (
    hasRows(base, format.SECTION_BLOBS, view.blobCount, format.BLOB_ROW_SIZE) &&
    hasRows(base, format.SECTION_BLOB_HASHES, view.blobCount, hashSize) &&
    hasRows(base, format.SECTION_BLOCKS, view.blockCount + 1, format.BLOCK_ROW_SIZE) &&
    hasRows(base, format.SECTION_DOCS, view.docCount, format.DOC_ROW_SIZE) &&
    hasRows(base, format.SECTION_PATH_ORDER, view.docCount, 4) &&
    hasRows(base, format.SECTION_REPOS, view.repoCount, format.REPO_ROW_SIZE) &&
    hasRows(base, format.SECTION_LANGUAGES, view.languageCount, format.LANGUAGE_ROW_SIZE) &&
    hasRows(base, format.SECTION_GRAM_KEYS, view.gramCount, 4) &&
    hasRows(base, format.SECTION_GRAM_LISTS, view.gramCount + 1, 4) &&
    hasRows(base, format.SECTION_CASE_MARKS, view.blockCount, format.CASE_MARKS_SIZE) &&
    hasRows(base, format.SECTION_PATH_GRAM_KEYS, view.pathGramCount, 4) &&
    hasRows(base, format.SECTION_PATH_GRAM_ROWS, view.pathGramCount, view.pathRowSize) &&
    popcnt(view.pathRowSize) == 1 &&
    view.pathRowSize >= format.PATH_ROW_SIZE_MIN &&
    view.pathRowSize <= format.PATH_ROW_SIZE_MAX &&
    hasRows(base, format.SECTION_PAGE_SUMS, pageCount, 4)
  );
}

/** Checks the sums of pages, then with them the pages of all sections except contents and postings. */
function checkTablePages(view: ShardView): i32 {
  const sums = sectionRow(view.base, format.SECTION_PAGE_SUMS);
  if (xxh64(view.pageSums, sums.size) != sums.checksum) {
    return openFail(STATUS_SECTION_CHECKSUM, format.SECTION_PAGE_SUMS, 0);
  }
  const isValid =
    arePagesValid(view.base, format.HEADER_SIZE, view.pageSums, view.blobs, view.postings) &&
    arePagesValid(view.base, format.HEADER_SIZE, view.pageSums, view.gramKeys, view.pageSums);
  return isValid ? STATUS_OK : openFail(STATUS_PAGE_SUM, 0, failedPageOf(view.base));
}

@inline
function addressOf(base: usize, kind: u32): u32 {
  return <u32>base + sectionRow(base, kind).start;
}

/** Whether a section has exactly `count` rows; in 64 bits, so that no count wraps. Sets failSection. */
function hasRows(base: usize, kind: u32, count: u32, rowSize: u32): bool {
  failSection = kind;
  return <u64>sectionRow(base, kind).size == <u64>count * rowSize;
}

// Rows of the tables. Safety: the id is below its count; for blocks it may equal the count.
@inline
export function blobAt(view: ShardView, blobId: u32): BlobRow {
  return changetype<BlobRow>(<usize>view.blobs + <usize>blobId * format.BLOB_ROW_SIZE);
}
@inline
export function blockAt(view: ShardView, blockId: u32): BlockRow {
  return changetype<BlockRow>(<usize>view.blocks + <usize>blockId * format.BLOCK_ROW_SIZE);
}
@inline
export function docAt(view: ShardView, docId: u32): DocRow {
  return changetype<DocRow>(<usize>view.docs + <usize>docId * format.DOC_ROW_SIZE);
}

/** Checks that blobs are contiguous in the content, their blocks ascend, and each has a first doc. */
function checkBlobs(view: ShardView): i32 {
  let content: u32 = 0;
  let block: u32 = 0;
  for (let i: u32 = 0; i < view.blobCount; i++) {
    const row = blobAt(view, i);
    const isValid =
      row.contentOffset == content &&
      row.size > 0 &&
      row.size <= view.contentSize - content &&
      row.firstBlock >= block &&
      row.firstBlock <= view.blockCount &&
      row.blockCount > 0 &&
      row.blockCount <= view.blockCount - row.firstBlock &&
      row.firstDoc < view.docCount &&
      docAt(view, row.firstDoc).blobId == i;
    if (!isValid) return openFail(STATUS_BLOB_ROW, format.SECTION_BLOBS, i);
    content += row.size;
    block = row.firstBlock + row.blockCount;
  }
  return content == view.contentSize
    ? STATUS_OK
    : openFail(STATUS_BLOB_ROW, format.SECTION_BLOBS, view.blobCount);
}

/** Checks that blocks ascend, and that those of a blob fill it. */
function checkBlocks(view: ShardView): i32 {
  for (let blockId: u32 = 0; blockId < view.blockCount; blockId++) {
    const row = blockAt(view, blockId);
    if (row.contentOffset > blockAt(view, blockId + 1).contentOffset) return blockFail(blockId);
    if (row.blobId == format.NONE_ID) {
      // An unused blockId is empty.
      if (row.contentOffset != blockAt(view, blockId + 1).contentOffset) return blockFail(blockId);
      continue;
    }
    if (row.blobId >= view.blobCount) return blockFail(blockId);
    const blob = blobAt(view, row.blobId);
    const isInside = blockId >= blob.firstBlock && blockId - blob.firstBlock < blob.blockCount;
    if (!isInside || row.line > row.contentOffset - blob.contentOffset) return blockFail(blockId);
  }
  for (let i: u32 = 0; i < view.blobCount; i++) {
    const blob = blobAt(view, i);
    const end = blockAt(view, blob.firstBlock + blob.blockCount).contentOffset;
    const isWhole =
      blockAt(view, blob.firstBlock).contentOffset == blob.contentOffset &&
      end == blob.contentOffset + blob.size;
    if (!isWhole) return openFail(STATUS_BLOB_ROW, format.SECTION_BLOCKS, i);
  }
  const end = blockAt(view, view.blockCount);
  const isEnd = end.contentOffset == view.contentSize && end.blobId == format.NONE_ID;
  return isEnd ? STATUS_OK : blockFail(view.blockCount);
}

function blockFail(blockId: u32): i32 {
  return openFail(STATUS_BLOCK_ROW, format.SECTION_BLOCKS, blockId);
}

/** Checks that names of repos and languages are inside the section of names. */
function checkNames(view: ShardView): i32 {
  for (let i: u32 = 0; i < view.repoCount; i++) {
    const row = changetype<RepoRow>(<usize>view.repos + <usize>i * format.REPO_ROW_SIZE);
    if (row.nameOffset > view.namesSize || row.nameSize > view.namesSize - row.nameOffset) {
      return openFail(STATUS_NAME_ROW, format.SECTION_REPOS, i);
    }
  }
  for (let i: u32 = 0; i < view.languageCount; i++) {
    const row = changetype<LanguageRow>(<usize>view.languages + <usize>i * format.LANGUAGE_ROW_SIZE);
    if (row.nameOffset > view.namesSize || row.nameSize > view.namesSize - row.nameOffset) {
      return openFail(STATUS_NAME_ROW, format.SECTION_LANGUAGES, i);
    }
  }
  return STATUS_OK;
}

/** Checks that paths are contiguous in the order of docs, ids in range, and ranks a permutation. */
function checkDocs(view: ShardView): i32 {
  let path: u32 = 0;
  for (let docId: u32 = 0; docId < view.docCount; docId++) {
    const row = docAt(view, docId);
    const isValid =
      row.pathOffset == path &&
      row.pathSize > 0 &&
      row.pathSize <= view.pathsSize - path &&
      row.repoIndex < view.repoCount &&
      row.languageIndex < view.languageCount &&
      row.skipReason <= format.SKIP_TOO_MANY_TRIGRAMS &&
      row.tier <= 2 &&
      row.padding == 0 &&
      row.pathRank < view.docCount &&
      load<u32>(<usize>view.pathOrder + (<usize>row.pathRank << 2)) == docId &&
      isBlobValid(view, row, docId);
    if (!isValid) return openFail(STATUS_DOC_ROW, format.SECTION_DOCS, docId);
    path += row.pathSize;
  }
  return path == view.pathsSize ? STATUS_OK : openFail(STATUS_PATH_ORDER, format.SECTION_PATHS, path);
}

/** Whether a doc with a blob is in the blob's chain, with ascending ids and one language. */
function isBlobValid(view: ShardView, row: DocRow, docId: u32): bool {
  if (row.blobId == format.NONE_ID) return row.nextDoc == format.NONE_ID;
  if (row.blobId >= view.blobCount || blobAt(view, row.blobId).firstDoc > docId) return false;
  if (row.size != blobAt(view, row.blobId).size) return false;
  if (row.nextDoc == format.NONE_ID) return true;
  if (row.nextDoc <= docId || row.nextDoc >= view.docCount) return false;
  const next = docAt(view, row.nextDoc);
  return next.blobId == row.blobId && next.languageIndex == row.languageIndex;
}

/** Checks that keys ascend, and lists are inside the postings, in order. */
function checkGrams(view: ShardView): i32 {
  let previousKey: i64 = -1;
  let previousList: u32 = 0;
  for (let i: u32 = 0; i < view.gramCount; i++) {
    const key = load<u32>(<usize>view.gramKeys + (<usize>i << 2));
    if (<i64>key <= previousKey || key >= format.GRAM_KEY_COUNT) {
      return openFail(STATUS_GRAM_KEYS, format.SECTION_GRAM_KEYS, i);
    }
    previousKey = key;
    const reference = load<u32>(<usize>view.gramLists + (<usize>i << 2));
    if (reference >> format.LIST_SINGLE_SHIFT) {
      if ((reference & 0x7fffffff) >= view.blockCount) return listFail(i);
      continue;
    }
    // A list has at least a mask, a head and a frame of two bytes.
    if (reference < previousList || reference > view.postingsSize) return listFail(i);
    if (view.postingsSize - reference < 8) return listFail(i);
    previousList = reference + 8;
  }
  const end = load<u32>(<usize>view.gramLists + (<usize>view.gramCount << 2));
  return end == view.postingsSize ? STATUS_OK : listFail(view.gramCount);
}

/** Checks that keys ascend. */
function checkPathGrams(view: ShardView): i32 {
  let previousKey: i64 = -1;
  for (let i: u32 = 0; i < view.pathGramCount; i++) {
    const key = load<u32>(<usize>view.pathGramKeys + (<usize>i << 2));
    if (<i64>key <= previousKey || key >= format.GRAM_KEY_COUNT) {
      return openFail(STATUS_GRAM_KEYS, format.SECTION_PATH_GRAM_KEYS, i);
    }
    previousKey = key;
  }
  return STATUS_OK;
}

function listFail(index: u32): i32 {
  return openFail(STATUS_LIST_RANGE, format.SECTION_GRAM_LISTS, index);
}
