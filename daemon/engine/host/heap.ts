// Returns memory to the system: trims the C heap after large answers, and collects garbage once when the thread is idle, as
// JavaScript collects only on allocation. Measured: private memory after answers of 29 MB: 172 MB instead of 243; after 20 s
// of queries of 1,900 expressions: 148 MB instead of 343.

import { readFileSync } from 'node:fs';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import { collectGarbage, COLLECT_ROUNDS } from './collect.ts';
import { findHeapTrim } from './mapping.ts';
import type { ThreadMemory } from './search-messages.ts';

/** Smaller answers leave little garbage. */
const LARGE_SIZE = 1 << 20;
/** Guess: after QUIET_MS no further large answer is expected. LATEST_MS: longest delay under load. */
const QUIET_MS = 300;
const LATEST_MS = 5000;
/** While the thread works or has something to collect. */
const CHECK_MS = 1000;
/** Growth of the old generation, in bytes, that makes a collection worthwhile. */
const GROWTH_MIN = 16 << 20;

export interface HeapProbe {
  /** Bytes of this thread outside the young generation, buffers included. */
  oldSize(): number;
  /** Anonymous memory of the process in bytes, with the unused C heap. */
  privateSize(): number;
  /** Share of the time since the last call that the thread worked. */
  busyShare(): number;
}

export class HeapTrimmer {
  readonly #checkMs: number;
  readonly #probe: HeapProbe;
  #trimTimer: NodeJS.Timeout | undefined;
  #firstMs = 0;
  #collectTimer: NodeJS.Timeout | undefined;
  /** Lowest bytes since the last collection. */
  #restSize: number;
  #restPrivateSize: number;
  #quietChecks = 0;
  trimCount = 0;
  collectCount = 0;

  constructor(probe: HeapProbe = realProbe(), checkMs = CHECK_MS) {
    this.#checkMs = checkMs;
    this.#probe = probe;
    const size = probe.oldSize();
    // Guess: up to this size the garbage of a start is worth a collection.
    this.#restSize = size > 48 * 2 ** 20 ? size : 0;
    this.#restPrivateSize = probe.privateSize();
  }

  get isWaiting(): boolean {
    return this.#trimTimer !== undefined;
  }

  /** An answer of `size` bytes was freed. */
  noteFreed(size: number): void {
    if (size >= LARGE_SIZE) this.#trimSoon();
    this.#collectTimer ??= setTimeout(() => this.#check(), this.#checkMs).unref();
  }

  /**
   * Threads have built something, so their C heaps have free memory. Measured: 5,000 small repositories: a third of the
   * private memory, for 5 ms each 5 s.
   */
  noteBuilt(): void {
    this.noteFreed(LARGE_SIZE);
  }

  #check(): void {
    this.#collectTimer = undefined;
    const size = this.#probe.oldSize();
    const privateSize = this.#probe.privateSize();
    this.#restSize = Math.min(this.#restSize, size);
    this.#restPrivateSize = Math.min(this.#restPrivateSize, privateSize);
    const growth = size - this.#restSize;
    const privateGrowth = privateSize - this.#restPrivateSize;
    // Guess: a busy thread's V8 collects before that.
    const isMuch = Math.max(growth, privateGrowth) >= 48 * 2 ** 20;
    // Share of time at work below which the thread counts as idle.
    const shareMax = isMuch ? 0.3 : 0.1;
    this.#quietChecks = this.#probe.busyShare() <= shareMax ? this.#quietChecks + 1 : 0;
    if (growth < GROWTH_MIN && privateGrowth < GROWTH_MIN) return;
    // A collection stops the event loop. Measured: 95 to 195 ms for 60 MB of live objects.
    if (this.#quietChecks < 5) this.noteFreed(0);
    else this.#collect(growth < GROWTH_MIN ? 0 : COLLECT_ROUNDS);
  }

  #trimSoon(): void {
    const nowMs = performance.now();
    if (this.#trimTimer === undefined) this.#firstMs = nowMs;
    else clearTimeout(this.#trimTimer);
    const remainingMs = Math.max(0, this.#firstMs + LATEST_MS - nowMs);
    this.#trimTimer = setTimeout(() => this.#trim(), Math.min(QUIET_MS, remainingMs)).unref();
  }

  #trim(): void {
    this.#trimTimer = undefined;
    this.trimCount++;
    findHeapTrim()?.();
    this.#restPrivateSize = this.#probe.privateSize();
  }

  #collect(roundCount: number): void {
    if (roundCount > 0) {
      collectGarbage();
      this.#collectTimer = setTimeout(() => this.#collect(roundCount - 1), QUIET_MS).unref();
      return;
    }
    this.#collectTimer = undefined;
    this.#restSize = this.#probe.oldSize();
    this.collectCount++;
    // Collected buffers are now free in the C heap.
    this.#trimSoon();
  }

  close(): void {
    clearTimeout(this.#trimTimer);
    clearTimeout(this.#collectTimer);
    this.#trimTimer = undefined;
    this.#collectTimer = undefined;
  }
}

export function realProbe(): HeapProbe {
  let last = performance.eventLoopUtilization();
  return {
    oldSize() {
      const { external } = process.memoryUsage();
      const spaces = getHeapSpaceStatistics().filter(
        ({ space_name: name }) => !name.startsWith('new_'),
      );
      return spaces.reduce((sum, { space_size: size }) => sum + size, external);
    },
    privateSize: privateSizeOfProcess,
    busyShare() {
      const { utilization } = performance.eventLoopUtilization(last);
      last = performance.eventLoopUtilization();
      return utilization;
    },
  };
}

/** Memory not shared with files; 0 where unknown. Measured: 30 us. */
export function privateSizeOfProcess(): number {
  try {
    const [, count] =
      /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    return Number(count ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** Of the calling thread, which has these searchers. */
export function memoryOfThread(searchers: readonly { readonly coreSize: number }[]): ThreadMemory {
  const core = searchers.reduce((sum, { coreSize }) => sum + coreSize, 0);
  return { heap: getHeapStatistics().total_heap_size, core };
}
