// Rate limits through HTTP (API.md 5): which requests count, which answers carry the headers, what the 429 says,
// exactness under concurrency, the change of the day, restarts.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { closeWorlds, repo, SEARCH_BODY, startWorld } from '../http/harness.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { NOW_MS } from './licences.ts';
import { startAccounts, type AccountsWorld } from './world.ts';

afterEach(closeWorlds);

const MIDNIGHT_MS = Date.parse('2026-06-02T00:00:00.000Z');
const BAD_BODY = { query: 'x', matches: 0 };

function limitOf(world: AccountsWorld, requestsPerDay: number | 'unlimited' | null) {
  return world.control.accounts.members.change(undefined, world.member.id, { requestsPerDay });
}

function headersOf(reply: { headers: Record<string, unknown> }) {
  const { headers } = reply;
  return ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'].map(
    (name) => headers[name],
  );
}

void test('every answer of a counted endpoint has the headers, failures too; others never', async () => {
  const world = await startAccounts();
  const { send, memberKey } = world;
  await limitOf(world, 10);
  const reset = String(MIDNIGHT_MS / 1000);
  for (const [method, target, remaining, body] of [
    ['POST', '/api/search', '9', SEARCH_BODY],
    ['POST', '/api/search', '8', BAD_BODY],
    ['GET', '/api/source?repo=x&path=y', '7'],
    ['HEAD', '/api/repos', '6'],
    ['POST', '/api/stream_search', '5', SEARCH_BODY],
  ] as const) {
    const reply = await send(method, target, memberKey, body);
    assert.deepEqual(headersOf(reply), ['10', remaining, reset]);
  }
  const none = [undefined, undefined, undefined];
  for (const [method, path] of [
    ['GET', '/api/health'],
    ['GET', '/api/user'],
    ['GET', '/api/nowhere'],
    ['PUT', '/api/search'],
    ['OPTIONS', '/api/search'],
  ] as const)
    assert.deepEqual(headersOf(await send(method, path, memberKey)), none, path);
  const cookie = await world.signIn('member@example.com');
  assert.deepEqual(headersOf(await send('POST', '/api/search', cookie, SEARCH_BODY)), none);
  assert.deepEqual(headersOf(await send('POST', '/api/search', undefined, SEARCH_BODY)), none);
  assert.deepEqual(headersOf(await send('GET', '/api/repos', memberKey)), ['10', '4', reset]);
});

void test('at the limit: 429 before any other check, with the remedy; raising it by n admits exactly n more', async () => {
  const world = await startAccounts({ settings: { rateLimit: { contact: 'ops@example.com' } } });
  const { send, memberKey } = world;
  await limitOf(world, 2);
  for (const status of [200, 200, 429, 429])
    assert.equal((await send('POST', '/api/search', memberKey, SEARCH_BODY)).status, status);
  const refused = await send('POST', '/api/search', memberKey, BAD_BODY);
  assert.equal(refused.code, 'API_RATE_LIMIT_EXCEEDED');
  assert.deepEqual(headersOf(refused), ['2', '0', String(MIDNIGHT_MS / 1000)]);
  assert.equal(Number(refused.headers['retry-after']), Math.ceil((MIDNIGHT_MS - NOW_MS) / 1000));
  const message = String(refused.json()['message']);
  assert.match(message, /2 requests per day.*00:00 UTC.*ops@example\.com/);
  await limitOf(world, 5);
  for (const status of [200, 200, 200, 429])
    assert.equal((await send('POST', '/api/search', memberKey, SEARCH_BODY)).status, status);
  await limitOf(world, 'unlimited');
  const free = await send('POST', '/api/search', memberKey, SEARCH_BODY);
  assert.deepEqual([free.status, ...headersOf(free)], [200, undefined, undefined, undefined]);
  await limitOf(world, 0);
  assert.equal((await send('POST', '/api/search', memberKey, SEARCH_BODY)).status, 429);
});

void test('keys and tokens of a user share its limit; the day ends at 00:00 UTC; a clock set back changes nothing', async () => {
  const world = await startAccounts({ repos: [repo(1, 'a')], nowMs: MIDNIGHT_MS - 1000 });
  const { send, memberKey, clock } = world;
  await limitOf(world, 3);
  const minted = await send('POST', '/api/ee/scoped_access_token', memberKey, { repoIds: [1] });
  const token = minted.json()['token'] as string;
  const cookie = await world.signIn('member@example.com');
  const made = await send('POST', '/api/user/api_keys', cookie, { name: 'two' });
  const second = made.json()['key'] as string;
  const status = async (as: string) => (await send('GET', '/api/repos', as)).status;
  assert.deepEqual(
    [await status(memberKey), await status(token), await status(second), await status(token)],
    [200, 200, 200, 429],
  );
  clock.nowMs = MIDNIGHT_MS;
  assert.deepEqual([await status(memberKey), await status(token)], [200, 200]);
  clock.nowMs = MIDNIGHT_MS - 1;
  assert.equal(await status(memberKey), 429);
  clock.nowMs = MIDNIGHT_MS + 1;
  assert.deepEqual([await status(second), await status(second)], [200, 429]);
});

void test('exactly the limit is admitted under concurrency, and a restart keeps the counts', async () => {
  const env = { TRAWL_DATA_DIR: temporaryFolder() };
  const world = await startAccounts({ env });
  await limitOf(world, 60);
  const many = async (count: number, one: AccountsWorld): Promise<number> => {
    const replies = await Promise.all(
      Array.from({ length: count }, () => one.send('GET', '/api/repos', world.memberKey)),
    );
    return replies.filter(({ status }) => status === 200).length;
  };
  assert.equal(await many(40, world), 40);
  assert.equal(await many(100, world), 20);
  assert.equal(await many(10, world), 0);
  await limitOf(world, 70);
  await world.close();
  const again = await startWorld({ kind: 'node', env, now: () => NOW_MS });
  const used = await again.control.ledger.usageOf(world.member.id, 70, NOW_MS);
  assert.deepEqual([used.used, used.remaining], [60, 10]);
  const headers = { authorization: `Bearer ${world.memberKey}` };
  const replies = await Promise.all(
    Array.from({ length: 30 }, () => again.call({ path: '/api/repos', headers })),
  );
  assert.equal(replies.filter(({ status }) => status === 200).length, 10);
});
