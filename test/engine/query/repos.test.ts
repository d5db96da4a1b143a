// Filters over repo data of the catalog (API.md 9.3), alone, together with `rev:`, and their errors.

import assert from 'node:assert/strict';
import test from 'node:test';
import { contextSchema } from '../../../daemon/base/config/file-schema.ts';
import { Engine, repoRecord } from '../host/harness.ts';

const REPOS = [
  { ...repoRecord(1, 'host/open'), visibility: 'public' as const },
  { ...repoRecord(2, 'host/old'), isArchived: true, visibility: 'internal' as const },
  { ...repoRecord(3, 'host/copy'), isFork: true, visibility: 'private' as const },
  { ...repoRecord(4, 'host/plain'), topics: ['Web', 'c++'] },
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

const CONTEXT_CASES: readonly [string, string][] = [
  ['context:some', 'open old'],
  ['-context:some', 'copy plain'],
  ['context:plain', 'plain'],
  ['context:joined', 'open plain'],
  ['context:topical', 'open old copy'],
  ['context:"a \\"b\\" c"', 'copy'],
  ['context:some or context:plain', 'open old plain'],
  ['context:some -context:some', ''],
  ['context:some archived:only', 'old'],
  ['context:some context:some repo:pen', 'open'],
  ['rev:HEAD context:some', 'open old'],
];

void test('filters over repos', async () => {
  await using engine = await Engine.open();
  const shards = REPOS.map((repo) =>
    engine.shardOf(repo, [{ path: 'a.txt', bytes: Buffer.from('plum\n') }]),
  );
  engine.publish(shards, REPOS);
  const check = async (cases: readonly [string, string][]): Promise<void> => {
    for (const [filter, expected] of cases) {
      for (const isRegexEnabled of [false, true]) {
        const { files } = await engine.search(`plum (${filter})`, { isRegexEnabled });
        const names = REPOS.map(({ name }) => name).filter((name) =>
          files.some(({ repository }) => repository === name),
        );
        assert.equal(names.map((name) => name.slice(5)).join(' '), expected, filter);
      }
    }
  };
  await check(CASES);
  const contexts = {
    some: { include: ['host/o*'] },
    plain: { include: ['**'], exclude: ['host/{open,old,copy}'] },
    joined: { includeConnections: ['acme'], includeTopics: ['C++'], excludeConnections: ['lab'] },
    topical: { include: ['**'], excludeTopics: ['web'] },
    none: { include: ['nosuch/**'], includeTopics: ['x'], includeConnections: ['y'] },
    'a "b" c': { include: ['host/copy'] },
  };
  engine.contexts = Object.fromEntries(
    Object.entries(contexts).map(([name, context]) => [name, contextSchema.parse(context)]),
  );
  engine.connections.set(1, ['acme']).set(2, ['acme', 'lab']);
  await check(CONTEXT_CASES);
  await assert.rejects(engine.search('context:toString plum'), {
    errorCode: 'SEARCH_CONTEXT_NOT_FOUND',
    message: 'Search context "toString" not found, or you see none of its repositories.',
  });
  const { query, totals } = await engine.explain('plum context:some');
  assert.equal(query.canonical, 'and(text:"plum", context:"some")');
  assert.deepEqual([totals['shardsEligible'], totals['shardsOutOfScope']], [2, 2]);
  // One that holds no repository is answered as one that is not configured.
  for (const name of ['x', 'none'])
    for (const query of [
      `context:${name} plum`,
      `plum -context:${name}`,
      `plum or context:${name}`,
    ])
      await assert.rejects(engine.search(query), { errorCode: 'SEARCH_CONTEXT_NOT_FOUND' });
  await assert.rejects(engine.search('context:x archived:maybe'), /at position|archived/);
});
