// The tools on an index of this machine without a daemon: `trawl mcp`. Whoever comes first owns the data directory, indexes the
// sources and watches them; others read what the owner writes, and one of them takes over when it is gone. Repos that no
// index holds yet are looked through file by file (local-scan.ts). What cannot be opened is tried again by the next call.

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
import type { SearchRequest } from '../engine/query/request.ts';
import { openHistory } from './histories.ts';
import { MemoryBudget } from '../http/adapters/memory-budget.ts';
import { ApiError } from '../api/shapes/api-error.ts';
import { parsedAnswer, SCANNED, type ToolAnswer } from '../api/mcp/tools/search-scope.ts';
import type { ToolContext, ToolServices } from '../api/mcp/tools/tool.ts';
import { scan, type ScannedFiles } from './local-scan.ts';
import { indexerOf, type Instance, openInstance } from './instance.ts';
import { RepoDirectory } from '../repos/directory.ts';
import type { RepoRecord } from '../repos/records.ts';
import { SEES_ALL } from '../repos/sight.ts';
import { objectPool } from '../sources/git/object-pool.ts';
import { listRefs } from '../sources/git/refs.ts';
import { readSource } from '../sources/reading/source-reader.ts';
import { listFiles, listFolders } from '../sources/reading/tree-reader.ts';
import { CATALOG_FILE, CHANGES_FILE } from '../index/catalog/catalog-files.ts';
import { LockedError } from '../index/catalog/lock.ts';
import { watchSources } from '../sync/source-watch.ts';

export interface LocalToolsOptions {
  readonly configuration: Configuration;
  readonly log: Log;
  /** Absolute paths. */
  readonly sources: readonly string[];
  /** How long a search waits for an index that is being made before it goes without; default: SCAN_AFTER_MS. */
  readonly scanAfterMs?: number;
}

/** Guess: a folder of some thousand files is indexed by then. */
const SCAN_AFTER_MS = 1000;
/** How long a call that needs the index waits for it. */
const INDEX_WAIT_MS = 20_000;
/** Between two looks whether it is there. */
const INDEX_LOOK_MS = 200;
/** Of looking through files. */
const SCAN_MS_MAX = 20_000;
/** How often those who read look whether the owner is gone. */
const OWNER_LOOK_MS = 5_000;
const HOLDER = 'local';

/** An index that is open. */
interface Opened {
  readonly instance: Instance;
  readonly services: ToolServices;
  /** Resolves when all sources have been indexed once, or failed to be. */
  readonly indexed: Promise<void>;
  /** It has. */
  readonly isIndexed: boolean;
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
  /** Undefined: the last attempt failed. */
  #opened: Promise<Opened> | undefined;
  #looking: Promise<Opened> | undefined;
  #lookedMs = performance.now();
  #progress: BuildProgress | undefined;

  /** Opens the index in the background. */
  constructor(options: LocalToolsOptions) {
    this.#options = options;
    this.#memory = new MemoryBudget(options.configuration.settings.memory);
    // Whoever calls a tool is told.
    this.#openOnce().catch(() => {});
  }

  /**
   * Does `work` with what a call of a tool may use.
   *
   * Errors: NOT_READY where the index cannot be opened; those of `work`.
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
      accounts: { trail: { note: () => {}, noteRepeated: () => {} } },
      baseUrl: baseUrl ?? `http://localhost:${port}`,
      holder: HOLDER,
      memory: {
        tryTake: (size) => this.#memory.tryTake(HOLDER, size),
        onOver: (end) => void ends.push(end),
      },
      place: undefined,
      services: { ...opened.services, search: this.#searchOf(opened, onProgress) },
      settings,
      sight: SEES_ALL,
      signal,
      takeMemory: () => {},
      onProgress,
    };
  }

  /** Searches that do without an index as long as there is none. */
  #searchOf(opened: Opened, onProgress: ToolContext['onProgress']): ToolServices['search'] {
    const { search: indexed } = opened.services;
    return {
      search: async (request, environment) => {
        await this.#waitForIndex(opened, this.#options.scanAfterMs ?? SCAN_AFTER_MS, environment);
        const answer = await indexed.search(request, environment);
        const rest = unindexedIn(opened);
        if (rest.length === 0) return answer;
        const found = parsedAnswer(answer.json);
        const scanned = await this.#scan(opened, rest, request, found, environment, onProgress);
        return { json: Buffer.from(JSON.stringify(withScanned(found, scanned))) };
      },
      navigate: async (kind, call, environment) => {
        await this.#waitForIndex(opened, INDEX_WAIT_MS, environment, () =>
          onProgress?.({ ...this.#indexedFiles(), message: 'the index is being made' }),
        );
        const rest = unindexedIn(opened);
        if (rest.some(({ name }) => name === call.repoName)) throw this.#notReady();
        return await indexed.navigate(kind, call, environment);
      },
    };
  }

  #scan(
    { instance }: Opened,
    repos: readonly RepoRecord[],
    request: SearchRequest,
    { stats }: ToolAnswer,
    { signal }: SearchEnvironment,
    onProgress: ToolContext['onProgress'],
  ): Promise<ScannedFiles> {
    const matches = Math.max(0, request.matches - stats.actualMatchCount);
    return scan(
      repos,
      { ...request, matches },
      {
        searcher: instance.parts.searcher,
        filters: this.#options.configuration.settings,
        timeoutMs: SCAN_MS_MAX,
        signal,
        onProgress: (done, total) =>
          onProgress?.({ done, total, message: `files looked through; ${this.#soFar()}` }),
      },
    );
  }

  async close(): Promise<void> {
    this.#abort.abort(new Error('the tools are closing'));
    const opened = await this.#opened?.catch(() => undefined);
    await opened?.close();
    await objectPool.close();
  }

  /** The index as it is now: that of another owner is opened again when it has changed, or the owner may be gone. */
  async #current(): Promise<Opened> {
    try {
      const opened = await this.#openOnce();
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

  /** The attempt that is under way, or has been successful; else another one. */
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
    const looked = indexer.sources.add(sources, undefined, {}, signal);
    try {
      const { records } = await looked;
      instance.served.publish();
      const watch = watchSources({ ...instance, indexer, looked, log, signal });
      const { results } = await indexer.jobs.askAll(records, false, signal);
      results.then(() => indexer.merger.run()).catch(() => {});
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
    let isIndexed = false;
    const end = (): void => void (isIndexed = true);
    return {
      instance,
      indexed: indexed.then(end, end),
      get isIndexed() {
        return isIndexed;
      },
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

  /** Until all sources have been indexed once, for so long. */
  async #waitForIndex(
    opened: Opened,
    waitMs: number,
    { signal }: SearchEnvironment,
    onWait: () => void = () => {},
  ): Promise<void> {
    const endMs = performance.now() + waitMs;
    while (unindexedIn(opened).length > 0 && !opened.isIndexed && performance.now() < endMs) {
      onWait();
      const pause = sleep(INDEX_LOOK_MS, undefined, { ref: false, signal });
      await Promise.race([opened.indexed, pause]);
    }
  }

  #indexedFiles(): { readonly done: number; readonly total: number } {
    const { filesDone = 0, filesTotal = 0 } = this.#progress ?? {};
    return { done: filesDone, total: filesTotal };
  }

  #soFar(): string {
    const { done, total } = this.#indexedFiles();
    return `the index is being made${total > 0 ? ` (${done} of ${total} files)` : ''}`;
  }

  #notReady(): ApiError {
    return new ApiError(
      'NOT_READY',
      `${this.#soFar()}; try again in a while, or use grep meanwhile`,
    );
  }
}

function unindexedIn({ services }: Opened): readonly RepoRecord[] {
  return services.repos.list(SEES_ALL).filter(({ indexedAt }) => indexedAt === undefined);
}

/** The answer of an index, and what was found without one, in the members that tools look at. */
function withScanned(
  { stats, files, incompleteReasons = [] }: ToolAnswer,
  scanned: ScannedFiles,
): object {
  const shownCount = scanned.files.reduce((sum, { chunks }) => sum + Math.max(chunks.length, 1), 0);
  const reasons = [
    ...incompleteReasons,
    ...(scanned.isWhole || scanned.isLate ? [] : ['match_limit']),
    ...(scanned.isLate ? ['deadline'] : []),
    SCANNED,
  ];
  return {
    stats: {
      actualMatchCount: stats.actualMatchCount + shownCount,
      totalMatchCount: stats.totalMatchCount + scanned.matchCount,
      fileCount: stats.fileCount + scanned.files.length,
    },
    files: [...files, ...scanned.files],
    incompleteReasons: [...new Set(reasons)],
  };
}

/** Changes whenever the catalog does. */
async function lookOf(dataDir: string): Promise<string> {
  const looks = [CATALOG_FILE, CHANGES_FILE].map(async (name) => {
    const found = await stat(path.join(dataDir, name)).catch(() => undefined);
    return `${found?.ino} ${found?.mtimeMs} ${found?.size}`;
  });
  return (await Promise.all(looks)).join(' ');
}
