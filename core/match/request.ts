// One request of a search instance: its compiled plan and the bound shard. All of it is in one
// arena, which the next plan resets:
//
//   | bits of blocks | match tree | kept bindings (bindings.ts) | present binding | one call |
//   start                                                                         boundEnd

import { Arena, arenaAlloc, arenaInit, arenaMark, arenaReset } from '../base/arena.ts';
import { SHARD_BITMAP_SIZE } from '../shared/format.ts';
import { STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { ShardView } from '../shard/view.ts';
import { OF_ALL, OF_HEADS, OF_PART } from './bind.ts';
import {
  beginBindings,
  bindOrRestore,
  bindOrRestoreDocs,
  isKept,
  trimBindings,
} from './bindings.ts';
import { docBitmapSizeOf, useDocSets } from './bound.ts';
import { beginDocs, forgetReads } from './current.ts';
import { compilePlan } from './match-tree.ts';

export const requestArena = changetype<Arena>(memory.data(12, 8));
let boundEnd: usize = 0;

/** Passes the memory for all requests, which the host must not use until the next call. */
export function requestArenaInit(start: usize, end: usize): void {
  arenaInit(requestArena, start, end);
}

export function planCompile(plan: usize, size: u32): i32 {
  arenaReset(requestArena, requestArena.start);
  const bits = arenaAlloc(requestArena, SHARD_BITMAP_SIZE, 16);
  if (bits == 0) return STATUS_OUT_OF_MEMORY;
  beginDocs(bits);
  const status = compilePlan(requestArena, plan, size);
  beginBindings(requestArena);
  useDocSets(0, 0);
  return status;
}

/**
 * Allocates the plan's sets of docs for the next shard: `count` words, then, rounded up to 16,
 * `bitmapCount` bitmaps of docBitmapSizeOf bytes. The host fills both: a word is 1 for no doc, 2 for
 * all docs, or the address of a bitmap, which has zeros after the last doc. 0: does not fit; 1: the
 * shard's binding was kept and needs none.
 */
export function docSetsInit(view: ShardView, count: u32, bitmapCount: u32): usize {
  if (isKept(view)) return 1;
  trimBindings(requestArena);
  const tableSize = (<usize>count * 4 + 15) & ~15;
  const table = arenaAlloc(requestArena, tableSize + <usize>bitmapCount * docBitmapSizeOf(view), 16);
  useDocSets(table, count);
  return table;
}

/**
 * Counters (BIND_*) go to `stats`. Bound shards must stay open until the next planCompile.
 * @param mayBePart  the first units suffice (first-part.ts)
 */
export function planBind(view: ShardView, mayBePart: bool, stats: usize): i32 {
  forgetReads();
  return endBinding(bindOrRestore(requestArena, view, mayBePart ? OF_PART : OF_ALL, stats));
}

/** As planBind, but only for the heads of the shard (heads.ts), which are its only unit. */
export function planBindHeads(view: ShardView, stats: usize): i32 {
  forgetReads();
  return endBinding(bindOrRestore(requestArena, view, OF_HEADS, stats));
}

/** As planBind, but only for the `count` docs whose u32 ids are at `ids`; there are no units. */
export function planBindDocs(view: ShardView, ids: usize, count: u32): i32 {
  forgetReads();
  return endBinding(bindOrRestoreDocs(requestArena, view, ids, count));
}

function endBinding(status: i32): i32 {
  useDocSets(0, 0);
  boundEnd = arenaMark(requestArena);
  return status;
}

/** The arena for rendering docs of the bound shard: the room after the binding. */
export function renderArena(): Arena {
  arenaReset(requestArena, boundEnd);
  return requestArena;
}
