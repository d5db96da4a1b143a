// A ledger that can be stopped or crashed, a store of counts in memory that can fail, and a clock that only a test
// moves.

import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Ledger, type LedgerOptions } from '../../daemon/accounts/limits.ts';
import { createLog } from '../../daemon/base/log.ts';
import { StoreError } from '../../daemon/store/error.ts';
import type { Usage, UsageAnswer, UsageRequest } from '../../daemon/store/usage.ts';

export const DAY_MS = 86_400_000;
/** 2026-06-01T12:00:00Z. */
export const NOON_MS = Date.UTC(2026, 5, 1, 12);
export const TODAY = '2026-06-01';

/** After a crash, nothing reaches the store any more. */
export class Daemon {
  readonly ledger: Ledger;
  readonly logged: string[] = [];
  #isDead = false;

  constructor(store: Usage, options: Partial<LedgerOptions> = {}) {
    const log = createLog({
      level: 'info',
      format: 'text',
      write: (line) => void this.logged.push(line),
    });
    this.ledger = new Ledger({ log, creditMs: 0, ...options, store: this.#mortal(store) });
  }

  crash(): void {
    this.#isDead = true;
    void this.ledger.close();
  }

  #mortal(store: Usage): Usage {
    const never = new Promise<never>(() => {});
    const unlessDead = <Result>(run: () => Promise<Result>): Promise<Result> =>
      this.#isDead ? never : run().then((result) => (this.#isDead ? never : result));
    return {
      isShared: store.isShared,
      count: (requests) => unlessDead(() => store.count(requests)),
      read: (userId, day) => unlessDead(() => store.read(userId, day)),
      prune: () => unlessDead(() => store.prune()),
    };
  }
}

/** Counts in memory. Transactions are tested on the engines. */
export class MemoryUsage implements Usage {
  readonly isShared: boolean;
  pruneCount = 0;
  countCount = 0;
  /** Fails the next transactions: before they are done, or only their answers. */
  failures: ('before' | 'after')[] = [];
  readonly #rows = new Map<string, number>();
  #paused: (() => void)[] | undefined;

  constructor(isShared: boolean) {
    this.isShared = isShared;
  }

  usedOn(userId: string, day: string): number {
    return this.#rows.get(`${day} ${userId}`) ?? 0;
  }

  /** Transactions wait until the function returned is called. */
  pause(): () => void {
    this.#paused = [];
    return () => {
      for (const resolve of this.#paused ?? []) resolve();
      this.#paused = undefined;
    };
  }

  async count(requests: readonly UsageRequest[]): Promise<UsageAnswer[]> {
    await new Promise<void>((resolve) => {
      if (this.#paused === undefined) resolve();
      else this.#paused.push(resolve);
    });
    this.countCount++;
    const failure = this.failures.shift();
    if (failure === 'before') throw new StoreError('NOT_READY', 'no answer');
    const answers = requests.map(({ userId, day, uncounted, need, limit }) => {
      const before = this.usedOn(userId, day) + uncounted;
      const admitted = Math.max(0, Math.min(need, limit - before));
      this.#rows.set(`${day} ${userId}`, before + admitted);
      return { used: before + admitted, admitted };
    });
    await Promise.resolve();
    if (failure === 'after') throw new StoreError('NOT_READY', 'no answer');
    return answers;
  }

  read(userId: string, day: string): Promise<number> {
    return Promise.resolve(this.usedOn(userId, day));
  }

  prune(): Promise<void> {
    this.pruneCount++;
    return Promise.resolve();
  }
}

/** From now on time passes only by `advance`. */
export function stopTime(): void {
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
}

/** Turns of the event loop in between. */
export async function advance(ms: number): Promise<void> {
  for (let rest = ms; rest > 0; rest -= 1_000) {
    mock.timers.tick(Math.min(rest, 1_000));
    await setImmediate();
  }
}

/** Waits for a promise, first without letting time pass, then with. Fails after 30 s. */
export async function settle<Result>(promise: Result | Promise<Result>): Promise<Result> {
  const state = { isDone: false };
  const done = Promise.resolve(promise).finally(() => {
    state.isDone = true;
  });
  done.catch(() => {});
  for (let i = 0; i < 160 && !state.isDone; i++) await (i < 10 ? setImmediate() : advance(200));
  if (!state.isDone) throw new Error('not settled within 30 s');
  return await done;
}
