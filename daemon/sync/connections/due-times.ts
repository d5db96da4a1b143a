// Schedules recurring work on the monotonic clock, with jitter, so that simultaneous work spreads out.

export class DueTimes {
  readonly #intervalMs: () => number;
  /** By id, of performance.now. */
  readonly #due = new Map<number, number>();

  constructor(intervalMs: () => number) {
    this.#intervalMs = intervalMs;
  }

  has(id: number): boolean {
    return this.#due.has(id);
  }

  restart(id: number): void {
    // Up to a tenth earlier or later.
    const factor = 0.9 + 0.2 * Math.random();
    this.#due.set(id, performance.now() + factor * this.#intervalMs());
  }

  /** @param doneAt  when an earlier process did the work, by a clock that may have changed since; undefined: never */
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
