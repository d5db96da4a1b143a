// Keeps the repos of a data directory indexed, for its owner: which sources there are, what is to be done, what the store
// says of them, which symbols are missing. Each is a file of its own; here they are joined.

import type { Log } from '../base/log.ts';
import type { BuildProgress } from '../engine/build/build.ts';
import type { FilterSettings } from '../engine/build/filters.ts';
import type { Catalog } from './catalog.ts';
import { RepoIndexer } from './index-repo.ts';
import { Jobs } from './jobs.ts';
import type { RepoRegister } from './register.ts';
import { RepoSources } from './repo-sources.ts';
import type { Served } from './served.ts';
import { ShardSymbols } from './shard-symbols.ts';
import { StoreRules } from './store-rules.ts';

export interface IndexerOptions {
  readonly module: WebAssembly.Module;
  readonly catalog: Catalog;
  readonly register: RepoRegister;
  readonly served: Served;
  /** As they are now; a job keeps those it began with. */
  readonly filters: () => FilterSettings;
  readonly workers?: number | undefined;
  readonly log: Log;
  readonly onProgress?: ((repo: string, progress: BuildProgress) => void) | undefined;
  /** Told that shards may have come whose symbols are not known. */
  readonly onNewShards: () => void;
}

export class Indexer {
  readonly #options: IndexerOptions;
  readonly jobs: Jobs;
  readonly sources: RepoSources;
  readonly rules: StoreRules;
  readonly symbols: ShardSymbols;

  constructor(options: IndexerOptions) {
    this.#options = options;
    this.jobs = new Jobs({ ...options, indexer: new RepoIndexer(options) });
    this.sources = new RepoSources({ ...options, jobs: this.jobs });
    this.rules = new StoreRules(options);
    this.symbols = new ShardSymbols({ ...options, onMissing: options.onNewShards });
  }

  /** What does not work as it should, in words for the owner (API.md 18.2); empty: nothing. */
  get degradations(): readonly string[] {
    const { catalog, served } = this.#options;
    const repos = new Set(served.repos);
    const unbuilt = served.records.filter(({ indexedAt }) => indexedAt === undefined).length;
    const stray = served.repos.filter(({ isStray }) => isStray).length;
    const hidden = new Set(
      catalog.repos.filter((repo) => !repos.has(repo)).map(({ record }) => record.name),
    );
    const { unmappedCount, symbollessCount } = served;
    return [
      ...said(unmappedCount, 'shards could not be mapped and are not searched'),
      ...said(unbuilt, 'repositories are not indexed yet and not searched'),
      ...this.jobs.failed.sentences((name) => !hidden.has(name)),
      ...(symbollessCount === 0
        ? []
        : [`the symbols of ${symbollessCount} shards are found again`]),
      ...said(stray, 'repositories are hidden: their git leads elsewhere'),
    ];
  }

  /** Nothing is begun any more; resolves when no job is under way. */
  async close(): Promise<void> {
    this.rules.close();
    this.symbols.close();
    await this.jobs.close();
  }
}

function said(count: number, what: string): string[] {
  return count === 0 ? [] : [`${count} ${what}`];
}
