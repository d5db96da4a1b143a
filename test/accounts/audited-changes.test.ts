// Changes of members, keys and the licence are stored with their audit records or not at all.

import assert from 'node:assert/strict';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import Libsql from 'libsql';
import { OPERATOR } from '../../daemon/accounts/audit-log.ts';
import { omitUndefined } from '../../daemon/base/omit-undefined.ts';
import { closeWorlds, OTHER_KEY, OWNER_KEY, startWorld, type World } from '../http/harness.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { licenceKey, PASSWORD, startAccounts } from './world.ts';

afterEach(closeWorlds);

/** Runs SQL on the database of a running daemon, as another process would. */
function execute(dataDir: string, sql: string): void {
  const connection = new Libsql(path.join(dataDir, 'store.db'), { timeout: 5_000 });
  connection.exec(sql);
  connection.close();
}

test('a change whose audit record cannot be stored is not made', async () => {
  const dataDir = temporaryFolder();
  const { control, member } = await startAccounts({
    entitlements: 'none',
    env: { TRAWL_DATA_DIR: dataDir },
  });
  const { store, accounts } = control;
  const { members, keys, licences } = accounts;
  await store.signOnAccounts.link(member.id, { issuer: 'https://id', subject: '1' }, 1);
  const second = await keys.create(OPERATOR, member, 'second');
  const token = await accounts.signIn.makeLink(member.id);
  const state = async () => ({
    users: await store.users.list(),
    keys: (await store.apiKeys.list()).map(({ id, name }) => ({ id, name })),
    links: await store.signOnAccounts.of(member.id),
    settings: await store.settings.all(),
    records: (await store.audit.list({ offset: 0, limit: 100 })).total,
  });
  const changes: (() => Promise<unknown>)[] = [
    () => members.create(OPERATOR, { email: 'new@example.com' }),
    () => members.change(OPERATOR, member.id, { role: 'OWNER' }),
    () => members.unlink(OPERATOR, member.id),
    () => members.remove(OPERATOR, member.id),
    () => keys.create(OPERATOR, member, 'third'),
    () => keys.remove(OPERATOR, second.id),
    () => licences.set(OPERATOR, licenceKey(['audit'])),
    () => accounts.signIn.setUp({ token, email: '', name: 'M', password: PASSWORD }),
  ];
  execute(
    dataDir,
    `CREATE TRIGGER refused BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'refused'); END`,
  );
  const before = await state();
  for (const [i, change] of changes.entries()) {
    await assert.rejects(change);
    assert.deepEqual(await state(), before, `change ${i}`);
  }
  execute(dataDir, 'DROP TRIGGER refused');
  for (const change of changes.toSpliced(3, 1)) {
    const { records } = await state();
    await change();
    assert.equal((await state()).records, records + 1);
  }
});

const TRAWL_OWNER_EMAIL = 'first@example.com';

function startOwned(dataDir: string, key?: string): Promise<World> {
  const TRAWL_OWNER_API_KEY = key;
  return startWorld({
    env: { TRAWL_DATA_DIR: dataDir, TRAWL_OWNER_EMAIL, ...omitUndefined({ TRAWL_OWNER_API_KEY }) },
  });
}

async function statusFor({ call }: World, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return (await call({ path: '/api/repos', headers })).status;
}

function messagesOf({ lines }: World): string {
  return lines.map(({ message }) => message).join('\n');
}

test('creation and replacement of the key of TRAWL_OWNER_API_KEY are recorded and logged', async () => {
  const dataDir = temporaryFolder();
  const actions = async ({ control }: World) => {
    const { rows } = await control.store.audit.list({ action: 'api_key', offset: 0, limit: 10 });
    return rows.map(({ action }) => action).reverse();
  };
  const log = /^the owner key of TRAWL_OWNER_API_KEY was created$/m;

  let world = await startOwned(dataDir, OWNER_KEY);
  assert.match(messagesOf(world), log);
  await world.close();
  world = await startOwned(dataDir, OWNER_KEY);
  assert.doesNotMatch(messagesOf(world), log);
  assert.deepEqual(await actions(world), ['api_key.created']);
  await world.close();
  world = await startOwned(dataDir, OTHER_KEY);
  assert.deepEqual(
    [await statusFor(world, OTHER_KEY), await statusFor(world, OWNER_KEY)],
    [200, 401],
  );
  assert.deepEqual(await actions(world), ['api_key.created', 'api_key.deleted', 'api_key.created']);
});

test('a start does not need that the user of TRAWL_OWNER_EMAIL is still an owner', async () => {
  const dataDir = temporaryFolder();
  let world = await startOwned(dataDir, OWNER_KEY);
  const { members, signIn } = world.control.accounts;
  const second = await members.create(OPERATOR, { email: 'second@example.com', role: 'OWNER' });
  await signIn.setPassword(second.id, PASSWORD);
  await members.change(OPERATOR, TRAWL_OWNER_EMAIL, { suspended: true });
  await world.close();
  world = await startOwned(dataDir, OTHER_KEY);
  const change = { role: 'MEMBER', suspended: false } as const;
  await world.control.accounts.members.change(OPERATOR, TRAWL_OWNER_EMAIL, change);
  await world.close();
  world = await startOwned(dataDir, `svk_${'7'.repeat(64)}`);
  assert.match(
    messagesOf(world),
    /^TRAWL_OWNER_API_KEY has no effect: first@example\.com is not an owner$/m,
  );
  assert.equal(await statusFor(world, `svk_${'7'.repeat(64)}`), 401);
  await world.close();
  world = await startOwned(dataDir);
  assert.match(messagesOf(world), /^users exist: TRAWL_OWNER_EMAIL /m);
});
