// Passwords: which are allowed, only the right one matches, unknown users cost the same work, and hashing has a
// bounded queue.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOptions } from '@node-rs/argon2';
import { NOBODY_HASH, Passwords, isPasswordAllowed } from '../../daemon/accounts/passwords.ts';
import { toApiError } from '../../daemon/api/shapes/api-error.ts';

const passwords = new Passwords();

const LENGTHS: readonly (readonly [password: string, isAllowed: boolean])[] = [
  ['', false],
  ['1234567', false],
  ['12345678', true],
  ['        ', true],
  ['x'.repeat(256), true],
  ['x'.repeat(257), false],
  ['\u{1F600}'.repeat(7), false],
  ['\u{1F600}'.repeat(8), true],
  ['\u{1F600}'.repeat(256), true],
  ['\u{1F600}'.repeat(257), false],
  ['x'.repeat(1_000_000), false],
  ['e\u0301'.repeat(7), false],
  ['e\u0301'.repeat(8), true],
];

for (const [password, isAllowed] of LENGTHS) {
  test(`length: ${password.slice(0, 20)} (${password.length} units)`, async () => {
    assert.equal(isPasswordAllowed(password), isAllowed);
    if (!isAllowed) await assert.rejects(passwords.hash(password), RangeError);
  });
}

test('only the right password matches', async () => {
  const right = 'correct horse \u{1F40E}';
  const kept = await passwords.hash(right);
  assert.match(kept, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  assert.ok(!kept.includes('horse'));
  assert.equal(await passwords.verify(kept, right), true);
  const wrong = [
    `${right} `,
    right.toUpperCase(),
    right.slice(1),
    '',
    right + '\0',
    'x'.repeat(9999),
  ];
  for (const password of wrong) assert.equal(await passwords.verify(kept, password), false);
});

test('all characters of the longest password count', async () => {
  const long = '\u{1F600}'.repeat(256);
  const kept = await passwords.hash(long);
  assert.equal(await passwords.verify(kept, long), true);
  assert.equal(await passwords.verify(kept, `${long.slice(0, -2)}\u{1F601}`), false);
  assert.equal(await passwords.verify(kept, `${long}x`), false);
});

test('each hash has its own salt', async () => {
  assert.notEqual(await passwords.hash('same password'), await passwords.hash('same password'));
});

test('accented letters match in composed and decomposed form', async () => {
  const kept = await passwords.hash('cafe\u0301 au lait');
  assert.equal(await passwords.verify(kept, 'caf\u00e9 au lait'), true);
});

test('without a user or a password the check fails after the same work', async () => {
  assert.deepEqual(parseOptions(NOBODY_HASH), parseOptions(await passwords.hash('12345678')));
  for (const kept of [undefined, null]) {
    assert.equal(await passwords.verify(kept, 'any password'), false);
    assert.equal(await passwords.verify(kept, ''), false);
  }
});

test('a damaged stored hash is an error, not a mismatch', async () => {
  await assert.rejects(passwords.verify('$argon2id$broken', '12345678'));
  assert.equal(await passwords.verify(undefined, '12345678'), false); // the turn was given back
});

test('few hashes run, few wait, more are refused', async () => {
  const small = new Passwords({ runningMax: 2, waitingMax: 3 });
  const all = Array.from({ length: 9 }, () => small.verify(undefined, 'some password'));
  const outcomes = await Promise.allSettled(all);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    [...Array<string>(5).fill('fulfilled'), ...Array<string>(4).fill('rejected')],
  );
  const { reason } = outcomes[8] as PromiseRejectedResult;
  assert.equal(toApiError(reason)?.statusCode, 503);
  assert.equal(toApiError(reason)?.errorCode, 'SERVER_OVERLOADED');
  assert.deepEqual(toApiError(reason)?.headers, { 'Retry-After': '1' });
  // All places are free again.
  const again = Array.from({ length: 5 }, () => small.verify(undefined, 'some password'));
  assert.equal((await Promise.allSettled(again)).filter((o) => o.status === 'fulfilled').length, 5);
});

test('setting passwords does not block sign-ins', async () => {
  const shared = new Passwords();
  const made = Array.from({ length: 60 }, () => shared.hash('a new password'));
  const kept = Promise.allSettled(made);
  assert.equal(await shared.verify(undefined, 'some password'), false);
  const refused = (await kept).filter(({ status }) => status === 'rejected');
  assert.equal(refused.length, 60 - 9);
});
