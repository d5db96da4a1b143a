// A list of files as columns. An object a file, with its texts, would take some 300 bytes, and a repository may have
// millions. Files are made objects when they are asked for; paths are kept as bytes, each without what it shares with
// the one before.

import { decodePath, type NamedPath } from '../../base/paths.ts';

/** Plain values: may be posted to a worker. */
export interface SourceFile extends NamedPath {
  /** Bytes, as listed. A file on disk may have another size when it is read. */
  readonly size: number;
  /** The content is the target text of the link. */
  readonly isSymlink: boolean;
  /** git blob id of the content, where the listing knows it: the content is then read from git. */
  readonly oid?: string;
}

/** Files that are packed together. */
const BLOCK_COUNT = 4096;
/** Every so many paths one stands whole, so that few are passed on the way to another. */
const WHOLE_EVERY = 16;
/** Most bytes that a path is told to share: a number of one byte. */
const SHARED_MAX = 255;

const IS_SYMLINK = 1;
const HAS_ID = 2;

/** Columns of files, in their order. Plain values: may be posted. */
interface Block {
  /** Bytes of each path behind those that it shares with the one before. */
  readonly tails: Uint8Array;
  /** Where each tail ends. */
  readonly tailEnds: Uint16Array | Uint32Array;
  readonly sharedSizes: Uint8Array;
  readonly sizes: Uint32Array | Float64Array;
  /** IS_SYMLINK, HAS_ID. */
  readonly flags: Uint8Array;
  /** Blob ids, those of files without one zeros; empty if no file has one. */
  readonly ids: Uint8Array;
  readonly idSize: number;
}

/** A list that can be posted. */
export type PackedFiles = readonly Block[];

export class FileList implements Iterable<SourceFile> {
  readonly #blocks: Block[];
  /** Of those in blocks. */
  #packedCount: number;
  /** Files of the block to come. */
  #last: SourceFile[] = [];
  /** The path that was read last, and which one it is. */
  #path = Buffer.alloc(256);
  #pathSize = 0;
  #pathIndex = -1;

  /** @param packed  a list that has been packed; nothing can be added to it */
  constructor(packed: PackedFiles = []) {
    this.#blocks = [...packed];
    this.#packedCount = packed.reduce((sum, { sizes }) => sum + sizes.length, 0);
  }

  static of(files: Iterable<SourceFile>): FileList {
    const list = new FileList();
    for (const file of files) list.add(file);
    return list;
  }

  get length(): number {
    return this.#packedCount + this.#last.length;
  }

  /** Adds a file to the end. Blob ids that are added one after the other are of one size. */
  add(file: SourceFile): void {
    this.#last.push(file);
    if (this.#last.length < BLOCK_COUNT) return;
    this.#blocks.push(pack(this.#last));
    this.#packedCount += BLOCK_COUNT;
    this.#last = [];
  }

  /** The list as it is now; its memory is shared. */
  packed(): PackedFiles {
    return this.#last.length === 0 ? this.#blocks : [...this.#blocks, pack(this.#last)];
  }

  /** The file, made anew with each call. Safety: an index of the list, here and below. */
  at(index: number): SourceFile {
    const block = this.#blocks[Math.floor(index / BLOCK_COUNT)];
    if (block === undefined) return this.#last[index % BLOCK_COUNT]!;
    const place = index % BLOCK_COUNT;
    const named = decodePath(this.#readPath(block, index));
    const size = block.sizes[place]!;
    const isSymlink = (block.flags[place]! & IS_SYMLINK) !== 0;
    const id = this.idOf(index);
    const oid = id && Buffer.from(id.buffer, id.byteOffset, id.length).toString('hex');
    // Why first: putting an object together of others takes longer than all the rest, and nearly all are like this.
    if (oid !== undefined && named.rawPath === undefined)
      return { path: named.path, size, isSymlink, oid };
    return { ...named, size, isSymlink, ...(oid === undefined ? {} : { oid }) };
  }

  sizeOf(index: number): number {
    const block = this.#blocks[Math.floor(index / BLOCK_COUNT)];
    return block?.sizes[index % BLOCK_COUNT] ?? this.#last[index % BLOCK_COUNT]!.size;
  }

  /** Bytes of the path: a view that is valid until the next call. Cost: least for one file after the other. */
  pathBytesOf(index: number): Uint8Array {
    const block = this.#blocks[Math.floor(index / BLOCK_COUNT)];
    return block === undefined
      ? bytesOfPath(this.#last[index % BLOCK_COUNT]!)
      : this.#readPath(block, index);
  }

  /** The path as text, with U+FFFD for bytes that are not UTF-8. */
  pathOf(index: number): string {
    const block = this.#blocks[Math.floor(index / BLOCK_COUNT)];
    return block === undefined
      ? this.#last[index % BLOCK_COUNT]!.path
      : this.#readPath(block, index).toString('utf8');
  }

  /** Bytes of the blob id, a view; undefined: it is not known. */
  idOf(index: number): Uint8Array | undefined {
    const block = this.#blocks[Math.floor(index / BLOCK_COUNT)];
    const place = index % BLOCK_COUNT;
    if (block === undefined) {
      const { oid } = this.#last[place]!;
      return oid === undefined ? undefined : Buffer.from(oid, 'hex');
    }
    if ((block.flags[place]! & HAS_ID) === 0) return undefined;
    return block.ids.subarray(place * block.idSize, (place + 1) * block.idSize);
  }

  *[Symbol.iterator](): Generator<SourceFile> {
    for (let index = 0; index < this.length; index++) yield this.at(index);
  }

  #readPath(block: Block, index: number): Buffer {
    const place = index % BLOCK_COUNT;
    const whole = place - (place % WHOLE_EVERY);
    const isAhead = this.#pathIndex >= index - place + whole && this.#pathIndex <= index;
    let next = isAhead ? (this.#pathIndex % BLOCK_COUNT) + 1 : whole;
    for (; next <= place; next++) {
      const start = next === 0 ? 0 : block.tailEnds[next - 1]!;
      const end = block.tailEnds[next]!;
      const shared = block.sharedSizes[next]!;
      this.#pathSize = shared + end - start;
      if (this.#pathSize > this.#path.length) {
        const old = this.#path;
        this.#path = Buffer.alloc(this.#pathSize * 2);
        old.copy(this.#path, 0, 0, shared);
      }
      this.#path.set(block.tails.subarray(start, end), shared);
    }
    this.#pathIndex = index;
    return this.#path.subarray(0, this.#pathSize);
  }
}

function bytesOfPath({ path, rawPath }: SourceFile): Uint8Array {
  return rawPath ?? Buffer.from(path);
}

function pack(files: readonly SourceFile[]): Block {
  const paths = files.map(bytesOfPath);
  const sharedSizes = Uint8Array.from(paths, (path, place) =>
    place % WHOLE_EVERY === 0 ? 0 : sharedSizeOf(paths[place - 1]!, path),
  );
  const tails = paths.map((path, place) => path.subarray(sharedSizes[place]));
  const sizes = files.map(({ size }) => size);
  const areLarge = sizes.some((size) => size > 0xffffffff);
  const idSize = (files.find(({ oid }) => oid !== undefined)?.oid?.length ?? 0) / 2;
  const ids = new Uint8Array(idSize * files.length);
  for (const [place, { oid }] of files.entries()) {
    if (oid === undefined) continue;
    if (oid.length !== idSize * 2) throw new Error('blob ids of two sizes');
    ids.set(Buffer.from(oid, 'hex'), place * idSize);
  }
  return {
    tails: new Uint8Array(Buffer.concat(tails)),
    tailEnds: endsOf(tails),
    sharedSizes,
    sizes: areLarge ? Float64Array.from(sizes) : Uint32Array.from(sizes),
    flags: Uint8Array.from(
      files,
      ({ isSymlink, oid }) => (isSymlink ? IS_SYMLINK : 0) | (oid === undefined ? 0 : HAS_ID),
    ),
    ids,
    idSize,
  };
}

/** Where each ends if they lie one behind the other. */
function endsOf(tails: readonly Uint8Array[]): Uint16Array | Uint32Array {
  let end = 0;
  const ends = tails.map((tail) => (end += tail.length));
  return end <= 0xffff ? Uint16Array.from(ends) : Uint32Array.from(ends);
}

function sharedSizeOf(one: Uint8Array, other: Uint8Array): number {
  const max = Math.min(one.length, other.length, SHARED_MAX);
  let size = 0;
  while (size < max && one[size] === other[size]) size++;
  return size;
}
