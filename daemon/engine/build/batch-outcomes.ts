// The outcome of each file of a batch, as a build thread reports it. Columns, since V8 keeps the objects of a large message
// for long.

export interface FileOutcome {
  /** Bytes of the content in UTF-8 if it is kept, else of the file; the listed size if reading failed. */
  readonly size: number;
  readonly oid: string;
  readonly language: string;
  readonly languagesThere?: readonly string[];
  /** SKIP_*. */
  readonly skipReason: number;
}

/** By the file's index in the batch. Plain values: may be posted. */
export interface BatchOutcomes {
  readonly sizes: Float64Array;
  readonly skipReasons: Uint8Array;
  /** 1: the content was read, and has an id. */
  readonly areRead: Uint8Array;
  readonly ids: Uint8Array;
  readonly idSize: number;
  /** Indexes into `languageNames`. */
  readonly languages: Uint16Array;
  readonly languagesThere: ReadonlyMap<number, readonly string[]>;
  readonly languageNames: readonly string[];
}

export function packOutcomes(outcomes: readonly FileOutcome[]): BatchOutcomes {
  const names = new Map<string, number>();
  for (const { language } of outcomes) if (!names.has(language)) names.set(language, names.size);
  const idSize = (outcomes.find(({ oid }) => oid !== '')?.oid.length ?? 0) / 2;
  const ids = new Uint8Array(outcomes.length * idSize);
  const languagesThere = new Map<number, readonly string[]>();
  for (const [index, { oid, languagesThere: there = [] }] of outcomes.entries()) {
    if (oid.length === idSize * 2) ids.set(Buffer.from(oid, 'hex'), index * idSize);
    else if (oid !== '') throw new Error('blob ids of two sizes');
    if (there.length > 0) languagesThere.set(index, there);
  }
  return {
    sizes: Float64Array.from(outcomes, ({ size }) => size),
    skipReasons: Uint8Array.from(outcomes, ({ skipReason }) => skipReason),
    areRead: Uint8Array.from(outcomes, ({ oid }) => (oid === '' ? 0 : 1)),
    ids,
    idSize,
    languages: Uint16Array.from(outcomes, ({ language }) => names.get(language)!),
    languagesThere,
    languageNames: [...names.keys()],
  };
}
