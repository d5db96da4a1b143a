// A search thread: runs jobs, searches and renderings, in time slices of some milliseconds, new ones first. A core call may take
// seconds: it asks now and then whether to continue, and meanwhile other jobs run on a second searcher; jobs too long for
// that wait until the first is free. A task (engine/search/search-worker.ts) runs only without jobs; messages wait until it
// has ended.

import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { StopTest } from './core.ts';
import { SearchControl } from './control.ts';
import { SearchLoop } from './search-loop.ts';
import { HeapTrimmer, memoryOfThread, realProbe } from './heap.ts';
import { loadMapping } from './mapping.ts';
import { renderDocs } from './render-docs.ts';
import type {
  FromSearchWorker,
  MemoryMessage,
  RenderMessage,
  SearchMessage,
  SearchWorkerData,
  ShardsMessage,
  TaskMessage,
  ToSearchWorker,
} from './search-messages.ts';
import { messageOf } from '../../base/caught.ts';
import { lowerPriority } from '../../base/priority.ts';
import { Searcher, type SearcherOptions } from './searcher.ts';
import { ShardError } from './space.ts';

/** Guess: long enough that binding again after a switch is cheap in comparison. */
const QUANTUM_NS = 20_000_000n;
/** Bound: wait of messages while a job runs. */
const MESSAGE_WAIT_NS = 5_000_000n;

interface Job {
  /** Only the rest must be reported. */
  readonly isHalted: boolean;
  /**
   * Works until `endNs` (process.hrtime), or the end of the current core call; false: it has ended and reported.
   * @param isOut  whether to abandon a core call, which is repeated from its start later
   */
  work(searcher: Searcher, endNs: bigint, isOut: StopTest): boolean;
  /** Another job has used this searcher. */
  resumeOn(searcher: Searcher): void;
}

class SearchJob implements Job {
  readonly #message: Pick<SearchMessage, 'id' | 'isProgressive'>;
  readonly #loop: SearchLoop;
  readonly #control: SearchControl;
  /** Last report; initially the start of the search. */
  #postedNs = process.hrtime.bigint();
  #hasPostedMatches = false;

  constructor(message: SearchMessage, loop: SearchLoop, control: SearchControl) {
    this.#message = message;
    this.#loop = loop;
    this.#control = control;
  }

  get isHalted(): boolean {
    return this.#control.isHalted;
  }

  resumeOn(searcher: Searcher): void {
    this.#loop.resumeOn(searcher);
  }

  work(_: Searcher, endNs: bigint, isOut: StopTest): boolean {
    try {
      if (this.#runUntil(endNs, () => this.#control.isStopped || isOut())) return true;
      this.#finish();
    } catch (error) {
      this.#finish(messageOf(error));
    }
    return false;
  }

  #runUntil(endNs: bigint, isStopRequested: StopTest): boolean {
    for (let hasMore = true; hasMore;) {
      hasMore = this.#loop.step(isStopRequested);
      const nowNs = process.hrtime.bigint();
      if (this.#message.isProgressive) this.#postProgress(nowNs);
      if (hasMore && nowNs >= endNs) return true;
    }
    return false;
  }

  /** Reports the first matches at once, further ones every 10 ms, statistics alone every 500 ms. */
  #postProgress(nowNs: bigint): void {
    const passedNs = nowNs - this.#postedNs;
    if (this.#hasPostedMatches && passedNs < 10_000_000n) return;
    const hasMatches = this.#loop.units.some(({ rows }) => rows.length > 0);
    if (!hasMatches && passedNs < 500_000_000n) return;
    this.#postedNs = nowNs;
    this.#hasPostedMatches ||= hasMatches;
    post({ kind: 'searchProgress', id: this.#message.id, ...this.#loop.take() });
  }

  #finish(planError?: string): void {
    const { id, isProgressive } = this.#message;
    // The search ends when all threads have finished; its findings are needed before.
    if (isProgressive) post({ kind: 'searchProgress', id, ...this.#loop.take() });
    const done = { kind: 'searchDone', id, ...this.#loop.take() } as const;
    post(planError === undefined ? done : { ...done, planError });
  }
}

class RenderJob implements Job {
  readonly isHalted = false;
  readonly #message: RenderMessage;

  constructor(message: RenderMessage) {
    this.#message = message;
  }

  resumeOn(): void {
    // It keeps no state in a searcher.
  }

  work(searcher: Searcher, _: bigint, isOut: StopTest): boolean {
    const { id } = this.#message;
    try {
      const docs = renderDocs(searcher, this.#message, isOut);
      if (docs === undefined) return true;
      post({ kind: 'renderDone', id, docs });
    } catch (error) {
      const fault = error instanceof ShardError ? { fault: error.fault } : {};
      post({ kind: 'renderDone', id, error: messageOf(error), ...fault });
    }
    return false;
  }
}

interface Entry {
  readonly job: Job;
  /** In the current time slice. */
  ranNs: bigint;
  isNew: boolean;
  /** One of its core calls takes longer than a time slice of the second searcher. */
  isLong: boolean;
}

/** A searcher, and the job whose plan it holds. */
class SearcherSlot {
  readonly searcher: Searcher;
  #last: Job | undefined;

  constructor(options: SearcherOptions) {
    this.searcher = new Searcher(module, options);
  }

  /** The searcher for a task, whose plan replaces that of the last job. */
  lend(): Searcher {
    this.#last = undefined;
    return this.searcher;
  }

  /** Runs a slice of a job; false: it has ended. `isOut` as in Job. */
  work(job: Job, endNs: bigint, isOut: () => boolean): boolean {
    if (this.#last !== job) job.resumeOn(this.searcher);
    this.#last = job;
    const hasMore = job.work(this.searcher, endNs, isOut);
    if (!hasMore) {
      this.#last = undefined;
      heap.noteFreed(0);
    }
    return hasMore;
  }
}

const { module, options, secondOptions, shards }: SearchWorkerData = workerData;
const port = parentPort!;
/** For large plans and lists. The main thread trims the C heap, which all threads share. */
const heap = new HeapTrimmer({ ...realProbe(), privateSize: () => 0 });
/** The first is running. */
const queue: Entry[] = [];
const liveShards = new Map(shards.map((file) => [file.shardId, file]));
/** The first searcher is in a call, so its shards must stay. */
let isCalling = false;
let hasStaleShards = false;
const first = new SearcherSlot(options);
let second: SearcherSlot | undefined;

/** `result`: undefined: not done. `transfer`: its memory, which moves. */
export interface TaskResult {
  readonly result: unknown;
  readonly transfer: readonly ArrayBuffer[];
}

export interface TaskRunner {
  /** Called for each task, in order, also for those that are not run. */
  accept(task: unknown): void;
  /** Must not reject. */
  run(task: unknown, searcher: Searcher): Promise<TaskResult>;
}

let runner: TaskRunner | undefined;

/** Those that arrive during a task wait here. */
const messages: ToSearchWorker[] = [];
let isInTask = false;

/** Begins to take messages. */
export function startThread(taskRunner: TaskRunner): void {
  runner = taskRunner;
  loadMapping();
  lowerPriority('search');
  // A shard that cannot be opened is reported by the next search of it.
  first.searcher.setShards(shards);
  post({ kind: 'ready' });
  port.on('message', (message: ToSearchWorker) => {
    messages.push(message);
    if (!isInTask) void takeAll(taskRunner);
  });
}

async function takeAll(tasks: TaskRunner): Promise<void> {
  for (let message = messages.shift(); message !== undefined; message = messages.shift()) {
    if (message.kind !== 'task' || queue.length > 0) take(message);
    else {
      tasks.accept(message.task);
      isInTask = true;
      showNewShards();
      postResult(message, await tasks.run(message.task, first.lend()));
      isInTask = false;
      heap.noteFreed(0);
    }
  }
}

function refuse(message: TaskMessage): void {
  runner?.accept(message.task);
  postResult(message, { result: undefined, transfer: [] });
}

function postResult({ id }: TaskMessage, { result, transfer }: TaskResult): void {
  port.postMessage({ kind: 'taskDone', id, result } satisfies FromSearchWorker, [...transfer]);
}

function post(message: FromSearchWorker): void {
  const bytes = message.kind === 'renderDone' ? message.docs?.json : undefined;
  port.postMessage(message, bytes === undefined ? [] : [bytes.buffer]);
}

function take(message: ToSearchWorker): void {
  if (message.kind === 'shards') changeShards(message);
  else if (message.kind === 'render') enqueue(new RenderJob(message));
  else if (message.kind === 'task') refuse(message);
  else if (message.kind === 'memory') postMemory(message);
  else enqueue(searchJob(message));
}

function postMemory({ id }: MemoryMessage): void {
  const slots = second === undefined ? [first] : [first, second];
  const memory = memoryOfThread(slots.map(({ searcher }) => searcher));
  post({ kind: 'memoryDone', id, memory });
}

function changeShards({ added, removedIds }: ShardsMessage): void {
  for (const shardId of removedIds) liveShards.delete(shardId);
  for (const file of added) liveShards.set(file.shardId, file);
  if (second !== undefined) showShards(second);
  if (isCalling) hasStaleShards = true;
  else showShards(first);
}

/** Those that came while the first searcher was in a call. */
function showNewShards(): void {
  if (hasStaleShards) showShards(first);
  hasStaleShards = false;
}

function showShards({ searcher }: SearcherSlot): void {
  searcher.setShards([...liveShards.values()]);
}

function searchJob(message: SearchMessage): SearchJob {
  const { encodedPlan, shardIds, limit } = message;
  const control = new SearchControl(message.unitMaxes, message.control);
  const loop = new SearchLoop(first.searcher, encodedPlan, shardIds, limit, control);
  return new SearchJob(message, loop, control);
}

function enqueue(job: Job): void {
  const entry = { job, ranNs: 0n, isNew: true, isLong: false };
  const firstIndex = queue[0]?.isNew === false ? 1 : 0;
  const position = queue.findIndex(({ isNew }, index) => index >= firstIndex && !isNew);
  queue.splice(position < 0 ? queue.length : position, 0, entry);
  if (queue.length === 1) setImmediate(runFirst);
}

/** Works on the first job until messages are due. */
function runFirst(): void {
  const entry = queue[0];
  if (entry === undefined) return;
  showNewShards();
  isCalling = true;
  let startNs = process.hrtime.bigint();
  entry.isNew = false;
  const hasMore = first.work(entry.job, startNs + MESSAGE_WAIT_NS, () => {
    const nowNs = process.hrtime.bigint();
    entry.ranNs += nowNs - startNs;
    serveOthers(entry);
    startNs = process.hrtime.bigint();
    return false;
  });
  isCalling = false;
  entry.ranNs += process.hrtime.bigint() - startNs;
  if (!hasMore) queue.shift();
  else if (isQuantumOver(entry)) requeue(entry);
  if (queue.length > 0) setImmediate(runFirst);
}

function isQuantumOver(entry: Entry): boolean {
  if (queue.length < 2) return false;
  return entry.ranNs >= QUANTUM_NS || queue.some(({ isNew }) => isNew);
}

function requeue(entry: Entry): void {
  queue.shift();
  queue.push(entry);
  entry.ranNs = 0n;
}

/** While `caller` is in a core call: handles messages, and other jobs if its time slice is over. */
function serveOthers(caller: Entry): void {
  receive();
  if (!isQuantumOver(caller)) return;
  requeue(caller);
  for (let entry = queue[0]; entry !== undefined && entry !== caller; entry = queue[0]) {
    if (entry.isLong && !entry.job.isHalted) requeue(entry);
    else runOnSecond(entry);
    receive();
  }
}

function receive(): void {
  for (;;) {
    const received = receiveMessageOnPort(port);
    if (received === undefined) return;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Safety: only the pool writes to this port.
    take(received.message as ToSearchWorker);
  }
}

/** Works on a job with the second searcher, where no core call may last longer than QUANTUM_NS. */
function runOnSecond(entry: Entry): void {
  if (second === undefined) {
    second = new SearcherSlot(secondOptions);
    showShards(second);
  }
  const startNs = process.hrtime.bigint();
  entry.isNew = false;
  const hasMore = second.work(entry.job, startNs + MESSAGE_WAIT_NS, () => {
    entry.isLong = process.hrtime.bigint() - startNs > QUANTUM_NS;
    return entry.isLong;
  });
  entry.ranNs += process.hrtime.bigint() - startNs;
  if (!hasMore) queue.shift();
  else if (entry.isLong || isQuantumOver(entry)) requeue(entry);
}
