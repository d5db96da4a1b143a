// The ledger's decision on a request, and its days: UTC days, numbered from the epoch.

import { DAY_MS } from '../../base/durations.ts';

/** Whether a request is admitted. */
export interface Decision {
  readonly admitted: boolean;
  /** Requests allowed per day; null: any number. */
  readonly limit: number | null;
  /**
   * Remaining requests today, after this one; null: no limit. Requests admitted by other daemons in the last seconds may be
   * missing, but not near the limit, where it matters.
   */
  readonly remaining: number | null;
  /** The next 00:00 UTC, milliseconds since the epoch. */
  readonly resetAtMs: number;
}

/** A user's use of its limit on one day. */
export interface DayUsage {
  readonly limit: number | null;
  readonly used: number;
  readonly remaining: number | null;
  readonly resetAtMs: number;
}

export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS);
}

/** `YYYY-MM-DD`. */
export function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** The end of a day, milliseconds since the epoch. */
export function resetAtMs(day: number): number {
  return (day + 1) * DAY_MS;
}

/** What remains of a limit; a lowered limit may be below the use. */
export function remainingOf(limit: number | null, used: number): number | null {
  return limit === null ? null : Math.max(0, limit - used);
}
