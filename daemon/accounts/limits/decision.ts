// What the ledger says of a request, and the days that it counts by: UTC days, numbered from the epoch.

import { DAY_MS } from '../../base/durations.ts';

/** Whether a request is admitted. */
export interface Decision {
  readonly admitted: boolean;
  /** Requests allowed per day; null: any number. */
  readonly limit: number | null;
  /**
   * Requests left today, this one taken off; null: no limit. What other daemons have admitted in the last
   * seconds may be missing; from where it matters, near the end, nothing is.
   */
  readonly remaining: number | null;
  /** The next 00:00 UTC, milliseconds since the epoch. */
  readonly resetAtMs: number;
}

/** What a user has used of its limit on one day. */
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

/** What is left of a limit; a limit that was lowered may be below what is used. */
export function remainingOf(limit: number | null, used: number): number | null {
  return limit === null ? null : Math.max(0, limit - used);
}
