// When something that went wrong is made again: at once the first time, then after a pause, which doubles each time.
// Something built from damaged input, or by a machine that damages what it writes, would be built again for ever. What has
// gone well for a while begins anew. Jobs that failed: sync/jobs/failure-pauses.ts.

import type { Log, LogFields } from './log.ts';
import { HOUR_MS } from './durations.ts';

/** Guess: the pause after the first time, and the longest one. */
const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = HOUR_MS;
/** Guess: so long after the last pause what went wrong before has nothing to do with what goes wrong now. */
const CALM_MS = 600_000;

interface Attempts {
  /** That of the next time. */
  pauseMs: number;
  /** When the last attempt began, or begins; of performance.now. */
  startMs: number;
  timer?: NodeJS.Timeout | undefined;
}

export class Retries {
  readonly #log: Log;
  /** Bound: what went wrong since the start. */
  readonly #attempts = new Map<string, Attempts>();
  #isClosed = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Does `work` now, or after a pause; nothing if that is waited for already.
   *
   * @param what  of the log, as in "WHAT after a pause"
   */
  run(key: string, what: string, fields: LogFields, work: () => void): void {
    const known = this.#attempts.get(key);
    if (this.#isClosed || known?.timer !== undefined) return;
    const nowMs = performance.now();
    if (known === undefined || nowMs > known.startMs + CALM_MS + known.pauseMs) {
      this.#attempts.set(key, { pauseMs: PAUSE_MS_MIN, startMs: nowMs });
      work();
      return;
    }
    const { pauseMs } = known;
    this.#log.warn(`${what} after a pause: it was done before, and did not help`, {
      ...fields,
      pauseMs,
    });
    known.startMs = nowMs + pauseMs;
    known.pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX);
    known.timer = setTimeout(() => {
      known.timer = undefined;
      work();
    }, pauseMs).unref();
  }

  isWaiting(key: string): boolean {
    return this.#attempts.get(key)?.timer !== undefined;
  }

  /** Nothing is done from now on. */
  close(): void {
    this.#isClosed = true;
    for (const { timer } of this.#attempts.values()) clearTimeout(timer);
  }
}
