// Jobs that remove repos (queue `repo-cleanup`) that no connection lists any more, after the grace period. There is one
// job per repo; those that are due go together.

import { type Job, PRIORITIES } from '../jobs/job.ts';
import type { JobWords } from '../jobs/failed-jobs.ts';
import { type JobQueueOptions, TIMER_MS_MAX } from '../jobs/job-queue.ts';
import { JobRunner } from '../jobs/job-runner.ts';
import type { RepoRegistry } from '../../index/register/registry.ts';
import type { RepoRemover } from './remove-repos.ts';
import { removalsOf } from './removal.ts';

export const CLEANUP_QUEUE = 'repo-cleanup';

/** A repo to be removed. */
export interface CleanupTarget {
  readonly repoId: number;
  readonly name: string;
}

export interface CleanupResult {
  readonly repo: string;
  /** False: it was listed again, or could not be removed. */
  readonly isRemoved: boolean;
}

export interface CleanupJobsOptions extends JobQueueOptions {
  readonly registry: RepoRegistry;
  readonly remover: RepoRemover;
  /** The current one. */
  readonly graceMs: () => number;
  /** Restores repos in the index that were not removed after all. */
  readonly restore: (repoIds: ReadonlySet<number>) => Promise<void>;
}

/** Repos removed in one transaction. Bound: its time. */
const TOGETHER_MAX = 500;

const WORDS: JobWords = {
  queue: CLEANUP_QUEUE,
  target: 'repository',
  targets: 'repositories',
  done: 'removed',
  failing: 'removing a repository failed',
};

export class CleanupJobs extends JobRunner<CleanupTarget, CleanupResult> {
  readonly #options: CleanupJobsOptions;
  /** Due times of performance.now. Why not the time of day: the clock may be changed. */
  readonly #dueMs = new Map<number, number>();
  readonly #requested = new Set<number>();
  #removing: Promise<number> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: CleanupJobsOptions) {
    super(WORDS, options);
    this.#options = options;
  }

  protected override idOf({ repoId }: CleanupTarget): number {
    return repoId;
  }

  protected override targetOf(repoId: number): CleanupTarget | undefined {
    const repo = this.#options.registry.byId(repoId);
    return repo && { repoId, name: repo.name };
  }

  protected override priorityOf(): number {
    return PRIORITIES.scheduled;
  }

  protected override keptOf({ isRemoved }: CleanupResult): Readonly<Record<string, unknown>> {
    return { removed: isRemoved };
  }

  protected override failureOf({ name }: CleanupTarget): CleanupResult {
    return { repo: name, isRemoved: false };
  }

  /** Finds repos to remove and schedules their removal. */
  consider(): void {
    if (this.signal.aborted) return;
    clearTimeout(this.#timer);
    const { registry, graceMs } = this.#options;
    const removals = removalsOf(registry.stored, graceMs());
    const requested = new Set(removals.map(({ repo }) => repo.repoId));
    for (const repoId of this.#dueMs.keys()) if (!requested.has(repoId)) this.#forget(repoId);
    const nowMs = performance.now();
    let nextMs = Infinity;
    for (const { repo, at } of removals) {
      const remainingMs = Math.min(Math.max(0, at - Date.now()), graceMs());
      const dueMs = this.#dueMs.get(repo.repoId) ?? nowMs + remainingMs;
      this.#dueMs.set(repo.repoId, dueMs);
      if (dueMs > nowMs) nextMs = Math.min(nextMs, dueMs);
      else if (!this.#requested.has(repo.repoId))
        this.#request({ repoId: repo.repoId, name: repo.name });
    }
    if (nextMs === Infinity) return;
    const pauseMs = Math.min(Math.max(nextMs - nowMs, 1), TIMER_MS_MAX);
    this.#timer = setTimeout(() => this.consider(), pauseMs).unref();
  }

  #request(target: CleanupTarget): void {
    this.#requested.add(target.repoId);
    this.keep(this.request(target));
  }

  #forget(repoId: number): void {
    this.#dueMs.delete(repoId);
    this.#requested.delete(repoId);
  }

  protected override async attempt(job: Job<CleanupTarget, CleanupResult>): Promise<CleanupResult> {
    const { repoId, name } = job.target;
    const { registry } = this.#options;
    for (let removed = 1; removed > 0 && this.#dueIds().has(repoId);) {
      this.#removing ??= this.#removeDue().finally(() => (this.#removing = undefined));
      removed = await this.#removing;
    }
    const isRemoved = registry.byId(repoId) === undefined;
    if (!isRemoved && this.#dueIds().has(repoId))
      throw new Error('its job is still running; it is removed later');
    this.#forget(repoId);
    this.say(job, 'info', isRemoved ? 'repository removed' : 'the repository stays', {
      repo: name,
    });
    return { repo: name, isRemoved };
  }

  /** RepoIds due for removal now. */
  #dueIds(stored = this.#options.registry.stored): ReadonlySet<number> {
    const nowMs = performance.now();
    const isDue = (repoId: number): boolean => (this.#dueMs.get(repoId) ?? Infinity) <= nowMs;
    const removals = removalsOf(stored, this.#options.graceMs());
    return new Set(removals.map(({ repo }) => repo.repoId).filter(isDue));
  }

  /** Returns the number of removed repos. */
  async #removeDue(): Promise<number> {
    const { remover, restore } = this.#options;
    const due = [...this.#dueIds()].slice(0, TOGETHER_MAX);
    const removed = await remover.remove(due, (stored) => this.#dueIds(stored));
    await restore(new Set(due.filter((repoId) => !removed.has(repoId))));
    return removed.size;
  }

  override async close(): Promise<void> {
    clearTimeout(this.#timer);
    await super.close();
  }
}
