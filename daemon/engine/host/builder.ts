// The build functions of the core for one thread: SegmentBuilder turns contents into coded segments and rows, mergeSegments
// turns segments into gram dictionary and postings. engine/shards/writer.ts writes the shard file.

import {
  BLOB_ROW_SIZE,
  BLOCK_ROW_SIZE,
  CASE_MARKS_SIZE,
  GRAM_KEY_COUNT,
} from '../../../core/shared/format.ts';
import {
  STATUS_OK,
  STATUS_OUT_OF_MEMORY,
  STATUS_SEGMENTS_FULL,
  STATUS_TOO_MANY_TRIGRAMS,
} from '../../../core/shared/status.ts';
import { type Core, dropCore, instantiateCore, statusName } from './core.ts';
import { isBrief, MAPPING_ALIGNMENT, mapFile } from './mapping.ts';
import { sumOf } from '../../base/lists.ts';

const MIB = 1 << 20;
/** For a batch, and for the largest single content. */
const CONTENT_AREA_SIZE = 1536 * MIB;

/** Of one content, in bytes. */
export const CONTENT_SIZE_MAX = 1024 * MIB;

/** `full`: the batch keeps only the earlier contents. */
export type AddOutcome = 'added' | 'too_many_trigrams' | 'full';

/** Rows of one batch or more, in order. */
export interface BatchRows {
  readonly blobs: Uint8Array;
  readonly blocks: Uint8Array;
  /** Of all blockIds, unused ones included. */
  readonly caseMarks: Uint8Array;
}

export function joinRows(batches: readonly BatchRows[]): BatchRows {
  return {
    blobs: Buffer.concat(batches.map(({ blobs }) => blobs)),
    blocks: Buffer.concat(batches.map(({ blocks }) => blocks)),
    caseMarks: Buffer.concat(batches.map(({ caseMarks }) => caseMarks)),
  };
}

/** Tables are copies; `content` is a view of the builder's memory until the next batch. */
export interface BuiltBatch {
  readonly content: Uint8Array;
  readonly segments: Uint8Array[];
  readonly blobCount: number;
  /** BlockIds, unused ones included: a multiple of the segment. */
  readonly blockCount: number;
}

export class SegmentBuilder {
  readonly #core: Core;
  readonly #contentStart: number;
  #contentEnd: number;
  #stagedEnd: number;

  constructor(module: WebAssembly.Module) {
    this.#core = instantiateCore(module);
    this.#contentStart = this.#core.heapStart;
    this.#contentEnd = this.#contentStart;
    this.#stagedEnd = this.#contentStart;
    const areaEnd = this.#contentStart + CONTENT_AREA_SIZE;
    // Of 3 GiB only the pages that a batch needs are touched.
    const status = this.#core.exports.builderInit(areaEnd, 3072 * MIB - 65536);
    if (status !== STATUS_OK) throw new Error(`builder: ${statusName(status)}`);
  }

  begin(): void {
    this.#core.exports.builderBegin();
    this.#contentEnd = this.#contentStart;
    this.#stagedEnd = this.#contentStart;
  }

  /** Copies a content, to be added later; returns its position, undefined if it does not fit. */
  stage(bytes: Uint8Array): number | undefined {
    const address = this.#stagedEnd;
    if (address + bytes.length > this.#contentStart + CONTENT_AREA_SIZE) return undefined;
    new Uint8Array(this.#core.memory.buffer).set(bytes, address);
    this.#stagedEnd += bytes.length;
    return address;
  }

  /** As `stage`, from a content that is staged and not added yet. */
  stageAgain(address: number, size: number): number | undefined {
    return this.stage(new Uint8Array(this.#core.memory.buffer, address, size));
  }

  /**
   * Adds a staged content; contents are added in staging order, some may be skipped.
   * @param size        1 to CONTENT_SIZE_MAX
   * @param trigramMax  maximum distinct trigrams; 0 = no limit
   */
  add(address: number, size: number, trigramMax: number): AddOutcome {
    const { exports, memory } = this.#core;
    if (address !== this.#contentEnd)
      new Uint8Array(memory.buffer).copyWithin(this.#contentEnd, address, address + size);
    const status = exports.builderAddBlob(this.#contentEnd, size, trigramMax);
    switch (status) {
      case STATUS_OK:
        this.#contentEnd += size;
        return 'added';
      case STATUS_TOO_MANY_TRIGRAMS:
        return 'too_many_trigrams';
      case STATUS_SEGMENTS_FULL:
      case STATUS_OUT_OF_MEMORY:
        return 'full';
      default:
        throw new Error(`builder: ${statusName(status)}`);
    }
  }

  close(): BuiltBatch {
    const { exports, memory } = this.#core;
    const status = exports.builderClose();
    if (status !== STATUS_OK) throw new Error(`builder: ${statusName(status)}`);
    const segments: Uint8Array[] = [];
    let start = exports.builderOutput.value >>> 0;
    for (let i = 0; i < exports.builderSegmentCount.value; i++) {
      const end = exports.builderSegmentEnd(i) >>> 0;
      segments.push(new Uint8Array(memory.buffer, start, end - start));
      start = end;
    }
    const contentSize = exports.builderContentSize.value >>> 0;
    return {
      content: new Uint8Array(memory.buffer, this.#contentStart, contentSize),
      segments,
      blobCount: exports.builderBlobCount.value >>> 0,
      blockCount: exports.builderBlockCount.value >>> 0,
    };
  }

  /** Not to be used any more. */
  drop(): void {
    dropCore(this.#core);
  }

  /** Rows of the closed batch, shifted to its position in the shard; copies. */
  rows(contentBase: number, blobBase: number, blockBase: number): BatchRows {
    const { exports, memory } = this.#core;
    exports.builderFinish(contentBase, blobBase, blockBase);
    const blobSize = (exports.builderBlobCount.value >>> 0) * BLOB_ROW_SIZE;
    const blockCount = exports.builderBlockCount.value >>> 0;
    const copy = (start: number, size: number): Uint8Array =>
      new Uint8Array(memory.buffer, start >>> 0, size).slice();
    return {
      blobs: copy(exports.builderBlobRows.value, blobSize),
      blocks: copy(exports.builderBlockRows.value, blockCount * BLOCK_ROW_SIZE),
      caseMarks: copy(exports.builderCaseMarks.value, blockCount * CASE_MARKS_SIZE),
    };
  }
}

export interface MergedGrams {
  readonly gramCount: number;
  readonly keys: Uint8Array;
  readonly lists: Uint8Array;
}

const MERGE_OUTPUT_SIZE = 4 * MIB;
const TABLES_SIZE = Math.ceil((GRAM_KEY_COUNT * 8 + 16) / MAPPING_ALIGNMENT) * MAPPING_ALIGNMENT;

export interface SegmentFile {
  readonly path: string;
  readonly size: number;
}

/** Joins segments in order. `onPostings` gets each part of the postings section, in order, a view valid during the call. */
export function mergeSegments(
  module: WebAssembly.Module,
  segments: readonly SegmentFile[],
  onPostings: (bytes: Uint8Array) => void,
): MergedGrams {
  const spaceOf = ({ size }: SegmentFile): number =>
    Math.ceil(size / MAPPING_ALIGNMENT) * MAPPING_ALIGNMENT;
  const isRead = isBrief(sumOf(segments, spaceOf));
  const core = instantiateCore(module);
  try {
    const { exports, memory, heapStart } = core;
    const output = heapStart + TABLES_SIZE;
    let address = output + MERGE_OUTPUT_SIZE;
    exports.mergeBegin(heapStart);
    for (const segment of segments) {
      mapFile(memory, address, segment.path, segment.size, isRead);
      exports.mergeAddSegment(address);
      address += spaceOf(segment);
    }
    for (;;) {
      const size = exports.mergeStep(output, output + MERGE_OUTPUT_SIZE) >>> 0;
      if (size === 0) break;
      onPostings(new Uint8Array(memory.buffer, output, size));
    }
    const gramCount = exports.mergeFinish() >>> 0;
    const copy = (start: number, size: number): Uint8Array =>
      new Uint8Array(memory.buffer, start >>> 0, size).slice();
    const keys = copy(exports.mergeKeys.value, gramCount * 4);
    return { gramCount, keys, lists: copy(exports.mergeLists.value, (gramCount + 1) * 4) };
  } finally {
    dropCore(core);
  }
}
