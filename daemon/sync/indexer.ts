// Keeps the repos of a data directory indexed, for its owner. Joins sources, jobs, connections, merging and missing
// symbols, which have a file each.

import type { ConnectionRows } from '../store/connections.ts';
import type { StoredRepo } from '../store/repos.ts';
import { Connections, type HostAccess } from './connections/connections.ts';
import { unlistedOf } from './connections/remove-repos.ts';
import { localAddress } from './connections/rules.ts';
import { RepoIndexer, type RepoIndexerOptions } from './jobs/index-repo.ts';
import { JobFacade } from './jobs/job-facade.ts';
import type { ConnectionLimits } from './jobs/job-limits.ts';
import { Jobs, type JobsOptions } from './jobs/jobs.ts';
import { MERGE_LIMITS, type MergeLimits } from '../index/merge/merge-plan.ts';
import { Merger } from '../index/merge/merger.ts';
import type { RepoRecord } from '../repos/records.ts';
import { RepoSources } from './sources/repo-sources.ts';
import { FileTracker } from './watch/file-tracker.ts';
import { ShardSymbols } from '../index/upkeep/shard-symbols.ts';
import { StoreRules } from '../index/served/store-rules.ts';

export interface IndexerOptions
  extends
    Omit<RepoIndexerOptions, 'fileTracker' | 'bringUp' | 'onFailure' | 'tidyUp'>,
    Omit<JobsOptions, 'indexer' | 'served' | 'fetchHostOf'> {
  readonly mergeLimits?: MergeLimits | undefined;
  readonly connectionRows: ConnectionRows;
  readonly isAlone: boolean;
  /** Absent: no code hosts. */
  readonly hosts?: HostAccess | undefined;
  readonly connectionLimits: () => ConnectionLimits;
  readonly findSymbols: () => void;
}

export class Indexer {
  readonly #options: IndexerOptions;
  readonly jobs: Jobs;
  readonly jobFacade: JobFacade;
  readonly fileTracker = new FileTracker();
  readonly merger: Merger;
  readonly sources: RepoSources;
  readonly rules: StoreRules;
  readonly symbols: ShardSymbols;
  /** Undefined: no code hosts. */
  readonly connections: Connections | undefined;

  constructor(options: IndexerOptions) {
    this.#options = options;
    const onNewShards = (): void => {
      this.merger.noteShards();
      options.onNewShards();
    };
    const { fileTracker } = this;
    const fetchHostOf = ({ repoId }: RepoRecord): string | undefined =>
      this.connections?.mirrors.fetchHostOf(repoId);
    const indexer = new RepoIndexer({
      ...options,
      onNewShards,
      fileTracker,
      fetchHostOf,
      bringUp: async (...call) => this.connections?.mirrors.bringUp(...call),
      onFailure: (...call) => this.connections?.mirrors.noteFailure(...call),
      tidyUp: async (record, signal) => {
        await this.connections?.mirrors.tidyUp(record, signal);
        this.connections?.noteIndexed(record.repoId);
      },
    });
    this.jobs = new Jobs({ ...options, indexer, fetchHostOf });
    const { hosts, connectionRows: rows, connectionLimits: limits } = options;
    const parts = { ...options, jobs: this.jobs, rows, limits };
    this.connections = hosts && new Connections({ ...parts, ...hosts });
    const { connections } = this;
    const others = connections && [connections.sync, connections.cleanup];
    this.jobFacade = new JobFacade(this.jobs, options, others);
    this.merger = new Merger({
      ...options,
      limits: options.mergeLimits ?? MERGE_LIMITS,
      without: (repoIds, work) => this.jobs.without(repoIds, work),
    });
    this.sources = new RepoSources({
      ...options,
      jobs: this.jobs,
      isListed: (repo) => this.#isListed(repo),
    });
    this.rules = new StoreRules(options);
    this.symbols = new ShardSymbols(options);
  }

  /** Whether a connection lists a repo: of the configuration, or the last one if none was applied in this process. */
  #isListed({ repoId, host }: StoredRepo): boolean {
    const { registry, instance } = this.#options;
    if (this.connections !== undefined) return this.connections.has(repoId) === true;
    const isOfInstance = host?.address === localAddress(instance);
    return isOfInstance && unlistedOf(registry.stored, [repoId]).size === 0;
  }

  get pending(): readonly string[] {
    const { served } = this.#options;
    const unbuilt = served.records.filter(({ indexedAt }) => indexedAt === undefined).length;
    return [
      ...said(
        this.sources.unseenCount,
        'source has not been checked yet',
        'sources have not been checked yet',
      ),
      ...said(
        unbuilt,
        'repository is not indexed yet and not searched',
        'repositories are not indexed yet and not searched',
      ),
      ...(this.symbols.pending === undefined ? [] : [this.symbols.pending]),
    ];
  }

  /** Problems, as sentences for the owner (API.md 18.2); empty: none. */
  get degradations(): readonly string[] {
    const { catalog, served } = this.#options;
    const repos = new Set(served.repos);
    const detachedCount = served.repos.filter(({ isStray }) => isStray).length;
    const hidden = new Set(
      catalog.repos.filter((repo) => !repos.has(repo)).map(({ record }) => record.name),
    );
    const { unmappedCount } = served;
    const damaged = served.records.filter(({ repoId }) => served.damagedRepo(repoId) !== undefined);
    return [
      ...this.pending,
      ...said(
        damaged.length,
        'repository is searched without a damaged shard, which is built again',
        'repositories are searched without damaged shards, which are built again',
      ),
      ...said(
        unmappedCount,
        'shard could not be mapped and is not searched',
        'shards could not be mapped and are not searched',
      ),
      ...this.jobs.failed.sentences((name) => !hidden.has(name)),
      ...(this.connections?.degradations ?? []),
      ...(this.symbols.lastError === undefined ? [] : [this.symbols.lastError]),
      ...said(
        detachedCount,
        'repository is hidden: its git or its path belongs to another source',
        'repositories are hidden: their git or their path belongs to another source',
      ),
    ];
  }

  async close(): Promise<void> {
    // Why first: listings request index jobs.
    await this.connections?.close();
    this.rules.close();
    this.symbols.close();
    // Why started first: merges wait for jobs that must be stopped.
    const jobs = this.jobs.close();
    await this.merger.close();
    await jobs;
    await this.#options.threads.close();
  }
}

function said(count: number, one: string, many: string): string[] {
  if (count === 0) return [];
  return [count === 1 ? `1 ${one}` : `${count} ${many}`];
}
