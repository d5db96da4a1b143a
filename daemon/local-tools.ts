// The tools on an index of this machine without a daemon: `trawl mcp`. Whoever comes first owns the data directory, indexes the
// sources and watches them; others read what the owner writes, and one of them takes over when it is gone.

import { stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from './base/caught.ts';
import type { Configuration } from './base/config/configuration.ts';
import type { Log } from './base/log.ts';
import type { BuildProgress } from './engine/build/build.ts';
import { navigate } from './engine/search/navigation.ts';
import { search } from './engine/search/service.ts';
import { openHistory } from './histories.ts';
import { MemoryBudget } from './http/adapters/memory-budget.ts';
import { ApiError } from './http/api/shapes/api-error.ts';
import type { ToolContext, ToolServices } from './http/mcp/tools/tool.ts';
import { indexerOf, type Instance, openInstance } from './instance.ts';
import { RepoDirectory } from './repos/directory.ts';
import { SEES_ALL } from './repos/sight.ts';
import { objectPool } from './sources/git/object-pool.ts';
import { listRefs } from './sources/git/refs.ts';
import { readSource } from './sources/reading/source-reader.ts';
import { listFiles, listFolders } from './sources/reading/tree-reader.ts';
import { CATALOG_FILE, CHANGES_FILE } from './sync/catalog/catalog-files.ts';
import { LockedError } from './sync/catalog/lock.ts';
import { watchSources } from './sync/source-watch.ts';

export interface LocalToolsOptions {
  readonly configuration: Configuration;
  readonly log: Log;
  /** Absolute paths. */
  readonly sources: readonly string[];
}

/** How long a call waits for an index that is being made. */
const INDEX_WAIT_MS = 20_000;
/** How often those who read look whether the owner is gone. */
const OWNER_LOOK_MS = 5_000;
const HOLDER = 'local';

/** An index that is open. */
interface Opened {
  readonly services: ToolServices;
  /** Resolves when all sources have been indexed once. */
  readonly indexed: Promise<unknown>;
  /** Undefined: this process is the owner. Else what the catalog looked like when it was read. */
  readonly look: string | undefined;
  /** Calls that are under way. */
  useCount: number;
  /** The last call closes it. */
  isRetired: boolean;
  close(): Promise<void>;
}

export class LocalTools {
  readonly #options: LocalToolsOptions;
  readonly #abort = new AbortController();
  readonly #memory: MemoryBudget;
  #opened: Promise<Opened>;
  #looking: Promise<Opened> | undefined;
  #lookedMs = performance.now();
  #progress: BuildProgress | undefined;

  /** Opens the index in the background. */
  constructor(options: LocalToolsOptions) {
    this.#options = options;
    this.#memory = new MemoryBudget(options.configuration.settings.memory);
    this.#opened = this.#open();
    // Whoever calls a tool is told.
    this.#opened.catch(() => {});
  }

  /**
   * Does `work` with what a call of a tool may use.
   *
   * @param needsIndex  waits for the first index
   * Errors: NOT_READY while there is none, and where it cannot be opened; those of `work`.
   */
  async with<Value>(
    needsIndex: boolean,
    signal: AbortSignal,
    onProgress: ToolContext['onProgress'],
    work: (context: ToolContext) => Promise<Value>,
  ): Promise<Value> {
    const opened = await this.#current();
    const ends: (() => void)[] = [];
    opened.useCount++;
    try {
      if (needsIndex) await this.#waitForIndex(opened, signal);
      return await work(this.#contextOf(opened, signal, onProgress, ends));
    } finally {
      for (const end of ends) end();
      opened.useCount--;
      if (opened.isRetired && opened.useCount === 0) await opened.close();
    }
  }

  #contextOf(
    { services }: Opened,
    signal: AbortSignal,
    onProgress: ToolContext['onProgress'],
    ends: (() => void)[],
  ): ToolContext {
    const { baseUrl, port, settings } = this.#options.configuration;
    return {
      actor: undefined,
      accounts: { trail: { note: () => {} } },
      baseUrl: baseUrl ?? `http://localhost:${port}`,
      holder: HOLDER,
      memory: {
        tryTake: (size) => this.#memory.tryTake(HOLDER, size),
        onOver: (end) => void ends.push(end),
      },
      place: undefined,
      services,
      settings,
      sight: SEES_ALL,
      signal,
      takeMemory: () => {},
      onProgress,
    };
  }

  async close(): Promise<void> {
    this.#abort.abort(new Error('the tools are closing'));
    const opened = await this.#opened.catch(() => undefined);
    await opened?.close();
    await objectPool.close();
  }

  /** The index as it is now: that of another owner is opened again when it has changed, or the owner may be gone. */
  async #current(): Promise<Opened> {
    try {
      const opened = await this.#opened;
      if (opened.look === undefined) return opened;
      this.#looking ??= this.#lookAgain(opened).finally(() => (this.#looking = undefined));
      return await this.#looking;
    } catch (error) {
      throw new ApiError('NOT_READY', `the index cannot be opened: ${messageOf(error)}`);
    }
  }

  async #lookAgain(opened: Opened): Promise<Opened> {
    const isDue = performance.now() - this.#lookedMs > OWNER_LOOK_MS;
    const isChanged = opened.look !== (await lookOf(this.#options.configuration.dataDir));
    if (!isDue && !isChanged) return opened;
    this.#lookedMs = performance.now();
    const own = await this.#takeOver();
    if (own === undefined && !isChanged) return opened;
    const next = own === undefined ? await this.#openOther() : await this.#openOwn(own);
    this.#opened = Promise.resolve(next);
    opened.isRetired = true;
    if (opened.useCount === 0) await opened.close();
    return next;
  }

  async #open(): Promise<Opened> {
    const own = await this.#takeOver();
    return own === undefined ? await this.#openOther() : await this.#openOwn(own);
  }

  /** Undefined: another process owns the data directory. */
  async #takeOver(): Promise<Instance | undefined> {
    try {
      return await this.#openInstance(true);
    } catch (error) {
      if (error instanceof LockedError) return undefined;
      throw error;
    }
  }

  async #openOwn(instance: Instance): Promise<Opened> {
    const { log, sources } = this.#options;
    const { signal } = this.#abort;
    const indexer = indexerOf(instance);
    const looked = indexer.sources.add(sources, undefined, {}, signal);
    try {
      const { records } = await looked;
      instance.served.publish();
      const watch = watchSources({ ...instance, indexer, looked, log, signal });
      const { results } = await indexer.jobs.askAll(records, false, signal);
      results.then(() => indexer.merger.run()).catch(() => {});
      void instance.symbols?.run();
      return await this.#openedOn(instance, results, undefined, () => watch.close());
    } catch (error) {
      await instance.close();
      throw error;
    }
  }

  async #openOther(): Promise<Opened> {
    const look = await lookOf(this.#options.configuration.dataDir);
    const instance = await this.#openInstance(false);
    instance.served.publish();
    return await this.#openedOn(instance, Promise.resolve(), look, async () => {});
  }

  #openInstance(isOwner: boolean): Promise<Instance> {
    const { configuration, log } = this.#options;
    const { dataDir, settings, gitPaths, workerCount, databaseUrl } = configuration;
    return openInstance({
      dataDir,
      isOwner,
      databaseUrl: databaseUrl?.reveal(),
      filters: settings,
      gitPaths,
      gitTimeoutMs: settings.gitTimeoutMs,
      searchTimeoutMs: settings.searchTimeoutMs,
      onDemand: isOwner ? settings.onDemandRevisions : undefined,
      workers: workerCount,
      log,
      onProgress: (_, progress) => void (this.#progress = progress),
    });
  }

  async #openedOn(
    instance: Instance,
    indexed: Promise<unknown>,
    look: string | undefined,
    closeWatch: () => Promise<void>,
  ): Promise<Opened> {
    const { parts, catalog } = instance;
    const { configuration, log } = this.#options;
    const history = await openHistory(configuration, catalog, log);
    return {
      indexed,
      look,
      useCount: 0,
      isRetired: false,
      services: {
        search: {
          search: (call, context) => search(parts, call, context),
          navigate: (kind, call, context) => navigate(parts, kind, call, context),
        },
        repos: new RepoDirectory(() => parts.snapshots.current.repos),
        source: { read: readSource },
        history,
        trees: { files: listFiles, folders: listFolders },
        refs: { list: listRefs },
      },
      async close() {
        await closeWatch();
        await history.close();
        await instance.close();
      },
    };
  }

  /** Errors: NOT_READY. */
  async #waitForIndex({ indexed, services }: Opened, signal: AbortSignal): Promise<void> {
    const isThere = (): boolean =>
      services.repos.list(SEES_ALL).some(({ indexedAt }) => indexedAt !== undefined);
    if (isThere()) return;
    const waiting = sleep(INDEX_WAIT_MS, undefined, { ref: false, signal });
    await Promise.race([indexed, waiting]);
    if (!isThere()) throw new ApiError('NOT_READY', this.#whyNotReady());
  }

  #whyNotReady(): string {
    const { filesDone = 0, filesTotal = 0 } = this.#progress ?? {};
    const soFar = filesTotal > 0 ? ` (${filesDone} of ${filesTotal} files)` : '';
    return `the index is being made${soFar}; try again in a while. read_file, list_tree, list_commits and get_diff work meanwhile`;
  }
}

/** Changes whenever the catalog does. */
async function lookOf(dataDir: string): Promise<string> {
  const looks = [CATALOG_FILE, CHANGES_FILE].map(async (name) => {
    const found = await stat(path.join(dataDir, name)).catch(() => undefined);
    return `${found?.ino} ${found?.mtimeMs} ${found?.size}`;
  });
  return (await Promise.all(looks)).join(' ');
}
