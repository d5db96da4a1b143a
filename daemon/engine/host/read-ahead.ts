// Has the system read ahead of scans of pages that are not in memory. For pages in memory the call is wasted, and takes a
// tenth of the time of their scan (1 MiB: 16 us); so one of every few ranges is probed first.

import { isInMemory, willNeed } from './mapping.ts';

/** Ranges that one probe stands for. Measured: 2026-11-22: a probe takes 4 us. */
const RANGES_PER_STEP = 4;

export class ReadAhead {
  readonly #memory: WebAssembly.Memory;
  #count = 0;
  #isCold = false;

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
  }

  /** The range will be read soon. */
  expect(address: number, size: number): void {
    if (this.#count % RANGES_PER_STEP === 0) this.#isCold = !isInMemory(this.#memory, address);
    this.#count++;
    if (this.#isCold) willNeed(this.#memory, address, size);
  }
}
