// Runs the jobs of one queue (job-queue.ts): attempts, retries after failures, and what becomes of the jobs of the previous
// process. Subclasses define what an attempt does.

import { type JobWrite, REPLACED, type StoredJob } from '../../store/jobs.ts';
import { isDiskFull, messageOf } from '../../base/caught.ts';
import { HOUR_MS } from '../../base/durations.ts';
import type { LogFields } from '../../base/log.ts';
import type { LogLevel } from '../../base/log-levels.ts';
import { backOffMs } from '../../base/retries.ts';
import { ascendFrom, Job, newRow, PRIORITIES } from './job.ts';
import { JobQueue, type JobQueueOptions, TIMER_MS_MAX } from './job-queue.ts';

export interface JobRequest {
  /** When it may start; default: now. */
  readonly dueAt?: number | undefined;
  /** Default: the priority of a first index, or of a scheduled one. */
  readonly priority?: number;
  readonly isForced?: boolean;
  /** When its host got what it indexes (ms since the epoch). */
  readonly pushedAt?: number | undefined;
}

/** API.md 20.2: pauses after the first failure and at most, each plus up to half of it at random. */
const RETRY_MS = { min: 30_000, max: HOUR_MS };
/** API.md 20.2: the pause if the source has changed since the failure, which may have fixed it. */
const CHANGED_RETRY_MS = 10_000;
/** Guess: no job starts for this long after jobs in a row found the disk full. */
const SPACE_PAUSE_MS = { min: 2_000, max: 60_000 };

/** A stored result (API.md 13.3). */
export type KeptResult = Readonly<Record<string, unknown>>;

export abstract class JobRunner<
  Target extends { readonly name: string },
  Result extends object,
> extends JobQueue<Target, Result> {
  readonly #words: JobWords;
  readonly #options: JobQueueOptions;
  readonly #stop = new AbortController();
  /** Targets of unfinished jobs of the previous process that nobody has requested yet. */
  readonly unfinished = new Set<number>();
  /** The last job of each target if it failed for good. */
  readonly #lastFailed = new Map<number, StoredJob>();
  readonly failed: FailedJobs;
  /** Attempts since the start. */
  readonly ended = { completed: 0, failed: 0 };
  #fullCount = 0;
  /** No job starts while it runs: the disk is full. */
  #spaceTimer: NodeJS.Timeout | undefined;

  constructor(words: JobWords, options: JobQueueOptions) {
    super(words.queue, options);
    this.#words = words;
    this.#options = options;
    this.failed = new FailedJobs(words);
  }

  protected abstract idOf(target: Target): number;
  /** The current target; undefined: no longer served. */
  protected abstract targetOf(id: number): Target | undefined;
  protected abstract priorityOf(target: Target): number;
  /** The host that a target's job contacts before it computes; '': none. */
  protected hostOf(_target: Target): string {
    return '';
  }
  /** One attempt. Errors: why it failed; the reason of the job's signal. */
  protected abstract attempt(job: Job<Target, Result>): Promise<Result>;
  /** What the store keeps of a result (API.md 13.3); default: all of it. */
  protected keptOf(result: Result): KeptResult {
    return Object.fromEntries(Object.entries(result));
  }
  /** The result of a failed attempt, for those who wait. */
  protected abstract failureOf(target: Target, error: string, durationMs: number): Result;
  /** Called for a failure before anybody else knows of it. Errors: none. */
  protected async onFailure(_target: Target, _cause: unknown): Promise<void> {}
  /** Called when the job succeeded, before that is stored. */
  protected onCompleted(_job: Job<Target, Result>, _result: Result): void {}

  /** Errors of cancelled jobs; their targets do not count as failed. */
  get #gone(): string {
    return `the ${this.#words.target} is gone`;
  }
  get #unserved(): string {
    return `the ${this.#words.target} is not served any more`;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  protected override get isPaused(): boolean {
    return this.signal.aborted || this.#spaceTimer !== undefined;
  }

  /** Takes over the jobs of the previous process: unfinished ones wait until they are requested. */
  async recall(nameOf: (id: number) => string | undefined): Promise<void> {
    const { jobRows, instance, log } = this.#options;
    try {
      ascendFrom(await jobRows.lastOrdinal(instance));
      for (const job of await jobRows.release(this.name, Date.now()))
        this.#takeOver(job, nameOf(job.targetId));
    } catch (error) {
      log.warn('the jobs of the previous process could not be read', { error: messageOf(error) });
    }
    this.openQueue();
  }

  #takeOver(job: StoredJob, name: string | undefined): void {
    const { targetId, state, error } = job;
    const isOver = state === 'FAILED';
    if (isOver && (error === this.#gone || error === this.#unserved)) return;
    if (error !== null && name !== undefined) this.failed.note(targetId, name, error);
    if (isOver) this.#lastFailed.set(targetId, job);
    else this.unfinished.add(targetId);
  }

  /** Ends jobs of the previous process that nobody requested: their targets are no longer served. */
  failUnrequested(): void {
    for (const targetId of this.unfinished) this.remove(targetId, this.#unserved);
    this.unfinished.clear();
  }

  /** Returns the pending job, or a new one that follows the running one. Errors: the index is closing. */
  request(
    target: Target,
    {
      priority = this.priorityOf(target),
      isForced = false,
      dueAt = Date.now(),
      pushedAt = Infinity,
    }: JobRequest = {},
  ): Job<Target, Result> {
    this.signal.throwIfAborted();
    const targetId = this.idOf(target);
    this.unfinished.delete(targetId);
    const host = this.hostOf(target);
    const job =
      this.pending.get(targetId) ??
      new Job<Target, Result>(
        target,
        newRow({ queue: this.name.queue, targetId, priority, host, dueAt }),
      );
    job.requestAgain(target, { priority, dueAt, isForced, pushedAt });
    this.put(job);
    return job;
  }

  /** When a changed target may have a job; later after a failure, as it may change all the time and always fail. */
  protected dueAfterChange(targetId: number): number {
    const now = Date.now();
    if (this.failed.reasonOf(targetId) === undefined) return now;
    const dueAt = this.#lastFailed.get(targetId)?.dueAt ?? 0;
    return dueAt > now ? Math.min(dueAt, now + CHANGED_RETRY_MS) : now + CHANGED_RETRY_MS;
  }

  protected override retry(id: number): void {
    const target = this.targetOf(id);
    if (target !== undefined && !this.signal.aborted) this.request(target);
  }

  /** Requests a job for a user and stores it; returns its id. Errors: NOT_READY; the index is closing. */
  async requestPersisted(target: Target): Promise<string> {
    const job = this.request(target, { priority: PRIORITIES.user });
    const error = await this.flush();
    if (error !== undefined) throw error;
    return job.row.id;
  }

  cancel(ids: readonly number[]): void {
    const reason = new Error(this.#gone);
    for (const id of ids) {
      this.failed.clear(id);
      this.#lastFailed.delete(id);
      const running = this.running.get(id);
      if (running !== undefined) running.isCancelled = true;
      running?.stop(reason);
      const pending = this.remove(id, reason.message);
      pending?.settle(this.failureOf(pending.target, reason.message, 0));
    }
  }

  /** Ends a claimed job if its target is gone. */
  protected override start(row: JobWrite, requested: Job<Target, Result> | undefined): void {
    const target = requested?.target ?? this.targetOf(row.targetId);
    if (this.signal.aborted) this.store({ ...row, state: 'PENDING', dueAt: null });
    else if (target === undefined) {
      const finishedAt = Date.now();
      this.store({ ...row, state: 'FAILED', finishedAt, dueAt: null, error: this.#unserved });
    } else void this.#run(requested ?? new Job<Target, Result>(target, row));
  }

  /** Errors: none. */
  async #run(job: Job<Target, Result>): Promise<void> {
    const { timeoutMs } = this.#options.limits();
    const late = new Error(
      `the job took longer than ${timeoutMs} ms (settings.repoIndexTimeoutMs)`,
    );
    const timer = setTimeout(() => job.stop(late), Math.min(timeoutMs, TIMER_MS_MAX)).unref();
    const startMs = performance.now();
    job.isKept ||= job.row.priority === PRIORITIES.user;
    job.isFetching = job.row.host !== '';
    this.running.set(job.targetId, job);
    try {
      this.#complete(job, await this.attempt(job));
    } catch (error) {
      const { aborted, reason } = job.signal;
      if (aborted && reason !== late && !job.isCancelled) this.#leave(job, reason);
      else await this.#fail(job, aborted ? reason : error, Math.round(performance.now() - startMs));
    } finally {
      clearTimeout(timer);
      this.done(job);
    }
  }

  #complete(job: Job<Target, Result>, result: Result): void {
    this.failed.clear(job.targetId);
    this.ended.completed++;
    this.#fullCount = 0;
    // Why: thousands of unchanged results are not worth a row each; one that ends a failure is.
    const hadFailed = this.#lastFailed.delete(job.targetId) || job.row.failures > 0;
    this.onCompleted(job, result);
    job.end('COMPLETED', { error: null, result: this.keptOf(result), failures: 0 });
    if (job.isKept || hadFailed) this.store(job.write);
    else this.drop(job.row.id);
    job.settle(result);
  }

  async #fail(job: Job<Target, Result>, cause: unknown, durationMs: number): Promise<void> {
    const { target, failing } = this.#words;
    const name = job.target.name;
    this.ended.failed++;
    await this.onFailure(job.target, cause);
    const error = messageOf(cause);
    this.say(job, 'error', failing, { [target === 'repository' ? 'repo' : target]: name, error });
    if (job.isCancelled) this.#noteFailed(job, error);
    else {
      this.failed.note(job.targetId, name, error);
      if (isDiskFull(cause)) this.#endOnFullDisk(job, error);
      else this.#endAttempt(job, error);
    }
    job.settle(this.failureOf(job.target, error, durationMs));
  }

  /** An attempt failed; the next one follows after a pause, unless one was requested meanwhile. */
  #endAttempt(job: Job<Target, Result>, error: string): void {
    const { attemptsMax } = this.#options.limits();
    const isLast = job.row.attempt >= attemptsMax || this.pending.has(job.targetId);
    const failures =
      Math.max(job.row.failures, this.#lastFailed.get(job.targetId)?.failures ?? 0) + 1;
    const pauseMs = backOffMs(failures, RETRY_MS) * (1 + Math.random() / 2);
    const hasNext = attemptsMax > 1 && !this.pending.has(job.targetId);
    const dueAt = hasNext ? Date.now() + Math.round(pauseMs) : null;
    if (isLast) this.#noteFailed(job, error, { failures, dueAt });
    else {
      job.end('PENDING', { error, failures, dueAt });
      this.store(job.write);
    }
  }

  /** The disk is full, which no job can fix: this job waits like all others, or all fail if nobody waits. */
  #endOnFullDisk(job: Job<Target, Result>, error: string): void {
    if (this.#options.limits().attemptsMax === 1) {
      this.#noteFailed(job, error);
      this.#failPending(`not started, as there was no room for ${job.target.name}`);
      return;
    }
    this.#spaceTimer ??= this.#pauseForSpace();
    if (this.pending.has(job.targetId)) this.#noteFailed(job, error);
    else {
      // Why later: all that wait already go first.
      job.end('PENDING', { dueAt: Date.now() + 1 });
      this.store(job.write);
    }
  }

  #pauseForSpace(): NodeJS.Timeout {
    return setTimeout(
      () => {
        this.#spaceTimer = undefined;
        this.wake();
      },
      backOffMs(++this.#fullCount, SPACE_PAUSE_MS),
    ).unref();
  }

  #failPending(error: string): void {
    for (const job of this.pending.values()) {
      this.remove(job.targetId, error);
      job.settle(this.failureOf(job.target, error, 0));
    }
  }

  #noteFailed(job: Job<Target, Result>, error: string, more: Partial<StoredJob> = {}): void {
    job.end('FAILED', { ...more, error });
    const before = this.#lastFailed.get(job.targetId);
    // Repeated identical failures are shown as one job.
    if (before?.error === error && before.priority !== PRIORITIES.user) this.drop(before.id);
    if (!job.isCancelled) this.#lastFailed.set(job.targetId, job.row);
    this.store(job.write);
  }

  /** Logs a line, also in the job's own lines. */
  protected say(
    job: Job<Target, Result> | undefined,
    level: LogLevel,
    message: string,
    fields: LogFields = {},
  ): void {
    this.#options.log[level](message, fields);
    if (job?.isKept === true || level !== 'info') job?.say(level, message, fields);
  }

  /** Ends waiting for a job without a result; the next process runs it. */
  protected interrupt(job: Job<Target, Result>, reason: unknown): void {
    if (this.running.get(job.targetId) === job) job.stop(reason);
    else if (this.pending.get(job.targetId) === job) job.giveUp(reason);
  }

  /** A job that was stopped in an attempt waits for the next process. */
  #leave(job: Job<Target, Result>, reason: unknown): void {
    job.say('info', 'the job was interrupted');
    if (this.pending.has(job.targetId)) job.end('FAILED', { error: REPLACED });
    else job.end('PENDING', { dueAt: null });
    this.store(job.write);
    job.giveUp(reason);
  }

  /** Stops running jobs, for the next process to run; resolves when none runs. No job starts any more. */
  async close(): Promise<void> {
    const reason = new Error('the index is being closed');
    this.#stop.abort(reason);
    clearTimeout(this.#spaceTimer);
    for (const job of this.open) this.interrupt(job, reason);
    await this.closeQueue();
  }
}

/** Per failure, in answers; the log has all of it. */
const REASON_SIZE_MAX = 500;
/** Bound: size of an answer; the log names the others, too. */
const LISTED_MAX = 10;

/** Name of a queue, words for one target, many targets and the work, and the log message of a failed attempt. */
export interface JobWords {
  readonly queue: string;
  readonly target: string;
  readonly targets: string;
  readonly done: string;
  readonly failing: string;
}

/** The id of a repo or connection, as names may change; a path if a source never became a repo. */
type FailedTarget = number | string;

/** Repos or connections whose last job failed, and why, for owners and the operator. Restored after a start. */
export class FailedJobs {
  readonly #words: Pick<JobWords, 'targets' | 'done'>;
  readonly #failures = new Map<FailedTarget, { readonly name: string; readonly reason: string }>();

  constructor(words: Pick<JobWords, 'targets' | 'done'>) {
    this.#words = words;
  }

  note(target: FailedTarget, name: string, reason: string): void {
    const isLong = reason.length > REASON_SIZE_MAX;
    const kept = isLong ? `${reason.slice(0, REASON_SIZE_MAX)}…` : reason;
    this.#failures.set(target, { name, reason: kept });
  }

  clear(target: FailedTarget): void {
    this.#failures.delete(target);
  }

  reasonOf(target: FailedTarget): string | undefined {
    return this.#failures.get(target)?.reason;
  }

  /** A sentence for each of the first failures that satisfy `isMatch`, and one for the rest, ordered by name. */
  sentences(isMatch: (name: string) => boolean): string[] {
    const all = [...this.#failures.values()]
      .filter(({ name }) => isMatch(name))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const rest = all.length - LISTED_MAX;
    return [
      ...all
        .slice(0, LISTED_MAX)
        .map(({ name, reason }) => `${name} could not be ${this.#words.done}: ${reason}`),
      ...(rest > 0 ? [`${rest} more ${this.#words.targets} could not be ${this.#words.done}`] : []),
    ];
  }
}
