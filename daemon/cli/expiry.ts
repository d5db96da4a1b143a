// Parses an expiry: a date, a time, or a duration from now.

import { InvalidArgumentError } from 'commander';

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^(?<count>[1-9][0-9]{0,8})(?<unit>[smhd])$/;
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;
const REFUSAL =
  'Give a date (2030-12-31, from 00:00 UTC), a time (2030-12-31T18:00:00Z) ' +
  'or a duration from now (90d, 12h, 30m, 45s).';

/**
 * The expiry in ms since the epoch.
 *
 * Errors: InvalidArgumentError for any other text, days that do not exist, and years past 9999.
 */
export function parseExpiry(text: string, nowMs: number): number {
  const { count, unit } = DURATION.exec(text)?.groups ?? {};
  const timeMs = isUnit(unit) ? nowMs + Number(count) * UNIT_MS[unit] : parseDate(text);
  if (!Number.isFinite(timeMs) || timeMs > Date.UTC(9999, 11, 31)) {
    throw new InvalidArgumentError(REFUSAL);
  }
  return timeMs;
}

function isUnit(text: string | undefined): text is keyof typeof UNIT_MS {
  return text !== undefined && Object.hasOwn(UNIT_MS, text);
}

/** NaN if it is not a date. */
function parseDate(text: string): number {
  if (!DATE.test(text)) return Number.NaN;
  // Why: Date.parse reads February 30th as March 2nd.
  const day = text.slice(0, 10);
  const dayMs = Date.parse(day);
  const isDay = Number.isFinite(dayMs) && new Date(dayMs).toISOString().startsWith(day);
  return isDay ? Date.parse(text) : Number.NaN;
}
