// The numbers of the shard file: magic, version, record sizes and field offsets, section kinds.
// Plain constants that the core (AssemblyScript) and the daemon (TypeScript) both read; FORMAT.md
// explains them and a test compares the two. All integers are little-endian; all offsets are bytes.

export const FORMAT_VERSION: u32 = 5;

/** "TRAWLSHD" as two little-endian u32. */
export const MAGIC_LOW: u32 = 0x57415254;
export const MAGIC_HIGH: u32 = 0x4448534c;

// Header: one page, then the sections.
export const HEADER_SIZE: u32 = 4096;
export const HEADER_MAGIC_OFFSET: u32 = 0;
export const HEADER_VERSION_OFFSET: u32 = 8;
export const HEADER_BLOCK_SIZE_OFFSET: u32 = 12;
export const HEADER_FILE_SIZE_OFFSET: u32 = 16;
export const HEADER_DOC_COUNT_OFFSET: u32 = 20;
export const HEADER_BLOB_COUNT_OFFSET: u32 = 24;
export const HEADER_BLOCK_COUNT_OFFSET: u32 = 28;
export const HEADER_GRAM_COUNT_OFFSET: u32 = 32;
export const HEADER_REPO_COUNT_OFFSET: u32 = 36;
export const HEADER_LANGUAGE_COUNT_OFFSET: u32 = 40;
export const HEADER_SECTION_COUNT_OFFSET: u32 = 44;
export const HEADER_HASH_SIZE_OFFSET: u32 = 48;
export const HEADER_CHECKSUM_OFFSET: u32 = 56;
export const HEADER_SECTIONS_OFFSET: u32 = 64;

export const SECTION_ROW_SIZE: u32 = 24;
export const SECTION_KIND_OFFSET: u32 = 0;
export const SECTION_START_OFFSET: u32 = 4;
export const SECTION_SIZE_OFFSET: u32 = 8;
export const SECTION_CHECKSUM_OFFSET: u32 = 16;
export const SECTION_ALIGNMENT: u32 = 64;

// Section kinds, in file order. 0 is invalid.
export const SECTION_CONTENT: u32 = 1;
export const SECTION_BLOBS: u32 = 2;
export const SECTION_BLOB_HASHES: u32 = 3;
export const SECTION_BLOCKS: u32 = 4;
export const SECTION_DOCS: u32 = 5;
export const SECTION_PATHS: u32 = 6;
export const SECTION_PATH_ORDER: u32 = 7;
export const SECTION_REPOS: u32 = 8;
export const SECTION_LANGUAGES: u32 = 9;
export const SECTION_NAMES: u32 = 10;
export const SECTION_POSTINGS: u32 = 11;
export const SECTION_GRAM_KEYS: u32 = 12;
export const SECTION_GRAM_LISTS: u32 = 13;
export const SECTION_CASE_MARKS: u32 = 14;
export const SECTION_PATH_GRAM_KEYS: u32 = 15;
export const SECTION_PATH_GRAM_ROWS: u32 = 16;
export const SECTION_PAGE_SUMS: u32 = 17;
export const SECTION_COUNT: u32 = 17;

// Pages, each with a sum.
export const PAGE_SIZE: u32 = 4096;
export const PAGE_SHIFT: u32 = 12;

/** Zero bytes after the last section, so that scans may read past the end of any section. */
export const TAIL_SIZE: u32 = 64;

// Blob row: one stored content.
export const BLOB_ROW_SIZE: u32 = 24;
export const BLOB_CONTENT_OFFSET: u32 = 0;
export const BLOB_SIZE_OFFSET: u32 = 4;
export const BLOB_BLOCK_START_OFFSET: u32 = 8;
export const BLOB_BLOCK_COUNT_OFFSET: u32 = 12;
export const BLOB_DOC_OFFSET: u32 = 16;
export const BLOB_FLAGS_OFFSET: u32 = 20;

/** Blob flag: contains U+212A or U+017F, which fold into ASCII. */
export const BLOB_FLAG_FOLDS_TO_ASCII: u32 = 1;
/** Blob flag: contains a non-ASCII byte. */
export const BLOB_FLAG_NON_ASCII: u32 = 2;
/** Blob flag: begins with a byte order mark, which is not part of its text. */
export const BLOB_FLAG_MARKED: u32 = 4;

// Block row; one extra row gives the end of the last block.
export const BLOCK_ROW_SIZE: u32 = 12;
export const BLOCK_CONTENT_OFFSET: u32 = 0;
export const BLOCK_BLOB_OFFSET: u32 = 4;
export const BLOCK_LINE_OFFSET: u32 = 8;

/** Bytes of a block's case marks. */
export const CASE_MARKS_SIZE: u32 = 32;

export const DOC_ROW_SIZE: u32 = 32;
export const DOC_PATH_OFFSET: u32 = 0;
export const DOC_PATH_SIZE_OFFSET: u32 = 4;
export const DOC_BLOB_OFFSET: u32 = 8;
export const DOC_NEXT_OFFSET: u32 = 12;
export const DOC_PATH_RANK_OFFSET: u32 = 16;
export const DOC_SIZE_OFFSET: u32 = 20;
export const DOC_REPO_OFFSET: u32 = 24;
export const DOC_LANGUAGE_OFFSET: u32 = 26;
export const DOC_SKIP_REASON_OFFSET: u32 = 28;
export const DOC_TIER_OFFSET: u32 = 29;
export const DOC_PADDING_OFFSET: u32 = 30;

/** Instead of a blobId or docId: none. */
export const NONE_ID: u32 = 0x7fffffff;

// Repo row and language row: a name in the names section.
export const REPO_ROW_SIZE: u32 = 12;
export const REPO_ID_OFFSET: u32 = 0;
export const REPO_NAME_OFFSET: u32 = 4;
export const REPO_NAME_SIZE_OFFSET: u32 = 8;
export const LANGUAGE_ROW_SIZE: u32 = 8;
export const LANGUAGE_NAME_OFFSET: u32 = 0;
export const LANGUAGE_NAME_SIZE_OFFSET: u32 = 4;

// Skip reasons of a doc.
export const SKIP_NONE: u32 = 0;
export const SKIP_BINARY: u32 = 1;
export const SKIP_TOO_LARGE: u32 = 2;
export const SKIP_TOO_MANY_TRIGRAMS: u32 = 3;

// Blocks and segments. A block has whole lines of up to BLOCK_SIZE bytes, or one longer line. A
// segment is a fixed range of consecutive blockIds; a frame is the part of a posting list in one
// segment. The page shows BLOCK_SIZE, too (daemon/web/search/plan-funnel.ts).
export const BLOCK_SIZE: u32 = 4096;
export const SEGMENT_BLOCKS: u32 = 8192;
export const SEGMENT_COUNT_MAX: u32 = 32;
export const BITMAP_SIZE: u32 = 1024;
/** Bytes of a block bitmap over a whole shard. */
export const SHARD_BITMAP_SIZE: u32 = 32768;

// Gram keys: three letters of 7 bits.
export const GRAM_CHAR_BITS: u32 = 7;
export const GRAM_KEY_COUNT: u32 = 2097152;
/** Bit of a list reference: the other bits are the only blockId, there is no list. */
export const LIST_SINGLE_SHIFT: u32 = 31;

// Rows of path grams: a bit for each group of docs, set if a path of the group has the gram. Groups
// have 2^n docs, with the smallest n from PATH_GROUP_SHIFT_MIN on for which a row has a bit for
// each group.
export const PATH_GROUP_SHIFT_MIN: u32 = 6;
/** Bytes of a row: a power of 2. */
export const PATH_ROW_SIZE_MIN: u32 = 16;
export const PATH_ROW_SIZE_MAX: u32 = 128;

// Frame head (u16): code, order of the exponential Golomb code, size in bytes.
export const FRAME_CODE_SHIFT: u32 = 14;
export const FRAME_ORDER_SHIFT: u32 = 11;
export const FRAME_SIZE_MASK: u32 = 2047;
export const FRAME_SINGLE: u32 = 1;
export const FRAME_GOLOMB: u32 = 2;
export const FRAME_BITMAP: u32 = 3;
/** Frames from this many ids on are bitmaps: slightly larger, much faster to read. */
export const FRAME_BITMAP_FROM: u32 = 640;
