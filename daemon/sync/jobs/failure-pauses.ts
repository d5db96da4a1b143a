// Pauses between attempts for repos or connections whose job failed: they double, but are short if the source has
// changed. Nothing else retries failed jobs; a job requested by a user does not wait. For other retries see
// base/retries.ts.

import { HOUR_MS } from '../../base/durations.ts';

/** API.md 20.2: after the first failure, and at most; plus up to half of it at random. */
const PAUSE_MS_MIN = 30_000;
const PAUSE_MS_MAX = HOUR_MS;
/** Guess: after a failure whose source has changed since, which may have fixed it. */
const CHANGED_PAUSE_MS = 10_000;

interface Pause {
  /** The pause after the next failure. */
  nextMs: number;
  /** When the last attempt failed (performance.now). */
  failedMs: number;
  /** Undefined: an attempt is running, or about to. */
  timer: NodeJS.Timeout | undefined;
}

export class FailurePauses {
  readonly #tryAgain: (id: number) => void;
  /** Repos or connections whose last attempt failed, by id. */
  readonly #pauses = new Map<number, Pause>();

  constructor(tryAgain: (id: number) => void) {
    this.#tryAgain = tryAgain;
  }

  begin(id: number): void {
    const pauseMs = this.#pauses.get(id)?.nextMs ?? PAUSE_MS_MIN;
    this.end(id);
    this.#pauses.set(id, {
      nextMs: Math.min(2 * pauseMs, PAUSE_MS_MAX),
      failedMs: performance.now(),
      timer: this.#timer(id, pauseMs * (1 + Math.random() / 2)),
    });
  }

  /** The source has changed: shortens the pause; returns whether there is one. */
  shorten(id: number): boolean {
    const pause = this.#pauses.get(id);
    if (pause?.timer === undefined) return false;
    clearTimeout(pause.timer);
    const pauseMs = pause.failedMs + CHANGED_PAUSE_MS - performance.now();
    pause.timer = this.#timer(id, Math.max(0, pauseMs));
    return true;
  }

  #timer(id: number, pauseMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#tryAgain(id), pauseMs).unref();
  }

  /** Ends the pause. */
  end(id: number): void {
    const pause = this.#pauses.get(id);
    clearTimeout(pause?.timer);
    if (pause !== undefined) pause.timer = undefined;
  }

  /** A job succeeded, or its target is gone. */
  forget(id: number): void {
    this.end(id);
    this.#pauses.delete(id);
  }

  /** Cancels all retries. */
  close(): void {
    for (const id of this.#pauses.keys()) this.end(id);
  }
}
