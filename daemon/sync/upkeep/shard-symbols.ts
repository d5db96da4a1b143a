// The symbols of the shards that searches see: which shards have none by now, and putting found ones into service.

import type { Log } from '../../base/log.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogChange, CatalogShard, CatalogSymbols } from '../catalog/catalog-records.ts';
import { publishing } from '../served/publication.ts';
import { Retries } from '../../base/retries.ts';
import type { Served } from '../served/served.ts';

export interface ShardSymbolsOptions {
  readonly catalog: Catalog;
  readonly served: Served;
  readonly log: Log;
  /** Told that there may be shards whose symbols are not known. */
  readonly onNewShards: () => void;
}

/** What is tried again beside shards, which have other names. */
const ROOM = 'room';

export class ShardSymbols {
  readonly #options: ShardSymbolsOptions;
  readonly #retries: Retries;

  constructor(options: ShardSymbolsOptions) {
    this.#options = options;
    this.#retries = new Retries(options.log);
  }

  /** Has the symbols of a shard found again, later each time. */
  findAgain(shardId: string): void {
    this.#retries.run(shardId, 'symbols are found again', { shardId }, this.#options.onNewShards);
  }

  /** There is no room for symbols, of whatever shard: they are looked for later. */
  waitForRoom(): void {
    this.#retries.run(ROOM, 'symbols are found again', {}, this.#options.onNewShards);
  }

  /** The shards whose symbols are to be found now, by these engines; each with the repo it belongs to. */
  missing(foundBy: string): { repo: string; shardId: string; path: string }[] {
    const { catalog, served } = this.#options;
    return served.repos.flatMap(({ record, shards }) =>
      shards
        .filter(({ shardId, symbols }) => {
          const isKnown = symbols?.foundBy === foundBy && !served.isSymbolless(shardId);
          const isLater = this.#retries.isWaiting(shardId);
          return !isKnown && !isLater && !served.isOut(shardId);
        })
        .map(({ shardId }) => ({
          repo: record.name,
          shardId,
          path: catalog.shardPath(shardId),
        })),
    );
  }

  /** Gives a shard the symbols in the finished file, and shows them; the file goes where the shard has gone. */
  async adopt(shardId: string, file: string, symbols: CatalogSymbols): Promise<void> {
    const { catalog, served } = this.#options;
    await publishing(this.#options, [file], async (publication) => {
      await publication.addSymbols(file, symbols);
      const withSymbols = (shard: CatalogShard): CatalogShard =>
        shard.shardId === shardId ? { ...shard, symbols } : shard;
      const change = (): CatalogChange => ({
        put: catalog
          .reposOfShard(shardId)
          .map((repo) => ({ ...repo, shards: repo.shards.map(withSymbols) })),
      });
      await publication.commit(change, () => served.forgetSymbols(shardId));
    });
  }

  close(): void {
    this.#retries.close();
  }
}
