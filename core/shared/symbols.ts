// The numbers of the symbols file. Plain constants that core and daemon both read; FORMAT.md
// explains them and a test compares the two. All integers are little-endian; all offsets are bytes.

export const SYMBOLS_VERSION: u32 = 2;

/** "TRAWLTAG" as two little-endian u32. */
export const SYMBOLS_MAGIC_LOW: u32 = 0x57415254;
export const SYMBOLS_MAGIC_HIGH: u32 = 0x4741544c;

// Header, then the sections.
export const SYMBOLS_HEADER_SIZE: u32 = 264;
export const SYMBOLS_MAGIC_OFFSET: u32 = 0;
export const SYMBOLS_VERSION_OFFSET: u32 = 8;
export const SYMBOLS_FILE_SIZE_OFFSET: u32 = 12;
export const SYMBOLS_BLOCK_COUNT_OFFSET: u32 = 16;
export const SYMBOLS_COUNT_OFFSET: u32 = 20;
export const SYMBOLS_NAME_COUNT_OFFSET: u32 = 24;
export const SYMBOLS_PARENT_COUNT_OFFSET: u32 = 28;
export const SYMBOLS_SHARD_OFFSET: u32 = 32;
export const SYMBOLS_CHECKSUM_OFFSET: u32 = 40;
export const SYMBOLS_SECTIONS_OFFSET: u32 = 48;

// Section kinds, in file order. 0 is invalid.
export const SYMBOLS_SECTION_STARTS: u32 = 1;
export const SYMBOLS_SECTION_ROWS: u32 = 2;
export const SYMBOLS_SECTION_PARENTS: u32 = 3;
export const SYMBOLS_SECTION_PARENT_NAMES: u32 = 4;
export const SYMBOLS_SECTION_NAMES: u32 = 5;
export const SYMBOLS_SECTION_NAME_SIZES: u32 = 6;
export const SYMBOLS_SECTION_NAME_LISTS: u32 = 7;
export const SYMBOLS_SECTION_LISTS: u32 = 8;
export const SYMBOLS_SECTION_PAGE_SUMS: u32 = 9;
export const SYMBOLS_SECTION_COUNT: u32 = 9;

export const SYMBOL_PARENT_ROW_SIZE: u32 = 8;
export const SYMBOL_PARENT_NAME_OFFSET: u32 = 0;
export const SYMBOL_PARENT_NAME_SIZE_OFFSET: u32 = 4;
export const SYMBOL_PARENT_KIND_OFFSET: u32 = 6;

// The third number of a symbol: kind in the low bits, parent above them.
export const SYMBOL_KIND_BITS: u32 = 5;
export const SYMBOL_PARENT_NONE: u32 = 0;
export const SYMBOL_PARENT_SAME: u32 = 1;
export const SYMBOL_PARENT_NAMED: u32 = 2;

/** Bytes of a name that count in the order of names. */
export const SYMBOL_KEY_SIZE_MAX: u32 = 255;
/** Most bytes of the name of a symbol, or of a parent. */
export const SYMBOL_NAME_SIZE_MAX: u32 = 1024;

// Kinds of symbols.
export const SYMBOL_CLASS: u32 = 0;
export const SYMBOL_STRUCT: u32 = 1;
export const SYMBOL_ENUM: u32 = 2;
export const SYMBOL_ENUM_MEMBER: u32 = 3;
export const SYMBOL_INTERFACE: u32 = 4;
export const SYMBOL_TRAIT: u32 = 5;
export const SYMBOL_TYPE: u32 = 6;
export const SYMBOL_UNION: u32 = 7;
export const SYMBOL_FUNCTION: u32 = 8;
export const SYMBOL_METHOD: u32 = 9;
export const SYMBOL_CONSTRUCTOR: u32 = 10;
export const SYMBOL_PROPERTY: u32 = 11;
export const SYMBOL_FIELD: u32 = 12;
export const SYMBOL_CONSTANT: u32 = 13;
export const SYMBOL_VARIABLE: u32 = 14;
export const SYMBOL_MACRO: u32 = 15;
export const SYMBOL_MODULE: u32 = 16;
export const SYMBOL_NAMESPACE: u32 = 17;
export const SYMBOL_PACKAGE: u32 = 18;
export const SYMBOL_OBJECT: u32 = 19;
export const SYMBOL_SECTION: u32 = 20;
export const SYMBOL_LABEL: u32 = 21;
export const SYMBOL_OTHER: u32 = 22;
export const SYMBOL_KIND_COUNT: u32 = 23;

/** An input of the build: start and size in the blob, kind and (parent + 1) above 8 bits. */
export const SYMBOL_INPUT_SIZE: u32 = 12;
export const SYMBOL_INPUT_PARENT_SHIFT: u32 = 8;
export const SYMBOL_INPUT_PARENTS_MAX: u32 = 16777214;
