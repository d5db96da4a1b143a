// The jobs of one queue between the store and this process. Each exchange is one transaction (store/jobs.ts): it stores what
// was requested and what ended, and claims jobs: by priority, one per target, a limited number per host.

import { randomUUID } from 'node:crypto';
import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import { nextTimeSlice } from '../../base/next-time-slice.ts';
import {
  startAttempt,
  type JobClaim,
  type JobRows,
  type JobExchangeResult,
  type JobWrite,
  type QueueName,
} from '../../store/jobs.ts';
import type { Job } from './job.ts';
import type { JobLimits } from './job-limits.ts';

/** Guess: how long `without` waits for running jobs, while the other targets stay locked. */
const WAIT_MS_MAX = 10_000;
/** Bound: attempts at a store that fails. Nothing else waits for it: jobs run meanwhile. */
const STORE_PAUSE_MS = 5_000;
/** The longest time that a timer takes. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

const OWNER = randomUUID();

export interface JobQueueOptions {
  readonly jobRows: JobRows;
  readonly instance: string;
  readonly log: Log;
  readonly limits: () => JobLimits;
}

class Changes<Target, Result> {
  readonly requests = new Set<Job<Target, Result>>();
  readonly writes = new Map<string, JobWrite>();
  readonly gone = new Set<string>();
  readonly cancelled = new Map<number, string>();

  add(later: Changes<Target, Result>): void {
    for (const job of later.requests) this.requests.add(job);
    for (const [id, write] of later.writes) this.writes.set(id, write);
    for (const id of later.gone) this.gone.add(id);
    for (const [id, error] of later.cancelled) this.cancelled.set(id, error);
  }
}

export abstract class JobQueue<Target, Result> {
  readonly #options: JobQueueOptions;
  protected readonly name: QueueName;
  /** Jobs that were requested here and have not started, by targetId. */
  protected readonly pending = new Map<number, Job<Target, Result>>();
  protected readonly running = new Map<number, Job<Target, Result>>();
  /** Targets whose jobs must not start. */
  readonly #locked = new Set<number>();
  #changes = new Changes<Target, Result>();
  #isOpen = false;
  #isWoken = false;
  #exchanging: Promise<void> | undefined;
  /** The transaction that runs, or ran last. */
  #current: Promise<void> | undefined;
  #nextDue: NodeJS.Timeout | undefined;
  #storePause: NodeJS.Timeout | undefined;
  #lastError: unknown;
  #onChange: (() => void)[] = [];

  constructor(queue: string, options: JobQueueOptions) {
    this.#options = options;
    this.name = { instance: options.instance, queue };
  }

  /** No job starts while it is true. */
  protected abstract get isPaused(): boolean;
  /** A job was claimed and must run. @param requested  absent: nobody waits for it */
  protected abstract start(row: JobWrite, requested: Job<Target, Result> | undefined): void;
  /** Called when the pause after a failed job of the target is over. */
  protected abstract retry(targetId: number): void;

  /** Requested and running jobs of this process; running ones first. */
  get open(): readonly Job<Target, Result>[] {
    return [...this.running.values(), ...this.pending.values()];
  }

  /** From now on jobs are stored and claimed. */
  protected openQueue(): void {
    this.#isOpen = true;
    this.wake();
  }

  protected put(job: Job<Target, Result>): void {
    this.pending.set(job.targetId, job);
    this.#changes.requests.add(job);
    this.#changes.cancelled.delete(job.targetId);
    this.wake();
  }

  protected store(job: JobWrite): void {
    this.#changes.writes.set(job.id, job);
    this.wake();
  }

  protected drop(id: string): void {
    this.#changes.writes.delete(id);
    this.#changes.gone.add(id);
    this.wake();
  }

  /** Ends the pending job of a target, and its retries; returns the job if it was requested here. */
  protected remove(targetId: number, error: string): Job<Target, Result> | undefined {
    const job = this.pending.get(targetId);
    this.pending.delete(targetId);
    if (job !== undefined) this.#changes.requests.delete(job);
    this.#changes.cancelled.set(targetId, error);
    this.wake();
    return job;
  }

  /** Something changed: stores it, and claims jobs. */
  protected wake(): void {
    this.#isWoken = true;
    if (!this.#isOpen) return;
    if (this.#storePause === undefined) this.#exchanging ??= this.#exchangeAll();
    else this.#startUnclaimed();
  }

  /** Stores all changes now. @returns  why that failed; undefined: it did not */
  async flush(): Promise<unknown> {
    if (this.#storePause !== undefined) this.#resume();
    await this.#exchanging;
    return this.#lastError;
  }

  /** Errors: none. */
  async #exchangeAll(): Promise<void> {
    try {
      while (this.#isWoken && this.#storePause === undefined) {
        // Why: jobs without changes never wait, and thousands may follow each other.
        await nextTimeSlice();
        this.#isWoken = false;
        this.#current = this.#exchange();
        await this.#current;
      }
    } finally {
      this.#exchanging = undefined;
      this.#notify();
    }
  }

  /** Errors: none. */
  async #exchange(): Promise<void> {
    const changes = this.#changes;
    this.#changes = new Changes();
    try {
      const result = await this.#options.jobRows.exchange(this.name, {
        writes: [...changes.writes.values()],
        gone: [...changes.gone],
        cancelled: changes.cancelled,
        requests: [...changes.requests].map(({ write }) => write),
        owner: OWNER,
        claim: this.#claim(),
        now: Date.now(),
      });
      this.#lastError = undefined;
      this.#take(result);
      for (const targetId of result.dueTargets) this.retry(targetId);
    } catch (error) {
      changes.add(this.#changes);
      this.#changes = changes;
      this.#pauseFor(error);
    }
  }

  #claim(): JobClaim | undefined {
    if (this.isPaused) return undefined;
    const { runningMax, timeoutMs } = this.#options.limits();
    const running = new Map<string, number>();
    for (const { row } of this.running.values())
      running.set(row.host, (running.get(row.host) ?? 0) + 1);
    const busy = [...new Set([...this.running.keys(), ...this.#locked])];
    // A minute beyond the timeout of an attempt.
    return { leaseMs: timeoutMs + 60_000, running, runningMax, busy };
  }

  #take({ pending, claimed, nextDueAt }: JobExchangeResult): void {
    for (const row of pending) this.pending.get(row.targetId)?.adopt(row);
    for (const row of claimed) this.#begin(row);
    clearTimeout(this.#nextDue);
    if (nextDueAt === undefined) return;
    const pauseMs = Math.min(Math.max(nextDueAt - Date.now(), 0), TIMER_MS_MAX);
    this.#nextDue = setTimeout(() => this.wake(), pauseMs).unref();
  }

  #pauseFor(error: unknown): void {
    const isFirst = this.#lastError === undefined;
    this.#lastError = error;
    this.#isWoken = true;
    this.#storePause = setTimeout(() => this.#resume(), STORE_PAUSE_MS).unref();
    if (isFirst)
      this.#options.log.warn('jobs continue, but cannot be stored now', {
        error: messageOf(error),
      });
    this.#startUnclaimed();
  }

  /** Starts requested jobs although the store cannot be written: one may hide a repository that its host made private. */
  #startUnclaimed(): void {
    const claim = this.#claim();
    if (claim === undefined) return;
    const [running, busy] = [new Map(claim.running), new Set(claim.busy)];
    const now = Date.now();
    for (const job of [...this.pending.values()].sort((a, b) => a.row.priority - b.row.priority)) {
      const { host, targetId, dueAt } = job.row;
      const count = running.get(host) ?? 0;
      if (busy.has(targetId) || count >= claim.runningMax || (dueAt ?? 0) > now) continue;
      running.set(host, count + 1);
      this.#begin(startAttempt(job.write, now, claim.leaseMs));
    }
  }

  #resume(): void {
    clearTimeout(this.#storePause);
    this.#storePause = undefined;
    this.wake();
  }

  #begin(row: JobWrite): void {
    const job = this.pending.get(row.targetId);
    if (job !== undefined) {
      this.pending.delete(row.targetId);
      this.#changes.requests.delete(job);
      job.adopt(row);
    }
    this.start(row, job);
  }

  protected done({ targetId }: Job<Target, Result>): void {
    this.running.delete(targetId);
    this.#notify();
    this.wake();
  }

  /** Resolves when a job that has fetched may compute: hosts have a bound each, computing jobs have one in all. */
  protected async fetched(job: Job<Target, Result>): Promise<void> {
    const isFull = (): boolean => {
      const computing = [...this.running.values()].filter(({ isFetching }) => !isFetching);
      return computing.length >= this.#options.limits().runningMax;
    };
    job.signal.addEventListener('abort', () => this.#notify(), { once: true });
    while (job.isFetching && isFull()) {
      await this.#change();
      job.signal.throwIfAborted();
    }
    job.isFetching = false;
  }

  /** Runs `work` with those targets whose job has ended within 10 s; their later jobs start afterwards. */
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
      // An exchange that started before may have claimed their jobs.
      await this.#current;
      const isRunning = (targetId: number): boolean => this.running.has(targetId);
      while (!late.signal.aborted && targetIds.some(isRunning)) await this.#change();
      return await work(new Set(targetIds.filter((targetId) => !isRunning(targetId))));
    } finally {
      clearTimeout(timer);
      for (const targetId of targetIds) this.#locked.delete(targetId);
      this.#notify();
      this.wake();
    }
  }

  /** Resolves when all running jobs only contact their hosts, and nothing is being claimed. */
  async whenQuiet(): Promise<void> {
    const isQuiet = (): boolean =>
      this.#exchanging === undefined &&
      [...this.running.values()].every(({ isFetching }) => isFetching);
    while (!isQuiet()) await this.#change();
  }

  /** Resolves when no job runs, and no requested one is due. */
  async whenIdle(): Promise<void> {
    while (this.#exchanging !== undefined || this.running.size > 0 || this.#hasDue)
      await this.#change();
  }

  get #hasDue(): boolean {
    const now = Date.now();
    return [...this.pending.values()].some(({ row: { dueAt } }) => (dueAt ?? 0) <= now);
  }

  /** Stores what is left once no job runs; resolves when it is stored, or cannot be. */
  protected async closeQueue(): Promise<void> {
    while (this.running.size > 0) await this.#change();
    clearTimeout(this.#nextDue);
    await this.flush();
    clearTimeout(this.#nextDue);
    clearTimeout(this.#storePause);
    this.#isOpen = false;
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
