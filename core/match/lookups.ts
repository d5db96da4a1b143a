// Counts look-ups in the gram dictionary while a shard is bound, each gram once. Grams looked up by
// key are in a table of the request, stamped with the binding; grams visited in a range are bits of
// the dictionary. A plan with grams in one leaf needs neither.

import { Arena, arenaAlloc } from '../base/arena.ts';
import { STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { findGram, gramAt, GRAM_ABSENT, lowerGrams } from '../shard/lists.ts';
import { ShardView } from '../shard/view.ts';
import { getBit, setBit } from '../base/bits.ts';
import { boundView, failBinding } from './bound.ts';

/** Most grams that one expression looks up besides those of its literals (foreign.ts). */
export const FOREIGN_KEYS_MAX: u32 = 32;

/** Distinct grams of the bound shard looked up while binding. */
export let lookupCount: u32 = 0;

/**
 * A slot: the key in the low half, the stamp of the last binding that looked it up in the high
 * half.
 */
const SLOT_SIZE_SHIFT: usize = 3;
const STAMP_SHIFT: u64 = 32;

let table: usize = 0; // 0: no two leaves can look up the same gram
let slotMask: u32 = 0;
let stamp: u32 = 0;
/** A bit for each visited gram of the dictionary; 0: none was visited. */
let visited: usize = 0;

/** Leaves of the request with grams, and their total number of keys. */
let leafCount: u32 = 0;
let keyCount: u32 = 0;

/** Begins a plan: no look-up is expected. */
export function forgetLookups(): void {
  leafCount = 0;
  keyCount = 0;
}

/** Announces a leaf that looks up `count` keys. */
export function expectLookups(count: u32): void {
  leafCount++;
  keyCount += count;
}

/** Begins the counts of a request, with a table in the arena; false if that is full. */
export function beginLookups(arena: Arena): bool {
  table = 0;
  stamp = 0;
  if (leafCount < 2) return true;
  // At most half full, so that every search for a key ends at a free slot.
  const slotCount = (<u32>1) << (33 - clz(keyCount | 1));
  const size = <usize>slotCount << SLOT_SIZE_SHIFT;
  table = arenaAlloc(arena, size, 8);
  if (table == 0) return false;
  memory.fill(table, 0, size);
  slotMask = slotCount - 1;
  return true;
}

/** Begins the counts of a shard. */
export function resetLookups(): void {
  lookupCount = 0;
  visited = 0;
  stamp++;
}

/** Looks a gram up: its index in the dictionary, or GRAM_ABSENT. */
export function probeGram(view: ShardView, key: u32): u32 {
  const gram = findGram(view, key);
  countProbe(key, gram);
  return gram;
}

@inline
function countProbe(key: u32, gram: u32): void {
  if (table == 0 || (addKey(key) && !isVisited(gram))) lookupCount++;
}

/**
 * Looks up `count` grams, u32 keys at `keys`; the indexes go to `out`, u32 each. False: one is
 * absent; those after it do not count.
 */
export function probeGrams(view: ShardView, keys: usize, count: u32, out: usize): bool {
  lowerGrams(view, keys, count, out);
  for (let i: usize = 0; i < <usize>count << 2; i += 4) {
    const key = load<u32>(keys + i);
    const gram = gramAt(view, load<u32>(out + i), key);
    countProbe(key, gram);
    if (gram == GRAM_ABSENT) return false;
  }
  return true;
}

/** To be called before grams are visited; failStatus is set if the arena is full. */
export function beginVisits(arena: Arena): void {
  if (table == 0 || visited != 0) return;
  const size = (<usize>boundView.gramCount >> 3) + 1;
  visited = arenaAlloc(arena, size, 8);
  if (visited == 0) failBinding(STATUS_OUT_OF_MEMORY);
  else memory.fill(visited, 0, size);
}

/** Counts the dictionary entry at index `gram`, which is visited without its key. */
export function visitGram(gram: u32): void {
  if (visited != 0) {
    if (getBit(visited, gram) != 0) return;
    setBit(visited, gram);
    if (hasKey(load<u32>(<usize>boundView.gramKeys + (<usize>gram << 2)))) return;
  }
  lookupCount++;
}

@inline
function isVisited(gram: u32): bool {
  return visited != 0 && gram != GRAM_ABSENT && getBit(visited, gram) != 0;
}

/** The slot of a key looked up by this binding, or a free one. */
function slotOf(key: u32): usize {
  let index = (key * 0x9e3779b1) >> 7;
  let slot = slotAt(index);
  while (isTaken(load<u64>(slot), key)) slot = slotAt(++index);
  return slot;
}

@inline
function slotAt(index: u32): usize {
  return table + (<usize>(index & slotMask) << SLOT_SIZE_SHIFT);
}

/** Whether the slot has another key of this binding. */
@inline
function isTaken(content: u64, key: u32): bool {
  return <u32>(content >> STAMP_SHIFT) == stamp && <u32>content != key;
}

/** Adds a key to the table; false: this binding has looked it up before. */
function addKey(key: u32): bool {
  const content = (<u64>stamp << STAMP_SHIFT) | key;
  const slot = slotOf(key);
  if (load<u64>(slot) == content) return false;
  store<u64>(slot, content);
  return true;
}

function hasKey(key: u32): bool {
  return load<u64>(slotOf(key)) == ((<u64>stamp << STAMP_SHIFT) | key);
}
