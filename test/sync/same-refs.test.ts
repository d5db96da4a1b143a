// A job of a repository with unchanged refs and settings does not call git: it succeeds although the objects are
// missing. Any other change makes it call git, which reports that.
// tier: ci (long)

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { JobResult } from '../../daemon/sync/jobs/jobs.ts';
import { git, makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { FILTERS, type IndexOf, indexOf, openIndexOf } from './index-of.ts';

/** Runs the job of the only repo while git cannot read its objects. */
async function jobWithoutObjects(
  { instance }: IndexOf,
  repo: string,
  isForced = false,
): Promise<Pick<JobResult, 'state' | 'isUnchanged'>> {
  const objects = path.join(repo, '.git/objects');
  const away = path.join(repo, '.git/away');
  const names = readdirSync(objects).filter((name) => name !== 'pack' && name !== 'info');
  mkdirSync(away);
  const move = (from: string, to: string): void => {
    for (const name of names) renameSync(path.join(from, name), path.join(to, name));
  };
  move(objects, away);
  try {
    const { jobs } = instance.indexer;
    const [result] = await jobs.indexAll(instance.served.records, isForced);
    const { state, isUnchanged } = result!;
    return { state, isUnchanged };
  } finally {
    move(away, objects);
    rmdirSync(away);
  }
}

const UNCHANGED = { state: 'COMPLETED', isUnchanged: true };
const FAILED = { state: 'FAILED', isUnchanged: false };

void test('a job without changes calls no git, in this process and the next', async () => {
  const repo = makeRepo({ 'a.c': 'int plum;\n' });
  await using first = await indexOf(temporaryFolder(), repo);
  assert.deepEqual(await jobWithoutObjects(first, repo), UNCHANGED);
  await first.close();
  await using next = await openIndexOf(first.dataDir);
  assert.deepEqual(await jobWithoutObjects(next, repo), UNCHANGED);
  assert.equal((await next.search('plum')).files.length, 1);
});

const CHANGES: Record<string, (repo: string, index: IndexOf) => unknown> = {
  'a commit': (repo) => git(repo, 'commit', '-q', '--allow-empty', '-m', 'next'),
  'a new branch': (repo) => git(repo, 'branch', 'more'),
  'another remote': (repo) => git(repo, 'remote', 'add', 'origin', 'https://example.com/a/b'),
  'packed refs': (repo) => git(repo, 'pack-refs', '--all'),
  'another branch of HEAD': (repo) => git(repo, 'checkout', '-q', '-b', 'side'),
  'other revisions wanted': (_, { instance }) => {
    const repoIds = new Set(instance.served.records.map(({ repoId }) => repoId));
    return instance.indexer.rules.change(repoIds, { branches: ['*'] });
  },
  'objects that went': (repo) => rmSync(path.join(repo, '.git/objects/pack'), { recursive: true }),
  'a shard out of service': (_, { instance }) => {
    const [repo] = instance.catalog.repos;
    instance.served.quarantine(repo!.shards[0]!.shardId, 'damaged');
  },
};

void test('git is called after each change, and then no more', async () => {
  const repo = makeRepo({ 'a.c': 'int plum;\n' });
  await using index = await indexOf(temporaryFolder(), repo);
  for (const [name, change] of Object.entries(CHANGES)) {
    await change(repo, index);
    assert.deepEqual(await jobWithoutObjects(index, repo), FAILED, name);
    await index.instance.indexer.jobs.indexAll(index.instance.served.records, false);
    assert.deepEqual(await jobWithoutObjects(index, repo), UNCHANGED, name);
  }
});

void test('git is called for a forced job, or with changed doc rules', async () => {
  const repo = makeRepo({ 'a.c': 'int plum;\n' });
  await using index = await indexOf(temporaryFolder(), repo);
  assert.deepEqual(await jobWithoutObjects(index, repo, true), FAILED);
  await index.close();
  const filters = { ...FILTERS, maxFileSize: FILTERS.maxFileSize + 1 };
  await using next = await openIndexOf(index.dataDir, { filters });
  assert.deepEqual(await jobWithoutObjects(next, repo), FAILED);
});

void test('missing selected revisions are reported at each start', async () => {
  const repo = makeRepo({ 'a.c': 'int plum;\n' });
  await using first = await indexOf(temporaryFolder(), repo, { branches: ['nowhere'] });
  await first.close();
  await using next = await openIndexOf(first.dataDir);
  await next.instance.indexer.jobs.indexAll(next.instance.served.records, false);
  assert.deepEqual(next.warnings, ['no branch matches: nowhere']);
});

void test('a work tree is checked even if its refs are unchanged', async () => {
  const repo = makeRepo({ 'a.c': 'int plum;\n' });
  await using index = await openIndexOf(temporaryFolder());
  await index.index([repo], undefined, 'worktree');
  assert.deepEqual(await jobWithoutObjects(index, repo), FAILED);
});
