// Two real daemons on one PostgreSQL: shared request counts, credentials revoked everywhere, and a database that
// restarts under load.
// tier: ci (PostgreSQL)

import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { ENTITLEMENTS } from '../../daemon/accounts/licence.ts';
import { CLAIMS, HEADER, PAIR, token } from '../accounts/licences.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { POSTGRES_MISSING, startPostgres } from '../store/postgres-server.ts';
import { call, eventually, serveIndexed, type Served } from './daemon.ts';

const KEY = `svk_${'0123456789abcdef'.repeat(4)}`;
const PASSWORD = 'correct horse battery';
const NOW_SECONDS = Math.floor(Date.now() / 1000);
const LICENCE = token(HEADER, {
  ...CLAIMS,
  iat: NOW_SECONDS,
  exp: NOW_SECONDS + 86_400,
  seats: undefined,
  entitlements: ENTITLEMENTS,
});

const skip = POSTGRES_MISSING ?? false;
const postgres = skip === false ? await startPostgres() : undefined;
const daemons: Served[] = [];

if (postgres !== undefined) {
  const env = {
    TRAWL_DATABASE_URL: await postgres.createDatabase(),
    TRAWL_SECRET: 'one secret for both of the daemons',
    TRAWL_OWNER_EMAIL: 'owner@example.com',
    TRAWL_OWNER_PASSWORD: PASSWORD,
    TRAWL_OWNER_API_KEY: KEY,
    TRAWL_LICENSE_KEY: LICENCE,
    TRAWL_LICENSE_PUBLIC_KEY: PAIR.publicKey,
  };
  for (let i = 0; i < 2; i++)
    daemons.push(await serveIndexed(temporaryFolder(), [makeRepo({ 'a.txt': 'plum\n' })], { env }));
}

after(async () => {
  for (const { process } of daemons) await process.stop();
  await postgres?.remove();
});

async function send(
  { url }: Served,
  path: string,
  credential: Record<string, string>,
  method = 'GET',
  body?: unknown,
): Promise<Response> {
  const headers = { ...credential, origin: url };
  return call(`${url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

const asNobody = { authorization: `Bearer svk_${'0'.repeat(64)}` };
const asOwner = { authorization: `Bearer ${KEY}` };

void test('both count together exactly', { skip }, async () => {
  const [first, second] = daemons as [Served, Served];
  const users = (await (await send(first, '/api/ee/users', asOwner)).json()) as { id: string }[];
  const path = `/api/ee/user?userId=${users[0]!.id}`;
  const limited = await send(first, path, asOwner, 'PATCH', { requestsPerDay: 60 });
  assert.equal(limited.status, 200);
  // The other one hears of it soon.
  await eventually(async () => {
    const usage = (await (await send(second, '/api/user/usage', asOwner)).json()) as object;
    return 'limit' in usage && usage.limit === 60;
  });
  const replies = await Promise.all(
    Array.from({ length: 150 }, (_, i) =>
      send(i % 3 === 0 ? first : second, '/api/repos', asOwner),
    ),
  );
  const count = (status: number) => replies.filter((reply) => reply.status === status).length;
  assert.deepEqual([count(200), count(429)], [60, 90]);
  await send(second, path, asOwner, 'PATCH', { requestsPerDay: 'unlimited' });
  await eventually(async () => (await send(first, '/api/repos', asOwner)).status === 200);
});

void test('a key revoked at one daemon is revoked at the other', { skip }, async () => {
  const [first, second] = daemons as [Served, Served];
  const login = await send(first, '/api/auth/login', {}, 'POST', {
    email: 'owner@example.com',
    password: PASSWORD,
  });
  const cookie = { cookie: login.headers.get('set-cookie')!.split(';')[0]! };
  assert.equal((await send(second, '/api/repos', cookie)).status, 200);
  const made = await send(second, '/api/user/api_keys', cookie, 'POST', { name: 'other' });
  const { id, key } = (await made.json()) as { id: string; key: string };
  const asOther = { authorization: `Bearer ${key}` };
  for (const daemon of daemons)
    assert.equal((await send(daemon, '/api/repos', asOther)).status, 200);
  const ended = await send(second, `/api/user/api_keys/${id}`, cookie, 'DELETE');
  assert.equal(ended.status, 204);
  assert.equal((await send(second, '/api/repos', asOther)).status, 401);
  await eventually(async () => (await send(first, '/api/repos', asOther)).status === 401);
});

void test(
  'the database restarts under load: cached callers are served, others refused, then everything recovers',
  { skip },
  async () => {
    const statuses = new Set<number>();
    const end = new AbortController();
    const loads = daemons.map(async (daemon) => {
      while (!end.signal.aborted) statuses.add((await send(daemon, '/api/repos', asOwner)).status);
    });
    for (const mode of ['fast', 'immediate'] as const) {
      await postgres!.stop(mode);
      await eventually(
        async () => (await send(daemons[0]!, '/api/repos', asNobody)).status === 503,
      );
      const health = await call(`${daemons[0]!.url}/api/health`);
      assert.equal(health.status, 200);
      await postgres!.start();
      for (const daemon of daemons)
        await eventually(async () => (await send(daemon, '/api/repos', asNobody)).status === 401);
    }
    end.abort();
    await Promise.all(loads);
    // Whoever is not heard of again between two restarts is not known (test/accounts/store-unavailable.test.ts: those who are).
    assert.ok(statuses.has(200));
    for (const status of statuses) assert.ok(status === 200 || status === 503, String(status));
    for (const { process } of daemons) {
      const [displayed] = /.*(?:one secret for both|svk_|\n\s+at )/.exec(process.stderr) ?? [];
      assert.equal(displayed, undefined);
    }
  },
);
