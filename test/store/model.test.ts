// Random sequences of operations on the store and on a plain model of it: every result and every refusal is
// the same, on both engines.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Store } from '../../daemon/store/store.ts';
import { onBothEngines } from './harness.ts';
import { Model } from './model.ts';

/** What may stand where an operation wants an id or hash: the n-th last of those that were made. */
interface Slot {
  readonly of: 'user' | 'key' | 'token' | 'hash';
  readonly n: number;
}

/** A hash that was not there before, as in life. */
const NEW_HASH = { of: 'new' } as const;

/** An operation as data: its group, its name, its arguments with slots in them. */
type Step = readonly [group: string, name: string, ...values: unknown[]];

type Group = Readonly<Record<string, (...values: unknown[]) => unknown>>;

const small = fc.nat({ max: 6 });
const hash = fc.nat({ max: 14 }).map((n): Slot => ({ of: 'hash', n }));
const time = fc.nat({ max: 20 });
const user = small.map((n): Slot => ({ of: 'user', n }));
const key = small.map((n): Slot => ({ of: 'key', n }));
const token = small.map((n): Slot => ({ of: 'token', n }));
const email = small.map((n) => [` E${n}@example.com`, `e${n}@EXAMPLE.com `][n % 2]);
const text = fc.constantFrom('', 'a', "'", '%', 'ü🙂', 'bootstrap');
const role = fc.constantFrom('OWNER', 'MEMBER');
const seats = fc.constantFrom({}, {}, { seatMax: 2 }, { seatMax: 4 });
const repoIds = fc.array(fc.nat({ max: 9 }), { maxLength: 6 });
const page = fc.record({ offset: fc.nat({ max: 3 }), limit: fc.nat({ max: 5 }) });
const period = fc.record(
  { offset: fc.nat({ max: 3 }), limit: fc.nat({ max: 5 }), since: time, until: time },
  { requiredKeys: ['offset', 'limit'] },
);
const suspendedAt = fc.option(time, { nil: null });
const record = fc.record({
  timestamp: time,
  action: text,
  actorId: text,
  actorType: fc.constantFrom('user', 'api_key'),
  targetId: text,
  targetType: text,
  productVersion: text,
  metadata: fc.constantFrom(null, {}, { a: ['ü', 1.5, { b: null }] }),
  orgId: text,
});
const changes = fc.record(
  {
    name: fc.option(text, { nil: null }),
    role,
    suspendedAt,
    passwordHash: fc.option(text, { nil: null }),
    requestsPerDay: fc.constantFrom(null, 'unlimited', 0, 10_000),
  },
  { requiredKeys: [] },
);

const making: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(
    fc.constant('users'),
    fc.constant('create'),
    fc.record({ email, name: text, role }),
    seats,
  ),
  fc.tuple(fc.constant('users'), fc.constant('update'), user, changes, seats),
  fc.tuple(
    fc.constant('sessions'),
    fc.constant('create'),
    fc.record({ hash: fc.constant(NEW_HASH), userId: user, createdAt: time, expiresAt: time }),
  ),
  fc.tuple(
    fc.constant('setupLinks'),
    fc.constant('create'),
    fc.record({
      hash: fc.constant(NEW_HASH),
      userId: fc.option(user, { nil: null }),
      createdAt: time,
      expiresAt: suspendedAt,
    }),
  ),
  fc.tuple(
    fc.constant('apiKeys'),
    fc.constant('create'),
    fc.record({ userId: user, name: text, hash: fc.constant(NEW_HASH) }),
  ),
  fc.tuple(
    fc.constant('scopedTokens'),
    fc.constant('create'),
    fc.record({
      id: fc.constant(NEW_HASH),
      hash: fc.constant(NEW_HASH),
      userId: user,
      apiKeyId: key,
      repoIds,
      createdAt: time,
      expiresAt: time,
    }),
  ),
  fc.tuple(fc.constant('grants'), fc.constantFrom('add', 'remove'), user, repoIds),
  fc.tuple(fc.constant('audit'), fc.constant('append'), fc.array(record, { maxLength: 4 })),
  fc.tuple(fc.constant('settings'), fc.constant('set'), text, text),
);

const other: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.constant('users'), fc.constantFrom('remove', 'get'), user),
  fc.tuple(fc.constant('users'), fc.constant('byEmail'), email),
  fc.tuple(fc.constant('users'), fc.constantFrom('list', 'count', 'countActive')),
  fc.tuple(fc.constant('users'), fc.constant('touch'), user, time),
  fc.tuple(fc.constant('sessions'), fc.constantFrom('byHash', 'remove'), hash),
  fc.tuple(fc.constant('sessions'), fc.constant('renew'), hash, time),
  fc.tuple(fc.constant('sessions'), fc.constant('removeAllOf'), user, hash),
  fc.tuple(
    fc.constantFrom('sessions', 'scopedTokens', 'setupLinks', 'audit'),
    fc.constant('prune'),
    time,
  ),
  fc.tuple(fc.constant('setupLinks'), fc.constantFrom('take', 'find'), hash, time),
  fc.tuple(fc.constant('setupLinks'), fc.constant('removeFirstOwnerLinks')),
  fc.tuple(fc.constant('apiKeys'), fc.constant('byHash'), hash),
  fc.tuple(fc.constant('apiKeys'), fc.constantFrom('get', 'remove'), key),
  fc.tuple(fc.constant('apiKeys'), fc.constant('remove'), key, user),
  fc.tuple(fc.constant('apiKeys'), fc.constant('list')),
  fc.tuple(fc.constant('apiKeys'), fc.constant('list'), user),
  fc.tuple(
    fc.constant('apiKeys'),
    fc.constant('replaceBootstrap'),
    user,
    fc.oneof(hash, fc.constant(NEW_HASH)),
  ),
  fc.tuple(fc.constant('apiKeys'), fc.constant('touch'), key, time),
  fc.tuple(fc.constant('scopedTokens'), fc.constant('byHash'), hash),
  fc.tuple(fc.constant('scopedTokens'), fc.constant('listActive'), user, time),
  fc.tuple(fc.constant('scopedTokens'), fc.constant('revoke'), token, user, time),
  fc.tuple(fc.constant('grants'), fc.constant('repoIdsOf'), user),
  fc.tuple(fc.constant('grants'), fc.constant('listOfRepo'), fc.nat({ max: 9 }), page),
  fc.tuple(fc.constant('grants'), fc.constant('listOfUser'), user, page),
  fc.tuple(fc.constant('audit'), fc.constant('list'), period),
  fc.tuple(fc.constant('settings'), fc.constantFrom('get', 'remove'), text),
  fc.tuple(fc.constant('settings'), fc.constant('all')),
);

const step = fc.oneof(making, other);

/** Runs one sequence; every step must agree. Returns how many were not refused. */
async function run(store: Store, steps: readonly Step[], clock: { now: number }): Promise<number> {
  const model = new Model();
  const made: Record<Slot['of'], string[]> = { user: [], key: [], token: [], hash: [] };
  let doneCount = 0;
  for (const [index, [group, name, ...values]] of steps.entries()) {
    clock.now = index;
    model.now = index;
    const fillIn = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(fillIn);
      if (typeof value !== 'object' || value === null) return value;
      if (!('of' in value)) {
        return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, fillIn(v)]));
      }
      if (value.of === 'new') {
        made.hash.push(`${made.hash.length}`.padStart(64, '0'));
        return made.hash.at(-1);
      }
      const { of, n } = value as Slot;
      return made[of].at(-1 - (n % (made[of].length + 1))) ?? 'none';
    };
    const filled = values.map(fillIn);
    const operation = (store[group as keyof Store] as unknown as Group)[name]!;
    const oracle = (model[group as keyof Model] as unknown as Group)[name]!;
    const actual = await outcome(() => operation(...filled));
    const result = actual.result as { id?: string } | undefined;
    model.id = result?.id ?? '';
    const expected = await outcome(() => oracle(...filled));
    assert.deepEqual(withoutIds(group, actual), expected, `${group}.${name}`);
    if (actual.errorCode !== undefined) continue;
    doneCount++;
    if (group === 'users' && name === 'create') made.user.push(model.id);
    if (group === 'apiKeys' && model.id !== '') made.key.push(model.id);
    if (group === 'scopedTokens' && name === 'create') {
      made.token.push((filled[0] as { id: string }).id);
    }
  }
  return doneCount;
}

interface Outcome {
  readonly result?: unknown;
  readonly errorCode?: string;
}

async function outcome(call: () => unknown): Promise<Outcome> {
  try {
    return { result: structuredClone(await call()) };
  } catch (error) {
    const { errorCode } = error as { errorCode?: string };
    if (errorCode === undefined || errorCode === 'NOT_READY') throw error;
    return { errorCode };
  }
}

/** Ids of audit records mean nothing to anybody. */
function withoutIds(group: string, outcome: Outcome): Outcome {
  const { result } = outcome as { result?: { rows?: { id: string }[] } };
  if (group === 'audit') result?.rows?.forEach((row) => (row.id = ''));
  return outcome;
}

onBothEngines('the store agrees with its model', ({ within, kind }) => {
  test('in random sequences of operations', async () => {
    let doneCount = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 50, maxLength: 200, size: 'max' }), (steps) =>
        within(async (place) => {
          const clock = { now: 0 };
          const store = await place.open({ now: () => clock.now });
          doneCount += await run(store, steps, clock);
        }),
      ),
      {
        numRuns: kind === 'embedded' ? 30 : 10,
      },
    );
    assert.ok(doneCount > 500, `${doneCount} operations`);
  });
});
