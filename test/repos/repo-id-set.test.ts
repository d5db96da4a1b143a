// Compact sets of repo ids equal a Set.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { compactIds } from '../../daemon/repos/repo-id-set.ts';

test('small and large ids: the same as a Set', () => {
  const id = fc.oneof(fc.nat(70), fc.nat(5_000), fc.integer({ min: 2 ** 31, max: 2 ** 50 }));
  fc.assert(
    fc.property(fc.array(fc.nat(70)), fc.array(id), (near, any) => {
      for (const ids of [near, any, [...near, ...any]]) {
        const expected = new Set(ids);
        const found = compactIds(ids);
        assert.equal(found.size, expected.size);
        assert.deepEqual(
          [...found].sort((a, b) => a - b),
          [...expected].sort((a, b) => a - b),
        );
        for (const one of [...ids, 31, 32, 63, 64, 2 ** 32, 2 ** 32 + 5, 2 ** 50])
          assert.equal(found.has(one), expected.has(one), String(one));
      }
    }),
  );
});
