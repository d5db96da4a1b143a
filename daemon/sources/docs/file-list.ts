// A list of files as columns: an object per file would take some 300 bytes, and a repository may have millions. Objects are
// created on access; paths are stored as bytes without the prefix they share with the previous path.

import { decodePath, type TreePath } from '../../base/paths.ts';

/** Plain values: may be posted to a worker. */
export interface SourceFile extends TreePath {
  /** Bytes, as listed. A file on disk may have another size when it is read. */
  readonly size: number;
  /** The content is the target text of the link. */
  readonly isSymlink: boolean;
  /** git blob id of the content, if the listing knows it: the content is then read from git. */
  readonly oid?: string;
}

/** Files per block. */
const BLOCK_COUNT = 4096;
/** Every so many paths one is stored whole, to bound the steps to any path. */
const WHOLE_EVERY = 16;
/** Longest recorded prefix: its length is one byte. */
const SHARED_MAX = 255;

const IS_SYMLINK = 1;
const HAS_ID = 2;

/** Columns of files, in order. Plain values: may be posted. */
interface Block {
  /** Bytes of each path after the shared prefix. */
  readonly tails: Uint8Array;
  /** End of each tail. */
  readonly tailEnds: Uint16Array | Uint32Array;
  readonly sharedSizes: Uint8Array;
  readonly sizes: Uint32Array | Float64Array;
  /** IS_SYMLINK, HAS_ID. */
  readonly flags: Uint8Array;
  /** Blob ids, zeros for files without one; empty if no file has one. */
  readonly ids: Uint8Array;
  readonly idSize: number;
}

/** A list that can be posted. */
export type PackedFiles = readonly Block[];

export class FileList implements Iterable<SourceFile> {
  readonly #blocks: Block[];
  /** Files in blocks. */
  #packedCount: number;
  /** Files of the next block. */
  #last: SourceFile[] = [];
  /** The path read last, and its index. */
  #path = Buffer.alloc(256);
  #pathSize = 0;
  #pathIndex = -1;

  /** @param packed  a packed list; nothing can be added to it */
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

  /** Appends a file. Blob ids added one after the other have the same size. */
  add(file: SourceFile): void {
    this.#last.push(file);
    if (this.#last.length < BLOCK_COUNT) return;
    this.#blocks.push(pack(this.#last));
    this.#packedCount += BLOCK_COUNT;
    this.#last = [];
  }

  /** The current list; its memory is shared. */
  packed(): PackedFiles {
    return this.#last.length === 0 ? this.#blocks : [...this.#blocks, pack(this.#last)];
  }

  /** The file, a new object per call. Safety: an index of the list, here and below. */
  at(index: number): SourceFile {
    const block = this.#blocks[Math.floor(index / BLOCK_COUNT)];
    if (block === undefined) return this.#last[index % BLOCK_COUNT]!;
    const position = index % BLOCK_COUNT;
    const treePath = decodePath(this.#readPath(block, index));
    const size = block.sizes[position]!;
    const isSymlink = (block.flags[position]! & IS_SYMLINK) !== 0;
    const id = this.idOf(index);
    const oid = id && Buffer.from(id.buffer, id.byteOffset, id.length).toString('hex');
    // Why first: building the object from parts is the slowest step, and nearly all files are like this.
    if (oid !== undefined && treePath.rawPath === undefined)
      return { path: treePath.path, size, isSymlink, oid };
    return { ...treePath, size, isSymlink, ...(oid === undefined ? {} : { oid }) };
  }

  sizeOf(index: number): number {
    const block = this.#blocks[Math.floor(index / BLOCK_COUNT)];
    return block?.sizes[index % BLOCK_COUNT] ?? this.#last[index % BLOCK_COUNT]!.size;
  }

  /** Bytes of the path: a view that is valid until the next call. Cost: lowest in sequential order. */
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

  /** Bytes of the blob id, a view; undefined: unknown. */
  idOf(index: number): Uint8Array | undefined {
    const block = this.#blocks[Math.floor(index / BLOCK_COUNT)];
    const position = index % BLOCK_COUNT;
    if (block === undefined) {
      const { oid } = this.#last[position]!;
      return oid === undefined ? undefined : Buffer.from(oid, 'hex');
    }
    if ((block.flags[position]! & HAS_ID) === 0) return undefined;
    return block.ids.subarray(position * block.idSize, (position + 1) * block.idSize);
  }

  *[Symbol.iterator](): Generator<SourceFile> {
    for (let index = 0; index < this.length; index++) yield this.at(index);
  }

  #readPath(block: Block, index: number): Buffer {
    const position = index % BLOCK_COUNT;
    const whole = position - (position % WHOLE_EVERY);
    const isAhead = this.#pathIndex >= index - position + whole && this.#pathIndex <= index;
    let next = isAhead ? (this.#pathIndex % BLOCK_COUNT) + 1 : whole;
    for (; next <= position; next++) {
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
  const sharedSizes = Uint8Array.from(paths, (path, position) =>
    position % WHOLE_EVERY === 0 ? 0 : sharedSizeOf(paths[position - 1]!, path),
  );
  const tails = paths.map((path, position) => path.subarray(sharedSizes[position]));
  const sizes = files.map(({ size }) => size);
  const areLarge = sizes.some((size) => size > 0xffffffff);
  const idSize = (files.find(({ oid }) => oid !== undefined)?.oid?.length ?? 0) / 2;
  const ids = new Uint8Array(idSize * files.length);
  for (const [position, { oid }] of files.entries()) {
    if (oid === undefined) continue;
    if (oid.length !== idSize * 2) throw new Error('blob ids of two sizes');
    ids.set(Buffer.from(oid, 'hex'), position * idSize);
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

/** Ends of the tails when concatenated. */
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
