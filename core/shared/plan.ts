// The numbers of the plan, in which the daemon sends a query to the core, once for all shards. A
// header, node rows, a list of children (u32 node indexes), then data (literals, names, ids).
// Children precede their parents. Plain constants that core and daemon both read.

export const PLAN_HEADER_SIZE: u32 = 16;
export const PLAN_NODE_COUNT_OFFSET: u32 = 0;
export const PLAN_CHILD_COUNT_OFFSET: u32 = 4;
export const PLAN_DATA_SIZE_OFFSET: u32 = 8;
/** 1: binding counts the docs and blocks of each node, for explaining a search. */
export const PLAN_COUNTS_OFFSET: u32 = 12;

/** What binding counts of a node, by its row: u32 docs that may satisfy it, u32 candidate blocks. */
export const NODE_COUNTS_SIZE: u32 = 8;
export const NODE_DOCS_OFFSET: u32 = 0;
export const NODE_BLOCKS_OFFSET: u32 = 4;
/** Docs: it was not bound, because a sibling excludes every doc. Blocks: all of the shard. */
export const NODE_UNCOUNTED: u32 = 0xffffffff;

export const PLAN_NODE_SIZE: u32 = 16;
export const PLAN_NODE_KIND_OFFSET: u32 = 0;
export const PLAN_NODE_FLAGS_OFFSET: u32 = 4;
/**
 * AND, OR: first index in the list of children. NOT: the child. CONST: 0 or 1. Others: offset in
 * the data.
 */
export const PLAN_NODE_FIRST_OFFSET: u32 = 8;
/** AND, OR: number of children. Others: bytes of data. */
export const PLAN_NODE_SIZE_OFFSET: u32 = 12;

export const NODE_CONST: u32 = 1;
export const NODE_AND: u32 = 2;
export const NODE_OR: u32 = 3;
export const NODE_NOT: u32 = 4;
export const NODE_TEXT: u32 = 5;
export const NODE_PATH: u32 = 6;
/** The doc's language is the one named in the data. */
export const NODE_LANGUAGE: u32 = 7;
/** The doc's repo is one of the ids (ascending u32) in the data. */
export const NODE_REPOS: u32 = 8;
/** The doc is in one of the sets that the host passes beside the plan, shard by shard. */
export const NODE_DOCS: u32 = 9;
/**
 * The content or the path has a match of the expression in the data: a head, its program
 * (program.ts).
 */
export const NODE_REGEX: u32 = 10;
export const NODE_PATH_REGEX: u32 = 11;
/** Only below a REGEX, under AND and OR: a match has the grams of the literal in the data. */
export const NODE_GRAMS: u32 = 12;
/** The name of a symbol contains the literal, or has a match of the expression, in the data. */
export const NODE_SYMBOL: u32 = 13;
export const NODE_SYMBOL_REGEX: u32 = 14;

// The head of an expression. Its first three words are conditions on grams: the index of a node plus one, or 0.
export const REGEX_HEAD_SIZE: u32 = 28;
/** Holds for every match. */
export const REGEX_CONDITION_OFFSET: u32 = 0;
/** Of matches that may span lines: holds for the block where a match begins. */
export const REGEX_START_OFFSET: u32 = 4;
/**
 * Of matches that may span lines: holds for that block and the next one together, each literal in one of them, or the next
 * block has only bytes of the chain and non-ASCII bytes. If it does not hold for the first block alone, that block has only
 * such bytes from the start of the match on.
 */
export const REGEX_NEAR_OFFSET: u32 = 8;
/** Bit `b & 7` of byte `b >> 3`: the ASCII byte b is in the chain. */
export const REGEX_CHAIN_OFFSET: u32 = 12;
export const REGEX_CHAIN_SIZE: u32 = 16;

export const PLAN_FLAG_CASE_SENSITIVE: u32 = 1;
/** PATH, SYMBOL: the literal must be at the start, or end, of the path or name. */
export const PLAN_FLAG_AT_START: u32 = 2;
export const PLAN_FLAG_AT_END: u32 = 4;

/** REGEX, PATH_REGEX: only a choice of literals, so it does not count as a run of an expression. */
export const PLAN_FLAG_LITERALS: u32 = 8;
/** PATH_REGEX: it holds for every path, though not always with a range. */
export const PLAN_FLAG_ALWAYS: u32 = 16;

/** SYMBOL: the literal must be at the start, or end, of a word. */
export const PLAN_FLAG_WORD_START: u32 = 32;
export const PLAN_FLAG_WORD_END: u32 = 64;
/** TEXT: also holds for a doc whose path contains the literal. */
export const PLAN_FLAG_IN_PATH: u32 = 128;

export const PLAN_NODES_MAX: u32 = 20000;
export const PLAN_DEPTH_MAX: u32 = 600;

// The output of one unit: a row for each matching doc (u32: docId, ranges, score and tier, path
// rank), and counters.
export const MATCH_ROW_SIZE: u32 = 16;
/** The score field holds the tier above these bits. */
export const MATCH_TIER_SHIFT: u32 = 28;

/**
 * Most docs and candidate bytes of one unit, unless its first doc is larger; all docs with the same
 * content as the last one are added, however many they are.
 */
export const UNIT_DOCS_MAX: u32 = 512;
export const UNIT_BYTES_MAX: u32 = 1048576;

/** A doc to render (core/match/file-results.ts), u32 each. The host writes up to the last members. */
export const RENDER_REQUEST_SIZE: u32 = 44;
export const RENDER_DOC_OFFSET: u32 = 0;
export const RENDER_RANGE_MAX_OFFSET: u32 = 4;
/** Index of its link texts. */
export const RENDER_LINKS_OFFSET: u32 = 8;
/** Address and number of its ranges kept by a unit; 0: none. */
export const RENDER_KEPT_OFFSET: u32 = 12;
export const RENDER_KEPT_COUNT_OFFSET: u32 = 16;
/** The member `score`; NO_SCORE: none. */
export const RENDER_SCORE_OFFSET: u32 = 20;
export const NO_SCORE: u32 = 0xffffffff;
/** The last members as JSON, from a comma on: address and size in bytes; 0: none. */
export const RENDER_END_OFFSET: u32 = 24;
export const RENDER_END_SIZE_OFFSET: u32 = 28;
/** The core writes: number of ranges, bytes of the object, bytes of content read in addition to evaluation. */
export const RENDER_RANGE_COUNT_OFFSET: u32 = 32;
export const RENDER_OBJECT_SIZE_OFFSET: u32 = 36;
export const RENDER_BYTES_READ_OFFSET: u32 = 40;
/** Addresses and sizes of link texts, and whether the git id follows; core/match/file-results.ts. */
export const LINK_TEXTS_SIZE: u32 = 36;

// Counters of one shard's binding and of one unit, f64 each.
export const BIND_STATS_SIZE: u32 = 80;
export const BIND_LOOKUPS_OFFSET: u32 = 0;
export const BIND_INDEX_BYTES_OFFSET: u32 = 8;
export const BIND_BLOCKS_OFFSET: u32 = 16;
export const BIND_DOCS_OFFSET: u32 = 24;
export const BIND_BYTES_OFFSET: u32 = 32;
export const BIND_UNITS_OFFSET: u32 = 40;
export const BIND_REGEXPS_OFFSET: u32 = 48;
/** 1: the first unit is that of heads (core/match/heads.ts); 0: there are none. */
export const BIND_HEAD_UNITS_OFFSET: u32 = 56;
/** 0: whatever the case of its letters, the plan matches no doc of the shard; 1: it may. */
export const BIND_MAY_MATCH_FOLDED_OFFSET: u32 = 64;
/** 1: only the first part of the shard is bound (core/match/first-part.ts). */
export const BIND_IS_PART_OFFSET: u32 = 72;

export const UNIT_CONSIDERED_OFFSET: u32 = 0;
export const UNIT_LOADED_OFFSET: u32 = 8;
export const UNIT_CONTENT_BYTES_OFFSET: u32 = 16;
export const UNIT_MATCHES_OFFSET: u32 = 24;
/** Runs of the regular expression engine: one for each expression and block, or path. */
export const UNIT_REGEXPS_OFFSET: u32 = 32;
/**
 * Kept ranges in words, after the room for a row of each doc: for each doc their number, then the
 * ranges.
 */
export const UNIT_KEPT_OFFSET: u32 = 40;

// The parts of a doc's score (core/match/doc-score.ts), f64 each.
export const SCORE_SIZE: u32 = 56;
export const SCORE_SYMBOL_OFFSET: u32 = 0;
export const SCORE_NAME_OFFSET: u32 = 8;
export const SCORE_TEXT_OFFSET: u32 = 16;
export const SCORE_NEAR_OFFSET: u32 = 24;
/** Factor of the parts up to here. */
export const SCORE_TIER_OFFSET: u32 = 32;
/** For a doc without ranges in its content. */
export const SCORE_PATH_OFFSET: u32 = 40;
export const SCORE_LEAVES_OFFSET: u32 = 48;

/** A kept range: start and end, bytes from the start of the doc's content. */
export const KEPT_RANGE_SIZE: u32 = 8;
