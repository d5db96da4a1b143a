// Limits an LRUCache without the preallocation that `max` does (100 bytes an entry). Measured: 2026-11-23, 400,000 unused
// entries cost each start 40 ms.

export interface EntryBound {
  readonly maxSize: number;
  readonly sizeCalculation: () => number;
}

/** At most `max` entries, for the options of an LRUCache. */
export function entryBound(max: number): EntryBound {
  return { maxSize: max, sizeCalculation: () => 1 };
}
