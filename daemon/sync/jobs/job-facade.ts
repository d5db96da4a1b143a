// Jobs as the API shows them: unfinished ones from memory, others from the store.

import type { StoredJob } from '../../store/jobs.ts';
import type { JobCounts, JobListQuery, JobState, JobView, RepoState } from '../../repos/jobs.ts';
import type { RepoRecord } from '../../repos/records.ts';
import type { Job } from './job.ts';
import type { JobHistory } from './job-history.ts';
import { JobLines } from './job-lines.ts';
import type { JobRunner } from './job-runner.ts';
import { type FineStep, remainingMsOf } from './job-step.ts';
import { INDEX_QUEUE, type Jobs } from './jobs.ts';

export interface ListedJob extends StoredJob, JobView {
  readonly progress?: FineStep & NonNullable<JobView['progress']>;
}

const OPEN: readonly JobState[] = ['PENDING', 'IN_PROGRESS'];
const ENDED: readonly JobState[] = ['COMPLETED', 'FAILED'];

/** Unfinished jobs of a queue. */
export type OpenJobs = Pick<JobRunner<unknown, unknown>, 'interrupted'> & {
  readonly open: readonly Pick<Job<unknown, unknown>, 'row' | 'progress' | 'lines'>[];
};

export class JobFacade {
  readonly #jobs: Jobs;
  readonly #jobHistory: JobHistory;
  readonly #others: readonly OpenJobs[];

  /** @param others  unfinished jobs of other queues */
  constructor(jobs: Jobs, jobHistory: JobHistory, others: readonly OpenJobs[] = []) {
    this.#jobs = jobs;
    this.#jobHistory = jobHistory;
    this.#others = others;
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
    const found = new Map<number, ListedJob>(await this.#jobHistory.latest(queue, ids));
    const requested = new Set(ids);
    for (const job of this.#open())
      if (job.queue === queue && requested.has(job.targetId)) found.set(job.targetId, job);
    return found;
  }

  /** Unfinished ones first; newest first. */
  async list({
    queue,
    state,
    offset,
    limit,
  }: JobListQuery): Promise<{ readonly items: readonly ListedJob[]; readonly total: number }> {
    const isMatch = (job: ListedJob): boolean =>
      (queue === undefined || job.queue === queue) && (state === undefined || job.state === state);
    const includesOpen = state === undefined || OPEN.includes(state);
    const open = includesOpen ? this.#open().filter(isMatch).reverse() : [];
    const items = open.slice(offset, offset + limit);
    const states = ENDED.filter((one) => state === undefined || one === state);
    if (states.length === 0) return { items, total: open.length };
    const rest = { offset: Math.max(0, offset - open.length), limit: limit - items.length };
    const { rows, total } = await this.#jobHistory.ended(queue, states, rest);
    // A job may have ended during the query.
    const isOpen = new Set(open.map(({ id }) => id));
    const ended = rows.filter(({ id }) => !isOpen.has(id));
    return {
      items: [...items, ...ended],
      total: open.length + total - (rows.length - ended.length),
    };
  }

  /** The last log lines of a job; undefined: no such job. */
  async lines(queue: string, id: string): Promise<JobLines | undefined> {
    const open = [this.#jobs, ...this.#others].flatMap((one): OpenJobs['open'] => one.open);
    const job = open.find(({ row }) => row.id === id);
    if (job !== undefined) return queue === job.row.queue ? job.lines : undefined;
    const text = await this.#jobHistory.linesOf(queue, id);
    return text === undefined ? undefined : new JobLines(text);
  }

  /** Counts of these repos by state. */
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

  /** The current state of each repo. */
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

  /** By age; of a repo the running job before the waiting one. */
  #open(): ListedJob[] {
    const all: readonly OpenJobs[] = [this.#jobs, ...this.#others];
    const open = all.flatMap(({ interrupted, open }): ListedJob[] => [
      ...interrupted,
      ...open.map(viewOf),
    ]);
    return open.sort((a, b) => a.ordinal - b.ordinal);
  }
}

function viewOf({ row, progress }: OpenJobs['open'][number]): ListedJob {
  if (progress === undefined) return row;
  const { since: _, ...step } = progress;
  return { ...row, progress: { ...step, remainingMs: remainingMsOf(progress) } };
}
