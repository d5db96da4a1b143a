// Builds the symbols file of a shard (core/FORMAT.md): takes symbols (daemon/engine/symbols) blob by blob and writes the file
// at the end.

import { closeSync, fsyncSync, ftruncateSync, openSync, statSync, writeSync } from 'node:fs';
import { atPath } from '../../base/caught.ts';
import { hashFile } from '../../base/file-hash.ts';
import * as format from '../../../core/shared/format.ts';
import { STATUS_OK, STATUS_OUT_OF_MEMORY } from '../../../core/shared/status.ts';
import * as layout from '../../../core/shared/symbols.ts';
import { type Core, dropCore, instantiateCore, statusName } from './core.ts';
import { MAPPING_ALIGNMENT, mapBriefly } from './mapping.ts';
import { sumPagesOf } from './page-check.ts';

export interface BuilderSymbol {
  /** Bytes from the start of the content to the name, which is on one line. */
  readonly start: number;
  /** Bytes of the name. */
  readonly size: number;
  /** 0 to 22, in the order of core/shared/symbols.ts. */
  readonly kind: number;
  readonly parent?: { readonly name: string; readonly kind: number };
}

export interface SymbolsSummary {
  /** SHA-256 of the file: its name. */
  readonly fileId: string;
  readonly size: number;
  readonly symbolCount: number;
  /** Distinct names, and words within names. */
  readonly nameCount: number;
}

/** For one blob; further symbols are dropped. Only used pages of the area are touched. */
const INPUT_COUNT_MAX = 1 << 22;

type Section = readonly [kind: number, bytes: Uint8Array];

interface Counts {
  readonly blockCount: number;
  readonly symbolCount: number;
  readonly nameCount: number;
}

export class SymbolsFileBuilder {
  readonly #module: WebAssembly.Module;
  readonly #core: Core;
  readonly #view: number;
  readonly #input: number;
  readonly #shardStart: number;
  readonly #shardSize: number;
  readonly #parents = new ParentTable();

  /** Errors: the shard file is damaged, or too large for symbols. */
  constructor(module: WebAssembly.Module, shardPath: string) {
    this.#module = module;
    this.#shardSize = statSync(shardPath).size;
    this.#core = instantiateCore(module);
    const { exports, memory, heapStart } = this.#core;
    this.#view = heapStart;
    this.#input = heapStart + 65536;
    const inputEnd = this.#input + INPUT_COUNT_MAX * layout.SYMBOL_INPUT_SIZE;
    this.#shardStart = Math.ceil(inputEnd / MAPPING_ALIGNMENT) * MAPPING_ALIGNMENT;
    const shardEnd = this.#shardStart + this.#shardSize;
    const areaStart = Math.ceil(shardEnd / MAPPING_ALIGNMENT) * MAPPING_ALIGNMENT;
    try {
      if (areaStart >= memory.buffer.byteLength) throw new Error('the shard is too large');
      mapBriefly(memory, this.#shardStart, shardPath, this.#shardSize);
      check(exports.openShard(this.#shardStart, this.#shardSize, this.#view));
      check(exports.symbolsBegin(this.#view, areaStart, memory.buffer.byteLength - 65536));
    } catch (error) {
      this.drop();
      throw error;
    }
  }

  /** Valid until `drop`. */
  get shardBytes(): Uint8Array {
    return new Uint8Array(this.#core.memory.buffer, this.#shardStart, this.#shardSize);
  }

  /**
   * Adds the symbols of a blob and returns how many were kept; blob ids must ascend. Undefined: there are too many for the
   * file, none was added, and other blobs may still fit.
   * @param symbols  ascending by start; those that overlap the one before or are invalid are dropped
   */
  addBlob(blobId: number, symbols: readonly BuilderSymbol[]): number | undefined {
    if (this.#parents.count + symbols.length > layout.SYMBOL_INPUT_PARENTS_MAX) return undefined;
    const { exports, memory } = this.#core;
    const content = this.#contentOf(blobId);
    const input = new Uint32Array(memory.buffer, this.#input, INPUT_COUNT_MAX * 3);
    let count = 0;
    let lastEnd = 0;
    for (const symbol of symbols) {
      if (count === INPUT_COUNT_MAX) break;
      const { start, size, kind, parent } = symbol;
      if (start < lastEnd || !isValid(symbol, content)) continue;
      const parentId = parent === undefined ? 0 : this.#parents.idOf(parent) + 1;
      input[count * 3] = start;
      input[count * 3 + 1] = size;
      input[count * 3 + 2] = (kind | (parentId << layout.SYMBOL_INPUT_PARENT_SHIFT)) >>> 0;
      lastEnd = start + size;
      count++;
    }
    const status = exports.symbolsAddBlob(blobId, this.#input, count);
    if (status === STATUS_OUT_OF_MEMORY) return undefined;
    check(status);
    return count;
  }

  /** A view of the memory. */
  #contentOf(blobId: number): Uint8Array {
    const { memory } = this.#core;
    const shard = new DataView(memory.buffer, this.#shardStart, this.#shardSize);
    const start = (kind: number): number => {
      const row = format.HEADER_SECTIONS_OFFSET + (kind - 1) * format.SECTION_ROW_SIZE;
      return shard.getUint32(row + format.SECTION_START_OFFSET, true);
    };
    const row = start(format.SECTION_BLOBS) + blobId * format.BLOB_ROW_SIZE;
    const content =
      start(format.SECTION_CONTENT) + shard.getUint32(row + format.BLOB_CONTENT_OFFSET, true);
    const size = shard.getUint32(row + format.BLOB_SIZE_OFFSET, true);
    return new Uint8Array(memory.buffer, this.#shardStart + content, size);
  }

  /** Nothing can be added any more. Errors: the memory is full, or the file cannot be written. */
  finish(path: string): SymbolsSummary {
    const { exports } = this.#core;
    check(exports.symbolsFinish());
    const nameCount = exports.symbolsNameCount.value >>> 0;
    const { rows, names } = this.#parents;
    const header = new DataView(this.#core.memory.buffer, this.#shardStart);
    const blockCount = header.getUint32(format.HEADER_BLOCK_COUNT_OFFSET, true);
    const rowsStart = exports.symbolsRows.value;
    const listsStart = exports.symbolsLists.value;
    const at = (address: number, size: number): Uint8Array =>
      new Uint8Array(this.#core.memory.buffer, address >>> 0, size >>> 0);
    const sections: Section[] = [
      [layout.SYMBOLS_SECTION_STARTS, at(exports.symbolsStarts.value, (blockCount + 1) * 4)],
      [layout.SYMBOLS_SECTION_ROWS, at(rowsStart, exports.symbolsRowsEnd.value - rowsStart)],
      [layout.SYMBOLS_SECTION_PARENTS, rows()],
      [layout.SYMBOLS_SECTION_PARENT_NAMES, names()],
      [layout.SYMBOLS_SECTION_NAMES, at(exports.symbolsNameOffsets.value, nameCount * 4)],
      [layout.SYMBOLS_SECTION_NAME_SIZES, at(exports.symbolsNameSizes.value, nameCount)],
      [layout.SYMBOLS_SECTION_NAME_LISTS, at(exports.symbolsNameLists.value, nameCount * 4)],
      [layout.SYMBOLS_SECTION_LISTS, at(listsStart, exports.symbolsListsEnd.value - listsStart)],
    ];
    const symbolCount = exports.symbolsCount.value >>> 0;
    const size = this.#write(path, sections, { blockCount, symbolCount, nameCount });
    return { fileId: hashFile(path), size, symbolCount, nameCount };
  }

  drop(): void {
    dropCore(this.#core);
  }

  #write(path: string, sections: readonly Section[], counts: Counts): number {
    const header = Buffer.alloc(layout.SYMBOLS_HEADER_SIZE);
    const file = openSync(path, 'w', 0o600);
    try {
      let end: number = layout.SYMBOLS_HEADER_SIZE;
      const write = ([kind, bytes]: Section): void => {
        const start = align(end);
        writeAll(file, bytes, start);
        const row = layout.SYMBOLS_SECTIONS_OFFSET + (kind - 1) * format.SECTION_ROW_SIZE;
        header.writeUInt32LE(kind, row + format.SECTION_KIND_OFFSET);
        header.writeUInt32LE(start, row + format.SECTION_START_OFFSET);
        header.writeUInt32LE(bytes.length, row + format.SECTION_SIZE_OFFSET);
        header.writeBigUInt64LE(this.#checksum(bytes), row + format.SECTION_CHECKSUM_OFFSET);
        end = start + bytes.length;
      };
      for (const section of sections) write(section);
      // The sums cover everything before them.
      ftruncateSync(file, align(end));
      const sums = sumPagesOf(this.#module, path, align(end), layout.SYMBOLS_HEADER_SIZE);
      write([layout.SYMBOLS_SECTION_PAGE_SUMS, sums]);
      writeAll(file, new Uint8Array(format.TAIL_SIZE), end);
      this.#fillHeader(header, end + format.TAIL_SIZE, counts);
      writeAll(file, header, 0);
      fsyncSync(file);
      return end + format.TAIL_SIZE;
    } catch (error) {
      throw atPath(error, path);
    } finally {
      closeSync(file);
    }
  }

  #fillHeader(header: Buffer, size: number, counts: Counts): void {
    const { exports, memory } = this.#core;
    const shard = new DataView(memory.buffer, this.#shardStart);
    header.writeUInt32LE(layout.SYMBOLS_MAGIC_LOW, layout.SYMBOLS_MAGIC_OFFSET);
    header.writeUInt32LE(layout.SYMBOLS_MAGIC_HIGH, layout.SYMBOLS_MAGIC_OFFSET + 4);
    header.writeUInt32LE(layout.SYMBOLS_VERSION, layout.SYMBOLS_VERSION_OFFSET);
    header.writeUInt32LE(size, layout.SYMBOLS_FILE_SIZE_OFFSET);
    header.writeUInt32LE(counts.blockCount, layout.SYMBOLS_BLOCK_COUNT_OFFSET);
    header.writeUInt32LE(counts.symbolCount, layout.SYMBOLS_COUNT_OFFSET);
    header.writeUInt32LE(counts.nameCount, layout.SYMBOLS_NAME_COUNT_OFFSET);
    header.writeUInt32LE(this.#parents.count, layout.SYMBOLS_PARENT_COUNT_OFFSET);
    const shardSum = shard.getBigUint64(format.HEADER_CHECKSUM_OFFSET, true);
    header.writeBigUInt64LE(shardSum, layout.SYMBOLS_SHARD_OFFSET);
    new Uint8Array(memory.buffer).set(header, this.#input);
    const checksum = BigInt.asUintN(64, exports.symbolsHeaderChecksum(this.#input));
    header.writeBigUInt64LE(checksum, layout.SYMBOLS_CHECKSUM_OFFSET);
  }

  /** XXH64 of bytes, possibly outside the core. */
  #checksum(bytes: Uint8Array): bigint {
    const { exports, memory } = this.#core;
    if (bytes.buffer === memory.buffer)
      return BigInt.asUintN(64, exports.checksum(bytes.byteOffset, bytes.length));
    const area = exports.symbolsListsEnd.value >>> 0;
    const address = Math.ceil(area / 64) * 64;
    new Uint8Array(memory.buffer).set(bytes, address);
    return BigInt.asUintN(64, exports.checksum(address, bytes.length));
  }
}

/** A name of valid size on one line of the content. */
function isValid({ start, size, kind }: BuilderSymbol, content: Uint8Array): boolean {
  if (size <= 0 || size > layout.SYMBOL_NAME_SIZE_MAX || kind >= layout.SYMBOL_KIND_COUNT)
    return false;
  if (start < 0 || start + size > content.length) return false;
  return !content.subarray(start, start + size).includes(0x0a);
}

function align(offset: number): number {
  return Math.ceil(offset / format.SECTION_ALIGNMENT) * format.SECTION_ALIGNMENT;
}

function check(status: number): void {
  if (status !== STATUS_OK) throw new Error(`symbols: ${statusName(status)}`);
}

function writeAll(file: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length;)
    done += writeSync(file, bytes, done, bytes.length - done, position + done);
}

class ParentTable {
  readonly #ids = new Map<string, number>();
  readonly #list: { readonly name: Buffer; readonly kind: number }[] = [];

  get count(): number {
    return this.#list.length;
  }

  /** Bound: SYMBOL_INPUT_PARENTS_MAX, by addBlob. */
  idOf({ name, kind }: { readonly name: string; readonly kind: number }): number {
    const key = `${kind} ${name}`;
    const existing = this.#ids.get(key);
    if (existing !== undefined) return existing;
    this.#list.push({ name: cutName(name), kind });
    this.#ids.set(key, this.#list.length - 1);
    return this.#list.length - 1;
  }

  readonly rows = (): Uint8Array => {
    const rows = Buffer.alloc(this.#list.length * layout.SYMBOL_PARENT_ROW_SIZE);
    let offset = 0;
    for (const [index, { name, kind }] of this.#list.entries()) {
      const row = index * layout.SYMBOL_PARENT_ROW_SIZE;
      rows.writeUInt32LE(offset, row + layout.SYMBOL_PARENT_NAME_OFFSET);
      rows.writeUInt16LE(name.length, row + layout.SYMBOL_PARENT_NAME_SIZE_OFFSET);
      rows.writeUInt16LE(kind, row + layout.SYMBOL_PARENT_KIND_OFFSET);
      offset += name.length;
    }
    return rows;
  };

  readonly names = (): Uint8Array => Buffer.concat(this.#list.map(({ name }) => name));
}

/** Whole characters within the limit. */
function cutName(name: string): Buffer {
  const bytes = Buffer.from(name);
  if (bytes.length <= layout.SYMBOL_NAME_SIZE_MAX) return bytes;
  let end: number = layout.SYMBOL_NAME_SIZE_MAX;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}
