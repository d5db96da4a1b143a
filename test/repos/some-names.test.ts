// Names of repos in a line of words: the first ones, and how many more.

import assert from 'node:assert/strict';
import test from 'node:test';
import { someNames } from '../../daemon/repos/some-names.ts';

void test('three names are told, and how many more there are', () => {
  assert.equal(someNames([]), '');
  assert.equal(someNames(['a']), 'a');
  assert.equal(someNames(['a', 'b', 'c']), 'a, b, c');
  assert.equal(someNames(['a', 'b', 'c', 'd', 'e']), 'a, b, c and 2 more');
});
