// Orders the jobs of a queue: by priority, then by request. One job per target (a repo or connection) runs at a time,
// and a limited number in all. Work that must not run beside a target's job waits here too.

import type { Job } from './job.ts';

/** Guess: how long other targets are held for a running job. */
const WAIT_MS_MAX = 10_000;

/** Guess: idle jobs per slot; they may all resume at once. */
const IDLE_PER_SLOT = 3;

export interface JobQueueOptions<Target> {
  /** Jobs at a time. */
  readonly runningMax: () => number;
  /** Whether a target's job must wait although a slot is free. */
  readonly isBlocked: (target: Target) => boolean;
  /** Whether a target's running job uses no slot. */
  readonly isIdle: (targetId: number) => boolean;
  /** Called when a job may begin. */
  readonly onReady: () => void;
}

export class JobQueue<Target, Result> {
  readonly #options: JobQueueOptions<Target>;
  /** Jobs that may start, by priority. */
  readonly #ready = new Map<number, Set<Job<Target, Result>>>();
  /** Jobs that have not started, by targetId; one that is not ready waits until it is put again. */
  readonly #queued = new Map<number, Job<Target, Result>>();
  readonly #running = new Map<number, Job<Target, Result>>();
  /** Targets whose jobs must not start. */
  readonly #locked = new Set<number>();
  #onChange: (() => void)[] = [];

  constructor(options: JobQueueOptions<Target>) {
    this.#options = options;
  }

  /** All jobs, running ones first. */
  get all(): Job<Target, Result>[] {
    return [...this.#running.values(), ...this.#queued.values()];
  }

  /** The longest running job. */
  get first(): Job<Target, Result> | undefined {
    return this.#running.values().next().value;
  }

  running(targetId: number): Job<Target, Result> | undefined {
    return this.#running.get(targetId);
  }

  /** The job that has not started. */
  queued(targetId: number): Job<Target, Result> | undefined {
    return this.#queued.get(targetId);
  }

  /** Adds a job, or moves it to its new priority. */
  put(job: Job<Target, Result>): void {
    // Why: a repeated request keeps its position.
    if (this.#ready.get(job.row.priority)?.has(job) === true) return;
    this.remove(job);
    const { priority } = job.row;
    const same = this.#ready.get(priority) ?? new Set();
    this.#ready.set(priority, same.add(job));
    this.#queued.set(job.targetId, job);
    this.#options.onReady();
  }

  /** A job that must not start before it is put again. */
  park(job: Job<Target, Result>): void {
    this.remove(job);
    this.#queued.set(job.targetId, job);
  }

  /** Removes a job that has not started. */
  remove(job: Job<Target, Result>): void {
    if (this.#queued.get(job.targetId) !== job) return;
    this.#queued.delete(job.targetId);
    for (const jobs of this.#ready.values()) jobs.delete(job);
    this.#notify();
  }

  /** The next job to start; it counts as running from here on. */
  next(): Job<Target, Result> | undefined {
    if (!this.#hasFreeSlot()) return undefined;
    for (const priority of [...this.#ready.keys()].sort((a, b) => a - b))
      for (const job of this.#ready.get(priority)!) {
        const { targetId } = job;
        if (this.#running.has(targetId) || this.#locked.has(targetId)) continue;
        if (this.#options.isBlocked(job.target)) continue;
        this.remove(job);
        this.#running.set(targetId, job);
        return job;
      }
    return undefined;
  }

  #hasFreeSlot(): boolean {
    const slotCount = this.#options.runningMax();
    const running = [...this.#running.keys()];
    const idleCount = running.filter((targetId) => this.#options.isIdle(targetId)).length;
    return running.length - Math.min(idleCount, IDLE_PER_SLOT * slotCount) < slotCount;
  }

  /** A job has ended. */
  done({ targetId }: Job<Target, Result>): void {
    this.#running.delete(targetId);
    this.#notify();
    this.#options.onReady();
  }

  /**
   * Runs `work` with those of the targets without a running job; their later jobs start afterwards. A long job is not
   * waited for, as that would hold all others.
   */
  async without<Value>(
    targetIds: readonly number[],
    work: (free: ReadonlySet<number>) => Promise<Value>,
  ): Promise<Value> {
    while (targetIds.some((targetId) => this.#locked.has(targetId))) await this.#change();
    for (const targetId of targetIds) this.#locked.add(targetId);
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort();
      this.#notify();
    }, WAIT_MS_MAX);
    try {
      const isRunning = (targetId: number): boolean => this.#running.has(targetId);
      while (!late.signal.aborted && targetIds.some(isRunning)) await this.#change();
      return await work(new Set(targetIds.filter((targetId) => !isRunning(targetId))));
    } finally {
      clearTimeout(timer);
      for (const targetId of targetIds) this.#locked.delete(targetId);
      this.#notify();
      this.#options.onReady();
    }
  }

  /** Resolves when all running jobs are idle, and none can start. */
  async whenQuiet(): Promise<void> {
    const { isIdle, isBlocked } = this.#options;
    const isBusy = (): boolean =>
      [...this.#running.keys()].some((targetId) => !isIdle(targetId)) ||
      [...this.#ready.values()].some((jobs) => [...jobs].some(({ target }) => !isBlocked(target)));
    while (isBusy()) await this.#change();
  }

  /** The results of `isBlocked` and `isIdle` may have changed. */
  noteWaits(): void {
    this.#options.onReady();
    this.#notify();
  }

  /** Resolves when no job runs, and none can start. */
  async whenIdle(): Promise<void> {
    const isBusy = (): boolean =>
      this.#running.size > 0 || [...this.#ready.values()].some(({ size }) => size > 0);
    while (isBusy()) await this.#change();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#onChange.push(resolve));
  }

  #notify(): void {
    const waiting = this.#onChange;
    this.#onChange = [];
    for (const resolve of waiting) resolve();
  }
}
