// The needles of an expression: literals of which every match contains one, or a run of bytes that
// begins every match. A position found is kept until the search has passed it, so that many calls
// read a text once. Needles so frequent that the DFA is faster are dropped.

import {
  NEEDLE_RUN_COUNT_OFFSET,
  NEEDLES_NONE,
  NEEDLES_RUN,
  PROGRAM_NEEDLES_FOLDED,
} from '../shared/program.ts';
import { STATUS_BAD_PLAN, STATUS_OK, STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { Arena, arenaAlloc } from '../base/arena.ts';
import { CLASS_RUN_SIZE, compileClassRun, findClassRun } from '../scan/class-run.ts';
import { compileNeedle, findNeedle, needleSizeMax, NEEDLE_SIZE_MAX } from '../scan/literal.ts';
import { compileLiteralSet, findInSet, literalSetSizeMax } from '../scan/literal-set.ts';
import { decodedPoint, decodedSize, decodeUtf8, REPLACEMENT } from '../text/utf8.ts';
import {
  programFlags,
  programNeedle,
  programNeedleBytes,
  programNeedleCount,
  programNeedleKind,
  programNeedleRows,
  programNeedleSize,
} from './program.ts';

/** Most and initial credit: needles that save little for a while are dropped for good. */
const CREDIT_MAX: i32 = 1 << 16;
// Measured: 2026-11-21, 64 MiB of TypeScript: finding the next needle costs as much as the DFA on
// this many bytes, for one needle of one letter, and for sets of two to nine of them.
const SKIP_COST_ONE: i32 = 14;
const SKIP_COST_SET: i32 = 28;

@unmanaged
export class Needles {
  kind: u32; // NEEDLES_*
  count: u32;
  compiled: u32; // address of the compiled needle, set of them, or class
  sizeMax: u32; // bytes of the longest needle, or of the run
  hasReplacement: u32; // 1: one contains U+FFFD, which also matches bad bytes
  credit: i32; // bytes saved by skipping minus its cost, in bytes that the DFA reads meanwhile
  // Of the current text: no needle starts in [searchedStart, found).
  haystackFlags: u32; // HAYSTACK_*
  searchedStart: u32;
  searchedEnd: u32; // end of the searched part
  found: u32; // the first occurrence; searchedEnd: none
}
export const NEEDLES_SIZE: usize = 40;
if (offsetof<Needles>() != NEEDLES_SIZE) ERROR('Needles: size');

/** Errors: STATUS_OUT_OF_MEMORY, STATUS_BAD_PLAN (too long). */
export function compileNeedles(arena: Arena, program: usize, needles: Needles): i32 {
  memory.fill(changetype<usize>(needles), 0, NEEDLES_SIZE);
  needles.kind = programNeedleKind(program);
  needles.count = programNeedleCount(program);
  needles.credit = CREDIT_MAX;
  if (needles.kind == NEEDLES_NONE) return STATUS_OK;
  if (needles.kind == NEEDLES_RUN) return compileRun(arena, programNeedle(program, 0), needles);
  let totalSize: usize = 0;
  for (let i: u32 = 0; i < needles.count; i++) {
    const size = programNeedleSize(program, i);
    if (<usize>size > NEEDLE_SIZE_MAX) return STATUS_BAD_PLAN;
    totalSize += size;
    needles.sizeMax = max(needles.sizeMax, size);
    if (containsReplacement(programNeedle(program, i), size)) needles.hasReplacement = 1;
  }
  const isOne = needles.count == 1;
  const capacity = isOne ? needleSizeMax(totalSize) : literalSetSizeMax(needles.count, totalSize);
  const compiled = arenaAlloc(arena, capacity, 16);
  if (compiled == 0) return STATUS_OUT_OF_MEMORY;
  needles.compiled = <u32>compiled;
  const isCaseSensitive = (programFlags(program) & PROGRAM_NEEDLES_FOLDED) == 0;
  const status = isOne
    ? compileNeedle(programNeedle(program, 0), totalSize, isCaseSensitive, compiled, capacity)
    : compileLiteralSet(
        programNeedleRows(program),
        needles.count,
        programNeedleBytes(program),
        isCaseSensitive,
        compiled,
        capacity,
      );
  return status > 0 ? STATUS_OK : STATUS_BAD_PLAN;
}

function compileRun(arena: Arena, run: usize, needles: Needles): i32 {
  const compiled = arenaAlloc(arena, CLASS_RUN_SIZE, 16);
  if (compiled == 0) return STATUS_OUT_OF_MEMORY;
  needles.compiled = <u32>compiled;
  needles.sizeMax = load<u32>(run, NEEDLE_RUN_COUNT_OFFSET);
  compileClassRun(run, needles.sizeMax, compiled);
  return STATUS_OK;
}

function containsReplacement(needle: usize, size: u32): bool {
  const end = needle + size;
  for (let ptr = needle; ptr < end; ) {
    const decoded = decodeUtf8(ptr, end);
    if (decodedPoint(decoded) == REPLACEMENT) return true;
    ptr += decodedSize(decoded);
  }
  return false;
}

@inline
export function areWorthwhile(needles: Needles): bool {
  return needles.credit >= 0;
}

/** Records that finding the next needle saved reading `size` bytes. */
export function noteSkipped(needles: Needles, size: usize): void {
  const cost = needles.count == 1 ? SKIP_COST_ONE : SKIP_COST_SET;
  needles.credit = min(needles.credit + <i32>min<usize>(size, CREDIT_MAX) - cost, CREDIT_MAX);
}

export function beginNeedles(needles: Needles, haystackFlags: u32): void {
  needles.haystackFlags = haystackFlags;
  needles.searchedStart = 0;
  needles.searchedEnd = 0;
  needles.found = 0;
}

/** Start of the first needle in [from, end), or `end`. It may end after `end`. */
export function findNeedles(needles: Needles, from: usize, end: usize): usize {
  const isCached = from >= <usize>needles.searchedStart && from <= <usize>needles.found;
  if (isCached && (needles.found < needles.searchedEnd || end <= <usize>needles.searchedEnd)) {
    return min(<usize>needles.found, end);
  }
  const found = searchNeedles(needles, from, end);
  needles.searchedStart = <u32>from;
  needles.searchedEnd = <u32>end;
  needles.found = <u32>found;
  return found;
}

function searchNeedles(needles: Needles, from: usize, end: usize): usize {
  if (needles.kind == NEEDLES_RUN) return findClassRun(needles.compiled, from, end);
  const flags = needles.haystackFlags;
  return needles.count == 1
    ? findNeedle(needles.compiled, from, end, flags)
    : findInSet(needles.compiled, from, end, flags);
}
