// The repos and shards of the catalog that searches see, updated from publish to publish: a publish costs what changed,
// not what exists. served.ts decides which shards are out of service.

import type { LiveShard } from '../../engine/search/snapshot.ts';
import type { ShardPart } from '../../engine/shards/parts.ts';
import { RevisionTable } from '../../engine/shards/revisions.ts';
import type { RepoRecord } from '../../repos/records.ts';
import type { Catalog } from '../catalog/catalog.ts';
import {
  type CatalogRepo,
  type CatalogShard,
  type CatalogSymbols,
  docsOfRepo,
  indexIn,
} from '../catalog/catalog-records.ts';

export interface VisibleIndexOptions {
  readonly catalog: Catalog;
  readonly ruled: (record: RepoRecord) => RepoRecord;
  readonly isSymbolless: (shardId: string) => boolean;
}

/** A shard and its position: after the first of its repos, in that repo's order. */
interface Standing {
  readonly shard: LiveShard;
  readonly position: number;
  readonly index: number;
}

export class VisibleIndex {
  readonly #options: VisibleIndexOptions;
  #repos: CatalogRepo[] = [];
  #records: readonly RepoRecord[] = [];
  /** Ordinal of the last repo in these lists: a higher one is new, or was removed and added again. */
  #lastOrdinal = 0;
  /** Position of each repo in these lists, by repoId. */
  readonly #positions = new Map<number, number>();
  /** By shardId. */
  readonly #standings = new Map<string, Standing>();
  /** RepoIds whose docs per revision are unknown. */
  readonly #blind = new Set<number>();

  constructor(options: VisibleIndexOptions) {
    this.#options = options;
  }

  /** In catalog order; the same array while nothing changes. */
  get records(): readonly RepoRecord[] {
    return this.#records;
  }

  /** In the order of the repos, each once with the docs of visible repos. */
  get shards(): LiveShard[] {
    const standings = [...this.#standings.values()];
    standings.sort((a, b) => a.position - b.position || a.index - b.index);
    return standings.map(({ shard }) => shard);
  }

  /** Repos whose docs per revision are unknown. */
  get blind(): CatalogRepo[] {
    return [...this.#blind].map((repoId) => this.#repos[this.#positions.get(repoId)!]!);
  }

  showAll(repos: readonly CatalogRepo[]): void {
    const last = repos.at(-1);
    this.#lastOrdinal = last ? this.#options.catalog.ordinalOf(last.record.repoId) : 0;
    this.#repos = [...repos];
    this.#records = repos.map(({ record }) => this.#options.ruled(record));
    for (const kept of [this.#positions, this.#standings, this.#blind]) kept.clear();
    for (const [position, repo] of repos.entries()) {
      this.#positions.set(repo.record.repoId, position);
      this.#noteBlind(repo);
    }
    for (const { shards } of repos)
      for (const { shardId } of shards) if (!this.#standings.has(shardId)) this.#showShard(shardId);
  }

  /**
   * Updates these repos. False: some were added or removed, so everything must be shown again.
   * @param isVisible  whether a repo of the catalog is visible
   */
  showChanged(repoIds: Iterable<number>, isVisible: (repo: CatalogRepo) => boolean): boolean {
    const { catalog } = this.#options;
    const shardIds = new Set<string>();
    const positions: number[] = [];
    // Why the blind ones: a repo with the same revision file may have repaired it.
    for (const repoId of new Set([...repoIds, ...this.#blind])) {
      const position = this.#positions.get(repoId);
      const repo = catalog.repo(repoId);
      const visible = repo !== undefined && isVisible(repo) ? repo : undefined;
      if (position === undefined && visible === undefined) continue;
      if (position === undefined || visible === undefined) return false;
      if (catalog.ordinalOf(repoId) > this.#lastOrdinal) return false;
      for (const { shards } of [this.#repos[position]!, visible])
        for (const { shardId } of shards) shardIds.add(shardId);
      this.#repos[position] = visible;
      this.#noteBlind(visible);
      positions.push(position);
    }
    this.#showRecords(positions);
    for (const shardId of shardIds) this.#showShard(shardId);
    return true;
  }

  /** One new array for any number of changed records; none without a change. */
  #showRecords(positions: readonly number[]): void {
    let records: RepoRecord[] | undefined;
    for (const position of positions) {
      const record = this.#options.ruled(this.#repos[position]!.record);
      if (record !== this.#records[position]) (records ??= [...this.#records])[position] = record;
    }
    if (records !== undefined) this.#records = records;
  }

  #noteBlind(repo: CatalogRepo): void {
    const isBlind = this.#options.catalog.revisionsOf(repo) instanceof Error;
    if (isBlind) this.#blind.add(repo.record.repoId);
    else this.#blind.delete(repo.record.repoId);
  }

  /** Updates a shard with the docs of the visible repos, if there are any. */
  #showShard(shardId: string): void {
    const owners = this.#options.catalog
      .reposOfShard(shardId)
      .filter(({ record }) => this.#positions.has(record.repoId));
    const [first] = owners;
    if (first === undefined) {
      this.#standings.delete(shardId);
      return;
    }
    const parts = owners.map((repo) => this.#partOf(repo, indexIn(repo, shardId)));
    const index = indexIn(first, shardId);
    const shard = this.#liveShard(first.shards[index]!, parts);
    const position = this.#positions.get(first.record.repoId)!;
    this.#standings.set(shardId, { shard, position, index });
  }

  #partOf(repo: CatalogRepo, index: number): ShardPart {
    const table = this.#options.catalog.revisionsOf(repo);
    const revisions = table instanceof RevisionTable ? table.shards[index] : undefined;
    return { repoId: repo.record.repoId, ...docsOfRepo(repo.shards[index]!), revisions };
  }

  #liveShard(shard: CatalogShard, parts: ShardPart[]): LiveShard {
    const { catalog, isSymbolless } = this.#options;
    const { symbols: _, ...rest } = shard;
    const live: CatalogShard = isSymbolless(shard.shardId) ? rest : shard;
    return {
      ...catalog.shardFile(live),
      shardId: liveIdOf(shard.shardId, live.symbols),
      docCount: shard.docCount,
      parts: parts.sort((a, b) => a.docStart - b.docStart),
    };
  }
}

/** Id of a shard for searches: with other symbols it is another shard. */
export function liveIdOf(
  shardId: string,
  symbols: Pick<CatalogSymbols, 'symbolsId'> | undefined,
): string {
  return symbols === undefined ? shardId : `${shardId}+${symbols.symbolsId}`;
}

/** The catalog id of a live shard. */
export function shardIdOf(liveId: string): string {
  return liveId.split('+', 1)[0]!;
}
