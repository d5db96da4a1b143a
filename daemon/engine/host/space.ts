// One instance of the core with 4 GiB of memory and the shards placed in it (further shards: searcher.ts). Memory map: static
// data | views | checked pages | plan | counters | output | arena | shards from MAP_START up

import * as format from '../../../core/shared/format.ts';
import { PAGES_CHECKED, PAGES_IN, PAGES_LOST } from '../../../core/shared/status.ts';
import * as symbolLayout from '../../../core/shared/symbols.ts';
import {
  bringIn,
  canMap,
  emptyRange,
  expectLookups,
  isInMemory,
  MappingError,
  type MappingKind,
  mapFile,
  releaseRange,
  residentSize,
  systemPageSize,
  willNeed,
} from './mapping.ts';
import { CheckedPages, fileKeyOf } from './checked-pages.ts';
import { type Core, dropCore, instantiateCore, MEMORY_PAGES, statusName } from './core.ts';
import { type FileLayout, sectionStart, SHARD_LAYOUT, SYMBOLS_LAYOUT } from './file-layout.ts';
import { statSync } from 'node:fs';
import path from 'node:path';
import { isMachineFault, isShortage, messageOf } from '../../base/caught.ts';

const MIB = 1 << 20;
const VIEW_COUNT_MAX = 16384;
const PLAN_SIZE_MAX = 4 * MIB;
const STATS_SIZE = 256;
const OUTPUT_SIZE = 448 * MIB;
/** Guess: arena of searches without expressions and long lists. */
const IDLE_SIZE = 4 * MIB;
const MAP_START = 1024 * MIB;
/** Leaves a page, so that the end of the last shard is below 2^32. */
const MAP_END = MEMORY_PAGES * 65536 - 65536;

/**
 * A thread checks its pages again after this time, unless another thread did so within this time: twice as late at most. Bytes
 * may change through another name of the file, a bad disk or bad memory.
 * Measured: 0.3 us a page; 2 ms a thread for the tables of an index of 1.15 GB.
 */
const VERIFIED_MS = 60_000;
/** Bytes of tables checked, or skipped because not in memory, at a time. */
const TABLE_CHUNK_SIZE = 1 << 18;

/** Bytes of shards in one space. */
export const SPACE_CAPACITY = MAP_END - MAP_START;

export interface ShardFile {
  /** Content with this id never changes. */
  readonly shardId: string;
  readonly path: string;
  readonly size: number;
  /** Absent: symbols are not available. */
  readonly symbols?: { readonly path: string; readonly size: number };
}

/** Damaged bytes or symbols; `unmapped`: the machine lacks resources or permission to read it. */
export type ShardFault = 'damaged' | 'symbols' | 'unmapped';

/** Runs of sections: the first, and the one behind the last. */
type Runs = readonly (readonly [first: number, behind: number])[];

/** Tables as checked by core/shard/open.ts. */
const SHARD_TABLES: Runs = [
  [format.SECTION_BLOBS, format.SECTION_POSTINGS],
  [format.SECTION_GRAM_KEYS, format.SECTION_PAGE_SUMS],
];
/** Tables as checked by core/shard/symbols.ts. */
const SYMBOL_TABLES: Runs = [
  [symbolLayout.SYMBOLS_SECTION_STARTS, symbolLayout.SYMBOLS_SECTION_ROWS],
  [symbolLayout.SYMBOLS_SECTION_PARENTS, symbolLayout.SYMBOLS_SECTION_NAMES],
];

export interface ShardProblem {
  readonly reason: string;
  readonly fault: ShardFault;
}

export class ShardError extends Error {
  readonly shardId: string;
  readonly reason: string;
  readonly fault: ShardFault;
  constructor(shardId: string, reason: string, fault: ShardFault = 'damaged') {
    super(`shard ${shardId}: ${reason}`);
    this.shardId = shardId;
    this.reason = reason;
    this.fault = fault;
  }
}

interface MappedShard {
  readonly file: ShardFile;
  readonly address: number;
  /** Of both files; the second starts at a page border. */
  readonly size: number;
  readonly view: number;
  readonly kind: MappingKind;
  /** False: its range is reserved, but empty. */
  isIn: boolean;
  /** -Infinity: not since it was opened. */
  sizeCheckedAtMs: number;
  /** Checked on opening, not on reading. */
  readonly tables: readonly TableRange[];
  checkedAtMs: number;
}

/** Addresses in memory; `base` is the start of the file. */
interface TableRange {
  readonly base: number;
  readonly headSize: number;
  readonly sums: number;
  readonly start: number;
  readonly end: number;
}

export interface SpaceOptions {
  /** In bytes; default and maximum: SPACE_CAPACITY. */
  readonly capacity?: number | undefined;
  /** Read shards even where they can be mapped. */
  readonly wantsRead?: boolean | undefined;
  /** Above 0. For tests; default: 60,000. */
  readonly verifiedMs?: number | undefined;
  /** Shared with other threads that have the same `verifiedMs`. Absent: each thread checks all pages it reads. */
  readonly checkedPages?: SharedArrayBuffer | undefined;
}

/** Not to be used after a trap. */
export class Space {
  readonly core: Core;
  readonly planStart: number;
  readonly statsStart: number;
  readonly outputStart: number;
  readonly outputEnd: number;
  /** Available to a request beside its plan and output. */
  readonly arenaSize: number;
  readonly #viewStart: number;
  readonly #wantsRead: boolean;
  readonly #verifiedMs: number;
  readonly #shards = new Map<string, MappedShard>();
  readonly #checkedPages: CheckedPages | undefined;
  /** Keys in `checkedPages`, by the address of the mapped file. */
  readonly #fileKeys = new Map<number, number>();
  readonly #ranges: RangeList;
  readonly #freeViews: number[] = [];
  #viewCount = 0;
  /** The last requested pages found no memory. */
  #isStarved = false;
  /** Ranges that scans announced; whether the last one probed was not in memory. */
  #scanCount = 0;
  #isCold = false;
  #forgetStart = MAP_START;
  #forgotAtMs = performance.now();
  #tablesCheckedAtMs = performance.now();

  constructor(module: WebAssembly.Module, options: SpaceOptions = {}) {
    this.core = instantiateCore(module);
    const viewSize = this.core.exports.shardViewSize();
    this.#viewStart = this.core.heapStart;
    const verifiedPages = align(this.#viewStart + VIEW_COUNT_MAX * viewSize);
    this.planStart = align(verifiedPages + this.core.exports.verifiedPagesSize());
    this.core.exports.pagesInit(verifiedPages);
    this.core.pages = {
      bringIn: (base, address, size) => this.#bringIn(base, address, size),
      noteChecked: (base, address, size) => this.#noteChecked(base, address, size),
      willNeed: (address, size) => this.#willNeed(address, size),
      damageAt: (address) => this.#damageAt(address),
    };
    this.statsStart = this.planStart + PLAN_SIZE_MAX;
    this.outputStart = align(this.statsStart + STATS_SIZE);
    this.outputEnd = this.outputStart + OUTPUT_SIZE;
    const arenaStart = align(this.outputEnd);
    this.arenaSize = MAP_START - arenaStart;
    this.core.exports.requestArenaInit(arenaStart, MAP_START);
    const capacity = Math.min(options.capacity ?? SPACE_CAPACITY, SPACE_CAPACITY);
    this.#ranges = new RangeList(MAP_START, MAP_START + capacity);
    this.#wantsRead = options.wantsRead ?? false;
    this.#verifiedMs = options.verifiedMs ?? VERIFIED_MS;
    const { checkedPages } = options;
    this.#checkedPages = checkedPages && new CheckedPages(checkedPages, this.#verifiedMs);
  }

  has(shardId: string): boolean {
    return this.#shards.has(shardId);
  }

  get shardCount(): number {
    return this.#shards.size;
  }

  kindOf(shardId: string): MappingKind | undefined {
    return this.#shards.get(shardId)?.kind;
  }

  viewOf(shardId: string): number {
    return this.#placed(shardId).view;
  }

  /** A view, valid while the shard is open. */
  bytesOf(shardId: string): Uint8Array {
    const { address, file } = this.#placed(shardId);
    return new Uint8Array(this.core.memory.buffer, address, file.size);
  }

  /** As `bytesOf`; undefined: not available. */
  symbolBytesOf(shardId: string): Uint8Array | undefined {
    const { address, file } = this.#placed(shardId);
    if (file.symbols === undefined) return undefined;
    return new Uint8Array(this.core.memory.buffer, address + align(file.size), file.symbols.size);
  }

  #placed(shardId: string): MappedShard {
    const shard = this.#shards.get(shardId);
    if (shard === undefined) throw new Error(`shard ${shardId} is not in this space`);
    return shard;
  }

  /** BlockIds of a text of three characters. Errors: ShardError for a damaged list. */
  blocksOfTrigram(shardId: string, trigram: string): number[] {
    const { exports, memory } = this.core;
    const text = Buffer.from(trigram);
    new Uint8Array(memory.buffer).set(text, this.planStart);
    const view = this.viewOf(shardId);
    const status = exports.listBlocks(view, this.planStart, text.length, this.outputStart);
    if (status !== 0) throw new ShardError(shardId, statusName(status));
    const bitmap = new Uint8Array(memory.buffer, this.outputStart, format.SHARD_BITMAP_SIZE);
    const blockIds: number[] = [];
    for (let id = 0; id < format.SHARD_BITMAP_SIZE * 8; id++)
      if (((bitmap[id >> 3]! >> (id & 7)) & 1) === 1) blockIds.push(id);
    return blockIds;
  }

  /** False: it does not fit. Errors: ShardError if a file is damaged; MappingError. */
  open(file: ShardFile): boolean {
    const { shardId } = file;
    const size = mappedSize(file);
    const hasView = this.#freeViews.length > 0 || this.#viewCount < VIEW_COUNT_MAX;
    const address = hasView ? this.#ranges.take(size) : undefined;
    if (address === undefined) return false;
    const { exports } = this.core;
    const view =
      this.#freeViews.pop() ?? this.#viewStart + this.#viewCount++ * exports.shardViewSize();
    try {
      const kind = this.#mapShard(file, address);
      this.#check(file, exports.openShard(address, file.size, view));
      if (file.symbols !== undefined) {
        const start = address + align(file.size);
        this.#check(file, exports.openSymbols(start, file.symbols.size, view), 'symbols');
      }
      // Only now: opening reads the tables sequentially.
      if (kind === 'mapped') expectLookups(this.core.memory, address, size);
      const tables = this.#tablesOf(file, address);
      const checked = { sizeCheckedAtMs: -Infinity, checkedAtMs: performance.now() };
      const place = { file, address, size, view, kind, isIn: true };
      this.#shards.set(shardId, { ...place, tables, ...checked });
      return true;
    } catch (error) {
      this.#freeViews.push(view);
      try {
        this.#release(address, size);
      } catch {
        // The range is not reused; the first error is reported.
      }
      throw error;
    }
  }

  /** Errors: MappingError; a missing file, or another size. */
  #mapShard(file: ShardFile, address: number): MappingKind {
    const { memory } = this.core;
    const kind = mapFile(memory, address, file.path, file.size, this.#wantsRead);
    if (kind === 'mapped') this.#setFileKey(address, file.shardId);
    if (file.symbols !== undefined) {
      const { path: symbolsPath, size } = file.symbols;
      const start = address + align(file.size);
      try {
        mapFile(memory, start, symbolsPath, size, this.#wantsRead);
      } catch (error) {
        throw shardErrorOf(file.shardId, error, 'symbols');
      }
      if (kind === 'mapped') this.#setFileKey(start, path.basename(symbolsPath));
    }
    return kind;
  }

  #setFileKey(base: number, name: string): void {
    const key = fileKeyOf(name);
    if (key === undefined) this.#fileKeys.delete(base);
    else this.#fileKeys.set(base, key);
  }

  /** The hint lets several pages be read together. */
  #bringIn(base: number, address: number, size: number): number {
    const { memory } = this.core;
    if (this.#wantsRead) return PAGES_IN;
    const fileKey = this.#fileKeys.get(base);
    if (fileKey !== undefined) {
      const [first, count] = [(address - base) / format.PAGE_SIZE, size / format.PAGE_SIZE];
      if (this.#checkedPages?.has(fileKey, first, count) === true) return PAGES_CHECKED;
    }
    if (size > systemPageSize()) willNeed(memory, address, size);
    const outcome = bringIn(memory, address, size);
    this.#isStarved = outcome === 'starved';
    return outcome === 'in' ? PAGES_IN : PAGES_LOST;
  }

  #noteChecked(base: number, address: number, size: number): void {
    const fileKey = this.#fileKeys.get(base);
    if (fileKey === undefined) return;
    const [first, count] = [(address - base) / format.PAGE_SIZE, size / format.PAGE_SIZE];
    this.#checkedPages?.add(fileKey, first, count);
  }

  /** Threads check again what they have not taken for checked yet. */
  forgetCheckedPages(): void {
    this.#checkedPages?.clear();
  }

  /**
   * Lets the system read ahead of scans. For pages in memory this is wasted (16 us a MiB, a tenth of the scan), so it probes
   * one of every four ranges first (4 us).
   */
  #willNeed(address: number, size: number): void {
    const { memory } = this.core;
    if (this.#scanCount++ % 4 === 0) this.#isCold = !isInMemory(memory, address);
    if (this.#isCold) willNeed(memory, address, size);
  }

  #damageAt(address: number): Error {
    // The shard is built again, perhaps under the same name.
    this.forgetCheckedPages();
    for (const [shardId, shard] of this.#shards) {
      const offset = address - shard.address;
      if (offset < 0 || offset >= shard.size) continue;
      if (this.#isStarved)
        return new ShardError(shardId, 'a page could not be read: out of memory', 'unmapped');
      const behind = offset - align(shard.file.size);
      const page =
        behind < 0
          ? `page ${offset / format.PAGE_SIZE}`
          : `page ${behind / format.PAGE_SIZE} of its symbols`;
      const reason = `${page} is damaged or cannot be read`;
      return new ShardError(shardId, reason, behind < 0 ? 'damaged' : 'symbols');
    }
    return new Error(`no shard at address ${address}`);
  }

  #release(address: number, size: number): void {
    this.core.exports.forgetPages(address, address + size);
    releaseRange(this.core.memory, address, size);
    this.#ranges.give(address, size);
  }

  /** Call before each search: touching a truncated file would end the process. Also checks old pages. Errors: ShardError. */
  checkNowAndThen(shardId: string): void {
    const shard = this.#placed(shardId);
    const nowMs = performance.now();
    this.#forgetOld(nowMs);
    // Bound: delay of a search by the tables of several shards.
    const isDue =
      nowMs - shard.checkedAtMs >= this.#verifiedMs &&
      nowMs - this.#tablesCheckedAtMs >= Math.min(10, this.#verifiedMs);
    if (isDue) this.#checkTables(shard, nowMs);
    // Bound: delay until a truncated file is noticed; a check takes 4 us.
    if (shard.kind !== 'mapped' || nowMs - shard.sizeCheckedAtMs < 10_000) return;
    const problem = sizeProblemOf(shard.file);
    if (problem !== undefined) throw new ShardError(shardId, problem.reason, problem.fault);
    shard.sizeCheckedAtMs = nowMs;
  }

  /** Forgets checked pages in turn: a share of them for each share of the time. */
  #forgetOld(nowMs: number): void {
    const share = Math.min(1, (nowMs - this.#forgotAtMs) / this.#verifiedMs);
    // At least one second of VERIFIED_MS at a time.
    if (share < 1000 / VERIFIED_MS) return;
    this.#forgotAtMs = nowMs;
    const { exports } = this.core;
    const end = this.#forgetStart + align((MAP_END - MAP_START) * share);
    exports.forgetPages(this.#forgetStart, Math.min(end, MAP_END));
    this.#forgetStart = end < MAP_END ? end : MAP_START + end - MAP_END;
    if (end > MAP_END) exports.forgetPages(MAP_START, this.#forgetStart);
  }

  /** Only tables in memory. Errors: ShardError. */
  #checkTables(shard: MappedShard, nowMs: number): void {
    const { exports, memory } = this.core;
    shard.checkedAtMs = nowMs;
    for (const { base, headSize, sums, start, end } of shard.tables)
      for (let chunk = start; chunk < end; chunk += TABLE_CHUNK_SIZE) {
        if (!isInMemory(memory, chunk)) continue;
        const chunkEnd = Math.min(chunk + TABLE_CHUNK_SIZE, end);
        exports.forgetPages(chunk, chunkEnd);
        if (exports.arePagesValid(base, headSize, sums, chunk, chunkEnd) === 0)
          throw this.#damageAt(chunk - (chunk % format.PAGE_SIZE));
      }
    this.#tablesCheckedAtMs = performance.now();
  }

  /** Sections whose pages are not checked on reading. */
  #tablesOf({ size, symbols }: ShardFile, address: number): TableRange[] {
    const { buffer } = this.core.memory;
    const ranges = (base: number, layout: FileLayout, tables: Runs): TableRange[] => {
      const { headSize } = layout;
      const header = new DataView(buffer, base, headSize);
      const startOf = (kind: number): number => base + sectionStart(header, layout, kind);
      const own = { base, headSize, sums: startOf(layout.sums) };
      return tables.map(([start, end]) => ({ ...own, start: startOf(start), end: startOf(end) }));
    };
    const own = ranges(address, SHARD_LAYOUT, SHARD_TABLES);
    if (symbols === undefined) return own;
    return [...own, ...ranges(address + align(size), SYMBOLS_LAYOUT, SYMBOL_TABLES)];
  }

  /** Memory in bytes, without shards. */
  get ownSize(): number {
    return residentSize(this.core.memory, 0, MAP_START);
  }

  /** Returns most memory of requests to the system; plans must be compiled again. */
  rest(): void {
    const { memory } = this.core;
    const arenaStart = MAP_START - this.arenaSize;
    const output = this.outputStart + IDLE_SIZE;
    emptyRange(memory, output, this.outputEnd - output);
    emptyRange(memory, arenaStart + IDLE_SIZE, this.arenaSize - IDLE_SIZE);
  }

  isIn(shardId: string): boolean {
    return this.#placed(shardId).isIn;
  }

  takeOut(shardId: string): void {
    const shard = this.#placed(shardId);
    shard.isIn = false;
    this.core.exports.forgetPages(shard.address, shard.address + shard.size);
    releaseRange(this.core.memory, shard.address, shard.size);
  }

  /** Errors: ShardError. */
  takeIn(shardId: string): void {
    const shard = this.#placed(shardId);
    try {
      this.#mapShard(shard.file, shard.address);
    } catch (error) {
      throw shardErrorOf(shardId, error);
    }
    expectLookups(this.core.memory, shard.address, shard.size);
    shard.isIn = true;
  }

  #check({ shardId }: ShardFile, status: number, fault: ShardFault = 'damaged'): void {
    if (status === 0) return;
    const { exports } = this.core;
    const position = `section ${exports.openFailSection.value >>> 0}, row ${exports.openFailIndex.value >>> 0}`;
    throw new ShardError(shardId, `${statusName(status)} (${position})`, fault);
  }

  /** Not to be used any more. @param isRead  as in `dropCore` */
  drop(isRead = false): void {
    this.#shards.clear();
    dropCore(this.core, isRead);
  }

  close(shardId: string): void {
    const shard = this.#shards.get(shardId);
    if (shard === undefined) return;
    this.#shards.delete(shardId);
    this.#fileKeys.delete(shard.address);
    this.#fileKeys.delete(shard.address + align(shard.file.size));
    this.#freeViews.push(shard.view);
    this.#release(shard.address, shard.size);
  }
}

/** A file that is missing or cannot be checked is no problem: it stays readable. */
export function sizeProblemOf(file: ShardFile): ShardProblem | undefined {
  const reason = wrongSize(file);
  if (reason !== undefined) return { reason, fault: 'damaged' };
  const ofSymbols = file.symbols === undefined ? undefined : wrongSize(file.symbols);
  return ofSymbols === undefined ? undefined : { reason: ofSymbols, fault: 'symbols' };
}

function wrongSize({ path, size }: Pick<ShardFile, 'path' | 'size'>): string | undefined {
  try {
    return sizeFault(statSync(path).size, size);
  } catch {
    // Unknown: no change.
    return undefined;
  }
}

export function sizeFault(actual: number, size: number): string | undefined {
  return actual === size ? undefined : `its file has ${actual} bytes instead of ${size}`;
}

export function mappingCountOf({ symbols }: ShardFile): number {
  if (!canMap()) return 0;
  return symbols === undefined ? 1 : 2;
}

/** @param fault  unless the cause is a lack of resources */
export function shardErrorOf(
  shardId: string,
  error: unknown,
  fault: ShardFault = 'damaged',
): ShardError {
  if (error instanceof ShardError) return error;
  // Unreadable symbols are built again; the text is served meanwhile.
  const isTransient = fault === 'symbols' ? isShortage(error) : isMachineFault(error);
  const isUnmapped = error instanceof MappingError || isTransient;
  return new ShardError(shardId, messageOf(error), isUnmapped ? 'unmapped' : fault);
}

/** Without a gap between shards, which would be another mapping. */
function mappedSize({ size, symbols }: ShardFile): number {
  return align(size) + (symbols === undefined ? 0 : align(symbols.size));
}

function align(size: number): number {
  const page = systemPageSize();
  return Math.ceil(size / page) * page;
}

interface Range {
  start: number;
  end: number;
}

/** Allocates addresses, first fit; joins adjacent free parts. One step per hole. */
export class RangeList {
  /** Ascending, never adjacent. */
  readonly #free: Range[];

  constructor(start: number, end: number) {
    this.#free = [{ start, end }];
  }

  /** The lowest address; undefined: no room. */
  take(size: number): number | undefined {
    const index = this.#free.findIndex(({ start, end }) => end - start >= size);
    const range = this.#free[index];
    if (range === undefined) return undefined;
    const { start } = range;
    range.start += size;
    if (range.start === range.end) this.#free.splice(index, 1);
    return start;
  }

  give(start: number, size: number): void {
    const end = start + size;
    const next = this.#free.findIndex((range) => range.start >= end);
    const index = next === -1 ? this.#free.length : next;
    const before = this.#free[index - 1];
    const after = this.#free[index];
    if (before?.end === start && after?.start === end) {
      before.end = after.end;
      this.#free.splice(index, 1);
    } else if (before?.end === start) before.end = end;
    else if (after?.start === end) after.start = start;
    else this.#free.splice(index, 0, { start, end });
  }
}
