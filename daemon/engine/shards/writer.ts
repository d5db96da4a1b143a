// Writes a shard file after its contents, which the build has written from byte 4,096 on. The caller syncs it. Layout:
// core/FORMAT.md.

import * as format from '../../../core/shared/format.ts';
import type { BatchRows, MergedGrams } from '../host/builder.ts';
import { dropCore, instantiateCore } from '../host/core.ts';
import { SHARD_LAYOUT } from '../host/file-layout.ts';
import { SectionWriter } from './section-writer.ts';
import type { DocColumns } from './shard-docs.ts';

export interface ShardRepo {
  readonly repoId: number;
  readonly name: string;
  /** Number of its docs, which are contiguous. */
  readonly docCount: number;
}

/** Blob rows of all batches; the writer fills in their first docs. Block rows without the final end row. */
export interface NewTables extends BatchRows {
  /** In the order of their docs. */
  readonly repos: readonly ShardRepo[];
  readonly docs: DocColumns;
  /** Git object ids of the blobs, `hashSize` bytes each. */
  readonly blobHashes: Uint8Array;
  readonly hashSize: number;
  readonly contentSize: number;
}

export interface ShardSummary {
  readonly size: number;
  readonly docCount: number;
  readonly blobCount: number;
  readonly blockCount: number;
  readonly gramCount: number;
  readonly contentSize: number;
  /** Bytes of its content ids. */
  readonly hashSize: number;
}

/** @param merge  passes each portion of the postings on, and returns the dictionary (engine/host/builder.ts) */
export function writeShard(
  module: WebAssembly.Module,
  path: string,
  tables: NewTables,
  merge: (onPostings: (bytes: Uint8Array) => void) => MergedGrams,
): ShardSummary {
  const sections = new SectionWriter(module, path, SHARD_LAYOUT, 'r+');
  try {
    sections.skip(format.SECTION_CONTENT, tables.contentSize);
    const blocks = blockRows(tables);
    const names = new NameTable();
    const docs = docRows(tables, names);
    sections.write(format.SECTION_BLOBS, tables.blobs);
    sections.write(format.SECTION_BLOB_HASHES, tables.blobHashes);
    sections.write(format.SECTION_BLOCKS, blocks);
    sections.write(format.SECTION_DOCS, docs.rows);
    sections.write(format.SECTION_PATHS, tables.docs.paths);
    sections.write(format.SECTION_PATH_ORDER, docs.pathOrder);
    sections.write(format.SECTION_REPOS, repoRows(tables, names));
    sections.write(format.SECTION_LANGUAGES, docs.languages);
    sections.write(format.SECTION_NAMES, names.bytes());
    sections.begin(format.SECTION_POSTINGS);
    const grams = merge((bytes) => sections.append(bytes));
    sections.end();
    sections.write(format.SECTION_GRAM_KEYS, grams.keys);
    sections.write(format.SECTION_GRAM_LISTS, grams.lists);
    const blockCount = blocks.length / format.BLOCK_ROW_SIZE - 1;
    const marks = tables.caseMarks.subarray(0, blockCount * format.CASE_MARKS_SIZE);
    sections.write(format.SECTION_CASE_MARKS, marks);
    const { count, paths, pathEnds } = tables.docs;
    const pathGrams = pathGramsOf(module, paths, pathEnds.subarray(0, count));
    sections.write(format.SECTION_PATH_GRAM_KEYS, pathGrams.keys);
    sections.write(format.SECTION_PATH_GRAM_ROWS, pathGrams.rows);
    const counts = {
      docCount: tables.docs.count,
      blobCount: tables.blobs.length / format.BLOB_ROW_SIZE,
      blockCount,
      gramCount: grams.gramCount,
    };
    const size = sections.finish((...header) => fillHeader(tables, counts, ...header));
    const { contentSize, hashSize } = tables;
    return { size, ...counts, contentSize, hashSize };
  } finally {
    sections.close();
  }
}

class NameTable {
  readonly #parts: Buffer[] = [];
  #size = 0;

  add(name: string): { offset: number; size: number } {
    const bytes = Buffer.from(name);
    this.#parts.push(bytes);
    this.#size += bytes.length;
    return { offset: this.#size - bytes.length, size: bytes.length };
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

/** The rows of docs and what follows from them. Also sets the first doc of each blob row. */
function docRows(
  tables: NewTables,
  names: NameTable,
): { rows: Uint8Array; pathOrder: Uint8Array; languages: Uint8Array } {
  const { docs } = tables;
  const rows = new DataView(new ArrayBuffer(docs.count * format.DOC_ROW_SIZE));
  let pathStart = 0;
  for (let docId = 0; docId < docs.count; docId++) {
    const row = docId * format.DOC_ROW_SIZE;
    const pathEnd = docs.pathEnds[docId]!;
    rows.setUint32(row + format.DOC_PATH_OFFSET, pathStart, true);
    rows.setUint32(row + format.DOC_PATH_SIZE_OFFSET, pathEnd - pathStart, true);
    rows.setUint32(row + format.DOC_BLOB_OFFSET, docs.blobIds[docId]!, true);
    rows.setUint32(row + format.DOC_NEXT_OFFSET, format.NONE_ID, true);
    rows.setUint32(row + format.DOC_SIZE_OFFSET, docs.sizes[docId]!, true);
    rows.setUint16(row + format.DOC_LANGUAGE_OFFSET, docs.languages[docId]!, true);
    rows.setUint8(row + format.DOC_SKIP_REASON_OFFSET, docs.skipReasons[docId]!);
    rows.setUint8(row + format.DOC_TIER_OFFSET, docs.tiers[docId]!);
    pathStart = pathEnd;
  }
  setRepos(rows, tables.repos);
  linkDocs(rows, docs.blobIds, tables.blobs);
  const pathOrder = orderPaths(docs);
  for (const [rank, docId] of pathOrder.entries())
    rows.setUint32(docId * format.DOC_ROW_SIZE + format.DOC_PATH_RANK_OFFSET, rank, true);
  return {
    rows: new Uint8Array(rows.buffer),
    pathOrder: new Uint8Array(pathOrder.buffer),
    languages: languageRows(docs.languageNames, names),
  };
}

function setRepos(rows: DataView, repos: readonly ShardRepo[]): void {
  let docId = 0;
  for (const [index, { docCount }] of repos.entries()) {
    const end = docId + docCount;
    for (; docId < end; docId++)
      rows.setUint16(docId * format.DOC_ROW_SIZE + format.DOC_REPO_OFFSET, index, true);
  }
}

/** Sets the first doc of each blob, and the next doc with the same blob of each doc. */
function linkDocs(rows: DataView, blobIds: Uint32Array, blobs: Uint8Array): void {
  const blobView = new DataView(blobs.buffer, blobs.byteOffset, blobs.length);
  const lastDocs = new Uint32Array(blobs.length / format.BLOB_ROW_SIZE).fill(format.NONE_ID);
  for (const [docId, blobId] of blobIds.entries()) {
    if (blobId === format.NONE_ID) continue;
    const last = lastDocs[blobId]!;
    if (last === format.NONE_ID)
      blobView.setUint32(blobId * format.BLOB_ROW_SIZE + format.BLOB_DOC_OFFSET, docId, true);
    else rows.setUint32(last * format.DOC_ROW_SIZE + format.DOC_NEXT_OFFSET, docId, true);
    lastDocs[blobId] = docId;
  }
}

function languageRows(languageNames: readonly string[], names: NameTable): Uint8Array {
  const rows = languageNames.flatMap((name) => {
    const { offset, size } = names.add(name);
    return [offset, size];
  });
  return new Uint8Array(Uint32Array.from(rows).buffer);
}

/** DocIds in byte order of their paths; docIds break ties. */
function orderPaths({ count, paths, pathEnds }: DocColumns): Uint32Array {
  const bytes = Buffer.from(paths.buffer, paths.byteOffset, paths.length);
  const startOf = (docId: number): number => (docId === 0 ? 0 : pathEnds[docId - 1]!);
  // Why a plain array: its sort exploits sorted runs, and the docs of a tier are one.
  const order = Array.from({ length: count }, (_, docId) => docId);
  order.sort((a, b) => {
    const [start, end] = [startOf(b), pathEnds[b]!];
    return bytes.compare(bytes, start, end, startOf(a), pathEnds[a]) || a - b;
  });
  return Uint32Array.from(order);
}

/** Block rows without unused ones at the end, plus the row with the end of the content. */
function blockRows(tables: NewTables): Uint8Array {
  const source = Buffer.from(tables.blocks.buffer, tables.blocks.byteOffset, tables.blocks.length);
  let size = source.length;
  while (size > 0 && isUnused(source, size - format.BLOCK_ROW_SIZE)) size -= format.BLOCK_ROW_SIZE;
  const rows = Buffer.alloc(size + format.BLOCK_ROW_SIZE);
  source.copy(rows, 0, 0, size);
  rows.writeUInt32LE(tables.contentSize, size + format.BLOCK_CONTENT_OFFSET);
  rows.writeUInt32LE(format.NONE_ID, size + format.BLOCK_BLOB_OFFSET);
  return rows;
}

function isUnused(rows: Buffer, row: number): boolean {
  return rows.readUInt32LE(row + format.BLOCK_BLOB_OFFSET) === format.NONE_ID;
}

function repoRows({ repos }: NewTables, names: NameTable): Uint8Array {
  const rows = Buffer.alloc(repos.length * format.REPO_ROW_SIZE);
  for (const [index, { repoId, name }] of repos.entries()) {
    const { offset, size } = names.add(name);
    const row = index * format.REPO_ROW_SIZE;
    rows.writeUInt32LE(repoId, row + format.REPO_ID_OFFSET);
    rows.writeUInt32LE(offset, row + format.REPO_NAME_OFFSET);
    rows.writeUInt32LE(size, row + format.REPO_NAME_SIZE_OFFSET);
  }
  return rows;
}

function fillHeader(
  tables: NewTables,
  counts: { docCount: number; blobCount: number; blockCount: number; gramCount: number },
  header: Buffer,
  size: number,
  sectionCount: number,
): void {
  header.writeUInt32LE(format.MAGIC_LOW, format.HEADER_MAGIC_OFFSET);
  header.writeUInt32LE(format.MAGIC_HIGH, format.HEADER_MAGIC_OFFSET + 4);
  header.writeUInt32LE(format.FORMAT_VERSION, format.HEADER_VERSION_OFFSET);
  header.writeUInt32LE(format.BLOCK_SIZE, format.HEADER_BLOCK_SIZE_OFFSET);
  header.writeUInt32LE(size, format.HEADER_FILE_SIZE_OFFSET);
  header.writeUInt32LE(counts.docCount, format.HEADER_DOC_COUNT_OFFSET);
  header.writeUInt32LE(counts.blobCount, format.HEADER_BLOB_COUNT_OFFSET);
  header.writeUInt32LE(counts.blockCount, format.HEADER_BLOCK_COUNT_OFFSET);
  header.writeUInt32LE(counts.gramCount, format.HEADER_GRAM_COUNT_OFFSET);
  header.writeUInt32LE(tables.repos.length, format.HEADER_REPO_COUNT_OFFSET);
  header.writeUInt32LE(tables.docs.languageNames.length, format.HEADER_LANGUAGE_COUNT_OFFSET);
  header.writeUInt32LE(sectionCount, format.HEADER_SECTION_COUNT_OFFSET);
  header.writeUInt32LE(tables.hashSize, format.HEADER_HASH_SIZE_OFFSET);
}

/** @param ends  end of each path, in bytes from the start of the first */
function pathGramsOf(
  module: WebAssembly.Module,
  paths: Uint8Array,
  ends: Uint32Array,
): { keys: Uint8Array; rows: Uint8Array } {
  const core = instantiateCore(module);
  const { exports, memory, heapStart } = core;
  try {
    const endsStart = heapStart + Math.ceil(paths.length / 64 + 1) * 64;
    const scratch = endsStart + Math.ceil(ends.length / 16 + 1) * 64;
    new Uint8Array(memory.buffer).set(paths, heapStart);
    new Uint32Array(memory.buffer).set(ends, endsStart / 4);
    exports.pathGramsBuild(heapStart, endsStart, ends.length, scratch);
    const count = exports.pathKeyCount.value >>> 0;
    const copy = (start: number, size: number): Uint8Array =>
      new Uint8Array(memory.buffer, start >>> 0, size).slice();
    return {
      keys: copy(exports.pathKeys.value, count * 4),
      rows: copy(exports.pathRows.value, count * exports.pathRowSize.value),
    };
  } finally {
    dropCore(core);
  }
}
