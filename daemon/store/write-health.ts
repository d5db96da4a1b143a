// Health of the database, for readiness and the log: failing from the first failed operation until a write succeeds. While
// it fails, a small write is tried every 2 s, so that recovery is noticed without traffic.

import type { Log } from '../base/log.ts';
import { StoreError } from './error.ts';

/** Bound: delay until recovery is noticed, and load of a store that fails. */
const TRY_PAUSE_MS = 2_000;

export class WriteHealth {
  readonly #log: Log;
  readonly #tryWrite: () => Promise<void>;
  #reason: string | undefined;
  #nextTry: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param tryWrite  must write; `failed` and `wrote` are called with its outcome as for other operations */
  constructor(log: Log, tryWrite: () => Promise<void>) {
    this.#log = log;
    this.#tryWrite = tryWrite;
  }

  /** As text, without secrets; undefined: healthy. */
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
      // `failed` was called already.
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
