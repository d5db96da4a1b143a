// Callers on the machine of the daemon before the first account: who counts as one, and that it ends with the first
// account. Their access is tested by test/api/permissions.test.ts.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { OPERATOR } from '../../daemon/accounts/audit-log.ts';
import { isAtThisMachine } from '../../daemon/http/binding.ts';
import { closeWorlds, repo, startWorld } from './harness.ts';

afterEach(closeWorlds);

const OPEN = repo(1, 'host/open', { visibility: 'unknown' });
test('local access ends with the first account, on open connections too, and for ever', async () => {
  const world = await startWorld({ repos: [OPEN] });
  const status = async () => (await world.call({ path: '/api/repos' })).status;
  assert.equal(await status(), 200);
  const { members } = world.control.accounts;
  const adding = members.add(OPERATOR, { email: 'a@example.com', role: 'OWNER' });
  await adding;
  assert.equal(await status(), 401);
});

test('users are counted again if anything changes meanwhile', async (t) => {
  const { store, accounts } = (await startWorld({ repos: [OPEN] })).control;
  const { callers } = accounts;
  const { id } = await store.users.create({ email: 'a@example.com', role: 'MEMBER' });
  await store.users.remove(id);
  assert.equal(callers.allowsLocalAnonymous, false);
  const count = store.users.count.bind(store.users);
  const allowWith = async (change: () => Promise<unknown>): Promise<void> => {
    t.mock.method(store.users, 'count', async () => {
      const userCount = await count();
      t.mock.restoreAll();
      await change();
      return userCount;
    });
    await callers.allowLocalAnonymous();
  };
  await allowWith(() => store.settings.set('a', 'b'));
  assert.equal(callers.allowsLocalAnonymous, true);
  await allowWith(() => store.users.create({ email: 'b@example.com', role: 'OWNER' }));
  assert.equal(callers.allowsLocalAnonymous, false, 'there is an account');
});

test('a foreign host name, a proxy, or a setting disables local access', async () => {
  const world = await startWorld({ repos: [OPEN], env: { TRAWL_BASE_URL: 'http://code.example' } });
  const status = async (headers: Record<string, string>) =>
    (await world.call({ path: '/api/repos', headers })).status;
  assert.equal(await status({ host: 'localhost:1' }), 200);
  assert.equal(await status({ host: 'code.example' }), 401);
  for (const name of ['Forwarded', 'X-Forwarded-For', 'X-Forwarded-Host', 'X-Real-IP', 'Via'])
    assert.equal(await status({ host: 'localhost', [name]: '10.0.0.1' }), 401, name);
  await world.close();
  const closed = await startWorld({ repos: [OPEN], env: { TRAWL_LOCAL_ACCESS: 'false' } });
  assert.equal((await closed.call({ path: '/api/repos' })).status, 401);
});

test('which requests come from this machine itself', () => {
  const sent = (remoteAddress: string, host?: string): boolean =>
    isAtThisMachine({
      remoteAddress,
      headers: new Map(host === undefined ? [] : [['host', host]]),
    });
  for (const address of ['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])
    for (const host of ['localhost', 'localhost:3000', '[::1]:3000', '127.0.0.1'])
      assert.equal(sent(address, host), true, `${address} ${host}`);
  for (const address of ['10.0.0.1', '::ffff:10.0.0.1', 'fe80::1', '', '::'])
    assert.equal(sent(address, 'localhost'), false, address);
  for (const host of [undefined, '', 'evil.example', 'localhost.evil.example'])
    assert.equal(sent('127.0.0.1', host), false, String(host));
});
