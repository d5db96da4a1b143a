// The tools on an index of this machine without a daemon: `trawl mcp`. The first process owns the data directory, indexes the
// sources and watches them; others read what the owner writes, and one of them takes over when the owner exits. Calls wait for
// the first index, with progress. An index that cannot be opened is opened again by the next call.

import { stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../base/caught.ts';
import type { Configuration } from '../base/config/configuration.ts';
import type { Log } from '../base/log.ts';
import type { BuildProgress } from '../engine/build/build.ts';
import { navigate } from '../engine/search/navigation.ts';
import type { SearchEnvironment } from '../engine/search/prepare.ts';
import { search } from '../engine/search/service.ts';
import { openHistory } from './histories.ts';
import { MemoryBudget } from '../http/adapters/memory-budget.ts';
import { ApiError } from '../api/shapes/api-error.ts';
import { parsedAnswer, UNINDEXED } from '../api/mcp/tools/search-scope.ts';
import type { ToolContext, ToolServices } from '../api/mcp/tools/tool.ts';
import { indexerOf, type Instance, openInstance } from './instance.ts';
import { RepoDirectory } from '../repos/directory.ts';
import type { RepoRecord } from '../repos/records.ts';
import { SEES_ALL } from '../repos/repo-access.ts';
import { objectPool } from '../sources/git/object-pool.ts';
import { listRefs } from '../sources/git/refs.ts';
import { readSource } from '../sources/reading/source-reader.ts';
import { listFiles, listFolders } from '../sources/reading/tree-reader.ts';
import { INDEX_FILE } from '../store/embedded.ts';
import { LockedError } from '../index/catalog/lock.ts';
import { watchSources } from '../sync/source-watch.ts';

export interface LocalToolsOptions {
  readonly configuration: Configuration;
  readonly log: Log;
  /** Absolute paths. */
  readonly sources: readonly string[];
  /** How long a call waits for the first index; default: INDEX_WAIT_MS. */
  readonly indexWaitMs?: number;
}

/** Why: tool clients give a call a minute by default. The index of Linux, 79,000 files, takes 13 s. */
const INDEX_WAIT_MS = 50_000;
/** Between two reports of progress. */
const PROGRESS_MS = 200;
/** How often those who read look whether the owner is gone. */
const OWNER_CHECK_MS = 5_000;
const CLIENT_KEY = 'local';

/** An open index. */
interface Opened {
  readonly instance: Instance;
  readonly services: ToolServices;
  /** Resolves when each source has been indexed once, or failed. */
  readonly indexed: Promise<void>;
  /** `indexed` has resolved. */
  readonly isIndexed: boolean;
  /** Undefined: this process is the owner. Else the state of the catalog when it was read. */
  readonly catalogStamp: string | undefined;
  /** Running calls. */
  useCount: number;
  /** The last call closes it. */
  isRetired: boolean;
  close(): Promise<void>;
}

export class LocalTools {
  readonly #options: LocalToolsOptions;
  readonly #abort = new AbortController();
  readonly #memory: MemoryBudget;
  /** Undefined: the last attempt failed. */
  #opened: Promise<Opened> | undefined;
  #checking: Promise<Opened> | undefined;
  #checkedMs = performance.now();
  #progress: BuildProgress | undefined;

  /** Opens the index in the background. */
  constructor(options: LocalToolsOptions) {
    this.#options = options;
    this.#memory = new MemoryBudget(options.configuration.settings.memory);
    // Errors are reported by tool calls.
    this.#openOnce().catch(() => {});
  }

  /**
   * Runs `work` with the services of a tool call.
   *
   * Errors: NOT_READY if the index cannot be opened; those of `work`.
   */
  async with<Value>(
    signal: AbortSignal,
    onProgress: ToolContext['onProgress'],
    work: (context: ToolContext) => Promise<Value>,
  ): Promise<Value> {
    const opened = await this.#current();
    const ends: (() => void)[] = [];
    opened.useCount++;
    try {
      return await work(this.#contextOf(opened, signal, onProgress, ends));
    } finally {
      for (const end of ends) end();
      opened.useCount--;
      if (opened.isRetired && opened.useCount === 0) await opened.close();
    }
  }

  #contextOf(
    opened: Opened,
    signal: AbortSignal,
    onProgress: ToolContext['onProgress'],
    ends: (() => void)[],
  ): ToolContext {
    const { baseUrl, port, settings } = this.#options.configuration;
    return {
      actor: undefined,
      accounts: { auditLog: { note: () => {}, noteRepeated: () => {} } },
      baseUrl: baseUrl ?? `http://localhost:${port}`,
      clientKey: CLIENT_KEY,
      memory: {
        tryTake: (size) => this.#memory.tryTake(CLIENT_KEY, size),
        onOver: (end) => void ends.push(end),
      },
      permit: undefined,
      services: { ...opened.services, search: this.#searchOf(opened, onProgress) },
      settings,
      repoAccess: SEES_ALL,
      signal,
      takeMemory: () => {},
      onProgress,
    };
  }

  /** Searches that wait for the first index; those over some of the repos say so. */
  #searchOf(opened: Opened, onProgress: ToolContext['onProgress']): ToolServices['search'] {
    const { search: indexed, repos } = opened.services;
    return {
      search: async (request, environment) => {
        await this.#waitForIndex(opened, environment, onProgress);
        const unindexed = unindexedIn(opened);
        if (unindexed.length > 0 && unindexed.length === repos.list(SEES_ALL).length)
          throw this.#notReady();
        const answer = await indexed.search(request, environment);
        if (unindexed.length === 0) return answer;
        const { incompleteReasons = [], ...rest } = parsedAnswer(answer.json);
        const incomplete = { ...rest, incompleteReasons: [...incompleteReasons, UNINDEXED] };
        return { json: Buffer.from(JSON.stringify(incomplete)) };
      },
      navigate: async (kind, call, environment) => {
        await this.#waitForIndex(opened, environment, onProgress);
        if (unindexedIn(opened).some(({ name }) => name === call.repoName)) throw this.#notReady();
        return await indexed.navigate(kind, call, environment);
      },
    };
  }

  async close(): Promise<void> {
    this.#abort.abort(new Error('the tools are closing'));
    const opened = await this.#opened?.catch(() => undefined);
    await opened?.close();
    await objectPool.close();
  }

  /** The current index: another owner's index is reopened when it has changed, or its owner may be gone. */
  async #current(): Promise<Opened> {
    try {
      const opened = await this.#openOnce();
      if (opened.catalogStamp === undefined) return opened;
      this.#checking ??= this.#reopenIfChanged(opened).finally(() => (this.#checking = undefined));
      return await this.#checking;
    } catch (error) {
      throw new ApiError('NOT_READY', `the index cannot be opened: ${messageOf(error)}`);
    }
  }

  async #reopenIfChanged(opened: Opened): Promise<Opened> {
    const isDue = performance.now() - this.#checkedMs > OWNER_CHECK_MS;
    const isChanged =
      opened.catalogStamp !== (await catalogStampOf(this.#options.configuration.dataDir));
    if (!isDue && !isChanged) return opened;
    this.#checkedMs = performance.now();
    const own = await this.#takeOver();
    if (own === undefined && !isChanged) return opened;
    const next = own === undefined ? await this.#openOther() : await this.#openOwn(own);
    this.#opened = Promise.resolve(next);
    opened.isRetired = true;
    if (opened.useCount === 0) await opened.close();
    return next;
  }

  /** The running or successful attempt, else a new one. */
  #openOnce(): Promise<Opened> {
    if (this.#opened !== undefined) return this.#opened;
    const opened = this.#open();
    this.#opened = opened;
    opened.catch(() => {
      if (this.#opened === opened) this.#opened = undefined;
    });
    return opened;
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
    const probed = indexer.sources.add(sources, undefined, {}, signal);
    try {
      const { records } = await probed;
      instance.served.publish();
      const watch = watchSources({ ...instance, indexer, probed, log, signal });
      const { results } = await indexer.jobs.requestAll(records, false, signal);
      results.then(() => indexer.merger.run()).catch(() => {});
      return await this.#openedOn(instance, results, undefined, () => watch.close());
    } catch (error) {
      await instance.close();
      throw error;
    }
  }

  async #openOther(): Promise<Opened> {
    const catalogStamp = await catalogStampOf(this.#options.configuration.dataDir);
    const instance = await this.#openInstance(false);
    instance.served.publish();
    return await this.#openedOn(instance, Promise.resolve(), catalogStamp, async () => {});
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
    catalogStamp: string | undefined,
    closeWatch: () => Promise<void>,
  ): Promise<Opened> {
    const { parts, catalog } = instance;
    const { configuration, log } = this.#options;
    const history = await openHistory(configuration, catalog, log);
    let isIndexed = false;
    const end = (): void => void (isIndexed = true);
    return {
      instance,
      indexed: indexed.then(end, end),
      get isIndexed() {
        return isIndexed;
      },
      catalogStamp,
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

  /** Resolves when all sources have been indexed once, or after the wait. */
  async #waitForIndex(
    opened: Opened,
    { signal }: SearchEnvironment,
    onProgress: ToolContext['onProgress'],
  ): Promise<void> {
    const endMs = performance.now() + (this.#options.indexWaitMs ?? INDEX_WAIT_MS);
    while (unindexedIn(opened).length > 0 && !opened.isIndexed && performance.now() < endMs) {
      const { filesDone: done = 0, filesTotal: total = 0 } = this.#progress ?? {};
      onProgress?.({ done, total, message: 'the index is being built' });
      const pause = sleep(PROGRESS_MS, undefined, { ref: false, signal });
      await Promise.race([opened.indexed, pause]);
    }
  }

  #notReady(): ApiError {
    const { filesDone = 0, filesTotal = 0 } = this.#progress ?? {};
    const files = filesTotal > 0 ? ` (${filesDone} of ${filesTotal} files)` : '';
    return new ApiError('NOT_READY', `the index is being built${files}; try again in a while`);
  }
}

function unindexedIn({ services }: Opened): readonly RepoRecord[] {
  return services.repos.list(SEES_ALL).filter(({ indexedAt }) => indexedAt === undefined);
}

/** Changes whenever the catalog does. */
async function catalogStampOf(dataDir: string): Promise<string> {
  const found = await stat(path.join(dataDir, INDEX_FILE)).catch(() => undefined);
  return `${found?.ino} ${found?.mtimeMs} ${found?.size}`;
}
