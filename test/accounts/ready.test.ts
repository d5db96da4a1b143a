// The counts of `/api/ready` include hidden repositories, so only owners get them.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { closeWorlds, repo } from '../http/harness.ts';
import { startAccounts } from './world.ts';

afterEach(closeWorlds);

test('only owners see counts, by key or session', async () => {
  const world = await startAccounts({ repos: [repo(1, 'a')], degraded: ['the store is away'] });
  const { send } = world;
  const all = { status: 'ready', shards: 2, repositories: 1, quarantinedShards: 1 };
  const owned = [world.ownerKey, await world.signIn('owner@example.com')];
  for (const as of owned) {
    const { repositories, ...rest } = (await send('GET', '/api/ready', as)).json() as typeof all;
    assert.ok(repositories > 0);
    assert.deepEqual(rest, {
      status: 'ready',
      shards: 2,
      quarantinedShards: 1,
      quarantine: [{ shardId: 'ab', bytes: 10, reason: 'cut off', repositories: ['host/a'] }],
      degraded: ['the store is away'],
    });
  }
  const { token } = (
    await send('POST', '/api/ee/scoped_access_token', world.ownerKey, { repoIds: [1] })
  ).json() as { token: string };
  const others = [undefined, world.memberKey, token, `svk_${'0'.repeat(64)}`];
  others.push(await world.signIn('member@example.com'));
  for (const as of others)
    assert.deepEqual((await send('GET', '/api/ready', as)).json(), { status: 'ready' });
  // No credential is a reason to refuse a probe.
  await send('PATCH', '/api/instance', owned[1], { apiKeyUsage: 'owners' }, {});
  assert.equal((await send('GET', '/api/ready', world.memberKey)).status, 200);
});
