// Curves: formulas find the numbers that known data was made of, and say how far they are off where it has another form;
// the tables of stored points.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Curves, formatCurves } from '../../bench/curve-table.ts';
import { fitCurve } from '../../bench/fit.ts';

const XS = [1, 2, 4, 8, 16, 32, 64, 128];

function curveOf(f: (x: number) => number, xs = XS) {
  return fitCurve(
    xs.map((x) => ({ x, y: f(x) })),
    1000,
  );
}

function assertClose(actual: number, expected: number): void {
  assert.ok(
    Math.abs(actual - expected) < 1e-6 * Math.max(1, Math.abs(expected)),
    `${actual}, not ${expected}`,
  );
}

test('a curve that has one of the forms is found, and predicted exactly', () => {
  const cases: readonly [f: (x: number) => number, text: string][] = [
    [() => 7, '7'],
    [(x) => 5 + 3 * x, '5 + 3 x'],
    [(x) => 2 * x ** 0.5, '2 x^0.5'],
  ];
  for (const [f, text] of cases) {
    const { formula, leftOutError, largestError, farError } = curveOf(f);
    assert.equal(formula.text, text);
    assertClose(formula.at(1000), f(1000));
    for (const error of [leftOutError, largestError, farError!]) assertClose(error, 0);
  }
});

test('relative errors count: small points as much as large ones', () => {
  const noisy = curveOf((x) => (10 + x) * (1 + (x % 3 === 1 ? 0.02 : -0.02)));
  assert.match(noisy.formula.text, /^\d[\d.]* \+ \d[\d.]* x$/);
  assert.ok(Math.abs(noisy.formula.at(1) / 11 - 1) < 0.03);
  assert.ok(Math.abs(noisy.formula.at(1000) / 1010 - 1) < 0.06);
  assert.ok(noisy.leftOutError > 0.01 && noisy.leftOutError < 0.08);
});

test('a bend that smaller points do not show is in the error of the largest', () => {
  const { largestError, farError } = curveOf((x) => (x === 128 ? 2 * x : x));
  assertClose(largestError, -0.5);
  assertClose(farError!, -0.5);
  const { rivals } = curveOf((x) => x + x ** 0.9);
  assert.ok(rivals.length > 0);
});

test('a measure that falls is projected as if it stayed', () => {
  assert.match(curveOf((x) => 500 - x).formula.text, /^\d+$/);
});

test('too few points, or two of one place, are refused', () => {
  const message = /four points of different x/;
  assert.throws(() => curveOf((x) => x, [1, 2, 3]), message);
  assert.throws(() => curveOf((x) => x, [1, 2, 3, 3]), message);
});

test('tables show each axis with its projection to 1 TB', () => {
  const pointOf = (repoCount: number, contentSize: number) => ({
    repoCount,
    contentSize,
    values: { build: 1 + contentSize / 1e8, 'x p50': 3 },
  });
  const sizes = [1, 2, 4, 8].map((gigabytes) => pointOf(1, gigabytes * 1e9));
  const numbers = [100, 200, 400, 800].map((count) => pointOf(count, count * 1e6));
  const head: Omit<Curves, 'points'> = {
    startedAt: '',
    commit: '',
    product: '',
    node: '',
    cpu: '',
  };
  const text = formatCurves({ ...head, points: [...sizes, ...numbers] });
  assert.match(text, /^One repository; x: GB of content  1\.00 GB  /);
  assert.match(text, /^build, s +11 +21 +41 +81 +1 \+ 10 x +0%, 0%, - +2\.78 h$/m);
  assert.match(text, /^Many repositories of 1\.00 MB; x: thousand repositories /m);
  assert.match(text, /^build, s +2 +3 +5 +9 +1 \+ 10 x +0%, 0%, - +2\.78 h$/m);
  assert.match(text, /^x p50, ms +3 +3 +3 +3 +3 +0%, 0%, - +3 ms$/m);
});
