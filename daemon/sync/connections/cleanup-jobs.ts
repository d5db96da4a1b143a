// Jobs that remove repos (queue `repo-cleanup`) that no connection lists any more, after the grace period: one per repo;
// those that are due go together.

import { type Job, PRIORITIES } from '../jobs/job.ts';
import { type JobQueueOptions, TIMER_MS_MAX } from '../jobs/job-queue.ts';
import { JobRunner, type JobWords, type KeptResult } from '../jobs/job-runner.ts';
import type { StoredRepo, StoredRepos } from '../../store/repos.ts';
import type { RepoRegistry } from '../../index/register/registry.ts';
import type { RepoRemover } from './remove-repos.ts';
import { LinkIndex } from './link-index.ts';
import type { Admitted } from './which-listed.ts';

export const CLEANUP_QUEUE = 'repo-cleanup';

export interface CleanupTarget {
  readonly repoId: number;
  readonly name: string;
}

export interface CleanupJobsOptions extends JobQueueOptions {
  readonly registry: RepoRegistry;
  readonly remover: RepoRemover;
  readonly graceMs: () => number;
  readonly apply: (changes: Pick<Admitted, 'changedIds' | 'dueIds'>) => Promise<void>;
}

const WORDS: JobWords = {
  queue: CLEANUP_QUEUE,
  target: 'repository',
  targets: 'repositories',
  done: 'removed',
  failing: 'removing a repository failed',
};

export class CleanupJobs extends JobRunner<CleanupTarget, KeptResult> {
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

  protected override failureOf(): KeptResult {
    return { removed: false };
  }

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
      else if (!this.#requested.has(repo.repoId)) {
        this.#requested.add(repo.repoId);
        this.request(repo).isKept = true;
      }
    }
    if (nextMs === Infinity) return;
    const pauseMs = Math.min(Math.max(nextMs - nowMs, 1), TIMER_MS_MAX);
    this.#timer = setTimeout(() => this.consider(), pauseMs).unref();
  }

  #forget(repoId: number): void {
    this.#dueMs.delete(repoId);
    this.#requested.delete(repoId);
  }

  protected override async attempt(job: Job<CleanupTarget, KeptResult>): Promise<KeptResult> {
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
    // A repo that is listed again is not removed.
    return { removed: isRemoved };
  }

  #dueIds(stored = this.#options.registry.stored): ReadonlySet<number> {
    const nowMs = performance.now();
    const isDue = (repoId: number): boolean => (this.#dueMs.get(repoId) ?? Infinity) <= nowMs;
    const removals = removalsOf(stored, this.#options.graceMs());
    return new Set(removals.map(({ repo }) => repo.repoId).filter(isDue));
  }

  async #removeDue(): Promise<number> {
    const { remover, apply } = this.#options;
    // Bound: time of the transaction.
    const due = [...this.#dueIds()].slice(0, 500);
    const removed = await remover.remove(due, (stored) => this.#dueIds(stored));
    // Those that were not removed after all return to the index.
    const keptIds = new Set(due.filter((repoId) => !removed.has(repoId)));
    await apply({ changedIds: keptIds, dueIds: keptIds });
    return removed.size;
  }

  override async close(): Promise<void> {
    clearTimeout(this.#timer);
    await super.close();
  }
}

/** A repo to remove, and when: milliseconds since the epoch. */
export interface Removal {
  readonly repo: StoredRepo;
  readonly at: number;
}

/** A repo stays until each connection to its host was listed fully: it may reappear under another name. */
export function removalsOf(stored: StoredRepos, graceMs: number): Removal[] {
  const links = new LinkIndex(stored);
  const unsure = new Set(
    stored.connections
      .filter(({ wholeAt, rules }) => wholeAt === null && rules.digest !== '')
      .map(({ address }) => address),
  );
  return stored.repos.flatMap((repo) => {
    const { repoId, host } = repo;
    if (host === undefined || unsure.has(host.address)) return [];
    // Submodules are removed with their outer repo (submodules.ts).
    if (host.facts.submodule !== undefined) return [];
    if (!links.isMissing(repoId) || links.isKept(repoId)) return [];
    const since = links.linksOf(repoId).map(({ missingSince }) => missingSince!);
    return [{ repo, at: Math.max(0, ...since) + graceMs }];
  });
}
