// Who may ask: no key on loopback, an owner key, anonymous access, other machines, foreign Host headers.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import test from 'node:test';
import { checkReply } from '../api/checker.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { call, get, post, serveIndexed, trawl } from './daemon.ts';

const KEY = `svk_${'0123456789abcdef'.repeat(4)}`;
const OWNER = { TRAWL_OWNER_EMAIL: 'owner@example.com', TRAWL_OWNER_API_KEY: KEY };

void test('with an owner key: only requests that carry it; the key is kept nowhere', async () => {
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
  const { stderr } = await served.process.stop();
  assert.equal(stderr.includes(KEY), false);
  assert.equal(statSync(path.join(dataDir, 'secret')).mode & 0o777, 0o600);
  assert.equal(readFileSync(path.join(dataDir, 'index.db')).includes(KEY), false);
});

void test('the curl line that is printed needs the key where the daemon does', async () => {
  const served = await serveIndexed(temporaryFolder(), [makeRepo({ 'a.txt': 'TODO plum\n' })], {
    env: OWNER,
  });
  assert.match(served.process.stderr, /^Try: curl .*\$TRAWL_API_KEY/m);
  assert.equal(served.process.stderr.includes(KEY), false);
  await served.process.stop();
});

void test('a key and --anonymous: guests may search', async () => {
  const served = await serveIndexed(temporaryFolder(), [makeRepo({ 'a.txt': 'plum\n' })], {
    env: OWNER,
    flags: ['--anonymous'],
  });
  assert.equal((await post(served.url, { query: 'plum' })).status, 200);
  await served.process.stop();
});

void test('an address for other machines: nobody before there is an owner, served with a key or anonymously', async () => {
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
  for (const options of [{ env: OWNER }, { flags: ['--anonymous'] }]) {
    const served = await serveIndexed(temporaryFolder(), [repo], {
      ...options,
      flags: [...(options.flags ?? []), '--host', '0.0.0.0'],
    });
    assert.equal(
      (await post(served.url, { query: 'plum' }, { authorization: `Bearer ${KEY}` })).status,
      200,
    );
    await served.process.stop();
  }
});

void test('bad variables: exit 2, the variable is named, a secret is not shown', async () => {
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

void test('a foreign Host header is refused on loopback', async () => {
  const served = await serveIndexed(temporaryFolder(), [makeRepo({ 'a.txt': 'plum\n' })]);
  const { port } = new URL(served.url);
  const statusFor = (host: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const call = request(
        { host: '127.0.0.1', port, path: '/api/health', headers: { host } },
        (answer) => {
          const parts: Buffer[] = [];
          answer.on('data', (part: Buffer) => parts.push(part));
          answer.on('end', () => {
            const reply = { status: answer.statusCode ?? 0, headers: answer.headers };
            const body = Buffer.concat(parts);
            checkReply({ method: 'GET', path: '/api/health' }, { ...reply, body });
            resolve(reply.status);
          });
        },
      );
      call.on('error', reject);
      call.end();
    });
  assert.equal(await statusFor('evil.example'), 403);
  assert.equal(await statusFor(`localhost:${port}`), 200);
  assert.equal(await statusFor('127.0.0.1'), 200);
  await served.process.stop();
});
