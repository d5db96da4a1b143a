// What is to be indexed: one job after the other, whoever asks for it, and what came of each. A repo with a damaged shard
// is built again until none is.

import { messageOf } from '../base/caught.ts';
import type { Log } from '../base/log.ts';
import type { RepoRecord } from '../repos/records.ts';
import { totalOf } from '../sources/docs/ignored.ts';
import { FailedJobs } from './failed-jobs.ts';
import type { IndexOutcome, RepoIndexer } from './index-repo.ts';
import { warningsOf } from './job-warnings.ts';
import { News } from './news.ts';
import { Retries } from './retries.ts';
import type { Served } from './served.ts';

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
  readonly indexer: RepoIndexer;
  readonly served: Served;
  readonly log: Log;
}

export class Jobs {
  readonly #options: JobsOptions;
  readonly #retries: Retries;
  readonly #news = new News();
  /** Repos that are being built again, as they were damaged. */
  readonly #rebuilt = new Set<number>();
  readonly #stop = new AbortController();
  #last: Promise<unknown> = Promise.resolve();
  readonly failed = new FailedJobs();

  constructor(options: JobsOptions) {
    this.#options = options;
    this.#retries = new Retries(options.log);
  }

  /** Runs one job for each repo, in order. A failure is a result, not an error. */
  async indexAll(
    records: readonly RepoRecord[],
    isForced: boolean,
    signal?: AbortSignal,
  ): Promise<JobResult[]> {
    const results: JobResult[] = [];
    for (const record of records) {
      results.push(await this.inTurn(() => this.#runJob(record, isForced, signal)));
    }
    return results;
  }

  /** Runs a job when those before it have ended: one at a time, whoever asked for them. */
  inTurn<Result>(job: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.catch(() => {}).then(job);
    this.#last = turn;
    return turn;
  }

  /** Resolves when no job is under way or waiting. */
  async whenIdle(): Promise<void> {
    for (let last = this.#last; ; last = this.#last) {
      await last.catch(() => {});
      if (last === this.#last) return;
    }
  }

  async #runJob(
    record: RepoRecord,
    isForced: boolean,
    signal: AbortSignal | undefined,
  ): Promise<JobResult> {
    const { log, indexer } = this.#options;
    const startMs = performance.now();
    this.#stop.signal.throwIfAborted();
    signal?.throwIfAborted();
    try {
      const result = await indexer.index(record, isForced, signal);
      const warnings = warningsOf(record.source.kind, result);
      const job = {
        ...result,
        warnings,
        repo: record.name,
        state: 'COMPLETED' as const,
        durationMs: Math.round(performance.now() - startMs),
      };
      this.failed.clear(record.name);
      const { ignored, ...logged } = job;
      log.info('repo indexed', { ...logged, ignored: totalOf(ignored), warnings: warnings.length });
      for (const warning of this.#news.fresh(record.repoId, warnings, String))
        log.warn(warning, { repo: record.name });
      return job;
    } catch (error) {
      signal?.throwIfAborted();
      await this.#options.served.hideIfStray(record, error);
      return this.fail(record.name, error, Math.round(performance.now() - startMs));
    }
  }

  /** The result of a job that failed, which is noted and logged. */
  fail(repo: string, cause: unknown, durationMs: number): JobResult {
    const error = messageOf(cause);
    this.#options.log.error('indexing failed', { repo, error });
    this.failed.note(repo, error);
    return {
      repo,
      state: 'FAILED',
      isUnchanged: false,
      revisionCount: 0,
      docCount: 0,
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
    await this.indexAll([damaged], false, this.#stop.signal);
    this.#rebuilt.delete(damaged.repoId);
    if (this.#options.served.damagedRepo(damaged.repoId) !== undefined) this.buildAgain(damaged);
  }

  /** Stops building again; resolves when no job is under way, and none begins any more. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('the index is being closed'));
    this.#retries.close();
    await this.whenIdle();
  }
}
