// Retries work while the database reports a conflict with others and no change. The daemon itself waits between attempts,
// so it serves other requests meanwhile.

import { setTimeout } from 'node:timers/promises';
import { backOffMs } from '../base/retries.ts';
import type { Fault } from './engine.ts';
import { StoreError } from './error.ts';

export interface RetryOptions {
  /** Meaning of an error; undefined: it is passed on unchanged. */
  readonly faultOf: (error: unknown) => Fault | undefined;
  readonly timeoutMs: number;
}

/** Result of `run`, which may run more than once. Errors: the fault's error; errors that are not faults. */
export async function retried<Result>(
  run: () => Promise<Result>,
  { faultOf, timeoutMs }: RetryOptions,
): Promise<Result> {
  const start = performance.now();
  for (let failures = 1; ; failures++) {
    const pauseMs = backOffMs(failures, { min: 2, max: 100 });
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
