// The jobs of a search thread: run a search, or render docs. A job runs in slices, on any free searcher of the thread, and
// reports its findings. search-worker.ts chooses the next job.

import type { StopTest } from './core.ts';
import type { SearchControl } from './control.ts';
import type { Drain } from './drain.ts';
import { renderDocs } from './render-docs.ts';
import type { FromSearchWorker, RenderMessage } from './search-messages.ts';
import type { Searcher } from './searcher.ts';
import { ShardError } from './space.ts';
import { messageOf } from '../../base/caught.ts';

/** A progressive search reports its first matches at once, then further ones in this interval. */
const PROGRESS_NS = 10_000_000n;
/** Interval of reports without matches. */
const STATISTICS_NS = 500_000_000n;

/** Sends a message to the main thread. */
export type Tell = (message: FromSearchWorker) => void;

export interface Job {
  /** No more work is needed: only the rest must be reported. */
  readonly isHalted: boolean;
  /**
   * Works until `endNs` (process.hrtime), or the end of the current core call; false: it has ended and reported.
   *
   * @param isOut  called during core calls: whether to abandon one, which is repeated from its start later
   */
  work(searcher: Searcher, endNs: bigint, isOut: StopTest): boolean;
  /** Another job has used the searcher that it continues on. */
  resumeOn(searcher: Searcher): void;
}

/** Runs a search together with other threads. */
export class SearchJob implements Job {
  readonly #id: number;
  readonly #drain: Drain;
  readonly #control: SearchControl;
  readonly #isProgressive: boolean;
  readonly #tell: Tell;
  /** When findings were last reported; initially the start of the search. */
  #toldNs = process.hrtime.bigint();
  #hasToldMatches = false;

  /** @param isProgressive  findings are reported while it runs, not only at its end */
  constructor(
    id: number,
    drain: Drain,
    control: SearchControl,
    isProgressive: boolean,
    tell: Tell,
  ) {
    this.#id = id;
    this.#drain = drain;
    this.#control = control;
    this.#isProgressive = isProgressive;
    this.#tell = tell;
  }

  get isHalted(): boolean {
    return this.#control.isHalted;
  }

  resumeOn(searcher: Searcher): void {
    this.#drain.resumeOn(searcher);
  }

  work(_: Searcher, endNs: bigint, isOut: StopTest): boolean {
    try {
      if (this.#drainUntil(endNs, () => this.#control.isStopped || isOut())) return true;
      this.#finish();
    } catch (error) {
      this.#finish(messageOf(error));
    }
    return false;
  }

  #drainUntil(endNs: bigint, isStopWanted: StopTest): boolean {
    for (let isLeft = true; isLeft;) {
      isLeft = this.#drain.step(isStopWanted);
      const nowNs = process.hrtime.bigint();
      if (this.#isProgressive) this.#tellProgress(nowNs);
      if (isLeft && nowNs >= endNs) return true;
    }
    return false;
  }

  /** Reports new findings if it is time. */
  #tellProgress(nowNs: bigint): void {
    const passedNs = nowNs - this.#toldNs;
    if (this.#hasToldMatches && passedNs < PROGRESS_NS) return;
    const hasMatches = this.#drain.units.some(({ rows }) => rows.length > 0);
    if (!hasMatches && passedNs < STATISTICS_NS) return;
    this.#toldNs = nowNs;
    this.#hasToldMatches ||= hasMatches;
    this.#tell({ kind: 'searchProgress', id: this.#id, ...this.#drain.take() });
  }

  #finish(planError?: string): void {
    const id = this.#id;
    // The search ends when all threads have finished; its findings are needed before.
    if (this.#isProgressive) this.#tell({ kind: 'searchProgress', id, ...this.#drain.take() });
    const done = { kind: 'searchDone', id, ...this.#drain.take() } as const;
    this.#tell(planError === undefined ? done : { ...done, planError });
  }
}

/** Renders docs, without pauses. */
export class RenderJob implements Job {
  readonly isHalted = false;
  readonly #message: RenderMessage;
  readonly #tell: Tell;

  constructor(message: RenderMessage, tell: Tell) {
    this.#message = message;
    this.#tell = tell;
  }

  resumeOn(): void {
    // It keeps no state in a searcher.
  }

  work(searcher: Searcher, _: bigint, isOut: StopTest): boolean {
    const { id } = this.#message;
    try {
      const docs = renderDocs(searcher, this.#message, isOut);
      if (docs === undefined) return true;
      this.#tell({ kind: 'renderDone', id, docs });
    } catch (error) {
      const fault = error instanceof ShardError ? { fault: error.fault } : {};
      this.#tell({ kind: 'renderDone', id, error: messageOf(error), ...fault });
    }
    return false;
  }
}
