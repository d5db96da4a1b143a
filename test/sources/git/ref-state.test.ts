// Whether refs may have changed, from the files that store them.
// tier: ci (long)

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { refStateOf } from '../../../daemon/sources/git/ref-state.ts';
import { git, makeRepo } from './fixture.ts';

test('moved, packed, renamed and removed refs are noticed', () => {
  const repo = makeRepo({ a: 'a' });
  const next = git(repo, 'commit-tree', '-m', 'next', 'HEAD^{tree}');
  for (const words of [
    'update-ref refs/heads/zz HEAD',
    `update-ref refs/heads/zz ${next}`,
    'update-ref refs/tags/deep/v1 HEAD',
    `update-ref refs/tags/deep/v1 ${next}`,
    'pack-refs --all',
    'update-ref refs/tags/deep/v1 HEAD',
    'pack-refs --all',
    'branch -m main trunk',
    'branch -D zz',
  ]) {
    const state = refStateOf(repo);
    assert.equal(refStateOf(repo), state);
    git(repo, ...words.split(' '));
    assert.notEqual(refStateOf(repo), state, words);
  }
});

test('beyond the limit git is called every minute', (t) => {
  const repo = makeRepo({ a: 'a' });
  git(repo, 'update-ref', 'refs/tags/v1', 'HEAD');
  const next = git(repo, 'commit-tree', '-m', 'next', 'HEAD^{tree}');
  for (let count = 0; count < 20_010; count++)
    mkdirSync(path.join(repo, '.git/refs/heads', String(count)));
  t.mock.timers.enable({ apis: ['Date'], now: 0 });
  const state = refStateOf(repo);
  git(repo, 'update-ref', 'refs/tags/v1', next);
  t.mock.timers.setTime(59_999);
  assert.equal(refStateOf(repo), state);
  t.mock.timers.setTime(60_000);
  assert.notEqual(refStateOf(repo), state);
});

test('a temporary branch is noticed by any poll in between', () => {
  const repo = makeRepo({ a: 'a' });
  const state = refStateOf(repo);
  git(repo, 'update-ref', 'refs/heads/short', 'HEAD');
  git(repo, 'update-ref', '-d', 'refs/heads/short');
  assert.notEqual(refStateOf(repo), state);
});

test('a change of the ref behind a symbolic ref is noticed', () => {
  const repo = makeRepo({ a: 'a' });
  const next = git(repo, 'commit-tree', '-m', 'next', 'HEAD^{tree}');
  git(repo, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
  git(repo, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
  git(repo, 'symbolic-ref', 'refs/heads/main', 'refs/remotes/origin/HEAD');
  const state = refStateOf(repo);
  assert.equal(refStateOf(repo), state);
  git(repo, 'update-ref', 'refs/remotes/origin/main', next);
  assert.notEqual(refStateOf(repo), state);
});

test('an invalid ref hides no other', () => {
  const repo = makeRepo({ a: 'a' });
  writeFileSync(path.join(repo, '.git/refs/heads/broken'), Buffer.of(0, 255));
  const state = refStateOf(repo);
  git(repo, 'update-ref', 'refs/tags/v1', 'HEAD');
  assert.notEqual(refStateOf(repo), state);
});
