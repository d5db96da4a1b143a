// The syntax of refs and paths (API.md 11.0).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkPath,
  checkRef,
  folderPathOf,
  isFilePath,
  isNearName,
  isPlainName,
  isRefName,
  PathError,
  RefError,
  shortIdOf,
} from '../../../daemon/sources/git/names.ts';

test('refs', () => {
  const good = ['refs/heads/a b', 'x'.repeat(1024), ...'main v1.0 main~3 HEAD^ a.b ünï'.split(' ')];
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
  const bad = ['', 'a\0', ...'/ /a a/ a//b . ./a a/. a/./b .. ../a a/..'.split(' ')];
  for (const path of bad) assert.equal(isFilePath(path), false, path);
});

test('paths of folders', () => {
  const paths = ['', '/', 'a', '/a', 'a/', '/a/b/'];
  assert.deepEqual(paths.map(folderPathOf), ['', '', 'a', 'a', 'a', 'a/b']);
  for (const path of ['..', '/../a', 'a/../b', 'a\0'])
    assert.throws(() => folderPathOf(path), PathError, path);
});

test('names, parents, and texts that can only be refs', () => {
  for (const name of ['main', 'HEAD', 'refs/heads/a', 'v1.0', '0a1b2c3', 'ünï', 'a@b'])
    assert.deepEqual([isPlainName(name), isNearName(name)], [true, true], name);
  for (const name of ['main~3', 'HEAD^', 'v1~999^2~'])
    assert.deepEqual([isPlainName(name), isNearName(name)], [false, true], name);
  const neither = '~1 HEAD:x :/text a* a[b] a\\b a~1000 a^{tree}';
  for (const name of ['', 'a b', ...neither.split(' ')])
    assert.deepEqual([isPlainName(name), isNearName(name)], [false, false], name);
  for (const name of ['HEAD', 'refs/heads/main']) assert.equal(isRefName(name), true, name);
  for (const name of ['main', 'FETCH_HEAD', 'heads/main', 'refs/', 'refs/heads/main~1', 'HEAD^'])
    assert.equal(isRefName(name), false, name);
});

test('abbreviated ids that are too short', () => {
  const ids = ['0a1b', 'ABCDEF', '0a1b2~3', 'abcd^'].map(shortIdOf);
  assert.deepEqual(ids, ['0a1b', 'ABCDEF', '0a1b2', 'abcd']);
  for (const text of ['0a1', '0a1b2c3', 'main', 'abcdx', 'x0a1b'])
    assert.equal(shortIdOf(text), undefined, text);
});
