// Reads the symbols of a blob from a symbols file and its shard, to copy them into a merged shard. Both files are checked.

import * as format from '../../../core/shared/format.ts';
import * as layout from '../../../core/shared/symbols.ts';
import { SHARD_LAYOUT, sectionStart, SYMBOLS_LAYOUT } from '../host/file-layout.ts';
import type { BuilderSymbol } from './symbols-builder.ts';

export class SymbolTables {
  readonly #symbols: DataView;
  readonly #shard: DataView;
  readonly #starts: number[] = [];
  readonly #blobs: number;
  readonly #blocks: number;

  constructor(symbols: Uint8Array, shard: Uint8Array) {
    this.#symbols = new DataView(symbols.buffer, symbols.byteOffset, symbols.length);
    this.#shard = new DataView(shard.buffer, shard.byteOffset, shard.length);
    for (let kind = 1; kind <= layout.SYMBOLS_SECTION_COUNT; kind++)
      this.#starts[kind] = sectionStart(this.#symbols, SYMBOLS_LAYOUT, kind);
    this.#blobs = sectionStart(this.#shard, SHARD_LAYOUT, format.SECTION_BLOBS);
    this.#blocks = sectionStart(this.#shard, SHARD_LAYOUT, format.SECTION_BLOCKS);
  }

  /** The symbols of a blob, ascending by start. */
  ofBlob(blobId: number): BuilderSymbol[] {
    const row = this.#blobs + blobId * format.BLOB_ROW_SIZE;
    const u32 = (offset: number): number => this.#shard.getUint32(row + offset, true);
    const first = u32(format.BLOB_BLOCK_START_OFFSET);
    const count = u32(format.BLOB_BLOCK_COUNT_OFFSET);
    const found: BuilderSymbol[] = [];
    for (let block = first; block < first + count; block++)
      this.#addBlock(found, block, u32(format.BLOB_CONTENT_OFFSET));
    return found;
  }

  #addBlock(found: BuilderSymbol[], block: number, blobStart: number): void {
    const starts = this.#starts[layout.SYMBOLS_SECTION_STARTS]! + block * 4;
    const rows = this.#starts[layout.SYMBOLS_SECTION_ROWS]!;
    const numbers = new NumberReader(
      this.#symbols,
      rows + this.#symbols.getUint32(starts, true),
      rows + this.#symbols.getUint32(starts + 4, true),
    );
    const row = this.#blocks + block * format.BLOCK_ROW_SIZE;
    let start = this.#shard.getUint32(row + format.BLOCK_CONTENT_OFFSET, true) - blobStart;
    let parent: BuilderSymbol['parent'];
    while (!numbers.isAtEnd) {
      start += numbers.next();
      const size = numbers.next();
      const packed = numbers.byte();
      const kind = packed & ((1 << layout.SYMBOL_KIND_BITS) - 1);
      const mode = packed >> layout.SYMBOL_KIND_BITS;
      if (mode === layout.SYMBOL_PARENT_NAMED) parent = this.#parent(numbers.next());
      const hasParent = mode !== layout.SYMBOL_PARENT_NONE && parent !== undefined;
      found.push(hasParent ? { start, size, kind, parent: parent! } : { start, size, kind });
      start += size;
    }
  }

  #parent(index: number): { readonly name: string; readonly kind: number } {
    const view = this.#symbols;
    const row =
      this.#starts[layout.SYMBOLS_SECTION_PARENTS]! + index * layout.SYMBOL_PARENT_ROW_SIZE;
    const start =
      this.#starts[layout.SYMBOLS_SECTION_PARENT_NAMES]! +
      view.getUint32(row + layout.SYMBOL_PARENT_NAME_OFFSET, true);
    const size = view.getUint16(row + layout.SYMBOL_PARENT_NAME_SIZE_OFFSET, true);
    const name = Buffer.from(view.buffer, view.byteOffset + start, size).toString();
    return { name, kind: view.getUint16(row + layout.SYMBOL_PARENT_KIND_OFFSET, true) };
  }
}

/** Reads varints: seven bits a byte, the lowest first. */
class NumberReader {
  readonly #view: DataView;
  readonly #end: number;
  #position: number;

  constructor(view: DataView, start: number, end: number) {
    this.#view = view;
    this.#position = start;
    this.#end = end;
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#end;
  }

  byte(): number {
    return this.#view.getUint8(this.#position++);
  }

  next(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }
}
