// Retries work while the database reports a conflict with others and no change. The daemon itself waits between attempts,
// so it serves other requests meanwhile.

import { setTimeout } from 'node:timers/promises';
import type { Fault } from './engine.ts';
import { StoreError } from './error.ts';

/** Milliseconds before the first retry; later ones double, up to the second number. */
const RETRY_MS = 2;
const RETRY_MS_MAX = 100;

export interface RetryOptions {
  /** Meaning of an error; undefined: it is passed on unchanged. */
  readonly faultOf: (error: unknown) => Fault | undefined;
  /** Milliseconds after which the last fault is thrown. */
  readonly timeoutMs: number;
}

/** Result of `run`, which may run more than once. Errors: the fault's error; errors that are not faults. */
export async function retried<Result>(
  run: () => Promise<Result>,
  { faultOf, timeoutMs }: RetryOptions,
): Promise<Result> {
  const start = performance.now();
  for (let pauseMs = RETRY_MS; ; pauseMs = Math.min(pauseMs * 2, RETRY_MS_MAX)) {
    try {
      return await run();
    } catch (error) {
      if (error instanceof StoreError) throw error;
      const fault = faultOf(error);
      if (fault === undefined) throw error;
      const isLate = performance.now() - start + pauseMs > timeoutMs;
      if (!fault.isTransient || isLate) throw fault.error;
    }
    await setTimeout(pauseMs);
  }
}
