// A store of counts in memory, for tests of the ledger that turn the clock and make the store fail. The
// arithmetic is the real one; what it leaves out, transactions and their failures, is tested on the engines.

import { StoreError } from '../../../daemon/store/error.ts';
import { answerTo } from '../../../daemon/store/usage.ts';
import type { Usage, UsageAnswer, UsageRequest } from '../../../daemon/store/usage.ts';

export class MemoryUsage implements Usage {
  readonly isShared: boolean;
  /** What is used, by day and user. */
  readonly rows = new Map<string, number>();
  /** How often `prune` was called. */
  pruneCount = 0;
  /** Transactions. */
  countCount = 0;
  /** Fails the next transactions, before they are done or only their answers. */
  failures: ('before' | 'after')[] = [];
  /** Transactions wait until `release`. */
  isHeld = false;
  #held: (() => void)[] = [];

  /** @param isShared  several daemons; else one that knows everything */
  constructor(isShared: boolean) {
    this.isShared = isShared;
  }

  usedOn(userId: string, day: string): number {
    return this.rows.get(`${day} ${userId}`) ?? 0;
  }

  async count(day: string, requests: readonly UsageRequest[]): Promise<UsageAnswer[]> {
    if (this.isHeld) await new Promise<void>((resolve) => this.#held.push(resolve));
    await Promise.resolve();
    this.countCount++;
    const failure = this.failures.shift();
    if (failure === 'before') throw new StoreError('NOT_READY', 'no answer');
    const answers = requests.map((request) => this.#countOne(day, request));
    await Promise.resolve();
    if (failure === 'after') throw new StoreError('NOT_READY', 'no answer');
    return answers;
  }

  release(): void {
    this.isHeld = false;
    for (const resolve of this.#held.splice(0)) resolve();
  }

  read(userId: string, day: string): Promise<number> {
    return Promise.resolve(this.usedOn(userId, day));
  }

  prune(): Promise<void> {
    this.pruneCount++;
    return Promise.resolve();
  }

  #countOne(day: string, request: UsageRequest): UsageAnswer {
    const answer = answerTo(request, this.usedOn(request.userId, day));
    this.rows.set(`${day} ${request.userId}`, answer.used);
    return answer;
  }
}
