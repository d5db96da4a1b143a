// Builds the symbols file of a shard (core/FORMAT.md): takes symbols (daemon/engine/symbols) blob by blob and writes the file
// at the end.

import { statSync } from 'node:fs';
import { atPath } from '../../base/caught.ts';
import { hashFile } from '../../base/file-hash.ts';
import { syncPathNow } from '../../base/synced.ts';
import { STATUS_OK, STATUS_OUT_OF_MEMORY } from '../../../core/shared/status.ts';
import * as layout from '../../../core/shared/symbols.ts';
import { type Core, dropCore, instantiateCore, statusName } from '../host/core.ts';
import { SYMBOLS_LAYOUT } from '../host/file-layout.ts';
import { MAPPING_ALIGNMENT, mapBriefly } from '../host/mapping.ts';
import { SectionWriter } from './section-writer.ts';
import { ShardTables } from './tables.ts';

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

type Counts = Pick<SymbolsSummary, 'symbolCount' | 'nameCount'>;
type Section = readonly [kind: number, bytes: Uint8Array];

export class SymbolsFileBuilder {
  readonly #module: WebAssembly.Module;
  readonly #core: Core;
  readonly #view: number;
  readonly #input: number;
  /** Of the shard; valid until `drop`. */
  readonly tables: ShardTables;
  readonly #parents = new ParentTable();

  /** Errors: the shard file is damaged, or too large for symbols. */
  constructor(module: WebAssembly.Module, shardPath: string) {
    this.#module = module;
    const shardSize = statSync(shardPath).size;
    this.#core = instantiateCore(module);
    const { exports, memory, heapStart } = this.#core;
    this.#view = heapStart;
    this.#input = heapStart + 65536;
    const inputEnd = this.#input + INPUT_COUNT_MAX * layout.SYMBOL_INPUT_SIZE;
    const shardStart = Math.ceil(inputEnd / MAPPING_ALIGNMENT) * MAPPING_ALIGNMENT;
    const areaStart = Math.ceil((shardStart + shardSize) / MAPPING_ALIGNMENT) * MAPPING_ALIGNMENT;
    try {
      if (areaStart >= memory.buffer.byteLength) throw new Error('the shard is too large');
      mapBriefly(memory, shardStart, shardPath, shardSize);
      check(exports.openShard(shardStart, shardSize, this.#view));
      this.tables = new ShardTables(new Uint8Array(memory.buffer, shardStart, shardSize));
      check(exports.symbolsBegin(this.#view, areaStart, memory.buffer.byteLength - 65536));
    } catch (error) {
      this.drop();
      throw error;
    }
  }

  /**
   * Adds the symbols of a blob and returns how many were kept; blob ids must ascend. Undefined: there are too many for the
   * file, none was added, and other blobs may still fit.
   * @param symbols  ascending by start; those that overlap the one before or are invalid are dropped
   */
  addBlob(blobId: number, symbols: readonly BuilderSymbol[]): number | undefined {
    if (this.#parents.count + symbols.length > layout.SYMBOL_INPUT_PARENTS_MAX) return undefined;
    const { exports, memory } = this.#core;
    const { content } = this.tables.blob(blobId);
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

  /** Nothing can be added any more. Errors: the memory is full, or the file cannot be written. */
  finish(path: string): SymbolsSummary {
    const { exports } = this.#core;
    check(exports.symbolsFinish());
    const [symbolCount, nameCount] = [exports.symbolsCount.value, exports.symbolsNameCount.value];
    const counts = { symbolCount: symbolCount >>> 0, nameCount: nameCount >>> 0 };
    try {
      const size = this.#write(path, counts);
      syncPathNow(path);
      return { fileId: hashFile(path), size, ...counts };
    } catch (error) {
      throw atPath(error, path);
    }
  }

  drop(): void {
    dropCore(this.#core);
  }

  #write(path: string, { symbolCount, nameCount }: Counts): number {
    const writer = new SectionWriter(this.#module, path, SYMBOLS_LAYOUT, 'w');
    try {
      for (const [kind, bytes] of this.#sections(nameCount)) writer.write(kind, bytes);
      return writer.finish((header, size) => {
        header.writeUInt32LE(layout.SYMBOLS_MAGIC_LOW, layout.SYMBOLS_MAGIC_OFFSET);
        header.writeUInt32LE(layout.SYMBOLS_MAGIC_HIGH, layout.SYMBOLS_MAGIC_OFFSET + 4);
        header.writeUInt32LE(layout.SYMBOLS_VERSION, layout.SYMBOLS_VERSION_OFFSET);
        header.writeUInt32LE(size, layout.SYMBOLS_FILE_SIZE_OFFSET);
        header.writeUInt32LE(this.tables.blockCount, layout.SYMBOLS_BLOCK_COUNT_OFFSET);
        header.writeUInt32LE(symbolCount, layout.SYMBOLS_COUNT_OFFSET);
        header.writeUInt32LE(nameCount, layout.SYMBOLS_NAME_COUNT_OFFSET);
        header.writeUInt32LE(this.#parents.count, layout.SYMBOLS_PARENT_COUNT_OFFSET);
        header.writeBigUInt64LE(this.tables.checksum, layout.SYMBOLS_SHARD_OFFSET);
      });
    } finally {
      writer.close();
    }
  }

  #sections(nameCount: number): Section[] {
    const { exports, memory } = this.#core;
    const { rows, names } = this.#parents;
    const rowsStart = exports.symbolsRows.value;
    const listsStart = exports.symbolsLists.value;
    const startsSize = (this.tables.blockCount + 1) * 4;
    const at = (address: number, size: number): Uint8Array =>
      new Uint8Array(memory.buffer, address >>> 0, size >>> 0);
    return [
      [layout.SYMBOLS_SECTION_STARTS, at(exports.symbolsStarts.value, startsSize)],
      [layout.SYMBOLS_SECTION_ROWS, at(rowsStart, exports.symbolsRowsEnd.value - rowsStart)],
      [layout.SYMBOLS_SECTION_PARENTS, rows()],
      [layout.SYMBOLS_SECTION_PARENT_NAMES, names()],
      [layout.SYMBOLS_SECTION_NAMES, at(exports.symbolsNameOffsets.value, nameCount * 4)],
      [layout.SYMBOLS_SECTION_NAME_SIZES, at(exports.symbolsNameSizes.value, nameCount)],
      [layout.SYMBOLS_SECTION_NAME_LISTS, at(exports.symbolsNameLists.value, nameCount * 4)],
      [layout.SYMBOLS_SECTION_LISTS, at(listsStart, exports.symbolsListsEnd.value - listsStart)],
    ];
  }
}

/** A name of valid size on one line of the content. */
function isValid({ start, size, kind }: BuilderSymbol, content: Uint8Array): boolean {
  if (size <= 0 || size > layout.SYMBOL_NAME_SIZE_MAX || kind >= layout.SYMBOL_KIND_COUNT)
    return false;
  if (start < 0 || start + size > content.length) return false;
  return !content.subarray(start, start + size).includes(0x0a);
}

function check(status: number): void {
  if (status !== STATUS_OK) throw new Error(`symbols: ${statusName(status)}`);
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
