// What is to be indexed: a job for each repo, several at a time, whoever asks for it, and what came of each. What fails is
// tried again, by failure-pauses.ts; a repo with a damaged shard is built again until none is.

import type { JobWrite, StoredJob } from '../../accounts/store/jobs.ts';
import { messageOf } from '../../base/caught.ts';
import { nextTurn } from '../../base/next-turn.ts';
import type { Log, LogFields, LogLevel } from '../../base/log.ts';
import type { BuildProgress } from '../../engine/build/build.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { totalOf } from '../../sources/docs/ignored.ts';
import { FailedJobs } from './failed-jobs.ts';
import { FailurePauses } from './failure-pauses.ts';
import type { IndexOutcome, RepoIndexer } from './index-repo.ts';
import { Job, PRIORITIES } from './job.ts';
import type { JobBook } from './job-book.ts';
import type { JobLimits } from './job-limits.ts';
import { JobQueue } from './job-queue.ts';
import { warningsOf } from './job-warnings.ts';
import { News } from './news.ts';
import { Retries } from '../../base/retries.ts';
import type { Served } from '../served/served.ts';

/** What one job did. */
export interface JobResult extends IndexOutcome {
  readonly repo: string;
  readonly state: 'COMPLETED' | 'FAILED';
  /** What the user may not have meant, a sentence each. */
  readonly warnings: readonly string[];
  readonly durationMs: number;
  readonly error?: string;
}

export interface JobsOptions {
  readonly indexer: Pick<RepoIndexer, 'index' | 'owe'>;
  readonly served: Pick<Served, 'hideIfStray' | 'damagedRepo' | 'record'>;
  readonly book: JobBook;
  readonly log: Log;
  /** As they are now. */
  readonly jobLimits: () => JobLimits;
  /** Told how far the job is that has been under way for the longest time. */
  readonly onProgress?: ((repo: string, progress: BuildProgress) => void) | undefined;
}

/** How a job is asked for. */
export interface JobWish {
  /** Default: that of a first index, or of a scheduled one. */
  readonly priority?: number;
  /** Build again even if nothing changed. */
  readonly isForced?: boolean;
}

/** The longest time that a timer takes. */
const TIMER_MS_MAX = 2 ** 31 - 1;
/** Errors of jobs that are ended because nobody wants them any more; their repos do not count as failed. */
const GONE = 'the repository is gone';
const UNSERVED = 'the repository is not served any more';
const REPLACED = 'interrupted; a later job of the repository takes its place';
/** Guess: a job that finds the same look takes 0.2 ms. */
const BEGUN_PER_TURN = 8;
/** Rules that the result of a job names. */
const RULES_MAX = 100;

export class Jobs {
  readonly #options: JobsOptions;
  readonly #retries: Retries;
  readonly #pauses = new FailurePauses((repoId) => {
    const record = this.#options.served.record(repoId);
    if (record !== undefined) this.ask(record);
  });
  readonly #news = new News();
  /** Repos that are being built again, as they were damaged. */
  readonly #rebuilt = new Set<number>();
  readonly #stop = new AbortController();
  /** Attempts that have begun. */
  #begunCount = 0;
  readonly #queue: JobQueue<JobResult>;
  /** What the process before has left undone, by repoId. */
  readonly #left = new Map<number, JobWrite>();
  /** The last job of each repo where that failed for good. */
  readonly #lastFailed = new Map<number, StoredJob>();
  /** What each job of a plain folder warns of, by repoId. */
  readonly oddities = new Map<number, readonly string[]>();
  /** Repos whose last job warned. */
  readonly warned = new Set<number>();
  readonly failed = new FailedJobs();

  constructor(options: JobsOptions) {
    this.#options = options;
    this.#retries = new Retries(options.log);
    this.#queue = new JobQueue(
      () => this.#limits.runningMax,
      () => this.#beginNext(),
    );
  }

  get #limits(): JobLimits {
    return this.#options.jobLimits();
  }

  /**
   * Takes over what the process before has noted. Before anything is asked for.
   *
   * @param nameOf  the name of a repo in the index; undefined: there is none of this id
   */
  async recall(nameOf: (repoId: number) => string | undefined): Promise<void> {
    for (const job of await this.#options.book.read()) {
      const name = nameOf(job.targetId);
      const isOver = job.state === 'FAILED';
      if (isOver && (job.error === GONE || job.error === UNSERVED)) continue;
      if (job.error !== null && name !== undefined) this.failed.note(name, job.error);
      if (isOver) this.#lastFailed.set(job.targetId, job);
      else {
        this.#endLeft(job.targetId, REPLACED);
        this.#left.set(job.targetId, { ...job, state: 'PENDING' });
      }
    }
  }

  /** Ends what the process before has left undone and nobody has asked for: those repos are not served any more. */
  forgetLeft(): void {
    for (const repoId of this.#left.keys()) this.#endLeft(repoId, UNSERVED);
  }

  #endLeft(repoId: number, error: string): void {
    const job = this.#left.get(repoId);
    if (job === undefined) return;
    this.#left.delete(repoId);
    this.#options.book.keep({ ...job, state: 'FAILED', finishedAt: Date.now(), error });
  }

  /** Those that have not ended, and those that wait to be taken up again. */
  get open(): readonly Job<JobResult>[] {
    return this.#queue.all;
  }

  get left(): readonly JobWrite[] {
    return [...this.#left.values()];
  }

  /**
   * Asks for a job of a repo: the one that is queued already, if there is one; one more after that which is under way.
   *
   * Errors: the index is being closed.
   */
  ask(record: RepoRecord, { priority, isForced = false }: JobWish = {}): Job<JobResult> {
    this.#stop.signal.throwIfAborted();
    const { repoId } = record;
    // As it is now: who watches a source has kept the record of the beginning.
    const { indexedAt } = this.#options.served.record(repoId) ?? record;
    const wanted = priority ?? (indexedAt === undefined ? PRIORITIES.first : PRIORITIES.scheduled);
    const left = this.#left.get(repoId);
    this.#left.delete(repoId);
    const job = this.#queue.queued(repoId) ?? new Job<JobResult>(record, wanted, left);
    job.askedAgain(record, wanted, isForced);
    this.#pauses.end(repoId);
    this.#queue.put(job);
    return job;
  }

  /** Asks for a job that is kept from now on; returns its id. Errors: as `ask`. */
  async askKept(record: RepoRecord): Promise<string> {
    const job = this.ask(record, { priority: PRIORITIES.user });
    this.#keep(job);
    await this.#options.book.settled();
    return job.row.id;
  }

  /** Runs one job for each repo; their results in order. A failure is a result, not an error. */
  async indexAll(
    records: readonly RepoRecord[],
    isForced: boolean,
    signal?: AbortSignal,
  ): Promise<JobResult[]> {
    signal?.throwIfAborted();
    // Why now: whatever ends this process while they wait, the next one builds them.
    if (isForced) await this.#options.indexer.owe(records.map(({ repoId }) => repoId));
    signal?.throwIfAborted();
    const jobs = records.map((record) => this.ask(record, { isForced }));
    const outcomes = Promise.all(jobs.map(({ outcome }) => outcome));
    const stop = (): void => {
      for (const job of jobs) this.#interrupt(job, signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await outcomes;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /**
   * Has a repo indexed whose source has changed; of one that waits after a failure the next attempt comes soon. Resolves when
   * the job is done, with whether it could be; at once, with false, where it waits. Errors: none.
   */
  async indexChanged(record: RepoRecord, signal: AbortSignal): Promise<boolean> {
    if (this.#pauses.shorten(record.repoId)) return false;
    const [result] = await this.indexAll([record], false, signal).catch(() => []);
    return result?.state === 'COMPLETED';
  }

  /** Does `work` with those of these repos of which no job is under way, nor begins meanwhile. */
  without<Result>(
    repoIds: readonly number[],
    work: (free: ReadonlySet<number>) => Promise<Result>,
  ): Promise<Result> {
    return this.#queue.without(repoIds, work);
  }

  /** Resolves when no job is under way, and none could begin. */
  whenIdle(): Promise<void> {
    return this.#queue.whenIdle();
  }

  /** Ends the jobs of repos that are gone. */
  cancel(repoIds: readonly number[]): void {
    const reason = new Error(GONE);
    for (const repoId of repoIds) {
      this.#lastFailed.delete(repoId);
      this.warned.delete(repoId);
      this.#pauses.forget(repoId);
      this.oddities.delete(repoId);
      const running = this.#queue.running(repoId);
      if (running !== undefined) {
        running.isCancelled = true;
        running.stop(reason);
      }
      const queued = this.#queue.queued(repoId);
      if (queued === undefined) continue;
      this.#queue.remove(queued);
      queued.end('FAILED', { error: reason.message });
      if (queued.isKept) this.#keep(queued);
      queued.settle(failureOf(queued.record.name, reason.message, 0));
    }
  }

  #beginNext(): void {
    for (;;) {
      if (this.#stop.signal.aborted) return;
      const job = this.#queue.next();
      if (job === undefined) return;
      void this.#run(job);
    }
  }

  /** Errors: none. */
  async #run(job: Job<JobResult>): Promise<void> {
    const { timeoutMs } = this.#limits;
    const late = new Error(
      `the job took longer than ${timeoutMs} ms (settings.repoIndexTimeoutMs)`,
    );
    const timer = setTimeout(() => job.stop(late), Math.min(timeoutMs, TIMER_MS_MAX)).unref();
    const startMs = performance.now();
    const durationMs = (): number => Math.round(performance.now() - startMs);
    job.begin();
    if (job.isKept) this.#keep(job);
    try {
      // Why: a job that finds the same look waits for nothing, and thousands may follow each other.
      if (++this.#begunCount % BEGUN_PER_TURN === 0) await nextTurn();
      const warnings: string[] = [];
      const outcome = await this.#index(job, (warning) => warnings.push(warning));
      this.#complete(job, outcome, warnings, durationMs());
    } catch (error) {
      const { aborted, reason } = job.signal;
      if (aborted && reason !== late && !job.isCancelled) this.#leave(job, reason);
      else await this.#fail(job, aborted ? reason : error, durationMs());
    } finally {
      clearTimeout(timer);
      this.#queue.done(job);
    }
  }

  #index(job: Job<JobResult>, onWarning: (sentence: string) => void): Promise<IndexOutcome> {
    const { indexer, onProgress } = this.#options;
    return indexer.index(job.record, job.isForced, {
      signal: job.signal,
      warn: (message, fields) => this.#say(job, 'warn', message, fields),
      onWarning,
      onWork: () => {
        if (!job.isKept) this.#keep(job);
      },
      onProgress: (progress) => {
        job.progress = progress;
        if (this.#queue.first === job) onProgress?.(job.record.name, progress);
      },
    });
  }

  #complete(
    job: Job<JobResult>,
    outcome: IndexOutcome,
    ofRevisions: readonly string[],
    durationMs: number,
  ): void {
    const { repoId, name, source } = job.record;
    const odd = source.kind === 'folder' ? (this.oddities.get(repoId) ?? []) : [];
    const warnings = [...odd, ...ofRevisions, ...warningsOf(source.kind, outcome)];
    const result = { ...outcome, warnings, repo: name, state: 'COMPLETED' as const, durationMs };
    this.failed.clear(name);
    this.#pauses.forget(repoId);
    // Why: thousands of looks that find nothing are not worth a write each; one that ends a failure is.
    const hadFailed = this.#lastFailed.delete(repoId);
    job.isKept ||= hadFailed;
    const { ignored, ...logged } = result;
    const fields = { ...logged, ignored: totalOf(ignored), warnings: warnings.length };
    this.#say(job, 'info', 'repo indexed', fields);
    for (const warning of this.#news.fresh(repoId, warnings))
      this.#say(job, 'warn', warning, { repo: name });
    if (warnings.length > 0) this.warned.add(repoId);
    else this.warned.delete(repoId);
    job.end('COMPLETED', { error: null, result: keptResult(result) });
    if (job.isKept) this.#keep(job);
    job.settle(result);
  }

  async #fail(job: Job<JobResult>, cause: unknown, durationMs: number): Promise<void> {
    const { name } = job.record;
    await this.#options.served.hideIfStray(job.record, cause).catch((error: unknown) =>
      this.#options.log.error('a repo could not be hidden', {
        repo: name,
        error: messageOf(error),
      }),
    );
    const error = messageOf(cause);
    this.#say(job, 'error', 'indexing failed', { repo: name, error });
    if (job.isCancelled) this.#noteFailed(job, error);
    else {
      this.failed.note(name, error);
      this.#endAttempt(job, error);
    }
    job.settle(failureOf(name, error, durationMs));
  }

  /** An attempt has failed; the next one comes after a pause, unless a user asked for it meanwhile. */
  #endAttempt(job: Job<JobResult>, error: string): void {
    const { attemptsMax } = this.#limits;
    const next = this.#queue.queued(job.repoId);
    if (job.row.attempt >= attemptsMax || next !== undefined) this.#noteFailed(job, error);
    else {
      job.end('PENDING', { error });
      this.#keep(job);
      this.#queue.park(job);
    }
    if (attemptsMax === 1 || next?.row.priority === PRIORITIES.user) return;
    this.#pauses.begin(job.repoId);
    if (next === undefined) return;
    this.#queue.park(next);
    this.#pauses.shorten(job.repoId);
  }

  /** A job has failed for good. */
  #noteFailed(job: Job<JobResult>, error: string): void {
    job.end('FAILED', { error });
    const before = this.#lastFailed.get(job.repoId);
    // What fails in the same way again and again is one job to whoever reads of it.
    if (before?.error === error && before.priority !== PRIORITIES.user)
      this.#options.book.drop(before.id);
    if (!job.isCancelled) this.#lastFailed.set(job.repoId, job.row);
    this.#keep(job);
  }

  #keep(job: Job<JobResult>): void {
    job.isKept = true;
    this.#options.book.keep(job.write);
  }

  #say(job: Job<JobResult>, level: LogLevel, message: string, fields: LogFields = {}): void {
    this.#options.log[level](message, fields);
    if (job.isKept || level !== 'info') job.say(level, message, fields);
  }

  /** Ends waiting for a job without a result; it is to be done by the next process. */
  #interrupt(job: Job<JobResult>, reason: unknown): void {
    if (this.#queue.running(job.repoId) === job) {
      job.stop(reason);
      return;
    }
    if (this.#queue.queued(job.repoId) !== job) return;
    this.#queue.remove(job);
    job.giveUp(reason);
  }

  /** What was stopped in an attempt waits as before. */
  #leave(job: Job<JobResult>, reason: unknown): void {
    job.say('info', 'the job was interrupted');
    job.end('PENDING');
    if (job.isKept) this.#keep(job);
    job.giveUp(reason);
  }

  /** The result of a job that failed before there was a repo, which is noted and logged. */
  fail(repo: string, cause: unknown, durationMs: number): JobResult {
    const error = messageOf(cause);
    this.#options.log.error('indexing failed', { repo, error });
    this.failed.note(repo, error);
    return failureOf(repo, error, durationMs);
  }

  /** Builds a repo again, as long as a shard of it is damaged. */
  buildAgain({ repoId, name }: RepoRecord): void {
    if (this.#rebuilt.has(repoId)) return;
    this.#retries.run(`repo ${repoId}`, 'the repo is built again', { repo: name }, () => {
      const damaged = this.#options.served.damagedRepo(repoId);
      // It ends without a word when the index is closed.
      if (damaged !== undefined) this.#build(damaged).catch(() => {});
    });
  }

  async #build(damaged: RepoRecord): Promise<void> {
    this.#rebuilt.add(damaged.repoId);
    const [result] = await this.indexAll([damaged], false, this.#stop.signal);
    this.#rebuilt.delete(damaged.repoId);
    const isDamaged = this.#options.served.damagedRepo(damaged.repoId) !== undefined;
    // What failed is tried again as every job is.
    if (isDamaged && result?.state === 'COMPLETED') this.buildAgain(damaged);
  }

  /** Stops what is under way, to be done by the next process; resolves when nothing is, and nothing begins any more. */
  async close(): Promise<void> {
    const reason = new Error('the index is being closed');
    this.#stop.abort(reason);
    this.#retries.close();
    this.#pauses.close();
    for (const job of this.#queue.all) this.#interrupt(job, reason);
    await this.whenIdle();
    await this.#options.book.close();
  }
}

/** What the store keeps of a result (API.md 13.3). */
function keptResult(result: JobResult): Record<string, unknown> {
  const { docCount, shardCount, contentSize, skipped, ignored, durationMs, warnings } = result;
  return {
    docs: docCount,
    shards: shardCount,
    bytes: contentSize,
    skipped,
    ignored: Object.fromEntries(Object.entries(ignored).slice(0, RULES_MAX)),
    warnings,
    durationMs,
  };
}

function failureOf(repo: string, error: string, durationMs: number): JobResult {
  return {
    repo,
    state: 'FAILED',
    isUnchanged: false,
    revisionCount: 0,
    docCount: 0,
    deadCount: 0,
    shardCount: 0,
    contentSize: 0,
    shardSize: 0,
    skipped: {},
    ignored: {},
    leftOut: {},
    warnings: [],
    durationMs,
    error,
  };
}
