// The leaves of a DFA state as its cache keeps them (dfa-cache.ts): one after the other, or, if that
// takes less, as runs of leaves at equal distances: first leaf, distance, number.
// Why: where a wide repeat can begin everywhere, as in `[^\n]{999}x`, a state has a thread in each
// copy of the repeated part, in order. A thousand states of a thousand leaves are as many runs.
// An item takes 1 << shift bytes; distances wrap at that size.

import { LEAF_SHIFT, leafAt } from './closure.ts';

/** Shift of items for leaves outside calls. */
export const PLAIN_LEAF_SHIFT: u32 = 1;
const ITEMS_PER_RUN: u32 = 3;
/** Shorter lists are kept as they are. */
const RUNS_COUNT_MIN: u32 = 8;

@inline
function itemAt(stored: usize, shift: u32, index: u32): u32 {
  const ptr = stored + (<usize>index << shift);
  return shift == LEAF_SHIFT ? load<u32>(ptr) : <u32>load<u16>(ptr);
}

@inline
function storeItem(stored: usize, shift: u32, index: u32, item: u32): void {
  const ptr = stored + (<usize>index << shift);
  if (shift == LEAF_SHIFT) store<u32>(ptr, item);
  else store<u16>(ptr, <u16>item);
}

@inline
function itemMask(shift: u32): u32 {
  return shift == LEAF_SHIFT ? 0xffffffff : 0xffff;
}

/** Index behind the run that begins at `index`. */
function runEnd(list: usize, count: u32, index: u32): u32 {
  let end = index + 1;
  if (end == count) return end;
  const distance = leafAt(list, end) - leafAt(list, index);
  do end++;
  while (end < count && leafAt(list, end) - leafAt(list, end - 1) == distance);
  return end;
}

/** Number of runs to keep the list as; 0: it is kept as it is. */
export function countRuns(list: usize, count: u32): u32 {
  if (count < RUNS_COUNT_MIN) return 0;
  let runCount: u32 = 0;
  for (let i: u32 = 0; i < count; i = runEnd(list, count, i)) {
    runCount++;
    if (runCount * ITEMS_PER_RUN >= count) return 0;
  }
  return runCount;
}

/** Bytes of the kept list, a multiple of 8. */
@inline
export function leavesSize(shift: u32, count: u32, runCount: u32): usize {
  const items = runCount == 0 ? count : runCount * ITEMS_PER_RUN;
  return ((<usize>items << shift) + 7) & ~(<usize>7);
}

export function storeLeaves(
  stored: usize,
  shift: u32,
  runCount: u32,
  list: usize,
  count: u32,
): void {
  if (runCount == 0) {
    for (let i: u32 = 0; i < count; i++) storeItem(stored, shift, i, leafAt(list, i));
    return;
  }
  let item: u32 = 0;
  for (let i: u32 = 0; i < count; ) {
    const end = runEnd(list, count, i);
    const first = leafAt(list, i);
    storeItem(stored, shift, item, first);
    storeItem(stored, shift, item + 1, end - i > 1 ? leafAt(list, i + 1) - first : 0);
    storeItem(stored, shift, item + 2, end - i);
    item += ITEMS_PER_RUN;
    i = end;
  }
}

/** Copies the first `count` leaves to the list at `list`. */
export function loadLeaves(
  stored: usize,
  shift: u32,
  runCount: u32,
  list: usize,
  count: u32,
): void {
  if (runCount == 0) {
    for (let i: u32 = 0; i < count; i++) storeItem(list, LEAF_SHIFT, i, itemAt(stored, shift, i));
    return;
  }
  const mask = itemMask(shift);
  let item: u32 = 0;
  for (let i: u32 = 0; i < count; item += ITEMS_PER_RUN) {
    const distance = itemAt(stored, shift, item + 1);
    const end = min(count, i + itemAt(stored, shift, item + 2));
    let leaf = itemAt(stored, shift, item);
    for (; i < end; i++) {
      storeItem(list, LEAF_SHIFT, i, leaf);
      leaf = (leaf + distance) & mask;
    }
  }
}

/** Whether the kept leaves are those of the list, which has as many. */
export function equalLeaves(
  stored: usize,
  shift: u32,
  runCount: u32,
  list: usize,
  count: u32,
): bool {
  if (runCount == 0) {
    for (let i: u32 = 0; i < count; i++) {
      if (itemAt(stored, shift, i) != leafAt(list, i)) return false;
    }
    return true;
  }
  const mask = itemMask(shift);
  let item: u32 = 0;
  for (let i: u32 = 0; i < count; item += ITEMS_PER_RUN) {
    const distance = itemAt(stored, shift, item + 1);
    const end = i + itemAt(stored, shift, item + 2);
    let leaf = itemAt(stored, shift, item);
    for (; i < end; i++) {
      if (leaf != leafAt(list, i)) return false;
      leaf = (leaf + distance) & mask;
    }
  }
  return true;
}
