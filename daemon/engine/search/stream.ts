// Answers a search as a stream of events (API.md 8.3): known results in batches, best first, while the search runs. The
// reader pulls events and the search pauses in between: a slow reader delays only its search, and memory is bounded.

import { deferredFor } from '../../base/deferred.ts';
import { nextTimeSlice } from '../../base/next-time-slice.ts';
import { arrivalNs } from '../../base/search-permit.ts';
import type { Findings } from '../host/search-messages.ts';
import { ShardError, type ShardFault } from '../host/space.ts';
import {
  type StatsNumbers,
  completedSearch,
  exhaustiveness,
  incompleteReasons,
  repositoryInfos,
} from './answer.ts';
import { fittingCount, type FlushReason, statsObject } from './answer.ts';
import { TOO_SMALL, withSizeLimit, writeWithFiles } from './answer.ts';
import { Backlog, type Batch, CHUNK_SIZE_MAX } from './backlog.ts';
import { acquireFor } from './demanded-revisions.ts';
import { type DocList, NO_DOCS } from './found-docs.ts';
import { runInSlices } from './run-in-slices.ts';
import { answerHints, type Found } from './near-hints.ts';
import { prepareSearch, searchErrorOf, stepTimes } from './prepare.ts';
import type { EngineParts, Prepared, SearchEnvironment } from './prepare.ts';
import type { SearchRequest } from '../query/request.ts';
import { FileResults, renderAnswer, type RenderedAnswer } from './render.ts';
import { Run } from './run.ts';
import { completeSearch, withoutDamaged } from './search.ts';
import type { Snapshot } from './snapshot.ts';
import { StatsLedger } from './stats-ledger.ts';
import { mayMatchFolded, RunningTotals } from './totals.ts';
import { UnitOrder } from './unit-order.ts';

/** Interval of statistics while a search finds nothing. */
const PROGRESS_MS = 1000;

export interface StreamEnvironment extends SearchEnvironment {
  /** Most bytes of JSON; a single larger doc cannot be sent. */
  readonly eventSizeMax: number;
}

/** JSON on one line, or the error of a batch of results. */
export type StreamEvent = { readonly json: Uint8Array } | { readonly error: unknown };

/**
 * The caller must call `close`. Damage before the first event restarts the search without the shard, as in `search`; later
 * damage drops the shard, and `final` reports it (API.md 8.4). Errors: QueryError; UnknownContextError; AbortError when the
 * client is gone.
 */
export function startStream(
  parts: EngineParts,
  request: SearchRequest,
  environment: StreamEnvironment,
): Promise<SearchStream> {
  const startNs = arrivalNs(environment.permit);
  return withoutDamaged(parts, async () => {
    const snapshot = await acquireFor(parts, request, environment);
    try {
      const prepared = await prepareSearch(parts, request, environment, snapshot);
      const inputs = { parts, request, environment, snapshot, prepared, search: completeSearch };
      const hints = (found: Found) => answerHints({ ...inputs, found });
      const { eventSizeMax } = environment;
      const origin = { request, environment, plan: prepared.plan };
      const onCompleted: StreamPrepared['onCompleted'] = (numbers, reasons, foundNs) => {
        const steps = stepTimes(startNs, prepared.preparing, foundNs);
        parts.onCompleted?.(completedSearch('stream', numbers, reasons, steps), origin);
      };
      const own = { ...prepared, hints, onCompleted, sizeMax: request.maxBytes ?? Infinity };
      return new SearchStream(parts, own, snapshot, startNs, eventSizeMax);
    } catch (error) {
      parts.snapshots.release(snapshot);
      throw error;
    }
  });
}

/** `hints`: all of them, which may run further searches. */
type StreamPrepared = Omit<Prepared, 'hints'> & {
  /** Bytes of JSON that all results may take. */
  readonly sizeMax: number;
  /** `foundNs`: when all units were over (process.hrtime). */
  readonly onCompleted: (
    numbers: StatsNumbers,
    reasons: readonly string[],
    foundNs: bigint,
  ) => void;
  readonly hints: (found: Found) => ReturnType<typeof answerHints>;
};

type IntactAnswer = RenderedAnswer & DocList;

export class SearchStream {
  readonly #parts: EngineParts;
  readonly #prepared: StreamPrepared;
  readonly #snapshot: Snapshot;
  readonly #eventSizeMax: number;
  readonly #totals: RunningTotals;
  readonly #ledger: StatsLedger;
  readonly #backlog: Backlog;
  readonly #run: Run;
  readonly #order: UnitOrder;
  readonly #runEnd: Promise<void>;
  #runState: 'running' | 'over' | { readonly error: unknown } = 'running';
  readonly #ready: StreamEvent[] = [];
  #making: Promise<unknown> = Promise.resolve();
  #reportedMs = performance.now();
  #isFinalMade = false;
  #foundNs = 0n;
  /** Bytes that results may still use. */
  #remainingSize: number;
  /** Results were left out because of the size limit. */
  #isCut = false;
  #isClosed = false;
  #wake: () => void = () => {};
  #pausing: NodeJS.Immediate | undefined;

  /** Takes over the snapshot unless it throws. Errors: PlanError. */
  constructor(
    parts: EngineParts,
    prepared: StreamPrepared,
    snapshot: Snapshot,
    startNs: bigint,
    eventSizeMax: number,
  ) {
    const { scope, view, run, render } = prepared;
    this.#parts = parts;
    this.#prepared = prepared;
    this.#snapshot = snapshot;
    this.#eventSizeMax = eventSizeMax;
    this.#remainingSize = prepared.sizeMax;
    this.#totals = new RunningTotals(scope.shards, scope.quarantined);
    this.#ledger = new StatsLedger(this.#totals.counts, startNs);
    this.#backlog = new Backlog(view, run.limit, render.returnsContent);
    this.#order = new UnitOrder(scope.shards.length, run.limit, {
      addPartBinding: (binding) => this.#totals.addPartBinding(binding),
      addBinding: (binding) => this.#totals.addBinding(binding),
      addUnit: (unit, isHead) => {
        this.#totals.addUnit(unit);
        this.#backlog.add(unit, isHead);
      },
    });
    this.#run = new Run(parts.searcher, parts.pool, run, true, (found) => this.#take(found));
    this.#runEnd = this.#run.start().then(
      () => this.#endRun('over'),
      (error: unknown) => this.#endRun({ error: searchErrorOf(error) }),
    );
  }

  /**
   * The next event; undefined after the last one. One call at a time. The search pauses until the next call, unless that
   * follows at once. Errors: what ended the whole search; AbortError when the client is gone.
   */
  async next(): Promise<StreamEvent | undefined> {
    clearImmediate(this.#pausing);
    this.#goOn();
    const making = this.#makeNext();
    this.#making = making;
    const event = await making;
    if (event !== undefined) this.#pausing = setImmediate(() => this.#rest());
    return event;
  }

  /** A paused search gives up its permit and resumes when it gets one again. */
  #rest(): void {
    const { permit } = this.#prepared.run;
    if (permit === undefined) this.#run.pause();
    else permit.rest();
  }

  #goOn(): void {
    const { permit } = this.#prepared.run;
    if (permit === undefined) this.#run.resume();
    else permit.want();
  }

  /** Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearImmediate(this.#pausing);
    this.#run.stop('aborted');
    this.#wake();
    // Threads may still search or render for a moment.
    void Promise.allSettled([this.#runEnd, this.#making]).then(() =>
      this.#parts.snapshots.release(this.#snapshot),
    );
  }

  #take(findings: Findings): void {
    for (const { shard, reason, fault } of findings.failures)
      this.#noteFailure(shard, reason, fault);
    this.#ledger.addTimes(findings);
    this.#order.add(findings);
    this.#wake();
  }

  #noteFailure(shard: number, reason: string, fault: ShardFault | undefined): void {
    const isNew = this.#totals.addFailure(shard);
    const { shardId } = this.#prepared.scope.shards[shard]!;
    if (isNew) this.#parts.onShardFailure?.(shardId, reason, fault);
  }

  #endRun(state: 'over' | { readonly error: unknown }): void {
    this.#runState = state;
    this.#foundNs = process.hrtime.bigint();
    this.#order.end();
    this.#wake();
  }

  async #makeNext(): Promise<StreamEvent | undefined> {
    for (let hasWaited = false; ;) {
      this.#prepared.run.signal.throwIfAborted();
      const ready = this.#ready.shift();
      if (ready !== undefined) return ready;
      if (this.#isFinalMade || this.#isClosed) return undefined;
      if (typeof this.#runState === 'object') throw this.#runState.error;
      const isOver = this.#runState === 'over';
      const isDue = isOver || this.#order.hasPassedHeads;
      const waitMs = isDue ? this.#backlog.waitMs(isOver) : undefined;
      if (waitMs === 0 && !hasWaited) {
        await nextTimeSlice(this.#prepared.run.permit?.clientKey);
        hasWaited = true;
        continue;
      }
      hasWaited = false;
      if (waitMs === 0) await this.#makeChunks(await this.#takeBatch(isOver));
      else if (isOver) await this.#makeFinal();
      else await this.#sleepOrReport(waitMs);
    }
  }

  #takeBatch(isOver: boolean): Promise<Batch> {
    return runInSlices(this.#backlog.takeBatch(isOver), this.#prepared.run);
  }

  /** Waits at most `waitMs` for results; reports progress meanwhile. */
  async #sleepOrReport(waitMs: number | undefined): Promise<void> {
    const progressMs = this.#reportedMs + PROGRESS_MS - performance.now();
    if (progressMs > 0) await this.#sleep(Math.min(waitMs ?? progressMs, progressMs));
    else this.#makeChunk(NO_DOCS, new FileResults(0), 0, 0, 'TIMER_EXPIRED');
  }

  #sleep(timeMs: number): Promise<void> {
    const { promise, resolve } = deferredFor(timeMs);
    this.#wake = resolve;
    return promise;
  }

  /** On failure makes the error that ends the results. */
  async #makeChunks(batch: Batch): Promise<void> {
    try {
      await this.#prepared.run.permit?.whenRunning();
      const { found, docs, files, ...rendered } = this.#fitted(await this.#renderIntact(batch));
      if (docs.length === 0) return;
      this.#backlog.noteSize(files.sizeOf(0, files.count) / files.count);
      this.#ledger.addReading(rendered);
      const ends = chunkEnds(files);
      for (const [index, end] of ends.entries()) {
        const reason = end === files.count ? batch.reason : 'MAX_SIZE';
        this.#makeChunk({ found, docs }, files, ends[index - 1] ?? 0, end, reason);
      }
      files.release();
    } catch (error) {
      this.#ready.push({ error });
      this.#backlog.close();
      this.#run.stop('failed');
    }
  }

  /** If some results do not fit, the search stops. */
  #fitted(rendered: IntactAnswer): IntactAnswer {
    const { files, docs } = rendered;
    const count = fittingCount(files, this.#remainingSize);
    this.#remainingSize -= files.sizeOf(0, count) + count;
    if (count === files.count) return rendered;
    this.#isCut = true;
    this.#backlog.close();
    this.#run.enough();
    return { ...rendered, docs: docs.subarray(0, count), files: files.first(count) };
  }

  /** Drops the shards found damaged: a stream may already have sent results, so it cannot restart. */
  async #renderIntact({ found, docs: all }: DocList): Promise<IntactAnswer> {
    for (let docs = all; ;) {
      try {
        return { found, docs, ...(await renderAnswer({ found, docs }, this.#prepared.render)) };
      } catch (error) {
        if (!(error instanceof ShardError)) throw error;
        const { shards } = this.#prepared.scope;
        const shard = shards.findIndex(({ shardId }) => shardId === error.shardId);
        if (!docs.some((doc) => found.shard(doc) === shard)) throw error;
        this.#noteFailure(shard, error.message, error.fault);
        docs = this.#backlog.lose(shard, docs);
      }
    }
  }

  #makeChunk(
    { found, docs: batch }: DocList,
    files: FileResults,
    start: number,
    end: number,
    reason: FlushReason,
  ): void {
    // An event besides its file results takes less than 64 KiB.
    const size = files.sizeOf(start, end) + 65_536;
    if (size > this.#eventSizeMax)
      throw new Error(`a result is too large: ${size} bytes, limit ${this.#eventSizeMax}`);
    const docs = batch.subarray(start, end);
    this.#ledger.addRanges(found.rangeMaxOf(docs));
    const head = { type: 'chunk', stats: statsObject(this.#ledger.takeDelta(), reason) };
    this.#ledger.noteReason(reason);
    this.#reportedMs = performance.now();
    const repositoryInfo = repositoryInfos({ found, docs }, this.#prepared.view);
    const tail = { repositoryInfo, progress: this.#totals.progress };
    this.#ready.push({ json: writeWithFiles(head, files, tail, start, end) });
  }

  async #makeFinal(): Promise<void> {
    this.#isFinalMade = true;
    // Last, as rendering may find damage in a shard.
    this.#totals.close();
    const { totals, reason } = this.#ledger.close();
    const runTotals = { counts: this.#totals.counts, isOverLimit: this.#order.isOverLimit };
    const { stopReason } = this.#run;
    const returnedCount = totals.actualMatchCount + this.#backlog.lostCount;
    const found = incompleteReasons(
      runTotals,
      this.#isCut ? Infinity : returnedCount,
      stopReason,
      this.#prepared.gaps,
    );
    const reasons = this.#isCut ? withSizeLimit(found) : found;
    const isExhaustive = reasons.length === 0;
    const isEmptied = this.#isCut && totals.actualMatchCount === 0;
    const matched = {
      matchCount: totals.totalMatchCount,
      isExhaustive,
      mayMatchFolded: mayMatchFolded(this.#totals.shardTotals),
    };
    const final = {
      type: 'final',
      accumulatedStats: statsObject(totals, reason),
      ...exhaustiveness(reasons),
      ...(isEmptied ? { hints: [TOO_SMALL] } : await this.#prepared.hints(matched)),
    };
    this.#ready.push({ json: Buffer.from(JSON.stringify(final)) });
    this.#prepared.onCompleted(totals, reasons, this.#foundNs);
  }
}

/** Indexes of results after which a chunk ends. */
function chunkEnds(files: FileResults): number[] {
  const ends: number[] = [];
  let start = 0;
  for (let end = 1; end <= files.count; end++) {
    const isFull = end < files.count && files.sizeOf(start, end + 1) > CHUNK_SIZE_MAX;
    if (!isFull && end < files.count) continue;
    ends.push(end);
    start = end;
  }
  return ends;
}
