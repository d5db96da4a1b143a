// Keeps symbols of the served shards complete: runs the symbol pass over each shard without symbols, one at a time,
// smallest repos first, while no repo is being indexed, and passes the files to the indexer. It checks again after each
// publish. A failed pass is repeated after growing pauses. Searches go on meanwhile and report missing symbols.

import path from 'node:path';
import { ShardError } from '../engine/host/space.ts';
import { isDiskFull, messageOf } from '../base/caught.ts';
import type { Log } from '../base/log.ts';
import { unlessAborted } from '../base/shared-work.ts';
import { enginesHere } from '../engine/symbols/extractor.ts';
import { SymbolPasses } from '../engine/symbols/pass.ts';
import type { PassProgress } from '../engine/symbols/pass-loop.ts';
import type { Indexer } from './indexer.ts';
import type { Served } from '../index/served/served.ts';
import type { ShardWithoutSymbols } from '../index/upkeep/shard-symbols.ts';

/** Increased whenever the same content gives other symbols, so that they are found again. */
const EXTRACTION_VERSION = 4;

export interface SymbolIndexerOptions {
  readonly module: WebAssembly.Module;
  readonly served: Served;
  readonly indexer: Indexer;
  readonly folder: string;
  readonly log: Log;
  readonly workers?: number | undefined;
  readonly onProgress?: ((repo: string, progress: PassProgress) => void) | undefined;
}

export class SymbolIndexer {
  readonly #options: SymbolIndexerOptions;
  readonly #passes: SymbolPasses;
  readonly #stop = new AbortController();
  #foundBy: string | undefined;
  #running: Promise<void> | undefined;
  #isWoken = false;

  constructor(options: SymbolIndexerOptions) {
    this.#options = options;
    this.#passes = new SymbolPasses(options.module);
  }

  /** Finds missing symbols of all shards; resolves when it is done, or failed. */
  run(): Promise<void> {
    this.#isWoken = true;
    this.#running ??= this.#work();
    return this.#running;
  }

  /** Errors: none; failures are logged. */
  async #work(): Promise<void> {
    const { indexer, log } = this.#options;
    const { signal } = this.#stop;
    try {
      await this.#engines();
      while (this.#isWoken && !signal.aborted) {
        this.#isWoken = false;
        // Why no longer: close stops jobs only after this.
        await unlessAborted(indexer.jobs.whenQuiet(), signal);
        // A merged shard needs one pass instead of many.
        await unlessAborted(indexer.merger.whenIdle(), signal);
        await this.#findNext();
      }
    } catch (error) {
      if (signal.aborted) return;
      log.error('symbols could not be found', { error: messageOf(error) });
      indexer.symbols.findAllAgain(messageOf(error));
    } finally {
      // Why here: a later call of `run` starts again.
      this.#running = undefined;
    }
  }

  async #findNext(): Promise<void> {
    const foundBy = await this.#engines();
    if (foundBy === undefined) return;
    let next: ShardWithoutSymbols | undefined;
    for (const shard of this.#options.indexer.symbols.missing(foundBy))
      if (next === undefined || shard.size < next.size) next = shard;
    if (next === undefined || this.#stop.signal.aborted) return;
    if (await this.#pass(next, foundBy)) this.#isWoken = true;
  }

  /** The symbol engines, as the catalog stores them; undefined: none. */
  async #engines(): Promise<string | undefined> {
    const { log, indexer } = this.#options;
    if (this.#foundBy === undefined) {
      const engines = await enginesHere();
      this.#foundBy = engines.map(({ name }) => name).join(' ');
      if (this.#foundBy === '') {
        log.warn('symbols cannot be found: no engine is installed (universal-ctags)');
        indexer.symbols.giveUp('no symbol parser is installed, such as universal-ctags');
      } else
        log.info(
          'symbol engines',
          Object.fromEntries(engines.map(({ name, version }) => [name, version])),
        );
    }
    return this.#foundBy === '' ? undefined : `${EXTRACTION_VERSION} ${this.#foundBy}`;
  }

  /** False: the disk is full, so other shards would fail too. */
  async #pass(
    { repo, shardId, path: shardPath }: ShardWithoutSymbols,
    foundBy: string,
  ): Promise<boolean> {
    const { served, indexer, folder, log, workers, onProgress } = this.#options;
    const outPath = path.join(folder, `${shardId}.tags.next`);
    const start = Date.now();
    indexer.symbols.reading = shardId;
    try {
      const result = await this.#passes.run({
        shardPath,
        outPath,
        log,
        signal: this.#stop.signal,
        concurrency: workers,
        onProgress: onProgress && ((progress) => onProgress(repo, progress)),
      });
      const { fileId: symbolsId, size, symbolCount, fileCount, failureCount: failedCount } = result;
      const found = { size, symbolCount, fileCount, failedCount };
      await indexer.symbols.adopt(shardId, outPath, { symbolsId, ...found, foundBy });
      log.info('symbols found', { repo, shardId, ...found, durationMs: Date.now() - start });
    } catch (error) {
      if (this.#stop.signal.aborted) return false;
      // Another shard has replaced it.
      const missing = indexer.symbols.missing(foundBy);
      if (!missing.some((one) => one.shardId === shardId)) return true;
      const reason = messageOf(error);
      // The shard goes out of service and is rebuilt, then its symbols are found.
      if (error instanceof ShardError) served.noteShardFailure(shardId, error.reason, error.fault);
      else if (isDiskFull(error)) indexer.symbols.findAllAgain(reason);
      else indexer.symbols.findAgain(shardId, reason);
      log.error('symbols could not be found', { repo, shardId, error: reason });
      return !isDiskFull(error);
    } finally {
      indexer.symbols.reading = undefined;
    }
    return true;
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the index is being closed'));
    await this.#running;
    await this.#passes.close();
  }
}
