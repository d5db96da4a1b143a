// A regular expression as numbers: the automata of one expression as the daemon sends them to the
// core, once a request. The daemon parses, simplifies and compiles (daemon/engine/regex); the core
// checks every index and runs (core/regex). Plain constants that both read. Little-endian u32
// throughout, no addresses.
//
// Layout: header | forward states | reverse states | transitions | alternatives | needle rows |
// needle bytes, zero bytes up to a multiple of 4. Both automata work on the bytes of well-formed
// UTF-8. The forward one reads from the start of a match to its end, the reverse one from the end
// to the start (its assertions still refer to the text's direction, not to the reading direction).
// Targets are indexes of states of the same automaton.

export const PROGRAM_HEADER_SIZE: u32 = 48;
/** Bytes of the whole program, a multiple of 4. */
export const PROGRAM_SIZE_OFFSET: u32 = 0;
export const PROGRAM_FLAGS_OFFSET: u32 = 4;
export const PROGRAM_FORWARD_START_OFFSET: u32 = 8;
export const PROGRAM_FORWARD_COUNT_OFFSET: u32 = 12;
export const PROGRAM_REVERSE_START_OFFSET: u32 = 16;
export const PROGRAM_REVERSE_COUNT_OFFSET: u32 = 20;
export const PROGRAM_TRANSITION_COUNT_OFFSET: u32 = 24;
export const PROGRAM_ALTERNATIVE_COUNT_OFFSET: u32 = 28;
export const PROGRAM_NEEDLE_KIND_OFFSET: u32 = 32;
export const PROGRAM_NEEDLE_COUNT_OFFSET: u32 = 36;
export const PROGRAM_NEEDLE_BYTES_OFFSET: u32 = 40;
export const PROGRAM_RESERVED_OFFSET: u32 = 44;

/** A match may contain a byte after a newline: it may span lines. */
export const PROGRAM_SPANS_LINES: u32 = 1;
export const PROGRAM_CAN_BE_EMPTY: u32 = 2;
/** Needles match any case (simple folding). */
export const PROGRAM_NEEDLES_FOLDED: u32 = 4;

// A state: kind, first, count.
export const STATE_SIZE: u32 = 12;
export const STATE_KIND_OFFSET: u32 = 0;
export const STATE_FIRST_OFFSET: u32 = 4;
export const STATE_COUNT_OFFSET: u32 = 8;
/** Reads one byte: transitions [first, first + count), ascending and disjoint; count 0: fails. */
export const STATE_BYTES: u32 = 1;
/** Continues at several states: alternatives [first, first + count), earlier ones preferred. */
export const STATE_CHOICE: u32 = 2;
/** Continues at state `first` if the assertion `count` (ASSERT_*) holds here. */
export const STATE_ASSERT: u32 = 3;
/** A match ends (reverse: begins) here. */
export const STATE_MATCH: u32 = 4;
/**
 * Reads one code point of a set, then continues at state `first`. The set has its own BYTES states,
 * from the state `count` on, which lead to one another and finally to a RETURN; all calls of the
 * set share them.
 */
export const STATE_CALL: u32 = 5;
/** Continues after the CALL through which the search came here. */
export const STATE_RETURN: u32 = 6;

// A transition: first and last byte (first | last << 8), target. An alternative: target.
export const TRANSITION_SIZE: u32 = 8;
export const ALTERNATIVE_SIZE: u32 = 4;

export const ASSERT_LINE_START: u32 = 1;
export const ASSERT_LINE_END: u32 = 2;
export const ASSERT_TEXT_START: u32 = 3;
export const ASSERT_TEXT_END: u32 = 4;
/** Between an ASCII word character and something else, or an end of the text. */
export const ASSERT_WORD_BORDER: u32 = 5;
export const ASSERT_NOT_WORD_BORDER: u32 = 6;

// Needles: literals of which every match contains at least one. A row: offset in the needle bytes,
// size.
export const NEEDLE_ROW_SIZE: u32 = 8;
export const NEEDLES_NONE: u32 = 0;
/** Every match begins with one of them. */
export const NEEDLES_PREFIX: u32 = 1;
/** Every match contains one of them somewhere, and none of them contains a newline. */
export const NEEDLES_INNER: u32 = 2;
/**
 * Every non-empty match begins with a run of bytes of one class. One row: the class (32 bytes, bit
 * `b & 7` of byte `b >> 3` for byte b), then the size of the run, at least 1.
 */
export const NEEDLES_RUN: u32 = 3;
export const NEEDLE_RUN_SIZE: u32 = 36;
export const NEEDLE_RUN_COUNT_OFFSET: u32 = 32;
export const NEEDLE_RUN_COUNT_MAX: u32 = 64;

// The engine of an expression, before any text is known.
/** The lazy DFA, byte by byte. */
export const ENGINE_DFA: u32 = 0;
/** The DFA, from one needle, or run of bytes, to the next. */
export const ENGINE_PREFIX: u32 = 1;
export const ENGINE_RUN: u32 = 2;
/** The DFA, if the text contains a needle; on lines that contain one. */
export const ENGINE_INNER: u32 = 3;
export const ENGINE_LINES: u32 = 4;
/** The simulation of the automaton. */
export const ENGINE_SIMULATION: u32 = 5;

/** Most states of both automata together. */
export const PROGRAM_STATES_MAX: u32 = 40000;
export const PROGRAM_NEEDLES_MAX: u32 = 64;
