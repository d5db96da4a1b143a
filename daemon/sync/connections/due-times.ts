// Schedules recurring work on the monotonic clock, with jitter, so that simultaneous work spreads out.

/** The interval, up to a tenth shorter or longer. */
const SPREAD = 0.1;

export class DueTimes {
  readonly #intervalMs: () => number;
  /** By id, of performance.now. */
  readonly #due = new Map<number, number>();

  /** @param intervalMs  the current interval */
  constructor(intervalMs: () => number) {
    this.#intervalMs = intervalMs;
  }

  has(id: number): boolean {
    return this.#due.has(id);
  }

  /** It was done now. */
  restart(id: number): void {
    const factor = 1 + SPREAD * (2 * Math.random() - 1);
    this.#due.set(id, performance.now() + factor * this.#intervalMs());
  }

  /**
   * It was done by an earlier process.
   *
   * @param doneAt  milliseconds since the epoch, by a clock that may have been changed; undefined: never
   */
  resume(id: number, doneAt: number | undefined): void {
    const intervalMs = this.#intervalMs();
    const remaining = doneAt === undefined ? 0 : doneAt + intervalMs - Date.now();
    this.#due.set(id, performance.now() + Math.min(Math.max(0, remaining), intervalMs));
  }

  forget(id: number): void {
    this.#due.delete(id);
  }

  /** Returns what is due, and counts it as done now. */
  take(): number[] {
    const nowMs = performance.now();
    const due = [...this.#due].filter(([, dueMs]) => dueMs <= nowMs).map(([id]) => id);
    for (const id of due) this.restart(id);
    return due;
  }
}
