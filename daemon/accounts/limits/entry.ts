// What a daemon knows of one user on one day: how many requests it may still admit by itself (`left`), what
// it has admitted and reported, and who waits. Plain state and its steps; when they happen is in ledger.ts.

import type { UsageAnswer, UsageRequest } from '../store/usage-exchange.ts';
import { remainingOf, resetAtMs } from './decision.ts';
import type { Decision } from './decision.ts';

/** Stands for no limit, so that requests without a limit are counted by the same rules. */
export const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** Numbers to ask for, of a store that several daemons share: about what is used between two reports. */
export const WANT_MIN = 32;
const WANT_MAX = 4_096;

/** A request that waits for an answer of the store. */
export interface Waiter {
  readonly cap: number;
  readonly resolve: (decision: Decision) => void;
  readonly reject: (error: Error) => void;
}

export interface Entry {
  readonly userId: string;
  readonly day: number;
  /** The limit that `left` was taken from. */
  cap: number;
  /** By all daemons as far as known, all of this one included. */
  used: number;
  /** False: `used` is not yet known. */
  isKnown: boolean;
  /** Requests that may be admitted without asking, before `deadlineMs`. */
  left: number;
  /** What `left` was at the last answer. */
  granted: number;
  /** By the clock of the ledger. */
  deadlineMs: number;
  /** Admitted by this daemon. */
  total: number;
  /** How much of `total` is known to be counted in the store. */
  reported: number;
  /** The highest total that was sent. */
  sent: number;
  /** Numbers to ask for beyond what is needed. */
  want: number;
  /** Requests since the last tick, refused ones included. */
  takeCount: number;
  idleTickCount: number;
  waiters: Waiter[];
  /** A request to the store is due or on its way. */
  isAsking: boolean;
  /** More numbers are asked for while some are left. */
  isRefilling: boolean;
  /** Others lack numbers, as the store or they themselves said. */
  isWanted: boolean;
  /** Others gave numbers back after the last request to the store was made. */
  isReturned: boolean;
  /** Nothing is to be kept: the user is idle. */
  isLeaving: boolean;
  /** Ends the wait for numbers of other daemons. */
  cancelRetry: (() => void) | undefined;
  /** When numbers began to lack that others hold. */
  shortSinceMs: number | undefined;
}

export function newEntry(userId: string, day: number, want: number): Entry {
  return {
    userId,
    day,
    cap: 0,
    used: 0,
    isKnown: false,
    left: 0,
    granted: 0,
    deadlineMs: 0,
    total: 0,
    reported: 0,
    sent: 0,
    want,
    takeCount: 0,
    idleTickCount: 0,
    waiters: [],
    isAsking: false,
    isRefilling: false,
    isWanted: false,
    isReturned: false,
    isLeaving: false,
    cancelRetry: undefined,
    shortSinceMs: undefined,
  };
}

/** Admits one request. The caller has checked that one is left. */
export function useOne(entry: Entry): Decision {
  entry.left--;
  entry.used++;
  entry.total++;
  return decision(entry, entry.cap, entry.used, true);
}

/** Admits one request that nothing is left for: it is reported like others. */
export function useCredit(entry: Entry, cap: number): Decision {
  entry.used++;
  entry.total++;
  return decision(entry, cap, entry.used, true);
}

export function refusal(entry: Entry, cap: number): Decision {
  return decision(entry, cap, cap, false);
}

function decision({ day }: Entry, cap: number, used: number, admitted: boolean): Decision {
  const limit = cap === UNLIMITED ? null : cap;
  return { admitted, limit, remaining: remainingOf(limit, used), resetAtMs: resetAtMs(day) };
}

/** Has this daemon anything that others could miss: numbers, or requests not yet reported? */
export function holdsAny(entry: Entry): boolean {
  return entry.left > 0 || entry.total !== entry.reported;
}

/** Is it time to ask for more: little is left, and others have not got the rest? */
export function isLow(entry: Entry): boolean {
  if (entry.isAsking || entry.isWanted || entry.left * 4 >= entry.granted) return false;
  return entry.cap - entry.used > entry.left;
}

/** Doubles what is asked for: it was used up before the next tick. */
export function wantMore(entry: Entry): void {
  if (entry.want < WANT_MAX) entry.want *= 2;
}

/** Fits what is asked for to the requests since the last tick. */
export function fitWant(entry: Entry): void {
  if (entry.want > WANT_MAX) return;
  entry.want = Math.min(WANT_MAX, Math.max(WANT_MIN, entry.takeCount * 2));
}

/** What to report and to ask for now. From here on nothing is left that the request does not keep. */
export function requestOf(entry: Entry, holder: string): UsageRequest {
  const cap = entry.waiters[0]?.cap ?? entry.cap;
  const firstOther = entry.waiters.findIndex((waiter) => waiter.cap !== cap);
  const need = firstOther < 0 ? entry.waiters.length : firstOther;
  const isReturn = entry.isWanted && holdsAny(entry);
  const isLeaving = entry.isLeaving && need === 0;
  if (cap !== entry.cap || entry.isWanted || isLeaving) entry.left = 0;
  const isAskingMore = !entry.isWanted && !isLeaving && (need > 0 || entry.isRefilling);
  entry.isReturned = false;
  const baseline = entry.sent;
  entry.sent = entry.total;
  return {
    userId: entry.userId,
    holder,
    total: entry.total,
    baseline,
    need,
    keep: entry.left,
    want: isAskingMore ? entry.want : 0,
    limit: cap,
    isReturn,
    isFinal: isLeaving,
  };
}

/**
 * Takes in the answer to `request`, and answers the waiters that it decides on.
 *
 * @param deadlineMs  until when the numbers may be used
 */
export function takeIn(
  entry: Entry,
  request: UsageRequest,
  answer: UsageAnswer,
  deadlineMs: number,
): void {
  // What was kept may have been used meanwhile.
  const usedMeanwhile = entry.total - request.total;
  entry.total += answer.admitted;
  entry.reported = request.total + answer.admitted;
  entry.sent = entry.reported;
  entry.cap = request.limit;
  entry.used = answer.used + usedMeanwhile;
  entry.isKnown = true;
  entry.left = Math.max(0, answer.size - usedMeanwhile);
  entry.granted = entry.left;
  entry.deadlineMs = deadlineMs;
  entry.isWanted = answer.isWanted;
  const admitted = entry.waiters.splice(0, answer.admitted);
  const usedBefore = answer.used - answer.admitted;
  for (const [index, waiter] of admitted.entries()) {
    waiter.resolve(decision(entry, entry.cap, usedBefore + index + 1, true));
  }
  serve(entry);
}

/** Answers the first waiters as long as that needs no answer of the store. */
function serve(entry: Entry): void {
  for (let first = entry.waiters[0]; first !== undefined; first = entry.waiters[0]) {
    const isAdmitted = first.cap === entry.cap && entry.left > 0;
    if (!isAdmitted && entry.used < first.cap) return;
    entry.waiters.shift();
    first.resolve(isAdmitted ? useOne(entry) : refusal(entry, first.cap));
  }
}

/** Answers all waiters with an error. */
export function rejectAll(entry: Entry, error: Error): void {
  for (const waiter of entry.waiters.splice(0)) waiter.reject(error);
}
