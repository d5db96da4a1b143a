// The pool of search threads: sends a search to all, a rendering job to the next in turn, and replaces dead threads. Units
// claimed by a dead thread are missing; the caller runs them (engine/search/run.ts).

import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { deferred } from '../../base/deferred.ts';
import type {
  Findings,
  FromSearchWorker,
  MemoryDone,
  RenderDone,
  RenderMessage,
  SearchDone,
  SearchMessage,
  SearchWorkerData,
  TaskDone,
  ThreadMemory,
  ToSearchWorker,
} from './search-messages.ts';
import { mappingShares, SECOND_MAPPING_MAX } from './mapping-budget.ts';
import type { SearcherOptions } from './searcher.ts';
import type { ShardFile, SpaceOptions } from './space.ts';
import { threadFile } from '../../base/program-files.ts';

export interface PoolOptions extends SpaceOptions {
  readonly module: WebAssembly.Module;
  /** On each thread; default: its share of the system's limit. */
  readonly mappingMax?: number;
  /** Where threads record their shard; slot 0 is the main thread's. Default: none. */
  readonly notePath?: string | undefined;
  /** Default: one for each core. */
  readonly workers?: number | undefined;
  readonly onDeath?: (error: Error) => void;
}

/** Measured: V8's own limit takes 60 MB more with two threads, and is no faster (daemon/DECISIONS.md). */
const LIMITS = { maxYoungGenerationSizeMb: 4 };

type Done = SearchDone | RenderDone | TaskDone | MemoryDone;

interface Pending {
  readonly onFindings: ((findings: Findings) => void) | undefined;
  /** With the result of one thread; undefined: it died. */
  settle(message: Done | undefined): void;
}

/** A thread for a caller that is about to send it a search. */
export interface ReservedThread {
  readonly thread: number;
}

interface PoolWorker {
  readonly noteSlot: number;
  readonly secondNoteSlot: number;
  /** Undefined during the pause after repeated silent deaths. */
  worker: Worker | undefined;
  /** Consecutive deaths without any answer. */
  silentDeathCount: number;
  readonly pending: Map<number, Pending>;
  /** Tasks among `pending`. */
  taskCount: number;
  reserved: ReservedThread | undefined;
  /** Resolves when the thread has started, or died. */
  ready: Promise<void>;
}

export class SearchPool {
  readonly #options: PoolOptions;
  readonly #workers: PoolWorker[];
  readonly #mappingMax: number | undefined;
  #shards: readonly ShardFile[] = [];
  #nextId = 1;
  #nextRenderer = 0;
  #isStarted = false;
  #isClosed = false;
  /** Threads that were replaced; for tests. */
  deathCount = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    const count = options.workers ?? availableParallelism();
    this.#mappingMax = options.mappingMax ?? mappingShares(count)?.thread;
    this.#workers = Array.from({ length: count }, (_, index) => {
      const entry: PoolWorker = {
        noteSlot: index + 1,
        secondNoteSlot: count + index + 1,
        worker: undefined,
        silentDeathCount: 0,
        pending: new Map(),
        taskCount: 0,
        reserved: undefined,
        ready: Promise.resolve(),
      };
      return entry;
    });
  }

  /** Starts the threads; without it the first work does. One takes 60 ms of a processor. */
  start(): void {
    if (this.#isStarted || this.#isClosed) return;
    this.#isStarted = true;
    for (const entry of this.#workers) this.#startThread(entry);
  }

  get isBusy(): boolean {
    return this.#workers.some(({ pending }) => pending.size > 0);
  }

  get runsTasks(): boolean {
    return this.#workers.some(({ taskCount }) => taskCount > 0);
  }

  get size(): number {
    return this.#workers.length;
  }

  #searcherOptions(noteSlot: number, mappingMax: number | undefined): SearcherOptions {
    const { capacity, wantsRead, verifiedMs, checkedPages, notePath } = this.#options;
    const note = notePath === undefined ? undefined : { path: notePath, slot: noteSlot };
    const space = { capacity, wantsRead, verifiedMs, checkedPages };
    return { evicts: true, note, mappingMax, ...space };
  }

  #startThread(entry: PoolWorker): void {
    const { module } = this.#options;
    const options = this.#searcherOptions(entry.noteSlot, this.#mappingMax);
    const secondOptions = {
      ...this.#searcherOptions(entry.secondNoteSlot, SECOND_MAPPING_MAX),
      opensLazily: true,
    };
    const data: SearchWorkerData = { module, options, secondOptions, shards: this.#shards };
    const worker = new Worker(threadFile('search-worker'), {
      workerData: data,
      resourceLimits: LIMITS,
    });
    const { promise, resolve: markReady } = deferred();
    entry.ready = promise;
    worker.on('message', (message: FromSearchWorker) => {
      if (message.kind === 'ready') {
        markReady();
        return;
      }
      const { pending } = entry;
      entry.silentDeathCount = 0;
      const waiting = pending.get(message.id);
      if (message.kind === 'searchProgress') {
        waiting?.onFindings?.(message);
        return;
      }
      pending.delete(message.id);
      if (pending.size === 0) worker.unref();
      waiting?.settle(message);
    });
    let failure = new Error('search thread ended');
    worker.on('error', (error) => (failure = error));
    worker.on('exit', () => {
      markReady();
      this.#replace(entry, failure);
    });
    worker.unref();
    entry.worker = worker;
  }

  #replace(entry: PoolWorker, failure: Error): void {
    if (this.#isClosed) return;
    this.deathCount++;
    const lost = [...entry.pending.values()];
    entry.pending.clear();
    entry.reserved = undefined;
    entry.worker = undefined;
    // What kills a thread at its start would kill the next one too, so the third in a row waits.
    entry.silentDeathCount++;
    const isPausing = entry.silentDeathCount >= 3;
    if (isPausing) setTimeout(() => this.#isClosed || this.#startThread(entry), 1000).unref();
    else this.#startThread(entry);
    this.#options.onDeath?.(failure);
    for (const waiting of lost) waiting.settle(undefined);
  }

  /** Threads get the difference. A running search on a thread ends first. */
  setShards(shards: readonly ShardFile[]): void {
    const before = new Set(this.#shards.map(({ shardId }) => shardId));
    const added = shards.filter(({ shardId }) => !before.delete(shardId));
    const message: ToSearchWorker = { kind: 'shards', added, removedIds: [...before] };
    this.#shards = shards;
    for (const { worker } of this.#workers) worker?.postMessage(message);
  }

  /** A dead thread contributes only what it reported before. `onFindings` gets findings while a progressive search runs. */
  async search(
    search: Omit<SearchMessage, 'kind' | 'id'>,
    onFindings?: (findings: Findings) => void,
  ): Promise<SearchDone[]> {
    const answers = await Promise.all(
      this.#workers.map((entry) =>
        this.#post(entry, { kind: 'search', id: this.#nextId++, ...search }, onFindings),
      ),
    );
    return answers.filter((answer): answer is SearchDone => answer?.kind === 'searchDone');
  }

  /** The least loaded thread, for searchOn or runTask, else cancel; undefined if all have enough work. */
  reserve(): ReservedThread | undefined {
    this.start();
    let least: PoolWorker | undefined;
    for (const entry of this.#workers) {
      // Measured: with two searches queued a thread seldom waits for the next. Medians of four rounds of rare words with 8
      // clients: 1,629 searches a second, 1,526 with one queued, 1,387 with four.
      if (entry.worker === undefined || entry.reserved !== undefined || entry.pending.size >= 3)
        continue;
      if (least === undefined || entry.pending.size < least.pending.size) least = entry;
    }
    if (least === undefined) return undefined;
    least.reserved = { thread: this.#workers.indexOf(least) };
    return least.reserved;
  }

  /** Ends a reservation, unless it has ended. A later one of the same thread stays. */
  cancel(reserved: ReservedThread): void {
    const entry = this.#workers[reserved.thread]!;
    if (entry.reserved === reserved) entry.reserved = undefined;
  }

  /** Undefined: the thread died. `onFindings` as in `search`. */
  async searchOn(
    thread: number,
    search: Omit<SearchMessage, 'kind' | 'id'>,
    onFindings?: (findings: Findings) => void,
  ): Promise<SearchDone | undefined> {
    const entry = this.#workers[thread]!;
    entry.reserved = undefined;
    const message = { kind: 'search', id: this.#nextId++, ...search } as const;
    const answer = await this.#post(entry, message, onFindings);
    return answer?.kind === 'searchDone' ? answer : undefined;
  }

  /**
   * Ends the reservation of the thread. Undefined: it has jobs, did not do the task, or died.
   * @param taskFor  the task, by the current instance of the thread; undefined: none
   */
  async runTask(thread: number, taskFor: (instance: object) => unknown): Promise<unknown> {
    const entry = this.#workers[thread]!;
    const { worker, pending, taskCount } = entry;
    entry.reserved = undefined;
    if (worker === undefined || pending.size > taskCount) return undefined;
    const task = taskFor(worker);
    if (task === undefined) return undefined;
    entry.taskCount++;
    const answer = await this.#post(entry, { kind: 'task', id: this.#nextId++, task });
    entry.taskCount--;
    return answer?.kind === 'taskDone' ? answer.result : undefined;
  }

  /** Default: the next thread in turn. Undefined: it died. */
  async render(
    render: Omit<RenderMessage, 'kind' | 'id'>,
    thread?: number,
  ): Promise<RenderDone | undefined> {
    const entry = this.#workers[thread ?? this.#nextRenderer++ % this.#workers.length]!;
    const answer = await this.#post(entry, { kind: 'render', id: this.#nextId++, ...render });
    return answer?.kind === 'renderDone' ? answer : undefined;
  }

  /** Of each thread, in order; a thread that is not running has none. */
  async memories(): Promise<readonly (ThreadMemory | undefined)[]> {
    if (!this.#isStarted) return [];
    const ask = async (entry: PoolWorker): Promise<ThreadMemory | undefined> => {
      const answer = await this.#post(entry, { kind: 'memory', id: this.#nextId++ });
      return answer?.kind === 'memoryDone' ? answer.memory : undefined;
    };
    return await Promise.all(this.#workers.map(ask));
  }

  #post(
    entry: PoolWorker,
    message: ToSearchWorker & { id: number },
    onFindings?: (findings: Findings) => void,
  ): Promise<Done | undefined> {
    this.start();
    const { worker } = entry;
    // A thread that was ended would never answer.
    if (worker === undefined || this.#isClosed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      entry.pending.set(message.id, { onFindings, settle: resolve });
      // Idle threads let the process exit, busy ones keep it alive.
      worker.ref();
      worker.postMessage(message);
    });
  }

  /** All threads have started, or died. */
  async ready(): Promise<void> {
    this.start();
    await Promise.all(this.#workers.map((entry) => entry.ready));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // Terminating a thread while it loads its native library would kill the process.
    for (const entry of this.#workers) {
      entry.worker?.ref();
      await entry.ready;
      await entry.worker?.terminate();
    }
    for (const { pending } of this.#workers)
      for (const waiting of pending.values()) waiting.settle(undefined);
  }
}
