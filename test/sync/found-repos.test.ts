// Folders of repositories: each is one repo, the files beside them one more. Later ones are found, and what was one folder
// stays one until a mode is given.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { FIND_DEPTH_MAX, findRepos } from '../../daemon/sync/sources/find-repos.ts';
import type { SourceKind } from '../../daemon/repos/records.ts';
import { git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { randomOf } from './history.ts';
import { type IndexOf, openIndexOf } from './index-of.ts';
import { SEED } from '../seed.ts';

const { signal } = new AbortController();

async function found(root: string): Promise<string[]> {
  const { repos } = await findRepos(root);
  return repos.map((repo) => path.relative(root, repo.path) + (repo.isBare ? ' bare' : ''));
}

/** A repository with one file, `plum`, at a place. */
function put(root: string, name: string, ...more: string[]): string {
  const folder = path.join(root, name);
  git(root, 'clone', '-q', ...more, makeRepo({ 'a.c': `plum ${name}\n` }), name);
  git(folder, 'remote', 'remove', 'origin');
  return folder;
}

/** Repos that searches find, as `name kind`. */
async function searched(index: IndexOf): Promise<string[]> {
  const { files } = await index.search('plum');
  const kinds = new Map(
    index.instance.served.records.map(({ name, source }) => [name, source.kind]),
  );
  return [...new Set(files.map(({ repository: name }) => `${name} ${kinds.get(name)}`))].sort();
}

void test('work trees, bare, linked, nested ones and submodules: each once', async () => {
  const root = temporaryFolder();
  const one = put(root, 'one');
  put(root, 'host/group/two');
  put(root, 'host/three.git', '--bare');
  put(one, 'vendor/nested');
  put(one, 'node_modules/dep');
  git(one, 'worktree', 'add', '-q', '../linked');
  git(path.join(root, 'host/three.git'), 'worktree', 'add', '-q', '../of-three');
  git(path.join(root, 'host/group/two'), 'submodule', 'add', '-q', one, 'sub');
  put(root, 'proj/.bare', '--bare');
  writeFileSync(path.join(root, 'proj/.git'), 'gitdir: ./.bare\n');
  git(path.join(root, 'proj'), 'worktree', 'add', '-q', 'main2', '-b', 'feature');
  // A bare repository among the files of a work tree is one of its tests.
  put(one, 'tests/fixture.git', '--bare');
  symlinkSync('../one', path.join(root, 'host/link'));
  symlinkSync('..', path.join(root, 'host/loop'));
  writeFiles(root, { 'notes/a.txt': 'plum\n' });
  const outer = ['host/group/two', 'host/of-three', 'host/three.git bare', 'linked', 'one'];
  const inner = ['host/group/two/sub', 'one/vendor/nested', 'proj/main2'];
  assert.deepEqual(await found(root), [...outer, 'proj bare', ...inner].sort());
  await using index = await openIndexOf(temporaryFolder());
  const results = await index.index([root]);
  assert.deepEqual(
    results.filter(({ state }) => state === 'FAILED'),
    [],
  );
  const expected = [
    ...['host/group/two', 'host/group/two/sub', 'host/of-three', 'linked', 'one'].map(
      (name) => `local/${name} worktree`,
    ),
    ...['one/vendor/nested', 'proj/main2'].map((name) => `local/${name} worktree`),
    'local/proj commits',
    'local/host/three.git commits',
    `local/${path.basename(root)} folder`,
  ].sort();
  assert.deepEqual(await searched(index), expected);
  assert.equal((await index.search('plum')).files.length, expected.length);
  // Another time the same, and another way to name them.
  assert.ok((await index.index([root])).every(({ built }) => built !== 'whole'));
  await index.index([`${root}/`, one]);
  assert.deepEqual(await searched(index), expected);
});

void test('the same name and the same remote: names are distinguished by path', async () => {
  const root = temporaryFolder();
  for (const name of ['a/lib', 'b/lib', 'c/lib']) put(root, name);
  for (const name of ['c/lib', 'b/lib'])
    git(path.join(root, name), 'remote', 'add', 'origin', 'https://host.example/o/lib.git');
  git(path.join(root, 'b/lib'), 'worktree', 'add', '-q', '../../b/linked');
  await using index = await openIndexOf(temporaryFolder());
  await index.index([root]);
  const names = index.instance.served.records.map(({ name, source }) => [
    path.relative(root, source.path),
    name,
  ]);
  assert.deepEqual(Object.fromEntries(names), {
    'a/lib': 'local/a/lib',
    'b/lib': 'host.example/o/lib',
    'b/linked': 'host.example/o/lib-2',
    'c/lib': 'host.example/o/lib-3',
  });
});

void test('a source indexed as one folder stays one, until a mode is given', async () => {
  const root = temporaryFolder();
  put(root, 'one');
  put(root, 'two.git', '--bare');
  const name = `local/${path.basename(root)}`;
  const dataDir = temporaryFolder();
  const link = path.join(temporaryFolder(), 'link');
  symlinkSync(root, link);
  const indexed = async (mode?: SourceKind, folder = root): Promise<string[]> => {
    await using index = await openIndexOf(dataDir);
    await index.index([folder], {}, mode);
    const repos = index.instance.catalog.repos.map(({ record }) => record.repoId);
    const visibleNow = await searched(index);
    await index.close();
    return [...visibleNow, `${repos.length}`];
  };
  assert.deepEqual(await indexed('folder'), [`${name} folder`, '1']);
  assert.deepEqual(await indexed(), [`${name} folder`, '1']);
  assert.deepEqual(await indexed(undefined, link), [`${name} folder`, '1']);
  assert.deepEqual(await indexed(), [`${name} folder`, '1']);
  // Its index is gone then: all that it held is in the repositories.
  const both = ['local/one worktree', 'local/two.git commits', '2'];
  assert.deepEqual(await indexed('worktree'), both);
  assert.deepEqual(await indexed(), both);
  assert.deepEqual(await indexed('commits'), ['local/one commits', both[1], '2']);
  // And back, under the same id.
  assert.deepEqual(await indexed('folder'), [`${name} folder`, '3']);
});

void test('repositories added later, and a removed one', async () => {
  const root = temporaryFolder();
  const one = put(root, 'one');
  await using index = await openIndexOf(temporaryFolder());
  await index.index([root]);
  const { sources, jobs } = index.instance.indexer;
  const again = async (): Promise<string[]> => {
    const come = await sources.findNew(signal);
    index.instance.served.publish();
    await jobs.indexAll(come, false);
    return come.map(({ name }) => name);
  };
  assert.deepEqual(await again(), []);
  put(root, 'owner/two');
  put(root, 'three.git', '--bare');
  put(one, 'vendor/four');
  mkdirSync(path.join(root, 'half.git/objects'), { recursive: true });
  assert.deepEqual(await again(), ['local/one/vendor/four', 'local/owner/two', 'local/three.git']);
  writeFileSync(path.join(root, 'a.txt'), 'plum\n');
  const beside = `local/${path.basename(root)}`;
  assert.deepEqual(await again(), [beside]);
  assert.equal((await searched(index)).length, 5);
  // What moves may be a known one: the next start knows it.
  renameSync(path.join(root, 'owner/two'), path.join(root, 'moved'));
  assert.deepEqual([...(await again()), ...(await again())], []);
  assert.equal(index.warnings.filter((text) => /may be a known/.test(text)).length, 1);
  await index.index([root]);
  assert.equal((await searched(index)).length, 5);
  rmSync(path.join(root, 'moved'), { recursive: true });
  await index.index([root]);
  assert.equal((await searched(index)).length, 4);
});

void test('a start asks git only about repositories that are not as they were', async () => {
  const root = temporaryFolder();
  const names = Array.from({ length: 18 }, (_, index) => `r${index}.git`);
  for (const name of names) put(root, name, '--bare');
  put(root, 'tree');
  const dataDir = temporaryFolder();
  const asked = async (): Promise<string[]> => {
    await using index = await openIndexOf(dataDir);
    const { sources, jobs } = index.instance.indexer;
    const log = path.join(temporaryFolder(), 'log');
    const calls = await whileLogged(log, () => sources.add([root], undefined));
    await jobs.indexAll(index.instance.served.records, false);
    index.instance.served.publish();
    assert.equal((await searched(index)).length, names.length + 1);
    await index.close();
    return calls;
  };
  const all = [...names, 'tree'].sort();
  assert.deepEqual(await asked(), all);
  assert.deepEqual(await asked(), []);
  git(path.join(root, 'r1.git'), 'config', 'user.name', 'somebody');
  git(path.join(root, 'r2.git'), 'branch', 'other');
  git(path.join(root, 'tree'), 'commit', '-q', '--allow-empty', '-m', 'more');
  assert.deepEqual(await asked(), ['r1.git', 'r2.git', 'tree']);
  // Another repository in the place of one: it does not get its permissions.
  rmSync(path.join(root, 'r3.git'), { recursive: true });
  renameSync(put(temporaryFolder(), 'r3.git', '--bare'), path.join(root, 'r3.git'));
  assert.deepEqual(await asked(), ['r3.git']);
  assert.deepEqual(await asked(), []);
  // Nobody sees when an included file changes.
  const more = path.join(temporaryFolder(), 'more');
  git(path.join(root, 'tree'), 'config', 'include.path', more);
  assert.deepEqual(await asked(), ['tree']);
  git(root, 'config', '--file', more, 'remote.origin.url', 'https://example.com/owner/tree');
  assert.deepEqual(await asked(), ['tree']);
});

/** The repositories whose branches git listed meanwhile. */
async function whileLogged(log: string, work: () => Promise<unknown>): Promise<string[]> {
  const { PATH } = process.env;
  const bin = temporaryFolder();
  const real = (PATH ?? '').split(':').find((one) => existsSync(path.join(one, 'git')));
  const script = `#!/bin/sh\necho "$GIT_DIR $PWD $*" >> ${log}\nPATH=${PATH} exec ${real}/git "$@"\n`;
  writeFileSync(path.join(bin, 'git'), script, { mode: 0o755 });
  process.env['PATH'] = `${bin}:${PATH}`;
  try {
    await work();
  } finally {
    process.env['PATH'] = PATH;
  }
  const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : [];
  const probes = lines.filter((line) => line.includes('%(committerdate:unix) %(objecttype)'));
  return [...new Set(probes.map((line) => /([\w.]+)(?:\/\.git)? /.exec(line)?.[1] ?? line))].sort();
}

void test('a disk missing at a start: nothing is removed', async () => {
  const root = path.join(temporaryFolder(), 'disk');
  mkdirSync(root);
  put(root, 'one');
  put(root, 'two');
  const dataDir = temporaryFolder();
  await using first = await openIndexOf(dataDir);
  await first.index([root]);
  await first.close();
  for (const isMounted of [false, true]) {
    renameSync(root, `${root}.away`);
    if (isMounted) mkdirSync(root);
    await using index = await openIndexOf(dataDir);
    const results = await index.index([root]);
    assert.deepEqual(
      results.map(({ state }) => state),
      ['FAILED', 'FAILED'],
    );
    assert.deepEqual(await searched(index), ['local/one worktree', 'local/two worktree']);
    if (isMounted) rmSync(root, { recursive: true });
    renameSync(`${root}.away`, root);
    const { records } = index.instance.served;
    const back = await index.instance.indexer.jobs.indexAll(records, false);
    assert.deepEqual(
      back.map(({ state }) => state),
      ['COMPLETED', 'COMPLETED'],
    );
  }
});

void test('a folder missing at a start that later has repositories', async () => {
  const root = path.join(temporaryFolder(), 'late');
  await using index = await openIndexOf(temporaryFolder());
  const { sources } = index.instance.indexer;
  await index.index([makeRepo({ a: '' }), root]);
  assert.equal(sources.openCount, 1);
  mkdirSync(root);
  put(root, 'one');
  const come = await sources.findNew(signal);
  assert.deepEqual(
    come.map(({ name }) => name),
    ['local/one'],
  );
});

void test('a file in place of a source is reported once, however often it is polled', async () => {
  const file = path.join(temporaryFolder(), 'notes.txt');
  writeFileSync(file, 'plum\n');
  await using index = await openIndexOf(temporaryFolder());
  const { sources } = index.instance.indexer;
  await index.index([makeRepo({ a: '' }), file]);
  const { length } = index.warnings;
  assert.ok(length > 0);
  for (let i = 0; i < 3; i++) assert.deepEqual(await sources.findNew(signal), []);
  assert.equal(sources.openCount, 1);
  assert.deepEqual(index.warnings.slice(length), []);
});

void test('invalid repositories are reported, and the others are found', async () => {
  const root = temporaryFolder();
  put(root, 'one');
  for (const name of ['damaged.git/objects', 'locked/inner'])
    mkdirSync(path.join(root, name), { recursive: true });
  mkdirSync(Buffer.from(`${root}/odd\xff`, 'latin1'));
  let deep = root;
  for (let i = 0; i <= FIND_DEPTH_MAX; i++) deep = path.join(deep, 'd');
  mkdirSync(deep, { recursive: true });
  chmodSync(path.join(root, 'locked'), 0);
  const { repos, odd, deepCount } = await findRepos(root);
  chmodSync(path.join(root, 'locked'), 0o755);
  assert.deepEqual(
    repos.map((repo) => path.basename(repo.path)),
    ['one'],
  );
  const reasons = odd.map(({ reason }) => reason).join('\n');
  // Each is logged once.
  await using index = await openIndexOf(temporaryFolder());
  await index.index([root]);
  const { length } = index.warnings;
  assert.ok(length >= 3);
  const unsearched = 'not searched for repositories below level 8: 1 folder';
  const isLogged = (reason: string) =>
    index.warningLines.some((line) => line.includes(JSON.stringify(reason)));
  assert.ok(isLogged(unsearched));
  for (let i = 0; i < 3; i++) await index.instance.indexer.sources.findNew(signal);
  assert.deepEqual(index.warnings.slice(length), []);
  // With files beside the repository, the folder itself is indexed.
  writeFileSync(path.join(root, 'a.txt'), 'plum\n');
  await index.instance.indexer.sources.findNew(signal);
  assert.ok(isLogged(`${unsearched}; its files are indexed`));
  await index.close();
  assert.match(reasons, /damaged or incomplete bare repository/);
  assert.match(reasons, /not UTF-8/);
  assert.equal(deepCount, 1);
  if (process.getuid?.() !== 0) assert.match(reasons, /cannot be read \(EACCES\)/);
  await assert.rejects(findRepos(path.join(root, 'nowhere')), /ENOENT/);
  const ended = AbortSignal.abort(new Error('stopped'));
  await assert.rejects(findRepos(root, ended), /stopped/);
});

void test('folders that change while they are listed', async () => {
  const root = temporaryFolder();
  for (let i = 0; i < 40; i++)
    mkdirSync(path.join(root, `f${i % 8}/g${i}/.git`), { recursive: true });
  const random = randomOf(SEED);
  for (let run = 0; run < 30; run++) {
    const looking = findRepos(root);
    for (let i = 0; i < 4; i++) {
      await new Promise(setImmediate);
      const folder = path.join(root, `f${Math.floor(random() * 8)}`);
      if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
      else mkdirSync(path.join(folder, 'g/.git'), { recursive: true });
    }
    const { odd } = await looking;
    assert.deepEqual(odd, []);
  }
});
