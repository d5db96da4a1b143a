// A disk that fills up while the daemon runs: searches continue, writes are refused, and readiness tells owners why
// while it lasts.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { commitAll, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { readCatalog } from '../../daemon/app/open-index.ts';
import { writeFormerCatalog } from '../index/former-files.ts';
import { SmallDisk } from '../sync/small-disk.ts';
import { call, eventually, get, type Outcome, post, serve, serveIndexed, trawl } from './daemon.ts';
import { CodeHost } from './hosted.ts';

const KEY = `svk_${'a1'.repeat(32)}`;
const OWNER = { authorization: `Bearer ${KEY}` };
const env = { TRAWL_OWNER_EMAIL: 'owner@example.com', TRAWL_OWNER_API_KEY: KEY };
const SECRET = 'only-the-host-knows';
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

void test('a disk that fills up during a sync: reported with the next step until there is space', async (t) => {
  const disk = SmallDisk.mount('64m');
  if (typeof disk === 'string') {
    t.skip(disk);
    return;
  }
  const host = await CodeHost.start();
  t.after(() => host.stop());
  host.add('one', { 'a.txt': 'plum\n' });
  const config = path.join(temporaryFolder(), 'trawl.json');
  const settings = { webhooks: { secret: { env: 'WEBHOOK_SECRET' } } };
  const connections = { acme: { type: 'github', url: host.url, orgs: ['acme'] } };
  writeFileSync(config, JSON.stringify({ settings, connections }));
  const served = await serve(disk.folder, [], {
    flags: ['--config', config],
    env: { ...env, WEBHOOK_SECRET: SECRET },
  });
  const filesOf = async (word: string): Promise<number> =>
    (await post(served.url, { query: word }, OWNER)).body.files.length;
  await eventually(async () => (await filesOf('plum')) === 1);
  disk.fill(200);
  host.commit('one', 'b.txt', 'sloe\n');
  host.add('two', { 'c.txt': 'plum\n' });
  assert.equal((await host.notify(served.url, 'one', SECRET)).status, 202);
  const connection = await get<{ id: number }[]>(`${served.url}/api/connections`, OWNER);
  const sync = `${served.url}/api/connections/${connection.body[0]!.id}/sync`;
  await call(sync, { method: 'POST', headers: OWNER });
  const status = () => trawl(['status', '--data-dir', disk.folder]);
  await eventually(async () => {
    const { stdout } = await status();
    return ['one', 'two'].every((name) => stdout.includes(`${host.nameOf(name)} could not be`));
  }, 500);
  const { code, stdout } = await status();
  assert.equal(code, 1);
  assert.match(
    stdout,
    /one could not be indexed: .*bytes are free, and \d+ must stay free; select fewer repositories, or free space there/,
  );
  const ready = await get<{ degraded?: string[] }>(`${served.url}/api/ready`, OWNER);
  assert.match(ready.body.degraded!.join('\n'), /two could not be indexed: .*free space there/);
  const jobs = await get<{ errorMessage: string | null }[]>(
    `${served.url}/api/jobs?perPage=100`,
    OWNER,
  );
  assert.match(JSON.stringify(jobs.body), /select fewer repositories, or free space there/);
  assert.deepEqual([await filesOf('plum'), await filesOf('sloe')], [1, 0]);
  disk.clear();
  // An owner does not wait for the pause after a failure.
  const repos = await get<{ repoId: number }[]>(`${served.url}/api/repos`, OWNER);
  for (const { repoId } of repos.body)
    await call(`${served.url}/api/repos/${repoId}/index`, { method: 'POST', headers: OWNER });
  await eventually(async () => (await filesOf('plum')) === 2 && (await filesOf('sloe')) === 1, 500);
  await eventually(async () => (await status()).code === 0, 500);
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
  // As an earlier version wrote it: the start takes it over.
  const { repos } = await readCatalog(disk.folder);
  rmSync(path.join(disk.folder, 'index.db'));
  writeFormerCatalog(disk.folder, repos);
  for (const pagesRemaining of [0, 2, 10]) {
    disk.fill(pagesRemaining);
    const { code, stderr } = await trawl(['serve', ...flags, repo]);
    disk.clear();
    assert.equal(code, 2, stderr);
    assert.deepEqual((await readCatalog(disk.folder)).repos, repos);
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

void test('a start on a full disk names the file that cannot be written', async (t) => {
  const disk = SmallDisk.mount('1m');
  if (typeof disk === 'string') {
    t.skip(disk);
    return;
  }
  disk.fill(0);
  const { code, stderr } = await trawl(['serve', '--port', '0', '--data-dir', disk.folder]);
  assert.equal(code, 2);
  const pattern = new RegExp(
    `ENOSPC: no space left on device, write '${disk.folder}/[^']+'${REMEDY}`,
  );
  assert.match(stderr, pattern);
});

const REPOS = 20;

/** Repositories of some kilobytes, which fill two megabytes before all are indexed. */
function manyRepos(): string[] {
  return Array.from({ length: REPOS }, (_, i) =>
    makeRepo({ 'a.c': `int plum_${i}(void);\n`.repeat(4_000) + `// ${'x'.repeat(60_000)}\n` }),
  );
}

void test('an index without disk space ends soon, and says where, how much and what to do', async (t) => {
  const disk = SmallDisk.mount('2m');
  if (typeof disk === 'string') {
    t.skip(disk);
    return;
  }
  const dataDir = path.join(disk.folder, 'data');
  const indexed = await trawl(['index', '--data-dir', dataDir, ...manyRepos()]);
  assert.equal(indexed.code, 2);
  const lines = indexed.stdout.split('\n').slice(0, -1);
  assert.equal(lines.length, REPOS);
  const done = lines.filter((line) => / 1 doc, /.test(line)).length;
  const full = new RegExp(
    `: failed: ENOSPC: .* '${dataDir}/[^']+'( \\(the contents alone take \\d+ bytes there\\))?${REMEDY}`,
  );
  const failed = lines.filter((line) => full.test(line)).length;
  const remaining = lines.filter((line) =>
    /: failed: not started, as there was no room for local\//.test(line),
  );
  assert.ok(done > 2 && failed >= 1 && failed <= 8, indexed.stdout);
  assert.equal(done + failed + remaining.length, REPOS, indexed.stdout);
  // Not once for each shard.
  const symbols = indexed.stderr.match(/symbols could not be found/g) ?? [];
  assert.ok(symbols.length < 4, indexed.stderr);
  const verified = await trawl(['verify', '--data-dir', dataDir]);
  assert.equal(verified.code, 0, verified.stdout);
  const found = await trawl(['search', '--data-dir', dataDir, '-c', 'int']);
  assert.equal(found.code, 0, found.stderr);
});

void test('a daemon without disk space says so, serves what it has, and resumes when there is space', async (t) => {
  const disk = SmallDisk.mount('8m');
  if (typeof disk === 'string') {
    t.skip(disk);
    return;
  }
  const dataDir = path.join(disk.folder, 'data');
  const filler = path.join(disk.folder, 'other');
  writeFileSync(filler, Buffer.alloc(6 << 20, 'x'));
  const served = await serve(dataDir, manyRepos());
  await served.process.until(/indexing failed .*ENOSPC/);
  const status = (): Promise<Outcome> => trawl(['status', '--data-dir', dataDir]);
  await eventually(async () => {
    const { stdout } = await status();
    return new RegExp(`could not be indexed: ENOSPC: .*${REMEDY}`).test(stdout);
  });
  assert.match((await status()).stdout, /, \d+ wait/);
  const files = async (): Promise<number> =>
    (await post(served.url, { query: 'plum', matches: 1_000_000 })).body.files.length;
  assert.ok((await files()) > 0 && (await files()) < REPOS);
  assert.equal((await get(`${served.url}/api/health`)).status, 200);
  rmSync(filler);
  await eventually(async () => (await files()) === REPOS, 200);
  await eventually(async () => (await status()).code === 0, 200);
  const tries = served.process.stderr.match(/indexing failed/g) ?? [];
  // Some jobs, then rests of 2, 4, 8 s and so on: how many rounds there are depends on how long all of it takes.
  assert.ok(tries.length < 40, `${tries.length}`);
  await served.process.stop();
  const verified = await trawl(['verify', '--data-dir', dataDir]);
  assert.equal(verified.code, 0, verified.stdout);
});
