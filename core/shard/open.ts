// Opens a shard that lies in memory: checks header, section table and every row of the small
// tables, then fills a view, the record of absolute addresses through which everything else reads.
// After that rows are indexed without tests. Posting pieces are checked when they are decoded,
// their pages and those of the content when they are first read (pages.ts), all of it by verify.ts.
// openFailSection and openFailIndex tell details of a failure.

import {
  BLOB_ROW_SIZE,
  BLOCK_ROW_SIZE,
  CASE_MARKS_SIZE,
  DOC_ROW_SIZE,
  FORMAT_VERSION,
  HEADER_BLOB_COUNT_OFFSET,
  HEADER_BLOCK_COUNT_OFFSET,
  HEADER_CHECKSUM_OFFSET,
  HEADER_DOC_COUNT_OFFSET,
  HEADER_FILE_SIZE_OFFSET,
  HEADER_GRAM_COUNT_OFFSET,
  HEADER_HASH_SIZE_OFFSET,
  HEADER_LANGUAGE_COUNT_OFFSET,
  HEADER_MAGIC_OFFSET,
  HEADER_REPO_COUNT_OFFSET,
  HEADER_SECTION_COUNT_OFFSET,
  HEADER_SECTIONS_OFFSET,
  HEADER_SIZE,
  HEADER_VERSION_OFFSET,
  LANGUAGE_ROW_SIZE,
  LIST_SINGLE_SHIFT,
  MAGIC_HIGH,
  MAGIC_LOW,
  NONE_ID,
  PAGE_SHIFT,
  PAGE_SIZE,
  REPO_ROW_SIZE,
  SECTION_BLOB_HASHES,
  SECTION_BLOBS,
  SECTION_BLOCKS,
  SECTION_CASE_MARKS,
  SECTION_CONTENT,
  SECTION_COUNT,
  SECTION_DOCS,
  SECTION_GRAM_KEYS,
  SECTION_GRAM_LISTS,
  SECTION_LANGUAGES,
  SECTION_NAMES,
  SECTION_PAGE_SUMS,
  SECTION_PATHS,
  SECTION_PATH_ORDER,
  SECTION_POSTINGS,
  SECTION_REPOS,
  SECTION_ROW_SIZE,
  SKIP_TOO_MANY_TRIGRAMS,
  STRIPE_BLOCKS,
  STRIPE_COUNT_MAX,
  TAIL_SIZE,
  GRAM_KEY_COUNT,
} from '../shared/format.ts';
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
import { arePagesSound, failedPageOf } from './pages.ts';
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

let failSection: u32 = 0;
let failIndex: u32 = 0;

/** Section that the last failed open stumbled over. */
export function openFailSection(): u32 {
  return failSection;
}
/** Row, page or other number that it stumbled over there. */
export function openFailIndex(): u32 {
  return failIndex;
}

/** Notes where opening failed; returns the status. */
export function openFail(status: i32, section: u32, index: u32): i32 {
  failSection = section;
  failIndex = index;
  return status;
}

/** Checksum of a header: its bytes with the checksum field as zeros. */
export function headerChecksum(base: usize): u64 {
  return xxh64Without(base, HEADER_SIZE, HEADER_CHECKSUM_OFFSET);
}

/**
 * Opens the shard file of `size` bytes at `base` into `view`, a record of shardViewSize bytes that
 * the host reserves. Linear in the small tables.
 *
 * Safety: [base, base + size) is readable and stays as it is for as long as the view is used.
 */
export function openShard(base: usize, size: u32, view: ShardView): i32 {
  let status = checkHeader(base, size);
  if (status != STATUS_OK) return status;
  view.base = <u32>base;
  view.symbolStarts = 0;
  view.keptIn = 0;
  view.docCount = load<u32>(base, HEADER_DOC_COUNT_OFFSET);
  view.blobCount = load<u32>(base, HEADER_BLOB_COUNT_OFFSET);
  view.blockCount = load<u32>(base, HEADER_BLOCK_COUNT_OFFSET);
  view.gramCount = load<u32>(base, HEADER_GRAM_COUNT_OFFSET);
  view.repoCount = load<u32>(base, HEADER_REPO_COUNT_OFFSET);
  view.languageCount = load<u32>(base, HEADER_LANGUAGE_COUNT_OFFSET);
  status = placeSections(view);
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
  return checkGrams(view);
}

/** Checks that the file is a shard of this version, and whole; reads the header alone. */
function checkHeader(base: usize, size: u32): i32 {
  if (size < HEADER_SIZE + TAIL_SIZE) return openFail(STATUS_TRUNCATED, 0, size);
  if (
    load<u32>(base, HEADER_MAGIC_OFFSET) != MAGIC_LOW ||
    load<u32>(base, HEADER_MAGIC_OFFSET + 4) != MAGIC_HIGH
  ) {
    return openFail(STATUS_NOT_A_SHARD, 0, 0);
  }
  const version = load<u32>(base, HEADER_VERSION_OFFSET);
  if (version != FORMAT_VERSION) return openFail(STATUS_VERSION, 0, version);
  if (load<u32>(base, HEADER_FILE_SIZE_OFFSET) != size) return openFail(STATUS_TRUNCATED, 0, size);
  if (load<u64>(base, HEADER_CHECKSUM_OFFSET) != headerChecksum(base)) {
    return openFail(STATUS_HEADER_CHECKSUM, 0, 0);
  }
  return STATUS_OK;
}

/**
 * Row of the section with this kind; sections stand in the order of their kinds. Safety: 1 <= kind
 * <= SECTION_COUNT; before placeSections has run the row may say anything.
 */
@inline
export function sectionRow(base: usize, kind: u32): SectionRow {
  return changetype<SectionRow>(
    base + HEADER_SECTIONS_OFFSET + <usize>(kind - 1) * SECTION_ROW_SIZE,
  );
}

/**
 * Checks order, alignment and bounds of all sections and the sizes that the counts demand, and
 * fills the view with their addresses.
 */
function placeSections(view: ShardView): i32 {
  const base = <usize>view.base;
  const fileSize = load<u32>(base, HEADER_FILE_SIZE_OFFSET);
  if (load<u32>(base, HEADER_SECTION_COUNT_OFFSET) != SECTION_COUNT) {
    return openFail(STATUS_SECTION_TABLE, 0, 0);
  }
  const misplaced = misplacedSection(
    base + HEADER_SECTIONS_OFFSET,
    SECTION_COUNT,
    HEADER_SIZE,
    fileSize,
  );
  if (misplaced != 0) return openFail(STATUS_SECTION_TABLE, misplaced, 0);
  const hashSize = load<u32>(base, HEADER_HASH_SIZE_OFFSET);
  if (hashSize != 20 && hashSize != 32)
    return openFail(STATUS_SECTION_TABLE, SECTION_BLOB_HASHES, 0);
  if (view.blockCount > STRIPE_BLOCKS * STRIPE_COUNT_MAX) {
    return openFail(STATUS_SECTION_TABLE, SECTION_BLOCKS, view.blockCount);
  }
  if (view.gramCount > GRAM_KEY_COUNT) return openFail(STATUS_SECTION_TABLE, SECTION_GRAM_KEYS, 0);
  view.content = addressOf(base, SECTION_CONTENT);
  view.contentSize = sectionRow(base, SECTION_CONTENT).size;
  view.blobs = addressOf(base, SECTION_BLOBS);
  view.blobHashes = addressOf(base, SECTION_BLOB_HASHES);
  view.blocks = addressOf(base, SECTION_BLOCKS);
  view.docs = addressOf(base, SECTION_DOCS);
  view.paths = addressOf(base, SECTION_PATHS);
  view.pathsSize = sectionRow(base, SECTION_PATHS).size;
  view.pathOrder = addressOf(base, SECTION_PATH_ORDER);
  view.repos = addressOf(base, SECTION_REPOS);
  view.languages = addressOf(base, SECTION_LANGUAGES);
  view.names = addressOf(base, SECTION_NAMES);
  view.namesSize = sectionRow(base, SECTION_NAMES).size;
  view.gramKeys = addressOf(base, SECTION_GRAM_KEYS);
  view.gramLists = addressOf(base, SECTION_GRAM_LISTS);
  view.postings = addressOf(base, SECTION_POSTINGS);
  view.postingsSize = sectionRow(base, SECTION_POSTINGS).size;
  view.caseMarks = addressOf(base, SECTION_CASE_MARKS);
  view.pageSums = addressOf(base, SECTION_PAGE_SUMS);
  if (!hasRows(base, SECTION_BLOBS, view.blobCount, BLOB_ROW_SIZE)) return tableFail(SECTION_BLOBS);
  if (!hasRows(base, SECTION_BLOB_HASHES, view.blobCount, hashSize))
    return tableFail(SECTION_BLOB_HASHES);
  if (!hasRows(base, SECTION_BLOCKS, view.blockCount + 1, BLOCK_ROW_SIZE))
    return tableFail(SECTION_BLOCKS);
  if (!hasRows(base, SECTION_DOCS, view.docCount, DOC_ROW_SIZE)) return tableFail(SECTION_DOCS);
  if (!hasRows(base, SECTION_PATH_ORDER, view.docCount, 4)) return tableFail(SECTION_PATH_ORDER);
  if (!hasRows(base, SECTION_REPOS, view.repoCount, REPO_ROW_SIZE)) return tableFail(SECTION_REPOS);
  if (!hasRows(base, SECTION_LANGUAGES, view.languageCount, LANGUAGE_ROW_SIZE)) {
    return tableFail(SECTION_LANGUAGES);
  }
  if (!hasRows(base, SECTION_GRAM_KEYS, view.gramCount, 4)) return tableFail(SECTION_GRAM_KEYS);
  if (!hasRows(base, SECTION_GRAM_LISTS, view.gramCount + 1, 4))
    return tableFail(SECTION_GRAM_LISTS);
  if (!hasRows(base, SECTION_CASE_MARKS, view.blockCount, CASE_MARKS_SIZE)) {
    return tableFail(SECTION_CASE_MARKS);
  }
  const pageCount = (sectionRow(base, SECTION_PAGE_SUMS).start + PAGE_SIZE - 1) >> PAGE_SHIFT;
  return hasRows(base, SECTION_PAGE_SUMS, pageCount, 4) ? STATUS_OK : tableFail(SECTION_PAGE_SUMS);
}

/**
 * Checks the sums of the pages themselves, then the pages of all sections but contents and
 * postings.
 */
function checkTablePages(view: ShardView): i32 {
  const sums = sectionRow(view.base, SECTION_PAGE_SUMS);
  if (xxh64(view.pageSums, sums.size, 0) != sums.checksum) {
    return openFail(STATUS_SECTION_CHECKSUM, SECTION_PAGE_SUMS, 0);
  }
  const isSound =
    arePagesSound(view.base, HEADER_SIZE, view.pageSums, view.blobs, view.postings) &&
    arePagesSound(view.base, HEADER_SIZE, view.pageSums, view.gramKeys, view.pageSums);
  return isSound ? STATUS_OK : openFail(STATUS_PAGE_SUM, 0, failedPageOf(view.base));
}

@inline
function addressOf(base: usize, kind: u32): u32 {
  return <u32>base + sectionRow(base, kind).start;
}

/** Whether a section has exactly `count` rows; in 64 bits, so that no count wraps. */
function hasRows(base: usize, kind: u32, count: u32, rowSize: u32): bool {
  return <u64>sectionRow(base, kind).size == <u64>count * rowSize;
}

/** A table has not as many rows as the header counts. */
function tableFail(section: u32): i32 {
  return openFail(STATUS_SECTION_TABLE, section, 0);
}

// Rows of the tables. Safety: the id is below its count; of blocks it may be the count itself.
@inline
export function blobAt(view: ShardView, blobId: u32): BlobRow {
  return changetype<BlobRow>(<usize>view.blobs + <usize>blobId * BLOB_ROW_SIZE);
}
@inline
export function blockAt(view: ShardView, blockId: u32): BlockRow {
  return changetype<BlockRow>(<usize>view.blocks + <usize>blockId * BLOCK_ROW_SIZE);
}
@inline
export function docAt(view: ShardView, docId: u32): DocRow {
  return changetype<DocRow>(<usize>view.docs + <usize>docId * DOC_ROW_SIZE);
}

/** Blobs lie back to back in the content, their blocks in ascending order; each has a first doc. */
function checkBlobs(view: ShardView): i32 {
  let content: u32 = 0;
  let block: u32 = 0;
  for (let i: u32 = 0; i < view.blobCount; i++) {
    const row = blobAt(view, i);
    const isSound =
      row.contentOffset == content &&
      row.size > 0 &&
      row.size <= view.contentSize - content &&
      row.firstBlock >= block &&
      row.firstBlock <= view.blockCount &&
      row.blockCount > 0 &&
      row.blockCount <= view.blockCount - row.firstBlock &&
      row.firstDoc < view.docCount &&
      docAt(view, row.firstDoc).blobId == i;
    if (!isSound) return openFail(STATUS_BLOB_ROW, SECTION_BLOBS, i);
    content += row.size;
    block = row.firstBlock + row.blockCount;
  }
  return content == view.contentSize
    ? STATUS_OK
    : openFail(STATUS_BLOB_ROW, SECTION_BLOBS, view.blobCount);
}

/** Blocks ascend; those of a blob lie inside it and begin where it begins. */
function checkBlocks(view: ShardView): i32 {
  for (let blockId: u32 = 0; blockId < view.blockCount; blockId++) {
    const row = blockAt(view, blockId);
    if (row.contentOffset > blockAt(view, blockId + 1).contentOffset) return blockFail(blockId);
    if (row.blobId == NONE_ID) {
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
    if (!isWhole) return openFail(STATUS_BLOB_ROW, SECTION_BLOCKS, i);
  }
  const end = blockAt(view, view.blockCount);
  const isEnd = end.contentOffset == view.contentSize && end.blobId == NONE_ID;
  return isEnd ? STATUS_OK : blockFail(view.blockCount);
}

function blockFail(blockId: u32): i32 {
  return openFail(STATUS_BLOCK_ROW, SECTION_BLOCKS, blockId);
}

/** Names of repos and languages lie in the section of names. */
function checkNames(view: ShardView): i32 {
  for (let i: u32 = 0; i < view.repoCount; i++) {
    const row = changetype<RepoRow>(<usize>view.repos + <usize>i * REPO_ROW_SIZE);
    if (row.nameOffset > view.namesSize || row.nameSize > view.namesSize - row.nameOffset) {
      return openFail(STATUS_NAME_ROW, SECTION_REPOS, i);
    }
  }
  for (let i: u32 = 0; i < view.languageCount; i++) {
    const row = changetype<LanguageRow>(<usize>view.languages + <usize>i * LANGUAGE_ROW_SIZE);
    if (row.nameOffset > view.namesSize || row.nameSize > view.namesSize - row.nameOffset) {
      return openFail(STATUS_NAME_ROW, SECTION_LANGUAGES, i);
    }
  }
  return STATUS_OK;
}

/**
 * Paths lie back to back in the order of docs; ids and indexes are in range; ranks are a
 * permutation.
 */
function checkDocs(view: ShardView): i32 {
  let path: u32 = 0;
  for (let docId: u32 = 0; docId < view.docCount; docId++) {
    const row = docAt(view, docId);
    const isSound =
      row.pathOffset == path &&
      row.pathSize > 0 &&
      row.pathSize <= view.pathsSize - path &&
      row.repoIndex < view.repoCount &&
      row.languageIndex < view.languageCount &&
      row.skipReason <= SKIP_TOO_MANY_TRIGRAMS &&
      row.tier <= 2 &&
      row.padding == 0 &&
      row.pathRank < view.docCount &&
      load<u32>(<usize>view.pathOrder + (<usize>row.pathRank << 2)) == docId &&
      isBlobSound(view, row, docId);
    if (!isSound) return openFail(STATUS_DOC_ROW, SECTION_DOCS, docId);
    path += row.pathSize;
  }
  return path == view.pathsSize ? STATUS_OK : openFail(STATUS_PATH_ORDER, SECTION_PATHS, path);
}

/**
 * A doc with a blob is reached from it: first, or next of an earlier one; ids in the chain ascend.
 */
function isBlobSound(view: ShardView, row: DocRow, docId: u32): bool {
  if (row.blobId == NONE_ID) return row.nextDoc == NONE_ID;
  if (row.blobId >= view.blobCount || blobAt(view, row.blobId).firstDoc > docId) return false;
  if (row.size != blobAt(view, row.blobId).size) return false;
  if (row.nextDoc == NONE_ID) return true;
  if (row.nextDoc <= docId || row.nextDoc >= view.docCount) return false;
  return docAt(view, row.nextDoc).blobId == row.blobId;
}

/** Keys ascend; lists lie in the postings, in order. */
function checkGrams(view: ShardView): i32 {
  let previousKey: i64 = -1;
  let previousList: u32 = 0;
  for (let i: u32 = 0; i < view.gramCount; i++) {
    const key = load<u32>(<usize>view.gramKeys + (<usize>i << 2));
    if (<i64>key <= previousKey || key >= GRAM_KEY_COUNT) {
      return openFail(STATUS_GRAM_KEYS, SECTION_GRAM_KEYS, i);
    }
    previousKey = key;
    const reference = load<u32>(<usize>view.gramLists + (<usize>i << 2));
    if (reference >> LIST_SINGLE_SHIFT) {
      if ((reference & 0x7fffffff) >= view.blockCount) return listFail(i);
      continue;
    }
    // A list has at least a mask, a head and a piece of two bytes.
    if (reference < previousList || reference > view.postingsSize) return listFail(i);
    if (view.postingsSize - reference < 8) return listFail(i);
    previousList = reference + 8;
  }
  const end = load<u32>(<usize>view.gramLists + (<usize>view.gramCount << 2));
  return end == view.postingsSize ? STATUS_OK : listFail(view.gramCount);
}

function listFail(index: u32): i32 {
  return openFail(STATUS_LIST_RANGE, SECTION_GRAM_LISTS, index);
}
