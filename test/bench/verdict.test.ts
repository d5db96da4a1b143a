// Verdicts on two builds: by order statistics of pairs, and only where all starts of the processes agree.

import assert from 'node:assert/strict';
import test from 'node:test';
import { seededRandom } from '../../bench/samples.ts';
import { compare, compareApart, type Pair, speedRange } from '../../daemon/cli/bench/verdict.ts';

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

/** As latencies are: never below a floor, with a long tail, and slow drift. */
function latencies(random: () => number, count: number, factor: number): number[] {
  const phase = random() * 6;
  return Array.from({ length: count }, (_, index) => {
    const tail = -0.1 * Math.log(1 - random());
    return factor * (1 + tail + 0.02 * Math.sin(phase + index / 10));
  });
}

const STEADY = { low: 1, high: 1 };

void test('separate runs: of one distribution undecided, a shift of 20 % found, both ways', () => {
  const random = seededRandom(7);
  for (const [count, found] of [
    [60, 0.8],
    [300, 0.97],
    [1000, 0.97],
  ] as const) {
    const verdicts = [1, 1.2, 1 / 1.2].map((factor) =>
      Array.from({ length: 500 }, () => {
        const [own, other] = [factor, 1].map((one) => [latencies(random, count, one)]);
        return compareApart(own!, other!, STEADY).verdict;
      }),
    );
    const share = (row: number, verdict: string): number =>
      verdicts[row]!.filter((one) => one === verdict).length / 500;
    assert.ok(share(0, 'undecided') >= 0.98, `${count}: ${share(0, 'undecided')}`);
    assert.ok(share(1, 'slower') >= found, `${count}: ${share(1, 'slower')}`);
    assert.ok(share(2, 'faster') >= found, `${count}: ${share(2, 'faster')}`);
    assert.equal(share(1, 'faster') + share(2, 'slower'), 0);
  }
});

void test('separate runs: another speed of the machine, few samples and starts that differ', () => {
  const samples = (ms: number, count = 60): number[] => Array.from({ length: count }, () => ms);
  const fixed = (ms: number) => ({ processorMs: [ms], memoryMs: [4] });
  const speed = speedRange(fixed(6), fixed(5));
  assert.deepEqual(speed, { low: 1, high: 1.2 });
  assert.equal(compareApart([samples(1.25)], [samples(1)], STEADY).verdict, 'slower');
  assert.equal(compareApart([samples(1.25)], [samples(1)], speed).verdict, 'undecided');
  assert.equal(compareApart([samples(1.5)], [samples(1)], speed).verdict, 'slower');
  assert.equal(compareApart([samples(2, 7)], [samples(1)], STEADY).verdict, 'undecided');
  const two = [samples(1), samples(1.3)];
  assert.equal(compareApart([samples(1.35)], two, STEADY).verdict, 'undecided');
  const { low, high, ratio } = compareApart([samples(2)], two, STEADY);
  assert.deepEqual(
    [low, high, ratio].map((one) => one.toFixed(2)),
    ['1.54', '2.00', '2.00'],
  );
});
