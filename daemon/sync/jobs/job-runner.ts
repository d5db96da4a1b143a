// Runs the jobs of one queue, several at a time: attempts, pauses after failures (failure-pauses.ts), storing, and
// recovery of jobs from the previous process. The kind of job defines what an attempt does.

import type { JobWrite, StoredJob } from '../../store/jobs.ts';
import { isDiskFull, messageOf } from '../../base/caught.ts';
import { nextTurn } from '../../base/next-turn.ts';
import type { Log, LogFields } from '../../base/log.ts';
import type { LogLevel } from '../../base/log-levels.ts';
import { FailedJobs, type JobWords } from './failed-jobs.ts';
import { FailurePauses } from './failure-pauses.ts';
import { Job, PRIORITIES } from './job.ts';
import type { JobHistory } from './job-history.ts';
import type { JobLimits } from './job-limits.ts';
import { JobQueue } from './job-queue.ts';

/** The targets and the work of a queue. */
export interface JobKind<Target, Result> {
  readonly queue: string;
  /** Words for one target, many targets, and the work: `repository`, `repositories`, `indexed`. */
  readonly words: JobWords & { readonly target: string };
  /** The log message of a failed attempt. */
  readonly failing: string;
  readonly idOf: (target: Target) => number;
  readonly nameOf: (target: Target) => string;
  /** The current target; undefined: no longer served. */
  readonly targetOf: (id: number) => Target | undefined;
  /** Default priority of a job. */
  readonly priorityOf: (target: Target) => number;
  /** Whether a target's job waits for that of another target. */
  readonly isBlocked?: (target: Target) => boolean;
  /** Whether a target's running job only waits, and leaves its slot to others. */
  readonly isIdle?: (id: number) => boolean;
  /** One attempt. Errors: why it failed; the reason of the job's signal. */
  readonly attempt: (job: Job<Target, Result>) => Promise<Result>;
  /** What the store keeps of a result (API.md 13.3). */
  readonly keptOf: (result: Result) => Readonly<Record<string, unknown>>;
  /** The result of a failed attempt, for those who wait. */
  readonly failureOf: (target: Target, error: string, durationMs: number) => Result;
  /** Notified of a failure before anybody else. Errors: none. */
  readonly onFailure?: (target: Target, cause: unknown) => Promise<void>;
  /** Notified when the job succeeded, before that is stored. */
  readonly onCompleted?: (job: Job<Target, Result>, result: Result) => void;
}

export interface JobRunnerOptions {
  readonly jobHistory: JobHistory;
  readonly log: Log;
  /** The current limits. */
  readonly limits: () => JobLimits;
}

/** Options of a job request. */
export interface JobRequest {
  /** Default: that of a first index, or of a scheduled one. */
  readonly priority?: number;
  /** Build again even if nothing changed. */
  readonly isForced?: boolean;
}

/** The longest time that a timer takes. */
export const TIMER_MS_MAX = 2 ** 31 - 1;
/**
 * Guess: no job starts for this long after one found the disk full; doubled after each further one, up to the second
 * value.
 */
const SPACE_PAUSE_MS_MIN = 2_000;
const SPACE_PAUSE_MS_MAX = 60_000;
/** Guess: a job without changes takes 0.2 ms. */
const STARTS_PER_TURN = 8;

export class JobRunner<Target, Result> {
  readonly #kind: JobKind<Target, Result>;
  readonly #options: JobRunnerOptions;
  readonly #pauses = new FailurePauses((id) => {
    const target = this.#kind.targetOf(id);
    if (target !== undefined) this.request(target);
  });
  readonly #stop = new AbortController();
  #startCount = 0;
  readonly #queue: JobQueue<Target, Result>;
  /** Unfinished jobs of the previous process, by target id. */
  readonly #interrupted = new Map<number, JobWrite>();
  /** The last job of each target that failed for good. */
  readonly #lastFailed = new Map<number, StoredJob>();
  readonly failed: FailedJobs;
  #spacePauseMs = SPACE_PAUSE_MS_MIN;
  /** No job starts while it runs: the disk is full. */
  #spaceTimer: NodeJS.Timeout | undefined;

  constructor(kind: JobKind<Target, Result>, options: JobRunnerOptions) {
    this.#kind = kind;
    this.#options = options;
    this.failed = new FailedJobs(kind.words);
    const { isBlocked = () => false, isIdle = () => false } = kind;
    this.#queue = new JobQueue({
      runningMax: () => this.#options.limits().runningMax,
      isBlocked,
      isIdle,
      onReady: () => this.#beginNext(),
    });
  }

  /** Errors of cancelled jobs; their targets do not count as failed. */
  get #gone(): string {
    return `the ${this.#kind.words.target} is gone`;
  }
  get #unserved(): string {
    return `the ${this.#kind.words.target} is not served any more`;
  }

  /** Aborts when the jobs are closed. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /**
   * Restores unfinished jobs of the previous process. Call before any request.
   *
   * @param jobs    read from the book, of all queues
   * @param nameOf  the name of a target; undefined: unknown id
   */
  recall(jobs: readonly JobWrite[], nameOf: (id: number) => string | undefined): void {
    for (const job of jobs.filter(({ queue }) => queue === this.#kind.queue)) {
      const name = nameOf(job.targetId);
      const isOver = job.state === 'FAILED';
      if (isOver && (job.error === this.#gone || job.error === this.#unserved)) continue;
      if (job.error !== null && name !== undefined) this.failed.note(job.targetId, name, job.error);
      if (isOver) this.#lastFailed.set(job.targetId, job);
      else {
        const { target } = this.#kind.words;
        this.#failInterruptedJob(
          job.targetId,
          `interrupted; replaced by a later job of the ${target}`,
        );
        this.#interrupted.set(job.targetId, { ...job, state: 'PENDING' });
      }
    }
  }

  /** Ends restored jobs that nobody requested: their targets are no longer served. */
  failInterrupted(): void {
    for (const id of this.#interrupted.keys()) this.#failInterruptedJob(id, this.#unserved);
  }

  #failInterruptedJob(id: number, error: string): void {
    const job = this.#interrupted.get(id);
    if (job === undefined) return;
    this.#interrupted.delete(id);
    this.#options.jobHistory.keep({ ...job, state: 'FAILED', finishedAt: Date.now(), error });
  }

  /** Unfinished jobs, and restored ones. */
  get open(): readonly Job<Target, Result>[] {
    return this.#queue.all;
  }

  get interrupted(): readonly JobWrite[] {
    return [...this.#interrupted.values()];
  }

  /** The longest running job. */
  get first(): Job<Target, Result> | undefined {
    return this.#queue.first;
  }

  /**
   * Requests a job: the queued one if there is one, else a new one that follows the running one.
   *
   * Errors: the index is closing.
   */
  request(target: Target, { priority, isForced = false }: JobRequest = {}): Job<Target, Result> {
    this.#stop.signal.throwIfAborted();
    const { idOf, priorityOf, queue } = this.#kind;
    const id = idOf(target);
    const rank = priority ?? priorityOf(target);
    const interrupted = this.#interrupted.get(id);
    this.#interrupted.delete(id);
    const job =
      this.#queue.queued(id) ?? new Job<Target, Result>({ queue, id }, target, rank, interrupted);
    job.requestAgain(target, rank, isForced);
    this.#pauses.end(id);
    this.#queue.put(job);
    return job;
  }

  /** Requests a job for a user and stores it from now on; returns its id. Errors: as `request`. */
  async requestPersisted(target: Target): Promise<string> {
    const job = this.request(target, { priority: PRIORITIES.user });
    this.keep(job);
    await this.#options.jobHistory.settled();
    return job.row.id;
  }

  /** Shortens the pause of a failed target; returns whether it waits. */
  hasten(id: number): boolean {
    return this.#pauses.shorten(id);
  }

  /** Runs `work` with those of the targets without a running job; none starts meanwhile. */
  without<Value>(
    ids: readonly number[],
    work: (free: ReadonlySet<number>) => Promise<Value>,
  ): Promise<Value> {
    return this.#queue.without(ids, work);
  }

  /** The results of `isIdle` and `isBlocked` may have changed. */
  noteWaits(): void {
    this.#queue.noteWaits();
  }

  /** Resolves when all running jobs are idle, and none can start. */
  whenQuiet(): Promise<void> {
    return this.#queue.whenQuiet();
  }

  /** Resolves when no job runs, and none can start. */
  whenIdle(): Promise<void> {
    return this.#queue.whenIdle();
  }

  /** Ends the job of a removed target. */
  cancel(id: number): void {
    const reason = new Error(this.#gone);
    this.failed.clear(id);
    this.#lastFailed.delete(id);
    this.#pauses.forget(id);
    this.#failInterruptedJob(id, reason.message);
    const running = this.#queue.running(id);
    if (running !== undefined) {
      running.isCancelled = true;
      running.stop(reason);
    }
    const queued = this.#queue.queued(id);
    if (queued === undefined) return;
    this.#queue.remove(queued);
    queued.end('FAILED', { error: reason.message });
    if (queued.isKept) this.keep(queued);
    queued.settle(this.#kind.failureOf(queued.target, reason.message, 0));
  }

  #beginNext(): void {
    for (;;) {
      if (this.#stop.signal.aborted || this.#spaceTimer !== undefined) return;
      const job = this.#queue.next();
      if (job === undefined) return;
      void this.#run(job);
    }
  }

  /** Errors: none. */
  async #run(job: Job<Target, Result>): Promise<void> {
    const { timeoutMs } = this.#options.limits();
    const late = new Error(
      `the job took longer than ${timeoutMs} ms (settings.repoIndexTimeoutMs)`,
    );
    const timer = setTimeout(() => job.stop(late), Math.min(timeoutMs, TIMER_MS_MAX)).unref();
    const startMs = performance.now();
    job.begin();
    if (job.isKept) this.keep(job);
    try {
      // Why: a job without changes never waits, and thousands may follow each other.
      if (++this.#startCount % STARTS_PER_TURN === 0) await nextTurn();
      this.#complete(job, await this.#kind.attempt(job));
    } catch (error) {
      const { aborted, reason } = job.signal;
      if (aborted && reason !== late && !job.isCancelled) this.#leave(job, reason);
      else await this.#fail(job, aborted ? reason : error, Math.round(performance.now() - startMs));
    } finally {
      clearTimeout(timer);
      this.#queue.done(job);
    }
  }

  #complete(job: Job<Target, Result>, result: Result): void {
    const { keptOf, onCompleted } = this.#kind;
    this.failed.clear(job.targetId);
    this.#pauses.forget(job.targetId);
    this.#spacePauseMs = SPACE_PAUSE_MS_MIN;
    // Why: thousands of unchanged results are not worth a write each; one that ends a failure is.
    const hadFailed = this.#lastFailed.delete(job.targetId);
    job.isKept ||= hadFailed;
    onCompleted?.(job, result);
    job.end('COMPLETED', { error: null, result: keptOf(result) });
    if (job.isKept) this.keep(job);
    job.settle(result);
  }

  async #fail(job: Job<Target, Result>, cause: unknown, durationMs: number): Promise<void> {
    const { nameOf, onFailure, failing, failureOf, words } = this.#kind;
    const name = nameOf(job.target);
    await onFailure?.(job.target, cause);
    const error = messageOf(cause);
    this.say(job, 'error', failing, { [fieldOf(words.target)]: name, error });
    if (job.isCancelled) this.#noteFailed(job, error);
    else {
      this.failed.note(job.targetId, name, error);
      if (isDiskFull(cause)) this.#endOnFullDisk(job, error);
      else this.#endAttempt(job, error);
    }
    job.settle(failureOf(job.target, error, durationMs));
  }

  /** An attempt failed; the next one follows after a pause, unless a user has requested one meanwhile. */
  #endAttempt(job: Job<Target, Result>, error: string): void {
    const { attemptsMax } = this.#options.limits();
    const next = this.#queue.queued(job.targetId);
    if (job.row.attempt >= attemptsMax || next !== undefined) this.#noteFailed(job, error);
    else {
      job.end('PENDING', { error });
      this.keep(job);
      this.#queue.park(job);
    }
    if (attemptsMax === 1 || next?.row.priority === PRIORITIES.user) return;
    this.#pauses.begin(job.targetId);
    if (next === undefined) return;
    this.#queue.park(next);
    this.#pauses.shorten(job.targetId);
  }

  /** The disk is full, which no job can fix: this job waits like all others, or all fail if nobody waits. */
  #endOnFullDisk(job: Job<Target, Result>, error: string): void {
    if (this.#options.limits().attemptsMax === 1) {
      this.#noteFailed(job, error);
      this.#failQueued(`not started, as there was no room for ${this.#kind.nameOf(job.target)}`);
      return;
    }
    this.#spaceTimer ??= this.#pauseForSpace();
    if (this.#queue.queued(job.targetId) !== undefined) {
      this.#noteFailed(job, error);
      return;
    }
    job.end('PENDING');
    this.keep(job);
    this.#queue.put(job);
  }

  #pauseForSpace(): NodeJS.Timeout {
    const pauseMs = this.#spacePauseMs;
    this.#spacePauseMs = Math.min(2 * pauseMs, SPACE_PAUSE_MS_MAX);
    return setTimeout(() => {
      this.#spaceTimer = undefined;
      this.#beginNext();
    }, pauseMs).unref();
  }

  #failQueued(error: string): void {
    for (const job of this.#queue.all) {
      if (this.#queue.queued(job.targetId) !== job) continue;
      this.#queue.remove(job);
      job.end('FAILED', { error });
      if (job.isKept) this.keep(job);
      job.settle(this.#kind.failureOf(job.target, error, 0));
    }
  }

  #noteFailed(job: Job<Target, Result>, error: string): void {
    job.end('FAILED', { error });
    const before = this.#lastFailed.get(job.targetId);
    // Repeated identical failures are shown as one job.
    if (before?.error === error && before.priority !== PRIORITIES.user)
      this.#options.jobHistory.drop(before.id);
    if (!job.isCancelled) this.#lastFailed.set(job.targetId, job.row);
    this.keep(job);
  }

  /** The job is stored from now on. */
  keep(job: Job<Target, Result>): void {
    job.isKept = true;
    this.#options.jobHistory.keep(job.write);
  }

  /** Logs a line, also in the job's own lines. */
  say(job: Job<Target, Result>, level: LogLevel, message: string, fields: LogFields = {}): void {
    this.#options.log[level](message, fields);
    if (job.isKept || level !== 'info') job.say(level, message, fields);
  }

  /** Ends waiting for a job without a result; the next process runs it. */
  interrupt(job: Job<Target, Result>, reason: unknown): void {
    if (this.#queue.running(job.targetId) === job) {
      job.stop(reason);
      return;
    }
    if (this.#queue.queued(job.targetId) !== job) return;
    this.#queue.remove(job);
    job.giveUp(reason);
  }

  /** A job that was stopped in an attempt waits again. */
  #leave(job: Job<Target, Result>, reason: unknown): void {
    job.say('info', 'the job was interrupted');
    job.end('PENDING');
    if (job.isKept) this.keep(job);
    job.giveUp(reason);
  }

  /** Stops running jobs, for the next process to run; resolves when none runs. No job starts any more. */
  async close(): Promise<void> {
    const reason = new Error('the index is being closed');
    this.#stop.abort(reason);
    clearTimeout(this.#spaceTimer);
    this.#pauses.close();
    for (const job of this.#queue.all) this.interrupt(job, reason);
    await this.whenIdle();
  }
}

/** Field name of a target in log lines. */
function fieldOf(target: string): string {
  return target === 'repository' ? 'repo' : target;
}
