// The exported functions of the core: numbers in, numbers out, no logic.
//
// Protocol. The host provides the memory, at its final size: it is never grown, because shard files may be
// mapped over a part of it. Addresses from heapBase() up belong to the host, which hands ranges to the
// core: arenas, output areas, records. The core owns nothing beyond its static data and never frees.
//   search: coreInit -> openShard for each shard -> (planCompile -> (docSetsInit if the plan names sets ->
//           planBind -> searchUnit* / renderDocs*) for each shard) for each request
//   build:  coreInit -> builderInit -> (builderBegin -> builderAddBlob* -> builderClose ->
//           builderFinish -> read stripes and rows) for each batch; mergeBegin -> mergeAddStripe* ->
//           mergeStep* -> mergeFinish for each shard
//   symbols:   coreInit -> openShard -> symbolsBegin -> symbolsAddBlob* -> symbolsFinish -> read the sections
// The host also gives isStopWanted (base/work.ts), which planBind, searchUnit, renderDocs and testNames ask, and bringIn,
// refusePage and willNeed (shard/pages.ts), which whatever reads an open shard calls. They must not call the core.
// Statuses are in shared/status.ts. A u32 reaches the host as a signed number: it applies `>>> 0`.

import { Arena, arenaAlloc, arenaInit, arenaMark, arenaReset } from './base/arena.ts';
import { beginWork, isStopped } from './base/work.ts';
import { xxh64 } from './base/xxh64.ts';
import { SHARD_BITMAP_SIZE } from './shared/format.ts';
import { STATUS_OK, STATUS_OUT_OF_MEMORY, STATUS_STOPPED } from './shared/status.ts';
import { beginRegexes, compileRegex, regexEngine as engineOf, regexStatus, testRegex } from './regex/regex.ts';
import { TEXT_ANY } from './regex/text.ts';
import { lettersInit, textKey } from './text/letters.ts';
import { findGram, readList } from './shard/lists.ts';
import {
  openFailIndex as failIndex,
  openFailSection as failSection,
  openShard as open,
  headerChecksum as checksumOfHeader,
} from './shard/open.ts';
import { SHARD_VIEW_SIZE, ShardView } from './shard/view.ts';
import { beginBindings, bindOrRestore, isKept, makeRoom } from './match/bindings.ts';
import { docBitmapSizeOf, useDocSets } from './match/bound.ts';
import { beginDocs, forgetReads } from './match/current.ts';
import { compilePlan } from './match/match-tree.ts';
import { searchUnit } from './match/search.ts';
import { printTree } from './match/print-tree.ts';
import { renderDocs as render, renderedLoadCount as loadsOfRender } from './match/file-results.ts';
import {
  builderAddBlob,
  builderBegin,
  builderBlobCount,
  builderBlobRows,
  builderBlockCount,
  builderBlockRows,
  builderCaseMarks,
  builderClose,
  builderContentSize,
  builderFinish,
  builderInit,
  builderOutput,
  builderStripeCount,
  builderStripeEnd,
} from './shard/builder.ts';
import {
  mergeAddStripe,
  mergeBegin,
  mergeFinish,
  mergeKeys,
  mergeLists,
  mergeStep,
} from './shard/merge.ts';
import {
  forgetPages as forgetPagesOf,
  pagesInit as beginPages,
  SOUND_PAGES_SIZE,
  sumPages as sumPagesOf,
} from './shard/pages.ts';
import { openSymbols as openSymbolsOf, symbolsHeaderChecksum, verifySymbols as verifySymbolsOf } from './shard/symbols.ts';
import {
  symbolsAddBlob,
  symbolsBegin as beginSymbols,
  symbolsCount,
  symbolsFinish,
  symbolsLists,
  symbolsListsSize,
  symbolsNameCount,
  symbolsNameLists,
  symbolsNameOffsets,
  symbolsNameSizes,
  symbolsRows,
  symbolsRowsSize,
  symbolsStarts,
} from './shard/symbols-builder.ts';
import {
  VERIFY_SCRATCH_SIZE,
  verifyChecksums as verifyAllChecksums,
  verifyFailIndex as failOfVerify,
  verifyStripe as verifyOneStripe,
  verifyStripeSum as verifyOneStripeSum,
} from './shard/verify.ts';

export {
  builderAddBlob,
  builderBegin,
  builderBlobCount,
  builderBlobRows,
  builderBlockCount,
  builderBlockRows,
  builderCaseMarks,
  builderClose,
  builderContentSize,
  builderFinish,
  builderInit,
  builderOutput,
  builderStripeCount,
  builderStripeEnd,
  mergeAddStripe,
  mergeBegin,
  mergeFinish,
  mergeKeys,
  mergeLists,
  mergeStep,
  printTree,
  searchUnit,
  symbolsAddBlob,
  symbolsCount,
  symbolsFinish,
  symbolsHeaderChecksum,
  symbolsLists,
  symbolsListsSize,
  symbolsNameCount,
  symbolsNameLists,
  symbolsNameOffsets,
  symbolsNameSizes,
  symbolsRows,
  symbolsRowsSize,
  symbolsStarts,
};

const arena = changetype<Arena>(memory.data(12, 8));
/** Mark behind what is bound: rendering works from there on. */
let boundEnd: usize = 0;

/** Address of the first byte that static data does not use. */
export function heapBase(): usize {
  return __heap_base;
}

/** Bytes of the record that openShard fills. */
export function shardViewSize(): usize {
  return SHARD_VIEW_SIZE;
}

/** Fills the tables; once, before anything else. */
export function coreInit(): void {
  lettersInit();
}

/** Hands over the arena of all requests. The host keeps clear of it until the next call. */
export function requestArenaInit(start: usize, end: usize): void {
  arenaInit(arena, start, end);
}

/** Bytes of the bitmap of sound pages. */
export function soundPagesSize(): usize {
  return SOUND_PAGES_SIZE;
}
/** Hands over that bitmap, zeros; from then on pages of shards are checked when they are first read. */
export function pagesInit(bitmap: usize): void {
  beginPages(bitmap);
}
/** The host puts other bytes into [start, end) than were there. */
export function forgetPages(start: usize, end: usize): void {
  forgetPagesOf(start, end);
}
/** Sums of the pages of a file (FORMAT.md) as u32 to `out`. */
export function sumPages(base: usize, headSize: usize, end: usize, out: usize): void {
  sumPagesOf(base, headSize, end, out);
}

export function openShard(base: usize, size: u32, view: usize): i32 {
  return open(base, size, view);
}

/** Opens a symbols file as that of the open shard `view`. */
export function openSymbols(base: usize, size: u32, view: usize): i32 {
  return openSymbolsOf(base, size, changetype<ShardView>(view));
}

/** Checks every byte of the symbols file at `base` that `view` has open. */
export function verifySymbols(base: usize, view: usize, bitmap: usize): i32 {
  return verifySymbolsOf(base, changetype<ShardView>(view), bitmap);
}

/** Begins the symbols of the open shard `view` in [start, end), which reads as zeros. */
export function symbolsBegin(view: usize, start: usize, end: usize): i32 {
  return beginSymbols(changetype<ShardView>(view), start, end);
}
export function openFailSection(): u32 {
  return failSection;
}
export function openFailIndex(): u32 {
  return failIndex;
}
export function headerChecksum(base: usize): u64 {
  return checksumOfHeader(base);
}
export function checksum(ptr: usize, size: u32): u64 {
  return xxh64(ptr, size, 0);
}

/** Compiles the plan at `plan`, which the host keeps there, as the request's; drops the one before. */
export function planCompile(plan: usize, size: u32): i32 {
  arenaReset(arena, arena.start);
  const bits = arenaAlloc(arena, SHARD_BITMAP_SIZE, 16);
  if (bits == 0) return STATUS_OUT_OF_MEMORY;
  beginDocs(bits);
  const status = compilePlan(arena, plan, size);
  beginBindings(arena);
  useDocSets(0, 0);
  return status;
}

/** Bytes of one bitmap of the docs of a shard; bits behind the last doc are zero. */
export function docSetSize(view: usize): usize {
  return docBitmapSizeOf(changetype<ShardView>(view));
}

/**
 * Room for the sets of docs that the plan names, of the shard that is bound next: a table of `count` words, and
 * from its end, rounded up to 16, `bitmapCount` bitmaps of docSetSize. The host fills both: a word is 1 for no doc,
 * 2 for all docs, or the address of a bitmap. Returns the address; 0: it does not fit; 1: the shard's binding was
 * kept and needs none.
 */
export function docSetsInit(view: usize, count: u32, bitmapCount: u32): usize {
  if (isKept(view)) return 1;
  makeRoom(arena);
  const tableSize = (<usize>count * 4 + 15) & ~15;
  const table = arenaAlloc(arena, tableSize + <usize>bitmapCount * docSetSize(view), 16);
  useDocSets(table, count);
  return table;
}

/**
 * Binds the plan to a shard; counters (BIND_*) go to `stats`. The shards that a request binds must stay open
 * until the next planCompile.
 */
export function planBind(view: usize, stats: usize): i32 {
  forgetReads();
  const status = bindOrRestore(arena, view, stats);
  useDocSets(0, 0);
  boundEnd = arenaMark(arena);
  return status;
}

/** Renders docs of the bound shard as file results; see match/file-results.ts. */
export function renderDocs(
  requests: usize,
  count: u32,
  links: usize,
  contextLines: u32,
  isWhole: u32,
  out: usize,
  outEnd: usize,
): i32 {
  arenaReset(arena, boundEnd);
  return render(arena, requests, count, links, contextLines, isWhole, out, outEnd);
}
/** Docs of which no block was read before rendering read some. */
export function renderedLoadCount(): u32 {
  return loadsOfRender;
}

/**
 * Tests names against a regular expression: for each of the `count` rows (address, size) a byte, 1 or 0, goes to
 * `out`. Leaves the request as it is.
 */
export function testNames(program: usize, size: u32, rows: usize, count: u32, out: usize): i32 {
  const mark = arenaMark(arena);
  const status = beginRegexes(arena, 1);
  if (status != STATUS_OK) return status;
  const regex = compileRegex(arena, program, size);
  if (regex == 0) return regexStatus;
  beginWork();
  for (let i: u32 = 0; i < count; i++) {
    const start = <usize>load<u32>(rows + (<usize>i << 3));
    const isMatch = testRegex(regex, start, start + load<u32>(rows + (<usize>i << 3), 4), TEXT_ANY);
    store<u8>(out + i, isMatch ? 1 : 0);
    if (isStopped) return STATUS_STOPPED;
  }
  arenaReset(arena, mark);
  return STATUS_OK;
}

/**
 * What finds the matches of a program in a content (or, if `isTest`, tells whether a name has one): ENGINE_*, or the
 * status of a program that is refused. For explain; leaves the request as it is.
 */
export function regexEngine(program: usize, size: u32, isTest: bool): i32 {
  const mark = arenaMark(arena);
  const status = beginRegexes(arena, 1);
  if (status != STATUS_OK) return status;
  const regex = compileRegex(arena, program, size);
  const answer = regex == 0 ? regexStatus : <i32>engineOf(regex, isTest);
  arenaReset(arena, mark);
  return answer;
}

export function verifyChecksums(view: usize): i32 {
  return verifyAllChecksums(changetype<ShardView>(view));
}
export function verifyStripe(view: usize, stripe: u32, scratch: usize): i32 {
  return verifyOneStripe(changetype<ShardView>(view), stripe, scratch);
}
export function verifyStripeSum(view: usize, stripe: u32, sum: u64, scratch: usize): i32 {
  return verifyOneStripeSum(changetype<ShardView>(view), stripe, sum, scratch);
}
export function verifyFailIndex(): u32 {
  return failOfVerify;
}
export function verifyScratchSize(): usize {
  return VERIFY_SCRATCH_SIZE;
}

/**
 * Blocks of the trigram, UTF-8 text of three code points at `text`, as a bitmap of SHARD_BITMAP_SIZE bytes
 * at `bitmap`. For inspection.
 */
export function listBlocks(view: usize, text: usize, size: u32, bitmap: usize): i32 {
  const shard = changetype<ShardView>(view);
  return readList(shard, findGram(shard, textKey(text, text + size)), bitmap);
}
