// Writes the sections of a shard or symbols file in order, then page sums and header. Layout: core/FORMAT.md.

import { closeSync, openSync, writeSync } from 'node:fs';
import * as format from '../../../core/shared/format.ts';
import { dropCore, instantiateCore } from '../host/core.ts';
import { type FileLayout, sectionRow } from '../host/file-layout.ts';
import { mapBriefly } from '../host/mapping.ts';
import { sumPagesOf } from '../host/page-check.ts';

interface Section {
  readonly kind: number;
  readonly start: number;
  readonly size: number;
}

export class SectionWriter {
  readonly #module: WebAssembly.Module;
  readonly #path: string;
  readonly #layout: FileLayout;
  readonly #file: number;
  readonly #sections: Section[] = [];
  #position: number;
  #open: { kind: number; start: number } | undefined;

  /** @param flags  as in openSync; `r+`: the first sections are written already, and are named to `skip` */
  constructor(module: WebAssembly.Module, path: string, layout: FileLayout, flags: 'r+' | 'w') {
    this.#module = module;
    this.#path = path;
    this.#layout = layout;
    this.#position = layout.headSize;
    this.#file = openSync(path, flags, 0o600);
  }

  close(): void {
    closeSync(this.#file);
  }

  skip(kind: number, size: number): void {
    this.#sections.push({ kind, start: this.#position, size });
    this.#position += size;
  }

  write(kind: number, bytes: Uint8Array): void {
    this.begin(kind);
    this.append(bytes);
    this.end();
  }

  begin(kind: number): void {
    const start = Math.ceil(this.#position / format.SECTION_ALIGNMENT) * format.SECTION_ALIGNMENT;
    this.append(new Uint8Array(start - this.#position));
    this.#open = { kind, start };
  }

  append(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length;)
      done += writeSync(this.#file, bytes, done, bytes.length - done, this.#position + done);
    this.#position += bytes.length;
  }

  end(): void {
    if (this.#open === undefined) throw new Error('no section is open');
    this.#sections.push({ ...this.#open, size: this.#position - this.#open.start });
    this.#open = undefined;
  }

  /** Returns the size of the file. @param fill  writes the fields of the header but sections and checksum */
  finish(fill: (header: Buffer, size: number, sectionCount: number) => void): number {
    this.begin(this.#layout.sums);
    this.append(sumPagesOf(this.#module, this.#path, this.#position, this.#layout.headSize));
    this.end();
    this.append(new Uint8Array(format.TAIL_SIZE));
    const header = Buffer.alloc(this.#layout.headSize);
    fill(header, this.#position, this.#sections.length);
    this.#seal(header);
    writeSync(this.#file, header, 0, header.length, 0);
    return this.#position;
  }

  /** Fills in the sections, and checksums of the bytes in the file. Why: they must match what a reader gets. */
  #seal(header: Buffer): void {
    const core = instantiateCore(this.#module);
    const { exports, memory, heapStart } = core;
    const base = heapStart + 65536;
    try {
      mapBriefly(memory, base, this.#path, this.#position);
      for (const { kind, start, size } of this.#sections) {
        const row = sectionRow(this.#layout, kind);
        const checksum = BigInt.asUintN(64, exports.checksum(base + start, size));
        header.writeUInt32LE(kind, row + format.SECTION_KIND_OFFSET);
        header.writeUInt32LE(start, row + format.SECTION_START_OFFSET);
        header.writeUInt32LE(size, row + format.SECTION_SIZE_OFFSET);
        header.writeBigUInt64LE(checksum, row + format.SECTION_CHECKSUM_OFFSET);
      }
      new Uint8Array(memory.buffer).set(header, heapStart);
      const checksum = this.#layout.checksumOf(exports, heapStart);
      header.writeBigUInt64LE(checksum, this.#layout.checksumOffset);
    } finally {
      dropCore(core);
    }
  }
}
