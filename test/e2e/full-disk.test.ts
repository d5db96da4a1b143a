// A disk that gets full while the daemon runs: searches go on, what has to be kept is refused, and readiness tells owners
// why for as long as it lasts.

import assert from 'node:assert/strict';
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { call, eventually, get, post, serveIndexed, trawl } from './daemon.ts';

const KEY = `svk_${'a1'.repeat(32)}`;
const OWNER = { authorization: `Bearer ${KEY}` };
const env = { TRAWL_OWNER_EMAIL: 'owner@example.com', TRAWL_OWNER_API_KEY: KEY };
const FULL = 'the store fails: store.db cannot grow: the disk is full';

function run(program: string, ...args: string[]): SpawnSyncReturns<Buffer> {
  return spawnSync(program, args);
}

/** Takes all room that is left. */
function fill(file: string): void {
  const piece = Buffer.alloc(4096, 'x');
  try {
    for (;;) appendFileSync(file, piece);
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
  }
}

/** A file system of this size; undefined: none can be mounted, and the test is skipped. */
function smallDisk(t: TestContext, size: string): string | undefined {
  const folder = temporaryFolder();
  const mounted = run('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder);
  if (mounted.status === 0) return folder;
  t.skip(`no file system can be mounted: ${String(mounted.stderr).trim()}`);
  return undefined;
}

void test('a full disk is told for as long as it lasts', { timeout: 120_000 }, async (t) => {
  const dataDir = smallDisk(t, '16m');
  if (dataDir === undefined) return;
  try {
    const served = await serveIndexed(dataDir, [makeRepo({ 'a.txt': 'plum\n' })], { env });
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
    assert.deepEqual(await degraded(), []);
    const filler = path.join(dataDir, 'filler');
    fill(filler);
    let isAnonymous = false;
    await eventually(async () => {
      isAnonymous = !isAnonymous;
      return (await change(isAnonymous)) === 503;
    });
    await eventually(async () => (await degraded()).includes(FULL));
    assert.deepEqual((await get(`${served.url}/api/ready`)).body, { status: 'ready' });
    await served.process.until(/the store fails reason=.*the disk is full/);
    assert.equal((await post(served.url, { query: 'plum' }, OWNER)).body.files.length, 1);
    rmSync(filler);
    // Nobody writes anything but the daemon.
    await eventually(async () => (await degraded()).length === 0);
    await served.process.until(/the store works again/);
    assert.equal(await change(true), 200);
    await served.process.stop();
  } finally {
    run('umount', '-l', dataDir);
  }
});

void test('a start on a full disk names the file that cannot be written', async (t) => {
  const disk = smallDisk(t, '1m');
  if (disk === undefined) return;
  try {
    fill(path.join(disk, 'filler'));
    const { code, stderr } = await trawl(['serve', '--port', '0', '--data-dir', disk]);
    assert.equal(code, 2);
    assert.ok(stderr.includes(`ENOSPC: no space left on device, write '${disk}/`), stderr);
  } finally {
    run('umount', '-l', disk);
  }
});
