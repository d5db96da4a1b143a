// When a repo, or a connection, is tried again whose job failed: after pauses that double, or soon where its source changes
// meanwhile. Nothing else tries again what failed; whoever asks for a job himself does not wait. What is made again for other
// reasons: base/retries.ts.

import { HOUR_MS } from '../../base/durations.ts';

/** API.md 20.2: after the first failure, and at most; and up to half as much more, by chance. */
const PAUSE_MS_MIN = 30_000;
const PAUSE_MS_MAX = HOUR_MS;
/** Guess: after a failure where the source has changed since, which may have mended it. */
const CHANGED_PAUSE_MS = 10_000;

interface Pause {
  /** The next one after a failure. */
  nextMs: number;
  /** When the last attempt failed (performance.now). */
  failedMs: number;
  /** Undefined: an attempt has begun, or is about to. */
  timer: NodeJS.Timeout | undefined;
}

export class FailurePauses {
  readonly #tryAgain: (id: number) => void;
  /** Of repos or connections whose last attempt failed, by id. */
  readonly #pauses = new Map<number, Pause>();

  constructor(tryAgain: (id: number) => void) {
    this.#tryAgain = tryAgain;
  }

  /** An attempt has failed. */
  begin(id: number): void {
    const pauseMs = this.#pauses.get(id)?.nextMs ?? PAUSE_MS_MIN;
    this.end(id);
    this.#pauses.set(id, {
      nextMs: Math.min(2 * pauseMs, PAUSE_MS_MAX),
      failedMs: performance.now(),
      timer: this.#timer(id, pauseMs * (1 + Math.random() / 2)),
    });
  }

  /** The source has changed; returns whether the next attempt waits, which it does not for long from now on. */
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

  /** The next attempt waits no longer. */
  end(id: number): void {
    const pause = this.#pauses.get(id);
    clearTimeout(pause?.timer);
    if (pause !== undefined) pause.timer = undefined;
  }

  /** A job ended well, or its target is gone: nothing has failed any more. */
  forget(id: number): void {
    this.end(id);
    this.#pauses.delete(id);
  }

  /** Nothing is tried again from now on. */
  close(): void {
    for (const id of this.#pauses.keys()) this.end(id);
  }
}
