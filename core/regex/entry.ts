// The entries of a row of the lazy DFA (dfa-cache.ts): the next row after a byte, and flags for
// special cases.

/** A match ends before the byte that led here. */
export const ENTRY_MATCH: u32 = 1;
/** No row: the entry was not made yet, or nothing can match any more. */
export const ENTRY_HALT: u32 = 2;
/** Every thread of this state begins at the current byte, so needles may be used to jump ahead. */
export const ENTRY_START: u32 = 4;
const ENTRY_FLAGS: u32 = 7;
export const ENTRY_UNKNOWN: u32 = ENTRY_HALT;
/** Instead of a row: no further match can come, or is needed. */
export const NO_ROW: u32 = 8;
export const ENTRY_DEAD: u32 = NO_ROW | ENTRY_HALT;

@inline
export function offsetAt(classMap: usize, ptr: usize): u32 {
  return <u32>load<u16>(classMap + (<usize>load<u8>(ptr) << 1));
}

@inline
export function entryAt(row: u32, classMap: usize, ptr: usize): u32 {
  return load<u32>(<usize>row + offsetAt(classMap, ptr));
}

/** Whether the entry, or one of several ORed, is more than a row. */
@inline
export function isFlagged(entry: u32): bool {
  return (entry & ENTRY_FLAGS) != 0;
}

/** Whether the entry has `flag` (ENTRY_*), possibly among others. */
@inline
export function hasFlag(entry: u32, flag: u32): bool {
  return (entry & flag) != 0;
}

/** Whether a match ends before the byte, and no other flag is set. */
@inline
export function isMatchOnly(entry: u32): bool {
  return (entry & ENTRY_FLAGS) == ENTRY_MATCH;
}

/** The next row, or NO_ROW; meaningless for ENTRY_UNKNOWN. */
@inline
export function rowOf(entry: u32): u32 {
  return entry & ~ENTRY_FLAGS;
}
