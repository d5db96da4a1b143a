// Decides whether a request of a user is still within the limit of its day. Decisions are made in memory, from
// numbers that the store has leased to this daemon (usage-exchange.ts); what was admitted is reported behind
// the requests, every 2 seconds. So a crash forgets a few seconds at most and never adds, and several daemons
// on one store admit exactly the limit together. Which requests count, and what a refused one is answered,
// is for the callers.
//
// Numbers that other daemons hold are called back before a request is refused: the answer to it waits that
// long, and for a daemon that crashed until its lease has expired.

import { randomUUID } from 'node:crypto';
import type { UsageNotice } from '../store/engine.ts';
import type { UsageAnswer, UsageRequest } from '../store/usage-exchange.ts';
import { errorOf, messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import { Asking } from './asking.ts';
import { SYSTEM_CLOCK } from './clock.ts';
import type { LedgerClock } from './clock.ts';
import { dayOf, dayText, remainingOf, resetAtMs } from './decision.ts';
import type { DayUsage, Decision } from './decision.ts';
import {
  fitWant,
  holdsAny,
  isLow,
  newEntry,
  refusal,
  rejectAll,
  requestOf,
  takeIn,
  UNLIMITED,
  useCredit,
  useOne,
  WANT_MIN,
  wantMore,
} from './entry.ts';
import type { Entry } from './entry.ts';

/** What the ledger needs of the store; `Usage` of daemon/accounts/store/usage.ts is one. */
export interface UsageStore {
  readonly leaseMs: number;
  exchange(day: string, requests: readonly UsageRequest[]): Promise<UsageAnswer[]>;
  read(userId: string, day: string): Promise<number>;
  prune(): Promise<void>;
  onNotice(listener: (notice: UsageNotice) => void): () => void;
}

export interface LedgerOptions {
  readonly store: UsageStore;
  readonly log: Log;
  readonly clock?: LedgerClock;
  /** So long requests are admitted unasked after the store failed, and reported when it is back; 0. */
  readonly creditMs?: number;
  /** Users in memory; 100,000. */
  readonly entryCountMax?: number;
}

/** The ledger cannot decide now. Nothing was counted for good. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';
  readonly errorCode: 'NOT_READY' | 'SERVER_OVERLOADED';

  constructor(errorCode: LedgerError['errorCode'], message: string) {
    super(message);
    this.errorCode = errorCode;
  }
}

const TICK_MS = 2_000;

/** Part of a lease's time in which its numbers are used; the rest is for requests that take long. */
const USE_SHARE = 5 / 6;

/** On a store of its own a daemon keeps idle users in memory that long; on a shared one for a tick. */
const IDLE_MS_MAX = 600_000;
/** Users in memory, about 400 bytes each; above, idle ones go at the next tick. */
const ENTRY_COUNT_MAX = 100_000;

/** Requests of one user that wait. */
const WAITER_COUNT_MAX = 1_000;

/** Milliseconds between attempts to get numbers back from others, if no word of them comes. */
const RETRY_MS = 20;
const RETRY_MS_MAX = 250;
const WAIT_MS_MAX = 15_000;

const CLOSE_COUNT_MAX = 3;
const CLOSE_PAUSE_MS = 200;

export class Ledger {
  readonly #store: UsageStore;
  readonly #log: Log;
  readonly #clock: LedgerClock;
  /** Name of this run of the daemon. */
  readonly #holder = randomUUID();
  readonly #asking: Asking;
  readonly #options: LedgerOptions;
  readonly #entryCountMax: number;
  readonly #idleTickCountMax: number;
  readonly #firstWant: number;
  readonly #days = new Map<number, Map<string, Entry>>();
  readonly #stops: (() => void)[];
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
    const isShared = Number.isFinite(store.leaseMs);
    this.#entryCountMax = entryCountMax;
    this.#idleTickCountMax = isShared ? 1 : IDLE_MS_MAX / TICK_MS;
    this.#firstWant = isShared ? WANT_MIN : UNLIMITED;
    this.#asking = new Asking((entries) => this.#exchange(entries));
    this.#stops = [
      clock.every(TICK_MS, () => this.#tick()),
      store.onNotice((notice) => {
        if (notice.holder !== this.#holder) this.#onNotice(notice);
      }),
    ];
  }

  /**
   * Counts a request, if it is admitted.
   *
   * @param limit  requests per day of this user as of now; null: any number
   * @returns      the decision; a promise of it when the store must be asked
   *
   * Errors (of the promise): LedgerError; those of the store, such as NOT_READY.
   * Cost: 1 us when nothing has to be asked.
   */
  take(userId: string, limit: number | null, nowMs: number): Decision | Promise<Decision> {
    const cap = limit ?? UNLIMITED;
    const entry = this.#entryOf(userId, dayOf(nowMs));
    entry.takeCount++;
    if (entry.left > 0 && entry.cap === cap && this.#clock.nowMs() < entry.deadlineMs) {
      const decision = useOne(entry);
      if (isLow(entry)) this.#refill(entry);
      return decision;
    }
    if (cap === 0 || (entry.isKnown && entry.used >= cap)) return refusal(entry, cap);
    if (this.#hasCredit(entry, cap)) {
      this.#asking.ask(entry);
      return useCredit(entry, cap);
    }
    return this.#wait(entry, cap);
  }

  /**
   * May the request be admitted although the store does not answer? Of users who are not known only a few are, which
   * may be forgotten.
   */
  #hasCredit(entry: Entry, cap: number): boolean {
    if (this.#failingSinceMs === undefined) return false;
    if (this.#clock.nowMs() - this.#failingSinceMs >= (this.#options.creditMs ?? 0)) return false;
    return entry.used < Math.min(cap, entry.isKnown ? UNLIMITED : WANT_MIN);
  }

  /** What a user has used today. Errors: NOT_READY of the store. */
  async usageOf(userId: string, limit: number | null, nowMs: number): Promise<DayUsage> {
    const day = dayOf(nowMs);
    const entry = this.#days.get(day)?.get(userId);
    const used =
      entry?.isKnown === true ? entry.used : await this.#store.read(userId, dayText(day));
    return { limit, used, remaining: remainingOf(limit, used), resetAtMs: resetAtMs(day) };
  }

  /** Number of users in memory. */
  get entryCount(): number {
    return [...this.#days.values()].reduce((count, entries) => count + entries.size, 0);
  }

  /**
   * Reports everything and gives all numbers back; a store that fails is asked three times. Requests that
   * still wait fail with NOT_READY.
   */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    await this.#asking.idle();
    for (const entry of this.#entries()) {
      entry.cancelRetry?.();
      rejectAll(entry, closedError());
    }
    for (let attempt = 0; attempt < CLOSE_COUNT_MAX && this.entryCount > 0; attempt++) {
      if (attempt > 0) await this.#pause(CLOSE_PAUSE_MS);
      for (const entry of this.#entries()) this.#leave(entry);
      await this.#asking.idle();
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(ms, resolve));
  }

  #entryOf(userId: string, day: number): Entry {
    if (day !== this.#day) this.#turnTo(day);
    const known = this.#today.get(userId);
    if (known !== undefined) return known;
    const entry = newEntry(userId, day, this.#firstWant);
    this.#today.set(userId, entry);
    return entry;
  }

  /** Another day, later or, when the clock was set back, earlier. */
  #turnTo(day: number): void {
    if (this.#today.size === 0) this.#days.delete(this.#day);
    const entries = this.#days.get(day) ?? new Map<string, Entry>();
    this.#days.set(day, entries);
    this.#day = day;
    this.#today = entries;
    this.#isPruningDue = true;
  }

  #wait(entry: Entry, cap: number): Promise<Decision> {
    if (this.#isClosed) return Promise.reject(closedError());
    if (entry.waiters.length >= WAITER_COUNT_MAX) {
      return Promise.reject(
        new LedgerError('SERVER_OVERLOADED', 'too many requests of one user at once'),
      );
    }
    entry.isLeaving = false;
    return new Promise((resolve, reject) => {
      entry.waiters.push({ cap, resolve, reject });
      if (entry.cancelRetry === undefined) this.#asking.ask(entry);
    });
  }

  #refill(entry: Entry): void {
    wantMore(entry);
    entry.isRefilling = true;
    this.#asking.ask(entry);
  }

  /** Asks the store for entries of one day, and acts on the answers. Never fails. */
  async #exchange(entries: readonly Entry[]): Promise<void> {
    const sentMs = this.#clock.nowMs();
    const day = entries[0]?.day ?? this.#day;
    const requests = entries.map((entry) => requestOf(entry, this.#holder));
    let answers: readonly UsageAnswer[];
    try {
      answers = await this.#store.exchange(dayText(day), requests);
      if (answers.length !== entries.length) throw new Error('answers are missing');
    } catch (error) {
      this.#noteFailure(error);
      for (const entry of entries) this.#fail(entry, errorOf(error));
      return;
    }
    this.#failingSinceMs = undefined;
    const deadlineMs = sentMs + this.#store.leaseMs * USE_SHARE;
    for (const [index, entry] of entries.entries()) {
      const request = requests[index];
      const answer = answers[index];
      if (request === undefined || answer === undefined) continue;
      takeIn(entry, request, answer, deadlineMs);
      this.#goOn(entry, request, answer);
    }
  }

  #fail(entry: Entry, error: Error): void {
    entry.isAsking = false;
    entry.isRefilling = false;
    for (let first = entry.waiters[0]; first !== undefined; first = entry.waiters[0]) {
      if (!this.#hasCredit(entry, first.cap)) break;
      entry.waiters.shift();
      first.resolve(useCredit(entry, first.cap));
    }
    rejectAll(entry, error);
  }

  /** What follows from an answer. */
  #goOn(entry: Entry, request: UsageRequest, answer: UsageAnswer): void {
    entry.isAsking = false;
    entry.isRefilling = false;
    const isShort = answer.admitted < request.need && entry.waiters.length > 0;
    if (isShort) {
      this.#waitForOthers(entry);
      return;
    }
    entry.shortSinceMs = undefined;
    const hasToGiveUp = entry.isWanted && holdsAny(entry);
    if (entry.waiters.length > 0 || hasToGiveUp) this.#asking.ask(entry);
    else if (request.isFinal) this.#remove(entry);
  }

  #remove(entry: Entry): void {
    const entries = this.#days.get(entry.day);
    entries?.delete(entry.userId);
    if (entries?.size === 0 && entry.day !== this.#day) this.#days.delete(entry.day);
  }

  /** Others hold the numbers that are needed, and have been told. */
  #waitForOthers(entry: Entry): void {
    const nowMs = this.#clock.nowMs();
    entry.shortSinceMs ??= nowMs;
    const waitedMs = nowMs - entry.shortSinceMs;
    if (waitedMs > WAIT_MS_MAX || this.#isClosed) {
      entry.shortSinceMs = undefined;
      rejectAll(entry, new LedgerError('NOT_READY', 'another daemon does not say what is used'));
      return;
    }
    if (entry.isReturned) {
      this.#asking.ask(entry);
      return;
    }
    // Each attempt waits as long as all before it.
    const pauseMs = Math.min(RETRY_MS_MAX, Math.max(RETRY_MS, waitedMs));
    entry.cancelRetry = this.#clock.after(pauseMs, () => {
      entry.cancelRetry = undefined;
      this.#asking.ask(entry);
    });
  }

  /** Word of another daemon. */
  #onNotice({ usageOf: userId, kind }: UsageNotice): void {
    for (const entries of this.#days.values()) {
      const entry = entries.get(userId);
      if (entry === undefined) continue;
      if (kind === 'returned') this.#retryNow(entry);
      else if (holdsAny(entry)) {
        // The answer to a request under way may take this back: then it is said again.
        entry.isWanted = true;
        this.#asking.ask(entry);
      }
    }
  }

  #retryNow(entry: Entry): void {
    entry.isReturned = true;
    if (entry.cancelRetry === undefined) return;
    entry.cancelRetry();
    entry.cancelRetry = undefined;
    this.#asking.ask(entry);
  }

  /** Reports what is not reported, and lets go what is not used. */
  #tick(): void {
    let excessCount = this.entryCount - this.#entryCountMax;
    for (const entry of this.#entries()) {
      const isIdle = entry.takeCount === 0;
      entry.idleTickCount = isIdle ? entry.idleTickCount + 1 : 0;
      if (!isIdle) fitWant(entry);
      entry.takeCount = 0;
      if (entry.cancelRetry !== undefined) continue;
      const isDone = excessCount > 0 || entry.idleTickCount >= this.#idleTickCountMax;
      if (isIdle && isDone) {
        excessCount--;
        this.#leave(entry);
      } else if (entry.total !== entry.reported) this.#asking.ask(entry);
    }
    if (this.#isPruningDue) void this.#prune();
  }

  #leave(entry: Entry): void {
    entry.isLeaving = true;
    this.#asking.ask(entry);
  }

  async #prune(): Promise<void> {
    this.#isPruningDue = false;
    try {
      await this.#store.prune();
    } catch (error) {
      this.#log.warn(`old counts of requests stay: ${messageOf(error)}`);
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
