// What a daemon knows of one user on one day: how much is used, what of it the store has not heard of, and who waits.
// Plain state and its steps; when they happen is in ledger.ts.

import type { UsageAnswer, UsageRequest } from '../../store/usage.ts';
import { type Decision, remainingOf, resetAtMs } from './decision.ts';

/** Stands for no limit, so that requests without a limit are counted by the same rules. */
export const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** A request that waits for an answer of the store. */
export interface Waiter {
  readonly cap: number;
  readonly resolve: (decision: Decision) => void;
  readonly reject: (error: Error) => void;
}

export interface Entry {
  readonly userId: string;
  readonly day: number;
  /** False: `used` is but what this daemon has admitted. */
  isKnown: boolean;
  /** By all daemons as far as known, all of this one included. */
  used: number;
  /** Admitted by this daemon, and not yet counted in the store. */
  owed: number;
  /** Requests since the last tick, refused ones included. */
  takeCount: number;
  idleTickCount: number;
  waiters: Waiter[];
  /** A request to the store is due or on its way. */
  isAsking: boolean;
  /** The user is idle: what is owed is reported, then nothing is kept. */
  isLeaving: boolean;
}

export function newEntry(userId: string, day: number): Entry {
  return {
    userId,
    day,
    isKnown: false,
    used: 0,
    owed: 0,
    takeCount: 0,
    idleTickCount: 0,
    waiters: [],
    isAsking: false,
    isLeaving: false,
  };
}

/** Admits one request, which is reported later. */
export function admit(entry: Entry, cap: number): Decision {
  entry.used++;
  entry.owed++;
  return decision(entry, cap, entry.used, true);
}

export function refusal(entry: Entry, cap: number): Decision {
  return decision(entry, cap, cap, false);
}

function decision({ day }: Entry, cap: number, used: number, admitted: boolean): Decision {
  const limit = cap === UNLIMITED ? null : cap;
  return { admitted, limit, remaining: remainingOf(limit, used), resetAtMs: resetAtMs(day) };
}

/**
 * What to report, and to ask for.
 *
 * @param isShared  others count for this user too; else what is used is what this daemon says
 */
export function requestOf(entry: Entry, isShared: boolean): UsageRequest {
  const { userId, waiters, owed, used, isKnown } = entry;
  const limit = waiters[0]?.cap ?? UNLIMITED;
  const firstOther = waiters.findIndex(({ cap }) => cap !== limit);
  const need = firstOther < 0 ? waiters.length : firstOther;
  // Why the difference: what is said as a whole may arrive twice, and a daemon alone knows it.
  return isShared
    ? { userId, owed, atLeast: 0, need, limit }
    : { userId, owed: 0, atLeast: isKnown ? used : owed, need: 0, limit };
}

/** Takes in the answer to `request`, and answers the waiters that it decides on. `owed` is what was owed when it was made. */
export function takeIn(
  entry: Entry,
  request: UsageRequest,
  owed: number,
  answer: UsageAnswer,
  isShared: boolean,
): void {
  entry.owed -= owed;
  entry.used = answer.used + entry.owed;
  entry.isKnown = true;
  const usedBefore = answer.used - answer.admitted;
  for (const [index, waiter] of entry.waiters.splice(0, answer.admitted).entries())
    waiter.resolve(decision(entry, request.limit, usedBefore + index + 1, true));
  for (let first = entry.waiters[0]; first !== undefined; first = entry.waiters[0]) {
    const isUsedUp = entry.used >= first.cap;
    if (isShared && !isUsedUp) return;
    entry.waiters.shift();
    first.resolve(isUsedUp ? refusal(entry, first.cap) : admit(entry, first.cap));
  }
}

/** Answers all waiters with an error. */
export function rejectAll(entry: Entry, error: Error): void {
  for (const waiter of entry.waiters.splice(0)) waiter.reject(error);
}
