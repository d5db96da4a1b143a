// Stores jobs in the background, several per transaction, so that no job waits for the store. While the store cannot be
// written, changes wait here up to a limit and jobs continue.

import { DAY_MS, HOUR_MS } from '../../base/durations.ts';
import { JOB_STATES, type JobState } from '../../repos/jobs.ts';
import type { JobRows, JobWrite, StoredJob } from '../../store/jobs.ts';
import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import { ascendFrom } from './job.ts';

export interface JobHistoryOptions {
  readonly rows: JobRows;
  /** The daemon that runs the jobs. */
  readonly instance: string;
  readonly log: Log;
}

/** Jobs that one transaction writes. */
const BATCH_COUNT = 100;
/** Guess: jobs that wait for the store; the oldest are dropped. */
const UNWRITTEN_MAX = 1_000;
/** Guess: pause before the store is tried again. */
const PAUSE_MS = 5_000;
/**
 * Changes within this time are one transaction, as each one stops the event loop until the disk has it. A kill loses
 * jobs whose repositories are checked again at the next start.
 * Measured: 2026-11-23, first index of 150 repositories: 22 ms a repository when each job was written twice or more.
 */
const GATHER_MS = 200;

const KEPT_MS = 14 * DAY_MS;
const PRUNE_MS = 6 * HOUR_MS;

export class JobHistory {
  readonly #options: JobHistoryOptions;
  readonly #unwritten = new Map<string, JobWrite>();
  readonly #gone = new Set<string>();
  #writing: Promise<void> | undefined;
  #nextWrite: NodeJS.Timeout | undefined;
  #hasFailed = false;
  readonly #pruning: NodeJS.Timeout;

  constructor(options: JobHistoryOptions) {
    this.#options = options;
    this.#pruning = setInterval(() => void this.#prune(), PRUNE_MS).unref();
  }

  /** The last job of each repo that failed or has not ended; of the latter also the log lines. */
  async read(): Promise<readonly JobWrite[]> {
    const { rows, instance, log } = this.#options;
    try {
      const open = await rows.open(instance);
      const newest = await rows.list(instance, { states: JOB_STATES, offset: 0, limit: 1 });
      for (const { ordinal } of newest.rows) ascendFrom(ordinal);
      const jobs: JobWrite[] = [];
      for (const job of open) {
        const isOver = job.state === 'FAILED';
        const lines = isOver ? undefined : await rows.linesOf(instance, job.queue, job.id);
        jobs.push({ ...job, lines: lines ?? '[]' });
      }
      void this.#prune();
      return jobs;
    } catch (error) {
      log.warn('the jobs of the previous process could not be read', { error: messageOf(error) });
      return [];
    }
  }

  /** Stores the current state of a job. */
  keep(job: JobWrite): void {
    this.#unwritten.delete(job.id);
    this.#unwritten.set(job.id, job);
    this.#writeSoon();
  }

  /** Stops storing a job. */
  drop(id: string): void {
    this.#unwritten.delete(id);
    this.#gone.add(id);
    this.#writeSoon();
  }

  /** Resolves when everything is written, or cannot be. */
  async settled(): Promise<void> {
    this.#writeNow();
    await this.#writing;
  }

  /** Undefined: no such job. Errors: NOT_READY, as for all reads. */
  async linesOf(queue: string, id: string): Promise<string | undefined> {
    const job = this.#unwritten.get(id);
    if (job !== undefined) return job.queue === queue ? job.lines : undefined;
    return this.#options.rows.linesOf(this.#options.instance, queue, id);
  }

  /** The last job of each of these repos, if there is one. */
  async latest(queue: string, repoIds: readonly number[]): Promise<Map<number, StoredJob>> {
    const rows = await this.#options.rows.latest(this.#options.instance, queue, repoIds);
    const found = new Map(rows.map((job) => [job.targetId, job]));
    const requested = new Set(repoIds);
    for (const job of this.#unwritten.values()) {
      const isLater = job.ordinal >= (found.get(job.targetId)?.ordinal ?? 0);
      if (requested.has(job.targetId) && isLater) found.set(job.targetId, job);
    }
    return found;
  }

  /** Jobs that have ended, newest first. */
  async ended(
    queue: string | undefined,
    states: readonly JobState[],
    window: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly total: number; readonly rows: readonly StoredJob[] }> {
    await this.settled();
    return this.#options.rows.list(this.#options.instance, { queue, states, ...window });
  }

  #writeSoon(pauseMs = GATHER_MS): void {
    this.#nextWrite ??= setTimeout(() => this.#writeNow(), pauseMs).unref();
  }

  #writeNow(): void {
    clearTimeout(this.#nextWrite);
    this.#nextWrite = undefined;
    if (this.#unwritten.size + this.#gone.size > 0) this.#writing ??= this.#write();
  }

  /** Errors: none. */
  async #write(): Promise<void> {
    try {
      await this.#writeAll();
    } finally {
      // Why here: jobs added before a later reset would not be written.
      this.#writing = undefined;
    }
  }

  /** Errors: none. */
  async #writeAll(): Promise<void> {
    while (this.#unwritten.size + this.#gone.size > 0) {
      const jobs = [...this.#unwritten.values()].slice(0, BATCH_COUNT);
      const gone = [...this.#gone];
      try {
        await this.#options.rows.write(this.#options.instance, jobs, gone);
      } catch (error) {
        this.#failed(error);
        return;
      }
      this.#hasFailed = false;
      for (const id of gone) this.#gone.delete(id);
      // It may have changed meanwhile.
      for (const job of jobs)
        if (this.#unwritten.get(job.id) === job) this.#unwritten.delete(job.id);
    }
  }

  #failed(error: unknown): void {
    if (!this.#hasFailed)
      this.#options.log.warn('jobs continue, but cannot be stored now', {
        error: messageOf(error),
      });
    this.#hasFailed = true;
    for (const id of this.#unwritten.keys())
      if (this.#unwritten.size > UNWRITTEN_MAX) this.#unwritten.delete(id);
    this.#writeSoon(PAUSE_MS);
  }

  /** Errors: none. */
  async #prune(): Promise<void> {
    try {
      await this.#options.rows.prune(Date.now() - KEPT_MS);
    } catch (error) {
      this.#options.log.warn('old jobs could not be removed', { error: messageOf(error) });
    }
  }

  /** Writes what is pending, if the store works. */
  async close(): Promise<void> {
    clearInterval(this.#pruning);
    await this.settled();
    clearTimeout(this.#nextWrite);
  }
}
