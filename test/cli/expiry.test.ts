// When something ends, as text: dates, times, durations, and what is none of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExpiry } from '../../daemon/cli/expiry.ts';

const NOW_MS = Date.UTC(2026, 5, 1, 12);

const GOOD: readonly (readonly [text: string, time: string])[] = [
  ['2030-12-31', '2030-12-31T00:00:00.000Z'],
  ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ['2030-12-31T18:00Z', '2030-12-31T18:00:00.000Z'],
  ['2030-12-31T18:00:01.5+02:00', '2030-12-31T16:00:01.500Z'],
  ['2001-01-01', '2001-01-01T00:00:00.000Z'],
  ['45s', '2026-06-01T12:00:45.000Z'],
  ['30m', '2026-06-01T12:30:00.000Z'],
  ['12h', '2026-06-02T00:00:00.000Z'],
  ['90d', '2026-08-30T12:00:00.000Z'],
];

test('when something ends', () => {
  for (const [text, time] of GOOD)
    assert.equal(new Date(parseExpiry(text, NOW_MS)).toISOString(), time, text);
});

const BAD = ['', '90', 'd', '0d', '-1d', '1.5d', '1y', '2030-02-30', '2030-13-01', '2030-1-1'];
const BAD_TIMES = ['2030-12-31T25:00Z', '2030-12-31T18:00', 'tomorrow', '99999999d', '1792000000'];

test('what is no end is refused', () => {
  for (const text of [...BAD, ...BAD_TIMES])
    assert.throws(() => parseExpiry(text, NOW_MS), /Give a date/, text);
});
