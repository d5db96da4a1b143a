// The needles of an expression: literals of which every match holds one. Finds the next occurrence of any of
// them in the current text. Each needle is looked for alone; where it was found is kept until the search has
// passed it, so that many calls over one text read it once for each needle.

import { NEEDLES_NONE, PROGRAM_NEEDLES_FOLDED } from '../shared/program.ts';
import { STATUS_BAD_PLAN, STATUS_OK, STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { Arena, arenaAlloc } from '../base/arena.ts';
import { compileNeedle, findNeedle, needleSizeMax, NEEDLE_SIZE_MAX } from '../scan/literal.ts';
import { decodedPoint, decodedSize, decodeUtf8, REPLACEMENT } from '../text/utf8.ts';
import {
  programFlags,
  programNeedle,
  programNeedleCount,
  programNeedleKind,
  programNeedleSize,
} from './program.ts';

/** Most credit, and what needles begin with: they are given up after a while of little use, for good. */
const CREDIT_MAX: i32 = 1 << 16;
// Measured: 2026-11-21, 64 MiB of TypeScript, needles of one letter: looking for the next one costs as much as
// the DFA takes for 14 bytes; of two letters 18, of four 24, of nine 29.
const SKIP_COST: i32 = 12;
const SKIP_COST_PER_NEEDLE: i32 = 2;

/** One needle and what is known about the current text: nothing starts in [searchedStart, found). */
@unmanaged
class NeedleRow {
  needle: u32; // address of the compiled needle
  searchedStart: u32;
  searchedEnd: u32; // end of what was searched
  found: u32; // the first occurrence; searchedEnd: none
}
const NEEDLE_ROW_SIZE: usize = 16;
if (offsetof<NeedleRow>() != NEEDLE_ROW_SIZE) ERROR('NeedleRow: size');

@unmanaged
export class Needles {
  kind: u32; // NEEDLES_*
  count: u32;
  rows: u32; // address of the NeedleRows
  sizeMax: u32; // bytes of the longest needle
  haystackFlags: u32; // HAYSTACK_* of the current text
  holdReplacement: u32; // 1: one holds U+FFFD, which also stands for bad bytes
  credit: i32; // bytes that skipping saved less what it cost, in bytes that the DFA reads meanwhile
}
export const NEEDLES_SIZE: usize = 28;
if (offsetof<Needles>() != NEEDLES_SIZE) ERROR('Needles: size');

/** Compiles the needles of a checked program. Errors: STATUS_OUT_OF_MEMORY, STATUS_BAD_PLAN (too long). */
export function compileNeedles(arena: Arena, program: usize, needles: Needles): i32 {
  needles.kind = programNeedleKind(program);
  needles.count = programNeedleCount(program);
  needles.sizeMax = 0;
  needles.holdReplacement = 0;
  needles.credit = CREDIT_MAX;
  if (needles.kind == NEEDLES_NONE) return STATUS_OK;
  const rows = arenaAlloc(arena, <usize>needles.count * NEEDLE_ROW_SIZE, 4);
  if (rows == 0) return STATUS_OUT_OF_MEMORY;
  needles.rows = <u32>rows;
  const isCaseSensitive = (programFlags(program) & PROGRAM_NEEDLES_FOLDED) == 0;
  for (let i: u32 = 0; i < needles.count; i++) {
    const size = programNeedleSize(program, i);
    if (<usize>size > NEEDLE_SIZE_MAX) return STATUS_BAD_PLAN;
    const capacity = needleSizeMax(size);
    const compiled = arenaAlloc(arena, capacity, 16);
    if (compiled == 0) return STATUS_OUT_OF_MEMORY;
    compileNeedle(programNeedle(program, i), size, isCaseSensitive, compiled, capacity);
    rowAt(needles, i).needle = <u32>compiled;
    needles.sizeMax = max(needles.sizeMax, size);
    if (holdsReplacement(programNeedle(program, i), size)) needles.holdReplacement = 1;
  }
  return STATUS_OK;
}

function holdsReplacement(needle: usize, size: u32): bool {
  const end = needle + size;
  for (let ptr = needle; ptr < end; ) {
    const decoded = decodeUtf8(ptr, end);
    if (decodedPoint(decoded) == REPLACEMENT) return true;
    ptr += decodedSize(decoded);
  }
  return false;
}

@inline
function rowAt(needles: Needles, index: u32): NeedleRow {
  return changetype<NeedleRow>(<usize>needles.rows + <usize>index * NEEDLE_ROW_SIZE);
}

/** Whether skipping to needles has been worth its cost so far. */
@inline
export function areWorthwhile(needles: Needles): bool {
  return needles.credit >= 0;
}

/** Notes that looking for the next needle once has saved reading `size` bytes. */
export function noteSkipped(needles: Needles, size: usize): void {
  const cost = SKIP_COST + SKIP_COST_PER_NEEDLE * <i32>needles.count;
  needles.credit = min(needles.credit + <i32>min<usize>(size, CREDIT_MAX) - cost, CREDIT_MAX);
}

/** Begins a text: forgets what was found. `haystackFlags` as for findNeedle. */
export function beginNeedles(needles: Needles, haystackFlags: u32): void {
  needles.haystackFlags = haystackFlags;
  if (needles.kind == NEEDLES_NONE) return;
  for (let i: u32 = 0; i < needles.count; i++) {
    const row = rowAt(needles, i);
    row.searchedStart = 0;
    row.searchedEnd = 0;
    row.found = 0;
  }
}

/**
 * Start of the first occurrence of a needle in [from, end), or `end` if there is none. It may end behind `end`
 * where an earlier call searched further.
 */
export function findNeedles(needles: Needles, from: usize, end: usize): usize {
  let first = end;
  for (let i: u32 = 0; i < needles.count; i++) {
    first = min(first, findRow(needles, rowAt(needles, i), from, end));
  }
  return first;
}

/** As findNeedles, for one needle. */
function findRow(needles: Needles, row: NeedleRow, from: usize, end: usize): usize {
  const isKnown = from >= <usize>row.searchedStart && from <= <usize>row.found;
  if (isKnown && (row.found < row.searchedEnd || end <= <usize>row.searchedEnd)) {
    return min(<usize>row.found, end);
  }
  const found = findNeedle(row.needle, from, end, needles.haystackFlags);
  row.searchedStart = <u32>from;
  row.searchedEnd = <u32>end;
  row.found = <u32>found;
  return found;
}
