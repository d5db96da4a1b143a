// Linked accounts where the issuer is the host of a connection: lists of readers apply to them.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { OPERATOR } from '../../../daemon/accounts/audit-log.ts';
import { closeWorlds } from '../../http/harness.ts';
import { type FalseIssuer, startFalseIssuer } from './false-issuer.ts';
import {
  LISTED_REPOS,
  listReaders,
  providerAt,
  signOnAt,
  type SignOnWorld,
  startSignOn,
} from './world.ts';

afterEach(closeWorlds);

function labAt(url: string, more: object = {}): object {
  return {
    type: 'gitlab',
    url,
    groups: ['g'],
    enforcePermissions: true,
    syncPermissions: true,
    ...more,
  };
}

async function start(): Promise<{ readonly world: SignOnWorld; readonly issuer: FalseIssuer }> {
  const issuer = await startFalseIssuer();
  const world = await startSignOn({ test: providerAt(issuer.url) }, { repos: LISTED_REPOS });
  world.configure({ test: providerAt(issuer.url) }, { lab: labAt(`${issuer.url}/`) });
  issuer.claims = { sub: '77' };
  return { world, issuer };
}

const list = (world: SignOnWorld, repoId: number, ...ids: string[]): Promise<void> =>
  listReaders(world, 'lab', repoId, ...ids);

async function visibleIds(world: SignOnWorld): Promise<string> {
  return (await world.repoIds(world.memberKey)).join(' ');
}

test('a linked account sees what its host lists it for, from the next request on', async () => {
  const { world, issuer } = await start();
  await list(world, 1, '77', '78');
  assert.equal(await visibleIds(world), '');
  assert.equal(await signOnAt(world, issuer), 'signed in');
  assert.equal(await visibleIds(world), '1');
  await list(world, 2, '77');
  assert.equal(await visibleIds(world), '1 2');
  await list(world, 1, '78');
  assert.equal(await visibleIds(world), '2');
  const { members } = world.control.accounts;
  assert.equal(await members.unlink(OPERATOR, world.member.id), 1);
  assert.equal(await visibleIds(world), '');
  assert.equal(await members.unlink(OPERATOR, world.member.id), 0);
});

test('grants list it, by user and by repository', async () => {
  const { world, issuer } = await start();
  await list(world, 1, '77');
  await signOnAt(world, issuer);
  const takenAt = new Date(world.clock.nowMs).toISOString();
  const { id: userId, email } = world.member;
  const repoName = world.control.accounts.directory.byId(1)!.name;
  const row = { userId, email, repoId: 1, repoName, source: 'host', takenAt };
  for (const query of [`userId=${world.member.id}`, 'repoId=1'])
    assert.deepEqual((await world.send('GET', `/api/ee/grants?${query}`, world.ownerKey)).json(), [
      row,
    ]);
});

test('an account of another issuer with the same id is a different account', async () => {
  const { world, issuer } = await start();
  await list(world, 1, '77');
  const other = await startFalseIssuer();
  other.claims = { sub: '77' };
  world.configure({ test: providerAt(other.url) }, { lab: labAt(issuer.url) });
  assert.equal(await signOnAt(world, other), 'signed in');
  assert.equal(await visibleIds(world), '');
  world.configure({ test: providerAt(issuer.url) }, { lab: labAt(issuer.url) });
  assert.equal(await signOnAt(world, issuer), 'signed in');
  assert.equal(await visibleIds(world), '1');
  world.configure({ test: providerAt(issuer.url) }, { lab: labAt('https://elsewhere.example') });
  assert.equal(await visibleIds(world), '');
  world.configure(
    { test: providerAt(issuer.url) },
    { lab: labAt(issuer.url, { syncPermissions: false }) },
  );
  assert.equal(await visibleIds(world), '');
});

test('a connection that moved to another host gives nothing by the lists of the former one', async () => {
  const { world, issuer } = await start();
  await list(world, 1, '77');
  const other = await startFalseIssuer();
  other.claims = { sub: '77' };
  world.configure({ test: providerAt(other.url) }, { lab: labAt(other.url) });
  assert.equal(await signOnAt(world, other), 'signed in');
  assert.equal(await visibleIds(world), '');
  await list(world, 2, '77');
  assert.equal(await visibleIds(world), '2');
  world.configure({ test: providerAt(other.url) }, { lab: labAt(issuer.url) });
  assert.equal(await visibleIds(world), '');
});

test('after `unlink` the address may be used with another account', async () => {
  const { world, issuer } = await start();
  await signOnAt(world, issuer);
  issuer.claims = { sub: '78' };
  assert.equal(await signOnAt(world, issuer), 'linked');
  await world.control.accounts.members.unlink(OPERATOR, world.member.id);
  assert.equal(await signOnAt(world, issuer), 'signed in');
});
