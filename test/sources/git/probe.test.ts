// The kind of source at a path, and the names of repos.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ProbeError } from '../../../daemon/sources/git/path-kind.ts';
import { probeSource } from '../../../daemon/sources/git/probe.ts';
import { freeRepoName, repoNameFromUrl } from '../../../daemon/repos/repo-name.ts';
import { git, makeRepo, temporaryFolder, writeFiles } from './fixture.ts';

test('a work tree', async () => {
  const repo = makeRepo({ a: 'a' });
  const commit = git(repo, 'rev-parse', 'HEAD');
  assert.deepEqual(await probeSource(repo), {
    source: { kind: 'commits', path: repo },
    layout: 'worktree',
    name: `local/${path.basename(repo)}`,
    defaultRevision: 'refs/heads/main',
    commit,
    pushedAt: '2024-05-06T07:08:09.000Z',
  });
  const files = await probeSource(`${repo}/`, 'worktree');
  assert.deepEqual(files.source, { kind: 'worktree', path: repo });
  assert.equal(files.defaultRevision, 'HEAD');
  assert.equal(files.defaultBranch, 'refs/heads/main');
  assert.equal(files.commit, commit);
});

test('bare repositories and mirrors', async () => {
  const repo = makeRepo({ a: 'a' });
  const folder = temporaryFolder();
  git(folder, 'clone', '-q', '--bare', repo, 'bare.git');
  git(folder, 'clone', '-q', '--mirror', repo, 'mirror.git');
  for (const name of ['bare.git', 'mirror.git']) {
    const probed = await probeSource(path.join(folder, name));
    assert.equal(probed.layout, 'bare');
    assert.equal(probed.name, `local/${name}`);
    assert.equal(probed.defaultRevision, 'refs/heads/main');
    assert.equal(probed.commit, git(repo, 'rev-parse', 'HEAD'));
  }
  await assert.rejects(
    probeSource(path.join(folder, 'bare.git'), 'worktree'),
    /bare\.git: .*no files/,
  );
  git(path.join(folder, 'bare.git'), 'remote', 'set-url', 'origin', 'git@example.com:o/n.git');
  assert.equal((await probeSource(path.join(folder, 'bare.git'))).name, 'example.com/o/n');
});

test('a linked work tree and the .git folder itself', async () => {
  const repo = makeRepo({ a: 'a' });
  const linked = path.join(temporaryFolder(), 'linked');
  git(repo, 'worktree', 'add', '-q', '-b', 'side', linked);
  const probed = await probeSource(linked);
  assert.equal(probed.layout, 'worktree');
  assert.equal(probed.defaultRevision, 'refs/heads/side');
  const inner = await probeSource(path.join(repo, '.git'));
  assert.equal(inner.layout, 'bare');
  assert.equal(inner.name, `local/${path.basename(repo)}`);
});

test('detached HEAD', async () => {
  const repo = makeRepo({ a: 'a' });
  const commit = git(repo, 'rev-parse', 'HEAD');
  git(repo, 'checkout', '-q', '--detach');
  const probed = await probeSource(repo);
  assert.equal(probed.defaultRevision, 'HEAD');
  assert.equal(probed.commit, commit);
});

test('HEAD is not among the hundred newest branches', async () => {
  const repo = makeRepo({ a: 'a' });
  const commit = git(repo, 'rev-parse', 'HEAD');
  // Source: git-for-each-ref(1): those of one date go by name.
  for (let i = 0; i < 101; i++) writeFiles(repo, { [`.git/refs/heads/b${i}`]: `${commit}\n` });
  const { defaultRevision, commit: found, pushedAt } = await probeSource(repo);
  assert.equal(defaultRevision, 'refs/heads/main');
  assert.equal(found, commit);
  assert.equal(pushedAt, '2024-05-06T07:08:09.000Z');
});

test('an empty repository has no commit', async () => {
  const repo = temporaryFolder();
  git(repo, 'init', '-q', '-b', 'main');
  const probed = await probeSource(repo);
  assert.equal(probed.defaultRevision, 'refs/heads/main');
  assert.equal(probed.commit, undefined);
  assert.equal(probed.pushedAt, undefined);
});

test('HEAD of a bare repository names a branch that does not exist', async () => {
  const repo = makeRepo({ a: 'a' });
  const bare = temporaryFolder();
  git(bare, 'init', '-q', '--bare', '-b', 'master');
  git(repo, 'push', '-q', bare, 'main:topic', 'main');
  assert.equal((await probeSource(bare)).defaultRevision, 'refs/heads/main');
});

test('plain folders, also inside a work tree', async () => {
  const repo = makeRepo({ 'sub/a': 'a' });
  const sub = path.join(repo, 'sub');
  assert.deepEqual(await probeSource(sub), {
    source: { kind: 'folder', path: sub },
    layout: 'folder',
    name: 'local/sub',
    defaultRevision: 'HEAD',
  });
  await assert.rejects(probeSource(sub, 'commits'), /no commits/);
});

test('invalid sources are named with the reason', async () => {
  const folder = temporaryFolder();
  writeFiles(folder, { file: 'x' });
  mkdirSync(path.join(folder, 'broken/.git'), { recursive: true });
  symlinkSync('nowhere', path.join(folder, 'dangling'));
  const cases: [string, string][] = [
    ['missing', 'not_found'],
    ['dangling', 'not_found'],
    ['file', 'not_a_directory'],
    ['file/below', 'not_a_directory'],
    ['broken', 'not_a_repository'],
  ];
  for (const [name, failure] of cases) {
    const target = path.join(folder, name);
    await assert.rejects(probeSource(target), (error) => {
      assert.ok(error instanceof ProbeError);
      assert.equal(error.failure, failure, name);
      assert.ok(error.message.startsWith(`${target}: `), error.message);
      return true;
    });
  }
  await assert.rejects(probeSource(path.join(folder, 'dangling')), /exist \(a link to nowhere\)$/);
  rmSync(path.join(folder, 'dangling'));
});

test('part of a bare repository is not a folder', async () => {
  const repo = makeRepo({ a: 'a' });
  const folder = temporaryFolder();
  const make = (name: string, ...parts: readonly string[]): string => {
    const target = path.join(folder, name);
    mkdirSync(target);
    for (const part of parts)
      cpSync(path.join(repo, '.git', part), path.join(target, part), { recursive: true });
    return target;
  };
  const cases: [string, string][] = [
    [make('a', 'HEAD', 'objects'), 'refs'],
    [make('b', 'HEAD', 'refs'), 'objects'],
    [make('c', 'config'), 'HEAD, objects, refs'],
    [make('d', 'config', 'refs', 'hooks'), 'HEAD, objects'],
    [make('e.git', 'HEAD'), 'objects, refs'],
    [make('f.git'), 'HEAD, objects, refs'],
  ];
  for (const [target, missing] of cases)
    for (const mode of [undefined, 'commits', 'folder'] as const)
      await assert.rejects(probeSource(target, mode), {
        failure: 'not_a_repository',
        message: `${target}: looks like a damaged or incomplete bare repository; missing: ${missing}`,
      });
  writeFiles(folder, { 'g/config': '[core]', 'g/objects/a': '', 'g/refs/a': '', 'h.git/a': '' });
  for (const name of ['g', 'h.git'])
    assert.equal((await probeSource(path.join(folder, name))).layout, 'folder');
  await assert.rejects(probeSource(repo, 'folder'), /not a plain folder/);
});

test('names derived from addresses', () => {
  const cases: [string, string | undefined][] = [
    ['https://github.com/owner/name.git', 'github.com/owner/name'],
    ['https://user:token@GitHub.com/owner/name', 'github.com/owner/name'],
    ['https://host:8443/a/b/c.git/', 'host:8443/a/b/c'],
    ['ssh://git@host.example:2222/owner/name.git', 'host.example:2222/owner/name'],
    ['git@github.com:owner/name.git', 'github.com/owner/name'],
    ['host.example:path/with.dots/name', 'host.example/path/with.dots/name'],
    ['git@host:/abs/name.git', 'host/abs/name'],
    ['git://host/~user/name.git', 'host/~user/name'],
    ['https://host/a%20b/c.git', 'host/a b/c'],
    ['/srv/git/name.git', undefined],
    ['../name', undefined],
    ['./odd:name', undefined],
    ['C:\\repos\\name', undefined],
    ['file:///srv/git/name.git', undefined],
    ['https://host/', undefined],
    ['git@host:../x', undefined],
    [`https://host/${'a'.repeat(3_500)}`, undefined],
    ['ext::touch /tmp/x', undefined],
    ['ext::sh -c id% >&2', undefined],
    ['<b>host:owner/name', undefined],
    ['', undefined],
  ];
  for (const [address, name] of cases) assert.equal(repoNameFromUrl(address), name, address);
});

test('conflicting names get numbers', () => {
  assert.equal(freeRepoName('local/a', new Set()), 'local/a');
  assert.equal(freeRepoName('local/a', new Set(['local/a'])), 'local/a-2');
  assert.equal(freeRepoName('local/a', new Set(['local/a', 'local/a-2'])), 'local/a-3');
});
