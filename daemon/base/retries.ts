// Back-off of failed work: the first retry is immediate, later ones wait, each twice as long. Without it, a build from
// damaged input, or on a machine that damages its output, would repeat forever. After a calm period the back-off restarts.
// Failed jobs: sync/jobs/failure-pauses.ts.

import type { Log, LogFields } from './log.ts';
import { HOUR_MS } from './durations.ts';

/** The first and the longest pause. Bound: attempts at what keeps failing: one an hour. */
const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = HOUR_MS;
/** Guess: after this time without failure, earlier failures are unrelated. */
const CALM_MS = 600_000;

interface Attempts {
  /** The next pause. */
  pauseMs: number;
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
    if (existing === undefined || nowMs > existing.startMs + CALM_MS + existing.pauseMs) {
      this.#attempts.set(key, { pauseMs: PAUSE_MS_MIN, startMs: nowMs });
      work();
      return;
    }
    const { pauseMs } = existing;
    this.#log.warn(`${what} after a pause: an earlier attempt did not help`, {
      ...fields,
      pauseMs,
    });
    existing.startMs = nowMs + pauseMs;
    existing.pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX);
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
