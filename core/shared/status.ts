// Status codes of core calls: 0 = OK, negative = an error. The daemon turns them into messages.

export const STATUS_OK = 0;
/** The arena or the output area is too small; call again with a larger one. */
export const STATUS_OUT_OF_MEMORY = -1;
export const STATUS_TOO_MANY_TRIGRAMS = -2;
export const STATUS_SEGMENTS_FULL = -3;
/** The host stopped the call, whose work is not done. */
export const STATUS_STOPPED = -4;

// Shard files.
export const STATUS_NOT_A_SHARD = -10;
export const STATUS_VERSION = -11;
export const STATUS_TRUNCATED = -12;
export const STATUS_HEADER_CHECKSUM = -13;
export const STATUS_SECTION_TABLE = -14;
export const STATUS_SECTION_CHECKSUM = -15;
export const STATUS_BLOB_ROW = -16;
export const STATUS_BLOCK_ROW = -17;
export const STATUS_DOC_ROW = -18;
export const STATUS_PATH_ORDER = -19;
export const STATUS_NAME_ROW = -20;
export const STATUS_GRAM_KEYS = -21;
export const STATUS_LIST_RANGE = -22;
export const STATUS_FRAME = -23;
export const STATUS_CONTENT = -24;
export const STATUS_CASE_MARKS = -25;
/** A page does not match its sum. */
export const STATUS_PAGE_SUM = -26;

// Symbols files.
export const STATUS_SYMBOL_TABLE = -30;
export const STATUS_SYMBOLS_OF_OTHER_SHARD = -31;
/** An added symbol has an invalid position. */
export const STATUS_SYMBOL_INPUT = -32;

// Plans.
export const STATUS_BAD_PLAN = -40;

// What the host answers when the core needs pages: they cannot be read; they are in memory; another thread has checked them
// lately.
export const PAGES_LOST: u32 = 0;
export const PAGES_IN: u32 = 1;
export const PAGES_CHECKED: u32 = 2;
