// A job reports whether it built a delta or everything, and why; and docs without a revision.
// tier: ci (long)

import assert from 'node:assert/strict';
import { renameSync, rmSync } from 'node:fs';
import test from 'node:test';
import type { JobResult } from '../../daemon/sync/jobs/jobs.ts';
import {
  commitAll,
  commitFiles,
  git,
  makeRepo,
  temporaryFolder,
  writeFiles,
} from '../sources/git/fixture.ts';
import { FILTERS, type IndexOf, openIndexOf } from './index-of.ts';
import { NEVER } from '../index/merge-limits.ts';

const OPTIONS = { mergeLimits: NEVER };

void test('delta or full build, and why', async () => {
  const names = Array.from({ length: 10 }, (_, i) => `${i}.txt`);
  const textsOf = (text: string): Record<string, string> =>
    Object.fromEntries(names.map((name) => [name, `${text} ${name}`]));
  const repo = makeRepo(textsOf('plum'));
  await using index = await openIndexOf(temporaryFolder(), OPTIONS);
  const reported = ({ built, reason, docCount, deadCount }: JobResult) =>
    [built, reason, docCount, deadCount] as const;
  const follow = async (files?: Record<string, string>) => {
    if (files !== undefined) {
      writeFiles(repo, files);
      commitAll(repo);
    }
    return reported((await index.index([repo], undefined, 'commits'))[0]!);
  };
  assert.deepEqual(await follow(), ['whole', undefined, 10, 0]);
  assert.deepEqual(await follow(), [undefined, undefined, 10, 0]);
  assert.deepEqual(await follow({ '0.txt': 'pear' }), ['delta', undefined, 10, 1]);
  const more = 'more than half of the docs are new, or in no revision any more';
  assert.deepEqual(await follow(textsOf('apple')), ['whole', more, 10, 0]);
  assert.deepEqual(await follow({ '.trawlignore': '9.txt\n' }), [
    'whole',
    '.trawlignore changed',
    10,
    0,
  ]);
  const { jobs } = index.instance.indexer;
  const [forced] = await jobs.indexAll(index.instance.served.records, true);
  assert.deepEqual(reported(forced!), ['whole', 'requested', 10, 0]);
  // What fails then is not over when a job finds that nothing has changed.
  renameSync(`${repo}/.git/objects`, `${repo}/.git/away`);
  const [failed] = await jobs.indexAll(index.instance.served.records, true);
  assert.equal(failed!.state, 'FAILED');
  renameSync(`${repo}/.git/away`, `${repo}/.git/objects`);
  assert.deepEqual(await follow(), ['whole', 'requested, and not finished', 10, 0]);
  assert.deepEqual(await follow(), [undefined, undefined, 10, 0]);
  git(repo, 'commit', '-q', '--amend', '-m', 'other');
  rmSync(`${repo}/.git/logs`, { recursive: true, force: true });
  git(repo, 'gc', '-q', '--prune=now');
  assert.deepEqual(await follow(), ['whole', 'a commit that was indexed is gone', 10, 0]);
  const { shardId } = index.instance.catalog.repos[0]!.shards[0]!;
  index.instance.served.quarantine(shardId, 'for the test');
  await jobs.whenIdle();
  assert.deepEqual(await follow({ '0.txt': 'other' }), ['delta', undefined, 10, 1]);
  await index.close();

  const filters = { ...FILTERS, maxFileSize: 4999 };
  await using again = await openIndexOf(index.dataDir, { ...OPTIONS, filters });
  const [result] = await again.index([repo], undefined, 'commits');
  assert.equal(result!.reason, 'settings or the format of the index changed');
});

void test('a repository without docs has no shard', async () => {
  const repo = makeRepo({});
  git(repo, 'branch', 'other');
  const onDemand = { repos: 20, docs: 1000, timeoutMs: 60_000, diskBytes: 1 << 30 };
  await using first = await openIndexOf(temporaryFolder(), { ...OPTIONS, onDemand });
  const reported = async (index: IndexOf, selection = {}) => {
    const [job] = await index.index([repo], selection, 'commits');
    const { built, docCount, shardCount, revisionCount } = job!;
    const { files, isSearchExhaustive } = await index.search('plum');
    assert.ok(isSearchExhaustive);
    return [built, docCount, shardCount, revisionCount, files.length] as const;
  };
  assert.deepEqual(await reported(first), ['whole', 0, 0, 1, 0]);
  assert.deepEqual(await reported(first), [undefined, 0, 0, 1, 0]);
  git(repo, 'commit', '-q', '--allow-empty', '-m', 'nothing');
  assert.deepEqual(await reported(first), ['delta', 0, 0, 1, 0]);
  assert.deepEqual(await reported(first, { branches: ['**'] }), ['delta', 0, 0, 2, 0]);
  await first.close();
  await using index = await openIndexOf(first.dataDir, { ...OPTIONS, onDemand });
  assert.deepEqual(await reported(index), [undefined, 0, 0, 2, 0]);
  commitFiles(repo, { 'a.txt': 'plum' });
  const [built, docCount, shardCount, , found] = await reported(index);
  assert.deepEqual([built, docCount, shardCount, found], ['delta', 1, 1, 1]);
  assert.equal((await index.search('rev:other plum')).files.length, 0);
  git(repo, 'rm', '-q', 'a.txt');
  git(repo, 'commit', '-q', '-m', 'gone');
  assert.deepEqual((await reported(index)).slice(1), [0, 0, 2, 0]);
  assert.equal((await index.search('rev:HEAD~1 plum')).files.length, 1, 'from nothing');
});
