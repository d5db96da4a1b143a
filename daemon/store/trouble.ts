// What the database fails with, for readiness and the log: since when an operation failed, until one has written again.
// Nobody may have anything to write once the cause is gone, so a small write is tried now and then meanwhile.

import type { Log } from '../base/log.ts';
import { StoreError } from './error.ts';

/** Guess: between two attempts to write. */
const TRY_PAUSE_MS = 2_000;

export class Trouble {
  readonly #log: Log;
  readonly #tryWrite: () => Promise<void>;
  #reason: string | undefined;
  #nextTry: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param tryWrite  has to write; its outcome is told by `failed` and `wrote` as that of others */
  constructor(log: Log, tryWrite: () => Promise<void>) {
    this.#log = log;
    this.#tryWrite = tryWrite;
  }

  /** In words, without secrets; undefined: there is none. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** An operation ended with this error. */
  failed(error: unknown): void {
    if (this.#isClosed || !(error instanceof StoreError) || error.errorCode !== 'NOT_READY') return;
    if (this.#reason === undefined) this.#log.error('the store fails', { reason: error.message });
    this.#reason = error.message;
    this.#nextTry ??= setTimeout(() => void this.#tryAgain(), TRY_PAUSE_MS).unref();
  }

  /** Errors: none. */
  async #tryAgain(): Promise<void> {
    this.#nextTry = undefined;
    try {
      await this.#tryWrite();
    } catch {
      // It was told as that of others.
    }
  }

  /** Something was written. */
  wrote(): void {
    if (this.#reason === undefined) return;
    this.#reason = undefined;
    this.#log.info('the store works again');
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#nextTry);
  }
}
