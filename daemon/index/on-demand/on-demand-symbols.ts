// Finds the symbols of revisions built on demand, one shard after the other, without delaying the searches that waited
// for the build. Until then symbol searches report that some are missing.

import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import { SymbolPasses } from '../../engine/symbols/pass.ts';
import type { OnDemandDocs, OnDemandShard } from './on-demand-docs.ts';

export interface OnDemandSymbolsOptions {
  readonly module: WebAssembly.Module;
  readonly log: Log;
  /** Contents read at a time. */
  readonly workers?: number | undefined;
}

/** Where found symbols are stored. */
export interface SymbolsSink {
  /** Whether the docs are still kept. */
  isKept(docs: OnDemandDocs): boolean;
  /** Takes ownership of the file; false: the docs are gone, or there is no room. */
  addSymbols(
    docs: OnDemandDocs,
    shard: OnDemandShard,
    symbols: NonNullable<OnDemandShard['symbols']>,
  ): Promise<boolean>;
}

export class OnDemandSymbols {
  readonly #options: OnDemandSymbolsOptions;
  readonly #sink: SymbolsSink;
  readonly #passes: SymbolPasses;
  readonly #stop = new AbortController();
  #last: Promise<void> = Promise.resolve();

  constructor(options: OnDemandSymbolsOptions, sink: SymbolsSink) {
    this.#options = options;
    this.#sink = sink;
    this.#passes = new SymbolPasses(options.module);
  }

  /** Queues docs; they are processed in order. */
  find(docs: OnDemandDocs): void {
    this.#last = this.#findBehind(this.#last, docs);
  }

  async #findBehind(before: Promise<void>, docs: OnDemandDocs): Promise<void> {
    await before;
    for (const shard of docs.shards) {
      if (this.#stop.signal.aborted || !this.#sink.isKept(docs)) return;
      await this.#findIn(docs, shard);
    }
  }

  /** Errors: none; failures are logged. */
  async #findIn(docs: OnDemandDocs, shard: OnDemandShard): Promise<void> {
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
      if (await this.#sink.addSymbols(docs, shard, { symbolsId, path, size }))
        log.info('symbols found in revisions on demand', { commits: docs.commits, symbolCount });
    } catch (error) {
      // Files of docs that are not kept may be removed at any time.
      if (this.#stop.signal.aborted || !this.#sink.isKept(docs)) return;
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
