// Decides which docs are indexed by name only (API.md 20.4): too large, or binary. That a doc has
// too many distinct trigrams is found by the core while it reads the content, with the limit that
// `trigramCountMax` gives.

import { compileGlobs, type PathTest } from './globs.ts';

export type SkipReason = 'too_large' | 'binary' | 'too_many_trigrams';

export interface FilterSettings {
  /** Bytes, inclusive. */
  readonly maxFileSize: number;
  /** Distinct trigrams a doc, inclusive. */
  readonly maxTrigramCount: number;
  /** Globs over paths that lift both limits; `!` takes back, the last that matches decides. */
  readonly alwaysIndexFilePatterns: readonly string[];
}

export class DocFilter {
  readonly #settings: FilterSettings;
  readonly #isAlwaysIndexed: PathTest;

  constructor(settings: FilterSettings) {
    this.#settings = settings;
    this.#isAlwaysIndexed = compileGlobs(settings.alwaysIndexFilePatterns);
  }

  /** Before the content is read: whether the doc is too large, by the size that was listed. */
  skipReasonOfSize(path: string, size: number): SkipReason | undefined {
    if (size <= this.#settings.maxFileSize || this.#isAlwaysIndexed(path)) return undefined;
    return 'too_large';
  }

  /**
   * With the content at hand. A file may have grown since it was listed, so its size is looked at
   * again.
   */
  skipReasonOfContent(path: string, bytes: Uint8Array): SkipReason | undefined {
    return this.skipReasonOfSize(path, bytes.length) ?? (isBinary(bytes) ? 'binary' : undefined);
  }

  /** Limit of distinct trigrams for this doc; undefined: none. */
  trigramCountMax(path: string): number | undefined {
    return this.#isAlwaysIndexed(path) ? undefined : this.#settings.maxTrigramCount;
  }
}

/** Whether the content holds a NUL byte, anywhere. Cost: memory speed (`memchr`) for a Buffer. */
export function isBinary(bytes: Uint8Array): boolean {
  return Buffer.prototype.indexOf.call(bytes, 0) >= 0;
}
