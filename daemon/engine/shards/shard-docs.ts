// The docs of a shard to be written, as columns: objects would take ten times the memory.

import { NONE_ID } from '../../../core/shared/format.ts';

export interface ShardDoc {
  readonly path: Uint8Array;
  /** Stored content, undefined for empty and skipped docs. */
  readonly blobId: number | undefined;
  /** Bytes of the file. */
  readonly size: number;
  /** Name of its language, "" if unknown. */
  readonly language: string;
  /** SKIP_*. */
  readonly skipReason: number;
  readonly tier: number;
}

/** Columns by docId. Plain values: may be posted to a thread, and their buffers transferred. */
export interface DocColumns {
  readonly count: number;
  /** The paths, concatenated, and the end of each. */
  readonly paths: Uint8Array;
  readonly pathEnds: Uint32Array;
  /** NONE_ID: no stored content. */
  readonly blobIds: Uint32Array;
  /** 0xffffffff: that or more. */
  readonly sizes: Uint32Array;
  /** Indexes into `languageNames`, which are in the order of their first docs. */
  readonly languages: Uint16Array;
  readonly languageNames: readonly string[];
  readonly skipReasons: Uint8Array;
  readonly tiers: Uint8Array;
}

export class ShardDocs {
  readonly #columns: Omit<DocColumns, 'count' | 'paths' | 'languageNames'>;
  readonly #languages = new Map<string, number>();
  #paths: Uint8Array;
  #pathsSize = 0;
  #count = 0;

  constructor(capacity: number) {
    // Grows where paths are longer.
    this.#paths = new Uint8Array(capacity * 48);
    this.#columns = {
      pathEnds: new Uint32Array(capacity),
      blobIds: new Uint32Array(capacity),
      sizes: new Uint32Array(capacity),
      languages: new Uint16Array(capacity),
      skipReasons: new Uint8Array(capacity),
      tiers: new Uint8Array(capacity),
    };
  }

  static of(docs: readonly ShardDoc[]): DocColumns {
    const all = new ShardDocs(docs.length);
    for (const doc of docs) all.add(doc);
    return all.columns();
  }

  get count(): number {
    return this.#count;
  }

  add({ path, blobId, size, language, skipReason, tier }: ShardDoc): void {
    const docId = this.#count++;
    this.#addPath(path);
    this.#columns.pathEnds[docId] = this.#pathsSize;
    this.#columns.blobIds[docId] = blobId ?? NONE_ID;
    this.#columns.sizes[docId] = Math.min(size, 0xffffffff);
    this.#columns.languages[docId] = this.#languageOf(language);
    this.#columns.skipReasons[docId] = skipReason;
    this.#columns.tiers[docId] = tier;
  }

  #addPath(path: Uint8Array): void {
    const end = this.#pathsSize + path.length;
    if (end > this.#paths.length) {
      const grown = new Uint8Array(Math.ceil(end * 1.5));
      grown.set(this.#paths.subarray(0, this.#pathsSize));
      this.#paths = grown;
    }
    this.#paths.set(path, this.#pathsSize);
    this.#pathsSize = end;
  }

  #languageOf(name: string): number {
    let index = this.#languages.get(name);
    if (index === undefined) {
      index = this.#languages.size;
      this.#languages.set(name, index);
    }
    return index;
  }

  /** Gives its memory away. */
  columns(): DocColumns {
    const count = this.#count;
    const { pathEnds, blobIds, sizes, languages, skipReasons, tiers } = this.#columns;
    return {
      count,
      paths: this.#paths.subarray(0, this.#pathsSize),
      pathEnds: pathEnds.subarray(0, count),
      blobIds: blobIds.subarray(0, count),
      sizes: sizes.subarray(0, count),
      languages: languages.subarray(0, count),
      languageNames: [...this.#languages.keys()],
      skipReasons: skipReasons.subarray(0, count),
      tiers: tiers.subarray(0, count),
    };
  }
}
