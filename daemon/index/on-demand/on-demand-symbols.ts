// Finds the symbols of revisions built on demand, one shard after the other, without delaying the searches that waited
// for the build. Until then symbol searches report that some are missing.

import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import { SymbolPasses } from '../../engine/symbols/pass.ts';
import type { KeptDocs } from './kept-docs.ts';
import type { OnDemandDocs, OnDemandShard } from './on-demand-docs.ts';

export class OnDemandSymbols {
  readonly #kept: KeptDocs;
  readonly #log: Log;
  readonly #workers: number;
  readonly #passes: SymbolPasses;
  readonly #stop = new AbortController();
  #last: Promise<void> = Promise.resolve();

  /** @param workers  contents read at a time */
  constructor(module: WebAssembly.Module, kept: KeptDocs, log: Log, workers: number) {
    this.#kept = kept;
    this.#log = log;
    this.#workers = workers;
    this.#passes = new SymbolPasses(module);
  }

  /** Queues docs; they are processed in order. */
  find(docs: OnDemandDocs): void {
    this.#last = this.#findBehind(this.#last, docs);
  }

  async #findBehind(before: Promise<void>, docs: OnDemandDocs): Promise<void> {
    await before;
    for (const shard of docs.shards) {
      if (this.#stop.signal.aborted || !this.#kept.isKept(docs)) return;
      await this.#findIn(docs, shard);
    }
  }

  /** Errors: none; failures are logged. */
  async #findIn(docs: OnDemandDocs, shard: OnDemandShard): Promise<void> {
    const log = this.#log;
    const path = `${shard.path}.tags`;
    try {
      const { signal } = this.#stop;
      const found = await this.#passes.run({
        shardPath: shard.path,
        outPath: path,
        log,
        signal,
        concurrency: this.#workers,
      });
      const { fileId: symbolsId, size, symbolCount } = found;
      if (await this.#kept.addSymbols(docs, shard, { symbolsId, path, size }))
        log.info('symbols found in revisions on demand', { commits: docs.commits, symbolCount });
    } catch (error) {
      // Files of docs that are not kept may be removed at any time.
      if (this.#stop.signal.aborted || !this.#kept.isKept(docs)) return;
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
