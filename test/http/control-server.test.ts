// The control socket: who may open it, what the operator may do through it, and that nobody may over TCP.

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, test } from 'node:test';
import { ACCOUNT_HEADER, findControlPath } from '../../daemon/base/config/control-path.ts';
import type { RepoRule } from '../../daemon/api/shapes/operator-service.ts';
import { callControl, NoDaemonError } from '../../daemon/cli/control-client.ts';
import { type AccountsOptions, startAccounts } from '../accounts/world.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { onBothAdapters } from './adapters.ts';
import { closeWorlds } from './harness.ts';

afterEach(closeWorlds);

/** A world whose control socket is open, and requests through it. */
async function start(options: AccountsOptions = {}) {
  const world = await startAccounts({ entitlements: 'none', ...options });
  const control = await world.server.openControl();
  const socketPath = findControlPath(world.configuration.dataDir);
  const call = async (method: string, target: string, body?: unknown, account = 'größe') => {
    const json = body === undefined ? undefined : JSON.stringify(body);
    const reply = await callControl(socketPath, { method, path: target, body: json, account });
    return { status: reply.statusCode, text: await text(reply) };
  };
  return { world, control, socketPath, call };
}

test('only the account of the daemon can open it; the audit names the operator and the account', async () => {
  const { world, control, socketPath, call } = await start();
  assert.equal(statSync(socketPath).mode & 0o777, 0o600);
  assert.equal((await call('GET', '/api/ee/user?userId=OWNER@example.com')).status, 200);
  const audit = await call('GET', '/api/ee/audit?action=user.read');
  const [record] = JSON.parse(audit.text) as Record<string, unknown>[];
  assert.deepEqual(
    [record?.['actorId'], record?.['metadata'], record?.['targetId']],
    ['operator', { account: 'größe' }, world.owner.id],
  );
  await control.close();
  await assert.rejects(call('GET', '/api/health'), NoDaemonError);
});

test('the operator needs no licence, has longer pages, and is not a user', async () => {
  const { world, control, call } = await start({
    env: { TRAWL_BASE_URL: 'http://localhost/below' },
  });
  const statusOf = async (...of: Parameters<typeof call>) => (await call(...of)).status;
  assert.equal(await statusOf('GET', '/api/ee/users'), 200);
  assert.equal(await statusOf('GET', '/api/ee/audit?perPage=5000'), 200);
  const tooLong = await call('GET', '/api/ee/audit?perPage=5001');
  assert.match(tooLong.text, /"statusCode":400,.*perPage: expected an integer from 1 to 5000"/);
  const forNobody = await call('POST', '/api/user/api_keys', { name: 'ci' });
  assert.match(forNobody.text, /"statusCode":400,.*"userId: required"/);
  const target = '/below/api/ee/audit?perPage=101';
  assert.equal((await world.send('GET', target, world.ownerKey)).status, 403);
  for (const one of ['/api/user/usage', '/api/user/applications'])
    assert.equal(await statusOf('GET', one), 401, one);
  assert.equal(await statusOf('GET', '/below/api/ee/users'), 404);
  await control.close();
});

test('a refusal has its message; only the operator sees the cause of an internal error', async () => {
  const { control, call } = await start({
    operator: {
      rules: {
        list: () => {
          throw new Error('There is no room.');
        },
        change: () => Promise.resolve(),
        remove: () => Promise.resolve(),
      },
      // oxlint-disable-next-line require-yield -- fails before the first byte
      async *backup() {
        throw new Error('There is no disk.');
      },
    },
  });
  const refused = await call('GET', '/api/ee/user?userId=a@x.org');
  assert.match(refused.text, /"statusCode":404,.*There is no user a@x\.org\./);
  assert.match((await call('GET', '/api/ee/repos')).text, /"statusCode":500,.*There is no room\./);
  const backup = await call('POST', '/api/backup', { withIndex: false });
  assert.match(backup.text, /"statusCode":500,.*There is no disk\./);
  assert.match((await call('GET', '/api/status')).text, /NOT_READY.*No daemon is running/);
  await control.close();
});

test('the removal of repositories is acknowledged only if all are removed', async () => {
  const ruleOf = (repoId: number, name: string): RepoRule => {
    const state = { isServed: false, isListed: false, isElsewhere: false };
    return { repoId, name, visibility: 'public', enforcement: 'none', ...state };
  };
  let rules = [ruleOf(1, 'apple'), ruleOf(2, 'busy'), ruleOf(3, 'cherry'), ruleOf(4, 'date')];
  let isBusy = true;
  const { control, call } = await start({
    operator: {
      rules: {
        list: () => rules,
        change: () => Promise.resolve(),
        remove: (repoIds) => {
          const stays = ({ repoId }: RepoRule): boolean => isBusy && repoId === 2;
          rules = rules.filter((rule) => !repoIds.has(rule.repoId) || stays(rule));
          return Promise.resolve();
        },
      },
      async *backup() {},
    },
  });
  const remove = (...repos: (string | number)[]) => call('DELETE', '/api/ee/repos', { repos });
  assert.equal((await remove('cherry')).status, 200);
  const refused = await remove('apple', 'busy');
  assert.match(refused.text, /"statusCode":503,"errorCode":"NOT_READY",.*Not removed: busy, as/);
  isBusy = false;
  const removed = await remove('busy');
  assert.match(removed.text, /^\[\{"repoId":2,"repo":"busy",/);
  assert.deepEqual(rules, [ruleOf(4, 'date')]);
  assert.equal((await remove(4)).status, 200);
  await control.close();
});

test('a backup is sent while it is made', async () => {
  const { control, call } = await start();
  const { status, text: bytes } = await call('POST', '/api/backup', { withIndex: true });
  assert.deepEqual([status, bytes], [200, 'first second']);
  const short = await call('POST', '/api/backup', { withIndex: true, passphrase: 'short' });
  assert.match(short.text, /passphrase: fewer than 8 characters/);
  await control.close();
});

test('a client cut off before anything was done found no daemon; otherwise the outcome is unknown', async () => {
  const folder = temporaryFolder();
  for (const [method, body, isLetIn] of [
    ['GET', undefined, false],
    ['POST', '{}', false],
    ['POST', '{}', true],
    ['DELETE', undefined, false],
  ] as const) {
    const socketPath = path.join(folder, `${method}${isLetIn}.sock`);
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        if (isLetIn) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    const isUnknown = isLetIn || method === 'DELETE';
    const expected = isUnknown ? /check whether the change was made/ : NoDaemonError;
    await assert.rejects(
      callControl(socketPath, { method, path: '/x', body, account: 'a' }),
      expected,
    );
    await new Promise((resolve) => server.close(resolve));
  }
  const nowhere = { method: 'GET', path: '/x', account: 'a' };
  await assert.rejects(callControl(path.join(folder, 'none'), nowhere), NoDaemonError);
});

test('bodies are limited, and others are served', async () => {
  const { control, call } = await start();
  const key = 'x'.repeat(2 * 1024 * 1024);
  assert.match((await call('PUT', '/api/license', { key })).text, /REQUEST_BODY_TOO_LARGE/);
  assert.equal((await call('GET', '/api/license')).status, 200);
  await control.close();
});

onBothAdapters('over TCP', (kind) => {
  test('no request can claim to be the operator', async () => {
    const { send, ownerKey } = await startAccounts({ kind });
    const headers = { [ACCOUNT_HEADER]: 'root' };
    assert.equal((await send('GET', '/api/status', ownerKey, undefined, headers)).status, 403);
    assert.equal((await send('GET', '/api/status', undefined, undefined, headers)).status, 401);
  });
});

test('a session cannot name another user: its keys are its own', async () => {
  const { send, signIn } = await startAccounts();
  const [owner, member] = [await signIn('owner@example.com'), await signIn('member@example.com')];
  const path = '/api/user/api_keys';
  const mine = await send('POST', path, owner, { name: 'x', userId: 'member@example.com' });
  assert.equal(mine.json()['email'], 'owner@example.com');
  const listOf = async (as: string) =>
    (await send('GET', `${path}?userId=member@example.com`, as)).json() as unknown as {
      id: string;
      email: string;
    }[];
  const keys = await listOf(owner);
  assert.ok(keys.length > 0 && keys.every(({ email }) => email === 'owner@example.com'));
  const [theirs] = await listOf(member);
  assert.equal((await send('DELETE', `${path}/${theirs!.id}`, owner)).code, 'API_KEY_NOT_FOUND');
  assert.equal((await listOf(member)).length, 1);
});
