// Failures while a mirror is fetched: hosts that are down, slow or cut their answers, full disks, damaged files, and
// `kill -9` at any moment (TRAWL_KILLS: how many). The old mirror stays, or a complete one replaces it.
// tier: ci (kills and full disks)

import assert from 'node:assert/strict';
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { before, describe, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { boundGit } from '../../../daemon/sources/git/git-watch.ts';
import { REMOTE_REFS_SIZE_MAX } from '../../../daemon/hosts/mirrors/remote-refs.ts';
import { startServer } from '../servers.ts';
import { SEED } from '../../seed.ts';
import { SmallDisk } from '../../sync/small-disk.ts';
import { commitAll, git, writeFiles } from '../../sources/git/fixture.ts';
import { assertMirrors, failureOf, fetchInto, logLines, mirrorFolder, refsOf } from './fetched.ts';
import { freePort, noise, type Origin, startOrigin } from './git-server.ts';

const start = (t: TestContext, size = 300_000): Promise<Origin> =>
  startOrigin(t, { 'a.bin': noise(size, SEED) });

let pushCount = 0;

function pushMore({ tree, repo }: Origin, size = 50_000): void {
  const name = `more-${++pushCount}.bin`;
  writeFiles(tree, { [name]: noise(size, SEED + pushCount) });
  commitAll(tree);
  git(tree, 'push', '-q', repo, 'main', `main:refs/heads/branch-${pushCount}`);
}

test('a host that is down, and one that does not exist', async () => {
  const url = `http://127.0.0.1:${await freePort()}/one.git`;
  const error = await failureOf(fetchInto(mirrorFolder(), url), 'HOST_UNAVAILABLE');
  assert.match(error.message, /ECONNREFUSED/);
  const unknown = 'http://no-such-host.invalid/one.git';
  await failureOf(fetchInto(mirrorFolder(), unknown), 'HOST_UNAVAILABLE');
});

test('a missing repository, and one closed to everybody', async (t) => {
  const { server, url } = await start(t);
  const error = await failureOf(fetchInto(mirrorFolder(), `${server.url}/none.git`), 'NOT_FOUND');
  assert.match(error.message, /none\.git/);
  server.answer = (_, response) => Boolean(response.writeHead(403).end());
  await failureOf(fetchInto(mirrorFolder(), url), 'NOT_ALLOWED');
});

test('an endless list of refs is refused with the limit', async (t) => {
  const type = 'application/x-git-upload-pack-advertisement';
  const body = '0032'.repeat((REMOTE_REFS_SIZE_MAX >> 2) + 1);
  const server = await startServer(t, () => ({ body, headers: { 'content-type': type } }));
  const error = await failureOf(
    fetchInto(mirrorFolder(), `${server.url}/acme/one.git`),
    'TOO_MANY_REFS',
  );
  assert.match(error.message, /more than 16777216 bytes; .*exclude it/);
});

test('a web page is never taken for a repository without refs', async (t) => {
  const origin = await start(t);
  const { repo, server, url } = origin;
  const folder = mirrorFolder();
  await fetchInto(folder, url);
  pushMore(origin);
  let count = 0;
  for (const [requestCount, page] of [0, 1, 2].flatMap(
    (i) =>
      [
        [i, '<html>\nsign in\n</html>'],
        [i, '<html>'],
      ] as const,
  )) {
    let code = '';
    server.answer = ({ method, headers }, response) => {
      if (count++ % (requestCount + 1) < requestCount) return false;
      // Git reports a web page in place of refs like a truncated list.
      const isOurs = headers['user-agent'] === 'git/trawl';
      code = method === 'POST' && !isOurs ? 'HOST_UNAVAILABLE' : 'HOST_ANSWER_INVALID';
      response.setHeader('content-type', 'text/html').end(page);
      return true;
    };
    for (const target of [folder, mirrorFolder()]) {
      count = 0;
      const error = await failureOf(fetchInto(target, url));
      assert.equal(error.code, code);
    }
  }
  server.answer = undefined;
  assert.equal((await fetchInto(folder, url)).isNew, false);
  assertMirrors(folder, repo);
});

test('truncated answers: nothing is removed, and the next fetch is complete', async (t) => {
  const origin = await start(t);
  const { repo, server, url } = origin;
  const folder = mirrorFolder();
  for (const size of [5000, 100_000, 250_000]) {
    server.cutAt = size;
    await failureOf(fetchInto(folder, url), 'HOST_UNAVAILABLE');
    assert.deepEqual(readdirSync(path.dirname(folder)), []);
  }
  server.cutAt = undefined;
  await fetchInto(folder, url);
  pushMore(origin);
  for (const size of [5000, 20_000]) {
    server.cutAt = size;
    await failureOf(fetchInto(folder, url), 'HOST_UNAVAILABLE');
    git(folder, 'fsck', '--full', '--no-dangling');
  }
  // Also of the list of refs: a part of it looks like branches that are gone.
  let isPassed = false;
  server.answer = (request, response) => {
    if (request.method !== 'POST') return false;
    isPassed = true;
    const listed =
      git(repo, 'for-each-ref', '--count=1', '--format=%(objectname) %(refname)') + '\n';
    response.setHeader('content-type', 'application/x-git-upload-pack-result');
    response.end((listed.length + 4).toString(16).padStart(4, '0') + listed);
    return true;
  };
  await assert.rejects(fetchInto(folder, url));
  assert.ok(isPassed);
  server.answer = undefined;
  server.cutAt = undefined;
  assert.equal((await fetchInto(folder, url)).isNew, false);
  assertMirrors(folder, repo);
});

test('a server that ends in the middle of a partly stored pack', async (t) => {
  const { server, url } = await start(t);
  const folder = mirrorFolder();
  let size = 0;
  server.pauseAt = {
    size: 100_000,
    until: async () => {
      while ((size = receivedSize(path.dirname(folder))) === 0 && !t.signal.aborted) await sleep(5);
      await server.close();
    },
  };
  await failureOf(fetchInto(folder, url), 'HOST_UNAVAILABLE');
  assert.ok(size > 0 && size <= 100_000, `${size}`);
  assert.deepEqual(readdirSync(path.dirname(folder)), []);
});

/** Bytes of packs that git has written so far, and that are not whole. */
function receivedSize(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => path.basename(file).startsWith('tmp_pack_'))
    .reduce(
      (sum, file) =>
        sum + (statSync(path.join(folder, file), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
}

test('a silent host: the fetch ends; a slow one continues', async (t) => {
  boundGit(() => 100);
  t.after(() => boundGit(() => 30_000));
  const { repo, server, url } = await start(t);
  const folder = mirrorFolder();
  server.pauseAt = { size: 4096, until: () => new Promise(() => {}) };
  const error = await failureOf(fetchInto(folder, url), 'TIMEOUT');
  assert.match(error.message, /127\.0\.0\.1/);
  assert.deepEqual(readdirSync(path.dirname(folder)), []);
  server.pauseAt = undefined;
  server.delayMs = 500;
  await fetchInto(folder, url);
  assertMirrors(folder, repo);
});

test('an aborted fetch, and one over its time limit', async (t) => {
  const { server, url } = await start(t);
  const folder = mirrorFolder();
  server.pauseAt = { size: 4096, until: () => new Promise(() => {}) };
  const abort = new AbortController();
  const fetching = fetchInto(folder, url, { signal: abort.signal });
  while (!server.requests.some(({ method }) => method === 'POST')) await sleep(5);
  abort.abort(new Error('no longer'));
  await assert.rejects(fetching, /no longer/);
  await failureOf(fetchInto(folder, url, { timeoutMs: 1500 }), 'TIMEOUT');
  server.answer = (_, response) =>
    Boolean(response.writeHead(429, { 'retry-after': '3000' }).end());
  await failureOf(fetchInto(folder, url, { timeoutMs: 300 }), 'TIMEOUT');
  assert.deepEqual(readdirSync(path.dirname(folder)), []);
});

describe('a disk that is too small', () => {
  let disk: SmallDisk | string;
  before(() => {
    disk = SmallDisk.mount('24m');
  });

  test('the fetch ends before the disk is full, and its data is removed', async (t) => {
    if (typeof disk === 'string') return t.skip(disk);
    const folder = path.join(disk.folder, 'clones', '7.git');
    const large = await start(t, 28_000_000);
    const error = await failureOf(fetchInto(folder, large.url), 'DISK_FULL');
    assert.match(error.message, /clones.*select fewer repositories, or free space/);
    assert.deepEqual(readdirSync(path.dirname(folder)), []);
    const small = await start(t);
    await fetchInto(folder, small.url);
    assertMirrors(folder, small.repo);
    disk.fill(20);
    pushMore(small);
    await failureOf(fetchInto(folder, small.url), 'DISK_FULL');
    disk.clear();
    assert.equal((await fetchInto(folder, small.url)).isNew, false);
    assertMirrors(folder, small.repo);
    disk.fill(20);
    assert.equal((await fetchInto(folder, small.url)).isChanged, false);
    disk.clear();
  });
});

/** Ways to damage a mirror that the fetch itself notices. */
const DAMAGES: Readonly<Record<string, (folder: string) => void>> = {
  'packed-refs is something else': (folder) =>
    writeFileSync(path.join(folder, 'packed-refs'), 'x\0y'),
  'HEAD is empty': (folder) => writeFileSync(path.join(folder, 'HEAD'), ''),
  'HEAD is no text': (folder) => writeFileSync(path.join(folder, 'HEAD'), Buffer.alloc(20, 0xff)),
  'HEAD leads elsewhere': (folder) => {
    rmSync(path.join(folder, 'HEAD'));
    symlinkSync(import.meta.filename, path.join(folder, 'HEAD'));
  },
  'there are no objects': (folder) => rmSync(path.join(folder, 'objects'), { recursive: true }),
  'there are no packs': (folder) => rmSync(path.join(folder, 'objects/pack'), { recursive: true }),
  'the configuration is gone': (folder) => rmSync(path.join(folder, 'config')),
  'the configuration is empty': (folder) => writeFileSync(path.join(folder, 'config'), ''),
  'the configuration is cut': (folder) => writeFileSync(path.join(folder, 'config'), '[core'),
  'what it held is a pipe': (folder) => {
    rmSync(path.join(folder, 'trawl-mirror.json'));
    execFileSync('mkfifo', [path.join(folder, 'trawl-mirror.json')]);
  },
  'what it held is not known': (folder) => rmSync(path.join(folder, 'trawl-mirror.json')),
};

test('a damaged mirror is recreated', async (t) => {
  const origin = await start(t);
  const folder = mirrorFolder();
  await fetchInto(folder, origin.url);
  for (const [what, damage] of Object.entries(DAMAGES)) {
    damage(folder);
    pushMore(origin);
    assert.equal((await fetchInto(folder, origin.url)).isNew, true, what);
    assertMirrors(folder, origin.repo);
  }
});

test('changed and missing pack bytes are found when the mirror is suspected', async (t) => {
  const origin = await start(t);
  const folder = mirrorFolder();
  await fetchInto(folder, origin.url);
  pushMore(origin);
  await fetchInto(folder, origin.url);
  assert.equal((await fetchInto(folder, origin.url, { isDoubted: true })).isNew, false);
  const packs = (): string[] =>
    readdirSync(path.join(folder, 'objects/pack')).map((name) =>
      path.join(folder, 'objects/pack', name),
    );
  for (const [ending, change] of [
    ['.pack', flip],
    ['.idx', flip],
    ['.pack', (file: string) => truncateSync(file, statSync(file).size - 30)],
    ['.pack', (file: string) => rmSync(file)],
    ['.pack', (file: string) => appendFileSync(file, 'x')],
  ] as const) {
    const file = packs().find((name) => name.endsWith(ending))!;
    chmodSync(file, 0o600);
    change(file);
    const lines = logLines.length;
    assert.equal((await fetchInto(folder, origin.url, { isDoubted: true })).isNew, true);
    assert.match(logLines.slice(lines).join(), /is rebuilt/);
    assertMirrors(folder, origin.repo);
  }
});

function flip(file: string): void {
  const bytes = readFileSync(file);
  const offset = bytes.length >> 1;
  bytes[offset] = bytes[offset]! ^ 0x10;
  writeFileSync(file, bytes);
}

test('a mirror that cannot be recreated stays', async (t) => {
  const origin = await start(t);
  const folder = mirrorFolder();
  await fetchInto(folder, origin.url);
  flip(
    path.join(
      folder,
      'objects/pack',
      readdirSync(path.join(folder, 'objects/pack')).find((name) => name.endsWith('.pack'))!,
    ),
  );
  origin.server.cutAt = 5000;
  await failureOf(fetchInto(folder, origin.url, { isDoubted: true }), 'HOST_UNAVAILABLE');
  assert.equal(git(folder, 'rev-parse', 'main'), git(origin.repo, 'rev-parse', 'main'));
});

test('unconfirmed refs and objects are never stored, and are requested again', async (t) => {
  const origin = await start(t);
  const folder = mirrorFolder();
  let requested = 0;
  const confirm = (): Promise<void> => {
    requested++;
    return Promise.reject(new Error('not so'));
  };
  await assert.rejects(fetchInto(folder, origin.url, { confirm }), /not so/);
  assert.deepEqual(readdirSync(path.dirname(folder)), []);
  await fetchInto(folder, origin.url);
  const before = refsOf(folder);
  pushMore(origin);
  for (const _ of [1, 2])
    await assert.rejects(fetchInto(folder, origin.url, { confirm }), /not so/);
  assert.equal(requested, 3);
  assert.equal(refsOf(folder), before);
  const commit = git(origin.repo, 'rev-parse', 'HEAD');
  assert.throws(() => git(folder, 'cat-file', '-e', commit));
  assert.deepEqual(readdirSync(path.dirname(folder)), [path.basename(folder)]);
  const agreed = (): Promise<void> => {
    assert.throws(() => git(folder, 'cat-file', '-e', commit), 'it is asked before');
    return Promise.resolve();
  };
  assert.equal((await fetchInto(folder, origin.url, { confirm: agreed })).isNew, false);
  assertMirrors(folder, origin.repo);
  await fetchInto(folder, origin.url, { confirm });
  assert.equal(requested, 3, 'nothing changed');
});

test('locks and parts left by a killed git are removed', async (t) => {
  const origin = await start(t);
  const folder = mirrorFolder();
  await fetchInto(folder, origin.url);
  const remaining =
    `packed-refs.lock HEAD.lock config.lock refs/heads/main.lock refs/heads/a/b.lock objects/pack/tmp_pack_x
    objects/pack/pack-x.keep objects/tmp_objdir-x/y HEAD.tmp`.split(/\s+/);
  writeFiles(folder, Object.fromEntries(remaining.map((name) => [name, 'x'])));
  mkdirSync(`${folder}.new-1-2-3`);
  pushMore(origin);
  await fetchInto(folder, origin.url);
  for (const name of remaining) assert.throws(() => statSync(path.join(folder, name)), name);
});

test('a complete mirror about to replace another one does', async (t) => {
  const origin = await start(t);
  const folder = mirrorFolder();
  await fetchInto(folder, origin.url);
  const { ino } = statSync(folder);
  renameSync(folder, `${folder}.new-1-2-3`);
  mkdirSync(`${folder}.old-1-2-3`);
  await fetchInto(folder, origin.url);
  assert.equal(statSync(folder).ino, ino);
  assertMirrors(folder, origin.repo);
});

const KILLS = Number(process.env['TRAWL_KILLS'] ?? 5);

test(`kill -9 at ${KILLS} random moments of first and later fetches: then the mirror is complete`, async (t) => {
  const origin = await start(t);
  const folder = mirrorFolder();
  const file = fileURLToPath(new URL('./killed-child.js', import.meta.url));
  let random = SEED + 1;
  let midway = 0;
  for (let i = 0; i < KILLS; i++) {
    if (i % 5 === 0) rmSync(folder, { recursive: true, force: true });
    pushMore(origin, 20_000);
    const child = fork(file, [folder, origin.url], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    let fetchedCount = 0;
    child.stdout!.on('data', () => void fetchedCount++);
    const requested = origin.server.requests.length;
    while (origin.server.requests.length === requested) await sleep(1);
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
    await sleep(random % 120);
    child.kill('SIGKILL');
    await once(child, 'close');
    if (fetchedCount === 0) midway++;
    // Whatever it was doing, all that the refs of the mirror name is there.
    if (existsSync(folder)) git(folder, 'rev-list', '--objects', '--quiet', '--all');
    if (i % 5 !== 4) continue;
    // Another process, as behind a daemon that was killed.
    const next = fork(file, [folder, origin.url, 'once'], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    assert.deepEqual(await once(next, 'close'), [0, null]);
    assertMirrors(folder, origin.repo);
  }
  assert.ok(midway > KILLS / 4, `only ${midway} of ${KILLS} were killed midway`);
});
