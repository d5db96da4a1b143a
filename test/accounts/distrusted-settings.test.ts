// While the settings of owners cannot be read, callers who might be restricted get 503 and not 403.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { startAccounts } from './world.ts';
import { closeWorlds } from '../http/harness.ts';

afterEach(closeWorlds);

test('members get 503 until the settings can be read again; owners are served', async () => {
  const { send, control, ownerKey, memberKey, signIn } = await startAccounts({});
  const { settings } = control.accounts;
  const session = await signIn('member@example.com');
  const asKey = () => send('GET', '/api/repos', memberKey);
  const create = (name: string) => send('POST', '/api/user/api_keys', session, { name });
  assert.equal((await create('before')).status, 201);
  settings.distrust();
  for (const reply of [await asKey(), await create('meanwhile')])
    assert.deepEqual([reply.status, reply.code], [503, 'NOT_READY']);
  assert.equal((await send('GET', '/api/repos', ownerKey)).status, 200);
  await settings.load();
  assert.equal((await asKey()).status, 200);
  assert.equal((await create('after')).status, 201);
  const strict = { apiKeyUsage: 'owners', apiKeyCreation: 'owners' };
  assert.equal((await send('PATCH', '/api/instance', ownerKey, strict)).status, 200);
  assert.equal((await asKey()).code, 'API_KEY_USAGE_DISABLED');
  assert.equal((await create('refused')).code, 'INSUFFICIENT_PERMISSIONS');
});

test('settings from the file or the environment stay valid while stored ones are unreadable', async () => {
  const settings = { apiKeyUsage: 'owners' } as const;
  const { send, control, memberKey } = await startAccounts({ settings });
  control.accounts.settings.distrust();
  assert.equal((await send('GET', '/api/repos', memberKey)).code, 'API_KEY_USAGE_DISABLED');
});
