// Which job of a queue is next: by priority, then in the order of asking; one job a target (a repo, a connection) at a time, so
// many at a time in all. What must not happen beside a job of a target waits here too.

import type { Job } from './job.ts';

/** Guess: how long jobs of other targets are held up for one that is under way. */
const PATIENCE_MS = 10_000;

/** Guess: jobs that only wait, for each that may run; they may all go on at once. */
const IDLE_PER_PLACE = 3;

export interface JobQueueOptions<Target> {
  /** Jobs at a time. */
  readonly runningMax: () => number;
  /** Whether the job of a target has to wait, although there is a place. */
  readonly isHeldUp: (target: Target) => boolean;
  /** Whether the job of a target is under way, but takes no place. */
  readonly isIdle: (targetId: number) => boolean;
  /** Called when a job may begin. */
  readonly onReady: () => void;
}

export class JobQueue<Target, Result> {
  readonly #options: JobQueueOptions<Target>;
  /** Those that may begin, by priority. */
  readonly #ready = new Map<number, Set<Job<Target, Result>>>();
  /** Those that have not begun, by targetId; one that is not ready waits until it is put again. */
  readonly #queued = new Map<number, Job<Target, Result>>();
  readonly #running = new Map<number, Job<Target, Result>>();
  /** Targets no job of which may begin. */
  readonly #held = new Set<number>();
  #onChange: (() => void)[] = [];

  constructor(options: JobQueueOptions<Target>) {
    this.#options = options;
  }

  /** All of them, those that are under way first. */
  get all(): Job<Target, Result>[] {
    return [...this.#running.values(), ...this.#queued.values()];
  }

  /** The job that has been under way for the longest time. */
  get first(): Job<Target, Result> | undefined {
    return this.#running.values().next().value;
  }

  running(targetId: number): Job<Target, Result> | undefined {
    return this.#running.get(targetId);
  }

  /** That which has not begun. */
  queued(targetId: number): Job<Target, Result> | undefined {
    return this.#queued.get(targetId);
  }

  /** Adds a job, or puts it where its priority says now. */
  put(job: Job<Target, Result>): void {
    // Why: who is asked for again keeps the place among its like.
    if (this.#ready.get(job.row.priority)?.has(job) === true) return;
    this.remove(job);
    const { priority } = job.row;
    const same = this.#ready.get(priority) ?? new Set();
    this.#ready.set(priority, same.add(job));
    this.#queued.set(job.targetId, job);
    this.#options.onReady();
  }

  /** A job that may not begin before it is put again. */
  park(job: Job<Target, Result>): void {
    this.remove(job);
    this.#queued.set(job.targetId, job);
  }

  /** Removes a job that has not begun. */
  remove(job: Job<Target, Result>): void {
    if (this.#queued.get(job.targetId) !== job) return;
    this.#queued.delete(job.targetId);
    for (const jobs of this.#ready.values()) jobs.delete(job);
    this.#tell();
  }

  /** The job that is to begin now, which counts as under way from here on. */
  next(): Job<Target, Result> | undefined {
    if (!this.#hasPlace()) return undefined;
    for (const priority of [...this.#ready.keys()].sort((a, b) => a - b))
      for (const job of this.#ready.get(priority)!) {
        const { targetId } = job;
        if (this.#running.has(targetId) || this.#held.has(targetId)) continue;
        if (this.#options.isHeldUp(job.target)) continue;
        this.remove(job);
        this.#running.set(targetId, job);
        return job;
      }
    return undefined;
  }

  #hasPlace(): boolean {
    const placeCount = this.#options.runningMax();
    const running = [...this.#running.keys()];
    const idleCount = running.filter((targetId) => this.#options.isIdle(targetId)).length;
    return running.length - Math.min(idleCount, IDLE_PER_PLACE * placeCount) < placeCount;
  }

  /** A job is under way no more. */
  done({ targetId }: Job<Target, Result>): void {
    this.#running.delete(targetId);
    this.#tell();
    this.#options.onReady();
  }

  /**
   * Does `work` with those of these targets of which no job is under way; those that are asked for meanwhile begin afterwards.
   * A job that takes long is not waited for, as it would hold up all others.
   */
  async without<Value>(
    targetIds: readonly number[],
    work: (free: ReadonlySet<number>) => Promise<Value>,
  ): Promise<Value> {
    while (targetIds.some((targetId) => this.#held.has(targetId))) await this.#change();
    for (const targetId of targetIds) this.#held.add(targetId);
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort();
      this.#tell();
    }, PATIENCE_MS);
    try {
      const isRunning = (targetId: number): boolean => this.#running.has(targetId);
      while (!late.signal.aborted && targetIds.some(isRunning)) await this.#change();
      return await work(new Set(targetIds.filter((targetId) => !isRunning(targetId))));
    } finally {
      clearTimeout(timer);
      for (const targetId of targetIds) this.#held.delete(targetId);
      this.#tell();
      this.#options.onReady();
    }
  }

  /** Resolves when no job does more than wait, and none could begin. */
  async whenQuiet(): Promise<void> {
    const { isIdle, isHeldUp } = this.#options;
    const isBusy = (): boolean =>
      [...this.#running.keys()].some((targetId) => !isIdle(targetId)) ||
      [...this.#ready.values()].some((jobs) => [...jobs].some(({ target }) => !isHeldUp(target)));
    while (isBusy()) await this.#change();
  }

  /** Which jobs wait, or have to, is another matter by now. */
  noteWaits(): void {
    this.#options.onReady();
    this.#tell();
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
