// Tests of listing what a repository holds: from git against `git ls-tree`, from disk against `git ls-files`, with
// hard names, links, submodules, and repositories of all kinds.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import * as fc from 'fast-check';
import { listFiles, listFolders } from '../../../daemon/sources/reading/tree-reader.ts';
import { withFoldersAbove } from '../../../daemon/sources/git/tree-paths.ts';
import { objectPool } from '../../../daemon/sources/git/object-pool.ts';
import type { SourceKind } from '../../../daemon/repos/records.ts';
import { readTreeFolders } from '../../../daemon/sources/git/tree-paths.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../git/fixture.ts';

const { signal } = new AbortController();
after(() => objectPool.close());

const repoOf = (place: string, kind: SourceKind) => ({
  name: 'r',
  source: { kind, path: place },
  defaultRevision: kind === 'commits' ? 'refs/heads/main' : 'HEAD',
});

function files(place: string, kind: SourceKind = 'commits', ref = 'HEAD') {
  return listFiles(repoOf(place, kind), ref, signal);
}

/** Children of all folders there are, `type name` each. */
async function folders(place: string, wanted: Iterable<string>, kind: SourceKind = 'commits') {
  const found = await listFolders(repoOf(place, kind), 'HEAD', new Set(['', ...wanted]), signal);
  return new Map(
    [...found].map(([folder, children]) => [folder, children.map((c) => `${c.type} ${c.name}`)]),
  );
}

interface Row {
  readonly type: string;
  readonly name: Buffer;
}

/** What `git ls-tree` says; paths in bytes. */
function lsTree(place: string, ...args: string[]): Row[] {
  const output = execFileSync('git', ['ls-tree', '-z', '--full-tree', ...args], { cwd: place });
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

/** Compares every folder, and the whole, with git. */
async function compare(place: string): Promise<void> {
  const all = lsTree(place, '-r', '-t', 'HEAD');
  const blobs = lsTree(place, '-r', 'HEAD').filter(({ type }) => type === 'blob');
  assert.deepEqual(
    await files(place),
    blobs.map(({ name }) => name.toString()),
  );
  const paths = all.filter(({ type }) => type === 'tree').map(({ name }) => name.toString());
  const found = await folders(place, paths);
  assert.equal(found.size, paths.length + 1);
  for (const folder of ['', ...paths]) {
    const tree = folder === '' ? 'HEAD' : `HEAD:${folder}`;
    assert.deepEqual(found.get(folder), sorted(lsTree(place, tree)), folder);
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
  const place = makeRepo(HARD);
  symlinkSync('a/b', path.join(place, 'link'));
  writeFileSync(Buffer.concat([Buffer.from(`${place}/bad`), Buffer.of(0xff)]), 'bad');
  writeFiles(place, { 'run.sh': 'x' });
  git(place, 'add', '-A');
  git(place, 'update-index', '--chmod=+x', 'run.sh');
  git(place, 'submodule', '--quiet', 'add', makeRepo({ inner: 'i' }), 'lib/module');
  git(place, 'commit', '-q', '-m', 'hard');
  return place;
}

test('the same as git, with hard names, a link and a submodule', async () => {
  const place = makeHard();
  await compare(place);
  const bare = path.join(temporaryFolder(), 'bare.git');
  git('/', 'clone', '-q', '--bare', place, bare);
  await compare(bare);
  git(place, 'gc', '-q');
  await compare(place);
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
      const place = temporaryFolder();
      git(place, 'init', '-q', '-b', 'main');
      // Straight into the index: no file system has a say about the names.
      const blob = git(place, 'hash-object', '-w', '-t', 'blob', '/dev/null');
      const rows = made.map((segments) => `100644 ${blob}\t${segments.join('/')}\0`);
      execFileSync('git', ['update-index', '-z', '--add', '--replace', '--index-info'], {
        cwd: place,
        input: rows.join(''),
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      git(place, 'commit', '-q', '--allow-empty', '-m', 'made');
      await compare(place);
    }),
    { numRuns: 25 },
  );
});

test('other repositories: empty commit, SHA-256, shallow, detached', async () => {
  const place = temporaryFolder();
  git(place, 'init', '-q', '-b', 'main');
  await assert.rejects(files(place), /names no commit/);
  commitAll(place);
  assert.deepEqual(await files(place), []);
  assert.deepEqual([...(await folders(place, ['a']))], [['', []]]);
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

test('the files on disk of a work tree: what git does not ignore and is there', async () => {
  const place = makeHard();
  writeFiles(place, {
    '.gitignore': 'ignored*\n/out/\n',
    'a/ignored.txt': 'i',
    'out/x': 'x',
    'fresh/deep/new.txt': 'n',
    'a/b.txt': 'changed',
    'nested/inside': 'i',
  });
  git(path.join(place, 'nested'), 'init', '-q');
  mkdirSync(path.join(place, 'hollow'));
  rmSync(path.join(place, 'B'));
  rmSync(path.join(place, 'a-b'), { recursive: true });
  rmSync(path.join(place, 'a.b'), { recursive: true });
  symlinkSync('a', path.join(place, 'a.b'));
  const listed = git(place, 'ls-files', '-z', '--cached', '--others', '--exclude-standard')
    .split('\0')
    .filter((name) => !['', 'B', 'a-b/x', 'a.b/x', 'lib/module', 'nested/'].includes(name));
  const expected = [...new Set(listed)].sort((a, b) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  assert.deepEqual(await files(place, 'worktree'), expected);
  assert.ok(expected.includes('fresh/deep/new.txt') && expected.includes('link'));
  const found = await folders(place, ['a', 'lib', 'fresh', 'nested', 'a.b', 'bad'], 'worktree');
  assert.deepEqual([...found.keys()].sort(), ['', 'a', 'fresh', 'lib']);
  assert.deepEqual(found.get('a'), ['tree b', 'blob b.txt']);
  assert.deepEqual(found.get('lib'), ['commit module']);
  const root = found.get('') ?? [];
  for (const name of ['blob link', 'blob a.b', 'tree fresh', 'blob bad\uFFFD', 'tree ä'])
    assert.ok(root.includes(name), name);
  for (const name of ['blob B', 'tree out', 'tree hollow', 'tree nested', 'tree a-b', 'tree .git'])
    assert.ok(!root.includes(name), name);
  // A ref is what is committed.
  assert.ok((await files(place, 'worktree', 'main')).includes('B'));
});

test('a plain folder: what its .gitignore files leave', async () => {
  const place = temporaryFolder();
  writeFiles(place, {
    '.gitignore': '*.log\n/out/\n',
    'a/b/c.txt': 'c',
    'a/x.log': 'l',
    'out/x': 'x',
    'a/b/.gitignore': '!keep.log\n',
    'a/b/keep.log': 'k',
    '.git/config': 'c',
  });
  symlinkSync('/etc', path.join(place, 'away'));
  assert.deepEqual(await files(place, 'folder'), [
    '.gitignore',
    'a/b/.gitignore',
    'a/b/c.txt',
    'a/b/keep.log',
    'away',
  ]);
  const wanted = ['a', 'a/b', 'out', '.git', 'away', 'nosuch', 'a/b/c.txt'];
  const found = await folders(place, wanted, 'folder');
  assert.deepEqual(
    [...found].sort(([a], [b]) => (a < b ? -1 : 1)),
    [
      ['', ['tree a', 'blob .gitignore', 'blob away']],
      ['a', ['tree b']],
      ['a/b', ['blob .gitignore', 'blob c.txt', 'blob keep.log']],
    ],
  );
  await assert.rejects(files(place, 'folder', 'main'), /names no commit/);
  rmSync(place, { recursive: true });
  await assert.rejects(files(place, 'folder'), /is not cloned/);
});

test('a work tree without a commit, and an empty folder', async () => {
  const place = temporaryFolder();
  git(place, 'init', '-q', '-b', 'main');
  assert.deepEqual(await files(place, 'worktree'), []);
  assert.deepEqual([...(await folders(place, [], 'worktree'))], [['', []]]);
  writeFiles(place, { 'a/b': 'b' });
  assert.deepEqual(await files(place, 'worktree'), ['a/b']);
  assert.deepEqual(await files(temporaryFolder(), 'folder'), []);
});

test('who asks for many deep folders holds up others by a turn each, not by all of them', async () => {
  const folder = Array.from({ length: 400 }, () => 'd').join('/');
  const repo = makeRepo({ [`${folder}/a.txt`]: 'x' });
  const wanted = withFoldersAbove([folder]);
  const root = git(repo, 'rev-parse', 'HEAD^{tree}');
  const over: string[] = [];
  const ask = async (clientKey: string): Promise<void> => {
    await readTreeFolders(repo, root, wanted, signal, clientKey);
    over.push(clientKey);
  };
  // All trees are known from now on.
  await ask('first');
  await Promise.all([...Array.from({ length: 30 }, () => ask('many')), ask('one')]);
  assert.equal(over.indexOf('one'), 1);
});
