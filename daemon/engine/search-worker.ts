// A search thread: keeps its own instances with all live shards, drains searches with the other threads,
// renders docs. Several searches are served in turns of some milliseconds, new ones first, so that an
// exhaustive one does not hold up the others.

import { parentPort, workerData } from 'node:worker_threads';
import { SearchControl } from './control.ts';
import { Drain } from './drain.ts';
import { canMap } from './mapping.ts';
import { renderDocs } from './render-docs.ts';
import type {
  FromSearchWorker,
  RenderMessage,
  SearchMessage,
  SearchWorkerData,
  ToSearchWorker,
} from './search-messages.ts';
import { Searcher } from './searcher.ts';
import { ShardError } from './space.ts';
import { messageOf } from '../telemetry/caught.ts';

/** Guess: long enough that binding again after a change of turns is small beside it. */
const TURN_NS = 20_000_000n;
/** Guess: how long messages, such as docs to render, wait at most while one search has its turn. */
const SLICE_NS = 5_000_000n;
/** A search that wants its findings soon gets the first matches at once, then others in this interval. */
const PROGRESS_NS = 10_000_000n;
/** And what was searched without a match in this one. */
const STATISTICS_NS = 500_000_000n;

interface RunningSearch {
  readonly id: number;
  readonly drain: Drain;
  readonly isProgressive: boolean;
  /** Time used of the current turn, and in all. */
  turnNs: bigint;
  spentNs: bigint;
  /** When findings were told last; at first: when the search began. */
  toldNs: bigint;
  hasToldMatches: boolean;
}

const { module, options: spaceOptions, shards }: SearchWorkerData = workerData;
const port = parentPort!;
const searcher = new Searcher(module, spaceOptions);
const running: RunningSearch[] = [];

// Loaded now: a thread that is ended while a native library loads takes the process with it.
canMap();
setShards(shards);
tell({ kind: 'ready' });

port.on('message', (message: ToSearchWorker) => {
  if (message.kind === 'shards') setShards(message.shards);
  else if (message.kind === 'render') render(message);
  else begin(message);
});

function setShards(files: SearchWorkerData['shards']): void {
  // What this thread cannot open fails again, and is reported, when a search asks for it.
  searcher.setShards(files);
}

function tell(message: FromSearchWorker): void {
  port.postMessage(message);
}

function begin(message: SearchMessage): void {
  const control = new SearchControl(message.unitMaxes, message.control);
  const drain = new Drain(searcher, message.plan, message.shardIds, message.limit, control);
  const { id, isProgressive } = message;
  const toldNs = process.hrtime.bigint();
  running.push({
    id,
    drain,
    isProgressive,
    turnNs: 0n,
    spentNs: 0n,
    toldNs,
    hasToldMatches: false,
  });
  if (running.length === 1) setImmediate(runSlice);
}

/** Works on the first search for a slice of its turn, then lets messages in; goes on with the next. */
function runSlice(): void {
  const search = running[0];
  if (search === undefined) return;
  try {
    if (!workUntilSliceEnds(search)) finish(search);
    else if (isTurnOver(search)) {
      running.push(running.shift()!);
      // A search that is new here may be over soon: it goes first.
      running.sort((a, b) => Number(a.spentNs > 0n) - Number(b.spentNs > 0n));
      search.turnNs = 0n;
      search.drain.suspend();
    }
  } catch (error) {
    finish(search, messageOf(error));
  }
  if (running.length > 0) setImmediate(runSlice);
}

function isTurnOver(search: RunningSearch): boolean {
  if (running.length < 2) return false;
  return search.turnNs >= TURN_NS || running.some(({ spentNs }) => spentNs === 0n);
}

/** False: nothing of the search is left for this thread. */
function workUntilSliceEnds(search: RunningSearch): boolean {
  const startNs = process.hrtime.bigint();
  let nowNs = startNs;
  let isLeft = true;
  while (isLeft && nowNs - startNs < SLICE_NS) {
    isLeft = search.drain.step();
    nowNs = process.hrtime.bigint();
    if (search.isProgressive) tellProgress(search, nowNs);
  }
  search.turnNs += nowNs - startNs;
  search.spentNs += nowNs - startNs;
  return isLeft;
}

/** Tells the findings that nobody knows of if it is time. */
function tellProgress(search: RunningSearch, nowNs: bigint): void {
  const { id, drain } = search;
  const passedNs = nowNs - search.toldNs;
  if (search.hasToldMatches && passedNs < PROGRESS_NS) return;
  const hasMatches = drain.units.some(({ rows }) => rows.length > 0);
  if (!hasMatches && passedNs < STATISTICS_NS) return;
  search.toldNs = nowNs;
  search.hasToldMatches ||= hasMatches;
  tell({ kind: 'searchProgress', id, ...drain.take() });
}

function finish({ id, drain, isProgressive }: RunningSearch, planError?: string): void {
  running.shift();
  running[0]?.drain.suspend();
  // The end of a search is known when all threads are through; its findings are wanted before that.
  if (isProgressive) tell({ kind: 'searchProgress', id, ...drain.take() });
  const done = { kind: 'searchDone', id, ...drain.take() } as const;
  tell(planError === undefined ? done : { ...done, planError });
}

function render(message: RenderMessage): void {
  const { id } = message;
  running[0]?.drain.suspend();
  try {
    const docs = renderDocs(searcher, message);
    port.postMessage({ kind: 'renderDone', id, docs } satisfies FromSearchWorker, [
      docs.json.buffer,
    ]);
  } catch (error) {
    const fault = error instanceof ShardError ? { fault: error.fault } : {};
    tell({ kind: 'renderDone', id, error: messageOf(error), ...fault });
  }
}
