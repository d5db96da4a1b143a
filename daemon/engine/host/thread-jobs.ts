// The jobs of a search thread: search and render, in slices, on any free searcher. search-worker.ts chooses the next job.

import type { StopTest } from './core.ts';
import type { SearchControl } from './control.ts';
import type { SearchLoop } from './search-loop.ts';
import { renderDocs } from './render-docs.ts';
import type { FromSearchWorker, RenderMessage, SearchMessage } from './search-messages.ts';
import type { Searcher } from './searcher.ts';
import { ShardError } from './space.ts';
import { messageOf } from '../../base/caught.ts';

export type Post = (message: FromSearchWorker) => void;

export interface Job {
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

export class SearchJob implements Job {
  readonly #message: Pick<SearchMessage, 'id' | 'isProgressive'>;
  readonly #loop: SearchLoop;
  readonly #control: SearchControl;
  readonly #post: Post;
  /** Last report; initially the start of the search. */
  #postedNs = process.hrtime.bigint();
  #hasPostedMatches = false;

  constructor(message: SearchMessage, loop: SearchLoop, control: SearchControl, post: Post) {
    this.#message = message;
    this.#loop = loop;
    this.#control = control;
    this.#post = post;
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
    this.#post({ kind: 'searchProgress', id: this.#message.id, ...this.#loop.take() });
  }

  #finish(planError?: string): void {
    const { id, isProgressive } = this.#message;
    // The search ends when all threads have finished; its findings are needed before.
    if (isProgressive) this.#post({ kind: 'searchProgress', id, ...this.#loop.take() });
    const done = { kind: 'searchDone', id, ...this.#loop.take() } as const;
    this.#post(planError === undefined ? done : { ...done, planError });
  }
}

export class RenderJob implements Job {
  readonly isHalted = false;
  readonly #message: RenderMessage;
  readonly #post: Post;

  constructor(message: RenderMessage, post: Post) {
    this.#message = message;
    this.#post = post;
  }

  resumeOn(): void {
    // It keeps no state in a searcher.
  }

  work(searcher: Searcher, _: bigint, isOut: StopTest): boolean {
    const { id } = this.#message;
    try {
      const docs = renderDocs(searcher, this.#message, isOut);
      if (docs === undefined) return true;
      this.#post({ kind: 'renderDone', id, docs });
    } catch (error) {
      const fault = error instanceof ShardError ? { fault: error.fault } : {};
      this.#post({ kind: 'renderDone', id, error: messageOf(error), ...fault });
    }
    return false;
  }
}
