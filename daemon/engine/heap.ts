// Gives memory of the C heap back to the system after large answers: the allocator keeps what it once had, in a
// heap for each thread, and an answer of 20 MB passes through several.
// Measured: 2026-11-21: private memory of the daemon after answers of 29 MB each: 243 MB, and 172 MB with it.

import { findHeapTrim } from './mapping.ts';

/** Bytes; smaller answers leave little behind. */
const LARGE_SIZE = 1 << 20;
/** Guess: so long after the last large answer nobody waits for the next; but under load not later than that. */
const QUIET_MS = 300;
const LATEST_MS = 5000;

export class HeapTrimmer {
  #timer: NodeJS.Timeout | undefined;
  #firstMs = 0;
  trimCount = 0;

  /** Whether a trimming is due. */
  get isWaiting(): boolean {
    return this.#timer !== undefined;
  }

  /** Notes that `size` bytes are needed no more. */
  noteFreed(size: number): void {
    if (size < LARGE_SIZE) return;
    const nowMs = performance.now();
    if (this.#timer === undefined) this.#firstMs = nowMs;
    else clearTimeout(this.#timer);
    const leftMs = Math.max(0, this.#firstMs + LATEST_MS - nowMs);
    this.#timer = setTimeout(() => this.#trim(), Math.min(QUIET_MS, leftMs));
    this.#timer.unref();
  }

  #trim(): void {
    this.#timer = undefined;
    this.trimCount++;
    findHeapTrim()?.();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
