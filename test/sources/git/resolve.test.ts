// Resolving a ref to its commit, against `git rev-parse`; the refs of a work tree.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { objectPool } from '../../../daemon/sources/git/object-pool.ts';
import type { SourceKind } from '../../../daemon/repos/records.ts';
import { RefError } from '../../../daemon/sources/git/names.ts';
import { listRefs } from '../../../daemon/sources/git/refs.ts';
import { RepoGoneError, resolveRef } from '../../../daemon/sources/git/resolve.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from './fixture.ts';

const { signal } = new AbortController();
after(() => objectPool.close());

const idOf = (repo: string, name: string): string => git(repo, 'rev-parse', name);

function resolve(repo: string, ref?: string, kind: SourceKind = 'commits'): Promise<string> {
  const defaultRevision = kind === 'commits' ? 'refs/heads/main' : 'HEAD';
  return resolveRef({ name: 'r', source: { kind, path: repo }, defaultRevision }, ref, signal);
}

/** Three commits on main, a branch, tags of all kinds. */
function makeHistory(): string {
  const repo = makeRepo({ a: 'one', 'x^{commit}': 'no commit', sub: '' });
  git(repo, 'tag', 'light');
  git(repo, 'tag', '-a', '-m', 'm', 'annotated');
  git(repo, 'tag', '-a', '-m', 'm', 'nested', 'annotated');
  for (const message of ['fix it', 'third']) {
    writeFiles(repo, { a: message });
    commitAll(repo, message);
  }
  git(repo, 'branch', 'feature/ü', 'HEAD~1');
  git(repo, 'tag', 'of-blob', 'HEAD:a');
  git(repo, 'tag', '-a', '-m', 'm', 'of-tree', 'HEAD^{tree}');
  return repo;
}

test('whatever git can resolve', async () => {
  const repo = makeHistory();
  const head = idOf(repo, 'HEAD');
  const words =
    'HEAD main heads/main refs/heads/main @ feature/ü light annotated nested tags/nested refs/tags/light ' +
    'main~2 HEAD^ main^0 annotated^{} annotated^{commit} :/fix main^{commit}';
  const refs = [
    ...words.split(' '),
    'HEAD^{/fix it}',
    head,
    head.slice(0, 7),
    head.toUpperCase(),
    idOf(repo, 'annotated'),
    'nested-0-g'.concat(head.slice(0, 8)),
  ];
  for (const ref of [...refs, ...refs])
    assert.equal(
      await resolve(repo, ref),
      git(repo, 'rev-parse', `${idOf(repo, ref)}^{commit}`),
      ref,
    );
  assert.equal(await resolve(repo), head);
});

test('names without a commit', async () => {
  const repo = makeHistory();
  const blob = idOf(repo, 'HEAD:a');
  const words =
    'nosuch HEAD~9 of-blob of-tree HEAD:a HEAD:x HEAD: HEAD^{tree} ^main -x --all heads refs refs/heads HEAD^{blob} * :a ' +
    ':0:a . / main^{commit $(id) HEAD😀 0';
  const more = [
    blob,
    'f'.repeat(40),
    'f'.repeat(64),
    ':/nothing says this',
    ' ',
    'main ',
    'a blob 5',
  ];
  const refs = [...words.split(' '), ...more, 'x'.repeat(1024)];
  for (const ref of refs) await assert.rejects(resolve(repo, ref), RefError, ref);
});

test('a moved, packed or removed ref is noticed at once', async () => {
  const repo = makeRepo({ a: 'one' });
  const first = await resolve(repo, 'main');
  const second = commitAll(repo);
  assert.notEqual(second, first);
  assert.equal(await resolve(repo, 'main'), second);
  git(repo, 'pack-refs', '--all');
  assert.equal(await resolve(repo, 'main'), second);
  git(repo, 'update-ref', 'refs/heads/other', first);
  assert.equal(await resolve(repo, 'other'), first);
  git(repo, 'branch', '-q', '-D', 'other');
  await assert.rejects(resolve(repo, 'other'), RefError);
});

test('a branch that is pushed by force again and again always exists', async () => {
  const repo = makeRepo({ a: 'a' });
  const push = `git update-ref refs/heads/forced "$(git commit-tree -m "$i" 'main^{tree}')"`;
  git(repo, 'branch', 'forced');
  const name = { GIT_AUTHOR_NAME: 'A', GIT_COMMITTER_NAME: 'A', EMAIL: 'a@example.com' };
  const env = { PATH: process.env['PATH'], HOME: '/nonexistent', ...name };
  const script = `for i in $(seq 200); do ${push}; done`;
  const pushes = spawn('sh', ['-c', script], { cwd: repo, env });
  const end = once(pushes, 'exit');
  while (pushes.exitCode === null) assert.match(await resolve(repo, 'forced'), /^[0-9a-f]{40}$/);
  assert.deepEqual(await end, [0, null]);
});

test('an empty repository, a detached HEAD, a shallow clone, a folder', async () => {
  const empty = temporaryFolder();
  git(empty, 'init', '-q', '-b', 'main');
  await assert.rejects(resolve(empty), RefError);
  await assert.rejects(resolve(empty, 'HEAD'), RefError);
  const repo = makeHistory();
  git(repo, 'checkout', '-q', '--detach', 'HEAD~1');
  assert.equal(await resolve(repo, 'HEAD'), idOf(repo, 'main~1'));
  assert.equal(await resolve(repo, undefined, 'worktree'), idOf(repo, 'main~1'));
  const shallow = path.join(temporaryFolder(), 'shallow');
  git('/', 'clone', '-q', '--depth', '1', '--branch', 'main', `file://${repo}`, shallow);
  assert.equal(await resolve(shallow, 'HEAD'), idOf(repo, 'main'));
  await assert.rejects(resolve(shallow, 'HEAD~1'), RefError);
  for (const ref of [undefined, 'HEAD', 'main'])
    await assert.rejects(resolve(repo, ref, 'folder'), RefError);
});

test('forty digits in a repository with SHA-256 ids', async () => {
  const repo = temporaryFolder();
  git(repo, 'init', '-q', '-b', 'main', '--object-format=sha256');
  const head = commitAll(repo);
  for (const ref of ['main', head, head.slice(0, 40), head.slice(0, 8)])
    assert.equal(await resolve(repo, ref), head);
  await assert.rejects(resolve(repo, 'f'.repeat(40)), RefError);
});

test('a repository that disappears and returns', async () => {
  for (const kind of ['commits', 'worktree'] as const) {
    const repo = makeRepo({ a: 'a' });
    const head = await resolve(repo, 'main', kind);
    const away = `${temporaryFolder()}/away`;
    renameSync(path.join(repo, '.git'), away);
    await assert.rejects(resolve(repo, 'main', kind), RepoGoneError);
    renameSync(away, path.join(repo, '.git'));
    assert.equal(await resolve(repo, 'main', kind), head);
    rmSync(repo, { recursive: true });
    await assert.rejects(resolve(repo, 'main', kind), RepoGoneError);
  }
});

test('a damaged repository is an internal error, not a bad ref', async () => {
  const repo = makeRepo({ a: 'a' });
  const head = commitAll(repo);
  const objectFile = path.join(repo, '.git/objects', head.slice(0, 2), head.slice(2));
  chmodSync(objectFile, 0o600);
  truncateSync(objectFile, 3);
  await assert.rejects(resolve(repo, 'main'), (error) => !(error instanceof RefError));
  rmSync(objectFile);
  await assert.rejects(resolve(repo, 'main'), (error) => !(error instanceof RefError));
  writeFileSync(path.join(repo, '.git/refs/heads/broken'), 'no id\n');
  await assert.rejects(resolve(repo, 'broken'));
});

test('a disconnected client gets no answer', async () => {
  const repo = makeRepo({ a: 'a' });
  for (const ref of ['main', 'main~0']) {
    const abort = new AbortController();
    const source = { kind: 'commits', path: repo } as const;
    const requested = resolveRef({ name: 'r', source, defaultRevision: 'HEAD' }, ref, abort.signal);
    abort.abort(new Error('left'));
    await assert.rejects(requested, /left/);
  }
});

test('the current branch of a work tree is indexed, its other branches are not', async () => {
  const source = { kind: 'worktree', path: makeHistory() } as const;
  const [defaultRevision, defaultBranch] = ['HEAD', 'refs/heads/main'];
  const repo = { name: 'r', source, defaultRevision, defaultBranch, indexedAt: '2026-01-01' };
  const refs = (await listRefs(repo, signal)).filter(({ kind }) => kind === 'branch');
  assert.deepEqual(
    refs.map(({ name, isDefault, isIndexed }) => [name, isDefault, isIndexed]),
    [
      [defaultBranch, true, true],
      ['refs/heads/feature/ü', false, false],
    ],
  );
});
