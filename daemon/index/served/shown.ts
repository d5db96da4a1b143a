// The repos and shards that searches see of the catalog, kept from one publish to the next: a publish costs what has changed,
// not what there is. Which of the shards are out of service is up to served.ts.

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

export interface ShownOptions {
  readonly catalog: Pick<
    Catalog,
    'ordinalOf' | 'repo' | 'reposOfShard' | 'revisionsOf' | 'shardFile'
  >;
  /** The record with the rules that hold now. */
  readonly ruled: (record: RepoRecord) => RepoRecord;
  /** Whether the symbols of a shard are out of service. */
  readonly isSymbolless: (shardId: string) => boolean;
}

/** A shard, and where it stands: behind the first of its repos, as that one has it. */
interface Standing {
  readonly shard: LiveShard;
  readonly place: number;
  readonly index: number;
}

export class Shown {
  readonly #options: ShownOptions;
  #repos: CatalogRepo[] = [];
  #records: readonly RepoRecord[] = [];
  /** Ordinal of the last repo in these lists: a higher one has come since, or has gone and come again. */
  #lastOrdinal = 0;
  /** Of each repo in these lists, by repoId. */
  readonly #places = new Map<number, number>();
  /** By shardId. */
  readonly #standings = new Map<string, Standing>();
  /** RepoIds of those of which it is not known which revisions hold their docs. */
  readonly #blind = new Set<number>();

  constructor(options: ShownOptions) {
    this.#options = options;
  }

  /** In the order of the catalog; the same array as long as nothing has changed. */
  get records(): readonly RepoRecord[] {
    return this.#records;
  }

  /** In the order of the repos, each once with the docs of those. */
  get shards(): LiveShard[] {
    const standings = [...this.#standings.values()];
    standings.sort((a, b) => a.place - b.place || a.index - b.index);
    return standings.map(({ shard }) => shard);
  }

  /** Repos of which it is not known which revisions hold their docs. */
  get blind(): CatalogRepo[] {
    return [...this.#blind].map((repoId) => this.#repos[this.#places.get(repoId)!]!);
  }

  /** Shows these repos and no others. */
  showAll(repos: readonly CatalogRepo[]): void {
    const last = repos.at(-1);
    this.#lastOrdinal =
      last === undefined ? 0 : this.#options.catalog.ordinalOf(last.record.repoId);
    this.#repos = [...repos];
    this.#records = repos.map(({ record }) => this.#options.ruled(record));
    for (const kept of [this.#places, this.#standings, this.#blind]) kept.clear();
    for (const [place, { record }] of repos.entries()) this.#places.set(record.repoId, place);
    for (const repo of repos) this.#noteBlind(repo);
    for (const { shards } of repos)
      for (const { shardId } of shards) if (!this.#standings.has(shardId)) this.#showShard(shardId);
  }

  /**
   * Shows what has become of these repos. False: some come or go, and all is to be shown anew.
   *
   * @param isSeen  whether a repo of the catalog is among those that are shown
   */
  showChanged(repoIds: Iterable<number>, isSeen: (repo: CatalogRepo) => boolean): boolean {
    const { catalog } = this.#options;
    const shardIds = new Set<string>();
    const places: number[] = [];
    // Why the blind ones: what was wrong with a revision file may be mended by a repo that has the same.
    for (const repoId of new Set([...repoIds, ...this.#blind])) {
      const place = this.#places.get(repoId);
      const repo = catalog.repo(repoId);
      const seen = repo !== undefined && isSeen(repo) ? repo : undefined;
      if (place === undefined && seen === undefined) continue;
      if (place === undefined || seen === undefined) return false;
      if (catalog.ordinalOf(repoId) > this.#lastOrdinal) return false;
      for (const { shards } of [this.#repos[place]!, seen])
        for (const { shardId } of shards) shardIds.add(shardId);
      this.#replace(place, seen);
      places.push(place);
    }
    this.#showRecords(places);
    for (const shardId of shardIds) this.#showShard(shardId);
    return true;
  }

  #replace(place: number, repo: CatalogRepo): void {
    this.#repos[place] = repo;
    this.#noteBlind(repo);
  }

  /** One new array, however many records have changed; none where none has. */
  #showRecords(places: readonly number[]): void {
    let records: RepoRecord[] | undefined;
    for (const place of places) {
      const record = this.#options.ruled(this.#repos[place]!.record);
      if (record !== this.#records[place]) (records ??= [...this.#records])[place] = record;
    }
    if (records !== undefined) this.#records = records;
  }

  #noteBlind(repo: CatalogRepo): void {
    const isBlind = this.#options.catalog.revisionsOf(repo) instanceof Error;
    if (isBlind) this.#blind.add(repo.record.repoId);
    else this.#blind.delete(repo.record.repoId);
  }

  /** Shows a shard with the docs of those repos that are shown, if there are any. */
  #showShard(shardId: string): void {
    const holders = this.#options.catalog
      .reposOfShard(shardId)
      .filter(({ record }) => this.#places.has(record.repoId));
    const [first] = holders;
    if (first === undefined) {
      this.#standings.delete(shardId);
      return;
    }
    const parts = holders.map((repo) => this.#partOf(repo, indexIn(repo, shardId)));
    const index = indexIn(first, shardId);
    const shard = this.#liveShard(first.shards[index]!, parts);
    this.#standings.set(shardId, { shard, place: this.#places.get(first.record.repoId)!, index });
  }

  #partOf(repo: CatalogRepo, index: number): ShardPart {
    const table = this.#options.catalog.revisionsOf(repo);
    const revisions = table instanceof RevisionTable ? table.shards[index] : undefined;
    return { repoId: repo.record.repoId, ...docsOfRepo(repo.shards[index]!), revisions };
  }

  #liveShard(shard: CatalogShard, parts: ShardPart[]): LiveShard {
    const { catalog, isSymbolless } = this.#options;
    const { shardId, docCount, symbols, ...rest } = shard;
    const isWhole = symbols !== undefined && !isSymbolless(shardId);
    const shown = isWhole ? shard : { shardId, docCount, ...rest };
    return {
      ...catalog.shardFile(shown),
      shardId: liveIdOf(shardId, isWhole ? symbols : undefined),
      docCount,
      parts: parts.sort((a, b) => a.docStart - b.docStart),
    };
  }
}

/** Id of a shard as searches know it: a shard with other symbols is another one to them. */
export function liveIdOf(
  shardId: string,
  symbols: Pick<CatalogSymbols, 'symbolsId'> | undefined,
): string {
  return symbols === undefined ? shardId : `${shardId}+${symbols.symbolsId}`;
}

/** The catalog's id of a live shard. */
export function shardIdOf(liveId: string): string {
  return liveId.split('+', 1)[0]!;
}
