// Which job is next: by priority, then in the order of asking; one job a repo at a time, so many at a time in all. What must
// not happen beside a job of a repo waits here too.

import type { Job } from './job.ts';

/** Guess: how long jobs of other repos are held up for one that is under way. */
const PATIENCE_MS = 10_000;

export class JobQueue<Result> {
  readonly #runningMax: () => number;
  /** Called when a job may begin. */
  readonly #onReady: () => void;
  /** Those that may begin, by priority. */
  readonly #ready = new Map<number, Set<Job<Result>>>();
  /** Those that have not begun, by repoId; one that is not ready waits until it is put again. */
  readonly #queued = new Map<number, Job<Result>>();
  readonly #running = new Map<number, Job<Result>>();
  /** Repos no job of which may begin. */
  readonly #held = new Set<number>();
  #onChange: (() => void)[] = [];

  constructor(runningMax: () => number, onReady: () => void) {
    this.#runningMax = runningMax;
    this.#onReady = onReady;
  }

  /** All of them, those that are under way first. */
  get all(): Job<Result>[] {
    return [...this.#running.values(), ...this.#queued.values()];
  }

  /** The job that has been under way for the longest time. */
  get first(): Job<Result> | undefined {
    return this.#running.values().next().value;
  }

  running(repoId: number): Job<Result> | undefined {
    return this.#running.get(repoId);
  }

  /** That which has not begun. */
  queued(repoId: number): Job<Result> | undefined {
    return this.#queued.get(repoId);
  }

  /** Adds a job, or puts it where its priority says now. */
  put(job: Job<Result>): void {
    // Why: who is asked for again keeps the place among its like.
    if (this.#ready.get(job.row.priority)?.has(job) === true) return;
    this.remove(job);
    const { priority } = job.row;
    const same = this.#ready.get(priority) ?? new Set();
    this.#ready.set(priority, same.add(job));
    this.#queued.set(job.repoId, job);
    this.#onReady();
  }

  /** A job that may not begin before it is put again. */
  park(job: Job<Result>): void {
    this.remove(job);
    this.#queued.set(job.repoId, job);
  }

  /** Removes a job that has not begun. */
  remove(job: Job<Result>): void {
    if (this.#queued.get(job.repoId) !== job) return;
    this.#queued.delete(job.repoId);
    for (const jobs of this.#ready.values()) jobs.delete(job);
    this.#tell();
  }

  /** The job that is to begin now, which counts as under way from here on. */
  next(): Job<Result> | undefined {
    if (this.#running.size >= this.#runningMax()) return undefined;
    for (const priority of [...this.#ready.keys()].sort((a, b) => a - b))
      for (const job of this.#ready.get(priority)!) {
        const { repoId } = job;
        if (this.#running.has(repoId) || this.#held.has(repoId)) continue;
        this.remove(job);
        this.#running.set(repoId, job);
        return job;
      }
    return undefined;
  }

  /** A job is under way no more. */
  done({ repoId }: Job<Result>): void {
    this.#running.delete(repoId);
    this.#tell();
    this.#onReady();
  }

  /**
   * Does `work` with those of these repos of which no job is under way; those that are asked for meanwhile begin afterwards.
   * A job that takes long is not waited for, as it would hold up all others.
   */
  async without<Value>(
    repoIds: readonly number[],
    work: (free: ReadonlySet<number>) => Promise<Value>,
  ): Promise<Value> {
    while (repoIds.some((repoId) => this.#held.has(repoId))) await this.#change();
    for (const repoId of repoIds) this.#held.add(repoId);
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort();
      this.#tell();
    }, PATIENCE_MS);
    try {
      const isRunning = (repoId: number): boolean => this.#running.has(repoId);
      while (!late.signal.aborted && repoIds.some(isRunning)) await this.#change();
      return await work(new Set(repoIds.filter((repoId) => !isRunning(repoId))));
    } finally {
      clearTimeout(timer);
      for (const repoId of repoIds) this.#held.delete(repoId);
      this.#tell();
      this.#onReady();
    }
  }

  /** Resolves when no job is under way, and none could begin. */
  async whenIdle(): Promise<void> {
    const isBusy = (): boolean =>
      this.#running.size > 0 || [...this.#ready.values()].some(({ size }) => size > 0);
    while (isBusy()) await this.#change();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#onChange.push(resolve));
  }

  #tell(): void {
    const waiting = this.#onChange;
    this.#onChange = [];
    for (const resolve of waiting) resolve();
  }
}
