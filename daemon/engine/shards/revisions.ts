// The revision file: which docs of a repo's shards each revision holds. Rewritten as a whole, named by its checksum. Layout:
// daemon/sync/README.md, "Revision files".

import { hash } from 'node:crypto';
import type { DocSet } from '../host/encoded-plan.ts';
import { bitmapSizeOf, countBits, containsDoc } from './bits.ts';
import { type CodedSet, decodeInto, encodeSet, FORM_ALL, isValid, markDocsIn } from './set-code.ts';

const MAGIC = 'TRAWLREV';
const VERSION = 1;
const HEADER_SIZE = 64;
const CHECKSUM_OFFSET = 32;
const CHECKSUM_SIZE = 32;
/** Bytes of the row of a shard, and of that of a set. */
const ROW_SIZE = 12;

/** A doc without stored content: only this file has its blob id. */
export interface UnstoredDoc {
  readonly docId: number;
  /** Hexadecimal git object id. */
  readonly oid: string;
}

export interface RevisedShard {
  readonly docCount: number;
  /** Ascending by docId. */
  readonly unstored: readonly UnstoredDoc[];
}

export class RevisionWriter {
  readonly #shards: readonly RevisedShard[];
  readonly #rows: { form: number; offset: number; size: number }[] = [];
  readonly #positions = new Map<string, number>();
  readonly #data: Uint8Array[] = [];
  #dataSize = 0;
  #revisionCount = 0;

  constructor(shards: readonly RevisedShard[]) {
    this.#shards = shards;
  }

  /** Adds the next revision: a bitmap for each shard, of bitmapSizeOf(docCount) bytes. */
  add(bitmaps: readonly Uint8Array[]): void {
    this.addCoded(this.#shards.map(({ docCount }, shard) => encodeSet(bitmaps[shard]!, docCount)));
  }

  addCoded(sets: readonly CodedSet[]): void {
    this.#revisionCount++;
    for (const { form, bytes } of sets)
      this.#rows.push({ form, offset: this.#append(bytes), size: bytes.length });
  }

  #append(bytes: Uint8Array): number {
    if (bytes.length === 0) return 0;
    const key = `${bytes.length} ${hash('sha1', bytes, 'base64')}`;
    const cached = this.#positions.get(key);
    if (cached !== undefined) return cached;
    const offset = this.#dataSize;
    this.#positions.set(key, offset);
    this.#data.push(bytes);
    this.#dataSize += bytes.length;
    return offset;
  }

  /** The file. Errors: throws above 4 GiB. */
  bytes(): Buffer {
    const shards = this.#shards;
    const hashSize = (shards.flatMap(({ unstored }) => unstored)[0]?.oid.length ?? 40) / 2;
    const dataStart = HEADER_SIZE + (shards.length + this.#rows.length) * ROW_SIZE;
    const head = Buffer.alloc(dataStart);
    head.write(MAGIC, 'latin1');
    head.writeUInt32LE(VERSION, 8);
    head.writeUInt32LE(this.#revisionCount, 12);
    head.writeUInt32LE(shards.length, 16);
    head.writeUInt32LE(hashSize, 20);
    const lists: Buffer[] = [];
    let next = dataStart + this.#dataSize;
    let row = HEADER_SIZE;
    for (const { docCount, unstored } of shards) {
      head.writeUInt32LE(docCount, row);
      head.writeUInt32LE(unstored.length, row + 4);
      head.writeUInt32LE(next, row + 8);
      const list = encodeUnstored(unstored, hashSize);
      lists.push(list);
      next += list.length;
      row += ROW_SIZE;
    }
    if (next > 0xffffffff) throw new Error(`too many revisions: ${next} bytes of doc sets`);
    for (const { form, offset, size } of this.#rows) {
      head.writeUInt32LE(form, row);
      head.writeUInt32LE(dataStart + offset, row + 4);
      head.writeUInt32LE(size, row + 8);
      row += ROW_SIZE;
    }
    const file = Buffer.concat([head, ...this.#data, ...lists]);
    checksumOf(file).copy(file, CHECKSUM_OFFSET);
    return file;
  }
}

function encodeUnstored(unstored: readonly UnstoredDoc[], hashSize: number): Buffer {
  const list = Buffer.alloc(unstored.length * (4 + hashSize));
  for (const [index, { docId, oid }] of unstored.entries()) {
    const row = index * (4 + hashSize);
    list.writeUInt32LE(docId, row);
    list.write(oid, row + 4, 'hex');
  }
  return list;
}

/** SHA-256 of a file, with zeros in the checksum's field. */
function checksumOf(file: Buffer): Buffer {
  const copy = Buffer.from(file);
  copy.fill(0, CHECKSUM_OFFSET, CHECKSUM_OFFSET + CHECKSUM_SIZE);
  return Buffer.from(hash('sha256', copy, 'hex'), 'hex');
}

/** Name of a revision file: its checksum, as 64 hexadecimal digits. */
export function revisionFileId(file: Buffer): string {
  return file.toString('hex', CHECKSUM_OFFSET, CHECKSUM_OFFSET + CHECKSUM_SIZE);
}

export class RevisionTable {
  readonly shards: readonly ShardRevisions[];
  readonly revisionCount: number;

  private constructor(revisionCount: number, shards: readonly ShardRevisions[]) {
    this.revisionCount = revisionCount;
    this.shards = shards;
  }

  /** Errors: throws with the fault. @param docCounts  docs of the repo's shards, which the file must match */
  static open(file: Buffer, revisionCount: number, docCounts: readonly number[]): RevisionTable {
    checkHeader(file);
    if (file.readUInt32LE(12) !== revisionCount) throw new Error('wrong number of revisions');
    if (file.readUInt32LE(16) !== docCounts.length) throw new Error('wrong number of shards');
    const hashSize = file.readUInt32LE(20);
    const setsStart = HEADER_SIZE + docCounts.length * ROW_SIZE;
    const dataStart = setsStart + docCounts.length * revisionCount * ROW_SIZE;
    if (dataStart > file.length) throw new Error('truncated');
    const shards = docCounts.map((docCount, shard) => {
      const row = HEADER_SIZE + shard * ROW_SIZE;
      if (file.readUInt32LE(row) !== docCount) throw new Error('wrong number of docs');
      const sets = Array.from({ length: revisionCount }, (_, revision) => {
        const setRow = setsStart + (revision * docCounts.length + shard) * ROW_SIZE;
        const bytes = sliceOf(file, file.readUInt32LE(setRow + 4), file.readUInt32LE(setRow + 8));
        const set = { form: file.readUInt32LE(setRow), bytes };
        if (!isValid(set, docCount)) throw new Error('a damaged set of docs');
        return set;
      });
      const count = file.readUInt32LE(row + 4);
      const list = sliceOf(file, file.readUInt32LE(row + 8), count * (4 + hashSize));
      return new ShardRevisions(docCount, sets, list, hashSize);
    });
    return new RevisionTable(revisionCount, shards);
  }
}

function checkHeader(file: Buffer): void {
  if (file.length < HEADER_SIZE || file.toString('latin1', 0, 8) !== MAGIC)
    throw new Error('not a revision file');
  if (file.readUInt32LE(8) !== VERSION) throw new Error('unsupported version');
  const stored = file.subarray(CHECKSUM_OFFSET, CHECKSUM_OFFSET + CHECKSUM_SIZE);
  if (!checksumOf(file).equals(stored)) throw new Error('wrong checksum');
}

function sliceOf(file: Buffer, offset: number, size: number): Buffer {
  if (offset > file.length || size > file.length - offset) throw new Error('truncated');
  return file.subarray(offset, offset + size);
}

/** Of ShardRevisions, to be posted to another thread. */
export interface RevisionsData {
  readonly docCount: number;
  readonly sets: readonly CodedSet[];
  readonly unstored: Uint8Array;
  readonly hashSize: number;
}

export class ShardRevisions {
  readonly docCount: number;
  readonly sets: readonly CodedSet[];
  readonly #unstored: Buffer;
  readonly #hashSize: number;
  /** Sets by revisions, the least recently used first. */
  readonly #cache = new Map<string, DocSet>();
  #liveCount: number | undefined;

  constructor(docCount: number, sets: readonly CodedSet[], unstored: Buffer, hashSize: number) {
    this.docCount = docCount;
    this.sets = sets;
    this.#unstored = unstored;
    this.#hashSize = hashSize;
  }

  static of({ docCount, sets, unstored, hashSize }: RevisionsData): ShardRevisions {
    const own = sets.map(({ form, bytes }) => ({ form, bytes: bufferOf(bytes) }));
    return new ShardRevisions(docCount, own, bufferOf(unstored), hashSize);
  }

  get data(): RevisionsData {
    const { docCount, sets } = this;
    return { docCount, sets, unstored: this.#unstored, hashSize: this.#hashSize };
  }

  /** The sets of other revisions, then those of `chosen`, in that order. */
  behind(before: readonly CodedSet[], chosen: readonly number[]): ShardRevisions {
    const sets = [...before, ...chosen.map((index) => this.sets[index]!)];
    return new ShardRevisions(this.docCount, sets, this.#unstored, this.#hashSize);
  }

  /** The docs that any revision holds, and their number. */
  get liveDocs(): DocSet {
    return this.docsIn([...this.sets.keys()]);
  }
  get liveCount(): number {
    this.#liveCount ??= countDocs(this.liveDocs, this.docCount);
    return this.#liveCount;
  }

  docsIn(revisions: readonly number[]): DocSet {
    const key = revisions.join();
    const cached = this.#cache.get(key);
    const set = cached ?? this.#unite(revisions);
    this.#cache.delete(key);
    this.#cache.set(key, set);
    // Bound: memory (8 MiB, but at least four bitmaps), and the walk through them.
    const capacity = Math.floor((8 << 20) / Math.max(1, bitmapSizeOf(this.docCount)));
    const countMax = Math.min(64, Math.max(4, capacity));
    for (const oldest of this.#cache.keys()) {
      if (this.#cache.size <= countMax) break;
      this.#cache.delete(oldest);
    }
    return set;
  }

  #unite(revisions: readonly number[]): DocSet {
    // Equal sets are stored once in a file, at the same position.
    const distinct = new Map<string, CodedSet>();
    const files: ArrayBufferLike[] = [];
    for (const index of revisions) {
      const set = this.sets[index]!;
      const { buffer, byteOffset, length } = set.bytes;
      const existing = files.indexOf(buffer);
      const file = existing < 0 ? files.push(buffer) - 1 : existing;
      distinct.set(`${set.form} ${file} ${byteOffset} ${length}`, set);
    }
    if ([...distinct.values()].some(({ form }) => form === FORM_ALL)) return 'all';
    const bitmap = new Uint8Array(new SharedArrayBuffer(bitmapSizeOf(this.docCount)));
    for (const set of distinct.values()) decodeInto(set, bitmap);
    const count = countDocs(bitmap, this.docCount);
    if (count === 0) return 'none';
    return count === this.docCount ? 'all' : bitmap;
  }

  /** The revisions that hold each doc. @param docIds  ascending */
  revisionsHaving(docIds: Uint32Array, revisions: readonly number[]): number[][] {
    const revisionLists = Array.from(docIds, (): number[] => []);
    for (const revision of revisions)
      markDocsIn(this.sets[revision]!, docIds, (index) => revisionLists[index]!.push(revision));
    return revisionLists;
  }

  contains(revision: number, docId: number): boolean {
    return containsDoc(this.docsIn([revision]), docId);
  }

  /** Blob id of a doc without stored content; undefined: unknown. Cost: a binary search. */
  unstoredOid(docId: number): string | undefined {
    const rowSize = 4 + this.#hashSize;
    let start = 0;
    let end = this.#unstored.length / rowSize;
    while (start < end) {
      const middle = (start + end) >>> 1;
      if (this.#unstored.readUInt32LE(middle * rowSize) < docId) start = middle + 1;
      else end = middle;
    }
    const row = start * rowSize;
    if (row >= this.#unstored.length || this.#unstored.readUInt32LE(row) !== docId)
      return undefined;
    return this.#unstored.toString('hex', row + 4, row + rowSize);
  }

  unstoredDocs(): UnstoredDoc[] {
    const docs: UnstoredDoc[] = [];
    for (let row = 0; row < this.#unstored.length; row += 4 + this.#hashSize) {
      const oid = this.#unstored.toString('hex', row + 4, row + 4 + this.#hashSize);
      docs.push({ docId: this.#unstored.readUInt32LE(row), oid });
    }
    return docs;
  }
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function countDocs(set: DocSet, docCount: number): number {
  if (set === 'all') return docCount;
  if (set === 'none') return 0;
  return countBits(set);
}
