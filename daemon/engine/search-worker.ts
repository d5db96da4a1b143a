// A search thread: keeps its own instances with all live shards, drains searches with the other threads,
// renders docs. Several searches are served in turns of some milliseconds, so that an exhaustive one does
// not hold up the others.

import { parentPort, workerData } from 'node:worker_threads';
import { SearchControl } from './control.ts';
import { Drain } from './drain.ts';
import { renderDocs } from './render-docs.ts';
import type {
  FromSearchWorker,
  RenderMessage,
  SearchMessage,
  SearchWorkerData,
  ToSearchWorker,
} from './search-messages.ts';
import { Searcher } from './searcher.ts';
import { messageOf } from '../telemetry/caught.ts';

/** Guess: long enough that binding again after a change of turns is small beside it. */
const TURN_NS = 20_000_000n;

interface RunningSearch {
  readonly id: number;
  readonly drain: Drain;
}

const { module, options: spaceOptions, shards }: SearchWorkerData = workerData;
const port = parentPort!;
const searcher = new Searcher(module, spaceOptions);
const running: RunningSearch[] = [];

setShards(shards);

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
  running.push({ id: message.id, drain });
  if (running.length === 1) setImmediate(runTurn);
}

/** Works on the first search for one turn, then lets messages in and goes on with the next. */
function runTurn(): void {
  const search = running[0];
  if (search === undefined) return;
  const end = process.hrtime.bigint() + TURN_NS;
  try {
    let isLeft = search.drain.step();
    while (isLeft && process.hrtime.bigint() < end) isLeft = search.drain.step();
    if (!isLeft) finish(search);
    else if (running.length > 1) {
      running.push(running.shift()!);
      search.drain.suspend();
    }
  } catch (error) {
    finish(search, messageOf(error));
  }
  if (running.length > 0) setImmediate(runTurn);
}

function finish({ id, drain }: RunningSearch, planError?: string): void {
  running.shift();
  running[0]?.drain.suspend();
  const { bindings, units, failures, bindNs, searchNs, firstUnitNs } = drain;
  const done = {
    kind: 'searchDone',
    id,
    bindings,
    units,
    failures,
    bindNs,
    searchNs,
    firstUnitNs,
  } as const;
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
    tell({ kind: 'renderDone', id, error: messageOf(error) });
  }
}
