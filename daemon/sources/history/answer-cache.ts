// Answers that never change, because their keys name commits by id: the last ones used are kept, up to so many
// bytes, and one that many ask for at a time is made once. Making one ends when nobody waits for it any more.

import { LRUCache } from 'lru-cache';
import { SharedWork } from '../../base/shared-work.ts';

/** Bytes of an entry beside its content: a guess that keeps many small entries from counting as nothing. */
const ENTRY_SIZE = 300;

export interface AnswerCacheOptions {
  /** Bytes of all entries. */
  readonly sizeMax: number;
  /** Larger answers are not kept. */
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
   * @param make  given a signal that is aborted when all who wait have left
   *
   * Errors: what `make` rejects with, which is not kept; the reason of `signal`.
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
