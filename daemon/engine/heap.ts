// Gives memory back to the system after large answers. The C heap keeps what it once had, one for each thread, and an
// answer of 20 MB passes through several; so it is trimmed. JavaScript collects only when something is allocated,
// so a thread that rests after much work keeps all that it has left behind; so it is collected, once, in quiet.
// Measured: 2026-11-21: private memory of the daemon after answers of 29 MB each: 243 MB, and 172 MB with it.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { findHeapTrim } from './mapping.ts';

/** Bytes; smaller answers leave little behind. */
const LARGE_SIZE = 1 << 20;
/** Guess: so long after the last large answer nobody waits for the next; but under load not later than that. */
const QUIET_MS = 300;
const LATEST_MS = 5000;
/**
 * Collecting stops the event loop.
 * Measured: 2026-11-22, 60 MB that live, a busy machine: 95 to 195 ms.
 */
const COLLECT_QUIET_MS = 5000;
/** How many times as large as after the last collection the heap must be. */
const COLLECT_RATIO_MIN = 1.15;
/** Why two: the pages that one empties are given back by the next. */
const COLLECT_ROUNDS = 2;

export class HeapTrimmer {
  readonly #collectQuietMs: number;
  #trimTimer: NodeJS.Timeout | undefined;
  #firstMs = 0;
  #collectTimer: NodeJS.Timeout | undefined;
  /** Bytes of the heap at the start, or after the last collection. */
  #restSize = process.memoryUsage().heapTotal;
  trimCount = 0;
  collectCount = 0;

  /** @param collectQuietMs  for tests: another time without large answers before memory is collected */
  constructor(collectQuietMs = COLLECT_QUIET_MS) {
    this.#collectQuietMs = collectQuietMs;
  }

  /** Whether a trimming is due. */
  get isWaiting(): boolean {
    return this.#trimTimer !== undefined;
  }

  /** Notes that `size` bytes are needed no more. */
  noteFreed(size: number): void {
    if (size < LARGE_SIZE) return;
    this.#trimSoon();
    this.#collectIn(this.#collectQuietMs, () => {
      const isGrown = process.memoryUsage().heapTotal > COLLECT_RATIO_MIN * this.#restSize;
      if (isGrown) this.#collect(COLLECT_ROUNDS);
    });
  }

  #collectIn(ms: number, collect: () => void): void {
    clearTimeout(this.#collectTimer);
    this.#collectTimer = setTimeout(collect, ms).unref();
  }

  #trimSoon(): void {
    const nowMs = performance.now();
    if (this.#trimTimer === undefined) this.#firstMs = nowMs;
    else clearTimeout(this.#trimTimer);
    const leftMs = Math.max(0, this.#firstMs + LATEST_MS - nowMs);
    this.#trimTimer = setTimeout(() => this.#trim(), Math.min(QUIET_MS, leftMs)).unref();
  }

  #trim(): void {
    this.#trimTimer = undefined;
    this.trimCount++;
    findHeapTrim()?.();
  }

  #collect(roundCount: number): void {
    if (roundCount > 0) {
      collectGarbage();
      this.#collectIn(QUIET_MS, () => this.#collect(roundCount - 1));
      return;
    }
    this.#restSize = process.memoryUsage().heapTotal;
    this.collectCount++;
    // The buffers that were collected are free in the C heap.
    this.#trimSoon();
  }

  close(): void {
    clearTimeout(this.#trimTimer);
    clearTimeout(this.#collectTimer);
    this.#trimTimer = undefined;
    this.#collectTimer = undefined;
  }
}

let collector: (() => void) | undefined;

/** Why like this: the flag would else have to stand on the command line of whoever starts the daemon. */
function collectGarbage(): void {
  if (collector === undefined) {
    setFlagsFromString('--expose-gc');
    const found: unknown = runInNewContext('gc');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Safety: V8's own, which may be called without arguments
    if (typeof found === 'function') collector = found as () => void;
  }
  collector?.();
}
