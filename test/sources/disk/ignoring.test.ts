// Files excluded by rules (API.md 19.4): of plain folders, with ripgrep as the oracle, of work trees and of commits,
// each revision by its own rules; and how they are counted.
// tier: ci (long)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { isIgnoredInFolder } from '../../../daemon/sources/disk/folder-walk.ts';
import { IgnoreRules } from '../../../daemon/sources/disk/ignore-rules.ts';
import { listSource } from '../../../daemon/sources/docs/list-source.ts';
import type { SourceSpec } from '../../../daemon/sources/docs/source.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../git/fixture.ts';

const hasRipgrep = spawnSync('rg', ['--version']).status === 0;
const skip = hasRipgrep ? false : 'needs the Debian package ripgrep';

async function listed(spec: SourceSpec): Promise<{ paths: string[]; ignored: object }> {
  const listing = await listSource(spec);
  const paths = [...listing.files].map(({ path }) => path);
  return {
    paths: paths.filter((path) => !path.endsWith('ignore')),
    ignored: await listing.ignored(),
  };
}

test('a plain folder: .gitignore applies inside repositories only', async () => {
  const root = temporaryFolder();
  writeFiles(root, {
    '.gitignore': '/*',
    '.ignore': '*.log',
    '.trawlignore': '!keep.log\nsecret/',
    'a.c': '',
    'a.log': '',
    'keep.log': '',
    'secret/x': '',
    'sub/.gitignore': 'a.c',
    'sub/a.c': '',
    'repo/.gitignore': '*.o\n',
    'repo/a.o': '',
    'repo/a.c': '',
    'repo/deep/b.o': '',
    'repo/deep/.ignore': '!b.o',
  });
  git(`${root}/repo`, 'init', '-q');
  const { paths, ignored } = await listed({ kind: 'folder', path: root });
  assert.deepEqual(paths, ['a.c', 'keep.log', 'repo/a.c', 'repo/deep/b.o', 'sub/a.c']);
  assert.deepEqual(ignored, {
    '.ignore: *.log': 1,
    '.trawlignore: secret/': 1,
    'repo/.gitignore: *.o': 1,
  });
});

test('a plain folder: files of version control are excluded', async () => {
  const root = temporaryFolder();
  writeFiles(root, {
    '.svn/pristine/aa/aa.svn-base': '',
    '.hg/store/data/a.i': '',
    '.jj/repo/store/git/HEAD': '',
    'sub/.svn/entries': '',
    'sub/hg/a.i': '',
    'sub/svn/entries': '',
    'sub/a.c': '',
  });
  const { paths } = await listed({ kind: 'folder', path: root });
  const kept = ['sub/a.c', 'sub/hg/a.i', 'sub/svn/entries'];
  assert.deepEqual(paths, kept);
  for (const path of ['.svn/pristine/aa/aa.svn-base', 'sub/.svn/entries'])
    assert.equal(isIgnoredInFolder(root, { path }), true, path);
  for (const path of kept) assert.equal(isIgnoredInFolder(root, { path }), false, path);
});

test('a plain folder within a repository: parent rules apply, unless they ignore the folder', async () => {
  const root = temporaryFolder();
  git(root, 'init', '-q');
  writeFiles(root, {
    '.gitignore': '*.o\n/out\n',
    'src/.gitignore': '/lib/*.a',
    'src/lib/a.o': '',
    'src/lib/a.a': '',
    'src/lib/a.c': '',
    'out/a.o': '',
    'out/a.c': '',
  });
  const inner = await listed({ kind: 'folder', path: `${root}/src/lib` });
  assert.deepEqual(inner.paths, ['a.c']);
  assert.deepEqual(inner.ignored, { '.gitignore: *.o': 1, 'src/.gitignore: /lib/*.a': 1 });
  assert.equal(isIgnoredInFolder(`${root}/src/lib`, { path: 'a.o' }), true);
  assert.equal(isIgnoredInFolder(`${root}/src/lib`, { path: 'a.c' }), false);
  assert.deepEqual((await listed({ kind: 'folder', path: `${root}/out` })).paths, ['a.c', 'a.o']);
});

const PATTERNS = ['a', 'b', '*.c', 'a*', '/a', '**/b', 'q/b', '/d/q', '[ab]', 'd/'];
const MORE = [...String.raw`e/** d/**/a /**/e/q/ [!a] f? f\a * /* fa*b`.split(' '), '# no'];
const lines = fc
  .array(fc.tuple(fc.constantFrom('', '', '!'), fc.constantFrom(...PATTERNS, ...MORE)), {
    maxLength: 3,
  })
  .map((rows) => rows.map((row) => `${row.join('')}\n`).join(''));
const FOLDERS = ['', 'd/', 'd/q/', 'r/', 'r/d/'];

test('plain folders agree with ripgrep', { skip, timeout: 120_000 }, async () => {
  const texts = fc.array(fc.option(lines, { freq: 2 }), {
    minLength: FOLDERS.length * 3,
    maxLength: FOLDERS.length * 3,
  });
  await fc.assert(
    fc.asyncProperty(texts, async (rules) => {
      const root = temporaryFolder();
      for (const [index, folder] of FOLDERS.entries()) {
        for (const name of ['a', 'b', 'x.c', 'ab', 'z'])
          writeFiles(root, { [`${folder}f${name}`]: '', [`${folder}e/${name}`]: '' });
        writeFiles(root, { [`${folder}e/q/b`]: '', [`${folder}e/a.c`]: '' });
        for (const [kind, files] of [
          // ripgrep's own file counts as ours does.
          ['.trawlignore', ['.trawlignore', '.rgignore']],
          ['.ignore', ['.ignore']],
          ['.gitignore', ['.gitignore']],
        ].entries() as Iterable<[number, [string, string[]]]>) {
          const text = rules[index * 3 + kind];
          if (text !== null && text !== undefined)
            for (const file of files[1]) writeFiles(root, { [folder + file]: text });
        }
      }
      git(`${root}/r`, 'init', '-q');
      const flags = ['--files', '--hidden', '--no-ignore-global', '--no-ignore-exclude'];
      const output = spawnSync('rg', [...flags, '--glob', '!.git'], { cwd: root }).stdout;
      const expected = output.toString().split('\n').slice(0, -1);
      const { files } = await listSource({ kind: 'folder', path: root });
      assert.deepEqual(
        [...files].map(({ path }) => path),
        expected.sort(),
      );
      for (const path of expected) assert.equal(isIgnoredInFolder(root, { path }), false, path);
    }),
    {
      numRuns: 100,
      // A folder that is taken back, and a rule for what is in it from a file between.
      examples: [
        [['!d/\n', 'd/\n', ...Array<null>(8).fill(null), 'a\n', null, null, null, null]],
        [['!d\n', 'd\na\n', ...Array<null>(13).fill(null)]],
      ],
    },
  );
});

test('a work tree: the ignore rules of git, and .trawlignore at its root', async () => {
  const repo = makeRepo({ 'a.c': '', 'gen/x.c': '', 'gen/y.c': '', 'sub/z.c': '' });
  writeFiles(repo, {
    '.gitignore': '*.o\nbuild/\n',
    '.trawlignore': 'gen/\n',
    'sub/.trawlignore': '*',
    'a.o': '',
    'sub/b.o': '',
    'build/1': '',
    'build/2': '',
  });
  const { paths, ignored } = await listed({ kind: 'worktree', path: repo });
  assert.deepEqual(paths, ['a.c', 'sub/z.c']);
  assert.deepEqual(ignored, {
    '.gitignore: *.o': 2,
    '.trawlignore: gen/': 2,
    '.gitignore: build/': 1,
  });
});

test('commits: .trawlignore as committed in each revision', async () => {
  const repo = makeRepo({ 'a.c': '1', 'gen/x.c': '2', '.gitignore': '*\n' });
  git(repo, 'branch', 'old');
  writeFiles(repo, { '.trawlignore': 'gen/\n*.tmp', 'b.tmp': '3' });
  const main = commitAll(repo);
  git(repo, 'branch', 'other');
  git(repo, 'checkout', '-q', 'other');
  writeFiles(repo, { '.trawlignore': '/a.c', 'only.c': '4' });
  const other = commitAll(repo);
  const one = await listed({ kind: 'commits', path: repo, commit: main });
  assert.deepEqual(one.paths, ['a.c']);
  assert.deepEqual(one.ignored, { '.trawlignore: *.tmp': 1, '.trawlignore: gen/': 1 });

  const old = git(repo, 'rev-parse', 'old');
  const listing = await listSource({
    kind: 'commits',
    path: repo,
    commit: main,
    revisions: [
      { name: 'refs/heads/old', commit: old },
      { name: 'refs/heads/other', commit: other },
    ],
  });
  const pathsByRevision = [0, 1, 2].map((revision) => {
    const paths: string[] = [];
    listing.revisions?.visit(revision, (file) => paths.push(listing.files.at(file).path));
    return paths.filter((path) => !path.endsWith('ignore')).sort();
  });
  assert.deepEqual(pathsByRevision, [['a.c'], ['a.c', 'gen/x.c'], ['b.tmp', 'gen/x.c', 'only.c']]);
  assert.deepEqual(await listing.ignored(), one.ignored);
});

/** Pieces of patterns, and names that they may match. */
const WORDS = String.raw`a b * ** ? [ab] [!a] [a-c] [[:alpha:]] []a] / / . **/ /** a* *b # ! [ [a-] \* \ `;
const FRAGMENTS = [...WORDS.trimEnd().split(' '), ' ', '\\ '];
const NAMES = ['a', 'b', 'ab', 'abc', 'aab', '#', '!a', ' ', 'a ', '*', '[a]', '-', '.', 'A', '\\'];

test('an ignore file is read as git reads it', async () => {
  const root = temporaryFolder();
  git(root, 'init', '-q');
  const names = NAMES.filter((name) => name !== '.');
  const paths = names.flatMap((one) => [
    one,
    ...names.flatMap((two) => [`${one}/${two}`, `${one}/${two}/a`, `${one}/${two}/b`]),
  ]);
  const input = paths.map((one) => `./${one}\0`).join('');
  const pattern = fc.array(fc.constantFrom(...FRAGMENTS), { minLength: 1, maxLength: 4 });
  const line = fc
    .tuple(fc.constantFrom('', '', '', '!'), pattern)
    .map(([negation, fragments]) => negation + fragments.join(''))
    // git looks for `**` behind the letters that a pattern begins with as for one that stands alone.
    .filter((text) => !/^!?[^*?[\\]+\*\*/.test(text) || /^!?[^*?[\\]*\/\*\*/.test(text));
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 3 }), async (lines) => {
      const text = lines.join('\n');
      writeFiles(root, { '.gitignore': text });
      const args = ['check-ignore', '-z', '--stdin', '--no-index'];
      const { stdout } = spawnSync('git', args, { cwd: root, input });
      const expected = stdout.toString().split('\0').slice(0, -1);
      const rules = IgnoreRules.none().with('.trawlignore', '', text);
      const found = paths.filter((one) => rules.ruleForAny(one) !== undefined);
      assert.deepEqual(
        found,
        expected.map((one) => one.slice('./'.length)),
      );
    }),
    { numRuns: 300 },
  );
});

test('an unknown class of letters matches nothing, as in git', () => {
  const root = temporaryFolder();
  git(root, 'init', '-q');
  const names = ['a', 'b', 'ab', ':', ']'];
  for (const name of ['nosuch', 'ALPHA', 'toString', 'constructor', '__proto__', '']) {
    const text = [`[[:${name}:]]`, `[!a[:${name}:]]`, `[a[:${name}:]]`, 'ab'].join('\n');
    writeFiles(root, { '.gitignore': text });
    const args = ['check-ignore', '--no-index', ...names];
    const { stdout } = spawnSync('git', args, { cwd: root });
    const rules = IgnoreRules.none().with('.trawlignore', '', text);
    const found = names.filter((one) => rules.ruleForAny(one) !== undefined);
    assert.deepEqual(found, ['ab'], name);
    assert.equal(stdout.toString(), 'ab\n', name);
  }
});

test('a pattern made to be slow is not', () => {
  const folders = `${'a/'.repeat(1_000)}c`;
  const rules = IgnoreRules.none()
    .with('.trawlignore', '', `x/\n${'**/a/'.repeat(200)}b\n${'*a'.repeat(100)}b\n`)
    .with('.trawlignore', '', '**/[!'.repeat(500));
  // With backtracking these would not end.
  assert.equal(rules.ruleFor(folders), undefined);
  assert.equal(rules.ruleFor('a'.repeat(4_000)), undefined);
  assert.notEqual(rules.ruleFor(`${'a/'.repeat(1_000)}b`), undefined);
});

test('an oversized ignore file is skipped, and reported', async () => {
  const text = `*.c\n${'#'.repeat(1 << 20)}`;
  const repo = makeRepo({ 'a.c': '', '.trawlignore': text });
  const commit = git(repo, 'rev-parse', 'HEAD');
  const committed = await listSource({ kind: 'commits', path: repo, commit });
  assert.ok([...committed.files].some(({ path }) => path === 'a.c'));
  const reported = { path: '.trawlignore', reason: 'unreadable: larger than 1048576 bytes' };
  assert.deepEqual(committed.excluded, [reported]);
  const root = temporaryFolder();
  writeFiles(root, { 'a.c': '', '.ignore': text });
  const { excluded, files } = await listSource({ kind: 'folder', path: root });
  assert.deepEqual(
    [...files].map(({ path }) => path),
    ['.ignore', 'a.c'],
  );
  assert.match(excluded[0]!.reason, /^unreadable: .*larger than 1048576 bytes$/);
});
