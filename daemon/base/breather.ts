// Lets other work of the thread run between pieces of a long synchronous loop.

import { setImmediate } from 'node:timers/promises';

const WORK_MS_MAX = 10;
/** Steps between two looks at the clock. */
const STEP_COUNT = 64;

export class Breather {
  #stepCount = 0;
  #startMs = performance.now();

  /** Call at every step; waits for the event loop when the loop has run for 10 ms. */
  pause(): Promise<void> | undefined {
    this.#stepCount++;
    if (this.#stepCount % STEP_COUNT !== 0) return undefined;
    if (performance.now() - this.#startMs < WORK_MS_MAX) return undefined;
    return this.#yield();
  }

  async #yield(): Promise<void> {
    await setImmediate();
    this.#startMs = performance.now();
  }
}
