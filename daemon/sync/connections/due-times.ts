// When what is done again and again is due next: by a clock that nobody sets, spread, so that what came together does not stay
// together.

/** The interval, up to a tenth shorter or longer. */
const SPREAD = 0.1;

export class DueTimes {
  readonly #intervalMs: () => number;
  /** By id, of performance.now. */
  readonly #due = new Map<number, number>();

  /** @param intervalMs  as it is now */
  constructor(intervalMs: () => number) {
    this.#intervalMs = intervalMs;
  }

  has(id: number): boolean {
    return this.#due.has(id);
  }

  /** Was done now. */
  restart(id: number): void {
    const factor = 1 + SPREAD * (2 * Math.random() - 1);
    this.#due.set(id, performance.now() + factor * this.#intervalMs());
  }

  /**
   * Was done by a process before this one.
   *
   * @param doneAt  milliseconds since the epoch, by a clock that may have been set since; undefined: never
   */
  resume(id: number, doneAt: number | undefined): void {
    const intervalMs = this.#intervalMs();
    const left = doneAt === undefined ? 0 : doneAt + intervalMs - Date.now();
    this.#due.set(id, performance.now() + Math.min(Math.max(0, left), intervalMs));
  }

  forget(id: number): void {
    this.#due.delete(id);
  }

  /** Those that are due, which count as done now. */
  take(): number[] {
    const nowMs = performance.now();
    const due = [...this.#due].filter(([, dueMs]) => dueMs <= nowMs).map(([id]) => id);
    for (const id of due) this.restart(id);
    return due;
  }
}
