// State of one user on one day in this daemon: requests used, requests not yet reported to the store, and waiting requests.
// ledger.ts decides when each step runs.

import type { UsageAnswer, UsageRequest } from '../../store/usage.ts';
import { type Decision, remainingOf, resetAtMs } from './decision.ts';

/** Stands for no limit, so that requests without a limit are counted by the same rules. */
export const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** A request that waits for the store's answer. */
export interface Waiter {
  readonly cap: number;
  readonly resolve: (decision: Decision) => void;
  readonly reject: (error: Error) => void;
}

export interface Entry {
  readonly userId: string;
  readonly day: number;
  /** False: `used` counts only this daemon. */
  isLoaded: boolean;
  /** By all daemons as far as known, including everything of this one. */
  used: number;
  /** Admitted by this daemon, and not yet counted in the store. */
  uncounted: number;
  /** Requests since the last tick, refused ones included. */
  takeCount: number;
  idleTickCount: number;
  waiters: Waiter[];
  /** A request to the store is due or running. */
  isAsking: boolean;
  /** The user is idle: dropped after the last report. */
  isLeaving: boolean;
}

export function newEntry(userId: string, day: number): Entry {
  return {
    userId,
    day,
    isLoaded: false,
    used: 0,
    uncounted: 0,
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
  entry.uncounted++;
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
 * Builds the report and request to the store.
 *
 * @param isShared  other daemons count this user too; else this daemon's count is authoritative
 */
export function requestOf(entry: Entry, isShared: boolean): UsageRequest {
  const { userId, waiters, uncounted, used, isLoaded } = entry;
  const limit = waiters[0]?.cap ?? UNLIMITED;
  const firstOther = waiters.findIndex(({ cap }) => cap !== limit);
  const need = firstOther < 0 ? waiters.length : firstOther;
  // Why the difference: a total may safely arrive twice, but only a daemon with its own store knows it.
  return isShared
    ? { userId, uncounted, atLeast: 0, need, limit }
    : { userId, uncounted: 0, atLeast: isLoaded ? used : uncounted, need: 0, limit };
}

/** Applies the answer to `request`, and resolves the waiters it decides. `uncounted` is the value at the time of the request. */
export function takeIn(
  entry: Entry,
  request: UsageRequest,
  uncounted: number,
  answer: UsageAnswer,
  isShared: boolean,
): void {
  entry.uncounted -= uncounted;
  entry.used = answer.used + entry.uncounted;
  entry.isLoaded = true;
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

/** Rejects all waiters. */
export function rejectAll(entry: Entry, error: Error): void {
  for (const waiter of entry.waiters.splice(0)) waiter.reject(error);
}
