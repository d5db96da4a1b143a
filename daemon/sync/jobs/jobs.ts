// Index jobs: one for each repo to index, and their results. A repo with a damaged shard is built again until none is
// damaged. job-runner.ts schedules them.

import type { JobRows } from '../../store/jobs.ts';
import { isDiskFull, messageOf } from '../../base/caught.ts';
import { DAY_MS, HOUR_MS } from '../../base/durations.ts';
import type { Log } from '../../base/log.ts';
import type { BuildProgress } from '../../engine/build/build.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { totalOf } from '../../sources/docs/ignored.ts';
import type { IndexContext, IndexOutcome, RepoIndexer } from './index-repo.ts';
import { type Job, PRIORITIES } from './job.ts';
import type { JobLimits } from './job-limits.ts';
import { JobRunner, type JobWords, type KeptResult } from './job-runner.ts';
import { fetchReporter, type JobProgress, stepOfBuild } from './job-step.ts';
import { LoopYielder } from '../../base/next-time-slice.ts';
import { Retries } from '../../base/retries.ts';
import type { Served } from '../../index/served/served.ts';

export const INDEX_QUEUE = 'repo-index';

const WORDS: JobWords = {
  queue: INDEX_QUEUE,
  target: 'repository',
  targets: 'repositories',
  done: 'indexed',
  failing: 'indexing failed',
};

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
  readonly indexer: Pick<RepoIndexer, 'index' | 'markRebuildDue' | 'unchanged' | 'warningsOf'>;
  readonly served: Pick<Served, 'hideIfDetached' | 'damagedRepo' | 'record'>;
  readonly jobRows: JobRows;
  readonly instance: string;
  readonly log: Log;
  readonly jobLimits: () => JobLimits;
  /** The host that the next job of a repo contacts; undefined: none. */
  readonly fetchHostOf: (record: RepoRecord) => string | undefined;
  /** Notified of the progress of the longest running job. */
  readonly onProgress?: ((repo: string, progress: BuildProgress) => void) | undefined;
}

/** Bound: lines of the log about repos that did not change; one line counts further ones. */
const UNCHANGED_LINES_MAX = 10;

/** API.md 20.2: how long jobs stay in the store. */
const KEPT_MS = 14 * DAY_MS;

export class Jobs extends JobRunner<RepoRecord, JobResult> {
  readonly #options: JobsOptions;
  readonly #retries: Retries;
  readonly #pruning: NodeJS.Timeout;
  /** Repos found unchanged since the last request or change. */
  #unchangedCount = 0;
  readonly #rebuilt = new Set<number>();
  /** Warnings of the last job of each repo, by repoId; absent without warnings. */
  readonly warned = new Map<number, readonly string[]>();

  constructor(options: JobsOptions) {
    super(WORDS, { ...options, limits: options.jobLimits });
    this.#options = options;
    this.#retries = new Retries(options.log);
    this.#pruning = setInterval(() => void this.#prune(), 6 * HOUR_MS).unref();
  }

  protected override idOf({ repoId }: RepoRecord): number {
    return repoId;
  }

  protected override targetOf(repoId: number): RepoRecord | undefined {
    return this.#options.served.record(repoId);
  }

  protected override priorityOf(record: RepoRecord): number {
    // Why not the record of the caller: a source watch may hold an old one.
    const { indexedAt } = this.targetOf(record.repoId) ?? record;
    return indexedAt === undefined ? PRIORITIES.first : PRIORITIES.scheduled;
  }

  protected override hostOf(record: RepoRecord): string {
    return this.#options.fetchHostOf(record) ?? '';
  }

  override async recall(nameOf: (repoId: number) => string | undefined): Promise<void> {
    await super.recall(nameOf);
    void this.#prune();
  }

  async #prune(): Promise<void> {
    const { jobRows, log } = this.#options;
    try {
      await jobRows.prune(Date.now() - KEPT_MS);
    } catch (error) {
      log.warn('old jobs could not be removed', { error: messageOf(error) });
    }
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
   * Requests a job for each repo that may have changed. Yields in between, as 5,000 take a tenth of a second.
   * @returns  once all are requested, as `indexAll`. Errors: the reason of the signal, which interrupts the jobs.
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
    this.#unchangedCount = 0;
    const jobs: IndexJob[] = [];
    const stop = (): void => {
      for (const job of jobs) this.interrupt(job, signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
    // Why at once: after a failure the job gets a new outcome.
    const outcomes: Promise<JobResult>[] = [];
    const yielder = new LoopYielder();
    for (const record of records) {
      const unchanged = isForced ? undefined : await this.#unchanged(record);
      signal?.throwIfAborted();
      const job = unchanged === undefined ? this.request(record, { isForced }) : undefined;
      if (job !== undefined) jobs.push(job);
      outcomes.push(job?.outcome ?? Promise.resolve(unchanged!));
      const pause = yielder.pause();
      if (pause !== undefined) await pause;
    }
    const results = Promise.all(outcomes)
      .then((all) => this.#countUnchanged(all))
      .finally(() => signal?.removeEventListener('abort', stop));
    results.catch(() => {}); // There may be no waiters.
    return { results };
  }

  /** The result of a job that would find nothing changed: no row for it. Undefined: a job must find out. */
  async #unchanged(record: RepoRecord): Promise<JobResult | undefined> {
    const { repoId } = record;
    const hasJob =
      this.unfinished.has(repoId) || this.running.has(repoId) || this.pending.has(repoId);
    if (hasJob || this.failed.reasonOf(repoId) !== undefined) return undefined;
    const startMs = performance.now();
    const outcome = await this.#options.indexer.unchanged(record);
    if (outcome === undefined) return undefined;
    const result = await this.#resultOf(record, outcome, [], startMs);
    this.#note(repoId, result);
    return result;
  }

  /** Indexes a repo whose source has changed. Resolves with whether the job succeeded. Errors: none. */
  async indexChanged(record: RepoRecord, signal: AbortSignal): Promise<boolean> {
    try {
      const job = this.request(record, { dueAt: this.dueAfterChange(record.repoId) });
      const stop = (): void => this.interrupt(job, signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      const result = await job.outcome.finally(() => signal.removeEventListener('abort', stop));
      return result.state === 'COMPLETED';
    } catch {
      return false;
    }
  }

  override cancel(repoIds: readonly number[]): void {
    for (const repoId of repoIds) this.warned.delete(repoId);
    super.cancel(repoIds);
  }

  protected override async attempt(job: IndexJob): Promise<JobResult> {
    const { indexer, onProgress } = this.#options;
    const startMs = performance.now();
    const warnings: string[] = [];
    const { target: record } = job;
    const report = fetchReporter((message, fields) => job.say('info', message, fields));
    const context = {
      signal: job.signal,
      warn: (message, fields) => this.say(job, 'warn', message, fields),
      onWarning: (sentence) => warnings.push(sentence),
      onWork: () => {
        job.isKept = true;
      },
      onFetch: (step) => {
        job.progress = step;
        report(step);
      },
      onFetched: () => this.fetched(job),
      onProgress: (progress) => {
        job.progress = stepOfBuild(progress);
        if (this.open[0] === job) onProgress?.(record.name, progress);
      },
    } satisfies IndexContext;
    const outcome = await indexer.index(record, job.isForced, context).catch((error: unknown) => {
      throw withNeed(error, job.progress);
    });
    return this.#resultOf(record, outcome, warnings, startMs);
  }

  async #resultOf(
    record: RepoRecord,
    outcome: IndexOutcome,
    warnings: readonly string[],
    startMs: number,
  ): Promise<JobResult> {
    const missed = await this.#options.indexer.warningsOf(record, outcome);
    return {
      ...outcome,
      warnings: [...warnings, ...missed],
      repo: record.name,
      state: 'COMPLETED',
      durationMs: Math.round(performance.now() - startMs),
    };
  }

  protected override onCompleted(job: IndexJob, result: JobResult): void {
    this.#note(job.targetId, result, job);
  }

  #note(repoId: number, result: JobResult, job?: IndexJob): void {
    const { ignored, warnings, ...logged } = result;
    // The largest first.
    const by = Object.entries(ignored).slice(0, 5);
    const fields = {
      ...logged,
      ignored: totalOf(ignored),
      ...(by.length === 0 ? {} : { ignoredBy: Object.fromEntries(by) }),
      warnings: warnings.length,
    };
    // Stored jobs have lines of their own.
    if (!result.isUnchanged || job?.isKept === true) {
      this.#unchangedCount = 0;
      this.say(job, 'info', 'repo indexed', fields);
    } else if (this.#unchangedCount++ < UNCHANGED_LINES_MAX)
      this.#options.log.info('repo indexed', fields);
    // Why: a repo that is kept up to date has a job for each commit with the same warnings.
    const reported = new Set((this.warned.get(repoId) ?? []).map(withoutNumbers));
    for (const warning of warnings.filter((text) => !reported.has(withoutNumbers(text))))
      this.say(job, 'warn', warning, { repo: result.repo });
    if (warnings.length > 0) this.warned.set(repoId, warnings);
    else this.warned.delete(repoId);
  }

  /** Logs how many of a request did not change, if they are too many for a line each. */
  #countUnchanged(results: JobResult[]): JobResult[] {
    const repos = results.filter(({ isUnchanged }) => isUnchanged).length;
    if (repos > UNCHANGED_LINES_MAX)
      this.#options.log.info('repos checked: nothing changed', { repos });
    return results;
  }

  protected override async onFailure(record: RepoRecord, cause: unknown): Promise<void> {
    await this.#options.served.hideIfDetached(record, cause).catch((error: unknown) =>
      this.#options.log.error('a repo could not be hidden', {
        repo: record.name,
        error: messageOf(error),
      }),
    );
  }

  protected override keptOf(result: JobResult): KeptResult {
    const { docCount, shardCount, contentSize, skipped, ignored, durationMs, warnings } = result;
    return {
      docs: docCount,
      shards: shardCount,
      bytes: contentSize,
      skipped,
      ignored: Object.fromEntries(Object.entries(ignored).slice(0, 100)),
      warnings,
      durationMs,
    };
  }

  protected override failureOf(
    { name }: Pick<RepoRecord, 'name'>,
    error: string,
    durationMs: number,
  ): JobResult {
    return {
      repo: name,
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

  /** The logged result of a job that failed before there was a repo. */
  fail(repo: string, cause: unknown, durationMs: number): JobResult {
    const error = messageOf(cause);
    this.#options.log.error('indexing failed', { repo, error });
    this.failed.note(repo, repo, error);
    return this.failureOf({ name: repo }, error, durationMs);
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
    const { state } = await this.request(damaged).outcome;
    this.#rebuilt.delete(damaged.repoId);
    const isDamaged = this.#options.served.damagedRepo(damaged.repoId) !== undefined;
    // A failed rebuild is retried like any job.
    if (isDamaged && state === 'COMPLETED') this.buildAgain(damaged);
  }

  override async close(): Promise<void> {
    clearInterval(this.#pruning);
    this.#retries.close();
    await super.close();
  }
}

function withoutNumbers(text: string): string {
  return text.replaceAll(/\d+/g, '#');
}

/** Adds the required size to an out-of-space error, if it is known. */
function withNeed(error: unknown, progress: JobProgress | undefined): unknown {
  const size = progress?.unit === 'bytes' ? progress.total : 0;
  if (!(error instanceof Error) || !isDiskFull(error) || size === 0) return error;
  const message = `${error.message} (the contents alone take ${size} bytes there)`;
  return Object.assign(error, { message });
}
