// Index jobs: one for each repo to index, and their results. A repo with a damaged shard is built again until none is
// damaged. job-runner.ts schedules them.

import type { JobWrite } from '../../store/jobs.ts';
import { isDiskFull, messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import type { BuildProgress } from '../../engine/build/build.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { totalOf } from '../../sources/docs/ignored.ts';
import type { FailedJobs } from './failed-jobs.ts';
import { HostWaits } from './host-waits.ts';
import type { IndexContext, IndexOutcome, RepoIndexer } from './index-repo.ts';
import { type Job, PRIORITIES } from './job.ts';
import type { JobHistory } from './job-history.ts';
import type { JobLimits } from './job-limits.ts';
import { type JobKind, JobRunner, type JobRequest } from './job-runner.ts';
import { fetchReporter, type JobProgress, stepOfBuild, stepOfFetch } from './job-step.ts';
import { NewWarnings } from './new-warnings.ts';
import { Breather } from '../../base/next-turn.ts';
import { Retries } from '../../base/retries.ts';
import type { Served } from '../../index/served/served.ts';
import { UnchangedRepos } from './unchanged-repos.ts';

export const INDEX_QUEUE = 'repo-index';

/** The result of one job. */
export interface JobResult extends IndexOutcome {
  readonly repo: string;
  readonly state: 'COMPLETED' | 'FAILED';
  /** Sentences about what the user may not have intended. */
  readonly warnings: readonly string[];
  readonly durationMs: number;
  readonly error?: string;
}

type IndexJob = Job<RepoRecord, JobResult>;

export interface JobsOptions {
  readonly indexer: Pick<RepoIndexer, 'index' | 'markRebuildDue' | 'warningsOf'>;
  readonly served: Pick<Served, 'hideIfStray' | 'damagedRepo' | 'record'>;
  readonly jobHistory: JobHistory;
  readonly log: Log;
  /** The current limits. */
  readonly jobLimits: () => JobLimits;
  /** The host that the next job of a repo contacts; undefined: none. */
  readonly fetchHostOf: (record: RepoRecord) => string | undefined;
  /** Notified of the progress of the longest running job. */
  readonly onProgress?: ((repo: string, progress: BuildProgress) => void) | undefined;
}

/** Rules that a log line names, largest first. */
const LOGGED_RULES_MAX = 5;
/** Rules that a job result names. */
const RULES_MAX = 100;

export class Jobs {
  readonly #options: JobsOptions;
  readonly #retries: Retries;
  readonly #newWarnings = new NewWarnings();
  readonly #unchanged: UnchangedRepos;
  /** Repos being rebuilt because of damage. */
  readonly #rebuilt = new Set<number>();
  readonly #runner: JobRunner<RepoRecord, JobResult>;
  readonly #waits = new HostWaits(() => this.#runner.noteWaits());
  /** Warnings of the last job of each repo, by repoId; absent without warnings. */
  readonly warned = new Map<number, readonly string[]>();

  constructor(options: JobsOptions) {
    const { log, jobHistory, jobLimits: limits } = options;
    this.#options = options;
    this.#retries = new Retries(log);
    this.#unchanged = new UnchangedRepos({ log, isBusy: () => this.open.length > 0 });
    this.#runner = new JobRunner(this.#kind(), { jobHistory, log, limits });
  }

  #kind(): JobKind<RepoRecord, JobResult> {
    const { served, fetchHostOf } = this.#options;
    return {
      queue: INDEX_QUEUE,
      words: { target: 'repository', targets: 'repositories', done: 'indexed' },
      failing: 'indexing failed',
      idOf: ({ repoId }) => repoId,
      nameOf: ({ name }) => name,
      targetOf: (repoId) => served.record(repoId),
      priorityOf: (record) => {
        // The current record: a source watch may hold an old one.
        const { indexedAt } = served.record(record.repoId) ?? record;
        return indexedAt === undefined ? PRIORITIES.first : PRIORITIES.scheduled;
      },
      isBlocked: (record) => this.#waits.isBlocked(() => fetchHostOf(record)),
      isIdle: (repoId) => this.#waits.isIdle(repoId),
      attempt: (job) => this.#index(job),
      keptOf: keptResult,
      failureOf: ({ name }, error, durationMs) => failureOf(name, error, durationMs),
      onFailure: (record, cause) => this.#hideIfStray(record, cause),
      onCompleted: (job, result) => this.#note(job, result),
    };
  }

  get failed(): FailedJobs {
    return this.#runner.failed;
  }

  /**
   * Restores jobs of the previous process. Call before any request.
   *
   * @param nameOf  the name of a repo in the index; undefined: unknown id
   */
  async recall(nameOf: (repoId: number) => string | undefined): Promise<void> {
    this.#runner.recall(await this.#options.jobHistory.read(), nameOf);
  }

  /** Ends restored jobs that nobody requested: their repos are no longer served. */
  failInterrupted(): void {
    this.#runner.failInterrupted();
  }

  /** Unfinished jobs, and restored ones. */
  get open(): readonly IndexJob[] {
    return this.#runner.open;
  }

  get interrupted(): readonly JobWrite[] {
    return this.#runner.interrupted;
  }

  /**
   * Requests a job of a repo: the queued one if there is one, else a new one that follows the running one.
   *
   * Errors: the index is closing.
   */
  request(record: RepoRecord, options: JobRequest = {}): IndexJob {
    return this.#runner.request(record, options);
  }

  /** Requests a job that is stored from now on; returns its id. Errors: as `request`. */
  requestPersisted(record: RepoRecord): Promise<string> {
    return this.#runner.requestPersisted(record);
  }

  /** Runs one job for each repo; returns their results in order. A failure is a result, not an error. */
  async indexAll(
    records: readonly RepoRecord[],
    isForced: boolean,
    signal?: AbortSignal,
  ): Promise<JobResult[]> {
    return await (
      await this.requestAll(records, isForced, signal)
    ).results;
  }

  /**
   * Requests one job for each repo, yielding in between, as 5,000 take a tenth of a second.
   *
   * @returns  once all are requested, their later results, in order; a failure is a result, not an error
   *
   * Errors: the reason of the signal; the requested jobs are interrupted.
   */
  async requestAll(
    records: readonly RepoRecord[],
    isForced: boolean,
    signal?: AbortSignal,
  ): Promise<{ readonly results: Promise<JobResult[]> }> {
    signal?.throwIfAborted();
    // Why now: if this process ends while they wait, the next one builds them.
    if (isForced) await this.#options.indexer.markRebuildDue(records.map(({ repoId }) => repoId));
    signal?.throwIfAborted();
    const jobs: IndexJob[] = [];
    const stop = (): void => {
      for (const job of jobs) this.#runner.interrupt(job, signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
    // Why at once: after a failure the job gets a new outcome.
    const outcomes: Promise<JobResult>[] = [];
    const breather = new Breather();
    for (const record of records) {
      signal?.throwIfAborted();
      const job = this.request(record, { isForced });
      jobs.push(job);
      outcomes.push(job.outcome);
      const pause = breather.pause();
      if (pause !== undefined) await pause;
    }
    const results = Promise.all(outcomes).finally(() => signal?.removeEventListener('abort', stop));
    results.catch(() => {}); // There may be no waiters.
    return { results };
  }

  /**
   * Indexes a repo whose source has changed; shortens the pause after a failure. Resolves with whether the job
   * succeeded; at once with false if the repo waits. Errors: none.
   */
  async indexChanged(record: RepoRecord, signal: AbortSignal): Promise<boolean> {
    if (this.#runner.hasten(record.repoId)) return false;
    const [result] = await this.indexAll([record], false, signal).catch(() => []);
    return result?.state === 'COMPLETED';
  }

  /** Runs `work` with those of the repos without a running job; none starts meanwhile. */
  without<Result>(
    repoIds: readonly number[],
    work: (free: ReadonlySet<number>) => Promise<Result>,
  ): Promise<Result> {
    return this.#runner.without(repoIds, work);
  }

  /** Resolves when all running jobs only wait for a silent code host, and none can start. */
  whenQuiet(): Promise<void> {
    return this.#runner.whenQuiet();
  }

  /** Resolves when no job runs, and none can start. */
  whenIdle(): Promise<void> {
    return this.#runner.whenIdle();
  }

  /** Ends the jobs of removed repos. */
  cancel(repoIds: readonly number[]): void {
    for (const repoId of repoIds) {
      this.warned.delete(repoId);
      this.#runner.cancel(repoId);
    }
  }

  async #index(job: IndexJob): Promise<JobResult> {
    const { indexer, fetchHostOf, onProgress } = this.#options;
    const startMs = performance.now();
    const warnings: string[] = [];
    const { target: record } = job;
    this.#waits.begin(job.targetId, () => fetchHostOf(record));
    const report = fetchReporter((message, fields) => job.say('info', message, fields));
    const context = {
      signal: job.signal,
      warn: (message, fields) => this.#runner.say(job, 'warn', message, fields),
      onWarning: (sentence) => warnings.push(sentence),
      onWork: () => {
        if (!job.isKept) this.#runner.keep(job);
      },
      onFetch: (step) => {
        job.progress = stepOfFetch(step);
        report(step);
      },
      onHost: (host, event) => this.#waits.note(job.targetId, host, event),
      onFetched: () => this.#waits.end(job.targetId),
      onProgress: (progress) => {
        job.progress = stepOfBuild(progress);
        if (this.#runner.first === job) onProgress?.(record.name, progress);
      },
    } satisfies IndexContext;
    const outcome = await indexer.index(record, job.isForced, context).catch((error: unknown) => {
      this.#waits.fail(job.targetId, error);
      throw withNeed(error, job.progress);
    });
    const { name } = record;
    const missed = await indexer.warningsOf(record, outcome);
    return {
      ...outcome,
      warnings: [...warnings, ...missed],
      repo: name,
      state: 'COMPLETED',
      durationMs: Math.round(performance.now() - startMs),
    };
  }

  /** Logs the result of a job. */
  #note(job: IndexJob, result: JobResult): void {
    const { ignored, warnings, ...logged } = result;
    const by = Object.entries(ignored).slice(0, LOGGED_RULES_MAX);
    const fields = {
      ...logged,
      ignored: totalOf(ignored),
      ...(by.length === 0 ? {} : { ignoredBy: Object.fromEntries(by) }),
      warnings: warnings.length,
    };
    // Stored jobs have lines of their own.
    if (result.isUnchanged && !job.isKept) this.#unchanged.note(fields);
    else this.#runner.say(job, 'info', 'repo indexed', fields);
    for (const warning of this.#newWarnings.fresh(job.targetId, warnings))
      this.#runner.say(job, 'warn', warning, { repo: result.repo });
    if (warnings.length > 0) this.warned.set(job.targetId, warnings);
    else this.warned.delete(job.targetId);
  }

  async #hideIfStray(record: RepoRecord, cause: unknown): Promise<void> {
    await this.#options.served.hideIfStray(record, cause).catch((error: unknown) =>
      this.#options.log.error('a repo could not be hidden', {
        repo: record.name,
        error: messageOf(error),
      }),
    );
  }

  /** The logged result of a job that failed before there was a repo. */
  fail(repo: string, cause: unknown, durationMs: number): JobResult {
    const error = messageOf(cause);
    this.#options.log.error('indexing failed', { repo, error });
    this.failed.note(repo, repo, error);
    return failureOf(repo, error, durationMs);
  }

  /** Rebuilds a repo while one of its shards is damaged. */
  buildAgain({ repoId, name }: RepoRecord): void {
    if (this.#rebuilt.has(repoId)) return;
    this.#retries.run(`repo ${repoId}`, 'the repo is built again', { repo: name }, () => {
      const damaged = this.#options.served.damagedRepo(repoId);
      // It stops silently when the index is closed.
      if (damaged !== undefined) this.#build(damaged).catch(() => {});
    });
  }

  async #build(damaged: RepoRecord): Promise<void> {
    this.#rebuilt.add(damaged.repoId);
    const [result] = await this.indexAll([damaged], false, this.#runner.signal);
    this.#rebuilt.delete(damaged.repoId);
    const isDamaged = this.#options.served.damagedRepo(damaged.repoId) !== undefined;
    // A failed rebuild is retried like any job.
    if (isDamaged && result?.state === 'COMPLETED') this.buildAgain(damaged);
  }

  /**
   * Stops running jobs, for the next process to run; resolves when none runs. No job starts any more. Closes the job
   * book too, so jobs of other queues must have ended.
   */
  async close(): Promise<void> {
    this.#retries.close();
    await this.#runner.close();
    this.#unchanged.report();
    await this.#options.jobHistory.close();
  }
}

/** Adds the required size to an out-of-space error, if it is known. */
function withNeed(error: unknown, progress: JobProgress | undefined): unknown {
  const size = progress?.unit === 'bytes' ? progress.total : 0;
  if (!(error instanceof Error) || !isDiskFull(error) || size === 0) return error;
  const message = `${error.message} (the contents alone take ${size} bytes there)`;
  return Object.assign(error, { message });
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
    excluded: {},
    warnings: [],
    durationMs,
    error,
  };
}
