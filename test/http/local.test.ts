// Callers at the machine of the daemon before anybody has an account: what they may read, what they may not, and that
// it ends with the first account.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { OPERATOR } from '../../daemon/accounts/audit-log.ts';
import { ENDPOINTS } from '../../daemon/api/endpoints.ts';
import { isAtThisMachine } from '../../daemon/http/binding.ts';
import { closeWorlds, repo, SEARCH_BODY, searchWith, startWorld } from './harness.ts';

afterEach(closeWorlds);

const OPEN = repo(1, 'host/open', { visibility: 'unknown' });
const PUBLIC = repo(2, 'host/public', { visibility: 'public', enforcement: 'restricted' });
const HIDDEN = [
  repo(3, 'host/hidden', { visibility: 'private', enforcement: 'restricted' }),
  repo(4, 'host/members', { visibility: 'internal', enforcement: 'restricted' }),
  repo(5, 'host/all', { visibility: 'public', enforcement: 'all' }),
];

test('read what is open to guests; nothing is changed, nothing shown of the instance', async () => {
  const world = await startWorld({ repos: [OPEN, PUBLIC, ...HIDDEN] });
  const names = (await world.call({ path: '/api/repos' })).json() as unknown as {
    repoName: string;
  }[];
  assert.deepEqual(
    names.map(({ repoName }) => repoName),
    ['host/open', 'host/public'],
  );
  assert.equal((await world.call(searchWith(SEARCH_BODY))).status, 200);
  assert.equal(
    (await world.call({ ...searchWith(SEARCH_BODY), path: '/api/explain' })).status,
    200,
  );
  for (const { method, path, access, isForLocal = false, allowsAnonymous } of ENDPOINTS) {
    if (['none', 'opt'].includes(access) || allowsAnonymous === true || isForLocal) continue;
    const bodied = method === 'GET' ? {} : { body: JSON.stringify(BODIES[path] ?? {}) };
    const query = QUERIES[path] ?? '';
    const place = path.replace('{repoId}', '1').replace('{connectionId}', '1');
    const reply = await world.call({ method, path: `${place}${query}`, ...bodied });
    assert.ok([401, 403].includes(reply.status), `${method} ${path}: ${reply.status}`);
  }
  const change = { method: 'PATCH', path: '/api/instance' };
  const refused = await world.call({ ...change, body: '{"anonymousAccess":true}' });
  assert.equal(refused.json()['errorCode'], 'NOT_AUTHENTICATED');
  await world.close();
});

test('end with the first account, on connections that are open too, and for ever', async () => {
  const world = await startWorld({ repos: [OPEN] });
  const status = async () => (await world.call({ path: '/api/repos' })).status;
  assert.equal(await status(), 200);
  const { members } = world.control.accounts;
  const adding = members.add(OPERATOR, { email: 'a@example.com', role: 'OWNER' });
  await adding;
  assert.equal(await status(), 401);
  await world.close();
});

test('a name that is not of this machine, a proxy, or a switch: nobody', async () => {
  const world = await startWorld({
    repos: [OPEN],
    env: { TRAWL_BASE_URL: 'http://code.example' },
  });
  const status = async (headers: Record<string, string>) =>
    (await world.call({ path: '/api/repos', headers })).status;
  assert.equal(await status({ host: 'localhost:1' }), 200);
  assert.equal(await status({ host: 'code.example' }), 401);
  for (const name of ['Forwarded', 'X-Forwarded-For', 'X-Forwarded-Host', 'X-Real-IP', 'Via'])
    assert.equal(await status({ host: 'localhost', [name]: '10.0.0.1' }), 401, name);
  await world.close();
  const closed = await startWorld({ repos: [OPEN], env: { TRAWL_LOCAL_ACCESS: 'false' } });
  assert.equal((await closed.call({ path: '/api/repos' })).status, 401);
  await closed.close();
});

const BODIES: Readonly<Record<string, object>> = {
  '/api/instance': { anonymousAccess: true },
  '/api/license': { key: 'x' },
  '/api/job-logs': { queue: 'repo-index', jobId: 'x' },
  '/api/ee/users': { email: 'x@example.com' },
  '/api/ee/grants': { userId: 'x', repoIds: [1] },
  '/api/ee/scoped_access_token': { repoIds: [1] },
  '/api/user/api_keys': { name: 'x' },
  '/api/auth/password': { currentPassword: 'x', newPassword: 'correct horse battery' },
};

const QUERIES: Readonly<Record<string, string>> = {
  '/api/ee/user': '?userId=x',
  '/api/ee/grants': '?repoId=1',
};

test('which requests were sent by this machine to itself', () => {
  const sent = (remoteAddress: string, host?: string): boolean =>
    isAtThisMachine({ remoteAddress, header: (name) => (name === 'host' ? host : undefined) });
  for (const address of ['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])
    for (const host of ['localhost', 'localhost:3000', '[::1]:3000', '127.0.0.1'])
      assert.equal(sent(address, host), true, `${address} ${host}`);
  for (const address of ['10.0.0.1', '::ffff:10.0.0.1', 'fe80::1', '', '::'])
    assert.equal(sent(address, 'localhost'), false, address);
  for (const host of [undefined, '', 'evil.example', 'localhost.evil.example'])
    assert.equal(sent('127.0.0.1', host), false, String(host));
});
