// Facts of an audit record on one line: long lists are cut, with their number.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { factsText } from '../../daemon/api/accounts/audit-facts.ts';

test('texts are unchanged, lists and objects are cut, names have no ids', () => {
  const ids = Array.from({ length: 100 }, (_, index) => index + 1);
  const repos = ids.map((id) => `host.example/r${id}`);
  for (const [facts, text] of [
    [{}, ''],
    [{ source: 'web', isOn: true, from: null }, 'source: web, isOn: true, from: null'],
    [{ settings: ['a'], to: { a: 'owners' } }, 'settings: [a], to: {a: owners}'],
    [{ repoIds: ids.slice(0, 2) }, 'repoIds: [1, 2]'],
    [
      { repoIds: ids, repos, repoCount: 100 },
      `repos: [${repos.slice(0, 5).join(', ')} and 95 more], repoCount: 100`,
    ],
    [
      Object.fromEntries(ids.slice(0, 7).map((id) => [`k${id}`, id])),
      'k1: 1, k2: 2, k3: 3, k4: 4, k5: 5 and 2 more',
    ],
  ] as const)
    assert.equal(factsText(facts), text);
});
