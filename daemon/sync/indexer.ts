// Keeps the repos of a data directory indexed, for its owner: which sources there are, what is to be done, what the store
// says of them, which symbols are missing. Each is a file of its own; here they are joined.

import type { Connections as ConnectionRows } from '../store/connections.ts';
import { type ConnectionLimits, Connections, type HostAccess } from './connections/connections.ts';
import { RepoIndexer, type RepoIndexerOptions } from './jobs/index-repo.ts';
import { JobDesk } from './jobs/job-desk.ts';
import { Jobs, type JobsOptions } from './jobs/jobs.ts';
import { MERGE_LIMITS, type MergeLimits } from '../index/merge/merge-plan.ts';
import { Merger } from '../index/merge/merger.ts';
import type { RepoRecord } from '../repos/records.ts';
import { RepoSources } from './sources/repo-sources.ts';
import { SeenFiles } from './watch/seen-files.ts';
import { ShardSymbols } from '../index/upkeep/shard-symbols.ts';
import { StoreRules } from '../index/served/store-rules.ts';

export interface IndexerOptions
  extends
    Omit<RepoIndexerOptions, 'seenFiles' | 'bringUp' | 'onFailure' | 'tidyUp'>,
    Omit<JobsOptions, 'indexer' | 'served' | 'hostToAsk'> {
  /** Default: MERGE_LIMITS. */
  readonly mergeLimits?: MergeLimits | undefined;
  readonly connectionRows: ConnectionRows;
  /** The daemon, among those that share the store. */
  readonly instance: string;
  /** No other daemon has its store. */
  readonly isAlone: boolean;
  /** Absent: no code host is asked. */
  readonly hosts?: HostAccess | undefined;
  readonly connectionLimits: () => ConnectionLimits;
  /** Has the symbols found that are not known. */
  readonly findSymbols: () => void;
}

export class Indexer {
  readonly #options: IndexerOptions;
  readonly jobs: Jobs;
  readonly desk: JobDesk;
  readonly seenFiles = new SeenFiles();
  readonly merger: Merger;
  readonly sources: RepoSources;
  readonly rules: StoreRules;
  readonly symbols: ShardSymbols;
  /** Undefined: no code host is asked. */
  readonly connections: Connections | undefined;

  constructor(options: IndexerOptions) {
    this.#options = options;
    const onNewShards = (): void => {
      this.merger.noteShards();
      options.onNewShards();
    };
    const { seenFiles } = this;
    const indexer = new RepoIndexer({
      ...options,
      onNewShards,
      seenFiles,
      bringUp: async (...call) => this.connections?.clones.bringUp(...call),
      onFailure: (...call) => this.connections?.clones.noteFailure(...call),
      tidyUp: async (record, signal) => {
        await this.connections?.clones.tidyUp(record, signal);
        this.connections?.noteIndexed(record.repoId);
      },
    });
    const hostToAsk = ({ repoId }: RepoRecord): string | undefined =>
      this.connections?.clones.hostToAsk(repoId);
    this.jobs = new Jobs({ ...options, indexer, hostToAsk });
    const { hosts, connectionRows: rows, connectionLimits: limits } = options;
    const parts = { ...options, jobs: this.jobs, rows, limits };
    this.connections = hosts && new Connections({ ...parts, ...hosts });
    const { connections } = this;
    const others = connections && [connections.sync.runner, connections.cleanup.runner];
    this.desk = new JobDesk(this.jobs, options.book, others);
    this.merger = new Merger({
      ...options,
      limits: options.mergeLimits ?? MERGE_LIMITS,
      without: (repoIds, work) => this.jobs.without(repoIds, work),
    });
    this.sources = new RepoSources({ ...options, jobs: this.jobs });
    this.rules = new StoreRules(options);
    this.symbols = new ShardSymbols(options);
  }

  /** What is not done yet, in words for the owner. */
  get pending(): readonly string[] {
    const { served } = this.#options;
    const unbuilt = served.records.filter(({ indexedAt }) => indexedAt === undefined).length;
    return [
      ...said(
        this.sources.unseenCount,
        'source has not been looked at yet',
        'sources have not been looked at yet',
      ),
      ...said(
        unbuilt,
        'repository is not indexed yet and not searched',
        'repositories are not indexed yet and not searched',
      ),
      ...listed(this.symbols.pending),
    ];
  }

  /** What does not work as it should, in words for the owner (API.md 18.2); empty: nothing. */
  get degradations(): readonly string[] {
    const { catalog, served } = this.#options;
    const repos = new Set(served.repos);
    const stray = served.repos.filter(({ isStray }) => isStray).length;
    const hidden = new Set(
      catalog.repos.filter((repo) => !repos.has(repo)).map(({ record }) => record.name),
    );
    const { unmappedCount } = served;
    return [
      ...this.pending,
      ...said(
        unmappedCount,
        'shard could not be mapped and is not searched',
        'shards could not be mapped and are not searched',
      ),
      ...this.jobs.failed.sentences((name) => !hidden.has(name)),
      ...(this.connections?.degradations ?? []),
      ...listed(this.symbols.trouble),
      ...said(
        stray,
        'repository is hidden: its git leads elsewhere, or another source lies at its path',
        'repositories are hidden: their git leads elsewhere, or another source lies at their path',
      ),
    ];
  }

  /** Nothing is begun any more; resolves when no job is under way. */
  async close(): Promise<void> {
    // Why first: their jobs are in the book that the others close.
    await this.connections?.close();
    this.rules.close();
    this.symbols.close();
    // Why begun first: what is merged waits for jobs that are to stop.
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

function listed(sentence: string | undefined): string[] {
  return sentence === undefined ? [] : [sentence];
}
