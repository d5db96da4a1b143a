// A daemon as far as the ledger is concerned: one that can be stopped in good order, or crash, after which
// its timers do not run and nothing of it reaches the store any more.

import { Ledger } from '../../../daemon/accounts/limits/ledger.ts';
import type { Usage } from '../../../daemon/store/usage.ts';
import type { LedgerClock } from '../../../daemon/accounts/limits/clock.ts';
import { createLog } from '../../../daemon/base/log.ts';

export class Daemon {
  readonly ledger: Ledger;
  readonly logged: string[] = [];
  #isDead = false;
  #stops: (() => void)[] = [];

  constructor(store: Usage, clock: LedgerClock, entryCountMax = 1_000, creditMs = 0) {
    const log = createLog({
      level: 'info',
      format: 'text',
      write: (line) => void this.logged.push(line),
    });
    this.ledger = new Ledger({
      store: this.#mortal(store),
      log,
      clock: this.#watched(clock),
      entryCountMax,
      creditMs,
    });
  }

  crash(): void {
    this.#isDead = true;
    for (const stop of this.#stops) stop();
  }

  async stop(): Promise<void> {
    await this.ledger.close();
    for (const stop of this.#stops) stop();
  }

  #mortal(store: Usage): Usage {
    const never = new Promise<never>(() => {});
    const unlessDead = <Result>(run: () => Promise<Result>): Promise<Result> =>
      this.#isDead ? never : run().then((result) => (this.#isDead ? never : result));
    return {
      isShared: store.isShared,
      count: (day, requests) => unlessDead(() => store.count(day, requests)),
      read: (userId, day) => unlessDead(() => store.read(userId, day)),
      prune: () => unlessDead(() => store.prune()),
    };
  }

  #watched(clock: LedgerClock): LedgerClock {
    const keep = (stop: () => void): (() => void) => {
      this.#stops.push(stop);
      return stop;
    };
    return {
      nowMs: () => clock.nowMs(),
      every: (ms, run) => keep(clock.every(ms, run)),
      after: (ms, run) => keep(clock.after(ms, run)),
    };
  }
}
