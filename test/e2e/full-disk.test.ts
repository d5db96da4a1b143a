// A disk that fills up while the daemon runs: searches continue, writes are refused, and readiness tells owners why
// while it lasts.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { commitAll, makeRepo, writeFiles } from '../sources/git/fixture.ts';
import { SmallDisk } from '../sync/small-disk.ts';
import { call, eventually, get, post, serveIndexed, trawl } from './daemon.ts';

const KEY = `svk_${'a1'.repeat(32)}`;
const OWNER = { authorization: `Bearer ${KEY}` };
const env = { TRAWL_OWNER_EMAIL: 'owner@example.com', TRAWL_OWNER_API_KEY: KEY };
const REMEDY = '; free space there, or move the data directory to a larger disk';
const FULL = `the store fails: store.db cannot grow: the disk is full${REMEDY}`;

void test('a full disk is reported while it lasts', async (t) => {
  const disk = SmallDisk.mount('16m');
  if (typeof disk === 'string') {
    t.skip(disk);
    return;
  }
  const repo = makeRepo({ 'a.txt': 'pear\n' });
  writeFiles(repo, { 'a.txt': 'plum\n' });
  commitAll(repo);
  const served = await serveIndexed(disk.folder, [repo], { env });
  const change = async (anonymousAccess: boolean): Promise<number> => {
    const body = JSON.stringify({ anonymousAccess });
    const headers = { ...OWNER, 'content-type': 'application/json' };
    const init = { method: 'PATCH', headers, body };
    return (await call(`${served.url}/api/instance`, init)).status;
  };
  const degraded = async (): Promise<readonly string[]> => {
    const { status, body } = await get<{ degraded?: string[] }>(`${served.url}/api/ready`, OWNER);
    assert.equal(status, 200);
    return body.degraded ?? [];
  };
  assert.equal(await change(true), 200);
  // Until symbols are found it says that they are missing.
  await eventually(async () => (await degraded()).length === 0);
  disk.fill(0);
  let isAnonymous = false;
  await eventually(async () => {
    isAnonymous = !isAnonymous;
    return (await change(isAnonymous)) === 503;
  });
  await eventually(async () => (await degraded()).some((one) => one.startsWith(FULL)));
  assert.deepEqual((await get(`${served.url}/api/ready`)).body, { status: 'ready' });
  await served.process.until(/the store fails reason=.*the disk is full/);
  assert.equal((await post(served.url, { query: 'plum' }, OWNER)).body.files.length, 1);
  const older = { query: 'pear rev:main~1' };
  const refused = await post<{ message: string }>(served.url, older, OWNER);
  assert.equal(refused.status, 503);
  assert.match(refused.body.message, /the disk is full/);
  disk.clear();
  // Nobody writes anything but the daemon.
  await eventually(async () => (await degraded()).length === 0);
  await served.process.until(/the store works again/);
  assert.equal(await change(true), 200);
  assert.equal((await post(served.url, older, OWNER)).body.files.length, 1);
  await served.process.stop();
});

void test('a read-only disk can be searched; a start on a full one says why none is possible', async (t) => {
  const disk = SmallDisk.mount('16m');
  if (typeof disk === 'string') {
    t.skip(disk);
    return;
  }
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  const flags = ['--port', '0', '--data-dir', disk.folder];
  const first = await serveIndexed(disk.folder, [repo]);
  await first.process.stop();
  const names = readdirSync(disk.folder).sort();
  // Who only reads needs no file of its own.
  disk.setReadOnly(true);
  const found = await trawl(['search', 'plum', '--data-dir', disk.folder]);
  assert.match(found.stdout, /a\.txt/, found.stderr);
  disk.setReadOnly(false);
  // The start writes it again.
  rmSync(path.join(disk.folder, 'index.db'));
  for (const pagesRemaining of [0, 2, 10]) {
    disk.fill(pagesRemaining);
    const { code, stderr } = await trawl(['serve', ...flags, repo]);
    disk.clear();
    assert.equal(code, 2, stderr);
    assert.match(stderr, /^error: .*(?:no space left on device, write '\/|the disk is full)/m);
    assert.deepEqual(
      readdirSync(disk.folder).filter((name) => name === 'lock'),
      [],
    );
  }
  const again = await serveIndexed(disk.folder, [repo]);
  assert.equal((await post(again.url, { query: 'plum' })).body.files.length, 1);
  await again.process.stop();
  assert.deepEqual(readdirSync(disk.folder).sort(), names);
});
