// Failed sign-ins: after ten for an e-mail or an address further ones are blocked for a while.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { SignInLimiter, type SignInOutcome } from '../../daemon/accounts/sign-in-limiter.ts';

const MINUTE_MS = 60_000;
const WINDOW_MS = 15 * MINUTE_MS;
const START_MS = 1_780_000_000_000;

/** One sign-in from start to end; the seconds to wait. */
function tryOnce(
  limiter: SignInLimiter,
  [email, address]: readonly [string, string],
  outcome: SignInOutcome,
  nowMs: number,
): number {
  const attempt = { email, address };
  const wait = limiter.begin(attempt, nowMs);
  if (wait === 0) limiter.end(attempt, outcome, nowMs);
  return wait;
}

test('a success clears the failures of the e-mail, not those of the address', () => {
  const limiter = new SignInLimiter();
  for (let i = 0; i < 9; i++) tryOnce(limiter, ['a@x.org', '10.0.0.1'], 'failed', START_MS);
  assert.equal(tryOnce(limiter, ['a@x.org', '10.0.0.1'], 'succeeded', START_MS), 0);
  assert.equal(tryOnce(limiter, ['b@x.org', '10.0.0.1'], 'failed', START_MS), 0);
  assert.equal(tryOnce(limiter, ['b@x.org', '10.0.0.1'], 'failed', START_MS), 900);
  for (let i = 0; i < 10; i++) {
    assert.equal(tryOnce(limiter, ['a@x.org', '10.0.0.2'], 'failed', START_MS), 0);
  }
  assert.equal(tryOnce(limiter, ['a@x.org', '10.0.0.3'], 'failed', START_MS), 900);
});

test('nobody can lock a person out at an address where that person signed in before', () => {
  for (const isSession of [true, false]) {
    const limiter = new SignInLimiter();
    const own = ['a@x.org', '10.0.0.1'] as const;
    if (isSession) limiter.noteKnownAddress({ email: own[0], address: own[1] });
    else assert.equal(tryOnce(limiter, own, 'succeeded', START_MS), 0);
    for (let i = 0; i < 10; i++) {
      tryOnce(limiter, ['A@x.org', `10.0.1.${i}`], 'failed', START_MS);
      tryOnce(limiter, [`u${i}@x.org`, '10.0.0.1'], 'failed', START_MS);
    }
    assert.equal(tryOnce(limiter, ['a@x.org', '10.0.1.99'], 'failed', START_MS), 900);
    assert.equal(tryOnce(limiter, ['b@x.org', '10.0.0.1'], 'failed', START_MS), 900);
    // Its own mistakes count there, ten of them.
    for (let i = 0; i < 10; i++) assert.equal(tryOnce(limiter, own, 'failed', START_MS), 0);
    assert.equal(tryOnce(limiter, own, 'succeeded', START_MS), 900);
    assert.equal(tryOnce(limiter, own, 'succeeded', START_MS + WINDOW_MS), 0);
    // That gives nothing to those who fail elsewhere.
    assert.equal(tryOnce(limiter, ['a@x.org', '10.0.1.99'], 'failed', START_MS + 1), 900);
  }
});

test('pending attempts do not count for ever when an address becomes trusted', () => {
  const limiter = new SignInLimiter();
  const tries = Array.from({ length: 10 }, () => ({ email: 'a@x.org', address: '10.0.0.1' }));
  for (const one of tries) assert.equal(limiter.begin(one, START_MS), 0);
  for (const one of tries) limiter.end(one, 'succeeded', START_MS);
  assert.equal(tryOnce(limiter, ['a@x.org', '10.0.0.9'], 'failed', START_MS), 0);
  assert.equal(tryOnce(limiter, ['b@x.org', '10.0.0.1'], 'failed', START_MS), 0);
});

test('pending attempts count, and are waited for up to a second', () => {
  const limiter = new SignInLimiter();
  const attempt = { email: 'a@x.org', address: '10.0.0.1' };
  const waits = Array.from({ length: 12 }, () => limiter.begin(attempt, START_MS));
  assert.deepEqual(waits, [...Array<number>(10).fill(0), 1, 1]);
  limiter.end(attempt, 'abandoned', START_MS);
  assert.equal(limiter.begin(attempt, START_MS), 0);
  for (let i = 0; i < 10; i++) limiter.end(attempt, 'failed', START_MS + 5);
  assert.equal(limiter.begin(attempt, START_MS + 5), 900);
});

test('a clock that is set back makes nobody wait longer than 15 minutes', () => {
  const limiter = new SignInLimiter();
  for (let i = 0; i < 10; i++) tryOnce(limiter, ['a@x.org', 'x'], 'failed', START_MS + 1e9);
  assert.equal(tryOnce(limiter, ['a@x.org', 'x'], 'failed', START_MS), 900);
  assert.equal(tryOnce(limiter, ['a@x.org', 'x'], 'failed', START_MS + WINDOW_MS), 0);
});

test('memory is bounded; the latest entries stay', () => {
  const limiter = new SignInLimiter({ rememberedMax: 50 });
  for (let i = 0; i < 10; i++) tryOnce(limiter, ['old@x.org', `a${i}`], 'failed', START_MS);
  for (let i = 0; i < 10; i++) tryOnce(limiter, ['new@x.org', `b${i}`], 'failed', START_MS);
  for (let i = 0; i < 49; i++) tryOnce(limiter, [`u${i}@x.org`, `c${i}`], 'failed', START_MS);
  assert.equal(tryOnce(limiter, ['new@x.org', 'd'], 'failed', START_MS), 900);
  assert.equal(tryOnce(limiter, ['old@x.org', 'd'], 'failed', START_MS), 0);
});

test('behaves as a list of all failures', () => {
  const step = fc.record({
    email: fc.constantFrom('a', 'b'),
    /** The same address, as somebody writes it. */
    write: fc.constantFrom(
      (email: string) => email,
      (email: string) => ` ${email.toUpperCase()}`,
    ),
    address: fc.constantFrom('1', '2', '3'),
    outcome: fc.constantFrom<SignInOutcome>('failed', 'failed', 'failed', 'succeeded', 'abandoned'),
    pauseMs: fc.oneof(fc.nat(1000), fc.nat(3 * MINUTE_MS)),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const limiter = new SignInLimiter();
      let failures: { email: string; address: string; isOfEmail: boolean; timeMs: number }[] = [];
      const known = new Map<string, number[]>();
      let nowMs = START_MS;
      for (const { email, write, address, outcome, pauseMs } of steps) {
        nowMs += pauseMs;
        const knownFailures = known.get(`${email} ${address}`);
        if (knownFailures !== undefined) {
          const tenthMs = knownFailures.filter((timeMs) => timeMs > nowMs - WINDOW_MS).at(-10);
          const waitMs = tenthMs === undefined ? 0 : tenthMs + WINDOW_MS - nowMs;
          const wait = tryOnce(limiter, [write(email), address], outcome, nowMs);
          assert.equal(wait, Math.ceil(waitMs / 1000));
          if (wait > 0) continue;
          if (outcome === 'failed') knownFailures.push(nowMs);
          if (outcome === 'succeeded') knownFailures.length = 0;
          continue;
        }
        const recent = failures.filter(({ timeMs }) => timeMs > nowMs - WINDOW_MS);
        const tenth = [
          recent.filter((one) => one.email === email && one.isOfEmail).at(-10),
          recent.filter((one) => one.address === address).at(-10),
        ];
        const ends = tenth.map((one) => (one === undefined ? 0 : one.timeMs + WINDOW_MS - nowMs));
        const wait = tryOnce(limiter, [write(email), address], outcome, nowMs);
        assert.equal(wait, Math.ceil(Math.max(...ends) / 1000));
        if (wait > 0) continue;
        if (outcome === 'failed') failures.push({ email, address, isOfEmail: true, timeMs: nowMs });
        if (outcome !== 'succeeded') continue;
        known.set(`${email} ${address}`, []);
        failures = failures.map((one) =>
          one.email === email ? { ...one, isOfEmail: false } : one,
        );
      }
    }),
  );
});
