// The file filters and their globs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DocFilter, isBinary } from '../../../daemon/engine/build/filters.ts';
import { compileGlobs } from '../../../daemon/sources/disk/globs.ts';

const SETTINGS = { maxFileSize: 10, maxTrigramCount: 7, alwaysIndexFilePatterns: [] };

test('limits are inclusive', () => {
  const filter = new DocFilter(SETTINGS);
  assert.equal(filter.isTooLarge('a', 10), false);
  assert.equal(filter.isTooLarge('a', 11), true);
  assert.equal(filter.trigramCountMax('a'), 7);
});

test('a NUL anywhere is binary, in any kind of view', () => {
  const late = Buffer.alloc(50_000, 'x');
  assert.equal(isBinary(late), false);
  late[49_999] = 0;
  assert.equal(isBinary(late), true);
  assert.equal(isBinary(new Uint8Array([1, 0])), true);
  assert.equal(isBinary(Uint8Array.from([0, 1, 2]).subarray(1)), false);
  assert.equal(isBinary(new Uint8Array()), false);
});

test('patterns lift the limits', () => {
  const filter = new DocFilter({
    ...SETTINGS,
    alwaysIndexFilePatterns: ['**/*.sql', '!old/**', 'old/keep.sql'],
  });
  assert.equal(filter.isTooLarge('x/y.sql', 1000), false);
  assert.equal(filter.trigramCountMax('x/y.sql'), 0);
  assert.equal(filter.isTooLarge('old/y.sql', 1000), true);
  assert.equal(filter.isTooLarge('old/keep.sql', 1000), false);
  // What no shard can hold is not even read.
  assert.equal(filter.isTooLarge('x/y.sql', 2 ** 30), false);
  assert.equal(filter.isTooLarge('x/y.sql', 2 ** 30 + 1), true);
});

test('globs', () => {
  const cases: [string, string, boolean][] = [
    ['*.c', 'a.c', true],
    ['*.c', 'd/a.c', false],
    ['**/*.c', 'a.c', true],
    ['**/*.c', 'd/e/a.c', true],
    ['d/*', 'd/.hidden', true],
    ['{a,b}/?.[ch]', 'b/x.h', true],
    ['{a,b}/?.[ch]', 'c/x.h', false],
    ['/a', 'a', true],
    ['(a)/*', '(a)/b', true],
    ['(a|b)', 'a', false],
    ['a|b', 'a', false],
    ['@(a)', 'a', false],
    ['[(]a', '(a', true],
  ];
  for (const [glob, path, expected] of cases)
    assert.equal(compileGlobs([glob])(path), expected, `${glob} ${path}`);
  assert.equal(compileGlobs([])('a'), false);
  assert.equal(compileGlobs(['!a'])('b'), false);
});
