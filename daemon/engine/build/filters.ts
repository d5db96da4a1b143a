// Decides which docs are indexed by name only (API.md 20.4): too large, or binary. The core finds docs with too many distinct
// trigrams while it reads them; `trigramCountMax` is its limit.

import { compileGlobs, type PathTest } from '../../sources/disk/globs.ts';
import { CONTENT_SIZE_MAX } from '../host/builder.ts';

/**
 * Part of the fingerprint of a repository: raise it when a build makes other docs of the same files, and all are built again.
 * 2: UTF-16, modelines; 3: languages by each doc's path; 4: a byte order mark is not in line 1.
 */
export const DOC_RULES_VERSION = 4;

export interface FilterSettings {
  /** Bytes, inclusive. */
  readonly maxFileSize: number;
  /** Distinct trigrams a doc, inclusive; 0 = no limit. */
  readonly maxTrigramCount: number;
  /** Globs that lift both limits, up to CONTENT_SIZE_MAX; `!` negates, the last match decides. */
  readonly alwaysIndexFilePatterns: readonly string[];
}

export class DocFilter {
  readonly #settings: FilterSettings;
  readonly #isAlwaysIndexed: PathTest;

  constructor(settings: FilterSettings) {
    this.#settings = settings;
    this.#isAlwaysIndexed = compileGlobs(settings.alwaysIndexFilePatterns);
  }

  /** Called with the listed size, and with the size read, since a file may grow. */
  isTooLarge(path: string, size: number): boolean {
    return (
      size > CONTENT_SIZE_MAX || (size > this.#settings.maxFileSize && !this.#isAlwaysIndexed(path))
    );
  }

  trigramCountMax(path: string): number {
    return this.#isAlwaysIndexed(path) ? 0 : this.#settings.maxTrigramCount;
  }
}

/** Whether the content has a NUL byte. Cost: memory speed (`memchr`) for a Buffer. */
export function isBinary(bytes: Uint8Array): boolean {
  return Buffer.prototype.indexOf.call(bytes, 0) >= 0;
}
