// Keeps the symbols of the served shards known: runs the symbol pass over each shard that has none, one after the
// other, those of the smallest repos first, while no repo is being indexed, and hands the files to the indexer. It looks
// again whenever something is published. A pass that fails is tried again, after longer pauses each time. Search goes on
// meanwhile; it says that symbols are missing where they are asked for.

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
import type { WantedShard } from '../index/upkeep/shard-symbols.ts';

/** Changes whenever other symbols are found in the same content, so that they are looked for again. */
const EXTRACTION_VERSION = 4;

export interface SymbolKeeperOptions {
  readonly module: WebAssembly.Module;
  readonly served: Served;
  readonly indexer: Indexer;
  /** Where unfinished files lie. */
  readonly folder: string;
  readonly log: Log;
  readonly workers?: number | undefined;
  readonly onProgress?: ((repo: string, progress: PassProgress) => void) | undefined;
}

export class SymbolKeeper {
  readonly #options: SymbolKeeperOptions;
  readonly #passes: SymbolPasses;
  readonly #stop = new AbortController();
  #foundBy: string | undefined;
  #running: Promise<void> | undefined;
  #isWoken = false;

  constructor(options: SymbolKeeperOptions) {
    this.#options = options;
    this.#passes = new SymbolPasses(options.module);
  }

  /** Finds the symbols of the shards that have none by now; resolves when that is done, or cannot be done. */
  run(): Promise<void> {
    this.#isWoken = true;
    this.#running ??= this.#work();
    return this.#running;
  }

  /** Errors: none; what goes wrong is logged. */
  async #work(): Promise<void> {
    const { indexer, log } = this.#options;
    const { signal } = this.#stop;
    try {
      await this.#engines();
      while (this.#isWoken && !signal.aborted) {
        this.#isWoken = false;
        // Why no longer: jobs are stopped behind this.
        await unlessAborted(indexer.jobs.whenQuiet(), signal);
        // What is merged first needs one pass instead of many.
        await unlessAborted(indexer.merger.whenIdle(), signal);
        await this.#findNext();
      }
    } catch (error) {
      if (signal.aborted) return;
      log.error('symbols could not be found', { error: messageOf(error) });
      indexer.symbols.findAllAgain(messageOf(error));
    } finally {
      // Why here: whoever wakes it from now on starts it anew.
      this.#running = undefined;
    }
  }

  /** Runs the pass over one shard that wants it, and looks again afterwards. */
  async #findNext(): Promise<void> {
    const foundBy = await this.#engines();
    if (foundBy === undefined) return;
    let next: WantedShard | undefined;
    for (const wanted of this.#options.indexer.symbols.missing(foundBy))
      if (next === undefined || wanted.size < next.size) next = wanted;
    if (next === undefined || this.#stop.signal.aborted) return;
    if (await this.#pass(next, foundBy)) this.#isWoken = true;
  }

  /** What finds symbols here, as the catalog keeps it; undefined: nothing does. */
  async #engines(): Promise<string | undefined> {
    const { log, indexer } = this.#options;
    if (this.#foundBy === undefined) {
      const engines = await enginesHere();
      this.#foundBy = engines.map(({ name }) => name).join(' ');
      if (this.#foundBy === '') {
        log.warn('symbols are not found: no engine is installed (universal-ctags)');
        indexer.symbols.giveUp('no parser is installed: universal-ctags is one');
      } else
        log.info(
          'engines of symbols',
          Object.fromEntries(engines.map(({ name, version }) => [name, version])),
        );
    }
    return this.#foundBy === '' ? undefined : `${EXTRACTION_VERSION} ${this.#foundBy}`;
  }

  /** False: there is no room for those of others either. */
  async #pass({ repo, shardId, path: shardPath }: WantedShard, foundBy: string): Promise<boolean> {
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
      // Another has come in its place meanwhile.
      if (!this.#isMissing(shardId, foundBy)) return true;
      const reason = messageOf(error);
      // It goes out of service and is built again, and its symbols are looked for then.
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

  /** Whether the shard is served, and its symbols are not known. */
  #isMissing(shardId: string, foundBy: string): boolean {
    return this.#options.indexer.symbols
      .missing(foundBy)
      .some((missing) => missing.shardId === shardId);
  }

  /** Gives up what is under way; resolves when nothing runs any more. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('the index is being closed'));
    await this.#running;
    await this.#passes.close();
  }
}
