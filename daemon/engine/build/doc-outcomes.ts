// The outcome of each doc of a shard under construction, and the docs that share a stored content: same blob and language,
// since symbols depend on both. Columns in the order of the plan: objects would take gigabytes.

import { SKIP_NONE, SKIP_TOO_LARGE } from '../../../core/shared/format.ts';
import { detectLanguage } from '../../sources/languages/languages.ts';
import type { ShardDoc } from '../shards/shard-docs.ts';
import type { BatchOutcomes } from './build-messages.ts';
import type { PlannedDocs, PlannedShard } from './build-plan.ts';

/** No such doc, or no stored content yet. */
const NONE = 0xffffffff;
/** The content of a batch whose position is not known yet. */
const PENDING = 0xfffffffe;
const NO_DOCS: readonly number[] = [];

/** Docs are numbered as in the plan, within the shard's range. */
export class DocOutcomes {
  readonly #plan: PlannedDocs;
  readonly #docStart: number;
  /** 1: the doc has been read, so its content is known. By index in the shard, like the columns below. */
  readonly #areRead: Uint8Array;
  readonly #sizes: Uint32Array;
  readonly #skipReasons: Uint8Array;
  readonly #languages: Uint16Array;
  readonly #languageNames: string[] = [];
  readonly #languageIndexes = new Map<string, number>();
  /** Before reading: the doc that is read for each; after: the representative of its stored content. */
  readonly #contents: Uint32Array;
  /** The next index with the same content, as listed. */
  readonly #nexts: Uint32Array;
  /** By index of the representative: the content's blobId, or why it is not stored. */
  readonly #blobIds: Uint32Array;
  readonly #refusals: Uint8Array;
  readonly #table: ContentTable;
  /** The language that `.gitattributes` gives a doc; undefined: none. */
  readonly #ruledLanguageOf: (doc: number) => string | undefined;
  /** Ids missing from the listing, concatenated; undefined until one is found. */
  #foundIds: Uint8Array | undefined;
  #foundIdSize = 0;

  constructor(
    plan: PlannedDocs,
    { docStart, docEnd }: PlannedShard,
    ruledLanguageOf: (doc: number) => string | undefined,
  ) {
    const count = docEnd - docStart;
    this.#plan = plan;
    this.#docStart = docStart;
    this.#areRead = new Uint8Array(count);
    this.#sizes = new Uint32Array(count);
    this.#skipReasons = new Uint8Array(count);
    this.#languages = new Uint16Array(count);
    this.#contents = new Uint32Array(count);
    this.#nexts = new Uint32Array(count).fill(NONE);
    this.#blobIds = new Uint32Array(count).fill(NONE);
    this.#refusals = new Uint8Array(count);
    this.#ruledLanguageOf = ruledLanguageOf;
    this.#table = new ContentTable(
      count,
      (position) => this.#idAt(position)!,
      (position) => this.#languages[position]!,
    );
    this.#joinListed();
  }

  #joinListed(): void {
    const count = this.#contents.length;
    const listed = new ContentTable(
      count,
      (position) => this.#listedId(position)!,
      () => 0,
    );
    const lasts = new Map<number, number>();
    for (let position = 0; position < count; position++) {
      this.#contents[position] = position;
      const isTooLarge = this.#plan.areTooLarge[this.#docStart + position] === 1;
      if (isTooLarge || this.#listedId(position) === undefined) continue;
      const first = listed.firstOf(position);
      if (first === position) continue;
      this.#contents[position] = first;
      this.#nexts[lasts.get(first) ?? first] = position;
      lasts.set(first, position);
    }
  }

  #listedId(position: number): Uint8Array | undefined {
    return this.#plan.files.idOf(this.#plan.fileIndexes[this.#docStart + position]!);
  }

  #idAt(position: number): Uint8Array | undefined {
    const listed = this.#listedId(position);
    if (listed !== undefined || this.#areRead[position] === 0) return listed;
    return this.#foundIds?.subarray(
      position * this.#foundIdSize,
      (position + 1) * this.#foundIdSize,
    );
  }

  /** Blob id of a doc, a view; undefined: unknown so far. */
  idOf(doc: number): Uint8Array | undefined {
    return this.#idAt(doc - this.#docStart);
  }

  /** The docs of a range to read: without too large ones, and without those whose content another doc reads. */
  docsToRead(docStart: number, docEnd: number): number[] {
    const docs: number[] = [];
    for (let doc = docStart; doc < docEnd; doc++) {
      const position = doc - this.#docStart;
      // A content read for docs of several languages has several representatives.
      const isRead = this.#contents[position] !== position || this.#areRead[position] === 1;
      if (this.#plan.areTooLarge[doc] === 0 && !isRead) docs.push(doc);
    }
    return docs;
  }

  /** The other docs listed with the same content as a doc to read. */
  docsAlike(doc: number): readonly number[] {
    let next = this.#nexts[doc - this.#docStart]!;
    if (next === NONE) return NO_DOCS;
    const docs: number[] = [];
    for (; next !== NONE; next = this.#nexts[next]!) docs.push(this.#docStart + next);
    return docs;
  }

  /** Records the outcome of a doc that was read; returns the docs, itself included, whose contents are new and to be stored. */
  note(doc: number, outcomes: BatchOutcomes, index: number): number[] {
    const { sizes, skipReasons, areRead, ids, idSize, languages, languageNames } = outcomes;
    const language = languageNames[languages[index]!]!;
    const there = outcomes.languagesThere.get(index);
    const all = [doc, ...this.docsAlike(doc)];
    for (const [nth, one] of all.entries())
      this.#noteOne(one, outcomes, index, nth === 0 ? language : (there?.[nth - 1] ?? language));
    if (areRead[index] === 0) return [];
    const position = doc - this.#docStart;
    if (this.#listedId(position) === undefined)
      this.#noteId(position, ids.subarray(index * idSize, (index + 1) * idSize));
    for (const one of all) {
      const index = one - this.#docStart;
      this.#contents[index] = this.#table.firstOf(index);
    }
    if (sizes[index] === 0 || skipReasons[index] !== SKIP_NONE) return [];
    return all.filter((one) => this.#isNew(one));
  }

  /** Whether the content of a doc is neither stored nor refused; marks it as to be stored. */
  #isNew(doc: number): boolean {
    const content = this.#contents[doc - this.#docStart]!;
    if (this.#blobIds[content] !== NONE || this.#refusals[content] !== SKIP_NONE) return false;
    this.#blobIds[content] = PENDING;
    return true;
  }

  #noteOne(
    doc: number,
    { sizes, skipReasons, areRead }: BatchOutcomes,
    index: number,
    language: string,
  ): void {
    const position = doc - this.#docStart;
    this.#areRead[position] = areRead[index]!;
    this.#sizes[position] = Math.min(sizes[index]!, NONE);
    this.#skipReasons[position] = skipReasons[index]!;
    this.#languages[position] = this.#languageIndex(this.#ruledLanguageOf(doc) ?? language);
  }

  #languageIndex(language: string): number {
    let index = this.#languageIndexes.get(language);
    if (index === undefined) {
      index = this.#languageNames.push(language) - 1;
      this.#languageIndexes.set(language, index);
    }
    return index;
  }

  #noteId(position: number, id: Uint8Array): void {
    if (this.#foundIds === undefined) {
      this.#foundIdSize = id.length;
      this.#foundIds = new Uint8Array(this.#areRead.length * id.length);
    }
    if (id.length !== this.#foundIdSize) throw new Error('blob ids of two sizes');
    this.#foundIds.set(id, position * id.length);
  }

  store(doc: number, blobId: number): void {
    this.#blobIds[this.#contents[doc - this.#docStart]!] = blobId;
  }

  refuse(doc: number, skipReason: number): void {
    const content = this.#contents[doc - this.#docStart]!;
    this.#blobIds[content] = NONE;
    this.#refusals[content] = skipReason;
  }

  /** A doc as written to the shard; undefined: it vanished, or could not be read. */
  shardDoc(doc: number): ShardDoc | undefined {
    const { files, fileIndexes, tiers, areTooLarge } = this.#plan;
    const file = fileIndexes[doc]!;
    const position = doc - this.#docStart;
    const tier = tiers[doc]!;
    if (areTooLarge[doc] === 1) {
      const language =
        this.#ruledLanguageOf(doc) ?? detectLanguage(files.pathOf(file), new Uint8Array());
      const [path, size] = [files.pathBytesOf(file), files.sizeOf(file)];
      return { path, blobId: undefined, size, language, skipReason: SKIP_TOO_LARGE, tier };
    }
    if (this.#areRead[position] === 0) return undefined;
    const content = this.#contents[position]!;
    const refusal = this.#refusals[content]!;
    const skipReason = refusal === SKIP_NONE ? this.#skipReasons[position]! : refusal;
    const blobId = this.#blobIds[content]!;
    return {
      path: files.pathBytesOf(file),
      blobId: skipReason === SKIP_NONE && blobId !== NONE ? blobId : undefined,
      size: this.#sizes[position]!,
      language: this.#languageNames[this.#languages[position]!]!,
      skipReason,
      tier,
    };
  }

  blobHashes(blobCount: number): [Uint8Array, number] {
    let hashes: Uint8Array | undefined;
    let idSize = 20;
    for (const [position, blobId] of this.#blobIds.entries()) {
      if (blobId === NONE) continue;
      const id = this.#idAt(position)!;
      hashes ??= new Uint8Array(blobCount * (idSize = id.length));
      if (id.length !== idSize) throw new Error('blob ids of two sizes');
      hashes.set(id, blobId * idSize);
    }
    return [hashes ?? new Uint8Array(), idSize];
  }
}

/** Finds indexes with equal blob id and language, hashed by the start of the id, which is as good as random. */
class ContentTable {
  readonly #idAt: (position: number) => Uint8Array;
  readonly #languageAt: (position: number) => number;
  /** NONE: free. */
  readonly #slots: Uint32Array;

  constructor(
    count: number,
    idAt: (position: number) => Uint8Array,
    languageAt: (position: number) => number,
  ) {
    this.#idAt = idAt;
    this.#languageAt = languageAt;
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(count * 2 + 2))).fill(NONE);
  }

  /** The first index added with this one's id and language; itself, if none was before. */
  firstOf(position: number): number {
    const id = this.#idAt(position);
    const language = this.#languageAt(position);
    const mask = this.#slots.length - 1;
    let slot = (id[0]! | (id[1]! << 8) | (id[2]! << 16) | (id[3]! << 24)) & mask;
    for (;;) {
      const other = this.#slots[slot]!;
      if (other === NONE) {
        this.#slots[slot] = position;
        return position;
      }
      const isSame =
        other === position ||
        (this.#languageAt(other) === language && Buffer.compare(this.#idAt(other), id) === 0);
      if (isSame) return other;
      slot = (slot + 1) & mask;
    }
  }
}
