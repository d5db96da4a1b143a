// Filters over what the catalog knows of repos (API.md 9.3), alone, together with `rev:`, and their errors.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Engine, repoRecord } from '../host/harness.ts';

const REPOS = [
  { ...repoRecord(1, 'host/open'), visibility: 'public' as const },
  { ...repoRecord(2, 'host/old'), isArchived: true, visibility: 'internal' as const },
  { ...repoRecord(3, 'host/copy'), isFork: true, visibility: 'private' as const },
  repoRecord(4, 'host/plain'),
];

const CASES: readonly [string, string][] = [
  ['archived:yes', 'open old copy plain'],
  ['archived:no', 'open copy plain'],
  ['archived:only', 'old'],
  ['fork:no', 'open old plain'],
  ['fork:only', 'copy'],
  ['-fork:only', 'open old plain'],
  ['visibility:public', 'open'],
  ['visibility:private', 'old copy plain'],
  ['visibility:any', 'open old copy plain'],
  ['reposet:host/open,host/copy', 'open copy'],
  ['reposet:host', ''],
  ['fork:only or archived:only', 'old copy'],
  ['rev:HEAD fork:only', 'copy'],
  ['-rev:HEAD fork:only', ''],
];

void test('filters over repos', async () => {
  const engine = await Engine.open();
  const shards = REPOS.map((repo) =>
    engine.shardOf(repo, [{ path: 'a.txt', bytes: Buffer.from('plum\n') }]),
  );
  engine.publish(shards, REPOS);
  for (const [filter, expected] of CASES) {
    for (const isRegexEnabled of [false, true]) {
      const { files } = await engine.search(`plum (${filter})`, { isRegexEnabled });
      const names = REPOS.map(({ name }) => name).filter((name) =>
        files.some(({ repository }) => repository === name),
      );
      assert.equal(names.map((name) => name.slice(5)).join(' '), expected, filter);
    }
  }
  for (const query of ['context:x plum', 'plum -context:x', 'plum or context:x'])
    await assert.rejects(engine.search(query), { errorCode: 'SEARCH_CONTEXT_NOT_FOUND' });
  await assert.rejects(engine.search('context:x archived:maybe'), /at position|archived/);
  await engine.close();
});
