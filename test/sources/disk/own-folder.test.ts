// The data directory is never a source, whatever its name and location: nothing of it is listed or read, in a work
// tree that tracks it, in a plain folder, under another name, or as a separate source.

import assert from 'node:assert/strict';
import { linkSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { readDiskFolders } from '../../../daemon/sources/reading/disk-folders.ts';
import { DiskReader } from '../../../daemon/sources/docs/disk-reader.ts';
import { listSource } from '../../../daemon/sources/docs/list-source.ts';
import { readSource } from '../../../daemon/sources/reading/source-reader.ts';
import { listFiles } from '../../../daemon/sources/reading/tree-reader.ts';
import { claimOwnFolder } from '../../../daemon/sources/disk/own-folder.ts';
import type { RepoSource } from '../../../daemon/repos/records.ts';
import { takeDataDir } from '../../../daemon/index/catalog/data-dir.ts';
import { commitAll, git, temporaryFolder, writeFiles } from '../git/fixture.ts';

const SIGNAL = new AbortController().signal;
const SECRET = 'the instance secret\n';
const HIDDEN = ['state/my data/secret', 'state/my data/shards/x.shard', 'hard-link'];

/** A source with a data directory somewhere in it; nothing says to leave that out. */
async function makeSource(kind: 'worktree' | 'folder'): Promise<RepoSource> {
  const root = temporaryFolder();
  const dataDir = path.join(root, 'state', 'my data');
  mkdirSync(path.join(dataDir, 'shards'), { recursive: true });
  writeFiles(root, {
    'a.txt': 'plum\n',
    'state/b.txt': 'plum\n',
    'state/my data/secret': SECRET,
    'state/my data/shards/x.shard': 'shard\n',
    'state/my data/sub/.gitattributes': '* text\n',
  });
  linkSync(path.join(dataDir, 'secret'), path.join(root, 'hard-link'));
  linkSync(path.join(root, 'a.txt'), path.join(root, 'harmless-link'));
  symlinkSync(dataDir, path.join(root, 'link'));
  if (kind === 'worktree') {
    git(root, 'init', '-q', '-b', 'main');
    commitAll(root);
  }
  const giveBack = await takeDataDir(dataDir);
  after(giveBack);
  return { kind, path: root };
}

async function reads(source: RepoSource, file: string): Promise<boolean> {
  const repo = { name: 'r', source, defaultRevision: 'HEAD' };
  const options = { sizeMax: 1 << 20, signal: SIGNAL };
  return readSource(repo, file, undefined, options).then(
    () => true,
    (error: { errorCode?: string; message: string }) => {
      assert.equal(error.errorCode, 'FILE_NOT_FOUND', error.message);
      return false;
    },
  );
}

for (const kind of ['worktree', 'folder'] as const)
  void test(`nothing of it is listed or read: ${kind}`, async () => {
    const source = await makeSource(kind);
    const open = ['a.txt', 'harmless-link', 'link', 'state/b.txt'];

    const { files, excluded } = await listSource(source);
    assert.deepEqual(
      [...files].map((file) => file.path),
      open,
    );
    assert.deepEqual(excluded, []);

    // Its own ignore file leaves it out; that is nobody's loss.
    writeFiles(source.path, { 'state/my data/.gitignore': '*\n', '.trawlignore': 'my data\n' });
    assert.deepEqual(await (await listSource(source)).ignored(), {});
    rmSync(path.join(source.path, '.trawlignore'));
    rmSync(path.join(source.path, 'state/my data/.gitignore'));

    const repo = { name: 'r', source, defaultRevision: 'HEAD' };
    const names = await listFiles(repo, 'HEAD', SIGNAL);
    assert.deepEqual(
      names.filter((name) => name !== 'hard-link'),
      open,
    );
    const folders = await readDiskFolders(source, () => true, SIGNAL);
    assert.deepEqual([...folders.keys()].sort(), ['', 'state']);
    assert.deepEqual(
      folders.get('state')?.map(({ name }) => name),
      ['b.txt'],
    );

    for (const file of HIDDEN) assert.equal(await reads(source, file), false, file);
    for (const file of open) assert.equal(await reads(source, file), true, file);
    const entries = HIDDEN.slice(0, 2).map((name) => ({ path: name, size: 10, isSymlink: false }));
    const reader = new DiskReader(source.path);
    const failures = await reader.read(entries, (_, bytes) => assert.equal(bytes, undefined));
    assert.equal(failures.length, 2);
  });

void test('it is not a source, nor is anything in it, also through a link', async () => {
  const { path: root } = await makeSource('folder');
  const link = path.join(temporaryFolder(), 'elsewhere');
  symlinkSync(path.join(root, 'state'), link);
  for (const folder of [
    path.join(root, 'state/my data'),
    path.join(root, 'state/my data/shards'),
    path.join(link, 'my data'),
  ]) {
    const source = { kind: 'folder', path: folder } as const;
    await assert.rejects(listSource(source), /is the data directory, or in it/);
    assert.equal(await reads(source, 'secret'), false);
    assert.equal((await readDiskFolders(source, () => true, SIGNAL)).size, 0);
  }
  const { files } = await listSource({ kind: 'folder', path: link });
  assert.deepEqual(
    [...files].map((file) => file.path),
    ['b.txt'],
  );
});

void test('threads started later know it', async () => {
  const { path: root } = await makeSource('folder');
  const code = `
    import { parentPort } from 'node:worker_threads';
    const { isInOwnFolder } = await import(${JSON.stringify(new URL('../../../daemon/sources/disk/own-folder.js', import.meta.url).href)});
    parentPort.postMessage([isInOwnFolder(${JSON.stringify(path.join(root, 'state/my data/shards'))}), isInOwnFolder(${JSON.stringify(root)})]);
  `;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  const found = await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  assert.deepEqual(found, [true, false]);
});

// The last one: what it claims stays claimed.
void test('where it cannot be listed, no possible file of it is read', async () => {
  const root = temporaryFolder();
  writeFiles(root, { 'a.txt': 'plum\n', claimed: '' });
  linkSync(path.join(root, 'a.txt'), path.join(root, 'b.txt'));
  const source = { kind: 'folder', path: root } as const;
  assert.equal((await listSource(source)).files.length, 3);
  claimOwnFolder(path.join(root, 'claimed'));
  await assert.rejects(listSource(source), { code: 'ENOTDIR' });
  const repo = { name: 'r', source, defaultRevision: 'HEAD' };
  const reading = readSource(repo, 'a.txt', undefined, { sizeMax: 100, signal: SIGNAL });
  await assert.rejects(reading);
});
