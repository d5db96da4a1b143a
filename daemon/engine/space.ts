// One instance of the core with its memory of 4 GiB and the shards placed in it. Memory map:
//   static data | views | plan | counters | output | arena | shards from MAP_START up
// Shards beyond the capacity of one space go to further spaces, one instance each (searcher.ts).

import { SHARD_BITMAP_SIZE } from '../../core/shared/format.ts';
import { MAPPING_ALIGNMENT, type MappingKind, placeFile, releaseRange } from './mapping.ts';
import { type Core, instantiateCore, MEMORY_PAGES_MAX, statusName } from './core.ts';

const MIB = 1 << 20;
const VIEW_COUNT_MAX = 16384;
const PLAN_SIZE_MAX = 4 * MIB;
const STATS_SIZE = 256;
const OUTPUT_SIZE = 448 * MIB;
const MAP_START = 1024 * MIB;
/** Guess: one page kept unused, so that scans may read past the end of the last shard. */
const MAP_END = MEMORY_PAGES_MAX * 65536 - 65536;

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

/** A shard refused by the core: `reason` says what is wrong where. */
export class ShardError extends Error {
  readonly shardId: string;
  constructor(shardId: string, reason: string) {
    super(`shard ${shardId}: ${reason}`);
    this.shardId = shardId;
  }
}

interface PlacedShard {
  readonly address: number;
  /** Of both files, with the gap between them. */
  readonly size: number;
  readonly view: number;
  readonly kind: MappingKind;
}

export interface SpaceOptions {
  /** Bytes of shards that fit; at most SPACE_CAPACITY, which is the default. */
  readonly capacity?: number;
  /** Read shards in even where they could be mapped. */
  readonly wantsRead?: boolean;
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
  readonly #capacityEnd: number;
  readonly #wantsRead: boolean;
  readonly #shards = new Map<string, PlacedShard>();
  readonly #freeViews: number[] = [];
  #viewCount = 0;

  constructor(module: WebAssembly.Module, options: SpaceOptions = {}) {
    this.core = instantiateCore(module, MEMORY_PAGES_MAX);
    const viewSize = this.core.exports.shardViewSize();
    this.#viewStart = this.core.heapStart;
    this.planStart = align(this.#viewStart + VIEW_COUNT_MAX * viewSize);
    this.statsStart = this.planStart + PLAN_SIZE_MAX;
    this.outputStart = align(this.statsStart + STATS_SIZE);
    this.outputEnd = this.outputStart + OUTPUT_SIZE;
    const arenaStart = align(this.outputEnd);
    this.arenaSize = MAP_START - arenaStart;
    this.core.exports.requestArenaInit(arenaStart, MAP_START);
    this.#capacityEnd = MAP_START + Math.min(options.capacity ?? SPACE_CAPACITY, SPACE_CAPACITY);
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
    const { address, size } = this.#placed(shardId);
    return new Uint8Array(this.core.memory.buffer, address, size);
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

  /** Places and opens a shard with its symbols; false if it does not fit. Throws ShardError if a file is damaged. */
  open(file: ShardFile): boolean {
    const { shardId, symbols } = file;
    const symbolsStart = align(file.size);
    const size = symbols === undefined ? file.size : symbolsStart + symbols.size;
    const address = this.#findRoom(size);
    const hasView = this.#freeViews.length > 0 || this.#viewCount < VIEW_COUNT_MAX;
    if (address === undefined || !hasView) return false;
    const { exports, memory } = this.core;
    const view =
      this.#freeViews.pop() ?? this.#viewStart + this.#viewCount++ * exports.shardViewSize();
    try {
      const kind = placeFile(memory, address, file.path, file.size, this.#wantsRead);
      this.#check(file, exports.openShard(address, file.size, view));
      if (symbols !== undefined) {
        const start = address + symbolsStart;
        placeFile(memory, start, symbols.path, symbols.size, this.#wantsRead);
        this.#check(file, exports.openTags(start, symbols.size, view));
      }
      this.#shards.set(shardId, { address, size, view, kind });
      return true;
    } catch (error) {
      this.#freeViews.push(view);
      releaseRange(memory, address, size);
      throw error;
    }
  }

  #check({ shardId }: ShardFile, status: number): void {
    if (status === 0) return;
    const { exports } = this.core;
    const place = `section ${exports.openFailSection() >>> 0}, row ${exports.openFailIndex() >>> 0}`;
    throw new ShardError(shardId, `${statusName(status)} (${place})`);
  }

  close(shardId: string): void {
    const shard = this.#shards.get(shardId);
    if (shard === undefined) return;
    this.#shards.delete(shardId);
    this.#freeViews.push(shard.view);
    releaseRange(this.core.memory, shard.address, shard.size);
  }

  /** First free range of `size` bytes; undefined if there is none. */
  #findRoom(size: number): number | undefined {
    const placed = [...this.#shards.values()].sort((a, b) => a.address - b.address);
    let start = MAP_START;
    for (const shard of placed) {
      if (shard.address - start >= size) return start;
      start = align(shard.address + shard.size);
    }
    return start + size <= this.#capacityEnd ? start : undefined;
  }
}

function align(address: number): number {
  return Math.ceil(address / MAPPING_ALIGNMENT) * MAPPING_ALIGNMENT;
}
