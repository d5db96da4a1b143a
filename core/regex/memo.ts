// Where in a text the look-ahead behind a match has failed, so that all matches of a text together
// take linear time: `z(?:.*q)?` on a line of many z and no q reads the rest of the line behind each
// match. The outcome depends on the position and on what can be read there, the state. One memory
// serves all expressions, one text at a time.

import { Arena, arenaAlloc } from '../base/arena.ts';

/** Number of remembered positions: every 64th byte; in texts over 2 MiB every 128th and so on. */
const MEMO_SLOTS: usize = 1 << 15;
const SLOT_SHIFT: usize = 3;
const STRIDE_SHIFT_MIN: u32 = 6;
const NONE: usize = 0xffffffff;

/** A u64 for each position: the state from which no further match comes; 0: unknown. */
let memo: usize = 0;
// Whose states they are, and of which text:
let memoOwner: usize = 0;
let memoVersion: u32 = 0;
let memoText: usize = 0;
let memoSlots: usize = 0; // positions of the text
let strideShift: u32 = 0;

/** First position passed since the last match; the outcome ahead of it is still open. */
let firstPassed: usize = NONE;

/** Allocates the memory from the arena; false if it is full. */
export function memoInit(arena: Arena): bool {
  memo = arenaAlloc(arena, MEMO_SLOTS << SLOT_SHIFT, 8);
  memoOwner = 0;
  return memo != 0;
}

export function clearMemo(): void {
  memoOwner = 0;
}

/**
 * Begins a scan.
 * @param owner    the engine whose states are remembered, not 0
 * @param version  changes when its states are lost
 */
export function beginMemo(owner: usize, version: u32, textStart: usize, textEnd: usize): void {
  firstPassed = NONE;
  const isSame = memoOwner == owner && memoText == textStart;
  if (isSame) return renewMemo(version);
  memoOwner = owner;
  memoText = textStart;
  strideShift = STRIDE_SHIFT_MIN;
  while ((textEnd - textStart) >> strideShift >= MEMO_SLOTS) strideShift++;
  memoSlots = ((textEnd - textStart) >> strideShift) + 1;
  forgetAll(version);
}

/** Forgets all positions if states were lost. */
@inline
export function renewMemo(version: u32): void {
  if (version != memoVersion) forgetAll(version);
}

function forgetAll(version: u32): void {
  memoVersion = version;
  memory.fill(memo, 0, memoSlots << SLOT_SHIFT);
  firstPassed = NONE;
}

/** A match ends at `ptr`: what led to it is not barren. */
export function noteMatchAhead(ptr: usize): void {
  if (firstPassed == NONE) return;
  const count = ((ptr - memoText) >> strideShift) + 1 - firstPassed;
  memory.fill(memo + (firstPassed << SLOT_SHIFT), 0, count << SLOT_SHIFT);
  firstPassed = NONE;
}

/** Whether positions like `ptr` are remembered. */
@inline
export function isRemembered(ptr: usize): bool {
  return ((ptr - memoText) & ((<usize>1 << strideShift) - 1)) == 0;
}

/** Whether no further match comes from `state` at `ptr`, not 0; remembers it as passed if that is unknown. */
export function isBarren(ptr: usize, state: u64): bool {
  const slot = (ptr - memoText) >> strideShift;
  const place = memo + (slot << SLOT_SHIFT);
  if (load<u64>(place) == state) return true;
  store<u64>(place, state);
  if (firstPassed == NONE) firstPassed = slot;
  return false;
}
