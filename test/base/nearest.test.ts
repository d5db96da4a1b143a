// The nearest existing word to a misspelt one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearest } from '../../daemon/base/nearest.ts';

void test('names that differ in at most a third of their characters are near; swaps and case count little', () => {
  const words = ['users', 'orgs', 'repos', 'topics', 'enforcePermissions'];
  const cases: [string, string | undefined][] = [
    ['user', 'users'],
    ['ogrs', 'orgs'],
    ['ORGS', 'orgs'],
    ['repositories', undefined],
    ['enforcepermision', 'enforcePermissions'],
    ['x', undefined],
    ['', undefined],
    ['u'.repeat(1000), undefined],
  ];
  for (const [word, expected] of cases) assert.equal(nearest(word, words), expected, word);
  assert.equal(nearest('users', []), undefined);
});
