// Renders one matching doc as JSON (API.md 6.3 and 6.4), without braces: file-results.ts adds members.
// Evaluates the doc again, which costs less than keeping all ranges, unless they were kept
// (unit.ts). Chunks are ordered by score, then line; ranges beyond the limit are cut (API.md 6.6).

import { Arena, arenaAlloc } from '../base/arena.ts';
import { SORT_ROW_SIZE, sortByKey } from '../base/sort.ts';
import { writeAsciiText, writeDecimal, writeJsonString } from '../scan/json.ts';
import { findByte, findLastByte } from '../scan/newlines.ts';
import { countCodePoints } from '../text/utf8.ts';
import { PAGE_SIZE } from '../shared/format.ts';
import { KEPT_RANGE_SIZE } from '../shared/plan.ts';
import { SYMBOL_NAME_SIZE_MAX } from '../shared/symbols.ts';
import { STATUS_OK, STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { docAt } from '../shard/open.ts';
import { needBytes } from '../shard/pages.ts';
import { NO_PARENT, symbolParentAt } from '../shard/symbols.ts';
import { boundView } from './bound.ts';
import { canKeepRanges, enterKeptDoc } from './leaves.ts';
import {
  blockOf,
  contentBytesRead,
  current,
  forgetReads,
  markRead,
} from './current.ts';
import { evaluateDoc } from './evaluate.ts';
import { activeInContent } from './node.ts';
import {
  beginPositions,
  beginPositionsAt,
  currentColumn,
  currentLine,
  currentLineStart,
  moveTo,
} from './positions.ts';
import { contentPoints } from './range-score.ts';
import { beginPathRanges, beginRanges, nextRange, range } from './ranges.ts';
import { beginSymbolWalk, enterSymbol, symbolKindName, walk, walkPoints } from './symbol-walk.ts';

/** Most ranges of one doc that are sorted and rendered; more than any `matches`. */
const RANGES_MAX: u32 = 1 << 20;
/** Room for the numbers and names of one range, of one chunk, of a doc. */
const RANGE_RESERVE: usize = 192;
const CHUNK_RESERVE: usize = 160;
const DOC_RESERVE: usize = 512;
/** Room for a symbol: its name and that of its parent. */
const SYMBOL_RESERVE: usize = 12 * <usize>SYMBOL_NAME_SIZE_MAX + 192;
/** Bytes of a range: addresses of start and end, and whether it is part of the name of a symbol that the query searches. */
const RANGE_SIZE: usize = 12;

@unmanaged
class Chunk {
  firstRange: u32;
  rangeCount: u32;
  points: u32;
  firstLine: u32; // 1-based line of its first range
  lastLine: u32; // line of its last range's last byte
  lineStart: u32; // address of the first range's line
}
const CHUNK_SIZE: usize = 24;
if (offsetof<Chunk>() != CHUNK_SIZE) ERROR('Chunk: size');

// The lists of the rendered doc, in the arena from its mark at the start of renderDoc on.
//
//   ranges   | start, end, isSymbol | ...       in order of start; none overlaps another
//   chunks   | firstRange, rangeCount, ... |    neighbouring ranges; by points, then by line
let ranges: usize = 0;
let rangeCount: u32 = 0;
let chunks: usize = 0;
let chunkCount: u32 = 0;
/** Position of the next byte, and the end of the area. */
let out: usize = 0;
let outLimit: usize = 0;

export let renderBytesRead: f64 = 0;
/** Whether rendering was the first to read a block of the doc. */
export let isFirstReadByRender: bool = false;
/** Number of ranges that the last renderDoc wrote. */
export let renderedRangeCount: u32 = 0;

/**
 * Writes the doc to [outStart, outEnd); returns the bytes, or STATUS_OUT_OF_MEMORY if the area or
 * the arena is too small. The doc must match the bound tree.
 * @param contextLines  lines around each range, 0 to 100
 * @param returnsContent  1: the whole content too
 * @param kept  `keptCount` ranges of the doc that a unit kept
 */
export function renderDoc(
  arena: Arena,
  docId: u32,
  rangeMax: u32,
  contextLines: u32,
  returnsContent: u32,
  kept: usize,
  keptCount: u32,
  outStart: usize,
  outEnd: usize,
): i32 {
  out = outStart;
  outLimit = outEnd;
  forgetReads();
  if (!useKeptRanges(arena, docId, kept, keptCount)) {
    if (!evaluateDoc(docId)) return writeNothing();
    if (!collectRanges(arena)) return STATUS_OUT_OF_MEMORY;
  }
  const bytesBefore = contentBytesRead;
  const wasRead = current.isRead;
  if (!writePath(rangeMax)) return STATUS_OUT_OF_MEMORY;
  if (!writeChunks(arena, rangeMax, contextLines)) return STATUS_OUT_OF_MEMORY;
  if (returnsContent != 0 && docAt(boundView, docId).skipReason == 0 && !writeWhole()) {
    return STATUS_OUT_OF_MEMORY;
  }
  renderBytesRead = contentBytesRead - bytesBefore;
  isFirstReadByRender = !wasRead && current.isRead;
  return <i32>(out - outStart);
}

/** For a doc that does not match, which happens after isStopped. */
function writeNothing(): i32 {
  renderedRangeCount = 0;
  renderBytesRead = 0;
  isFirstReadByRender = false;
  return STATUS_OK;
}

/** Makes the doc the current one, with kept ranges as its ranges; false: none are usable. */
function useKeptRanges(arena: Arena, docId: u32, kept: usize, keptCount: u32): bool {
  if (keptCount == 0 || keptCount > RANGES_MAX || !canKeepRanges()) return false;
  enterKeptDoc(docId);
  ranges = arenaAlloc(arena, <usize>keptCount * RANGE_SIZE, 8);
  if (ranges == 0) return false;
  const start = <u32>current.start;
  const size = <u32>current.end - start;
  let last: u32 = 0;
  for (let i: u32 = 0; i < keptCount; i++) {
    const row = kept + <usize>i * KEPT_RANGE_SIZE;
    const keptStart = load<u32>(row);
    const keptEnd = load<u32>(row, 4);
    if (keptStart < last || keptEnd <= keptStart || keptEnd > size) {
      forgetReads();
      return false;
    }
    writeRange(i, start + keptStart, start + keptEnd, false);
    last = keptEnd;
  }
  rangeCount = keptCount;
  return true;
}

function writeRange(index: u32, start: u32, end: u32, isSymbol: bool): void {
  const ptr = ranges + <usize>index * RANGE_SIZE;
  store<u32>(ptr, start);
  store<u32>(ptr, end, 4);
  store<u32>(ptr, isSymbol ? 1 : 0, 8);
}

/** Lists the content ranges of the current doc; false if the arena is full. */
function collectRanges(arena: Arena): bool {
  rangeCount = 0;
  if (activeInContent.count == 0) return true;
  // Grows on demand: ranges are appended at the end of the arena's free space.
  ranges = arenaAlloc(arena, 0, 8);
  const capacity = (arena.end - <u32>ranges) / 2 / <u32>RANGE_SIZE;
  const most = min(RANGES_MAX, capacity);
  beginRanges();
  while (nextRange()) {
    if (rangeCount == most) break;
    writeRange(rangeCount, <u32>range.start, <u32>range.end, range.isSymbol);
    rangeCount++;
  }
  return arenaAlloc(arena, <usize>rangeCount * RANGE_SIZE, 8) != 0 || rangeCount == 0;
}

/** Whether `size` more bytes fit. Called once for many writes, which then need no check. */
@inline
function canFit(size: usize): bool {
  return out + size <= outLimit;
}

/**
 * `"fileName":{...}`, the path with its ranges; if the doc has none at all, the whole path is one.
 */
function writePath(rangeMax: u32): bool {
  const start = current.pathStart;
  const end = current.pathEnd;
  if (!canFit(DOC_RESERVE + 6 * (end - start))) return false;
  writeText('"fileName":{"text":"');
  out = writeJsonString(out, start, end);
  writeText('","matchRanges":[');
  renderedRangeCount = 0;
  beginPathRanges(rangeCount == 0);
  while (renderedRangeCount < rangeMax && nextRange()) {
    if (!canFit(RANGE_RESERVE)) return false;
    writePathRange(start, range.start, range.end);
  }
  if (rangeCount == 0 && renderedRangeCount == 0) writePathRange(start, start, end);
  writeText(']}');
  return true;
}

/** A range of the path that starts at `pathStart`: a path is one line. */
function writePathRange(pathStart: usize, start: usize, end: usize): void {
  if (renderedRangeCount > 0) writeByte(44);
  renderedRangeCount++;
  writeText('{"start":');
  writeLocation(<u32>(start - pathStart), 1, countCodePoints(pathStart, start) + 1);
  writeText(',"end":');
  writeLocation(<u32>(end - pathStart), 1, countCodePoints(pathStart, end) + 1);
  writeByte(125);
}

/** `,"chunks":[...]`. */
function writeChunks(arena: Arena, rangeMax: u32, contextLines: u32): bool {
  writeText(',"chunks":[');
  if (rangeCount > 0) {
    if (!groupRanges(arena, contextLines) || !sortChunks(arena)) return false;
    for (let i: u32 = 0; i < chunkCount && renderedRangeCount < rangeMax; i++) {
      if (i > 0) writeByte(44);
      const chunk = chunkAt(i);
      const renderedCount = min(chunk.rangeCount, rangeMax - renderedRangeCount);
      if (!writeChunk(chunk, renderedCount, contextLines)) return false;
      renderedRangeCount += renderedCount;
    }
  }
  writeByte(93);
  return true;
}

/** Groups the ranges into chunks: neighbours whose lines with context meet share one. False if the arena is full. */
function groupRanges(arena: Arena, contextLines: u32): bool {
  chunks = arenaAlloc(arena, <usize>rangeCount * CHUNK_SIZE, 8);
  if (chunks == 0) return false;
  chunkCount = 0;
  beginPositions();
  // Points only order the chunks.
  const isScored = rangeCount > 1;
  if (isScored) beginSymbolWalk();
  let chunk = changetype<Chunk>(0);
  for (let i: u32 = 0; i < rangeCount; i++) {
    const start = <usize>load<u32>(ranges + <usize>i * RANGE_SIZE);
    const end = <usize>load<u32>(ranges + <usize>i * RANGE_SIZE, 4);
    moveTo(start);
    const firstLine = currentLine();
    const lineStart = currentLineStart();
    // The last byte's line: a range that ends with a newline belongs to the line before.
    moveTo(end - 1);
    const points = isScored
      ? contentPoints(start, end, current.start, current.end) + walkPoints(start, end)
      : 0;
    if (i > 0 && chunk.lastLine + 2 * contextLines >= firstLine) {
      chunk.rangeCount++;
      chunk.lastLine = max(chunk.lastLine, currentLine());
      chunk.points = max(chunk.points, points);
      continue;
    }
    chunk = chunkAt(chunkCount++);
    chunk.firstRange = i;
    chunk.rangeCount = 1;
    chunk.points = points;
    chunk.firstLine = firstLine;
    chunk.lastLine = currentLine();
    chunk.lineStart = <u32>lineStart;
  }
  return true;
}

@inline
function chunkAt(index: u32): Chunk {
  return changetype<Chunk>(chunks + <usize>index * CHUNK_SIZE);
}

/** Sorts the chunks by points, highest first, stable; false if the arena is full. */
function sortChunks(arena: Arena): bool {
  let isSorted = true;
  for (let i: u32 = 1; i < chunkCount && isSorted; i++) {
    isSorted = chunkAt(i - 1).points >= chunkAt(i).points;
  }
  if (isSorted) return true;
  const sorted = arenaAlloc(arena, <usize>chunkCount * CHUNK_SIZE, 8);
  const keys = arenaAlloc(arena, <usize>chunkCount * SORT_ROW_SIZE, 16);
  const scratch = arenaAlloc(arena, <usize>chunkCount * SORT_ROW_SIZE, 16);
  if (sorted == 0 || keys == 0 || scratch == 0) return false;
  for (let i: u32 = 0; i < chunkCount; i++) {
    const key = keys + <usize>i * SORT_ROW_SIZE;
    store<u64>(key, <u64>~chunkAt(i).points);
    store<u32>(key, i, 8);
  }
  const inOrder = sortByKey(keys, chunkCount, scratch, () => 0);
  for (let i: u32 = 0; i < chunkCount; i++) {
    const index = load<u32>(inOrder + <usize>i * SORT_ROW_SIZE, 8);
    memory.copy(sorted + <usize>i * CHUNK_SIZE, changetype<usize>(chunkAt(index)), CHUNK_SIZE);
  }
  chunks = sorted;
  return true;
}

function writeChunk(chunk: Chunk, renderedCount: u32, contextLines: u32): bool {
  const start = linesBefore(chunk.lineStart, contextLines);
  const lastEnd = load<u32>(ranges + <usize>(chunk.firstRange + renderedCount - 1) * RANGE_SIZE, 4);
  const end = linesAfter(<usize>lastEnd - 1, contextLines);
  if (!canFit(CHUNK_RESERVE + 6 * (end - start) + <usize>renderedCount * RANGE_RESERVE))
    return false;
  markBlocks(start, end);
  writeText('{"content":"');
  out = writeJsonString(out, start, end);
  writeText('","contentStart":');
  const firstLine = chunk.firstLine - lineCountBefore;
  writeLocation(<u32>(start - current.fileStart), firstLine, 1);
  writeText(',"matchRanges":[');
  beginPositionsAt(<usize>chunk.lineStart, chunk.firstLine);
  for (let i: u32 = 0; i < renderedCount; i++) {
    const range = ranges + <usize>(chunk.firstRange + i) * RANGE_SIZE;
    if (i > 0) writeByte(44);
    writeText('{"start":');
    writePosition(load<u32>(range));
    writeText(',"end":');
    writePosition(load<u32>(range, 4));
    writeByte(125);
  }
  writeText('],"symbols":[');
  if (hasSymbolRange(chunk, renderedCount) && !writeSymbols(chunk, renderedCount)) return false;
  writeText(']}');
  return true;
}

function hasSymbolRange(chunk: Chunk, renderedCount: u32): bool {
  for (let i: u32 = 0; i < renderedCount; i++) {
    if (load<u32>(ranges + <usize>(chunk.firstRange + i) * RANGE_SIZE, 8) != 0) return true;
  }
  return false;
}

/**
 * A symbol for each of the chunk's first ranges; empty for ranges not found by a query for symbols.
 */
function writeSymbols(chunk: Chunk, renderedCount: u32): bool {
  beginSymbolWalk();
  for (let i: u32 = 0; i < renderedCount; i++) {
    const range = ranges + <usize>(chunk.firstRange + i) * RANGE_SIZE;
    if (i > 0) writeByte(44);
    const isSymbol = load<u32>(range, 8) != 0 && enterSymbol(load<u32>(range), load<u32>(range, 4));
    if (!canFit(SYMBOL_RESERVE)) return false;
    if (!isSymbol) writeText('{"symbol":"","kind":""}');
    else writeSymbol();
  }
  return true;
}

function writeSymbol(): void {
  writeText('{"symbol":"');
  out = writeJsonString(out, walk.start, walk.end);
  writeText('","kind":"');
  writeText(symbolKindName(walk.kind));
  if (walk.parent != NO_PARENT) {
    const parent = symbolParentAt(boundView, walk.parent);
    const name = <usize>boundView.symbolParentNames + parent.nameOffset;
    writeText('","parent":{"symbol":"');
    out = writeJsonString(out, name, name + parent.nameSize);
    writeText('","kind":"');
    writeText(symbolKindName(parent.kind));
    writeText('"}}');
  } else writeText('"}');
}

/** Lines found by linesBefore. */
let lineCountBefore: u32 = 0;

/** Start of the line `count` lines before that at `lineStart`, at most the content's start. */
function linesBefore(lineStart: usize, count: u32): usize {
  const start = current.start;
  let ptr = lineStart;
  lineCountBefore = 0;
  while (lineCountBefore < count && ptr > start) {
    const newline = lastNewline(start, ptr - 1);
    ptr = newline == ptr - 1 ? start : newline + 1;
    lineCountBefore++;
  }
  return ptr;
}

/** End of the line `count` lines after the one that contains `ptr`, its newline included. */
function linesAfter(ptr: usize, count: u32): usize {
  const end = current.end;
  for (let i: u32 = 0; i <= count && ptr < end; i++) {
    const newline = firstNewline(ptr, end);
    ptr = newline == end ? end : newline + 1;
  }
  return ptr;
}

/** As findLastByte; checks only pages that it reads. */
function lastNewline(start: usize, end: usize): usize {
  for (let stop = end; stop > start;) {
    const from = stop - min(stop - start, PAGE_SIZE);
    needBytes(boundView, from, stop + 64);
    const newline = findLastByte(from, stop, 10);
    if (newline != stop) return newline;
    stop = from;
  }
  return end;
}

/** As findByte; checks only pages that it reads. */
function firstNewline(start: usize, end: usize): usize {
  for (let from = start; from < end;) {
    const stop = min(end, from + PAGE_SIZE);
    needBytes(boundView, from, stop + 64);
    const newline = findByte(from, stop, 10);
    if (newline != stop) return newline;
    from = stop;
  }
  return end;
}

function markBlocks(start: usize, end: usize): void {
  const first = blockOf(start, current.firstBlock);
  markRead(first, blockOf(end - 1, first) + 1);
}

/** The position of an address in the content, not before the previous one. */
function writePosition(address: u32): void {
  moveTo(<usize>address);
  writeLocation(address - <u32>current.fileStart, currentLine(), currentColumn());
}

function writeLocation(byteOffset: u32, lineNumber: u32, column: u32): void {
  writeText('{"byteOffset":');
  out = writeDecimal(out, byteOffset);
  writeText(',"lineNumber":');
  out = writeDecimal(out, lineNumber);
  writeText(',"column":');
  out = writeDecimal(out, column);
  writeByte(125);
}

/** `,"content":"..."`. */
function writeWhole(): bool {
  const start = current.fileStart;
  const end = current.end;
  if (!canFit(DOC_RESERVE + 6 * (end - start))) return false;
  if (end > start) markRead(current.firstBlock, current.endBlock);
  writeText(',"content":"');
  out = writeJsonString(out, start, end);
  writeByte(34);
  return true;
}

@inline
function writeByte(byte: u32): void {
  store<u8>(out, <u8>byte);
  out++;
}

function writeText(text: string): void {
  out = writeAsciiText(out, text);
}
