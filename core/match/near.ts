// The proximity of the ranges of a doc's leaves: the most leaves on one line, the most within WINDOW
// bytes, and the most in a row, adjacent and in the order of the query.

import { findByte } from '../scan/newlines.ts';
import { Range } from './ranges.ts';

/** Slots (node.ts) that are distinguished; further ones share the last. */
export const SLOTS_MAX: u32 = 16;
const WINDOW: usize = 600;

export let leavesOnLine: u32 = 0;
export let leavesInWindow: u32 = 0;
export let leavesInRow: u32 = 0;

/** The last range: its start, 0: there was none; its end and slot. */
let lastStart: usize = 0;
let lastEnd: usize = 0;
let lastSlot: u32 = 0;
/** The slots on its line so far, a bit each; the length of the row that ends with it. */
let lineSlots: u32 = 0;
let row: u32 = 0;
/** A u32 for each slot: start of its last range; 0: none. */
const starts = memory.data(64, 4);
if (SLOTS_MAX * 4 > 64) ERROR('starts: size');

export function beginNear(): void {
  leavesOnLine = 0;
  leavesInWindow = 0;
  leavesInRow = 0;
  lastStart = 0;
  lineSlots = 0;
  memory.fill(starts, 0, SLOTS_MAX * 4);
}

@inline
export function slotOf(slot: u32): u32 {
  return min(slot, SLOTS_MAX - 1);
}
@inline
export function slotBit(slot: u32): u32 {
  return 1 << slotOf(slot);
}

/** Adds the next range, of the doc's `slotCount` slots; starts ascend, ranges do not overlap. */
export function nearRange(range: Range, slotCount: u32): void {
  const slot = slotOf(range.slot);
  const isFirst = lastStart == 0;
  const isNear = !isFirst && range.start - lastStart <= WINDOW;
  if (!isNear || findByte(lastStart, range.start, 10) < range.start) lineSlots = 0;
  lineSlots |= 1 << slot;
  leavesOnLine = max(leavesOnLine, popcnt(lineSlots));
  const follows = !isFirst && slot == lastSlot + 1 && range.start - lastEnd <= 1;
  row = follows ? row + 1 : 1;
  leavesInRow = max(leavesInRow, row);
  store<u32>(starts + (<usize>slot << 2), <u32>range.start);
  leavesInWindow = max(leavesInWindow, countInWindow(range.start, slotCount));
  lastStart = range.start;
  lastEnd = range.end;
  lastSlot = slot;
}

/** Slots whose last range starts within the window that ends at `start`. */
function countInWindow(start: usize, slotCount: u32): u32 {
  let count: u32 = 0;
  for (let slot: u32 = 0; slot < slotCount; slot++) {
    const last = <usize>load<u32>(starts + (<usize>slot << 2));
    if (last != 0 && start - last <= WINDOW) count++;
  }
  return count;
}
