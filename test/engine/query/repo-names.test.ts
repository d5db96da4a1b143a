// Names found in long texts are those found name by name, also where literals or names hold line ends.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { atOnce } from '../../../daemon/base/steps.ts';
import { isInName, RepoNames } from '../../../daemon/engine/query/repo-names.ts';
import { foldText } from '../../../daemon/engine/regex/fold.ts';

const text = (maxLength: number) =>
  fc
    .array(fc.constantFrom('a', 'A', 'b', '/', '\n', 'ß', 'ẞ', '𐐀', '𐐨'), { maxLength })
    .map((letters) => letters.join(''));

const choice = fc
  .record({
    letterCase: fc.constantFrom('exact' as const, 'folded' as const, 'none' as const),
    literals: fc.array(fc.tuple(text(3), fc.boolean(), fc.boolean()), {
      minLength: 1,
      maxLength: 3,
    }),
  })
  .map(({ letterCase, literals }) => ({
    letterCase,
    alternatives: literals.map(([one, anchoredStart, anchoredEnd]) => ({
      text: letterCase === 'folded' ? foldText(one) : one,
      anchoredStart,
      anchoredEnd,
    })),
  }));

test('finds the names that hold a literal', () => {
  fc.assert(
    fc.property(fc.array(text(6), { maxLength: 12 }), choice, (names, wanted) => {
      const repos = names.map((name, index) => ({ repoId: index + 1, name }));
      const expected = repos.filter(({ name }) => isInName(wanted, name));
      const found = atOnce(new RepoNames(repos).matching(wanted));
      assert.deepEqual(
        [...found].sort((a, b) => a - b),
        expected.map(({ repoId }) => repoId),
      );
    }),
    { numRuns: 2000 },
  );
});

test('many names, in several texts, more than once', () => {
  const repos = Array.from({ length: 10_000 }, (_, i) => ({ repoId: i, name: `Host/repo${i}` }));
  const names = new RepoNames(repos);
  const find = (literal: string, letterCase: 'exact' | 'folded'): number[] => [
    ...atOnce(
      names.matching({
        alternatives: [{ text: literal, anchoredStart: false, anchoredEnd: true }],
        letterCase,
      }),
    ),
  ];
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(find('/repo9999', 'exact'), [9999]);
    assert.deepEqual(find('host/repo4096', 'folded'), [4096]);
    assert.deepEqual(find('host/repo4096', 'exact'), []);
    assert.equal(find('7', 'exact').length, 1000);
  }
});
