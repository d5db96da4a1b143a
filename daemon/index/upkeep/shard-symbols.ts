// The symbols of visible shards: which shards lack them, and how found ones are put into service.

import { sumOf } from '../../base/lists.ts';
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
  readonly findSymbols: () => void;
}

/** A shard that lacks symbols, and one of its repos. */
export interface ShardWithoutSymbols {
  readonly repo: string;
  readonly shardId: string;
  readonly path: string;
  /** Bytes of the contents of all such shards of the repo. */
  readonly size: number;
}

export class ShardSymbols {
  readonly #options: ShardSymbolsOptions;
  readonly #retries: Retries;
  /** Why symbols of shards could not be found, by shardId. */
  readonly #failures = new Map<string, string>();
  /** Why no symbols can be found at all. */
  #failure: string | undefined;
  reading: string | undefined;

  constructor(options: ShardSymbolsOptions) {
    this.#options = options;
    this.#retries = new Retries(options.log);
  }

  /** The symbols of a shard could not be found, or are lost: tries again, with growing pauses. */
  findAgain(shardId: string, reason: string): void {
    this.#failures.set(shardId, reason);
    this.#retries.run(shardId, 'symbols are found again', { shardId }, this.#options.findSymbols);
  }

  /** No symbols can be found at the moment, for any shard: tries again later. */
  findAllAgain(reason: string): void {
    this.#failure = reason;
    this.#retries.run('all', 'symbols are found again', {}, this.#options.findSymbols);
  }

  giveUp(reason: string): void {
    this.#failure = reason;
  }

  /** The shards whose symbols these engines must find now. */
  missing(foundBy: string): ShardWithoutSymbols[] {
    const { catalog, served } = this.#options;
    return served.repos.flatMap(({ record, shards }) => {
      const missing = shards.filter(({ shardId, symbols }) => {
        const isCurrent = symbols?.foundBy === foundBy && !served.isSymbolless(shardId);
        const isLater = this.#retries.isWaiting(shardId);
        return !isCurrent && !isLater && !served.isOut(shardId);
      });
      const size = sumOf(missing, ({ contentSize }) => contentSize);
      return missing.map(({ shardId }) => ({
        repo: record.name,
        shardId,
        path: catalog.shardPath(shardId),
        size,
      }));
    });
  }

  /** Symbols still to be found, as a sentence for the owner; undefined: none, or it failed. */
  get pending(): string | undefined {
    const missing = this.#missingNow();
    return missing.failed === 0 ? sentenceOf(missing) : undefined;
  }

  /** Symbols that could not be found, as a sentence for the owner; undefined: none. */
  get lastError(): string | undefined {
    const missing = this.#missingNow();
    return missing.failed > 0 ? sentenceOf(missing) : undefined;
  }

  #missingNow(): MissingSymbols {
    const { served } = this.#options;
    const missing: MissingSymbols = { reading: 0, waiting: 0, failed: 0, reason: undefined };
    for (const { record, shards } of served.repos) {
      const without = shards.filter(
        ({ shardId, symbols }) =>
          (symbols === undefined || served.isSymbolless(shardId)) && !served.isOut(shardId),
      );
      if (without.length === 0) continue;
      const failure = without.find(({ shardId }) => this.#failures.has(shardId));
      const reason = failure ? this.#failures.get(failure.shardId) : this.#failure;
      if (without.some(({ shardId }) => shardId === this.reading)) missing.reading++;
      else if (reason === undefined) missing.waiting++;
      else {
        missing.failed++;
        missing.reason ??= failure ? `${record.name}: ${reason}` : reason;
      }
    }
    return missing;
  }

  /** Publishes a shard's symbols from the finished file; removes the file if the shard is gone. */
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
      await publication.commit(change, () => {
        served.forgetSymbols(shardId);
        this.#failures.delete(shardId);
        this.#failure = undefined;
      });
    });
  }

  close(): void {
    this.#retries.close();
  }
}

/** How many repos are searched without symbols, and why. */
interface MissingSymbols {
  reading: number;
  waiting: number;
  failed: number;
  reason: string | undefined;
}

/** For the owner; undefined: no symbols are missing. */
function sentenceOf({ reading, waiting, failed, reason }: MissingSymbols): string | undefined {
  const count = reading + waiting + failed;
  if (count === 0) return undefined;
  const repos = count === 1 ? '1 repository' : `${count} repositories`;
  const states = [
    ...(reading === 0 ? [] : [`${reading} being read`]),
    ...(waiting === 0 ? [] : [`${waiting} waiting`]),
    ...(failed === 0 ? [] : [`${failed} failed (${reason})`]),
  ];
  return `symbols of ${repos} are missing: ${states.join(', ')}`;
}
