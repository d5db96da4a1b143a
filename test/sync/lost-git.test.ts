// A repository stays one: when its git is damaged, missing or still being copied, its index stays, and no files of
// git or ignored ones are searched. A folder that becomes a repository is one from its next job on.
// tier: ci (long)

import assert from 'node:assert/strict';
import { cpSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { OPERATOR } from '../../daemon/accounts/audit-log.ts';
import { readDiskFolders } from '../../daemon/sources/reading/disk-folders.ts';
import { readSource } from '../../daemon/sources/reading/source-reader.ts';
import {
  removeOffline,
  RepoRemover,
  unlistedOf,
} from '../../daemon/sync/connections/remove-repos.ts';
import { POSTGRES_MISSING, startPostgres } from '../store/postgres-server.ts';
import { git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { type IndexOf, openIndexOf, displayed } from './index-of.ts';

/** A bare repository that names its remote with a password. */
function bareRepo(): string {
  const bare = path.join(temporaryFolder(), 'some.git');
  git('/', 'clone', '-q', '--bare', makeRepo({ 'a.txt': 'plum\n' }), bare);
  git(bare, 'config', 'remote.origin.url', '/srv/plum-password/x.git');
  return bare;
}

/** What a job of each repo that is served says. */
async function jobErrors({ instance }: IndexOf): Promise<string[]> {
  const { records } = instance.served;
  const results = await instance.indexer.jobs.indexAll(records, false);
  return results.map(({ error = '' }) => error);
}

async function plums(index: IndexOf): Promise<string[]> {
  return displayed(await index.search('plum'));
}

/** As a start does, and its jobs, both attempts. */
async function assertKept(dataDir: string, source: string, reason: RegExp, has: readonly string[]) {
  for (const paths of [[source], []]) {
    await using index = await openIndexOf(dataDir);
    if (paths.length > 0) await index.index(paths);
    else await index.instance.indexer.sources.confirm();
    for (let attempt = 1; attempt <= 2; attempt++)
      assert.match((await jobErrors(index)).join(), reason);
    assert.deepEqual(await plums(index), has);
  }
}

void test('a bare repository that lost its refs keeps its index, and continues when they are back', async () => {
  const [dataDir, bare] = [temporaryFolder(), bareRepo()];
  await using index = await openIndexOf(dataDir);
  await index.index([bare]);
  const has = ['a.txt heads/main'];
  assert.deepEqual(await plums(index), has);
  renameSync(path.join(bare, 'refs'), `${bare}.refs`);
  const damage = /damaged or incomplete bare repository; missing: refs/;
  assert.match((await jobErrors(index)).join(), damage);
  await index.close();
  await assertKept(dataDir, bare, damage, has);
  // Nor does another place, name or copy make it a folder.
  const copy = path.join(temporaryFolder(), 'copy');
  cpSync(bare, copy, { recursive: true });
  await using again = await openIndexOf(dataDir);
  await assert.rejects(again.index([copy]), damage);
  renameSync(`${bare}.refs`, path.join(bare, 'refs'));
  await again.index([bare]);
  assert.deepEqual(await jobErrors(again), ['']);
  assert.deepEqual(await plums(again), has);
});

void test('a work tree whose .git is missing is not a folder, unless configured', async () => {
  const [dataDir, tree] = [
    temporaryFolder(),
    makeRepo({ 'a.txt': 'plum\n', '.gitignore': 'secret.env\n' }),
  ];
  writeFiles(tree, { 'secret.env': 'plum\n' });
  await using index = await openIndexOf(dataDir);
  await index.index([tree]);
  const has = ['a.txt HEAD'];
  assert.deepEqual(await plums(index), has);
  renameSync(path.join(tree, '.git'), path.join(temporaryFolder(), 'gone'));
  const gone = /was a git repository, but its \.git is missing.*--mode folder/;
  assert.match((await jobErrors(index)).join(), gone);
  await index.close();
  await assertKept(dataDir, tree, gone, has);
  const copy = `${tree}-2`;
  renameSync(tree, copy);
  await using moved = await openIndexOf(dataDir);
  await assert.rejects(moved.index([copy]), gone);
  await assert.rejects(moved.index([copy], {}, 'worktree'), gone);
  renameSync(copy, tree);
  await moved.index([tree], {}, 'folder');
  assert.deepEqual(await plums(moved), ['a.txt HEAD', 'secret.env HEAD']);
  assert.deepEqual(await jobErrors(moved), ['']);
  await moved.close();
  // It is one from then on.
  await using later = await openIndexOf(dataDir);
  await later.index([tree]);
  assert.deepEqual(await jobErrors(later), ['']);
});

void test('a repository in a folder that lost its .git: none of its files are those of the folder', async () => {
  const [dataDir, root] = [temporaryFolder(), temporaryFolder()];
  const [repo, inner] = [path.join(root, 'repo'), path.join(root, 'repo/inner')];
  const secret = { '.gitignore': 'secret.env\n', 'secret.env': 'plum\n' };
  renameSync(makeRepo({ 'a.txt': 'plum\n' }), repo);
  renameSync(makeRepo({ 'b.txt': 'plum\n' }), inner);
  for (const one of [repo, inner]) writeFiles(one, secret);
  const { signal } = new AbortController();
  const has = ['a.txt HEAD', 'b.txt HEAD'];
  await using index = await openIndexOf(dataDir);
  await index.index([root], { visibility: 'private', enforcement: 'all' });
  assert.deepEqual(await plums(index), has);
  renameSync(path.join(inner, '.git'), path.join(inner, 'git-away'));
  await index.instance.indexer.jobs.indexAll(index.instance.served.records, false);
  assert.deepEqual(await plums(index), has);
  renameSync(path.join(repo, '.git'), path.join(repo, 'git-away'));
  // No folder source is made for them, nor do they become part of one.
  const { sources, jobs } = index.instance.indexer;
  assert.deepEqual(await sources.findNew(signal), []);
  writeFiles(root, { 'loose.txt': 'plum\n' });
  const [beside = assert.fail()] = await sources.findNew(signal);
  index.instance.served.publish();
  await jobs.indexAll([beside], false);
  assert.deepEqual(await plums(index), [...has, 'loose.txt HEAD']);
  const read = (name: string) => readSource(beside, name, undefined, { sizeMax: 1e6, signal });
  await assert.rejects(read('repo/secret.env'), /not found/);
  const folders = await readDiskFolders(beside.source, () => true, signal);
  assert.deepEqual([...folders.keys()], ['']);
  await index.close();
  await using again = await openIndexOf(dataDir);
  await again.index([root]);
  assert.deepEqual(await plums(again), [...has, 'loose.txt HEAD']);
  // A repository that moved leaves its old path free, one that is removed on purpose its files.
  for (const one of [inner, repo]) renameSync(path.join(one, 'git-away'), path.join(one, '.git'));
  renameSync(repo, path.join(root, 'moved'));
  writeFiles(repo, { 'c.txt': 'plum\n' });
  await again.index([root]);
  assert.ok((await plums(again)).includes('repo/c.txt HEAD'));
  for (const one of ['moved', 'moved/inner'])
    rmSync(path.join(root, one, '.git'), { recursive: true });
  const { catalog, registry } = again.instance.index;
  const ids = registry.all.filter(({ location }) => location?.kind !== 'folder');
  await removeOffline({ catalog, registry }, new Set(ids.map(({ repoId }) => repoId)), OPERATOR);
  await again.index([root]);
  assert.deepEqual(
    (await plums(again)).filter((one) => /secret|[ab]\.txt/.test(one)),
    [
      'moved/a.txt HEAD',
      'moved/inner/b.txt HEAD',
      'moved/inner/secret.env HEAD',
      'moved/secret.env HEAD',
    ],
  );
});

for (const isOffline of [true, false])
  void test(`a removal that ends half way can be done again, offline: ${isOffline}`, async (t) => {
    const [dataDir, gone, stays] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    for (const folder of [gone, stays]) writeFiles(folder, { 'a.txt': 'plum\n' });
    const repoId = 1;
    const remove = async ({ instance }: IndexOf): Promise<void> => {
      const { catalog, registry } = instance.index;
      const [{ served }, { jobs }, ids] = [instance, instance.indexer, new Set([repoId])];
      if (isOffline) return removeOffline({ catalog, registry }, ids, OPERATOR);
      const mirrors = { remove: async () => {} };
      const remover = new RepoRemover({ catalog, registry, served, jobs, mirrors });
      await remover.remove([repoId], (stored) => unlistedOf(stored, ids), OPERATOR);
    };
    for (const half of ['store', 'catalog']) {
      await using index = await openIndexOf(dataDir);
      if (half === 'store') await index.index([gone, stays]);
      const { catalog, registry } = index.instance.index;
      const fail = () => Promise.reject(new Error('killed'));
      if (half === 'store') t.mock.method(registry, 'decide', fail);
      else t.mock.method(catalog, 'commit', fail);
      await assert.rejects(remove(index), /killed/);
    }
    await using index = await openIndexOf(dataDir);
    const { catalog, registry } = index.instance.index;
    const at = registry.all.find(({ location }) => location?.path === gone) ?? assert.fail();
    assert.ok(catalog.repo(at.repoId) !== undefined);
    await removeOffline({ catalog, registry }, new Set([at.repoId]), OPERATOR);
    assert.deepEqual(
      [catalog.repos.length, registry.all.map(({ location }) => location?.path)],
      [1, [stays]],
    );
  });

const skip = POSTGRES_MISSING ?? false;

void test('a repository of another machine on a shared store is none here', { skip }, async () => {
  const server = await startPostgres();
  try {
    const databaseUrl = await server.createDatabase();
    const [there, root, away] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    const repo = path.join(root, 'repo');
    renameSync(makeRepo({ 'a.txt': 'plum\n' }), repo);
    await using other = await openIndexOf(there, { databaseUrl });
    await other.index([repo]);
    await other.close();
    // The same path is a plain folder on this machine.
    renameSync(repo, path.join(away, 'repo'));
    writeFiles(repo, { 'b.txt': 'plum\n' });
    renameSync(makeRepo({ 'c.txt': 'plum\n' }), path.join(root, 'own'));
    await using index = await openIndexOf(temporaryFolder(), { databaseUrl });
    await index.index([root]);
    assert.deepEqual(await plums(index), ['c.txt HEAD', 'repo/b.txt HEAD']);
  } finally {
    await server.remove();
  }
});

void test('a folder whose repositories are all missing does not become a plain folder that has them when they are back', async () => {
  const [dataDir, root, away] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  const repo = path.join(root, 'repo');
  renameSync(makeRepo({ 'a.txt': 'plum\n' }), repo);
  writeFiles(repo, { '.gitignore': 'secret.env\n', 'secret.env': 'plum\n' });
  await using index = await openIndexOf(dataDir);
  await index.index([root]);
  await index.close();
  renameSync(repo, path.join(away, 'repo'));
  writeFiles(root, { 'loose.txt': 'plum\n' });
  await using without = await openIndexOf(dataDir);
  await without.index([root]);
  assert.ok((await plums(without)).includes('loose.txt HEAD'));
  await without.close();
  renameSync(path.join(away, 'repo'), repo);
  await using again = await openIndexOf(dataDir);
  await again.index([root]);
  assert.deepEqual(await plums(again), ['a.txt HEAD', 'loose.txt HEAD']);
});

void test('a folder that becomes a repository is one from the next job on, with its rules', async () => {
  const folder = temporaryFolder();
  writeFiles(folder, { 'a.txt': 'plum\n', 'secret.env': 'plum\n' });
  await using index = await openIndexOf(temporaryFolder());
  await index.index([folder], { visibility: 'private', enforcement: 'all' });
  assert.deepEqual(await plums(index), ['a.txt HEAD', 'secret.env HEAD']);
  const [{ repoId } = assert.fail()] = index.instance.served.records;
  git(folder, 'init', '-q', '-b', 'main');
  writeFiles(folder, { '.gitignore': 'secret.env\n' });
  assert.deepEqual(await jobErrors(index), ['']);
  assert.deepEqual(await plums(index), ['a.txt HEAD']);
  const [record] = index.instance.served.records;
  assert.deepEqual(record?.source, { kind: 'worktree', path: folder });
  assert.equal(record.repoId, repoId);
  assert.deepEqual([record.visibility, record.enforcement], ['private', 'all']);
  assert.deepEqual(await jobErrors(index), ['']);
});

void test('a folder that became a bare repository is searched as one', async () => {
  const bare = bareRepo();
  const repoPath = path.join(temporaryFolder(), 'slow');
  cpSync(path.join(bare, 'description'), path.join(repoPath, 'description'));
  await using index = await openIndexOf(temporaryFolder());
  await index.index([repoPath]);
  const copy = (name: string): void =>
    cpSync(path.join(bare, name), path.join(repoPath, name), { recursive: true });
  for (const name of ['config', 'HEAD', 'objects']) {
    copy(name);
    assert.match((await jobErrors(index)).join(), /damaged or incomplete/, name);
    assert.deepEqual(await plums(index), []);
  }
  for (const name of ['packed-refs', 'refs']) copy(name);
  assert.deepEqual(await jobErrors(index), ['']);
  assert.deepEqual(await plums(index), ['a.txt heads/main']);
});

void test('a copy in progress is polled until it is complete', async () => {
  const bare = bareRepo();
  const slow = path.join(temporaryFolder(), 'slow.git');
  await using index = await openIndexOf(temporaryFolder());
  await index.index([slow, makeRepo({ 'b.txt': 'plum\n' })]);
  const { sources, jobs } = index.instance.indexer;
  const { signal } = new AbortController();
  for (const name of ['HEAD', 'config', 'objects']) {
    cpSync(path.join(bare, name), path.join(slow, name), { recursive: true });
    assert.deepEqual(await sources.findNew(signal), [], name);
  }
  assert.match(jobs.failed.reasonOf(slow) ?? '', /bare repository; missing: refs$/);
  for (const name of ['refs', 'packed-refs'])
    cpSync(path.join(bare, name), path.join(slow, name), { recursive: true });
  const come = await sources.findNew(signal);
  assert.deepEqual(
    come.map(({ source }) => source.kind),
    ['commits'],
  );
  assert.equal(jobs.failed.reasonOf(slow), undefined);
  rmSync(slow, { recursive: true });
});
