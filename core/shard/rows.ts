// The rows of a shard's tables as records over mapped memory. FORMAT.md describes them; asc checks
// them here against the offsets in shared/format.ts, which the daemon's writer uses.

import {
  BLOB_BLOCK_COUNT_OFFSET,
  BLOB_BLOCK_START_OFFSET,
  BLOB_DOC_OFFSET,
  BLOB_FLAGS_OFFSET,
  BLOB_ROW_SIZE,
  BLOB_SIZE_OFFSET,
  BLOCK_BLOB_OFFSET,
  BLOCK_LINE_OFFSET,
  BLOCK_ROW_SIZE,
  DOC_BLOB_OFFSET,
  DOC_LANGUAGE_OFFSET,
  DOC_NEXT_OFFSET,
  DOC_PATH_RANK_OFFSET,
  DOC_PATH_SIZE_OFFSET,
  DOC_REPO_OFFSET,
  DOC_ROW_SIZE,
  DOC_SIZE_OFFSET,
  DOC_SKIP_REASON_OFFSET,
  DOC_TIER_OFFSET,
  SECTION_ALIGNMENT,
  SECTION_ROW_SIZE,
  TAIL_SIZE,
} from '../shared/format.ts';

/**
 * One stored content. Rows of the tables refer to each other by index:
 *
 *   doc   -- blobId, nextDoc (with the same content) -->  blob, doc
 *   blob  -- firstDoc; firstBlock, blockCount        -->  doc; blocks
 *   block -- blobId; contentOffset up to the next's  -->  blob; content
 */
@unmanaged
export class BlobRow {
  contentOffset: u32; // bytes from the start of the content section
  size: u32; // bytes, > 0
  firstBlock: u32;
  blockCount: u32; // > 0
  firstDoc: u32; // docId of the first doc with this content
  flags: u32; // BLOB_FLAG_*
}
if (offsetof<BlobRow>() != BLOB_ROW_SIZE) ERROR('BlobRow: size');
if (offsetof<BlobRow>('size') != BLOB_SIZE_OFFSET) ERROR('BlobRow.size');
if (offsetof<BlobRow>('firstBlock') != BLOB_BLOCK_START_OFFSET) ERROR('BlobRow.firstBlock');
if (offsetof<BlobRow>('blockCount') != BLOB_BLOCK_COUNT_OFFSET) ERROR('BlobRow.blockCount');
if (offsetof<BlobRow>('firstDoc') != BLOB_DOC_OFFSET) ERROR('BlobRow.firstDoc');
if (offsetof<BlobRow>('flags') != BLOB_FLAGS_OFFSET) ERROR('BlobRow.flags');

/** One block; the next row has its end. */
@unmanaged
export class BlockRow {
  contentOffset: u32; // bytes from the start of the content section
  blobId: u32; // NONE_ID: an unused blockId at the end of a segment
  line: u32; // newlines of the content before this block
}
if (offsetof<BlockRow>() != BLOCK_ROW_SIZE) ERROR('BlockRow: size');
if (offsetof<BlockRow>('blobId') != BLOCK_BLOB_OFFSET) ERROR('BlockRow.blobId');
if (offsetof<BlockRow>('line') != BLOCK_LINE_OFFSET) ERROR('BlockRow.line');

@unmanaged
export class DocRow {
  pathOffset: u32; // bytes from the start of the paths section
  pathSize: u32; // bytes, > 0
  blobId: u32; // NONE_ID: empty or skipped
  nextDoc: u32; // the next docId with the same content, or NONE_ID
  pathRank: u32; // rank of the path among the shard's paths in byte order
  size: u32; // bytes of the file, also if its content is not indexed
  repoIndex: u16; // row of the repos table
  languageIndex: u16; // row of the languages table
  skipReason: u8; // SKIP_*
  tier: u8; // 0 ordinary, 1 test, 2 vendored or generated
  padding: u16; // zero
}
if (offsetof<DocRow>() != DOC_ROW_SIZE) ERROR('DocRow: size');
if (offsetof<DocRow>('pathSize') != DOC_PATH_SIZE_OFFSET) ERROR('DocRow.pathSize');
if (offsetof<DocRow>('blobId') != DOC_BLOB_OFFSET) ERROR('DocRow.blobId');
if (offsetof<DocRow>('nextDoc') != DOC_NEXT_OFFSET) ERROR('DocRow.nextDoc');
if (offsetof<DocRow>('pathRank') != DOC_PATH_RANK_OFFSET) ERROR('DocRow.pathRank');
if (offsetof<DocRow>('size') != DOC_SIZE_OFFSET) ERROR('DocRow.size');
if (offsetof<DocRow>('repoIndex') != DOC_REPO_OFFSET) ERROR('DocRow.repoIndex');
if (offsetof<DocRow>('languageIndex') != DOC_LANGUAGE_OFFSET) ERROR('DocRow.languageIndex');
if (offsetof<DocRow>('skipReason') != DOC_SKIP_REASON_OFFSET) ERROR('DocRow.skipReason');
if (offsetof<DocRow>('tier') != DOC_TIER_OFFSET) ERROR('DocRow.tier');

/** One section of the section table. */
@unmanaged
export class SectionRow {
  kind: u32;
  start: u32; // bytes from the start of the file
  size: u32;
  padding: u32; // zero
  checksum: u64; // XXH64, seed 0
}

/**
 * The first kind of the sections at `table` that is out of order, misaligned, or not between
 * `start` and the end of the file; 0: none.
 */
export function misplacedSection(table: usize, count: u32, start: u32, fileSize: u32): u32 {
  let end = start;
  for (let kind: u32 = 1; kind <= count; kind++) {
    const row = changetype<SectionRow>(table + <usize>(kind - 1) * SECTION_ROW_SIZE);
    const isPlaced =
      row.kind == kind &&
      row.start >= end &&
      row.start % SECTION_ALIGNMENT == 0 &&
      row.start <= fileSize - TAIL_SIZE &&
      row.size <= fileSize - TAIL_SIZE - row.start;
    if (!isPlaced) return kind;
    end = row.start + row.size;
  }
  return 0;
}

@unmanaged
export class RepoRow {
  repoId: u32;
  nameOffset: u32;
  nameSize: u32;
}

@unmanaged
export class LanguageRow {
  nameOffset: u32;
  nameSize: u32;
}
