// What a page of a listing says of its target.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notePage, type TargetStates } from '../../../daemon/sync/connections/target-states.ts';

function stateBehind(...codes: readonly string[]): unknown {
  const states: TargetStates = {};
  const issues = codes.map((code) => {
    const effect = 'TARGET_SKIPPED' as const;
    return { code, target: 'orgs: a', effect, message: '' };
  });
  const target = { name: 'orgs: a', listedCount: 0, again: [] };
  notePage(states, { repos: [], issues, target, next: undefined });
  return states['orgs: a'];
}

test('an empty page is one whatever rate limits say; a repository that is gone is no empty target', () => {
  assert.equal(stateBehind(), 'empty');
  assert.equal(stateBehind('RATE_LIMITED'), 'empty');
  assert.equal(stateBehind('NOT_FOUND'), 'whole');
});
