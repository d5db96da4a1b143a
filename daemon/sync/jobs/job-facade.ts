// Jobs as the API shows them: rows of the store, with the progress and lines of running ones.

import type { JobRows, StoredJob } from '../../store/jobs.ts';
import type { JobCounts, JobListQuery, JobView, RepoState } from '../../repos/jobs.ts';
import type { RepoRecord } from '../../repos/records.ts';
import type { Job } from './job.ts';
import { JobLines } from './job-lines.ts';
import type { FetchStep } from '../../hosts/mirrors/git-progress.ts';
import { remainingMsOf } from './job-step.ts';
import { INDEX_QUEUE, type Jobs } from './jobs.ts';

export interface ListedJob extends StoredJob, JobView {
  readonly progress?: FetchStep & NonNullable<JobView['progress']>;
}

export type OpenJobs = Pick<Jobs, 'flush'> & {
  readonly open: readonly Pick<Job<unknown, unknown>, 'row' | 'progress' | 'lines'>[];
};

export class JobFacade {
  readonly #jobs: Jobs;
  readonly #options: { readonly jobRows: JobRows; readonly instance: string };
  readonly #queues: readonly OpenJobs[];

  constructor(
    jobs: Jobs,
    options: { readonly jobRows: JobRows; readonly instance: string },
    others: readonly OpenJobs[] = [],
  ) {
    this.#jobs = jobs;
    this.#options = options;
    this.#queues = [jobs, ...others];
  }

  /** Indexes a repo; returns the job id. Errors: the index is closing. */
  index(record: RepoRecord): Promise<string> {
    return this.#jobs.requestPersisted(record);
  }

  /** The last job of each target, by id, if there is one. Errors: NOT_READY, as for all reads. */
  async latest(
    ids: readonly number[],
    queue = INDEX_QUEUE,
  ): Promise<ReadonlyMap<number, ListedJob>> {
    const { jobRows, instance } = this.#options;
    await this.#flush();
    const rows = await jobRows.latest(instance, queue, ids);
    const open = this.#openJobs();
    return new Map(rows.map((row) => [row.targetId, viewOf(row, open.get(row.id)?.progress)]));
  }

  /** Unfinished ones first; newest first. */
  async list({
    state,
    ...query
  }: JobListQuery): Promise<{ readonly items: readonly ListedJob[]; readonly total: number }> {
    const { jobRows, instance } = this.#options;
    await this.#flush();
    const states = state === undefined ? undefined : [state];
    const { rows, total } = await jobRows.list(instance, { ...query, states });
    const open = this.#openJobs();
    return { items: rows.map((row) => viewOf(row, open.get(row.id)?.progress)), total };
  }

  /** Requested and running jobs of this process, newest first. */
  get open(): readonly ListedJob[] {
    return [...this.#openJobs().values()]
      .sort((a, b) => b.row.ordinal - a.row.ordinal)
      .map(({ row, progress }) => viewOf(row, progress));
  }

  /** The last log lines of a job; undefined: no such job. */
  async lines(queue: string, id: string): Promise<JobLines | undefined> {
    const job = this.#openJobs().get(id);
    if (job !== undefined) return queue === job.row.queue ? job.lines : undefined;
    const { jobRows, instance } = this.#options;
    await this.#flush();
    const text = await jobRows.linesOf(instance, queue, id);
    return text === undefined ? undefined : new JobLines(text);
  }

  counts(records: readonly RepoRecord[]): JobCounts {
    const { failed, warned } = this.#jobs;
    const hasFailed = ({ repoId }: RepoRecord): boolean => failed.reasonOf(repoId) !== undefined;
    const count = (is: (record: RepoRecord) => boolean): number => records.filter(is).length;
    return {
      firstTime: count((record) => record.indexedAt === undefined && !hasFailed(record)),
      failed: count(hasFailed),
      warned: count(({ repoId }) => warned.has(repoId)),
    };
  }

  states(): (record: RepoRecord) => RepoState {
    const { failed, open } = this.#jobs;
    const running = open.filter(({ row }) => row.state === 'IN_PROGRESS');
    const isRunning = new Set(running.map(({ targetId }) => targetId));
    return ({ repoId, indexedAt }) => {
      if (isRunning.has(repoId)) return 'indexing';
      if (failed.reasonOf(repoId) !== undefined) return 'failed';
      return indexedAt === undefined ? 'waiting' : 'ready';
    };
  }

  async #flush(): Promise<void> {
    await Promise.all(this.#queues.map((queue) => queue.flush()));
  }

  /** By id. */
  #openJobs(): Map<string, OpenJob> {
    return new Map(this.#queues.flatMap(({ open }) => open).map((job) => [job.row.id, job]));
  }
}

type OpenJob = OpenJobs['open'][number];

function viewOf(row: StoredJob, progress: OpenJob['progress']): ListedJob {
  if (progress === undefined) return row;
  const { since: _, ...step } = progress;
  return { ...row, progress: { ...step, remainingMs: remainingMsOf(progress) } };
}
