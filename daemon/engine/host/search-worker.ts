// A search thread: keeps its own instances with all live shards and runs jobs (thread-jobs.ts). Several jobs share the thread
// in time slices of some milliseconds, new ones first, so that an exhaustive search does not delay the others. A call of the
// core may take seconds: it asks now and then whether to continue, and meanwhile other jobs run on a second searcher. Jobs
// too long for that wait until the first searcher is free.

import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { SearchControl } from './control.ts';
import { Drain } from './drain.ts';
import { HeapTrimmer, realLooks } from './heap.ts';
import { loadMapping } from './mapping.ts';
import type {
  FromSearchWorker,
  SearchMessage,
  SearchWorkerData,
  ShardsMessage,
  ToSearchWorker,
} from './search-messages.ts';
import { lowerPriority } from '../../base/priority.ts';
import { Searcher, type SearcherOptions } from './searcher.ts';
import { type Job, RenderJob, SearchJob } from './thread-jobs.ts';

/** Guess: long enough that binding again after a change of turns is small beside it. */
const TURN_NS = 20_000_000n;
/** Guess: how long messages wait at most while one job has its turn. */
const SLICE_NS = 5_000_000n;

/** A job and the time it took. */
interface Entry {
  readonly job: Job;
  /** Of the current turn, ns. */
  turnNs: bigint;
  /** It has had no slice yet. */
  isNew: boolean;
  /** One of its core calls takes longer than the turn of a second one. */
  isLong: boolean;
}

/** A searcher, and whose plan it holds. */
class Seat {
  readonly searcher: Searcher;
  #last: Job | undefined;

  constructor(options: SearcherOptions) {
    this.searcher = new Searcher(module, options);
  }

  /** Runs a slice of a job; false: it is over. `isOut` as in thread-jobs.ts. */
  work(job: Job, endNs: bigint, isOut: () => boolean): boolean {
    if (this.#last !== job) job.resumeOn(this.searcher);
    this.#last = job;
    const isLeft = job.work(this.searcher, endNs, isOut);
    if (!isLeft) {
      this.#last = undefined;
      heap.noteFreed(0);
    }
    return isLeft;
  }
}

const { module, options, secondOptions, shards }: SearchWorkerData = workerData;
const port = parentPort!;
/** Large plans and lists stay behind jobs. The C heap, which all threads share, is looked at by the main thread. */
const heap = new HeapTrimmer({ ...realLooks(), privateSize: () => 0 });
/** Jobs in the order of their turns; the first has its turn now. */
const queue: Entry[] = [];
const liveShards = new Map(shards.map((file) => [file.shardId, file]));
/** The first searcher is amid a call, so that its shards must stay. */
let isCalling = false;
let hasStaleShards = false;
const first = new Seat(options);
/** Made when it is needed. */
let second: Seat | undefined;

loadMapping();
lowerPriority('search');
// What this thread cannot open fails again, and is reported, when a search asks for it.
first.searcher.setShards(shards);
tell({ kind: 'ready' });
port.on('message', take);

function tell(message: FromSearchWorker): void {
  const bytes = message.kind === 'renderDone' ? message.docs?.json : undefined;
  port.postMessage(message, bytes === undefined ? [] : [bytes.buffer]);
}

function take(message: ToSearchWorker): void {
  if (message.kind === 'shards') changeShards(message);
  else if (message.kind === 'render') enqueue(new RenderJob(message, tell));
  else enqueue(searchJob(message));
}

function changeShards({ come, gone }: ShardsMessage): void {
  for (const shardId of gone) liveShards.delete(shardId);
  for (const file of come) liveShards.set(file.shardId, file);
  if (second !== undefined) showShards(second);
  if (isCalling) hasStaleShards = true;
  else showShards(first);
}

function showShards({ searcher }: Seat): void {
  searcher.setShards([...liveShards.values()]);
}

function searchJob(message: SearchMessage): SearchJob {
  const { id, plan, shardIds, limit, unitMaxes, isProgressive } = message;
  const control = new SearchControl(unitMaxes, message.control);
  const drain = new Drain(first.searcher, plan, shardIds, limit, control);
  return new SearchJob(id, drain, control, isProgressive, tell);
}

/** Puts a job behind all that are new too. */
function enqueue(job: Job): void {
  const entry = { job, turnNs: 0n, isNew: true, isLong: false };
  const hasTurn = queue[0]?.isNew === false ? 1 : 0;
  const place = queue.findIndex(({ isNew }, index) => index >= hasTurn && !isNew);
  queue.splice(place < 0 ? queue.length : place, 0, entry);
  if (queue.length === 1) setImmediate(runFirst);
}

/** Works on the first job for a slice of its turn, then lets messages in; goes on with the next. */
function runFirst(): void {
  const entry = queue[0];
  if (entry === undefined) return;
  if (hasStaleShards) showShards(first);
  hasStaleShards = false;
  isCalling = true;
  let startNs = process.hrtime.bigint();
  entry.isNew = false;
  const isLeft = first.work(entry.job, startNs + SLICE_NS, () => {
    const nowNs = process.hrtime.bigint();
    entry.turnNs += nowNs - startNs;
    serveOthers(entry);
    startNs = process.hrtime.bigint();
    return false;
  });
  isCalling = false;
  entry.turnNs += process.hrtime.bigint() - startNs;
  if (!isLeft) queue.shift();
  else if (isTurnOver(entry)) giveWay(entry);
  if (queue.length > 0) setImmediate(runFirst);
}

function isTurnOver(entry: Entry): boolean {
  if (queue.length < 2) return false;
  return entry.turnNs >= TURN_NS || queue.some(({ isNew }) => isNew);
}

/** Moves the first job behind all others. */
function giveWay(entry: Entry): void {
  queue.shift();
  queue.push(entry);
  entry.turnNs = 0n;
}

/** While `caller` is amid a call: lets messages in, and gives others their turns if its own is over; it is first again then. */
function serveOthers(caller: Entry): void {
  receive();
  if (!isTurnOver(caller)) return;
  giveWay(caller);
  for (let entry = queue[0]; entry !== undefined && entry !== caller; entry = queue[0]) {
    if (entry.isLong && !entry.job.isHalted) giveWay(entry);
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

/** Works on the first job for a slice on the second searcher, where no core call may last longer than a turn. */
function runOnSecond(entry: Entry): void {
  if (second === undefined) {
    second = new Seat(secondOptions);
    showShards(second);
  }
  const startNs = process.hrtime.bigint();
  entry.isNew = false;
  const isLeft = second.work(entry.job, startNs + SLICE_NS, () => {
    entry.isLong = process.hrtime.bigint() - startNs > TURN_NS;
    return entry.isLong;
  });
  entry.turnNs += process.hrtime.bigint() - startNs;
  if (!isLeft) queue.shift();
  else if (entry.isLong || isTurnOver(entry)) giveWay(entry);
}
