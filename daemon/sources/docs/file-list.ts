// A list of files as columns: an object per file would take some 300 bytes, and a repository may have millions. Objects are
// created on access.

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

const IS_SYMLINK = 1;
const HAS_ID = 2;

/** Columns of files, in order. Plain values: may be posted. */
interface Block {
  /** Bytes of all paths. */
  readonly paths: Uint8Array;
  /** End of each path. */
  readonly pathEnds: Uint32Array;
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
    const treePath = decodePath(pathIn(block, position));
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

  /** Bytes of the path: a view. */
  pathBytesOf(index: number): Uint8Array {
    const block = this.#blocks[Math.floor(index / BLOCK_COUNT)];
    const position = index % BLOCK_COUNT;
    return block === undefined ? bytesOfPath(this.#last[position]!) : pathIn(block, position);
  }

  /** The path as text, with U+FFFD for bytes that are not UTF-8. */
  pathOf(index: number): string {
    const block = this.#blocks[Math.floor(index / BLOCK_COUNT)];
    const position = index % BLOCK_COUNT;
    return block === undefined
      ? this.#last[position]!.path
      : pathIn(block, position).toString('utf8');
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
}

function pathIn({ paths, pathEnds }: Block, position: number): Buffer {
  const start = position === 0 ? 0 : pathEnds[position - 1]!;
  return Buffer.from(paths.buffer, paths.byteOffset + start, pathEnds[position]! - start);
}

function bytesOfPath({ path, rawPath }: SourceFile): Uint8Array {
  return rawPath ?? Buffer.from(path);
}

function pack(files: readonly SourceFile[]): Block {
  const paths = files.map(bytesOfPath);
  let end = 0;
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
    paths: new Uint8Array(Buffer.concat(paths)),
    pathEnds: Uint32Array.from(paths, (path) => (end += path.length)),
    sizes: areLarge ? Float64Array.from(sizes) : Uint32Array.from(sizes),
    flags: Uint8Array.from(
      files,
      ({ isSymlink, oid }) => (isSymlink ? IS_SYMLINK : 0) | (oid === undefined ? 0 : HAS_ID),
    ),
    ids,
    idSize,
  };
}
