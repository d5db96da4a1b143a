// Files of the shard folder used by two repos, as they are named by content: they stay as long as one repo uses them,
// and are then removed; and new files without a user.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { Catalog } from '../../daemon/index/catalog/catalog.ts';
import { revisionFileId, RevisionWriter } from '../../daemon/engine/shards/revisions.ts';
import { commitFiles, git, makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { repoRecord } from '../repos/record.ts';
import { filesOf, openIndexOf, displayed } from '../sync/index-of.ts';

const ALL = { branches: ['**'], tags: [] };

/** A repo of two branches that hold the same docs. */
function makeTwin(word: string): string {
  const repo = makeRepo({ 'a.c': `int ${word}(void) { return 0; }\n`, 'b.txt': 'plum\n' });
  git(repo, 'branch', 'x');
  return repo;
}

void test('a revision file used by another repo stays', async () => {
  const [first, second] = [makeTwin('one'), makeTwin('two')];
  const dataDir = temporaryFolder();
  const index = await openIndexOf(dataDir);
  await index.index([first, second], ALL, 'commits');
  const shared = filesOf(dataDir).revisions;
  assert.equal(shared.length, 1);
  commitFiles(first, { 'c.txt': 'pear\n' });
  await index.index([first, second], ALL, 'commits');
  assert.ok(filesOf(dataDir).revisions.includes(shared[0]!));
  assert.equal(filesOf(dataDir).revisions.length, 2);
  await index.close();

  const again = await openIndexOf(dataDir);
  assert.deepEqual(displayed(await again.search('two rev:x')), ['a.c heads/x']);
  assert.deepEqual(again.warnings, []);
  commitFiles(second, { 'c.txt': 'pear\n' });
  await again.index([first, second], ALL, 'commits');
  assert.equal(filesOf(dataDir).revisions.includes(shared[0]!), false);
  await again.close();
});

void test('a new file stays until it is referenced or abandoned', async () => {
  const catalog = await openCatalog();
  const revisionFile = await catalog.writeRevisions(new RevisionWriter([]).bytes());
  const file = path.join(catalog.shardFolder, `${revisionFile}.revisions`);
  const before = [{ ...REPO, revisionFile }];
  await catalog.removeFilesOf(before);
  await catalog.sweep();
  assert.ok(existsSync(file));
  await catalog.commit(() => ({ put: before }));
  await catalog.unpin([file]);
  assert.ok(existsSync(file));
  assert.deepEqual(await catalog.commit(() => ({ put: [REPO] })), before);
  await catalog.removeFilesOf(before);
  assert.equal(existsSync(file), false);
});

void test('a file written by two jobs stays until both are done with it', async () => {
  const catalog = await openCatalog();
  const bytes = new RevisionWriter([]).bytes();
  const revisionFile = await catalog.writeRevisions(bytes);
  const file = catalog.revisionPath(revisionFile);
  const other = { ...REPO, record: { ...REPO.record, repoId: 2 }, revisionFile };
  // One fails while the other is about to name it.
  await catalog.writeRevisions(bytes);
  await catalog.unpin([file]);
  assert.ok(existsSync(file));
  // One names it, and then another file, meanwhile.
  await catalog.writeRevisions(bytes);
  const before = [{ ...REPO, revisionFile }];
  await catalog.commit(() => ({ put: before }));
  await catalog.unpin([file]);
  await catalog.commit(() => ({ put: [REPO] }));
  await catalog.removeFilesOf(before);
  assert.ok(existsSync(file));
  await catalog.commit(() => ({ put: [other] }));
  await catalog.unpin([file]);
  assert.ok(existsSync(file));
  await catalog.commit(() => ({ removed: [2] }));
  await catalog.removeFilesOf([other]);
  assert.equal(existsSync(file), false);
});

void test('file names are a consistent snapshot, for a backup during commits', async () => {
  const catalog = await openCatalog();
  const revisionFile = await catalog.writeRevisions(new RevisionWriter([]).bytes());
  const repo = { ...REPO, revisionFile };
  await catalog.commit(() => ({ put: [repo] }));
  const read: string[] = [];
  for (const name of catalog.fileNames) {
    read.push(name);
    if (read.length < 5) await catalog.commit(() => ({ put: [repo] }));
  }
  assert.deepEqual(read, [`${revisionFile}.revisions`]);
});

void test('a folder with the name of one of our files is removed', async () => {
  const catalog = await openCatalog();
  const bytes = new RevisionWriter([]).bytes();
  const name = `${revisionFileId(bytes)}.revisions`;
  for (const folder of [name, '0123456789abcdef.tags', 'lost+found']) {
    mkdirSync(path.join(catalog.shardFolder, folder), { recursive: true });
    writeFileSync(path.join(catalog.shardFolder, folder, 'x'), '');
  }
  await catalog.writeRevisions(bytes);
  await catalog.sweep();
  assert.deepEqual(readdirSync(catalog.shardFolder).sort(), [name, 'lost+found']);
});

async function openCatalog(): Promise<Catalog> {
  const catalog = new Catalog(temporaryFolder());
  mkdirSync(catalog.shardFolder);
  await catalog.load(true);
  return catalog;
}

const REPO = {
  record: {
    ...repoRecord(1, 'local/a'),
    source: { kind: 'commits' as const, path: '/a' },
    defaultRevision: 'refs/heads/main',
  },
  shards: [],
  skipped: {},
};
