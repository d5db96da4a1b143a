// What a change of settings does to the index.

import assert from 'node:assert/strict';
import test from 'node:test';
import { readSettings } from '../../daemon/base/config/settings.ts';
import { fingerprintOf } from '../../daemon/index/served/fingerprint.ts';

void test('a setting for searches only causes no rebuild', () => {
  const of = (settings: object): string =>
    fingerprintOf('source', readSettings({ ...settings }), {});
  assert.equal(of({ maxConcurrentSearches: 7, searchTimeoutMs: 5 }), of({}));
  assert.notEqual(of({ maxFileSize: 3 }), of({}));
});
