// Reads a shard's tables, for everything but searches. The core must have opened or checked the bytes.

import * as format from '../../../core/shared/format.ts';
import { SHARD_LAYOUT, sectionRow } from '../host/file-layout.ts';
import type { ShardDoc } from './shard-docs.ts';

export interface SectionInfo {
  readonly kind: number;
  readonly start: number;
  readonly size: number;
  readonly checksum: bigint;
}

/** Names of sections, by kind. */
export const SECTION_NAMES: readonly string[] = [
  // There is no kind 0.
  '',
  'content',
  'blobs',
  'blob hashes',
  'blocks',
  'docs',
  'paths',
  'path order',
  'repos',
  'languages',
  'names',
  'postings',
  'gram keys',
  'gram lists',
  'case marks',
  'path gram keys',
  'path gram rows',
  'page sums',
];

export class ShardTables {
  readonly #bytes: Buffer;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  #header(offset: number): number {
    return this.#view.getUint32(offset, true);
  }

  get formatVersion(): number {
    return this.#header(format.HEADER_VERSION_OFFSET);
  }
  /** Of the header. */
  get checksum(): bigint {
    return this.#view.getBigUint64(format.HEADER_CHECKSUM_OFFSET, true);
  }
  get docCount(): number {
    return this.#header(format.HEADER_DOC_COUNT_OFFSET);
  }
  get blobCount(): number {
    return this.#header(format.HEADER_BLOB_COUNT_OFFSET);
  }
  get blockCount(): number {
    return this.#header(format.HEADER_BLOCK_COUNT_OFFSET);
  }
  get gramCount(): number {
    return this.#header(format.HEADER_GRAM_COUNT_OFFSET);
  }
  get contentSize(): number {
    return this.section(format.SECTION_CONTENT).size;
  }

  #start(kind: number): number {
    return this.#header(sectionRow(SHARD_LAYOUT, kind) + format.SECTION_START_OFFSET);
  }

  section(kind: number): SectionInfo {
    const row = sectionRow(SHARD_LAYOUT, kind);
    return {
      kind,
      start: this.#start(kind),
      size: this.#header(row + format.SECTION_SIZE_OFFSET),
      checksum: this.#view.getBigUint64(row + format.SECTION_CHECKSUM_OFFSET, true),
    };
  }

  #slice(kind: number, offset: number, size: number): Uint8Array {
    const start = this.#start(kind) + offset;
    return this.#bytes.subarray(start, start + size);
  }

  #name(offset: number, size: number): string {
    return Buffer.from(this.#slice(format.SECTION_NAMES, offset, size)).toString();
  }

  #docRow(docId: number): number {
    return this.#start(format.SECTION_DOCS) + docId * format.DOC_ROW_SIZE;
  }

  doc(docId: number): ShardDoc {
    const row = this.#docRow(docId);
    const u32 = (offset: number): number => this.#view.getUint32(row + offset, true);
    const blobId = u32(format.DOC_BLOB_OFFSET);
    return {
      path: this.pathOf(docId),
      blobId: blobId === format.NONE_ID ? undefined : blobId,
      size: u32(format.DOC_SIZE_OFFSET),
      language: this.languageName(this.languageOf(docId)),
      skipReason: this.skipReasonOf(docId),
      tier: this.#view.getUint8(row + format.DOC_TIER_OFFSET),
    };
  }

  // One field of a doc, faster than `doc`.

  pathOf(docId: number): Uint8Array {
    const start = this.#pathStart(docId);
    return this.#bytes.subarray(start, start + this.#pathSize(docId));
  }

  /** Byte order of the paths of two docs, without a view of each. */
  comparePath(docId: number, others: ShardTables, other: number): number {
    const [start, otherStart] = [this.#pathStart(docId), others.#pathStart(other)];
    const [end, otherEnd] = [start + this.#pathSize(docId), otherStart + others.#pathSize(other)];
    return this.#bytes.compare(others.#bytes, otherStart, otherEnd, start, end);
  }

  #pathStart(docId: number): number {
    const offset = this.#view.getUint32(this.#docRow(docId) + format.DOC_PATH_OFFSET, true);
    return this.#start(format.SECTION_PATHS) + offset;
  }

  #pathSize(docId: number): number {
    return this.#view.getUint32(this.#docRow(docId) + format.DOC_PATH_SIZE_OFFSET, true);
  }

  /** Id of the doc whose path has this rank in byte order. */
  docAt(rank: number): number {
    return this.#view.getUint32(this.#start(format.SECTION_PATH_ORDER) + rank * 4, true);
  }

  hasBlob(docId: number): boolean {
    return (
      this.#view.getUint32(this.#docRow(docId) + format.DOC_BLOB_OFFSET, true) !== format.NONE_ID
    );
  }

  skipReasonOf(docId: number): number {
    return this.#view.getUint8(this.#docRow(docId) + format.DOC_SKIP_REASON_OFFSET);
  }

  /** A stored content, as a view, and the first doc that has it. */
  blob(blobId: number): { readonly content: Uint8Array; readonly docId: number } {
    const row = this.#start(format.SECTION_BLOBS) + blobId * format.BLOB_ROW_SIZE;
    const u32 = (offset: number): number => this.#view.getUint32(row + offset, true);
    return {
      content: this.#slice(
        format.SECTION_CONTENT,
        u32(format.BLOB_CONTENT_OFFSET),
        u32(format.BLOB_SIZE_OFFSET),
      ),
      docId: u32(format.BLOB_DOC_OFFSET),
    };
  }

  /** Hexadecimal git object id of a stored content. */
  blobHash(blobId: number): string {
    const size = this.#header(format.HEADER_HASH_SIZE_OFFSET);
    const bytes = this.#slice(format.SECTION_BLOB_HASHES, blobId * size, size);
    return Buffer.from(bytes).toString('hex');
  }

  sizeOf(docId: number): number {
    return this.#view.getUint32(this.#docRow(docId) + format.DOC_SIZE_OFFSET, true);
  }

  languageOf(docId: number): number {
    return this.#view.getUint16(this.#docRow(docId) + format.DOC_LANGUAGE_OFFSET, true);
  }

  languageName(index: number): string {
    const row = this.#start(format.SECTION_LANGUAGES) + index * format.LANGUAGE_ROW_SIZE;
    return this.#name(
      this.#view.getUint32(row + format.LANGUAGE_NAME_OFFSET, true),
      this.#view.getUint32(row + format.LANGUAGE_NAME_SIZE_OFFSET, true),
    );
  }

  repos(): { repoId: number; name: string }[] {
    const { start, size } = this.section(format.SECTION_REPOS);
    const repos = [];
    for (let row = start; row < start + size; row += format.REPO_ROW_SIZE) {
      const nameOffset = this.#view.getUint32(row + format.REPO_NAME_OFFSET, true);
      const nameSize = this.#view.getUint32(row + format.REPO_NAME_SIZE_OFFSET, true);
      const repoId = this.#view.getUint32(row + format.REPO_ID_OFFSET, true);
      repos.push({ repoId, name: this.#name(nameOffset, nameSize) });
    }
    return repos;
  }
}
