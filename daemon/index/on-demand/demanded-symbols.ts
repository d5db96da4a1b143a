// Finds the symbols of revisions built on demand, one shard after the other, without delaying the searches that waited
// for the build. Until then symbol searches report that some are missing.

import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import { SymbolPasses } from '../../engine/symbols/pass.ts';
import type { DemandedDocs, DemandedShard } from './demanded-docs.ts';

export interface DemandedSymbolsOptions {
  readonly module: WebAssembly.Module;
  readonly log: Log;
  /** Contents read at a time. */
  readonly workers?: number | undefined;
}

/** Where found symbols are stored. */
export interface SymbolsKeeper {
  /** Whether the docs are still kept. */
  isKept(docs: DemandedDocs): boolean;
  /** Takes ownership of the file; false: the docs are gone, or there is no room. */
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

  /** Queues docs; they are processed in order. */
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

  /** Errors: none; failures are logged. */
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
      // Files of docs that are not kept may be removed at any time.
      if (this.#stop.signal.aborted || !this.#keeper.isKept(docs)) return;
      const fields = { commits: docs.commits, error: messageOf(error) };
      log.warn('symbols could not be found in revisions on demand', fields);
    }
  }

  /** Cancels the current work. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('the daemon is stopping'));
    await this.#last;
    await this.#passes.close();
  }
}
