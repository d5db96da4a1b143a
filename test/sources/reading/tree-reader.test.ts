// Listing the files of a repository: from git against `git ls-tree`, from disk against `git ls-files`, with difficult
// names, links, submodules, and repositories of all kinds.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import * as fc from 'fast-check';
import { listFiles, listFolders } from '../../../daemon/sources/reading/tree-reader.ts';
import { withFoldersAbove, readTreeFolders } from '../../../daemon/sources/git/tree-paths.ts';
import { objectPool } from '../../../daemon/sources/git/object-pool.ts';
import type { SourceKind } from '../../../daemon/repos/records.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../git/fixture.ts';

const { signal } = new AbortController();
after(() => objectPool.close());

const repoOf = (repoPath: string, kind: SourceKind) => ({
  name: 'r',
  source: { kind, path: repoPath },
  defaultRevision: kind === 'commits' ? 'refs/heads/main' : 'HEAD',
});

function files(repoPath: string, kind: SourceKind = 'commits', ref = 'HEAD') {
  return listFiles(repoOf(repoPath, kind), ref, signal);
}

/** Children of all folders there are, `type name` each. */
async function folders(
  repoPath: string,
  folderNames: Iterable<string>,
  kind: SourceKind = 'commits',
) {
  const found = await listFolders(
    repoOf(repoPath, kind),
    'HEAD',
    new Set(['', ...folderNames]),
    signal,
  );
  return new Map(
    [...found].map(([folder, children]) => [folder, children.map((c) => `${c.type} ${c.name}`)]),
  );
}

interface Row {
  readonly type: string;
  readonly name: Buffer;
}

/** What `git ls-tree` says; paths in bytes. */
function lsTree(repoPath: string, ...args: string[]): Row[] {
  const output = execFileSync('git', ['ls-tree', '-z', '--full-tree', ...args], { cwd: repoPath });
  const rows = output.toString('latin1').split('\0').slice(0, -1);
  return rows.map((row) => {
    const [, type = '', name = ''] = /^\d+ (\w+) \w+\t([^]*)$/.exec(row) ?? [];
    return { type, name: Buffer.from(name, 'latin1') };
  });
}

/** In the order of answers, worked out another way than the daemon does. */
function sorted(rows: readonly Row[]): string[] {
  const keyOf = ({ type, name }: Row) =>
    Buffer.concat([
      Buffer.from(type === 'tree' ? '0' : '1'),
      Buffer.from(name.toString().toLowerCase()),
      Buffer.from('\0'),
      Buffer.from(name.toString()),
    ]);
  return rows
    .map((row) => ({ row, key: keyOf(row) }))
    .sort((a, b) => Buffer.compare(a.key, b.key))
    .map(({ row }) => `${row.type} ${row.name.toString()}`);
}

async function compare(repoPath: string): Promise<void> {
  const all = lsTree(repoPath, '-r', '-t', 'HEAD');
  const blobs = lsTree(repoPath, '-r', 'HEAD').filter(({ type }) => type === 'blob');
  assert.deepEqual(
    await files(repoPath),
    blobs.map(({ name }) => name.toString()),
  );
  const paths = all.filter(({ type }) => type === 'tree').map(({ name }) => name.toString());
  const found = await folders(repoPath, paths);
  assert.equal(found.size, paths.length + 1);
  for (const folder of ['', ...paths]) {
    const tree = folder === '' ? 'HEAD' : `HEAD:${folder}`;
    assert.deepEqual(found.get(folder), sorted(lsTree(repoPath, tree)), folder);
  }
}

const HARD = {
  'a/b/c.txt': 'c',
  'a/b.txt': 'b',
  'a-b/x': 'x',
  'a.b/x': 'x',
  B: 'B',
  b: 'b',
  'ä/ö': 'o',
  Ä: 'a',
  'new\nline/"q"': 'q',
  'tab\t/x': 'x',
  '-dash/--help': 'd',
  ':colon:/y': 'y',
  '\u{1F600}': 'smile',
  '\uFB01': 'ligature',
  ' blank /x ': 'x',
  'crlf.txt': 'a\r\nb',
};

function makeHard(): string {
  const repoPath = makeRepo(HARD);
  symlinkSync('a/b', path.join(repoPath, 'link'));
  writeFileSync(Buffer.concat([Buffer.from(`${repoPath}/bad`), Buffer.of(0xff)]), 'bad');
  writeFiles(repoPath, { 'run.sh': 'x' });
  git(repoPath, 'add', '-A');
  git(repoPath, 'update-index', '--chmod=+x', 'run.sh');
  git(repoPath, 'submodule', '--quiet', 'add', makeRepo({ inner: 'i' }), 'lib/module');
  git(repoPath, 'commit', '-q', '-m', 'hard');
  return repoPath;
}

test('the same as git, with difficult names, a link and a submodule', async () => {
  const repoPath = makeHard();
  await compare(repoPath);
  const bare = path.join(temporaryFolder(), 'bare.git');
  git('/', 'clone', '-q', '--bare', repoPath, bare);
  await compare(bare);
  git(repoPath, 'gc', '-q');
  await compare(repoPath);
});

test('the same as git, in random trees', async () => {
  const name = fc.oneof(
    fc.constantFrom('a', 'A', 'b', 'a.b', 'a-b', 'aa', 'Ab', 'é', 'É', '\u{1F600}', '\uFB01', 'ß'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 }),
  );
  const isName = (text: string) =>
    !/[/\0]|^\.*$|^\.git$/i.test(text) && Buffer.from(text).toString() === text;
  const paths = fc.array(fc.array(name.filter(isName), { minLength: 1, maxLength: 3 }), {
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(paths, async (made) => {
      const repoPath = temporaryFolder();
      git(repoPath, 'init', '-q', '-b', 'main');
      // Straight into the index: no file system has a say about the names.
      const blob = git(repoPath, 'hash-object', '-w', '-t', 'blob', '/dev/null');
      const rows = made.map((segments) => `100644 ${blob}\t${segments.join('/')}\0`);
      execFileSync('git', ['update-index', '-z', '--add', '--replace', '--index-info'], {
        cwd: repoPath,
        input: rows.join(''),
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      git(repoPath, 'commit', '-q', '--allow-empty', '-m', 'made');
      await compare(repoPath);
    }),
    { numRuns: 25 },
  );
});

test('other repositories: empty commit, SHA-256, shallow, detached', async () => {
  const repoPath = temporaryFolder();
  git(repoPath, 'init', '-q', '-b', 'main');
  await assert.rejects(files(repoPath), /names no commit/);
  commitAll(repoPath);
  assert.deepEqual(await files(repoPath), []);
  assert.deepEqual([...(await folders(repoPath, ['a']))], [['', []]]);
  const long = temporaryFolder();
  git(long, 'init', '-q', '-b', 'main', '--object-format=sha256');
  writeFiles(long, HARD);
  commitAll(long);
  await compare(long);
  const hard = makeHard();
  const shallow = path.join(temporaryFolder(), 'shallow');
  git('/', 'clone', '-q', '--depth', '1', `file://${hard}`, shallow);
  await compare(shallow);
  git(hard, 'checkout', '-q', '-f', '--detach', 'HEAD~1');
  await compare(hard);
});

test('the files on disk of a work tree: existing files not ignored by git', async () => {
  const repoPath = makeHard();
  writeFiles(repoPath, {
    '.gitignore': 'ignored*\n/out/\n',
    'a/ignored.txt': 'i',
    'out/x': 'x',
    'fresh/deep/new.txt': 'n',
    'a/b.txt': 'changed',
    'nested/inside': 'i',
  });
  git(path.join(repoPath, 'nested'), 'init', '-q');
  mkdirSync(path.join(repoPath, 'hollow'));
  rmSync(path.join(repoPath, 'B'));
  rmSync(path.join(repoPath, 'a-b'), { recursive: true });
  rmSync(path.join(repoPath, 'a.b'), { recursive: true });
  symlinkSync('a', path.join(repoPath, 'a.b'));
  const listed = git(repoPath, 'ls-files', '-z', '--cached', '--others', '--exclude-standard')
    .split('\0')
    .filter((name) => !['', 'B', 'a-b/x', 'a.b/x', 'lib/module', 'nested/'].includes(name));
  const expected = [...new Set(listed)].sort((a, b) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  assert.deepEqual(await files(repoPath, 'worktree'), expected);
  assert.ok(expected.includes('fresh/deep/new.txt') && expected.includes('link'));
  const found = await folders(repoPath, ['a', 'lib', 'fresh', 'nested', 'a.b', 'bad'], 'worktree');
  assert.deepEqual([...found.keys()].sort(), ['', 'a', 'fresh', 'lib']);
  assert.deepEqual(found.get('a'), ['tree b', 'blob b.txt']);
  assert.deepEqual(found.get('lib'), ['commit module']);
  const root = found.get('') ?? [];
  for (const name of ['blob link', 'blob a.b', 'tree fresh', 'blob bad\uFFFD', 'tree ä'])
    assert.ok(root.includes(name), name);
  for (const name of ['blob B', 'tree out', 'tree hollow', 'tree nested', 'tree a-b', 'tree .git'])
    assert.ok(!root.includes(name), name);
  // A ref is what is committed.
  assert.ok((await files(repoPath, 'worktree', 'main')).includes('B'));
});

test('a plain folder: files not excluded by its .gitignore files', async () => {
  const repoPath = temporaryFolder();
  writeFiles(repoPath, {
    '.gitignore': '*.log\n/out/\n',
    'a/b/c.txt': 'c',
    'a/x.log': 'l',
    'out/x': 'x',
    'a/b/.gitignore': '!keep.log\n',
    'a/b/keep.log': 'k',
    '.git/config': 'c',
  });
  symlinkSync('/etc', path.join(repoPath, 'away'));
  assert.deepEqual(await files(repoPath, 'folder'), [
    '.gitignore',
    'a/b/.gitignore',
    'a/b/c.txt',
    'a/b/keep.log',
    'away',
  ]);
  const requested = ['a', 'a/b', 'out', '.git', 'away', 'nosuch', 'a/b/c.txt'];
  const found = await folders(repoPath, requested, 'folder');
  assert.deepEqual(
    [...found].sort(([a], [b]) => (a < b ? -1 : 1)),
    [
      ['', ['tree a', 'blob .gitignore', 'blob away']],
      ['a', ['tree b']],
      ['a/b', ['blob .gitignore', 'blob c.txt', 'blob keep.log']],
    ],
  );
  await assert.rejects(files(repoPath, 'folder', 'main'), /names no commit/);
  rmSync(repoPath, { recursive: true });
  await assert.rejects(files(repoPath, 'folder'), /is not cloned/);
});

test('a work tree without a commit, and an empty folder', async () => {
  const repoPath = temporaryFolder();
  git(repoPath, 'init', '-q', '-b', 'main');
  assert.deepEqual(await files(repoPath, 'worktree'), []);
  assert.deepEqual([...(await folders(repoPath, [], 'worktree'))], [['', []]]);
  writeFiles(repoPath, { 'a/b': 'b' });
  assert.deepEqual(await files(repoPath, 'worktree'), ['a/b']);
  assert.deepEqual(await files(temporaryFolder(), 'folder'), []);
});

test('a client with many deep folders delays others by one time slice each', async () => {
  const folder = Array.from({ length: 400 }, () => 'd').join('/');
  const repo = makeRepo({ [`${folder}/a.txt`]: 'x' });
  const requested = withFoldersAbove([folder]);
  const root = git(repo, 'rev-parse', 'HEAD^{tree}');
  const over: string[] = [];
  const readAll = async (clientKey: string): Promise<void> => {
    await readTreeFolders(repo, root, requested, signal, clientKey);
    over.push(clientKey);
  };
  // All trees are known from now on.
  await readAll('first');
  await Promise.all([...Array.from({ length: 30 }, () => readAll('many')), readAll('one')]);
  assert.equal(over.indexOf('one'), 1);
});
