// What callers are told: which limit holds, the headers, the refusal.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  limitOf,
  rateLimitHeaders,
  refusalMessage,
  retryAfterSeconds,
} from '../../../daemon/accounts/limits/answer.ts';

const RESET_MS = Date.UTC(2026, 5, 2);

test('which limit holds', () => {
  assert.equal(limitOf(null, 10_000), 10_000);
  assert.equal(limitOf(null, null), null);
  assert.equal(limitOf(0, 10_000), 0);
  assert.equal(limitOf(50_000, 10_000), 50_000);
  assert.equal(limitOf(5, null), 5);
  assert.equal(limitOf('unlimited', 10_000), null);
});

test('headers: decimal integers, the reset in seconds; none without a limit', () => {
  const decision = { admitted: true, limit: 10_000, remaining: 9_999, resetAtMs: RESET_MS };
  assert.deepEqual(rateLimitHeaders(decision), {
    'X-RateLimit-Limit': '10000',
    'X-RateLimit-Remaining': '9999',
    'X-RateLimit-Reset': '1780358400',
  });
  assert.deepEqual(rateLimitHeaders({ ...decision, limit: null, remaining: null }), {});
});

test('seconds until the reset: rounded up, at least 1', () => {
  const decision = { admitted: false, limit: 1, remaining: 0, resetAtMs: RESET_MS };
  const table: [beforeMs: number, seconds: number][] = [
    [86_400_000, 86_400],
    [1_001, 2],
    [1_000, 1],
    [1, 1],
    [0, 1],
    [-5_000, 1],
  ];
  for (const [beforeMs, seconds] of table) {
    assert.equal(retryAfterSeconds(decision, RESET_MS - beforeMs), seconds);
  }
});

test('the refusal says the limit, when it resets, and whom to ask', () => {
  const decision = { admitted: false, limit: 250, remaining: 0, resetAtMs: RESET_MS };
  const text = refusalMessage(decision, 'ops@example.com');
  assert.match(text, /\b250 requests per day\b/);
  assert.match(text, /\b00:00 UTC\b/);
  assert.match(text, /higher limit, ask ops@example\.com\.$/);
});
