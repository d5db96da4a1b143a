// The ledger: what is decided at once, what is counted when, days, several daemons, failures of the store, random
// histories against a model; and the headers and refusals that callers get.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  type Decision,
  LedgerError,
  limitOf,
  rateLimitHeaders,
  refusalMessage,
  retryAfterSeconds,
} from '../../daemon/accounts/limits.ts';
import {
  advance,
  Daemon,
  DAY_MS,
  MemoryUsage,
  NOON_MS,
  settle,
  stopTime,
  TODAY,
} from './limits-harness.ts';
import { type LimitsWorld, play, steps } from './limits-model.ts';

const MIDNIGHT_MS = NOON_MS + DAY_MS / 2;

stopTime();

interface Scene {
  readonly store: MemoryUsage;
  readonly open: () => Daemon;
}

function scene(isShared: boolean): Scene {
  const store = new MemoryUsage(isShared);
  return { store, open: () => new Daemon(store, { entryCountMax: 1_000 }) };
}

function isPromise(value: Decision | Promise<Decision>): value is Promise<Decision> {
  return value instanceof Promise;
}

/** Admitted or refused, and what remains. */
function short({ admitted, remaining }: Decision): string {
  return `${admitted ? 'yes' : 'no'} ${remaining ?? '-'}`;
}

for (const isShared of [false, true]) {
  const kind = isShared ? 'shared store' : 'own store';

  test(`${kind}: a request at the limit is refused without a store query`, async () => {
    const { open, store } = scene(isShared);
    const { ledger } = open();
    for (let i = 0; i < 3; i++) await ledger.take('u', 2, NOON_MS);
    const before = store.countCount;
    for (let i = 0; i < 100; i++) {
      const decision = ledger.take('u', 2, NOON_MS);
      assert.ok(!isPromise(decision));
      assert.equal(decision.admitted, false);
    }
    assert.equal(store.countCount, before);
  });

  test(`${kind}: usage of a day includes requests counted by other processes`, async () => {
    const { open } = scene(isShared);
    const first = open();
    for (let i = 0; i < 4; i++) await first.ledger.take('u', 10, NOON_MS);
    const usage = { used: 4, resetAtMs: MIDNIGHT_MS };
    const limited = { ...usage, limit: 10, remaining: 6 };
    assert.deepEqual(await first.ledger.usageOf('u', 10, NOON_MS), limited);
    assert.deepEqual(await first.ledger.usageOf('u', 3, NOON_MS), {
      ...usage,
      limit: 3,
      remaining: 0,
    });
    await first.ledger.close();
    const second = open();
    assert.deepEqual(await second.ledger.usageOf('u', null, NOON_MS), {
      ...usage,
      limit: null,
      remaining: null,
    });
    assert.deepEqual(await second.ledger.usageOf('nobody', 10, NOON_MS), {
      ...limited,
      used: 0,
      remaining: 10,
    });
    await advance(100);
  });

  test(`${kind}: the number of users in memory is bounded; idle ones are evicted`, async () => {
    const { store, open } = scene(isShared);
    const { ledger } = open();
    for (let i = 0; i < 1_500; i++) await ledger.take(`u${i}`, 50, NOON_MS);
    await advance(2_000);
    for (let i = 1_400; i < 1_500; i++) await ledger.take(`u${i}`, 50, NOON_MS);
    await advance(2_000);
    assert.equal(ledger.entryCount, 1_000);
    if (!isShared) assert.ok(!isPromise(ledger.take('u1450', 50, NOON_MS)));
    assert.equal(short(await ledger.take('u7', 50, NOON_MS)), 'yes 48');
    await advance(2_000);
    assert.equal(store.usedOn('u7', TODAY), 2);
  });

  test(`${kind}: while the store is unavailable requests are admitted on credit and counted later`, async () => {
    const { store } = scene(isShared);
    const { ledger } = new Daemon(store, { creditMs: 60_000 });
    const take = (userId: string): Promise<Decision> =>
      settle(Promise.resolve(ledger.take(userId, 100, NOON_MS)));
    assert.equal(short(await take('known')), 'yes 99');
    store.failures = Array<'before'>(1_000).fill('before');
    for (let used = 2; used < 50; used++)
      assert.equal(short(await take('known')), `yes ${100 - used}`);
    // Of whom nothing is known, some are: it may have used them up elsewhere.
    for (let used = 1; used <= 32; used++)
      assert.equal((await take('new')).admitted, true, String(used));
    await assert.rejects(take('new'));
    store.failures = [];
    for (let whenRunning = 0; whenRunning < 3; whenRunning++) await advance(2_000);
    assert.equal(store.usedOn('known', TODAY), 49);
    // What was never leased may be forgotten, as after a crash.
    assert.ok(store.usedOn('new', TODAY) <= 32);
    // No longer than it was said.
    store.failures = Array<'before'>(1_000).fill('before');
    await take('third');
    await advance(60_000);
    await assert.rejects(take('fourth'));
  });

  test(`${kind}: requests of a user wait in a bounded queue`, async () => {
    const { store, open } = scene(isShared);
    const { ledger } = open();
    const release = store.pause();
    const all = Array.from({ length: 1_005 }, async () => ledger.take('u', 2_000, NOON_MS));
    const outcome = Promise.allSettled(all);
    await advance(10);
    release();
    const outcomes = await settle(outcome);
    const rejected = outcomes.filter((one) => one.status === 'rejected');
    assert.equal(rejected.length, 5);
    for (const { reason } of rejected) {
      assert.ok(reason instanceof LedgerError);
      assert.equal(reason.errorCode, 'SERVER_OVERLOADED');
    }
  });

  test(`${kind}: many users at once cost few transactions`, async () => {
    const { store, open } = scene(isShared);
    const { ledger } = open();
    const all = Array.from({ length: 2_000 }, async (_, i) => ledger.take(`u${i}`, 5, NOON_MS));
    const decisions = await settle(Promise.all(all));
    assert.ok(decisions.every(({ admitted }) => admitted));
    assert.ok(store.countCount <= 40, `${store.countCount} transactions`);
  });

  test(`${kind}: old counts are pruned once a day`, async () => {
    const { store, open } = scene(isShared);
    const { ledger } = open();
    for (const atMs of [NOON_MS, NOON_MS, MIDNIGHT_MS, MIDNIGHT_MS + 1]) {
      await ledger.take('u', 5, atMs);
      await advance(2_000);
    }
    assert.equal(store.pruneCount, 2);
  });
}

test('own store: after the first request decisions need no query', async () => {
  const { open } = scene(false);
  const { ledger } = open();
  await ledger.take('u', 10_000, NOON_MS);
  for (let i = 2; i < 10; i++) {
    const decision = ledger.take('u', 10_000, NOON_MS);
    assert.ok(!isPromise(decision));
    assert.equal(short(decision), `yes ${10_000 - i}`);
  }
});

test('own store: requests during a report are neither lost nor admitted again', async () => {
  const { store, open } = scene(false);
  const { ledger } = open();
  for (let i = 0; i < 3; i++) await ledger.take('u', 10, NOON_MS);
  const release = store.pause();
  await advance(2_000);
  for (let i = 0; i < 4; i++) await ledger.take('u', 10, NOON_MS);
  release();
  await advance(10);
  assert.equal(short(await ledger.take('u', 10, NOON_MS)), 'yes 2');
  await ledger.close();
  assert.equal(store.usedOn('u', TODAY), 8);
});

test('own store: on shutdown a failing store is retried', async () => {
  const { store, open } = scene(false);
  const daemon = open();
  for (let i = 0; i < 7; i++) await daemon.ledger.take('u', 10_000, NOON_MS);
  store.failures = ['before', 'before'];
  await settle(daemon.ledger.close());
  assert.deepEqual(store.usedOn('u', TODAY), 7);
  const other = open();
  for (let i = 0; i < 2; i++) await other.ledger.take('u', 10_000, NOON_MS);
  store.failures = Array<'before'>(100).fill('before');
  await settle(other.ledger.close());
  assert.equal(store.failures.length, 97);
});

test('shared store: concurrent requests are counted in one transaction', async () => {
  const { store, open } = scene(true);
  const { ledger } = open();
  const all = Array.from({ length: 50 }, async () => ledger.take('u', 40, NOON_MS));
  const decisions = await settle(Promise.all(all));
  assert.equal(decisions.filter(({ admitted }) => admitted).length, 40);
  assert.ok(store.countCount <= 2, `${store.countCount} transactions`);
  assert.equal(store.usedOn('u', TODAY), 40);
});

function memoryWorld(isShared: boolean): LimitsWorld {
  const store = new MemoryUsage(isShared);
  let nowMs = 0;
  return {
    isShared,
    nowMs: () => nowMs,
    open: () => new Daemon(store),
    advance: (ms) => {
      nowMs += ms;
      return advance(ms);
    },
    // The embedded store has no lost answers: it ends transactions in the same call.
    fail: (when) => void store.failures.push(isShared ? when : 'before'),
    heal: () => {
      store.failures = [];
    },
    read: (userId, day) => store.read(userId, day),
  };
}

for (const [name, isShared, daemonCount] of [
  ['own store, one daemon', false, 1],
  ['shared store, one daemon', true, 1],
  ['shared store, three daemons', true, 3],
] as const) {
  for (const hasFailures of [false, true]) {
    test(`${name}${hasFailures ? ', failures' : ''}: random histories match the model`, async () => {
      await fc.assert(
        fc.asyncProperty(steps(hasFailures), async (script) => {
          await play(memoryWorld(isShared), daemonCount, script);
        }),
        { numRuns: 150 },
      );
    });
  }
}

test('which limit applies', () => {
  assert.equal(limitOf(null, 10_000), 10_000);
  assert.equal(limitOf(null, null), null);
  assert.equal(limitOf(0, 10_000), 0);
  assert.equal(limitOf(5, null), 5);
  assert.equal(limitOf('unlimited', 10_000), null);
});

test('headers: decimal integers, the reset in seconds; none without a limit', () => {
  const usage = { limit: 10_000, used: 1, remaining: 9_999, resetAtMs: MIDNIGHT_MS };
  assert.deepEqual(rateLimitHeaders(usage), {
    'X-RateLimit-Limit': '10000',
    'X-RateLimit-Remaining': '9999',
    'X-RateLimit-Reset': '1780358400',
  });
  assert.deepEqual(rateLimitHeaders({ ...usage, limit: null, remaining: null }), {});
});

test('the refusal names limit, reset and contact; Retry-After is rounded up, at least 1', () => {
  const usage = { limit: 250, used: 250, remaining: 0, resetAtMs: MIDNIGHT_MS };
  const text = refusalMessage(usage, 'ops@example.com');
  assert.match(
    text,
    /\b250 requests per day\b.*\b00:00 UTC\b.*higher limit, ask ops@example\.com\.$/,
  );
  for (const [beforeMs, seconds] of [
    [86_400_000, 86_400],
    [1_001, 2],
    [1_000, 1],
    [0, 1],
    [-5_000, 1],
  ] as const)
    assert.equal(retryAfterSeconds(usage, MIDNIGHT_MS - beforeMs), seconds);
});
