// Permissions from a code host, from the host's answer to the answers of requests.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, test, type TestContext } from 'node:test';
import { memberSyncOf } from '../../daemon/app/member-lists.ts';
import { createLog } from '../../daemon/base/log.ts';
import { closeWorlds, repo } from '../http/harness.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { MailHost } from '../sync/members/mail-host.ts';
import { DAY_MS } from './licences.ts';
import { type AccountsOptions, startAccounts } from './world.ts';

afterEach(closeWorlds);

const GRANTS = '/api/ee/grants';

async function startHosted(t: Pick<TestContext, 'after'>, options: AccountsOptions) {
  const file = path.join(temporaryFolder(), 'trawl.json');
  const configure = (syncPermissions: boolean): void => {
    const gh = { type: 'github', orgs: ['acme'], enforcePermissions: true, syncPermissions };
    writeFileSync(file, JSON.stringify({ connections: { gh } }));
  };
  configure(true);
  const repos = [1, 2, 3].map((id) =>
    repo(id, `host.example/acme/r${id}`, { enforcement: 'restricted', visibility: 'private' }),
  );
  const world = await startAccounts({ ...options, repos, env: { TRAWL_CONFIG: file } });
  const mail = new MailHost();
  const { accounts } = world.control;
  const listed = repos.map(({ repoId, name }) => ({
    repoId,
    name,
    hostId: String(repoId),
    path: `acme/r${repoId}`,
    visibility: 'private' as const,
  }));
  const log = createLog({ level: 'error', format: 'text', write: () => {} });
  const sync = memberSyncOf(
    accounts,
    { reposOf: () => listed, hostOf: async () => mail, relist: () => {} },
    log,
  );
  t.after(() => sync.close());
  return {
    ...world,
    mail,
    sync,
    visibleTo: async (as: string): Promise<string> => (await world.repoIds(as)).join(' '),
    apply: (syncPermissions: boolean): void => {
      configure(syncPermissions);
      world.configuration.readAgain();
      accounts.applyConfiguration();
    },
  };
}

test('host grants are listed with their time, cannot be removed here, and expire', async (t) => {
  const world = await startHosted(t, {});
  const { send, mail, sync, visibleTo, clock, member, memberKey, ownerKey } = world;
  const cookie = await world.signIn('member@example.com');
  mail.readers.set('acme/r1', ['Member@Example.COM', 'eve@example.com']);
  mail.readers.set('acme/r3', ['eve@example.com', 'member@example.com']);
  assert.equal(await visibleTo(memberKey), '');
  assert.equal(sync.countsOf('gh'), undefined);
  await sync.check();
  assert.deepEqual(sync.countsOf('gh'), { count: 4, known: 2 });
  assert.deepEqual(sync.degradations, []);
  assert.deepEqual([await visibleTo(memberKey), await visibleTo(cookie)], ['1 3', '1 3']);
  assert.equal(await visibleTo(ownerKey), '1 2 3');
  const takenAt = new Date(clock.nowMs).toISOString();
  const namesOf = (repoId: number) => ({
    userId: member.id,
    email: member.email,
    repoId,
    repoName: `host.example/acme/r${repoId}`,
  });
  const rowOf = (repoId: number) => ({ ...namesOf(repoId), source: 'host', takenAt });
  const list = async (query: string) => (await send('GET', `${GRANTS}?${query}`, ownerKey)).json();
  assert.deepEqual(await list(`userId=${member.id}`), [rowOf(1), rowOf(3)]);
  assert.deepEqual(await list('repoId=3'), [rowOf(3)]);
  const body = { userId: member.id, repoIds: [3] };
  assert.deepEqual((await send('DELETE', GRANTS, ownerKey, body)).json(), { removed: 0 });
  await send('POST', GRANTS, ownerKey, body);
  const stored = { ...namesOf(3), source: 'store' };
  assert.deepEqual(await list(`userId=${member.id}&perPage=2&page=1`), [rowOf(1), rowOf(3)]);
  assert.deepEqual(await list(`userId=${member.id}&perPage=2&page=2`), [stored]);
  assert.deepEqual((await send('DELETE', GRANTS, ownerKey, body)).json(), { removed: 1 });
  assert.equal(await visibleTo(memberKey), '1 3');
  mail.failing.set('acme/r1', 'HOST_UNAVAILABLE').set('acme/r3', 'HOST_UNAVAILABLE');
  clock.nowMs += DAY_MS - 1;
  await sync.check();
  assert.equal(await visibleTo(memberKey), '1 3');
  clock.nowMs += 1;
  assert.equal(await visibleTo(memberKey), '');
  assert.deepEqual(await list(`userId=${member.id}`), []);
  assert.deepEqual(await list('repoId=3'), []);
  mail.failing.clear();
  await sync.run('gh');
  assert.equal(await visibleTo(memberKey), '1 3');
});

test('host grants end with the next request: at the host, in the configuration, with the user', async (t) => {
  const world = await startHosted(t, {});
  const { send, mail, sync, visibleTo, member, memberKey, ownerKey } = world;
  mail.readers.set('acme/r1', ['member@example.com']);
  await sync.run('gh');
  assert.equal(await visibleTo(memberKey), '1');
  world.apply(false);
  assert.equal(await visibleTo(memberKey), '');
  world.apply(true);
  assert.equal(await visibleTo(memberKey), '1');
  mail.readers.set('acme/r1', ['eve@example.com']);
  await sync.run('gh');
  assert.equal(await visibleTo(memberKey), '');
  // Whoever has the address now has what the host gives to it.
  const add = (email: string) => send('POST', '/api/ee/users', ownerKey, { email });
  const added = await add('Eve@example.com');
  const person = await world.control.accounts.members.find('eve@example.com');
  assert.equal(added.json()['email'], 'eve@example.com');
  const { value } = await world.control.accounts.keys.create(undefined, person, 'k');
  assert.equal(await visibleTo(value), '1');
  // An address stays as it was given.
  const change = { email: 'eve@example.com', name: 'x' };
  await send('PATCH', `/api/ee/user?userId=${member.id}`, ownerKey, change);
  assert.equal(await visibleTo(memberKey), '');
  assert.equal((await world.control.accounts.members.find(member.email)).id, member.id);
});

test('host grants need the licence; the audit log has counts and no names', async (t) => {
  const world = await startHosted(t, {});
  const { mail, sync, visibleTo, clock, memberKey, ownerKey } = world;
  mail.readers.set('acme/r1', ['member@example.com', 'eve@example.com']);
  await sync.run('gh');
  const { rows } = await world.control.store.audit.list({ offset: 0, limit: 50 });
  const records = rows.filter(({ action }) => action === 'grant.synced');
  assert.deepEqual(
    records.map(({ actorId, targetId, metadata }) => ({ actorId, targetId, metadata })),
    [
      {
        actorId: 'operator',
        targetId: '1',
        metadata: {
          name: 'host.example/acme/r1',
          connection: 'gh',
          added: 2,
          removed: 0,
          altered: 0,
        },
      },
    ],
  );
  assert.equal(await visibleTo(memberKey), '1');
  clock.nowMs += 31 * DAY_MS;
  await sync.run('gh');
  assert.equal(await visibleTo(memberKey), '');
  assert.equal(await visibleTo(ownerKey), '1 2 3');
  const without = await startHosted(t, { entitlements: 'none' });
  without.mail.readers.set('acme/r1', ['member@example.com']);
  await without.sync.run('gh');
  assert.equal(await without.visibleTo(without.memberKey), '');
});
