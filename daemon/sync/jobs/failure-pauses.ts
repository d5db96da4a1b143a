// When a repo is tried again whose job failed: after pauses that double, or soon where its source changes meanwhile.
// Nothing else tries again what failed; whoever asks for a job himself does not wait.

/** API.md 20.2: after the first failure, and at most; and up to half as much more, by chance. */
const PAUSE_MS_MIN = 30_000;
const PAUSE_MS_MAX = 3_600_000;
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
  readonly #tryAgain: (repoId: number) => void;
  /** Of repos whose last attempt failed, by repoId. */
  readonly #pauses = new Map<number, Pause>();

  constructor(tryAgain: (repoId: number) => void) {
    this.#tryAgain = tryAgain;
  }

  /** An attempt has failed. */
  begin(repoId: number): void {
    const pauseMs = this.#pauses.get(repoId)?.nextMs ?? PAUSE_MS_MIN;
    this.end(repoId);
    this.#pauses.set(repoId, {
      nextMs: Math.min(2 * pauseMs, PAUSE_MS_MAX),
      failedMs: performance.now(),
      timer: this.#timer(repoId, pauseMs * (1 + Math.random() / 2)),
    });
  }

  /** The source has changed; returns whether the next attempt waits, which it does not for long from now on. */
  shorten(repoId: number): boolean {
    const pause = this.#pauses.get(repoId);
    if (pause?.timer === undefined) return false;
    clearTimeout(pause.timer);
    const pauseMs = pause.failedMs + CHANGED_PAUSE_MS - performance.now();
    pause.timer = this.#timer(repoId, Math.max(0, pauseMs));
    return true;
  }

  #timer(repoId: number, pauseMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#tryAgain(repoId), pauseMs).unref();
  }

  /** The next attempt waits no longer. */
  end(repoId: number): void {
    const pause = this.#pauses.get(repoId);
    clearTimeout(pause?.timer);
    if (pause !== undefined) pause.timer = undefined;
  }

  /** A job ended well, or the repo is gone: nothing has failed any more. */
  forget(repoId: number): void {
    this.end(repoId);
    this.#pauses.delete(repoId);
  }

  /** Nothing is tried again from now on. */
  close(): void {
    for (const repoId of this.#pauses.keys()) this.end(repoId);
  }
}
