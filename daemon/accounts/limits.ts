// Requests per day of each user (API.md 5): counts them, and decides whether the next one is admitted. A daemon with its own
// store decides in memory and reports every 2 seconds, so a crash forgets at most those. Daemons that share a store ask it
// for each request; requests that come meanwhile are counted together. Callers decide which requests count
// (http/access.ts).

import { CodedError, errorOf, messageOf } from '../base/caught.ts';
import { DAY_MS } from '../base/durations.ts';
import type { Log } from '../base/log.ts';
import type { Usage, UsageAnswer, UsageRequest } from '../store/usage.ts';

export interface DayUsage {
  /** Requests allowed per day; null: any number. */
  readonly limit: number | null;
  /** By all daemons as far as known. */
  readonly used: number;
  /** Null: no limit. */
  readonly remaining: number | null;
  /** The next 00:00 UTC, milliseconds since the epoch. */
  readonly resetAtMs: number;
}

/** Whether a request is admitted, and the use after it. */
export interface Decision extends DayUsage {
  readonly admitted: boolean;
}

/**
 * The effective limit of a user; null: none.
 *
 * @param requestsPerDay  of the user; null: the default
 * @param defaultLimit    of the instance; null: none
 */
export function limitOf(
  requestsPerDay: number | 'unlimited' | null,
  defaultLimit: number | null,
): number | null {
  return requestsPerDay === 'unlimited' ? null : (requestsPerDay ?? defaultLimit);
}

export const RATE_LIMIT_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

/** None without a limit. */
export function rateLimitHeaders(usage: DayUsage): Readonly<Record<string, string>> {
  const { limit, remaining, resetAtMs } = usage;
  if (limit === null) return {};
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(resetAtMs / 1000),
  };
}

/** At least 1. */
export function retryAfterSeconds({ resetAtMs }: DayUsage, nowMs: number): number {
  return Math.max(1, Math.ceil((resetAtMs - nowMs) / 1000));
}

export function refusalMessage({ limit }: DayUsage, contact: string): string {
  return (
    `The limit of ${limit ?? 0} requests per day is reached. It resets at 00:00 UTC. ` +
    `To request a higher limit, ask ${contact}.`
  );
}

/** The ledger cannot decide now. Nothing was counted. */
export class LedgerError extends CodedError<'NOT_READY' | 'SERVER_OVERLOADED'> {
  override readonly name = 'LedgerError';
}

export interface LedgerOptions {
  readonly store: Usage;
  readonly log: Log;
  /** How long requests are admitted without the store after it failed; they are reported when it is back. */
  readonly creditMs: number;
  /** Users in memory; 100,000. Bound: each takes about 300 bytes. Idle ones beyond it are dropped. */
  readonly entryCountMax?: number;
}

/** Interval of reports. */
const TICK_MS = 2_000;
const WAITER_COUNT_MAX = 1_000;
/** Requests admitted for an unknown user while the store fails: others may have used the limit up. */
const UNKNOWN_CREDIT_MAX = 32;
/** Users per transaction. Measured: 2026-11-21: 128 block the event loop for 2 ms if embedded. */
const BATCH_MAX = 128;
/** Stands for no limit, so that one rule counts all requests. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

interface Waiter {
  readonly resolve: (decision: Decision) => void;
  readonly reject: (error: Error) => void;
}

interface Entry {
  readonly userId: string;
  readonly day: number;
  /** The store has answered; else `used` counts only this daemon. */
  isLoaded: boolean;
  used: number;
  /** Admitted here, and not yet counted in the store. */
  uncounted: number;
  /** The limit at the last request. */
  cap: number;
  /** Requested since the last tick. */
  isActive: boolean;
  readonly waiters: Waiter[];
}

export class Ledger {
  readonly #options: LedgerOptions;
  readonly #store: Usage;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  /** By day, as the clock may be set back, and user. */
  readonly #days = new Map<number, Map<string, Entry>>();
  #day = Number.NaN;
  #today = new Map<string, Entry>();
  readonly #due = new Set<Entry>();
  #syncing: Promise<void> | undefined;
  /** Since the store failed; undefined: it answers. */
  #failedTickCount: number | undefined;
  #isClosed = false;

  constructor(options: LedgerOptions) {
    const { store, log } = options;
    this.#options = options;
    this.#store = store;
    this.#log = log.labelled('limits');
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /**
   * Counts a request, if it is admitted.
   *
   * @param limit  current requests per day of this user; null: any number
   * @returns      the decision; a promise of it if the store must be asked
   * Errors (of the promise): LedgerError; those of the store, such as NOT_READY, after which a shared store may have
   * counted the request nevertheless.
   * Cost: 1 us if the store is not asked.
   */
  take(userId: string, limit: number | null, nowMs: number): Decision | Promise<Decision> {
    if (this.#isClosed) return Promise.reject(closedError());
    const entry = this.#entryOf(userId, Math.floor(nowMs / DAY_MS));
    entry.cap = limit ?? UNLIMITED;
    entry.isActive = true;
    if (entry.used >= entry.cap) return refuse(entry, entry.cap);
    // Requests behind waiting ones wait too: `used` is without those until the store answers.
    const isKnown = entry.isLoaded && entry.waiters.length === 0;
    if (isKnown && !this.#store.isShared) return admit(entry);
    if (!this.#hasCredit(entry)) return this.#wait(entry);
    this.#query(entry);
    return admit(entry);
  }

  /** A user's use today. Errors: NOT_READY of the store. */
  async usageOf(userId: string, limit: number | null, nowMs: number): Promise<DayUsage> {
    const day = Math.floor(nowMs / DAY_MS);
    const entry = this.#days.get(day)?.get(userId);
    const isCached = entry?.isLoaded === true && !this.#store.isShared;
    const used = isCached ? entry.used : await this.#store.read(userId, dayText(day));
    return usage(day, limit ?? UNLIMITED, used);
  }

  get entryCount(): number {
    return [...this.#days.values()].reduce((count, entries) => count + entries.size, 0);
  }

  /** Reports everything; a failing store is tried three times. Waiting requests fail with NOT_READY. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#syncing;
    for (const entry of this.#entries()) rejectAll(entry, closedError());
    for (let count = 0; count < 3; count++) {
      const unreported = [...this.#entries()].filter(({ uncounted }) => uncounted > 0);
      if (unreported.length === 0) return;
      if (count > 0) await new Promise((resolve) => void setTimeout(resolve, 200));
      for (const entry of unreported) this.#query(entry);
      await this.#syncing;
    }
  }

  #entryOf(userId: string, day: number): Entry {
    if (day !== this.#day) this.#startDay(day);
    let entry = this.#today.get(userId);
    if (entry === undefined) {
      const counts = { isLoaded: false, used: 0, uncounted: 0, cap: 0, isActive: true };
      entry = { userId, day, ...counts, waiters: [] };
      this.#today.set(userId, entry);
    }
    return entry;
  }

  #startDay(day: number): void {
    this.#day = day;
    this.#today = this.#days.get(day) ?? new Map();
    this.#days.set(day, this.#today);
    this.#store.prune().catch((error: unknown) => {
      this.#log.warn(`old request counts were not removed: ${messageOf(error)}`);
    });
  }

  /** Whether the request may be admitted although the store fails. */
  #hasCredit({ used, cap, isLoaded }: Entry): boolean {
    if (this.#failedTickCount === undefined) return false;
    if (this.#failedTickCount * TICK_MS >= this.#options.creditMs) return false;
    return used < (isLoaded ? cap : Math.min(cap, UNKNOWN_CREDIT_MAX));
  }

  #wait(entry: Entry): Promise<Decision> {
    if (entry.waiters.length >= WAITER_COUNT_MAX) {
      const message = 'too many requests of one user at once';
      return Promise.reject(new LedgerError('SERVER_OVERLOADED', message));
    }
    return new Promise((resolve, reject) => {
      entry.waiters.push({ resolve, reject });
      this.#query(entry);
    });
  }

  /** Reports and asks for a user soon. */
  #query(entry: Entry): void {
    this.#due.add(entry);
    this.#syncing ??= this.#sync();
  }

  /** Sends what is due, some users at a time. Errors: none. */
  async #sync(): Promise<void> {
    // Requests of the same turn are counted together.
    await Promise.resolve();
    while (this.#due.size > 0) {
      const batch: Entry[] = [];
      for (const entry of this.#due) {
        if (batch.length === BATCH_MAX) break;
        this.#due.delete(entry);
        if (entry.uncounted > 0 || entry.waiters.length > 0) batch.push(entry);
      }
      if (batch.length === 0) continue;
      const requests = batch.map(requestOf);
      try {
        const answers = await this.#store.count(requests);
        this.#failedTickCount = undefined;
        for (const [i, entry] of batch.entries()) applyAnswer(entry, requests[i]!, answers[i]!);
      } catch (error) {
        this.#fail(batch, errorOf(error));
      }
    }
    this.#syncing = undefined;
  }

  /**
   * Also fails users that are due but not in this batch, since the store would keep them waiting just as long. The next tick
   * reports their counts.
   */
  #fail(batch: readonly Entry[], error: Error): void {
    if (this.#failedTickCount === undefined)
      this.#log.error(`requests cannot be counted: ${error.message}`);
    this.#failedTickCount ??= 0;
    for (const entry of [...batch, ...this.#due]) {
      while (entry.waiters.length > 0 && this.#hasCredit(entry))
        entry.waiters.shift()!.resolve(admit(entry));
      rejectAll(entry, error);
    }
    this.#due.clear();
  }

  /** Reports, and drops idle users of other days and beyond the bound. */
  #tick(): void {
    if (this.#failedTickCount !== undefined) this.#failedTickCount++;
    let excessCount = this.entryCount - (this.#options.entryCountMax ?? 100_000);
    for (const entry of this.#entries()) {
      const isIdle = !entry.isActive && entry.uncounted === 0 && entry.waiters.length === 0;
      entry.isActive = false;
      if (entry.uncounted > 0) this.#query(entry);
      else if (isIdle && (excessCount > 0 || entry.day !== this.#day)) {
        this.#days.get(entry.day)?.delete(entry.userId);
        excessCount--;
      }
    }
    for (const [day, entries] of this.#days)
      if (entries.size === 0 && day !== this.#day) this.#days.delete(day);
  }

  *#entries(): Generator<Entry> {
    for (const entries of this.#days.values()) yield* entries.values();
  }
}

/** `YYYY-MM-DD`. */
function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

function usage(day: number, cap: number, used: number): DayUsage {
  const limit = cap === UNLIMITED ? null : cap;
  // A lowered limit may be below the use.
  const remaining = limit === null ? null : Math.max(0, limit - used);
  return { limit, used, remaining, resetAtMs: (day + 1) * DAY_MS };
}

/** Admits one request, which is reported later. */
function admit(entry: Entry): Decision {
  entry.used++;
  entry.uncounted++;
  return { admitted: true, ...usage(entry.day, entry.cap, entry.used) };
}

function refuse({ day, used }: Entry, cap: number): Decision {
  return { admitted: false, ...usage(day, cap, Math.max(used, cap)) };
}

function requestOf({ userId, day, uncounted, waiters, cap }: Entry): UsageRequest {
  return { userId, day: dayText(day), uncounted, need: waiters.length, limit: cap };
}

function applyAnswer(
  entry: Entry,
  { uncounted, need, limit }: UsageRequest,
  { used, admitted }: UsageAnswer,
): void {
  entry.uncounted -= uncounted;
  entry.used = used + entry.uncounted;
  entry.isLoaded = true;
  for (const [index, { resolve }] of entry.waiters.splice(0, need).entries())
    if (index >= admitted) resolve(refuse(entry, limit));
    else resolve({ admitted: true, ...usage(entry.day, limit, used - admitted + index + 1) });
}

function rejectAll(entry: Entry, error: Error): void {
  for (const { reject } of entry.waiters.splice(0)) reject(error);
}

function closedError(): LedgerError {
  return new LedgerError('NOT_READY', 'the daemon is stopping');
}
