// One instance of the core with its memory of 4 GiB and the shards placed in it. Memory map:
//   static data | views | sound pages | plan | counters | output | arena | shards from MAP_START up
// Shards beyond the capacity of one space go to further spaces, one instance each (searcher.ts).

import { PAGE_SIZE, SHARD_BITMAP_SIZE } from '../../../core/shared/format.ts';
import {
  bringIn,
  canMap,
  emptyRange,
  expectLookups,
  MappingError,
  type MappingKind,
  placeFile,
  releaseRange,
  systemPageSize,
  willNeed,
} from './mapping.ts';
import { RangeList } from './free-ranges.ts';
import { ReadAhead } from './read-ahead.ts';
import { type Core, dropCore, instantiateCore, MEMORY_PAGES, statusName } from './core.ts';
import { statSync } from 'node:fs';
import { isMachineFault, isShortage, messageOf } from '../../base/caught.ts';

const MIB = 1 << 20;
const VIEW_COUNT_MAX = 16384;
const PLAN_SIZE_MAX = 4 * MIB;
const STATS_SIZE = 256;
const OUTPUT_SIZE = 448 * MIB;
/** Guess: what searches without expressions and long lists use. */
const RESTING_SIZE = 4 * MIB;
const MAP_START = 1024 * MIB;
/** Guess: one page kept unused, so that scans may read past the end of the last shard. */
const MAP_END = MEMORY_PAGES * 65536 - 65536;

/** Guess: between two looks at the files of a shard; a look takes 4 us. */
const LOOK_PAUSE_MS = 10_000;

/** Bytes of shards that one space holds. */
export const SPACE_CAPACITY = MAP_END - MAP_START;

/** A shard file on disk. */
export interface ShardFile {
  /** Unique and constant: its content has this id for ever. */
  readonly shardId: string;
  readonly path: string;
  readonly size: number;
  /** The file with its symbols; absent: they are not known. */
  readonly symbols?: { readonly path: string; readonly size: number };
}

/** What is wrong with a shard: its bytes, those of its symbols, or that the machine has no room or right to read it. */
export type ShardFault = 'damaged' | 'symbols' | 'unmapped';

/** What is wrong with a shard or its symbols. */
export interface ShardProblem {
  readonly reason: string;
  readonly fault: ShardFault;
}

/** A shard that cannot be searched: `reason` says what is wrong where. */
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

interface PlacedShard {
  readonly file: ShardFile;
  readonly address: number;
  /** Of both files, the second at a page of its own. */
  readonly size: number;
  readonly view: number;
  readonly kind: MappingKind;
  /** False: its range is kept for it, but holds nothing. */
  isIn: boolean;
  /** When its files were looked at last, ms; -Infinity: since it was opened nobody did. */
  lookedAtMs: number;
}

export interface SpaceOptions {
  /** Bytes of shards that fit; at most SPACE_CAPACITY, which is the default. */
  readonly capacity?: number | undefined;
  /** Read shards in even where they could be mapped. */
  readonly wantsRead?: boolean | undefined;
}

/** An instance with shards in it. Not to be used after any of its calls trapped. */
export class Space {
  readonly core: Core;
  readonly planStart: number;
  readonly statsStart: number;
  readonly outputStart: number;
  readonly outputEnd: number;
  /** Bytes that a request may use beside its plan and output. */
  readonly arenaSize: number;
  readonly #viewStart: number;
  readonly #wantsRead: boolean;
  readonly #shards = new Map<string, PlacedShard>();
  readonly #ranges: RangeList;
  readonly #freeViews: number[] = [];
  #viewCount = 0;
  /** There was no memory for the pages that were wanted last. */
  #isStarved = false;

  constructor(module: WebAssembly.Module, options: SpaceOptions = {}) {
    this.core = instantiateCore(module);
    const viewSize = this.core.exports.shardViewSize();
    this.#viewStart = this.core.heapStart;
    const soundPages = align(this.#viewStart + VIEW_COUNT_MAX * viewSize);
    this.planStart = align(soundPages + this.core.exports.soundPagesSize());
    this.core.exports.pagesInit(soundPages);
    const readAhead = new ReadAhead(this.core.memory);
    this.core.pages = {
      bringIn: (address, size) => this.#bringIn(address, size),
      willNeed: (address, size) => readAhead.expect(address, size),
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
  }

  has(shardId: string): boolean {
    return this.#shards.has(shardId);
  }

  get shardCount(): number {
    return this.#shards.size;
  }

  /** How a shard's bytes came into memory. */
  kindOf(shardId: string): MappingKind | undefined {
    return this.#shards.get(shardId)?.kind;
  }

  /** Address of the shard's view. */
  viewOf(shardId: string): number {
    return this.#placed(shardId).view;
  }

  /** The bytes of a shard: a view of the memory, valid while the shard is open. */
  bytesOf(shardId: string): Uint8Array {
    const { address, file } = this.#placed(shardId);
    return new Uint8Array(this.core.memory.buffer, address, file.size);
  }

  /** The bytes of its symbols, as `bytesOf`; undefined: they are not known. */
  symbolBytesOf(shardId: string): Uint8Array | undefined {
    const { address, file } = this.#placed(shardId);
    if (file.symbols === undefined) return undefined;
    return new Uint8Array(this.core.memory.buffer, address + align(file.size), file.symbols.size);
  }

  #placed(shardId: string): PlacedShard {
    const shard = this.#shards.get(shardId);
    if (shard === undefined) throw new Error(`shard ${shardId} is not in this space`);
    return shard;
  }

  /** BlockIds of a text of three characters. Errors: ShardError for a damaged list. */
  blocksOfTrigram(shardId: string, trigram: string): number[] {
    const { exports, memory } = this.core;
    const text = Buffer.from(trigram);
    new Uint8Array(memory.buffer).set(text, this.planStart);
    const status = exports.listBlocks(
      this.viewOf(shardId),
      this.planStart,
      text.length,
      this.outputStart,
    );
    if (status !== 0) throw new ShardError(shardId, statusName(status));
    const bitmap = new Uint8Array(memory.buffer, this.outputStart, SHARD_BITMAP_SIZE);
    const blockIds: number[] = [];
    for (let id = 0; id < SHARD_BITMAP_SIZE * 8; id++) {
      if (((bitmap[id >> 3]! >> (id & 7)) & 1) === 1) blockIds.push(id);
    }
    return blockIds;
  }

  /**
   * Places and opens a shard with its symbols; false if it does not fit.
   *
   * Errors: ShardError if a file is damaged; MappingError.
   */
  open(file: ShardFile): boolean {
    const { shardId } = file;
    const size = placedSize(file);
    const hasView = this.#freeViews.length > 0 || this.#viewCount < VIEW_COUNT_MAX;
    const address = hasView ? this.#ranges.take(size) : undefined;
    if (address === undefined) return false;
    const { exports } = this.core;
    const view =
      this.#freeViews.pop() ?? this.#viewStart + this.#viewCount++ * exports.shardViewSize();
    try {
      const kind = this.#place(file, address);
      this.#check(file, exports.openShard(address, file.size, view));
      if (file.symbols !== undefined)
        this.#check(
          file,
          exports.openSymbols(address + align(file.size), file.symbols.size, view),
          'symbols',
        );
      // Why now: opening reads the tables from end to end.
      if (kind === 'mapped') expectLookups(this.core.memory, address, size);
      this.#shards.set(shardId, {
        file,
        address,
        size,
        view,
        kind,
        isIn: true,
        lookedAtMs: -Infinity,
      });
      return true;
    } catch (error) {
      this.#freeViews.push(view);
      try {
        this.#release(address, size);
      } catch {
        // Nobody gets the range any more; what went wrong first is told.
      }
      throw error;
    }
  }

  /** Errors: MappingError; a file that is gone or has another size. */
  #place(file: ShardFile, address: number): MappingKind {
    const { memory } = this.core;
    const kind = placeFile(memory, address, file.path, file.size, this.#wantsRead);
    if (file.symbols !== undefined) {
      const { path, size } = file.symbols;
      try {
        placeFile(memory, address + align(file.size), path, size, this.#wantsRead);
      } catch (error) {
        throw shardErrorOf(file.shardId, error, 'symbols');
      }
    }
    return kind;
  }

  /** Why the hint: several pages are sooner read in one go than one after the other. */
  #bringIn(address: number, size: number): boolean {
    const { memory } = this.core;
    if (this.#wantsRead) return true;
    if (size > systemPageSize()) willNeed(memory, address, size);
    const outcome = bringIn(memory, address, size);
    this.#isStarved = outcome === 'starved';
    return outcome === 'in';
  }

  /** An error that names the shard, or its symbols, with a damaged page. */
  #damageAt(address: number): Error {
    for (const [shardId, shard] of this.#shards) {
      const offset = address - shard.address;
      if (offset < 0 || offset >= shard.size) continue;
      if (this.#isStarved)
        return new ShardError(shardId, 'a page could not be read for want of memory', 'unmapped');
      const symbolsStart = align(shard.file.size);
      return offset < symbolsStart
        ? new ShardError(shardId, `page ${offset / PAGE_SIZE} is damaged or cannot be read`)
        : new ShardError(
            shardId,
            `page ${(offset - symbolsStart) / PAGE_SIZE} of its symbols is damaged or cannot be read`,
            'symbols',
          );
    }
    return new Error(`no shard lies at ${address}`);
  }

  #release(address: number, size: number): void {
    this.core.exports.forgetPages(address, address + size);
    releaseRange(this.core.memory, address, size);
    this.#ranges.give(address, size);
  }

  /**
   * Looks now and then whether the mapped files of a shard still have their sizes: touching what was cut off would end
   * the process. Errors: ShardError.
   */
  checkSizes(shardId: string): void {
    const shard = this.#placed(shardId);
    const nowMs = performance.now();
    if (shard.kind !== 'mapped' || nowMs - shard.lookedAtMs < LOOK_PAUSE_MS) return;
    const problem = sizeProblemOf(shard.file);
    if (problem !== undefined) throw new ShardError(shardId, problem.reason, problem.fault);
    shard.lookedAtMs = nowMs;
  }

  /** Gives the memory that requests have used back to the system, but for a little. A plan must be compiled anew. */
  rest(): void {
    const { memory } = this.core;
    const arenaStart = MAP_START - this.arenaSize;
    const output = this.outputStart + RESTING_SIZE;
    emptyRange(memory, output, this.outputEnd - output);
    emptyRange(memory, arenaStart + RESTING_SIZE, this.arenaSize - RESTING_SIZE);
  }

  /** Whether the bytes of a shard are in memory. */
  isIn(shardId: string): boolean {
    return this.#placed(shardId).isIn;
  }

  /** Takes the bytes of an open shard out of memory, until takeIn. It stays open. */
  takeOut(shardId: string): void {
    const shard = this.#placed(shardId);
    shard.isIn = false;
    releaseRange(this.core.memory, shard.address, shard.size);
  }

  /** Puts the bytes of a shard back. Errors: ShardError. */
  takeIn(shardId: string): void {
    const shard = this.#placed(shardId);
    try {
      this.#place(shard.file, shard.address);
    } catch (error) {
      throw shardErrorOf(shardId, error);
    }
    expectLookups(this.core.memory, shard.address, shard.size);
    shard.isIn = true;
  }

  #check({ shardId }: ShardFile, status: number, fault: ShardFault = 'damaged'): void {
    if (status === 0) return;
    const { exports } = this.core;
    const place = `section ${exports.openFailSection.value >>> 0}, row ${exports.openFailIndex.value >>> 0}`;
    throw new ShardError(shardId, `${statusName(status)} (${place})`, fault);
  }

  /** Closes all shards and gives up all memory. Not to be used any more. @param isRead  as of `dropCore` */
  drop(isRead = false): void {
    this.#shards.clear();
    dropCore(this.core, isRead);
  }

  close(shardId: string): void {
    const shard = this.#shards.get(shardId);
    if (shard === undefined) return;
    this.#shards.delete(shardId);
    this.#freeViews.push(shard.view);
    this.#release(shard.address, shard.size);
  }
}

/** What is wrong with the sizes of the files of a shard; one that is gone, or that cannot be looked at, stays readable. */
export function sizeProblemOf(file: ShardFile): ShardProblem | undefined {
  const reason = wrongSize(file);
  if (reason !== undefined) return { reason, fault: 'damaged' };
  const ofSymbols = file.symbols === undefined ? undefined : wrongSize(file.symbols);
  return ofSymbols === undefined ? undefined : { reason: ofSymbols, fault: 'symbols' };
}

function wrongSize({
  path,
  size,
}: {
  readonly path: string;
  readonly size: number;
}): string | undefined {
  try {
    return sizeFault(statSync(path).size, size);
  } catch {
    // Not known: as before.
    return undefined;
  }
}

/** That a file has not the bytes that it must have, in words; undefined: it has. */
export function sizeFault(actual: number, size: number): string | undefined {
  return actual === size ? undefined : `its file has ${actual} bytes instead of ${size}`;
}

/** Mappings that an open shard takes, unless it is read in. */
export function mappingCountOf({ symbols }: ShardFile): number {
  if (!canMap()) return 0;
  return symbols === undefined ? 1 : 2;
}

/**
 * Anything that went wrong with a shard, as an error that names it.
 *
 * @param fault  where it is not for want of something
 */
export function shardErrorOf(
  shardId: string,
  error: unknown,
  fault: ShardFault = 'damaged',
): ShardError {
  if (error instanceof ShardError) return error;
  // Symbols that may not be read are made anew; the text is served meanwhile.
  const isWant = fault === 'symbols' ? isShortage(error) : isMachineFault(error);
  const isUnmapped = error instanceof MappingError || isWant;
  return new ShardError(shardId, messageOf(error), isUnmapped ? 'unmapped' : fault);
}

/** Bytes of address space; no gap is left between shards, which would be a mapping of its own. */
function placedSize({ size, symbols }: ShardFile): number {
  return align(size) + (symbols === undefined ? 0 : align(symbols.size));
}

function align(size: number): number {
  const page = systemPageSize();
  return Math.ceil(size / page) * page;
}
