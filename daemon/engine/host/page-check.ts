// Checks the header and all page sums of a shard or symbols file; verify.ts checks more. Reads instead of mapping, so that an
// unreadable page is an error and not the end of the process, and in small steps beside searches.

import type { FileHandle } from 'node:fs/promises';
import * as format from '../../../core/shared/format.ts';
import { openOwnSoon } from '../../base/own-file.ts';
import { isMachineFault, messageOf } from '../../base/caught.ts';
import { type Core, dropCore, instantiateCore } from './core.ts';
import { type FileLayout, sectionRow, SHARD_LAYOUT, SYMBOLS_LAYOUT } from './file-layout.ts';
import { mapBriefly } from './mapping.ts';
import { ShardError, sizeFault, type ShardFile, type ShardProblem } from './space.ts';

/** Whole pages. */
const CHUNK_SIZE = 1 << 20;

/** Called after each read with its size; reading goes on when it resolves. Errors end the check. */
export type Pace = (size: number) => Promise<void>;

export class PageCheck {
  readonly #core: Core;
  readonly #chunk: number;
  readonly #sums: number;

  constructor(module: WebAssembly.Module) {
    this.#core = instantiateCore(module);
    this.#sums = this.#core.heapStart;
    this.#chunk = this.#sums + 65536;
  }

  /** Not to be used any more. */
  drop(): void {
    dropCore(this.#core);
  }

  /** The first fault; undefined: none. Errors: those of `pace`; of the machine, if it lacks resources to read a file. */
  async check({ path, size, symbols }: ShardFile, pace: Pace): Promise<ShardProblem | undefined> {
    const reason = await this.#checkFile(path, size, SHARD_LAYOUT, pace);
    if (reason !== undefined) return { reason, fault: 'damaged' };
    if (symbols === undefined) return undefined;
    const ofSymbols = await this.#checkFile(symbols.path, symbols.size, SYMBOLS_LAYOUT, pace);
    return ofSymbols === undefined ? undefined : { reason: ofSymbols, fault: 'symbols' };
  }

  async #checkFile(
    path: string,
    size: number,
    layout: FileLayout,
    pace: Pace,
  ): Promise<string | undefined> {
    let file: FileHandle;
    try {
      file = await openOwnSoon(path);
    } catch (error) {
      if (isMachineFault(error)) throw error;
      return `cannot be opened: ${messageOf(error)}`;
    }
    try {
      const wrongSize = sizeFault((await file.stat()).size, size);
      if (wrongSize !== undefined) return wrongSize;
      const sums = await this.#readSums(file, size, layout);
      return typeof sums === 'string' ? sums : await this.#compare(file, sums, layout, pace);
    } finally {
      await file.close();
    }
  }

  async #readSums(file: FileHandle, size: number, layout: FileLayout): Promise<PageSums | string> {
    const header = await readChunk(file, 0, layout.headSize);
    if (typeof header === 'string') return header;
    new Uint8Array(this.#core.memory.buffer).set(header, this.#chunk);
    const checksum = layout.checksumOf(this.#core.exports, this.#chunk);
    if (checksum !== header.readBigUInt64LE(layout.checksumOffset)) return 'header checksum';
    const row = sectionRow(layout, layout.sums);
    const start = header.readUInt32LE(row + format.SECTION_START_OFFSET);
    const sumsSize = header.readUInt32LE(row + format.SECTION_SIZE_OFFSET);
    const isInside = start + sumsSize + format.TAIL_SIZE === size;
    if (!isInside || sumsSize !== Math.ceil(start / format.PAGE_SIZE) * 4) return 'section table';
    const bytes = await readChunk(file, start, sumsSize);
    // Damaged sums appear as pages with wrong sums.
    return typeof bytes === 'string' ? bytes : { start, bytes };
  }

  async #compare(
    file: FileHandle,
    { start, bytes }: PageSums,
    { headSize }: FileLayout,
    pace: Pace,
  ): Promise<string | undefined> {
    const { exports, memory } = this.#core;
    for (let offset = 0; offset < start; offset += CHUNK_SIZE) {
      const chunk = await readChunk(file, offset, Math.min(CHUNK_SIZE, start - offset));
      if (typeof chunk === 'string') return chunk;
      new Uint8Array(memory.buffer).set(chunk, this.#chunk);
      const end = this.#chunk + chunk.length;
      exports.sumPages(this.#chunk, offset === 0 ? headSize : 0, end, this.#sums);
      const count = Math.ceil(chunk.length / format.PAGE_SIZE);
      const found = Buffer.from(memory.buffer, this.#sums, count * 4);
      const first = offset / format.PAGE_SIZE;
      const expected = bytes.subarray(first * 4, (first + count) * 4);
      if (!found.equals(expected))
        return `page ${first + firstDifference(found, expected)} is damaged`;
      await pace(chunk.length);
    }
    return undefined;
  }
}

/** Checks files before they are mapped: damage must not spread. Errors: ShardError for the first faulty one; as `check`. */
export async function checkShards(
  module: WebAssembly.Module,
  files: readonly ShardFile[],
  pace: Pace = async () => {},
): Promise<void> {
  const check = new PageCheck(module);
  try {
    for (const file of files) {
      const problem = await check.check(file, pace);
      if (problem !== undefined) throw new ShardError(file.shardId, problem.reason, problem.fault);
    }
  } finally {
    check.drop();
  }
}

interface PageSums {
  /** Bytes from the start of the file; the summed range ends here. */
  readonly start: number;
  readonly bytes: Buffer;
}

/** Index of the first u32 that differs. */
function firstDifference(found: Buffer, expected: Buffer): number {
  let index = 0;
  while (found.readUInt32LE(index * 4) === expected.readUInt32LE(index * 4)) index++;
  return index;
}

/** Returns faults of the file as text. Errors: those of the machine. */
async function readChunk(file: FileHandle, offset: number, size: number): Promise<Buffer | string> {
  const bytes = Buffer.allocUnsafe(size);
  for (let done = 0; done < size;) {
    try {
      const { bytesRead } = await file.read(bytes, done, size - done, offset + done);
      if (bytesRead === 0) return `ends after ${offset + done} bytes`;
      done += bytesRead;
    } catch (error) {
      if (isMachineFault(error)) throw error;
      return `cannot be read: ${messageOf(error)}`;
    }
  }
  return bytes;
}

/** Page sums of a file being written (core/FORMAT.md), read from the file, to match what a reader gets. Reads it once; throws if it cannot. `headSize`: bytes of its header, which has its own checksum. */
export function sumPagesOf(
  module: WebAssembly.Module,
  path: string,
  size: number,
  headSize: number,
): Uint8Array {
  const sumsSize = Math.ceil(size / format.PAGE_SIZE) * 4;
  const core = instantiateCore(module);
  const { exports, memory, heapStart } = core;
  const base = heapStart + Math.ceil(sumsSize / 65536) * 65536;
  try {
    mapBriefly(memory, base, path, size);
    exports.sumPages(base, headSize, base + size, heapStart);
    return new Uint8Array(memory.buffer, heapStart, sumsSize).slice();
  } finally {
    dropCore(core);
  }
}
