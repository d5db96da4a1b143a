// A store of counts in memory, for tests of the ledger that turn the clock and make the store fail. The
// arithmetic is the real one; what it leaves out, transactions and their failures, is tested on the engines.

import { StoreError } from '../../../daemon/accounts/store/error.ts';
import type { UsageNotice } from '../../../daemon/accounts/store/engine.ts';
import type { UsageStore } from '../../../daemon/accounts/limits/ledger.ts';
import { NO_USAGE, exchange } from '../../../daemon/accounts/store/usage-exchange.ts';
import type {
  UsageAnswer,
  UsageRequest,
  UsageState,
} from '../../../daemon/accounts/store/usage-exchange.ts';
import type { FakeClock } from './fake-clock.ts';

export const LEASE_MS = 6_000;

export interface MemoryUsageOptions {
  readonly clock: FakeClock;
  /** Several daemons; else one that holds everything. */
  readonly isShared: boolean;
}

export class MemoryUsage implements UsageStore {
  readonly leaseMs: number;
  readonly rows = new Map<string, UsageState>();
  /** Days that `prune` was called on. */
  pruneCount = 0;
  exchangeCount = 0;
  /** Fails the next exchanges, before they are done or only their answers. */
  failures: ('before' | 'after')[] = [];
  /** Exchanges wait until `release`. */
  isHeld = false;
  #held: (() => void)[] = [];
  readonly #clock: FakeClock;
  readonly #isShared: boolean;
  readonly #listeners = new Set<(notice: UsageNotice) => void>();

  constructor({ clock, isShared }: MemoryUsageOptions) {
    this.#clock = clock;
    this.#isShared = isShared;
    this.leaseMs = isShared ? LEASE_MS : Infinity;
  }

  usedOn(userId: string, day: string): number {
    return this.rows.get(`${day} ${userId}`)?.used ?? 0;
  }

  async exchange(day: string, requests: readonly UsageRequest[]): Promise<UsageAnswer[]> {
    if (this.isHeld) await new Promise<void>((resolve) => this.#held.push(resolve));
    await Promise.resolve();
    this.exchangeCount++;
    const failure = this.failures.shift();
    if (failure === 'before') throw new StoreError('NOT_READY', 'no answer');
    const answers = requests.map((request) => this.#exchangeOne(day, request));
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

  onNotice(listener: (notice: UsageNotice) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #exchangeOne(day: string, request: UsageRequest): UsageAnswer {
    const key = `${day} ${request.userId}`;
    const nowMs = this.#clock.nowMs();
    const { state, answer, isShort } = exchange(this.rows.get(key) ?? NO_USAGE, request, {
      nowMs,
      leaseMs: LEASE_MS,
      shareCount: this.#isShared ? 4 : 1,
      isLive: this.#isShared ? ({ expiresAt }) => expiresAt > nowMs : () => true,
    });
    this.rows.set(key, state);
    const { userId: usageOf, holder } = request;
    if (isShort) this.#tell({ usageOf, holder, kind: 'wanted' });
    if (request.isReturn) this.#tell({ usageOf, holder, kind: 'returned' });
    return answer;
  }

  #tell(notice: UsageNotice): void {
    for (const listener of this.#listeners) listener(notice);
  }
}
