// While the settings of owners cannot be read, callers who might be restricted get 503 and not 403. Of several readings at
// once the last one counts.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Accounts } from '../../daemon/accounts/accounts.ts';
import { LICENCE_SETTING } from '../../daemon/accounts/licence-service.ts';
import { createLog } from '../../daemon/base/log.ts';
import type { Change } from '../../daemon/store/engine.ts';
import { licenceKey, startAccounts } from './world.ts';
import { closeWorlds, eventually } from '../http/harness.ts';

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

/** Runs two loads at once; the store's answer to a later question comes before that to an earlier one. */
async function loadTwice(load: () => Promise<void>, answers: (() => void)[], change: () => void) {
  const loaded: string[] = [];
  const first = load().then(() => loaded.push('first'));
  await setImmediate();
  change();
  const second = load().then(() => loaded.push('second'));
  while (loaded.length < 2) {
    await setImmediate();
    answers.pop()?.();
  }
  await Promise.all([first, second]);
}

test('of settings and licences that are loaded several times at once the last ones count', async (t) => {
  const { control } = await startAccounts({ entitlements: 'none' });
  const { store, accounts } = control;
  let rows = new Map([
    ['instance.anonymousAccess', 'true'],
    [LICENCE_SETTING, licenceKey(['oauth'])],
  ]);
  const answers: (() => void)[] = [];
  /** As the rows are now, when `answers` says. */
  const answerLater = <Answer>(answer: Answer): Promise<Answer> =>
    new Promise((resolve) => answers.push(() => resolve(answer)));
  t.mock.method(store.settings, 'all', () => answerLater(rows));
  t.mock.method(store.settings, 'get', (name: string) => answerLater(rows.get(name)));
  for (const load of [() => accounts.settings.load(), () => accounts.licences.load()]) {
    const before = rows;
    await loadTwice(load, answers, () => (rows = new Map([['instance.anonymousAccess', 'false']])));
    rows = before;
  }
  assert.equal(accounts.settings.current.anonymousAccess, false);
  assert.equal(accounts.isEntitled('oauth'), false);
});

test('lists of readers that change while they are loaded are loaded again', async (t) => {
  const { control, configuration } = await startAccounts({});
  const listeners: ((change: Change) => void)[] = [];
  const store = {
    ...control.store,
    onChange: (listener: (change: Change) => void) => {
      listeners.push(listener);
      return () => {};
    },
  };
  const { directory } = control.accounts;
  const log = createLog({ level: 'error', format: 'text', write: () => {} });
  const accounts = await Accounts.open({
    configuration,
    store,
    directory,
    instance: 'embedded',
    version: '1',
    log,
  });
  t.after(() => accounts.close());
  const report = (): void => {
    for (const listener of listeners) listener({ topic: 'all' });
  };
  let listsCount = 0;
  let answerLists: () => void = () => {};
  t.mock.method(store.hostReaders, 'lists', () => {
    listsCount++;
    return new Promise<[]>((resolve) => (answerLists = () => resolve([])));
  });
  report();
  await eventually(() => listsCount === 1);
  // The second reloading reads the settings when the first one ends.
  let answerSettings: () => void = () => {};
  const settings = new Promise<Map<string, string>>((resolve) => {
    answerSettings = () => resolve(new Map());
  });
  t.mock.method(store.settings, 'all', () => settings);
  report();
  answerLists();
  await setImmediate();
  answerSettings();
  await eventually(() => listsCount === 2);
  answerLists();
});
