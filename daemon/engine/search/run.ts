// Runs a plan over shards: a cheap query on the main thread, longer ones then on all threads of the pool. Stops at the limit,
// at the deadline, or when the client is gone; pauses on request. Units lost with a dead thread are run again here, once.

import type { Cancellation } from '../../base/cancellation.ts';
import type { StopTest } from '../host/core.ts';
import { SearchControl, unitMaxOf } from '../host/control.ts';
import { SearchLoop } from '../host/search-loop.ts';
import type { SearchPool } from '../host/pool.ts';
import type {
  BindFinding,
  FailureFinding,
  Findings,
  SearchDone,
  SearchMessage,
  UnitFinding,
} from '../host/search-messages.ts';
import { PlanError, type EncodedPlan } from '../host/encoded-plan.ts';
import type { Searcher } from '../host/searcher.ts';
import { type Deferred, deferred } from '../../base/deferred.ts';
import type { SearchPermit } from '../../base/search-permit.ts';
import { SEARCH_SLICE_MS } from './run-in-slices.ts';
import type { LiveShard } from './snapshot.ts';
import type { Thread } from './start-threads.ts';

/** Whether the plan is small enough for the main thread. Reading it cannot be interrupted; 64 KiB take 0.5 ms. */
export function fitsMainThread({ bytes }: EncodedPlan): boolean {
  return bytes.length <= 65_536;
}

export interface RunOptions {
  readonly shards: readonly LiveShard[];
  readonly encodedPlan: EncodedPlan;
  /** Stop once more ranges are found; Infinity: count all. */
  readonly limit: number;
  /** From the arrival of the request; 0: none. */
  readonly timeoutMs: number;
  readonly signal: Cancellation;
  /** Absent: the only search. */
  readonly permit?: SearchPermit | undefined;
  /** Time on the main thread; default: MAIN_THREAD_NS. */
  readonly inlineNs?: bigint | undefined;
}

export type RunStop = 'deadline' | 'aborted' | 'failed';

/** Receives each unit at most once; bindings and failures possibly several times. */
export type FindingsListener = (findings: Findings) => void;

/** At a time. */
const MAIN_THREAD_NS = BigInt(SEARCH_SLICE_MS) * 1_000_000n;

export type SearchThreads = Pick<SearchPool, 'search' | 'searchOn' | 'size'>;

export class Run {
  readonly #searcher: Searcher;
  readonly #pool: SearchThreads;
  readonly #options: RunOptions;
  readonly #isProgressive: boolean;
  readonly #listener: FindingsListener;
  readonly #control: SearchControl;
  /** Units whose findings have arrived; created when other threads take part. */
  #arrived: SearchControl | undefined;
  readonly #failed = new Set<number>();
  #stop: RunStop | undefined;
  #deadlineNs: bigint | undefined;
  #hasEnough = false;
  #pauseCount = 0;
  #resumed: Deferred | undefined;

  /** @param isProgressive  the listener wants findings while threads search, not only at the end */
  constructor(
    searcher: Searcher,
    pool: SearchThreads,
    options: RunOptions,
    isProgressive: boolean,
    listener: FindingsListener,
  ) {
    this.#searcher = searcher;
    this.#pool = pool;
    this.#options = options;
    this.#isProgressive = isProgressive;
    this.#listener = listener;
    this.#control = newControl(options.shards);
  }

  get stopReason(): RunStop | undefined {
    return this.#stop;
  }

  /** No further unit is begun; running ones still report. Only the first reason counts. */
  stop(reason: RunStop): void {
    this.#stop ??= reason;
    this.enough();
  }

  /** The limit is exceeded: no further unit is begun. */
  enough(): void {
    this.#control.stop();
    this.#hasEnough = true;
    this.#arrived?.stop();
    this.resume();
  }

  pause(): void {
    if (this.#resumed !== undefined || this.#stop !== undefined) return;
    this.#pauseCount++;
    this.#control.pause();
    this.#resumed = deferred();
  }

  resume(): void {
    this.#control.resume();
    this.#resumed?.resolve();
    this.#resumed = undefined;
  }

  async #untilResumed(): Promise<void> {
    while (this.#resumed !== undefined) await this.#resumed.promise;
  }

  /**
   * Searches on the main thread first, then on the pool; or begins on the given pool thread. Resolves when all findings are
   * reported. Errors: PlanError, thrown at once if the plan can never run, else by the promise.
   */
  start(thread?: Thread): Promise<void> {
    const { timeoutMs, signal } = this.#options;
    if (signal.aborted) this.stop('aborted');
    const remainingMs = this.#remainingMs();
    if (remainingMs <= 0) this.stop('deadline');
    if (timeoutMs > 0)
      this.#deadlineNs = process.hrtime.bigint() + BigInt(Math.ceil(remainingMs)) * 1_000_000n;
    this.#options.permit?.attach(this);
    const isUnpaused = thread === undefined && this.#resumed === undefined;
    if (isUnpaused && fitsMainThread(this.#options.encodedPlan) && !this.#searchHere())
      return Promise.resolve();
    const onAbort = (): void => this.stop('aborted');
    signal.addEventListener('abort', onAbort, { once: true });
    const timer = timeoutMs > 0 ? setTimeout(() => this.stop('deadline'), remainingMs) : undefined;
    const end = thread === undefined ? this.#searchInPool() : this.#searchOnThread(thread);
    return end.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    });
  }

  /** Infinity: there is no deadline. */
  #remainingMs(): number {
    const { timeoutMs, permit } = this.#options;
    if (timeoutMs === 0) return Infinity;
    return timeoutMs - (permit === undefined ? 0 : performance.now() - permit.arrivedMs);
  }

  #report(findings: Findings): void {
    const arrived = this.#arrivedUnits();
    for (const { shard, unit, matches } of findings.units) arrived.finish(shard, unit, matches);
    for (const { shard } of findings.failures) this.#failed.add(shard);
    this.#listener(findings);
  }

  #arrivedUnits(): SearchControl {
    if (this.#arrived === undefined) {
      this.#arrived = newControl(this.#options.shards);
      if (this.#hasEnough) this.#arrived.stop();
    }
    return this.#arrived;
  }

  /** False: nothing remains for other threads. */
  #searchHere(): boolean {
    const loop = this.#newLoop(this.#control);
    const budgetNs = this.#options.inlineNs ?? MAIN_THREAD_NS;
    const end = process.hrtime.bigint() + budgetNs;
    const hasMore = runFor(loop, budgetNs, () => process.hrtime.bigint() > end);
    if (hasMore) this.#report(loop.take());
    else this.#listener(loop.take());
    return hasMore;
  }

  #newLoop(control: SearchControl): SearchLoop {
    const { shards, encodedPlan, limit } = this.#options;
    const shardIds = shards.map(({ shardId }) => shardId);
    return new SearchLoop(this.#searcher, encodedPlan, shardIds, limit, control);
  }

  #message(): Omit<SearchMessage, 'kind' | 'id'> {
    const { shards, encodedPlan, limit } = this.#options;
    return {
      encodedPlan,
      shardIds: shards.map(({ shardId }) => shardId),
      limit,
      unitMaxes: shards.map(unitMaxOf),
      control: this.#control.share(),
      isProgressive: this.#isProgressive,
    };
  }

  /** Moves to all threads if it takes long. */
  async #searchOnThread(thread: number): Promise<void> {
    const alone = this.#pool.searchOn(thread, this.#message(), (findings) =>
      this.#report(findings),
    );
    // Guess: a search that takes longer on one thread moves to all of them.
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(true), 8);
    });
    const isLong = await Promise.race([late, alone.then(() => false)]);
    clearTimeout(timer);
    if (isLong) await this.#searchInPool(alone);
    else if (!this.#takeDone(await alone)) await this.#runLost();
    // The thread left the search during a pause.
    else if (this.#pauseCount > 0 && this.#stop === undefined) await this.#searchInPool();
  }

  /** False: the thread died. Errors: PlanError. */
  #takeDone(done: SearchDone | undefined): boolean {
    if (done === undefined) return false;
    if (done.planError !== undefined) throw new PlanError(done.planError);
    this.#report(done);
    return true;
  }

  /** @param alone  the request already sent to one thread */
  async #searchInPool(alone?: Promise<SearchDone | undefined>): Promise<void> {
    const message = this.#message();
    let hasLost = false;
    let pauses = 0;
    // Threads leave a paused search, so they are called again afterwards.
    do {
      await this.#untilResumed();
      pauses = this.#pauseCount;
      const done = await this.#pool.search(message, (findings) => this.#report(findings));
      for (const one of done) this.#takeDone(one);
      hasLost ||= done.length < this.#pool.size;
    } while (pauses !== this.#pauseCount && this.#stop === undefined);
    if (alone !== undefined && !this.#takeDone(await alone)) hasLost = true;
    // A stop at the limit may have lost the units that exceeded it.
    if (hasLost && this.#stop === undefined) await this.#runLost();
  }

  /** Runs the units without findings, yielding to other searches. */
  async #runLost(): Promise<void> {
    const arrived = this.#arrivedUnits();
    // A failed shard has already been retried.
    for (const shard of this.#failed) {
      for (let unit = 0; unit < unitMaxOf(this.#options.shards[shard]!); unit++) {
        if (arrived.matchesOf(shard, unit) === undefined) arrived.finish(shard, unit, 0);
      }
    }
    const loop = this.#newLoop(arrived);
    // The timer cannot fire while this thread works.
    const isLate = (): boolean =>
      this.#deadlineNs !== undefined && process.hrtime.bigint() > this.#deadlineNs;
    for (let hasMore = true; hasMore;) {
      hasMore = runFor(loop, MAIN_THREAD_NS, isLate);
      this.#report(loop.take());
      await this.#untilResumed();
      await new Promise<void>((resolve) => void setImmediate(resolve));
      loop.resumeOn(this.#searcher);
    }
  }
}

export interface RunOutcome extends Findings {
  readonly bindings: readonly BindFinding[];
  /** Each unit at most once, in any order. */
  readonly units: readonly UnitFinding[];
  readonly failures: readonly FailureFinding[];
  readonly stop: RunStop | undefined;
}

/** Runs a search to its end. `onFindings` receives findings as they come. Errors: PlanError. */
export async function runSearch(
  searcher: Searcher,
  pool: SearchThreads,
  options: RunOptions,
  thread?: Thread,
  onFindings?: FindingsListener,
): Promise<RunOutcome> {
  const parts: Findings[] = [];
  const run = new Run(searcher, pool, options, onFindings !== undefined, (findings) => {
    parts.push(findings);
    onFindings?.(findings);
  });
  await run.start(thread);
  return { ...joinFindings(parts), stop: run.stopReason };
}

/** Works for at most `budgetNs` plus one step, which `isStopRequested` may end; true: work remains. */
function runFor(loop: SearchLoop, budgetNs: bigint, isStopRequested: StopTest): boolean {
  const end = process.hrtime.bigint() + budgetNs;
  while (loop.step(isStopRequested)) if (process.hrtime.bigint() > end) return true;
  return false;
}

function newControl(shards: readonly LiveShard[]): SearchControl {
  return new SearchControl(shards.map(unitMaxOf));
}

function joinFindings(parts: readonly Findings[]): Findings {
  // Nearly always: the search ended on one thread.
  if (parts.length === 1) return parts[0]!;
  return {
    bindings: firstOfShards(parts.flatMap(({ bindings }) => bindings)),
    headBindings: firstOfShards(parts.flatMap(({ headBindings }) => headBindings)),
    partBindings: firstOfShards(parts.flatMap(({ partBindings }) => partBindings)),
    units: parts.flatMap(({ units }) => units),
    failures: parts.flatMap(({ failures }) => failures),
    times: parts.flatMap(({ times }) => times),
    firstUnitNs: earliest(parts.map(({ firstUnitNs }) => firstUnitNs)),
    headShards: parts.find(({ headShards }) => headShards !== undefined)?.headShards,
  };
}

function firstOfShards(bindings: readonly BindFinding[]): BindFinding[] {
  const firsts = new Map<number, BindFinding>();
  for (const binding of bindings)
    if (!firsts.has(binding.shard)) firsts.set(binding.shard, binding);
  return [...firsts.values()];
}

function earliest(times: readonly (bigint | undefined)[]): bigint | undefined {
  return times.reduce((a, b) => (a === undefined || (b !== undefined && b < a) ? b : a), undefined);
}
