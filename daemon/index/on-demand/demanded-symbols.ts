// Finds the symbols of what was built on demand, behind the searches that waited for it: one shard after the other. Until
// they are found, searches for symbols say that some are missing.

import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import { SymbolPasses } from '../../engine/symbols/pass.ts';
import type { DemandedDocs, DemandedShard } from './demanded-docs.ts';

export interface DemandedSymbolsOptions {
  readonly module: WebAssembly.Module;
  readonly log: Log;
  /** Contents read at once. */
  readonly workers?: number | undefined;
}

/** Where what is found goes. */
export interface SymbolsKeeper {
  /** Whether docs may still be found. */
  isKept(docs: DemandedDocs): boolean;
  /** Takes the file over; false: the docs are not kept any more, or there is no room for it. */
  addSymbols(
    docs: DemandedDocs,
    shard: DemandedShard,
    symbols: NonNullable<DemandedShard['symbols']>,
  ): Promise<boolean>;
}

export class DemandedSymbols {
  readonly #options: DemandedSymbolsOptions;
  readonly #keeper: SymbolsKeeper;
  readonly #passes: SymbolPasses;
  readonly #stop = new AbortController();
  #last: Promise<void> = Promise.resolve();

  constructor(options: DemandedSymbolsOptions, keeper: SymbolsKeeper) {
    this.#options = options;
    this.#keeper = keeper;
    this.#passes = new SymbolPasses(options.module);
  }

  /** Finds the symbols of docs when those that were asked for before are found. */
  find(docs: DemandedDocs): void {
    this.#last = this.#findBehind(this.#last, docs);
  }

  async #findBehind(before: Promise<void>, docs: DemandedDocs): Promise<void> {
    await before;
    for (const shard of docs.shards) {
      if (this.#stop.signal.aborted || !this.#keeper.isKept(docs)) return;
      await this.#findIn(docs, shard);
    }
  }

  /** Errors: none; what goes wrong is logged. */
  async #findIn(docs: DemandedDocs, shard: DemandedShard): Promise<void> {
    const { log, workers: concurrency } = this.#options;
    const path = `${shard.path}.tags`;
    try {
      const { signal } = this.#stop;
      const found = await this.#passes.run({
        shardPath: shard.path,
        outPath: path,
        log,
        signal,
        concurrency,
      });
      const { fileId: symbolsId, size, symbolCount } = found;
      if (await this.#keeper.addSymbols(docs, shard, { symbolsId, path, size }))
        log.info('symbols found in revisions on demand', { commits: docs.commits, symbolCount });
    } catch (error) {
      // The files of docs that are not kept go at any time.
      if (this.#stop.signal.aborted || !this.#keeper.isKept(docs)) return;
      const fields = { commits: docs.commits, error: messageOf(error) };
      log.warn('symbols could not be found in revisions on demand', fields);
    }
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('the daemon is stopping'));
    await this.#last;
    await this.#passes.close();
  }
}
