// Mirrors of real repositories over real git servers: all branches and tags and nothing else, HEAD as on the host,
// after any change of the repository.
// tier: ci (long)

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { FetchStep } from '../../../daemon/hosts/mirrors/git-progress.ts';
import { commitAll, git, temporaryFolder, writeFiles } from '../../sources/git/fixture.ts';
import {
  assertMirrors,
  credentialOf,
  failureOf,
  fetchInto,
  headOf,
  mirrorFolder,
  refsOf,
} from './fetched.ts';
import { GitServer, type Origin, startOrigin } from './git-server.ts';

const start = (t: TestContext, format: 'sha1' | 'sha256' = 'sha1'): Promise<Origin> =>
  startOrigin(t, { 'a.txt': 'plum\n' }, { format });

function push({ tree, repo }: Origin, ...refs: string[]): void {
  git(tree, 'push', '-q', '--force', repo, ...refs);
}

/** What can happen to a repository between two fetches. */
const CHANGES: Readonly<Record<string, (origin: Origin) => void>> = {
  'a commit': (origin) => {
    writeFiles(origin.tree, { 'b.txt': 'fig\n' });
    commitAll(origin.tree);
    push(origin, 'main');
  },
  'branches and tags that come, move and go': (origin) => {
    push(
      origin,
      'main:refs/heads/a',
      'main:refs/heads/gone',
      'v1:refs/tags/moved',
      'v1:refs/tags/gone',
    );
    push(origin, ':refs/heads/gone', ':refs/tags/gone', 'main:refs/tags/moved');
  },
  'a branch in the place of a folder of branches': (origin) => {
    push(origin, ':refs/heads/a', 'main:refs/heads/a/b');
  },
  'a history that was rewritten': (origin) => {
    git(origin.tree, 'commit', '-q', '--amend', '-m', 'other');
    push(origin, 'main', '+main:refs/tags/v1');
  },
  'another default branch': (origin) => {
    push(origin, 'main:refs/heads/trunk');
    git(origin.repo, 'symbolic-ref', 'HEAD', 'refs/heads/trunk');
  },
  'a default branch that was renamed': (origin) => {
    git(origin.repo, 'branch', '-m', 'trunk', 'stem');
  },
  'only tags besides': (origin) => {
    push(origin, 'main:refs/tags/v2');
  },
};

for (const format of ['sha1', 'sha256'] as const)
  for (const isOld of [false, true])
    test(`${format}, protocol ${isOld ? 0 : 2}: a mirror follows its repository`, async (t) => {
      const origin = await start(t, format);
      origin.server.isOld = isOld;
      const folder = mirrorFolder();
      const first = await fetchInto(folder, origin.url);
      assert.deepEqual(first, { isNew: true, isChanged: true, defaultBranch: 'refs/heads/main' });
      assertMirrors(folder, origin.repo);
      for (const [what, change] of Object.entries(CHANGES)) {
        change(origin);
        const { isNew, isChanged, defaultBranch } = await fetchInto(folder, origin.url);
        assert.deepEqual([isNew, isChanged], [false, true], what);
        assertMirrors(folder, origin.repo);
        assert.equal(defaultBranch, headOf(origin.repo), what);
        const again = await fetchInto(folder, origin.url);
        assert.deepEqual(again, { isNew: false, isChanged: false, defaultBranch }, what);
      }
    });

test('without changes git is not started', async (t) => {
  const { server, url } = await start(t);
  const folder = mirrorFolder();
  await fetchInto(folder, url);
  const before = server.requests.length;
  await fetchInto(folder, url);
  const paths = server.requests
    .slice(before)
    .map(({ method, path: requested }) => `${method} ${requested}`);
  assert.deepEqual(paths, ['POST /one.git/git-upload-pack']);
});

test('refs changed locally in the mirror follow the host again', async (t) => {
  const { repo, url } = await start(t);
  const folder = mirrorFolder();
  await fetchInto(folder, url);
  git(folder, 'update-ref', 'refs/heads/own', 'main');
  git(folder, 'update-ref', '-d', 'refs/tags/v1');
  const { isNew } = await fetchInto(folder, url);
  assert.equal(isNew, false);
  assertMirrors(folder, repo);
});

test('a HEAD that names no branch, a commit, or nothing mirrored', async (t) => {
  const { repo, url } = await start(t);
  const folder = mirrorFolder();
  const heads: [string, string | undefined][] = [
    ['ref: refs/heads/nowhere\n', undefined],
    [`${git(repo, 'rev-parse', 'main')}\n`, 'refs/heads/main'],
    ['ref: refs/pull/1/head\n', undefined],
    ['ref: refs/heads/main\n', 'refs/heads/main'],
  ];
  for (const [head, expected] of heads) {
    writeFileSync(path.join(repo, 'HEAD'), head);
    const { defaultBranch } = await fetchInto(folder, url);
    assert.equal(defaultBranch, expected, head);
    assertMirrors(folder, repo, 'refs/heads/main');
  }
});

for (const isOld of [false, true])
  test(`a repository that is empty, filled, and emptied, protocol ${isOld ? 0 : 2}`, async (t) => {
    const origin = await start(t);
    const { repo, tree, url } = origin;
    origin.server.isOld = isOld;
    const folder = mirrorFolder();
    git(repo, 'config', 'receive.denyDeleteCurrent', 'ignore');
    push(origin, ':main', ':v1');
    assert.deepEqual(await fetchInto(folder, url), { isNew: true, isChanged: true });
    assertMirrors(folder, repo);
    assert.deepEqual(await fetchInto(folder, url), { isNew: false, isChanged: false });
    git(tree, 'push', '-q', repo, 'main');
    const { defaultBranch } = await fetchInto(folder, url);
    assert.equal(defaultBranch, 'refs/heads/main');
    push(origin, ':main');
    assert.deepEqual(await fetchInto(folder, url), { isNew: false, isChanged: true });
    assertMirrors(folder, repo);
  });

test('a repository replaced by another one with another hash', async (t) => {
  const { repo, server, url } = await start(t);
  const folder = mirrorFolder();
  await fetchInto(folder, url);
  const other = await start(t, 'sha256');
  renameSync(repo, path.join(temporaryFolder(), 'old'));
  renameSync(other.repo, repo);
  const { isNew } = await fetchInto(folder, url);
  assert.equal(isNew, true);
  assertMirrors(folder, repo);
  assert.ok(server.requests.length > 0);
});

test('names and paths of refs as bytes', async (t) => {
  const origin = await start(t);
  const names = ['ü/ß', 'a"b', "it's", 'main(1)', 'x'.repeat(200), '漢字', '-n', '$(id)'];
  for (const name of names) push(origin, `main:refs/heads/${name}`);
  git(origin.repo, 'symbolic-ref', 'HEAD', 'refs/heads/漢字');
  const folder = mirrorFolder();
  const { defaultBranch } = await fetchInto(folder, origin.url);
  assert.equal(defaultBranch, 'refs/heads/漢字');
  assertMirrors(folder, origin.repo);
  assert.equal((await fetchInto(folder, origin.url)).isChanged, false);
});

test('objects that git would not write today', async (t) => {
  const origin = await start(t);
  const text = git(origin.repo, 'cat-file', 'commit', 'main').replaceAll('+0000', '+051800');
  const file = path.join(temporaryFolder(), 'commit');
  writeFileSync(file, `${text}\n`);
  const odd = git(origin.repo, 'hash-object', '-t', 'commit', '-w', '--literally', file);
  git(origin.repo, 'update-ref', 'refs/heads/odd', odd);
  const folder = mirrorFolder();
  await fetchInto(folder, origin.url);
  assert.equal(git(folder, 'rev-parse', 'odd'), odd);
});

test('20,000 branches', async (t) => {
  const { repo, url } = await start(t);
  const id = git(repo, 'rev-parse', 'main');
  const lines = Array.from({ length: 20_000 }, (_, i) => `${id} refs/heads/d${i % 100}/b${i}`);
  const packed = path.join(repo, 'packed-refs');
  git(repo, 'pack-refs', '--all');
  const existing = readFileSync(packed, 'utf8')
    .split('\n')
    .slice(1)
    .filter((line) => line !== '' && !line.startsWith('^'));
  const sorted = [...existing, ...lines].toSorted((a, b) => (a.slice(41) < b.slice(41) ? -1 : 1));
  writeFileSync(packed, `# pack-refs with: sorted \n${sorted.join('\n')}\n`);
  const folder = mirrorFolder();
  await fetchInto(folder, url);
  assert.equal(refsOf(folder), refsOf(repo));
  assert.equal((await fetchInto(folder, url)).isChanged, false);
  git(repo, 'update-ref', '-d', 'refs/heads/d7/b7');
  assert.equal((await fetchInto(folder, url)).isChanged, true);
  assert.equal(refsOf(folder), refsOf(repo));
});

test('two concurrent fetches of one mirror: one waits, and finds nothing to do', async (t) => {
  const { repo, server, url } = await start(t);
  const folder = mirrorFolder();
  await Promise.all([fetchInto(folder, url), fetchInto(folder, url)]);
  assertMirrors(folder, repo);
  // The first one asks, then git does; the second one asks again, which takes no such request.
  assert.equal(
    server.requests.filter(({ path: requested }) => requested.endsWith('/info/refs')).length,
    2,
  );
  const aborted = new AbortController();
  const running = fetchInto(folder, url);
  const waiting = fetchInto(folder, url, { signal: aborted.signal });
  aborted.abort(new Error('no longer'));
  await assert.rejects(waiting, /no longer/);
  await running;
});

test('progress is reported as numbers', async (t) => {
  const origin = await start(t);
  const files = Array.from({ length: 300 }, (_, i): [string, string] => [`f${i}.txt`, `${i}\n`]);
  writeFiles(origin.tree, Object.fromEntries(files));
  commitAll(origin.tree);
  push(origin, 'main');
  const reported: FetchStep[] = [];
  await fetchInto(mirrorFolder(), origin.url, {
    onProgress: (progress) => reported.push(progress),
  });
  const phases = [...new Set(reported.map(({ phase }) => phase))];
  assert.ok(phases.includes('preparing') && phases.includes('receiving'), JSON.stringify(reported));
  for (const { done, total } of reported)
    assert.ok(done > 0 && done <= total, JSON.stringify(reported));
});

test('a missing git is reported', async () => {
  const { PATH } = process.env;
  const folder = temporaryFolder();
  symlinkSync(execFileSync('which', ['nice']).toString().trim(), path.join(folder, 'nice'));
  process.env['PATH'] = folder;
  try {
    const fetched = fetchInto(mirrorFolder(), `file://${folder}`, { protocols: ['file'] });
    await assert.rejects(fetched, /could not be started: is git installed/);
  } finally {
    process.env['PATH'] = PATH;
  }
});

test('references to other repositories are not followed', async (t) => {
  const origin = await start(t);
  const trap = await GitServer.start(t, { root: temporaryFolder() });
  const touched = path.join(temporaryFolder(), 'touched');
  writeFiles(origin.tree, {
    '.gitmodules': `[submodule "x"]\n\tpath = x\n\turl = ${trap.url}/x.git\n\tupdate = !touch ${touched}\n[submodule "y"]\n\tpath = y\n\turl = ext::sh -c "touch% ${touched}"\n\tfetchRecurseSubmodules = true\n`,
    '.lfsconfig': `[lfs]\n\turl = ${trap.url}/lfs\n`,
    '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
    'a.bin': 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n',
    'hooks/post-checkout': `#!/bin/sh\ntouch ${touched}\n`,
  });
  git(
    origin.tree,
    'update-index',
    '--add',
    '--cacheinfo',
    `160000,${git(origin.tree, 'rev-parse', 'main')},x`,
  );
  commitAll(origin.tree);
  push(origin, 'main');
  // The host's own configuration and alternates are no part of what it serves.
  git(origin.repo, 'config', 'core.sshCommand', `touch ${touched}`);
  git(origin.repo, 'config', 'remote.origin.uploadpack', `touch ${touched}`);
  const folder = mirrorFolder();
  await fetchInto(folder, origin.url);
  CHANGES['a commit']!(origin);
  await fetchInto(folder, origin.url);
  assert.deepEqual(trap.requests, []);
  assert.deepEqual(readdirSync(path.dirname(touched)), []);
  const config = git(folder, 'config', '--local', '--name-only', '--list').split('\n');
  assert.deepEqual(
    config.filter((name) => !/^core\.(?:repositoryformatversion|filemode|bare)$/.test(name)),
    [],
  );
  assert.equal(refsOf(folder), refsOf(origin.repo));
  // What git would refuse to check out is no damage.
  assert.equal((await fetchInto(folder, origin.url, { isDoubted: true })).isNew, false);
});

describe('other protocols', () => {
  test('a copy without a git server is refused', async (t) => {
    const { repo, server, url } = await start(t);
    git(repo, 'update-server-info');
    server.answer = (request, response) => {
      const file = path.join(path.dirname(repo), new URL(request.url ?? '', server.url).pathname);
      response.setHeader('content-type', 'text/plain').end(readFileSync(file));
      return true;
    };
    await failureOf(fetchInto(mirrorFolder(), url), 'HOST_ANSWER_INVALID');
  });

  test('invalid addresses', async () => {
    const wrong = [
      'ext::sh -c "touch /x"',
      'ssh://-oProxyCommand=x/y',
      'http://user:s3cret@127.0.0.1/x.git',
      'http://s3cret@127.0.0.1/x.git',
      'http://127.0.0.1/x.git?s3cret',
      'ftp://127.0.0.1/x.git',
      '--upload-pack=s3cret',
      'http://127.0.0.1/x y.git',
      'git@127.0.0.1:x.git',
      'git://127.0.0.1/x.git',
      'file:///srv/x.git',
    ];
    for (const url of wrong) {
      const error = await failureOf(fetchInto(mirrorFolder(), url), 'ADDRESS_REFUSED');
      assert.doesNotMatch(error.message, /s3cret/, url);
    }
  });
});

test('a folder that is not a mirror is replaced', async (t) => {
  const { repo, url } = await start(t);
  const folder = mirrorFolder();
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'HEAD'), 'ref: refs/heads/x\n');
  assert.equal((await fetchInto(folder, url, { credential: credentialOf('u', 'p') })).isNew, true);
  assertMirrors(folder, repo);
});
