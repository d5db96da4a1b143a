// Repositories with content that git accepts but should not exist: impossible dates, names that lead out, dangling
// refs. Each is served as far as possible, and others are not affected.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { git, makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { call, get, pathsOf, search, serve, jobsEnded, type Served } from './daemon.ts';

/** Writes a tree object that `git mktree` would refuse. */
function writeTree(
  repo: string,
  entries: readonly [mode: string, name: string, oid: string][],
): string {
  const bytes = Buffer.concat(
    entries.flatMap(([mode, name, oid]) => [
      Buffer.from(`${mode} ${name}\0`),
      Buffer.from(oid, 'hex'),
    ]),
  );
  const args = ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'];
  return spawnSync('git', args, { cwd: repo, input: bytes }).stdout.toString().trim();
}

/** A commit object written as it stands. */
function writeCommit(repo: string, tree: string, author: string, committer: string): string {
  const text = `tree ${tree}\nauthor A <a@b> ${author}\ncommitter A <a@b> ${committer}\n\nfar\n`;
  const args = ['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'];
  return spawnSync('git', args, { cwd: repo, input: text }).stdout.toString().trim();
}

function farRepo(): string {
  const repo = makeRepo({ 'far.txt': 'plum\n' });
  const tree = git(repo, 'rev-parse', 'HEAD^{tree}');
  const far = '99999999999999 +0000';
  git(repo, 'update-ref', 'refs/heads/far', writeCommit(repo, tree, far, far));
  git(repo, 'update-ref', 'refs/heads/none', writeCommit(repo, tree, 'nonsense', 'nonsense'));
  git(
    repo,
    'update-ref',
    'refs/heads/late',
    writeCommit(repo, tree, '0 +0000', '999999999999 +0000'),
  );
  return repo;
}

function leadingOut(): string {
  const repo = makeRepo({ 'inner.txt': 'plum\n' });
  const blob = git(repo, 'rev-parse', 'HEAD:inner.txt');
  const inner = writeTree(repo, [['100644', 'evil', blob]]);
  const tree = writeTree(repo, [
    ['40000', '.', inner],
    ['40000', '..', inner],
    ['100644', '..\\evil', blob],
    ['100644', '../../etc/evil', blob],
    ['40000', '.GIT', inner],
    ['40000', '.git', inner],
    ['100644', '/etc/passwd', blob],
    ['100644', 'back\\slash', blob],
    ['100644', 'inner.txt', blob],
    [
      '40000',
      'sub',
      writeTree(repo, [
        ['100644', '..', blob],
        ['100644', '..a', blob],
      ]),
    ],
  ]);
  git(repo, 'update-ref', 'HEAD', writeCommit(repo, tree, '1 +0000', '1 +0000'));
  return repo;
}

function brokenRefs(): string {
  const repo = makeRepo({ 'refs.txt': 'plum\n' });
  writeFileSync(path.join(repo, '.git/refs/heads/empty'), '');
  writeFileSync(path.join(repo, '.git/refs/heads/gone'), `${'1'.repeat(40)}\n`);
  mkdirSync(path.join(repo, '.git/refs/heads/x'), { recursive: true });
  writeFileSync(path.join(repo, '.git/refs/heads/x/garbage'), 'ref: refs/heads/x/garbage\n');
  return repo;
}

function badPackedRefs(): string {
  const repo = makeRepo({ 'packed.txt': 'plum\n' });
  appendFileSync(path.join(repo, '.git/packed-refs'), 'what is this\n\0\0\n');
  return repo;
}

function nowhere(): string {
  const repo = makeRepo({ 'nowhere.txt': 'plum\n' });
  writeFileSync(path.join(repo, '.git/HEAD'), 'ref: refs/heads/nowhere\n');
  return repo;
}

const good = makeRepo({ 'good.txt': 'plum\n' });
const sources = [farRepo(), leadingOut(), brokenRefs(), badPackedRefs(), nowhere(), good];
const nameOf = (index: number): string => `local/${path.basename(sources[index]!)}`;
let served: Served;
before(async () => {
  const flags = ['--mode', 'commits', '--branches', 'main'];
  served = await serve(temporaryFolder(), sources, { flags });
  await jobsEnded(served, sources.length);
});
after(() => served.process.stop());

void test('all readable files are served', async () => {
  assert.deepEqual(pathsOf(await search(served.url, 'plum')), [
    'back\\slash',
    'far.txt',
    'good.txt',
    'inner.txt',
    'nowhere.txt',
    'refs.txt',
    'sub/..a',
  ]);
  assert.match(served.process.stderr, new RegExp(`${sources[3]}[^\\n]*: failed: `));
});

void test('names that lead out of the repository are in no answer', async () => {
  const repoName = nameOf(1);
  const body = JSON.stringify({ repoName, revisionName: 'main' });
  const files = await call(`${served.url}/api/files`, { method: 'POST', body });
  const paths = ((await files.json()) as { path: string }[]).map((item) => item.path);
  assert.deepEqual(paths.sort(), ['back\\slash', 'inner.txt', 'sub/..a']);
  const query = new URLSearchParams({ repoName, revisionName: 'main', path: '' });
  const folder = await get<{ name: string }[]>(
    `${served.url}/api/folder_contents?${query.toString()}`,
  );
  assert.deepEqual(
    folder.body.map(({ name }) => name),
    ['sub', 'back\\slash', 'inner.txt'],
  );
  for (const hidden of ['.git/evil', '..\\evil', './evil']) {
    const address = new URLSearchParams({ repo: repoName, path: hidden, ref: 'main' });
    assert.equal((await get(`${served.url}/api/source?${address.toString()}`)).status, 404, hidden);
  }
  assert.match(served.process.stderr, /file left out .*reason=outer_path/);
});

void test('dates outside of the calendar', async () => {
  const repo = encodeURIComponent(nameOf(0));
  const refs = await get<{ shortName: string; committedAt: string }[]>(
    `${served.url}/api/refs?repo=${repo}`,
  );
  const times = refs.body.map(({ shortName, committedAt }) => `${shortName} ${committedAt}`);
  assert.deepEqual(times.sort(), [
    'far 1970-01-01T00:00:00.000Z',
    'late 1970-01-01T00:00:00.000Z',
    'main 2024-05-06T07:08:09.000Z',
    'none 1970-01-01T00:00:00.000Z',
  ]);
  for (const ref of ['far', 'none', 'late']) {
    const commits = await get<{ date: string }[]>(
      `${served.url}/api/commits?repo=${repo}&ref=${ref}`,
    );
    assert.equal(commits.status, 200);
    assert.match(commits.body[0]?.date ?? '', /^1970-01-01T00:00:00(?:Z|\+00:00)$/, ref);
  }
  const repos = await get<{ repoName: string; pushedAt?: string }[]>(`${served.url}/api/repos`);
  const far = repos.body.find(({ repoName }) => repoName === nameOf(0));
  assert.equal(far?.pushedAt, '2024-05-06T07:08:09.000Z');
});
