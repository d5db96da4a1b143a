// Verdicts on two builds: by order statistics of pairs, and only where all starts of the processes agree.

import assert from 'node:assert/strict';
import test from 'node:test';
import { compare, type Pair } from '../../bench/verdict.ts';

/** Pairs with the given ratios, at different speeds of the machine. */
function pairsOf(ratios: readonly number[]): Pair[] {
  return ratios.map((ratio, index): Pair => [ratio * (1 + (index % 3)), 1 + (index % 3)]);
}

function around(ratio: number, count: number): Pair[] {
  return pairsOf(Array.from({ length: count }, (_, index) => ratio + ((index % 7) - 3) / 100));
}

const CASES: readonly [string, Pair[][], string][] = [
  ['half the time', [around(0.5, 60)], 'faster'],
  ['twice the time', [around(2, 60)], 'slower'],
  ['the same', [around(1, 60)], 'undecided'],
  ['a difference below the tolerance', [around(1.01, 60)], 'undecided'],
  ['starts that disagree', [around(0.9, 60), around(1, 60)], 'undecided'],
  ['starts that agree', [around(0.9, 60), around(0.8, 60), around(0.7, 60)], 'faster'],
  ['a few pairs, one of them opposed', [pairsOf([2, 2, 2, 2, 2, 2, 0.5])], 'undecided'],
  ['a few pairs that agree', [pairsOf([2, 2, 2, 2, 2, 2, 1.9])], 'slower'],
  ['many pairs, some of them opposed', [pairsOf([...Array(50).fill(2), 0.1, 0.1])], 'slower'],
];

void test('the verdict', () => {
  for (const [name, starts, verdict] of CASES) assert.equal(compare(starts).verdict, verdict, name);
});

void test('figures: medians of all pairs, bounds of all starts', () => {
  const { ownMs, otherMs, ratio, low, high } = compare([
    [
      [1, 2],
      [2, 4],
      [3, 6],
    ],
    [
      [2, 2],
      [2, 2],
      [2, 2],
    ],
  ]);
  assert.deepEqual([ownMs, otherMs, ratio, low, high], [2, 2, 0.5, 0.5, 1]);
});
