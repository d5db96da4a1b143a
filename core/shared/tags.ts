// The tags file in numbers. A tag is a symbol of the code, as clients call it; "symbol" is the word of the core for
// the alphabet of the grams. Plain constants that core and daemon both read; FORMAT.md explains them and a test compares
// the two. All integers are little-endian; all offsets are bytes.

export const TAGS_VERSION: u32 = 2;

/** "TRAWLTAG" as two little-endian u32. */
export const TAGS_MAGIC_LOW: u32 = 0x57415254;
export const TAGS_MAGIC_HIGH: u32 = 0x4741544c;

// Header, then the sections.
export const TAGS_HEADER_SIZE: u32 = 264;
export const TAGS_MAGIC_OFFSET: u32 = 0;
export const TAGS_VERSION_OFFSET: u32 = 8;
export const TAGS_FILE_SIZE_OFFSET: u32 = 12;
export const TAGS_BLOCK_COUNT_OFFSET: u32 = 16;
export const TAGS_TAG_COUNT_OFFSET: u32 = 20;
export const TAGS_NAME_COUNT_OFFSET: u32 = 24;
export const TAGS_PARENT_COUNT_OFFSET: u32 = 28;
export const TAGS_SHARD_OFFSET: u32 = 32;
export const TAGS_CHECKSUM_OFFSET: u32 = 40;
export const TAGS_SECTIONS_OFFSET: u32 = 48;

// Section kinds, in file order. 0 is invalid.
export const TAGS_SECTION_STARTS: u32 = 1;
export const TAGS_SECTION_ROWS: u32 = 2;
export const TAGS_SECTION_PARENTS: u32 = 3;
export const TAGS_SECTION_PARENT_NAMES: u32 = 4;
export const TAGS_SECTION_NAMES: u32 = 5;
export const TAGS_SECTION_NAME_SIZES: u32 = 6;
export const TAGS_SECTION_NAME_LISTS: u32 = 7;
export const TAGS_SECTION_LISTS: u32 = 8;
export const TAGS_SECTION_PAGE_SUMS: u32 = 9;
export const TAGS_SECTION_COUNT: u32 = 9;

// Parent row.
export const TAG_PARENT_ROW_SIZE: u32 = 8;
export const TAG_PARENT_NAME_OFFSET: u32 = 0;
export const TAG_PARENT_NAME_SIZE_OFFSET: u32 = 4;
export const TAG_PARENT_KIND_OFFSET: u32 = 6;

// The third number of a tag: kind in the low bits, above them which parent.
export const TAG_KIND_BITS: u32 = 5;
export const TAG_PARENT_NONE: u32 = 0;
export const TAG_PARENT_SAME: u32 = 1;
export const TAG_PARENT_NAMED: u32 = 2;

/** Bytes of a name that the order of names looks at. */
export const TAG_KEY_SIZE_MAX: u32 = 255;
/** Most bytes of the name of a tag, or of a parent. */
export const TAG_NAME_SIZE_MAX: u32 = 1024;

// Kinds of tags.
export const TAG_CLASS: u32 = 0;
export const TAG_STRUCT: u32 = 1;
export const TAG_ENUM: u32 = 2;
export const TAG_ENUM_MEMBER: u32 = 3;
export const TAG_INTERFACE: u32 = 4;
export const TAG_TRAIT: u32 = 5;
export const TAG_TYPE: u32 = 6;
export const TAG_UNION: u32 = 7;
export const TAG_FUNCTION: u32 = 8;
export const TAG_METHOD: u32 = 9;
export const TAG_CONSTRUCTOR: u32 = 10;
export const TAG_PROPERTY: u32 = 11;
export const TAG_FIELD: u32 = 12;
export const TAG_CONSTANT: u32 = 13;
export const TAG_VARIABLE: u32 = 14;
export const TAG_MACRO: u32 = 15;
export const TAG_MODULE: u32 = 16;
export const TAG_NAMESPACE: u32 = 17;
export const TAG_PACKAGE: u32 = 18;
export const TAG_OBJECT: u32 = 19;
export const TAG_SECTION: u32 = 20;
export const TAG_LABEL: u32 = 21;
export const TAG_OTHER: u32 = 22;
export const TAG_KIND_COUNT: u32 = 23;

/** A tag as the host hands it to the build: start and size in the blob, kind and (parent + 1) above 8 bits. */
export const TAG_INPUT_SIZE: u32 = 12;
export const TAG_INPUT_PARENT_SHIFT: u32 = 8;
export const TAG_INPUT_PARENTS_MAX: u32 = 16777214;
