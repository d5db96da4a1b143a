// Access to the daemon: no key on loopback, an owner key, anonymous access, other machines, foreign Host headers.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { checkReply } from '../api/checker.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { call, get, post, send, serveIndexed, trawl } from './daemon.ts';

const KEY = `svk_${'0123456789abcdef'.repeat(4)}`;
const OWNER = { TRAWL_OWNER_EMAIL: 'owner@example.com', TRAWL_OWNER_API_KEY: KEY };

/** The status of a request of this server under another name. */
async function statusFor(url: string, host: string): Promise<number> {
  const reply = await send(`${url}/api/health`, { headers: { host } });
  checkReply({ method: 'GET', path: '/api/health' }, reply);
  return reply.status;
}

void test('with an owner key: only requests with it, and no foreign host name; the key is not stored', async () => {
  const dataDir = temporaryFolder();
  const served = await serveIndexed(dataDir, [makeRepo({ 'a.txt': 'plum\n' })], { env: OWNER });
  const cases: [Record<string, string>, number][] = [
    [{}, 401],
    [{ authorization: `Bearer ${KEY}` }, 200],
    [{ Authorization: `bearer ${KEY}` }, 200],
    [{ 'X-Service-Api-Key': KEY }, 200],
    [{ authorization: `Bearer ${KEY.replace(/f$/, 'e')}` }, 401],
    [{ authorization: KEY }, 401],
    [{ authorization: `Bearer wrong`, 'x-service-api-key': KEY }, 200],
  ];
  for (const [headers, status] of cases) {
    const answers = [
      await post<unknown>(served.url, { query: 'plum' }, headers),
      await get(`${served.url}/api/repos`, headers),
    ];
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [status, status],
      JSON.stringify(headers),
    );
  }
  assert.equal((await get(`${served.url}/api/health`)).status, 200);
  const client = { env: { TRAWL_API_KEY: KEY, TRAWL_URL: served.url } };
  assert.equal((await trawl(['search', 'plum'], client)).code, 0);
  const refused = await trawl(['search', 'plum', '--url', served.url]);
  assert.equal(refused.code, 2);
  assert.equal(refused.stdout, '');
  for (const [host, status] of [
    ['evil.example', 403],
    [new URL(served.url).host, 200],
    ['127.0.0.1', 200],
  ] as const)
    assert.equal(await statusFor(served.url, host), status, host);
  const { stderr } = await served.process.stop();
  assert.match(stderr, /^Try: curl .*\$TRAWL_API_KEY/m);
  assert.equal(stderr.includes(KEY), false);
  assert.equal(statSync(path.join(dataDir, 'secret')).mode & 0o777, 0o600);
  assert.equal(readFileSync(path.join(dataDir, 'index.db')).includes(KEY), false);
});

void test('a public address: nobody before there is an owner, then with a key or anonymously', async () => {
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  for (const host of ['0.0.0.0', '::']) {
    const served = await serveIndexed(temporaryFolder(), [repo], { flags: ['--host', host] });
    assert.equal((await post(served.url, { query: 'plum' })).status, 401);
    const [, link = ''] =
      /^Create the first account.*\n  (\S+)$/m.exec(served.process.stderr) ?? [];
    const { origin, searchParams } = new URL(link);
    // The link as it stands makes an account, whose session may search.
    const account = { email: 'me@example.com', name: 'Me', password: 'a long password' };
    const made = await call(`${origin}/api/auth/setup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: searchParams.get('token'), ...account }),
    });
    assert.equal(made.status, 201);
    const cookie = made.headers.get('set-cookie')?.split(';')[0] ?? '';
    const headers = { cookie, origin };
    assert.equal((await post(served.url, { query: 'plum' }, headers)).status, 200);
    await served.process.stop();
  }
  const open = await serveIndexed(temporaryFolder(), [repo], {
    env: OWNER,
    flags: ['--anonymous', '--host', '0.0.0.0'],
  });
  for (const headers of [{}, { authorization: `Bearer ${KEY}` }])
    assert.equal((await post(open.url, { query: 'plum' }, headers)).status, 200);
  await open.process.stop();
});

void test('bad variables: exit 2, the variable is named, secrets are not printed', async () => {
  const cases: [Record<string, string>, RegExp][] = [
    [{ TRAWL_OWNER_API_KEY: KEY }, /TRAWL_OWNER_EMAIL/],
    [{ ...OWNER, TRAWL_OWNER_API_KEY: 'svk_short' }, /TRAWL_OWNER_API_KEY/],
    [{ ...OWNER, TRAWL_SECRET: 'short' }, /TRAWL_SECRET/],
    [{ TRAWL_PORT: '70000' }, /port/i],
    [{ TRAWL_ANONYMOUS_ACCESS: 'yes' }, /TRAWL_ANONYMOUS_ACCESS/],
    [{ TRAWL_WORKERS: '0' }, /workers/i],
  ];
  for (const [env, message] of cases) {
    const { code, stderr } = await trawl(
      ['serve', '--data-dir', temporaryFolder(), makeRepo({ a: 'b' })],
      { env },
    );
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /svk_short|=short|\n\s+at /);
  }
});
