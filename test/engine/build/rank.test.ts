// Tiers of files, and the kinds that are shown.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileKindsOf } from '../../../daemon/engine/search/file-kinds.ts';
import { docTier, fileKindOf } from '../../../daemon/engine/build/rank.ts';

test('tiers by path: ordinary, test, vendored or generated', () => {
  const tiers = [
    [
      'src/main.ts',
      'kernel/sched/core.c',
      'latest.js',
      'contest.py',
      'src/attest/a.go',
      'Makefile',
      'depsolver/a.c',
      '.eslintrc',
      '.github/workflows/a.yml',
      'README',
      'docs/a.html',
      'CHANGELOG.md',
      'x/notes.rst',
      'LICENSE',
    ],
    [
      'a_test.go',
      'src/a.test.ts',
      'src/__tests__/a.js',
      'test/x.c',
      'tests/a/b.rs',
      'test_a.py',
      'src/FooTest.java',
      'a.spec.tsx',
      'a.snap',
    ],
    [
      'vendor/github.com/x/y.go',
      'web/node_modules/a/index.js',
      'third_party/x.c',
      'js/jquery-3.1.0.min.js',
      'gradlew',
      'api/x.pb.go',
      'a_pb2.py',
      'dist/a.min.js',
      'zz_generated.deepcopy.go',
      'package-lock.json',
      'go.sum',
      'x/generated/a.ts',
    ],
  ];
  for (const [tier, paths] of tiers.entries())
    for (const path of paths) assert.equal(docTier(path), tier, path);
});

test('attributes of the repo override the path', () => {
  assert.equal(docTier('vendor/a.c', { isVendored: false }), 0);
  assert.equal(docTier('src/a.c', { isVendored: true }), 2);
  assert.equal(docTier('src/a.c', { isGenerated: true }), 2);
  assert.equal(docTier('package-lock.json', { isGenerated: false }), 0);
});

test('the kind of a file follows its tier, otherwise its path', () => {
  const cases = [
    ['src/a.ts', 0, 'code'],
    ['.github/readme.md', 0, 'code'],
    ['docs/a.ts', 0, 'docs'],
    ['README.md', 0, 'docs'],
    ['test/a.md', 1, 'test'],
    ['vendor/a.ts', 2, 'vendored'],
    ['a.pb.go', 2, 'generated'],
    // Marked in `.gitattributes`.
    ['src/a.ts', 2, 'generated'],
    ['vendor/a.ts', 0, 'code'],
  ] as const;
  for (const [path, tier, kind] of cases) assert.equal(fileKindOf(path, tier), kind, path);
});

function shardOf(shardId: string, paths: readonly string[]) {
  const requested: number[] = [];
  const tables = {
    docCount: paths.length,
    pathOf: (docId: number) => {
      requested.push(docId);
      return Buffer.from(paths[docId]!);
    },
  };
  const kinds = (...docs: [docId: number, tier: number][]) =>
    docs.map(([docId, tier]) => fileKindsOf(shardId, tables)(docId, tier));
  return { requested, kinds };
}

test('the kind is computed once for each path, and stable', () => {
  const one = shardOf('one', ['src/a.ts', 'docs/b.md', 'vendor/c.go', 'a.pb.go', 'a.test.ts']);
  const expected = ['docs', 'code', 'vendored', 'generated', 'test'];
  for (let round = 0; round < 2; round++)
    assert.deepEqual(one.kinds([1, 0], [0, 0], [2, 2], [3, 2], [4, 1]), expected);
  assert.deepEqual(one.requested, [1, 0, 2, 3, 4]);
  const other = shardOf('other', ['README.md']);
  assert.deepEqual(other.kinds([0, 0]), ['docs']);
});
