// What is to be indexed: a job for each repo, and what came of each. A repo with a damaged shard is built again until none is.
// How jobs follow each other is job-runner.ts.

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
import type { JobBook } from './job-book.ts';
import type { JobLimits } from './job-limits.ts';
import { type JobKind, JobRunner, type JobWish } from './job-runner.ts';
import { fetchTeller, type JobProgress, stepOfBuild, stepOfFetch } from './job-step.ts';
import { News } from './news.ts';
import { Breather } from '../../base/next-turn.ts';
import { Retries } from '../../base/retries.ts';
import type { Served } from '../../index/served/served.ts';
import { UnchangedRepos } from './unchanged-repos.ts';

/** The queue of index jobs. */
export const INDEX_QUEUE = 'repo-index';

/** What one job did. */
export interface JobResult extends IndexOutcome {
  readonly repo: string;
  readonly state: 'COMPLETED' | 'FAILED';
  /** What the user may not have meant, a sentence each. */
  readonly warnings: readonly string[];
  readonly durationMs: number;
  readonly error?: string;
}

type IndexJob = Job<RepoRecord, JobResult>;

export interface JobsOptions {
  readonly indexer: Pick<RepoIndexer, 'index' | 'owe' | 'warningsOf'>;
  readonly served: Pick<Served, 'hideIfStray' | 'damagedRepo' | 'record'>;
  readonly book: JobBook;
  readonly log: Log;
  /** As they are now. */
  readonly jobLimits: () => JobLimits;
  /** The host that the next job of a repo asks; undefined: none. */
  readonly hostToAsk: (record: RepoRecord) => string | undefined;
  /** Told how far the job is that has been under way for the longest time. */
  readonly onProgress?: ((repo: string, progress: BuildProgress) => void) | undefined;
}

/** Rules that a line of the log names, those that leave out most. */
const LOGGED_RULES_MAX = 5;
/** Rules that the result of a job names. */
const RULES_MAX = 100;

export class Jobs {
  readonly #options: JobsOptions;
  readonly #retries: Retries;
  readonly #news = new News();
  readonly #unchanged: UnchangedRepos;
  /** Repos that are being built again, as they were damaged. */
  readonly #rebuilt = new Set<number>();
  readonly #runner: JobRunner<RepoRecord, JobResult>;
  readonly #waits = new HostWaits(() => this.#runner.noteWaits());
  /** What each job of a plain folder warns of, by repoId. */
  readonly oddities = new Map<number, readonly string[]>();
  /** What the last job of each repo warned of, by repoId; those that did not are not in it. */
  readonly warned = new Map<number, readonly string[]>();

  constructor(options: JobsOptions) {
    const { log, book, jobLimits: limits } = options;
    this.#options = options;
    this.#retries = new Retries(log);
    this.#unchanged = new UnchangedRepos({ log, isBusy: () => this.open.length > 0 });
    this.#runner = new JobRunner(this.#kind(), { book, log, limits });
  }

  #kind(): JobKind<RepoRecord, JobResult> {
    const { served, hostToAsk } = this.#options;
    return {
      queue: INDEX_QUEUE,
      words: { target: 'repository', targets: 'repositories', done: 'indexed' },
      failing: 'indexing failed',
      idOf: ({ repoId }) => repoId,
      nameOf: ({ name }) => name,
      targetOf: (repoId) => served.record(repoId),
      priorityOf: (record) => {
        // As it is now: who watches a source has kept the record of the beginning.
        const { indexedAt } = served.record(record.repoId) ?? record;
        return indexedAt === undefined ? PRIORITIES.first : PRIORITIES.scheduled;
      },
      isHeldUp: (record) => this.#waits.isHeldUp(() => hostToAsk(record)),
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
   * Takes over what the process before has noted. Before anything is asked for.
   *
   * @param nameOf  the name of a repo in the index; undefined: there is none of this id
   */
  async recall(nameOf: (repoId: number) => string | undefined): Promise<void> {
    this.#runner.recall(await this.#options.book.read(), nameOf);
  }

  /** Ends what the process before has left undone and nobody has asked for: those repos are not served any more. */
  forgetLeft(): void {
    this.#runner.forgetLeft();
  }

  /** Those that have not ended, and those that wait to be taken up again. */
  get open(): readonly IndexJob[] {
    return this.#runner.open;
  }

  get left(): readonly JobWrite[] {
    return this.#runner.left;
  }

  /**
   * Asks for a job of a repo: the one that is queued already, if there is one; one more after that which is under way.
   *
   * Errors: the index is being closed.
   */
  ask(record: RepoRecord, wish: JobWish = {}): IndexJob {
    return this.#runner.ask(record, wish);
  }

  /** Asks for a job that is kept from now on; returns its id. Errors: as `ask`. */
  askKept(record: RepoRecord): Promise<string> {
    return this.#runner.askKept(record);
  }

  /** Runs one job for each repo; their results in order. A failure is a result, not an error. */
  async indexAll(
    records: readonly RepoRecord[],
    isForced: boolean,
    signal?: AbortSignal,
  ): Promise<JobResult[]> {
    return await (
      await this.askAll(records, isForced, signal)
    ).results;
  }

  /**
   * Asks for one job of each repo; others have turns meanwhile, as 5,000 take a tenth of a second.
   *
   * @returns  once all are asked for, their results to come, in order; a failure is a result, not an error
   *
   * Errors: the reason of the signal, and those asked for are interrupted.
   */
  async askAll(
    records: readonly RepoRecord[],
    isForced: boolean,
    signal?: AbortSignal,
  ): Promise<{ readonly results: Promise<JobResult[]> }> {
    signal?.throwIfAborted();
    // Why now: whatever ends this process while they wait, the next one builds them.
    if (isForced) await this.#options.indexer.owe(records.map(({ repoId }) => repoId));
    signal?.throwIfAborted();
    const jobs: IndexJob[] = [];
    const stop = (): void => {
      for (const job of jobs) this.#runner.interrupt(job, signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
    // Why at once: a job that waits after a failure has another outcome.
    const outcomes: Promise<JobResult>[] = [];
    const breather = new Breather();
    for (const record of records) {
      signal?.throwIfAborted();
      const job = this.ask(record, { isForced });
      jobs.push(job);
      outcomes.push(job.outcome);
      const pause = breather.pause();
      if (pause !== undefined) await pause;
    }
    const results = Promise.all(outcomes).finally(() => signal?.removeEventListener('abort', stop));
    results.catch(() => {}); // Nobody may wait.
    return { results };
  }

  /**
   * Has a repo indexed whose source has changed; of one that waits after a failure the next attempt comes soon. Resolves when
   * the job is done, with whether it could be; at once, with false, where it waits. Errors: none.
   */
  async indexChanged(record: RepoRecord, signal: AbortSignal): Promise<boolean> {
    if (this.#runner.hasten(record.repoId)) return false;
    const [result] = await this.indexAll([record], false, signal).catch(() => []);
    return result?.state === 'COMPLETED';
  }

  /** Does `work` with those of these repos of which no job is under way, nor begins meanwhile. */
  without<Result>(
    repoIds: readonly number[],
    work: (free: ReadonlySet<number>) => Promise<Result>,
  ): Promise<Result> {
    return this.#runner.without(repoIds, work);
  }

  /** Resolves when no job does more than wait for a code host that says nothing, and none could begin. */
  whenQuiet(): Promise<void> {
    return this.#runner.whenQuiet();
  }

  /** Resolves when no job is under way, and none could begin. */
  whenIdle(): Promise<void> {
    return this.#runner.whenIdle();
  }

  /** Ends the jobs of repos that are gone. */
  cancel(repoIds: readonly number[]): void {
    for (const repoId of repoIds) {
      this.warned.delete(repoId);
      this.oddities.delete(repoId);
      this.#runner.cancel(repoId);
    }
  }

  async #index(job: IndexJob): Promise<JobResult> {
    const { indexer, hostToAsk, onProgress } = this.#options;
    const startMs = performance.now();
    const warnings: string[] = [];
    const { target: record } = job;
    this.#waits.begin(job.targetId, () => hostToAsk(record));
    const tell = fetchTeller((message, fields) => job.say('info', message, fields));
    const context = {
      signal: job.signal,
      warn: (message, fields) => this.#runner.say(job, 'warn', message, fields),
      onWarning: (sentence) => warnings.push(sentence),
      onWork: () => {
        if (!job.isKept) this.#runner.keep(job);
      },
      onFetch: (step) => {
        job.progress = stepOfFetch(step);
        tell(step);
      },
      onHost: (host, news) => this.#waits.note(job.targetId, host, news),
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
    const { repoId, name, source } = record;
    const odd = source.kind === 'folder' ? (this.oddities.get(repoId) ?? []) : [];
    const missed = await indexer.warningsOf(record, outcome);
    return {
      ...outcome,
      warnings: [...odd, ...warnings, ...missed],
      repo: name,
      state: 'COMPLETED',
      durationMs: Math.round(performance.now() - startMs),
    };
  }

  /** Tells what a job did. */
  #note(job: IndexJob, result: JobResult): void {
    const { ignored, warnings, ...logged } = result;
    const by = Object.entries(ignored).slice(0, LOGGED_RULES_MAX);
    const fields = {
      ...logged,
      ignored: totalOf(ignored),
      ...(by.length === 0 ? {} : { ignoredBy: Object.fromEntries(by) }),
      warnings: warnings.length,
    };
    // What is kept has lines of its own.
    if (result.isUnchanged && !job.isKept) this.#unchanged.note(fields);
    else this.#runner.say(job, 'info', 'repo indexed', fields);
    for (const warning of this.#news.fresh(job.targetId, warnings))
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

  /** The result of a job that failed before there was a repo, which is noted and logged. */
  fail(repo: string, cause: unknown, durationMs: number): JobResult {
    const error = messageOf(cause);
    this.#options.log.error('indexing failed', { repo, error });
    this.failed.note(repo, repo, error);
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
    const [result] = await this.indexAll([damaged], false, this.#runner.signal);
    this.#rebuilt.delete(damaged.repoId);
    const isDamaged = this.#options.served.damagedRepo(damaged.repoId) !== undefined;
    // What failed is tried again as every job is.
    if (isDamaged && result?.state === 'COMPLETED') this.buildAgain(damaged);
  }

  /**
   * Stops what is under way, to be done by the next process; resolves when nothing is, and nothing begins any more. The book is
   * closed with it: jobs of other queues have ended before.
   */
  async close(): Promise<void> {
    this.#retries.close();
    await this.#runner.close();
    this.#unchanged.tell();
    await this.#options.book.close();
  }
}

/** An error that says that there is no room says from now on how much is needed, as far as that is known. */
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
    leftOut: {},
    warnings: [],
    durationMs,
    error,
  };
}
