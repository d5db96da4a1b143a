// Random sequences of operations on the store and on a plain model of it: every result and every refusal is
// the same, on both engines.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { addToList } from '../../daemon/base/lists.ts';
import type { Store } from '../../daemon/store/store.ts';
import { onBothEngines } from './harness.ts';
import { Model } from './model.ts';

/** What may stand where an operation wants an id or hash: the n-th last of those that were made. */
interface Slot {
  readonly of: 'user' | 'key' | 'token' | 'hash';
  readonly n: number;
  /** Of a hash: another group than that of the operation. */
  readonly ofGroup?: string;
}

/** A hash that was not there before, as in life. */
const NEW_HASH = { of: 'new' } as const;

/** An operation as data: its group, its name, its arguments with slots in them. */
type Step = readonly [group: string, name: string, ...values: unknown[]];

type Group = Readonly<Record<string, (...values: unknown[]) => unknown>>;

const small = fc.nat({ max: 6 });
const hash = fc.nat({ max: 14 }).map((n): Slot => ({ of: 'hash', n }));
const time = fc.nat({ max: 5 });
const user = small.map((n): Slot => ({ of: 'user', n }));
const key = small.map((n): Slot => ({ of: 'key', n }));
const token = small.map((n): Slot => ({ of: 'token', n }));
const email = small.map((n) => [` E${n}@example.com`, `e${n}@EXAMPLE.com `][n % 2]);
const text = fc.constantFrom('', 'a', "'", '%', 'ü🙂', 'bootstrap');
const role = fc.constantFrom('OWNER', 'MEMBER');
const seats = fc.constantFrom({}, {}, { seatMax: 2 }, { seatMax: 4 });
const updateOptions = fc.oneof(
  seats,
  fc.record({ sessionHash: hash.map((slot): Slot => ({ ...slot, ofGroup: 'sessions' })) }),
);
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

/** One of these groups and operations, with values. */
function op(
  groups: string,
  names: string,
  ...values: readonly fc.Arbitrary<unknown>[]
): fc.Arbitrary<Step> {
  const [group, name] = [groups, names].map((text) => fc.constantFrom(...text.split(' ')));
  return fc.tuple(group!, name!, ...values);
}

const making: fc.Arbitrary<Step> = fc.oneof(
  op('users', 'create', fc.record({ email, name: text, role }), seats),
  op('users', 'update', user, changes, updateOptions),
  op(
    'sessions',
    'create',
    fc.record({ hash: fc.constant(NEW_HASH), userId: user, createdAt: time, expiresAt: time }),
  ),
  op(
    'setupLinks',
    'create',
    fc.record({
      hash: fc.constant(NEW_HASH),
      userId: fc.option(user, { nil: null }),
      createdAt: time,
      expiresAt: suspendedAt,
    }),
  ),
  op('apiKeys', 'create', fc.record({ userId: user, name: text, hash: fc.constant(NEW_HASH) })),
  op(
    'scopedTokens',
    'create',
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
  op('grants', 'add remove', user, repoIds),
  op('audit', 'append', fc.array(record, { maxLength: 4 })),
  op('settings', 'set', text, text),
);

const other: fc.Arbitrary<Step> = fc.oneof(
  op('users', 'remove get', user),
  op('users', 'byEmail', email),
  op('users', 'list count countActive'),
  op('users', 'touch', user, time),
  op('sessions', 'byHash remove', hash),
  op('sessions', 'renew', hash, time),
  op('users', 'pruneExpired', time),
  op('audit', 'prune', time),
  op('setupLinks', 'find', hash, time),
  op('setupLinks', 'removeFirstOwnerLinks'),
  op('apiKeys', 'byHash', hash),
  op('apiKeys', 'get remove', key),
  op('apiKeys', 'remove', key, user),
  op('apiKeys', 'list'),
  op('apiKeys', 'list', user),
  op('apiKeys', 'replaceBootstrap', user, fc.oneof(hash, fc.constant(NEW_HASH))),
  op('apiKeys', 'touch', key, time),
  op('scopedTokens', 'byHash', hash),
  op('scopedTokens', 'listActive', user, time),
  op('scopedTokens', 'revoke', token, user, time),
  op('grants', 'repoIdsOf', user),
  op('grants', 'listOfRepo', fc.nat({ max: 9 }), page),
  op('grants', 'listOfUser', user, page),
  op('audit', 'list', period),
  op('settings', 'get remove', text),
  op('settings', 'all'),
);

const step = fc.oneof(making, other);

/** Runs one sequence; every step must agree. Returns how many were not refused. */
async function run(store: Store, steps: readonly Step[], clock: { now: number }): Promise<number> {
  const model = new Model();
  const made: Record<Exclude<Slot['of'], 'hash'>, string[]> = { user: [], key: [], token: [] };
  /** By group. */
  const hashes = new Map<string, string[]>();
  let hashCount = 0;
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
        const fresh = `${hashCount++}`.padStart(64, '0');
        addToList(hashes, group, fresh);
        return fresh;
      }
      const { of, n, ofGroup = group } = value as Slot;
      const existing = of === 'hash' ? (hashes.get(ofGroup) ?? []) : made[of];
      return existing.at(-1 - (n % (existing.length + 1))) ?? 'none';
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
  for (const group of ['sessions', 'apiKeys', 'scopedTokens'] as const)
    for (const hash of hashes.get(group) ?? [])
      assert.deepEqual(await store[group].byHash(hash), model[group].byHash(hash), group);
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
        within(async (location) => {
          const clock = { now: 0 };
          const store = await location.open({ now: () => clock.now });
          doneCount += await run(store, steps, clock);
        }),
      ),
      { numRuns: kind === 'embedded' ? 20 : 6 },
    );
    assert.ok(doneCount > 500, `${doneCount} operations`);
  });
});
