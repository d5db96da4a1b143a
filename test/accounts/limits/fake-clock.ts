// A clock that tests turn: time passes only when they say so, and timers run then, in order.

import { setImmediate } from 'node:timers/promises';
import type { LedgerClock } from '../../../daemon/accounts/limits/clock.ts';

interface Timer {
  dueMs: number;
  readonly everyMs: number | undefined;
  readonly run: () => void;
}

export class FakeClock implements LedgerClock {
  #nowMs = 1_000;
  readonly #timers = new Set<Timer>();

  nowMs(): number {
    return this.#nowMs;
  }

  every(ms: number, run: () => void): () => void {
    return this.#add({ dueMs: this.#nowMs + ms, everyMs: ms, run });
  }

  after(ms: number, run: () => void): () => void {
    return this.#add({ dueMs: this.#nowMs + ms, everyMs: undefined, run });
  }

  get timerCount(): number {
    return this.#timers.size;
  }

  /** Lets `ms` pass, with a turn of the event loop after each timer. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    for (let timer = this.#next(endMs); timer !== undefined; timer = this.#next(endMs)) {
      this.#nowMs = Math.max(this.#nowMs, timer.dueMs);
      if (timer.everyMs === undefined) this.#timers.delete(timer);
      else timer.dueMs += timer.everyMs;
      timer.run();
      await setImmediate();
    }
    this.#nowMs = endMs;
    await setImmediate();
  }

  /** Waits for a promise, first without letting time pass, then with. Fails if it takes more than 30 s. */
  async settle<Result>(promise: Result | Promise<Result>): Promise<Result> {
    const state = { isDone: false };
    const done = Promise.resolve(promise).finally(() => {
      state.isDone = true;
    });
    done.catch(() => {});
    for (let i = 0; i < 3_010 && !state.isDone; i++) {
      await (i < 10 ? setImmediate() : this.advance(10));
    }
    if (!state.isDone) throw new Error('nothing came of it within 30 s');
    return await done;
  }

  #next(endMs: number): Timer | undefined {
    const due = [...this.#timers].filter(({ dueMs }) => dueMs <= endMs);
    return due.sort((a, b) => a.dueMs - b.dueMs)[0];
  }

  #add(timer: Timer): () => void {
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }
}
