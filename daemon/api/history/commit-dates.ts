// Parses dates that select commits (API.md 12.4), relative ones from now in UTC. A date without a time is the whole
// day.

import { z } from 'zod';
import { instantText } from '../shapes/input.ts';

const DAY_SECONDS = 86_400;

/** In seconds; months and years, whose length varies, are counted in months. */
const UNIT_SECONDS: Readonly<Record<string, number>> = {
  second: 1,
  minute: 60,
  hour: 3600,
  day: DAY_SECONDS,
  week: 7 * DAY_SECONDS,
};
const UNIT_MONTHS: Readonly<Record<string, number>> = { month: 1, year: 12 };

const AGO = /^(\d{1,9}) +(second|minute|hour|day|week|month|year)s? +ago$/;
const UNITS: Readonly<Record<string, readonly [count: number, unit: string]>> = {
  yesterday: [1, 'day'],
  'last week': [1, 'week'],
  'last month': [1, 'month'],
  'last year': [1, 'year'],
};

const instant = instantText();

/** The end of the day that a date without a time stands for. */
export type DayEnd = 'start' | 'end';

/** `now` in ms since 1970. Whole seconds since 1970, at least 0; undefined: not a date. */
export function parseCommitDate(text: string, dayEnd: DayEnd, now: number): number | undefined {
  const relative = parseRelative(text.trim().toLowerCase().replaceAll(/\s+/g, ' '));
  if (relative !== undefined) return clamp(before(now, ...relative));
  const parsed = instant.safeParse(text);
  if (!parsed.success) return undefined;
  const ms = Date.parse(parsed.data);
  const isDay = !text.includes('T');
  if (dayEnd === 'start') return clamp(Math.ceil(ms / 1000));
  return clamp(Math.floor(ms / 1000) + (isDay ? DAY_SECONDS - 1 : 0));
}

function parseRelative(text: string): readonly [count: number, unit: string] | undefined {
  const [, count, unit] = AGO.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return [Number(count), unit];
  return Object.hasOwn(UNITS, text) ? UNITS[text] : undefined;
}

/** Seconds since 1970 at that time before now; -Infinity for very early times. */
function before(now: number, count: number, unit: string): number {
  const months = UNIT_MONTHS[unit];
  if (months === undefined) return Math.floor(now / 1000) - count * (UNIT_SECONDS[unit] ?? 1);
  const date = new Date(now);
  date.setUTCMonth(date.getUTCMonth() - count * months);
  const ms = date.getTime();
  return Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : Math.floor(ms / 1000);
}

function clamp(seconds: number): number {
  return Math.max(0, seconds);
}

export interface CommitDate {
  readonly text: string;
  /** Since 1970. */
  readonly seconds: number;
}

export function commitDateText(dayEnd: DayEnd) {
  const error = 'expected an ISO 8601 date or date-time, `N days ago`, `yesterday` or `last week`';
  return z
    .string({ error })
    .transform((text, context): CommitDate => {
      const seconds = parseCommitDate(text, dayEnd, Date.now());
      if (seconds !== undefined) return { text, seconds };
      context.addIssue({ code: 'custom', message: error });
      return z.NEVER;
    })
    .meta({ override: { type: 'string' } });
}
