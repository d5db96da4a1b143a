// A request has the access of the moment when it is answered: what was revoked or hidden during its body counts.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { canSee } from '../../daemon/repos/repo-access.ts';
import { startAccounts, type AccountsWorld } from '../accounts/world.ts';
import { answerOf, chunkEvent, FINAL_EVENT } from './answers.ts';
import { closeWorlds, eventStream, eventually, gate } from './harness.ts';
import { openWire, repo, SEARCH_BODY } from './harness.ts';
import type { Wire } from './harness.ts';

afterEach(closeWorlds);

const BODY = JSON.stringify(SEARCH_BODY);
const OPEN = repo(1, 'host/one');
const SECRET = repo(1, 'host/one', { visibility: 'private', enforcement: 'restricted' });

/** A search whose head has been looked at, its body still to come. */
async function headOf(world: AccountsWorld, credential: string): Promise<Wire> {
  const wire = openWire(world.server);
  wire.write(`POST /api/search HTTP/1.1\r\nHost: localhost\r\n${credential}`);
  wire.write(`Expect: 100-continue\r\nContent-Length: ${BODY.length}\r\n\r\n`);
  await wire.until('100 Continue');
  return wire;
}

/** A world with one repo, whether it is seen by each search, and a way to make it secret. */
async function start() {
  let repos = [OPEN];
  const visible: boolean[] = [];
  const world = await startAccounts({
    repos: () => repos,
    search: async (_, { repoAccess }) => {
      visible.push(canSee(repoAccess, 1));
      return answerOf();
    },
  });
  return {
    world,
    visible,
    hide: () => {
      repos = [SECRET];
    },
  };
}

test('a repo made secret during a request body is not searched', async () => {
  const { world, visible, hide } = await start();
  assert.equal(
    (await world.send('PATCH', '/api/instance', world.ownerKey, { anonymousAccess: true })).status,
    200,
  );
  const guest = await headOf(world, '');
  const member = await headOf(world, `Authorization: Bearer ${world.memberKey}\r\n`);
  hide();
  for (const wire of [guest, member]) {
    wire.write(BODY);
    await wire.until('HTTP/1.1 200');
  }
  assert.deepEqual(visible, [false, false]);
});

test('a key revoked, a user suspended, a session ended during a request body: no access', async () => {
  const { world, visible } = await start();
  const { accounts } = world.control;
  const [key] = await accounts.keys.list(world.owner);
  const cookie = await world.signIn('owner@example.com');
  const wires = [
    await headOf(world, `Authorization: Bearer ${world.ownerKey}\r\n`),
    await headOf(world, `Authorization: Bearer ${world.memberKey}\r\n`),
    await headOf(world, `Cookie: ${cookie}\r\nOrigin: ${world.origin()}\r\n`),
  ];
  await accounts.keys.remove(undefined, key!.id);
  await accounts.members.change(undefined, world.member.id, { suspended: true });
  assert.equal((await world.send('POST', '/api/auth/logout', cookie)).status, 204);
  for (const wire of wires) {
    wire.write(BODY);
    assert.match(await wire.until('errorCode'), /HTTP\/1\.1 401 [^]*NOT_AUTHENTICATED/);
  }
  assert.deepEqual(visible, []);
});

test('an owner demoted during a request body changes nothing', async () => {
  const { world } = await start();
  const { accounts } = world.control;
  const wire = openWire(world.server);
  const body = '{"anonymousAccess":true}';
  wire.write(`PATCH /api/instance HTTP/1.1\r\nHost: localhost\r\n`);
  wire.write(`Authorization: Bearer ${world.ownerKey}\r\n`);
  wire.write(`Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`);
  await wire.until('100 Continue');
  await accounts.members.change(undefined, world.member.id, { role: 'OWNER' });
  await accounts.members.change(undefined, world.owner.id, { role: 'MEMBER' });
  wire.write(body);
  assert.match(await wire.until('errorCode'), /HTTP\/1\.1 403 [^]*INSUFFICIENT_PERMISSIONS/);
  assert.equal(accounts.settings.current.anonymousAccess, false);
});

/** A daemon whose streams send one event at once and the rest when they are told to, and those streams. */
test('a long search is not answered when its access ends before its answer', async () => {
  const end = gate();
  const world = await startAccounts({
    search: async () => {
      await end.opened;
      return answerOf();
    },
  });
  const { accounts } = world.control;
  const search = (key: string) => world.send('POST', '/api/search', key, SEARCH_BODY);
  const [ending, staying] = [search(world.memberKey), search(world.ownerKey)];
  await eventually(() => world.server.searchCounts().running === 2);
  await accounts.members.change(undefined, world.member.id, { suspended: true });
  // Longer than the time after which the credential is checked again.
  await sleep(150);
  end.open();
  assert.equal((await ending).status, 401);
  assert.equal((await staying).status, 200);
});

async function startStreams() {
  const rest = gate();
  let closedCount = 0;
  const world = await startAccounts({
    repos: () => [OPEN],
    stream: () => {
      const events = eventStream([chunkEvent(), chunkEvent(), FINAL_EVENT]);
      let sentCount = 0;
      return {
        async next() {
          if (sentCount++ > 0) await rest.opened;
          return events.next();
        },
        close: () => void closedCount++,
      };
    },
  });
  const open = async (credential: string): Promise<Wire> => {
    const wire = openWire(world.server);
    wire.post('/api/stream_search', SEARCH_BODY, credential);
    await wire.until('"type":"chunk"');
    return wire;
  };
  return { world, open, goOn: rest.open, closedCount: () => closedCount };
}

test('a stream ends with an error when its access ends; others continue', async () => {
  const { world, open, goOn, closedCount } = await startStreams();
  const { accounts } = world.control;
  const bearer = (value: string): string => `Authorization: Bearer ${value}\r\n`;
  const mint = async (): Promise<string> => {
    const path = '/api/ee/scoped_access_token';
    const minted = await world.send('POST', path, world.ownerKey, { repoIds: [1] });
    return String(minted.json()['token']);
  };
  const anonymous = (anonymousAccess: boolean) =>
    world.send('PATCH', '/api/instance', world.ownerKey, { anonymousAccess });
  const extra = await accounts.keys.create(undefined, world.owner, 'second');
  const old = bearer(await mint());
  await anonymous(true);
  const cookie = await world.signIn('owner@example.com');
  const ending = [
    await open(bearer(world.memberKey)),
    await open(bearer(extra.value)),
    // Cookies may come in several headers.
    await open(`Cookie: a=1\r\nCookie: ${cookie}\r\nOrigin: ${world.origin()}\r\n`),
    await open(old),
  ];
  world.clock.nowMs += 3_600_000;
  const staying = [
    await open(bearer(world.ownerKey)),
    await open(bearer(await mint())),
    await open(''),
  ];
  await accounts.members.change(undefined, world.member.id, { suspended: true });
  await accounts.keys.remove(undefined, extra.id);
  assert.equal((await world.send('POST', '/api/auth/logout', cookie)).status, 204);
  goOn();
  for (const wire of ending) {
    const text = await wire.until('data: ', 2);
    assert.match(text, /"statusCode":401,"errorCode":"NOT_AUTHENTICATED"/);
    const all = await wire.closed();
    assert.doesNotMatch(all, /"type":"final"|DONE/);
    assert.equal(all.split('"type":"chunk"').length, 2, 'what came later is not sent');
  }
  for (const wire of staying) await wire.until('data: [DONE]');
  assert.ok(closedCount() >= ending.length);
});

test('a stream of a guest ends with anonymous access', async () => {
  const { world, open, goOn } = await startStreams();
  const set = (anonymousAccess: boolean) =>
    world.send('PATCH', '/api/instance', world.ownerKey, { anonymousAccess });
  await set(true);
  const wire = await open('');
  await set(false);
  goOn();
  assert.match(await wire.until('data: ', 2), /"type":"error"[^]*NOT_AUTHENTICATED/);
});
