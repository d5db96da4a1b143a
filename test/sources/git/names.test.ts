// Tests of the form of refs and paths (API.md 11.0).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkPath,
  checkRef,
  folderPathOf,
  isFilePath,
  PathError,
  RefError,
} from '../../../daemon/sources/git/names.ts';

test('refs', () => {
  const good = [
    'main',
    'v1.0',
    'main~3',
    'HEAD^',
    'refs/heads/a b',
    'a.b',
    'ünï',
    'x'.repeat(1024),
  ];
  for (const ref of good) checkRef(ref);
  const bad = ['', '-x', '--all', 'a\nb', 'a\0b', '\x7f', 'a\x85b', 'main..v1', 'main@{1}'];
  for (const ref of [...bad, 'x'.repeat(1025), 'ü'.repeat(513)])
    assert.throws(() => checkRef(ref), RefError, ref);
});

test('paths', () => {
  for (const path of ['a', 'a/b', '.a', '...', 'a..b', '-a', 'new\nline', '*', 'a//b', './a', ''])
    checkPath(path);
  for (const path of ['/a', '/', '..', '../a', 'a/../b', 'a/..', 'a\0b'])
    assert.throws(() => checkPath(path), PathError, path);
});

test('paths of files', () => {
  for (const path of ['a', 'a/b', '.a', '...', 'a/.../b', 'a..b', 'new\nline', '*'])
    assert.equal(isFilePath(path), true, path);
  const bad = [
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    './a',
    'a/.',
    'a/./b',
    '..',
    '../a',
    'a/..',
    'a\0',
  ];
  for (const path of bad) assert.equal(isFilePath(path), false, path);
});

test('paths of folders', () => {
  const paths = ['', '/', 'a', '/a', 'a/', '/a/b/'];
  assert.deepEqual(paths.map(folderPathOf), ['', '', 'a', 'a', 'a', 'a/b']);
  for (const path of ['..', '/../a', 'a/../b', 'a\0'])
    assert.throws(() => folderPathOf(path), PathError, path);
});
