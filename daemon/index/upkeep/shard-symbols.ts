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
  /** Has the symbols found that are not known. */
  readonly findSymbols: () => void;
}

/** A shard whose symbols are to be found, and a repo that it belongs to. */
export interface WantedShard {
  readonly repo: string;
  readonly shardId: string;
  readonly path: string;
  /** Bytes of the contents of all such shards of the repo. */
  readonly size: number;
}

/** What is tried again beside shards, which have other names. */
const ALL = 'all';

export class ShardSymbols {
  readonly #options: ShardSymbolsOptions;
  readonly #retries: Retries;
  /** Why the symbols of shards could not be found, by shardId, until they are. */
  readonly #failures = new Map<string, string>();
  /** Why none can be found. */
  #failure: string | undefined;
  /** The shard whose symbols are being found. */
  reading: string | undefined;

  constructor(options: ShardSymbolsOptions) {
    this.#options = options;
    this.#retries = new Retries(options.log);
  }

  /** The symbols of a shard could not be found, or are lost: they are found again, later each time. */
  findAgain(shardId: string, reason: string): void {
    this.#failures.set(shardId, reason);
    this.#retries.run(shardId, 'symbols are found again', { shardId }, this.#options.findSymbols);
  }

  /** No symbols can be found now, of whatever shard: they are looked for later. */
  findAllAgain(reason: string): void {
    this.#failure = reason;
    this.#retries.run(ALL, 'symbols are found again', {}, this.#options.findSymbols);
  }

  /** There is nothing here that finds symbols. */
  giveUp(reason: string): void {
    this.#failure = reason;
  }

  /** The shards whose symbols are to be found now, by these engines. */
  missing(foundBy: string): WantedShard[] {
    const { catalog, served } = this.#options;
    return served.repos.flatMap(({ record, shards }) => {
      const wanted = shards.filter(({ shardId, symbols }) => {
        const isKnown = symbols?.foundBy === foundBy && !served.isSymbolless(shardId);
        const isLater = this.#retries.isWaiting(shardId);
        return !isKnown && !isLater && !served.isOut(shardId);
      });
      const size = wanted.reduce((sum, { contentSize }) => sum + contentSize, 0);
      return wanted.map(({ shardId }) => ({
        repo: record.name,
        shardId,
        path: catalog.shardPath(shardId),
        size,
      }));
    });
  }

  /** What of symbols is still to come, in words for the owner; undefined: nothing, or it failed. */
  get pending(): string | undefined {
    const missing = this.#missingNow();
    return missing.failed === 0 ? sentenceOf(missing) : undefined;
  }

  /** What of symbols could not be found, in words for the owner; undefined: nothing. */
  get trouble(): string | undefined {
    const missing = this.#missingNow();
    return missing.failed > 0 ? sentenceOf(missing) : undefined;
  }

  /** The repos that are searched without symbols. */
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
  /** Of the first that failed. */
  reason: string | undefined;
}

/** For the owner; undefined: none is missing. */
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
