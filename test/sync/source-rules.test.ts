// Which files of a source are docs: ignore files, --no-ignore, the globs of a connection, repositories below a folder. Rules
// are stored, an index that follows them equals a build, and a file that is no doc cannot be read either.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { readDiskFolders } from '../../daemon/sources/reading/disk-folders.ts';
import { readSource } from '../../daemon/sources/reading/source-reader.ts';
import type { SourceKind } from '../../daemon/repos/records.ts';
import type { RepoChange } from '../../daemon/index/register/change-repo.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { type IndexOf, openIndexOf, displayed } from './index-of.ts';

const { signal } = new AbortController();

/** Each holds `plum`. */
const FILES = ['kept.c', 'gen/left.c', 'a.log', 'gen/deep/b.c'];

function sourceOf(kind: 'folder' | 'worktree' | 'commits'): string {
  const root = kind === 'folder' ? temporaryFolder() : makeRepo({ 'first.txt': '' });
  writeFiles(root, Object.fromEntries(FILES.map((name) => [name, `plum ${name}\n`])));
  writeFiles(root, { '.trawlignore': 'gen/\n' });
  if (kind === 'commits') commitAll(root);
  writeFiles(root, { '.gitignore': '*.log\n', '.ignore': '*.log\n' });
  return root;
}

async function plums(index: IndexOf): Promise<string[]> {
  const { files } = await index.search('plum');
  return files.map((file) => file.path).sort();
}

const modeOf = (kind: string): SourceKind | undefined =>
  kind === 'commits' ? 'commits' : undefined;

for (const kind of ['folder', 'worktree', 'commits'] as const)
  void test(`--no-ignore, kept until changed: ${kind}`, async () => {
    const root = sourceOf(kind);
    const dataDir = temporaryFolder();
    const ruled = kind === 'commits' ? ['a.log', 'kept.c'] : ['kept.c'];
    const reported = async (change: RepoChange | undefined, expected: readonly string[]) => {
      // A process each: what is told is in the store.
      await using index = await openIndexOf(dataDir);
      const [result] = await index.index([root], change, modeOf(kind));
      assert.equal(result!.error, undefined);
      assert.deepEqual(await plums(index), [...expected].sort());
      await index.close();
      return result!;
    };
    assert.ok(Object.keys((await reported(undefined, ruled)).ignored).length > 0);
    assert.deepEqual((await reported({ noIgnore: true }, FILES)).ignored, {});
    assert.notEqual((await reported(undefined, FILES)).built, 'whole');
    assert.notEqual((await reported({ branches: [] }, FILES)).built, 'whole');
    await reported({ noIgnore: false }, ruled);
  });

void test('--no-ignore of commits: revisions, and only changes of .trawlignore', async () => {
  const root = sourceOf('commits');
  git(root, 'branch', 'dev');
  await using index = await openIndexOf(temporaryFolder());
  const reported: RepoChange = { noIgnore: true, branches: ['dev'] };
  await index.index([root], reported, 'commits');
  for (const rules of ['*\n', '', 'kept.c\n']) {
    writeFileSync(path.join(root, '.trawlignore'), rules);
    commitAll(root);
    await index.index([root], {}, 'commits');
    assert.deepEqual(await plums(index), [...FILES].sort());
    assert.equal((await index.search('plum rev:dev')).files.length, FILES.length);
  }
  await index.index([root], { noIgnore: false }, 'commits');
  assert.deepEqual(await plums(index), FILES.filter((name) => name !== 'kept.c').sort());
  assert.deepEqual(displayed(await index.search('plum rev:dev')), [
    'a.log heads/dev',
    'kept.c heads/dev',
  ]);
});

for (const kind of ['folder', 'worktree'] as const)
  void test(`globs of a connection: ${kind}`, async () => {
    const root = sourceOf(kind);
    await using index = await openIndexOf(temporaryFolder());
    const ignore = ['gen', '!gen/deep/**', '*.log'];
    await index.index([root], { noIgnore: true, ignore });
    // As of files of rules: what is in a folder that is left out is not taken back.
    assert.deepEqual(await plums(index), ['kept.c']);
    const [again] = await index.index([root]);
    assert.notEqual(again!.built, 'whole', again!.reason);
    assert.ok((again!.ignored['setting: ignore'] ?? 0) > 1, JSON.stringify(again!.ignored));
    // New files, told and found by a build.
    writeFiles(root, { 'gen/new.c': 'plum new\n', 'new.c': 'plum new\n' });
    await index.index([root]);
    assert.deepEqual(await plums(index), ['kept.c', 'new.c']);
    const [record] = index.instance.served.records;
    const read = (name: string) => readSource(record!, name, undefined, { sizeMax: 1e6, signal });
    await assert.rejects(read('gen/left.c'), /not found/);
    await read('kept.c');
    const folders = await readDiskFolders(record!.source, () => true, signal);
    assert.equal(folders.has('gen'), false);
    await index.index([root], { ignore: [] });
    assert.equal((await plums(index)).length, FILES.length + 2);
  });

void test('only ignored files: a warning that names the rule, also without changes', async () => {
  const root = temporaryFolder();
  writeFiles(root, { '.ignore': '*\n', 'a.c': 'plum\n', 'b.c': 'plum\n' });
  await using index = await openIndexOf(temporaryFolder());
  for (const built of ['whole', undefined]) {
    const [result] = await index.index([root]);
    assert.equal(result!.built, built);
    assert.match(
      result!.warnings.join('\n'),
      /^nothing is indexed: 3 files .*"\.ignore: \*";.*--no-ignore reads all$/,
    );
  }
  const empty = temporaryFolder();
  const [result] = await index.index([empty]);
  assert.deepEqual(result!.warnings, ['nothing is indexed: the folder has no files']);
});

void test('files beside repositories: nothing of theirs, nor of partial ones', async () => {
  const root = temporaryFolder();
  writeFiles(root, {
    'a.c': 'plum\n',
    'plain/b.c': 'plum\n',
    'repo/c.c': 'plum\n',
    'copied/config': '[core]\n\trepositoryformatversion = 0\n[remote]\n\turl = plum\n',
    'half.git/HEAD': 'plum\n',
  });
  git(root, 'init', '-q', 'repo');
  git(root, 'init', '-q', '--bare', 'bare');
  writeFiles(root, { 'bare/plum': 'plum\n' });
  await using index = await openIndexOf(temporaryFolder());
  const { records } = await index.instance.indexer.sources.add([root], undefined);
  const beside = records.find(({ source }) => source.kind === 'folder')!;
  index.instance.served.publish();
  await index.instance.indexer.jobs.indexAll(records, false);
  assert.deepEqual(displayed(await index.search(`plum repo:${beside.name}$`)), [
    'a.c HEAD',
    'plain/b.c HEAD',
  ]);
  const read = (name: string) => readSource(beside, name, undefined, { sizeMax: 1e6, signal });
  await read('plain/b.c');
  for (const name of ['repo/c.c', 'bare/plum', 'copied/config', 'half.git/HEAD'])
    await assert.rejects(read(name), /not found/, name);
  const folders = await readDiskFolders(beside.source, () => true, signal);
  assert.deepEqual([...folders.keys()].sort(), ['', 'plain']);
});

void test('a repo is served while its source is checked, unless its access changes', async () => {
  const root = sourceOf('commits');
  await using index = await openIndexOf(temporaryFolder());
  const reported: RepoChange = {
    branches: ['**'],
    visibility: 'private',
    enforcement: 'restricted',
  };
  await index.index([root], reported, 'commits');
  const { sources } = index.instance.indexer;
  const changes: readonly (readonly [RepoChange, boolean])[] = [
    [{}, true],
    [reported, true],
    [{ ...reported, branches: ['main'], ignore: ['gen/'] }, true],
    [{ visibility: 'public' }, false],
    [{ enforcement: 'none' }, false],
  ];
  for (const [change, isServed] of changes) {
    const looking = sources.add([root], 'commits', change);
    assert.equal(index.instance.served.repoIds!.size, isServed ? 1 : 0, JSON.stringify(change));
    await looking;
    assert.equal(index.instance.served.repoIds!.size, 1);
  }
});
