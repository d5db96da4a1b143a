// Upgrades: the data directory of each earlier version (former-data.ts) is opened by this one, and nothing is lost; the store
// also in the second form of its tables. Until the first release there is one, of the development version 0.1.0.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import Libsql from 'libsql';
import { licenceEnvironment } from '../accounts/licences.ts';
import { SECOND_FORM } from '../store/former-form.ts';
import { pathsOf, post, serveIndexed, trawl } from './daemon.ts';
import { FORMER_FOLDER, unpackFormer } from './former-data.ts';

const ONE = ['code.ts', 'more/late.txt', 'read.me'];

interface Facts {
  readonly ownerKey: string;
  readonly memberKey: string;
}

/** Rows of commands with `--json`, the members that must stay. */
async function rowsOf(dataDir: string, command: string, names: readonly string[]) {
  const { code, stdout, stderr } = await trawl([command, 'list', '--json', '--data-dir', dataDir]);
  assert.equal(code, 0, stderr);
  const rows = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as object);
  return rows
    .map((row) => names.map((name) => (row as Record<string, unknown>)[name]))
    .sort((a, b) => (String(a) < String(b) ? -1 : 1));
}

async function checkStore(dataDir: string): Promise<void> {
  assert.deepEqual(await rowsOf(dataDir, 'user', ['email', 'role']), [
    ['member@example.com', 'MEMBER'],
    ['owner@example.com', 'OWNER'],
  ]);
  assert.deepEqual(await rowsOf(dataDir, 'grant', ['email', 'repo', 'repoId']), [
    ['member@example.com', 'example.com/former/one', 1],
  ]);
  assert.equal((await rowsOf(dataDir, 'key', ['id'])).length, 2);
  assert.deepEqual(await rowsOf(dataDir, 'repo', ['repo', 'repoId', 'visibility']), [
    ['example.com/former/one', 1, 'private'],
    ['example.com/former/two', 2, 'private'],
  ]);
}

/** By a daemon with the sources, which are elsewhere now: what each sees, by content and by symbol. */
async function checkServed(folder: string): Promise<void> {
  const at = (name: string): string => path.join(folder, name);
  const { ownerKey, memberKey } = JSON.parse(readFileSync(at('facts.json'), 'utf8')) as Facts;
  const served = await serveIndexed(at('data'), [at('one'), at('two')], {
    env: licenceEnvironment(),
  });
  const found = async (query: string, key: string): Promise<string[]> => {
    const headers = { authorization: `Bearer ${key}` };
    const { status, body } = await post(served.url, { query }, headers);
    assert.equal(status, 200, JSON.stringify(body));
    return pathsOf(body);
  };
  assert.deepEqual(await found('needle', memberKey), ONE);
  assert.deepEqual(await found('needle', ownerKey), [...ONE, ...ONE].sort());
  assert.deepEqual(await found('sym:needle_one', memberKey), ['code.ts']);
  assert.deepEqual(await found('sym:needle_two', memberKey), []);
  assert.equal((await served.process.stop()).code, 0);
}

for (const file of readdirSync(FORMER_FOLDER)) {
  for (const form of ['as it was', 'with a store of the second form'] as const) {
    test(`${file} ${form}: searches, members, keys and grants stay`, async () => {
      const folder = unpackFormer(file);
      const dataDir = path.join(folder, 'data');
      if (form !== 'as it was') {
        const store = new Libsql(path.join(dataDir, 'store.db'));
        for (const text of SECOND_FORM) store.exec(text);
        store.close();
      }
      const local = await trawl(['search', '--data-dir', dataDir, 'late needle']);
      assert.equal(local.code, 0, local.stderr);
      assert.equal(local.stdout.split('\n').length, 3);
      await checkStore(dataDir);
      await checkServed(folder);
      await checkStore(dataDir);
    });
  }
}
