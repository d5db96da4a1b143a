// The order of repos by name is worked out again only where ids or names have changed.

import assert from 'node:assert/strict';
import test from 'node:test';
import { repoOrderOf } from '../../../daemon/engine/search/scope.ts';
import { repoRecord } from '../host/harness.ts';

void test('a list whose records alone have changed has the order of the one before', () => {
  const repos = [repoRecord(1, 'host/b'), repoRecord(2, 'host/a')];
  const first = repoOrderOf(repos);
  assert.deepEqual([first.ranks.get(1), first.ranks.get(2)], [1, 0]);
  const changed = { ...repos[1]!, indexedAt: '2026-11-01T00:00:00.000Z' };
  const second = repoOrderOf([repos[0]!, changed]);
  assert.equal(second.ranks, first.ranks);
  assert.equal(second.repos[second.positions.get(2)!], changed);
  const renamed = repoOrderOf([repos[0]!, repoRecord(2, 'host/c')]);
  assert.deepEqual([renamed.ranks.get(1), renamed.ranks.get(2)], [0, 1]);
  const others = repoOrderOf([repoRecord(3, 'host/c'), repoRecord(1, 'host/b')]);
  assert.deepEqual([others.positions.get(3), others.positions.get(2)], [0, undefined]);
  const sameNames = repoOrderOf([repoRecord(5, 'host/c'), repoRecord(1, 'host/b')]);
  assert.deepEqual([sameNames.positions.get(5), sameNames.ranks.get(5)], [0, 1]);
});
