// Decides whether a user's request is within the daily limit. A daemon with its own store decides in memory, and reports
// admitted requests every 2 seconds, so that a crash forgets at most those, and never adds any. Daemons that share a store
// ask it: concurrent requests are counted by one transaction, up to exactly the limit. Callers decide which requests count,
// and answer refused ones.

import { CodedError, errorOf, messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import type { Usage, UsageAnswer } from '../../store/usage.ts';
import { UsageBatches } from './usage-batches.ts';
import { type LedgerClock, SYSTEM_CLOCK } from './clock.ts';
import { dayOf, dayText, remainingOf, resetAtMs } from './decision.ts';
import type { DayUsage, Decision } from './decision.ts';
import { admit, newEntry, refusal, rejectAll, requestOf, takeIn, UNLIMITED } from './entry.ts';
import type { Entry } from './entry.ts';

export interface LedgerOptions {
  readonly store: Usage;
  readonly log: Log;
  readonly clock?: LedgerClock;
  /** How long requests are admitted without the store after it failed, and reported when it is back; 0. */
  readonly creditMs?: number;
  /** Users in memory; 100,000. */
  readonly entryCountMax?: number;
}

/** The ledger cannot decide now. Nothing was counted permanently. */
export class LedgerError extends CodedError<'NOT_READY' | 'SERVER_OVERLOADED'> {
  override readonly name = 'LedgerError';
}

const TICK_MS = 2_000;

/** With its own store a daemon keeps idle users in memory this long; with a shared one for a tick. */
const IDLE_MS_MAX = 600_000;
/** Users in memory, about 300 bytes each; beyond it, idle ones are dropped at the next tick. */
const ENTRY_COUNT_MAX = 100_000;

/** Waiting requests of one user. */
const WAITER_COUNT_MAX = 1_000;

/** Requests admitted for an unknown user while the store does not answer. */
const UNKNOWN_CREDIT_MAX = 32;

const CLOSE_COUNT_MAX = 3;
const CLOSE_PAUSE_MS = 200;

export class Ledger {
  readonly #store: Usage;
  readonly #log: Log;
  readonly #clock: LedgerClock;
  readonly #batches: UsageBatches;
  readonly #options: LedgerOptions;
  readonly #entryCountMax: number;
  readonly #idleTickCountMax: number;
  readonly #days = new Map<number, Map<string, Entry>>();
  readonly #stopTicks: () => void;
  /** The day of the last request, and its entries. */
  #day = Number.NaN;
  #today = new Map<string, Entry>();
  #isPruningDue = false;
  /** By the clock of the ledger; undefined: the store answers. */
  #failingSinceMs: number | undefined;
  #isClosed = false;

  constructor(options: LedgerOptions) {
    const { store, log, clock = SYSTEM_CLOCK, entryCountMax = ENTRY_COUNT_MAX } = options;
    this.#options = options;
    this.#store = store;
    this.#log = log.labelled('limits');
    this.#clock = clock;
    this.#entryCountMax = entryCountMax;
    this.#idleTickCountMax = store.isShared ? 1 : IDLE_MS_MAX / TICK_MS;
    this.#batches = new UsageBatches((entries) => this.#syncEntries(entries));
    this.#stopTicks = clock.every(TICK_MS, () => this.#tick());
  }

  /**
   * Counts a request, if it is admitted.
   *
   * @param limit  current requests per day of this user; null: any number
   * @returns      the decision; a promise of it if the store must be asked
   *
   * Errors (of the promise): LedgerError; those of the store, such as NOT_READY, after which a shared store may have
   * counted the request nevertheless.
   * Cost: 1 us if the store is not asked.
   */
  take(userId: string, limit: number | null, nowMs: number): Decision | Promise<Decision> {
    if (this.#isClosed) return Promise.reject(closedError());
    const cap = limit ?? UNLIMITED;
    const entry = this.#entryOf(userId, dayOf(nowMs));
    entry.takeCount++;
    entry.isLeaving = false;
    if (cap === 0 || (entry.isLoaded && entry.used >= cap)) return refusal(entry, cap);
    if (entry.isLoaded && !this.#store.isShared) return admit(entry, cap);
    if (!this.#hasCredit(entry, cap)) return this.#wait(entry, cap);
    this.#batches.ask(entry);
    return admit(entry, cap);
  }

  /**
   * Whether the request may be admitted although the store does not answer. For unknown users only a few are, which may be
   * forgotten.
   */
  #hasCredit(entry: Entry, cap: number): boolean {
    if (this.#failingSinceMs === undefined) return false;
    if (this.#clock.nowMs() - this.#failingSinceMs >= (this.#options.creditMs ?? 0)) return false;
    return entry.used < Math.min(cap, entry.isLoaded ? UNLIMITED : UNKNOWN_CREDIT_MAX);
  }

  /** A user's use today. Errors: NOT_READY of the store. */
  async usageOf(userId: string, limit: number | null, nowMs: number): Promise<DayUsage> {
    const day = dayOf(nowMs);
    const entry = this.#days.get(day)?.get(userId);
    const used =
      entry?.isLoaded === true ? entry.used : await this.#store.read(userId, dayText(day));
    return { limit, used, remaining: remainingOf(limit, used), resetAtMs: resetAtMs(day) };
  }

  /** Number of users in memory. */
  get entryCount(): number {
    return [...this.#days.values()].reduce((count, entries) => count + entries.size, 0);
  }

  /** Reports everything; a failing store is tried three times. Waiting requests fail with NOT_READY. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopTicks();
    await this.#batches.idle();
    for (const entry of this.#entries()) rejectAll(entry, closedError());
    for (let attempt = 0; attempt < CLOSE_COUNT_MAX && this.entryCount > 0; attempt++) {
      if (attempt > 0) await this.#pause(CLOSE_PAUSE_MS);
      for (const entry of this.#entries()) this.#leave(entry);
      await this.#batches.idle();
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(ms, resolve));
  }

  #entryOf(userId: string, day: number): Entry {
    if (day !== this.#day) this.#startDay(day);
    const existing = this.#today.get(userId);
    if (existing !== undefined) return existing;
    const entry = newEntry(userId, day);
    this.#today.set(userId, entry);
    return entry;
  }

  /** Switches to another day: later, or earlier after the clock was set back. */
  #startDay(day: number): void {
    if (this.#today.size === 0) this.#days.delete(this.#day);
    const entries = this.#days.get(day) ?? new Map<string, Entry>();
    this.#days.set(day, entries);
    this.#day = day;
    this.#today = entries;
    this.#isPruningDue = true;
  }

  #wait(entry: Entry, cap: number): Promise<Decision> {
    if (entry.waiters.length >= WAITER_COUNT_MAX) {
      return Promise.reject(
        new LedgerError('SERVER_OVERLOADED', 'too many requests of one user at once'),
      );
    }
    entry.isLeaving = false;
    return new Promise((resolve, reject) => {
      entry.waiters.push({ cap, resolve, reject });
      this.#batches.ask(entry);
    });
  }

  /** Sends a request for entries of one day, and applies the answers. Never fails. */
  async #syncEntries(entries: readonly Entry[]): Promise<void> {
    const { isShared } = this.#store;
    const day = entries[0]?.day ?? this.#day;
    const batch = entries.map((entry) => ({
      entry,
      uncounted: entry.uncounted,
      request: requestOf(entry, isShared),
    }));
    let answers: readonly UsageAnswer[];
    try {
      answers = await this.#store.count(
        dayText(day),
        batch.map(({ request }) => request),
      );
    } catch (error) {
      this.#noteFailure(error);
      for (const entry of entries) this.#fail(entry, errorOf(error));
      return;
    }
    this.#failingSinceMs = undefined;
    for (const [index, { entry, uncounted, request }] of batch.entries()) {
      takeIn(entry, request, uncounted, answers[index]!, isShared);
      entry.isAsking = false;
      if (entry.waiters.length > 0) this.#batches.ask(entry);
      else if (entry.isLeaving) this.#leave(entry);
    }
  }

  #fail(entry: Entry, error: Error): void {
    entry.isAsking = false;
    for (let first = entry.waiters[0]; first !== undefined; first = entry.waiters[0]) {
      if (!this.#hasCredit(entry, first.cap)) break;
      entry.waiters.shift();
      first.resolve(admit(entry, first.cap));
    }
    rejectAll(entry, error);
  }

  #remove(entry: Entry): void {
    const entries = this.#days.get(entry.day);
    entries?.delete(entry.userId);
    if (entries?.size === 0 && entry.day !== this.#day) this.#days.delete(entry.day);
  }

  /** Reports pending counts, and drops idle users. */
  #tick(): void {
    let excessCount = this.entryCount - this.#entryCountMax;
    for (const entry of this.#entries()) {
      const isIdle = entry.takeCount === 0;
      entry.idleTickCount = isIdle ? entry.idleTickCount + 1 : 0;
      entry.takeCount = 0;
      const isDone = excessCount > 0 || entry.idleTickCount >= this.#idleTickCountMax;
      if (isIdle && isDone) {
        excessCount--;
        this.#leave(entry);
      } else if (entry.uncounted > 0) this.#batches.ask(entry);
    }
    if (this.#isPruningDue) void this.#prune();
  }

  /** Drops a user after the last report. */
  #leave(entry: Entry): void {
    entry.isLeaving = true;
    if (entry.uncounted > 0) this.#batches.ask(entry);
    else if (!entry.isAsking) this.#remove(entry);
  }

  async #prune(): Promise<void> {
    this.#isPruningDue = false;
    try {
      await this.#store.prune();
    } catch (error) {
      this.#log.warn(`old request counts were not removed: ${messageOf(error)}`);
    }
  }

  #noteFailure(error: unknown): void {
    if (this.#failingSinceMs === undefined)
      this.#log.error(`requests cannot be counted: ${messageOf(error)}`);
    this.#failingSinceMs ??= this.#clock.nowMs();
  }

  *#entries(): Generator<Entry> {
    for (const entries of this.#days.values()) yield* entries.values();
  }
}

function closedError(): LedgerError {
  return new LedgerError('NOT_READY', 'the daemon is stopping');
}
