// The build side of the core on one thread: contents go in back to back, coded stripes and rows come out
// (StripeBuilder); stripes go in, gram dictionary and postings come out (mergeStripes). Knows nothing of
// files of a repo; the shard file itself is put together by shards/writer.ts.

import { BLOB_ROW_SIZE, BLOCK_ROW_SIZE, GRAM_KEY_COUNT } from '../../core/shared/format.ts';
import {
  STATUS_OK,
  STATUS_OUT_OF_MEMORY,
  STATUS_STRIPES_FULL,
  STATUS_TOO_MANY_TRIGRAMS,
} from '../../core/shared/status.ts';
import { type Core, instantiateCore, statusName } from './core.ts';

const MIB = 1 << 20;
/** Address space of a builder: 3 GiB, of which only what a batch uses is ever touched. */
const BUILDER_PAGES = 49152;
/** Contents of one batch lie here; the largest single content too. */
const CONTENT_AREA_SIZE = 1536 * MIB;

/** Most bytes of one content. */
export const CONTENT_SIZE_MAX = 1024 * MIB;

/** What a content became. `full`: it did not fit this batch, which holds what was added before. */
export type AddOutcome = 'added' | 'too_many_trigrams' | 'full';

/** A finished batch. Tables are copies; contents are a view of the builder's memory until the next batch. */
export interface BuiltBatch {
  readonly content: Uint8Array;
  readonly stripes: Uint8Array[];
  readonly blobCount: number;
  /** BlockIds, unused ones included: a multiple of the stripe. */
  readonly blockCount: number;
}

export class StripeBuilder {
  readonly #core: Core;
  readonly #contentStart: number;
  #contentEnd: number;

  constructor(module: WebAssembly.Module) {
    this.#core = instantiateCore(module, BUILDER_PAGES);
    this.#contentStart = this.#core.heapStart;
    this.#contentEnd = this.#contentStart;
    const areaEnd = this.#contentStart + CONTENT_AREA_SIZE;
    const status = this.#core.exports.builderInit(areaEnd, BUILDER_PAGES * 65536 - 65536);
    if (status !== STATUS_OK) throw new Error(`builder: ${statusName(status)}`);
  }

  /** Starts a batch, dropping the one before. */
  begin(): void {
    this.#core.exports.builderBegin();
    this.#contentEnd = this.#contentStart;
  }

  /** Whether `size` more bytes of contents fit the area. */
  hasRoom(size: number): boolean {
    return this.#contentEnd + size <= this.#contentStart + CONTENT_AREA_SIZE;
  }

  /**
   * Adds a content. It is copied into the builder's memory.
   *
   * @param bytes       1 to CONTENT_SIZE_MAX bytes; hasRoom(bytes.length) holds
   * @param trigramMax  most distinct trigrams; 0 = no limit
   */
  add(bytes: Uint8Array, trigramMax: number): AddOutcome {
    const { exports, memory } = this.#core;
    new Uint8Array(memory.buffer).set(bytes, this.#contentEnd);
    const status = exports.builderAddBlob(this.#contentEnd, bytes.length, trigramMax);
    switch (status) {
      case STATUS_OK:
        this.#contentEnd += bytes.length;
        return 'added';
      case STATUS_TOO_MANY_TRIGRAMS:
        return 'too_many_trigrams';
      case STATUS_STRIPES_FULL:
      case STATUS_OUT_OF_MEMORY:
        return 'full';
      default:
        throw new Error(`builder: ${statusName(status)}`);
    }
  }

  /** Closes the batch; nothing can be added to it any more. */
  close(): BuiltBatch {
    const { exports, memory } = this.#core;
    const status = exports.builderClose();
    if (status !== STATUS_OK) throw new Error(`builder: ${statusName(status)}`);
    const stripes: Uint8Array[] = [];
    let start = exports.builderOutput() >>> 0;
    for (let i = 0; i < exports.builderStripeCount(); i++) {
      const end = exports.builderStripeEnd(i) >>> 0;
      stripes.push(new Uint8Array(memory.buffer, start, end - start));
      start = end;
    }
    return {
      content: new Uint8Array(
        memory.buffer,
        this.#contentStart,
        exports.builderContentSize() >>> 0,
      ),
      stripes,
      blobCount: exports.builderBlobCount() >>> 0,
      blockCount: exports.builderBlockCount() >>> 0,
    };
  }

  /** The rows of the closed batch, moved to where it lies in its shard; copies. */
  rows(
    contentBase: number,
    blobBase: number,
    blockBase: number,
  ): { blobs: Uint8Array; blocks: Uint8Array } {
    const { exports, memory } = this.#core;
    exports.builderFinish(contentBase, blobBase, blockBase);
    const blobSize = (exports.builderBlobCount() >>> 0) * BLOB_ROW_SIZE;
    const blockSize = (exports.builderBlockCount() >>> 0) * BLOCK_ROW_SIZE;
    return {
      blobs: new Uint8Array(memory.buffer, exports.builderBlobRows() >>> 0, blobSize).slice(),
      blocks: new Uint8Array(memory.buffer, exports.builderBlockRows() >>> 0, blockSize).slice(),
    };
  }
}

/** Gram dictionary of a merged shard. */
export interface MergedGrams {
  readonly gramCount: number;
  readonly keys: Uint8Array;
  readonly lists: Uint8Array;
}

const MERGE_OUTPUT_SIZE = 4 * MIB;

/**
 * Joins the stripes of a shard, in order.
 *
 * @param stripes     the coded stripes, each loaded when it is asked for
 * @param onPostings  called with each portion of the postings section, in order; a view valid during the call
 */
export function mergeStripes(
  module: WebAssembly.Module,
  stripes: readonly { readonly size: number; read(target: Uint8Array): void }[],
  onPostings: (bytes: Uint8Array) => void,
): MergedGrams {
  const tablesSize = GRAM_KEY_COUNT * 8 + 16;
  const stripesSize = stripes.reduce((sum, stripe) => sum + stripe.size + 16, 0);
  const pages = Math.ceil((2 * MIB + tablesSize + MERGE_OUTPUT_SIZE + stripesSize) / 65536) + 64;
  const { exports, memory, heapStart } = instantiateCore(module, pages);
  const output = heapStart + Math.ceil(tablesSize / 65536) * 65536;
  let next = output + MERGE_OUTPUT_SIZE;
  exports.mergeBegin(heapStart);
  for (const stripe of stripes) {
    stripe.read(new Uint8Array(memory.buffer, next, stripe.size));
    exports.mergeAddStripe(next);
    next = Math.ceil((next + stripe.size) / 16) * 16;
  }
  for (;;) {
    const size = exports.mergeStep(output, output + MERGE_OUTPUT_SIZE) >>> 0;
    if (size === 0) break;
    onPostings(new Uint8Array(memory.buffer, output, size));
  }
  const gramCount = exports.mergeFinish() >>> 0;
  const keys = new Uint8Array(memory.buffer, exports.mergeKeys() >>> 0, gramCount * 4).slice();
  const lists = new Uint8Array(
    memory.buffer,
    exports.mergeLists() >>> 0,
    (gramCount + 1) * 4,
  ).slice();
  return { gramCount, keys, lists };
}
