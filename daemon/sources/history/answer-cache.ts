// Cache of answers that never change because their keys contain commit ids: least recently used, limited in bytes. An
// answer requested by many at a time is computed once; the computation is aborted when nobody waits for it.

import { LRUCache } from 'lru-cache';
import { SharedWork } from '../../base/shared-work.ts';

/** Bytes of an entry besides its content: a guess, so that many small entries do not count as nothing. */
const ENTRY_SIZE = 300;

export interface AnswerCacheOptions {
  /** Bytes of all entries. */
  readonly sizeMax: number;
  /** Larger answers are not cached. */
  readonly entrySizeMax: number;
}

export class AnswerCache {
  readonly #kept: LRUCache<string, Buffer>;
  readonly #work = new SharedWork<string, Buffer>();

  constructor({ sizeMax, entrySizeMax }: AnswerCacheOptions) {
    this.#kept = new LRUCache({
      maxSize: sizeMax,
      maxEntrySize: entrySizeMax,
      sizeCalculation: (answer, key) => answer.length + key.length + ENTRY_SIZE,
    });
  }

  /**
   * The answer of this key, which the caller must not change.
   *
   * @param make  its signal is aborted when all callers have left
   *
   * Errors: what `make` rejects with, which is not cached; the reason of `signal`.
   */
  async get(
    key: string,
    signal: AbortSignal,
    make: (signal: AbortSignal) => Promise<Buffer>,
  ): Promise<Buffer> {
    signal.throwIfAborted();
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    return await this.#work.get(key, signal, async (end) => {
      const made = await make(end);
      this.#kept.set(key, made);
      return made;
    });
  }
}
