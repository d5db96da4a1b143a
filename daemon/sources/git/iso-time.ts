// Times of commits as text. A commit may claim any time, also one outside the calendar.

/** Source: RFC 3339 has four digits for a year. */
const SECONDS_MAX = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;

/** Seconds since 1970 as ISO 8601 in UTC; undefined after the year 9999 and for invalid times. */
export function isoTimeOf(seconds: number): string | undefined {
  const isTime = Number.isFinite(seconds) && seconds >= 0 && seconds <= SECONDS_MAX;
  return isTime ? new Date(seconds * 1000).toISOString() : undefined;
}
