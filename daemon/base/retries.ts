// Back-off of failed work: the first retry is immediate, later ones wait, each twice as long. Without it, a build from
// damaged input, or on a machine that damages its output, would repeat forever. After a calm period the back-off restarts.
// Failed jobs wait in the store, after the same pauses: sync/jobs/job-runner.ts.

import type { Log, LogFields } from './log.ts';
import { HOUR_MS } from './durations.ts';

/** The first and the longest pause. Bound: attempts at what keeps failing: one an hour. */
const PAUSE_MS = { min: 1_000, max: HOUR_MS };
/** Guess: after this time without failure, earlier failures are unrelated. */
const CALM_MS = 600_000;

/** The pause after so many failures in a row: the first one is the shortest, each one is twice as long. */
export function backOffMs(
  failures: number,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  return Math.min(min * 2 ** (failures - 1), max);
}

interface Attempts {
  /** Failures so far, if this attempt fails as well. */
  failures: number;
  /** Start of the last attempt, of performance.now; may be in the future. */
  startMs: number;
  timer?: NodeJS.Timeout | undefined;
}

export class Retries {
  readonly #log: Log;
  /** Bound: failures since the start. */
  readonly #attempts = new Map<string, Attempts>();
  #isClosed = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Runs `work` now or after a pause; does nothing if one is pending.
   *
   * @param what  for the log: "WHAT after a pause"
   */
  run(key: string, what: string, fields: LogFields, work: () => void): void {
    const existing = this.#attempts.get(key);
    if (this.#isClosed || existing?.timer !== undefined) return;
    const nowMs = performance.now();
    const pauseMs = backOffMs(existing?.failures ?? 1, PAUSE_MS);
    if (existing === undefined || nowMs > existing.startMs + CALM_MS + pauseMs) {
      this.#attempts.set(key, { failures: 1, startMs: nowMs });
      work();
      return;
    }
    this.#log.warn(`${what} after a pause, because the last attempt did not solve the problem`, {
      ...fields,
      pauseMs,
    });
    existing.startMs = nowMs + pauseMs;
    existing.failures++;
    existing.timer = setTimeout(() => {
      existing.timer = undefined;
      work();
    }, pauseMs).unref();
  }

  isWaiting(key: string): boolean {
    return this.#attempts.get(key)?.timer !== undefined;
  }

  /** Nothing runs from now on. */
  close(): void {
    this.#isClosed = true;
    for (const { timer } of this.#attempts.values()) clearTimeout(timer);
  }
}
