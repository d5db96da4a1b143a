// Sorting in pieces gives what Array.sort gives, and lets other work run in between.

import assert from 'node:assert/strict';
import test from 'node:test';
import { seededRandom } from '../../bench/samples.ts';
import { sortInPieces } from '../../daemon/base/sort-in-pieces.ts';
import { SEED } from '../seed.ts';

interface Item {
  readonly key: number;
  readonly index: number;
}

const byKey = (a: Item, b: Item): number => a.key - b.key;

test('as Array.sort, equal items in their order', async () => {
  const random = seededRandom(SEED);
  for (let size = 0; size < 200; size++) {
    const items = Array.from({ length: size }, (_, index) => ({
      key: Math.floor(random() * size),
      index,
    }));
    assert.deepEqual(await sortInPieces(items, byKey), items.toSorted(byKey), `${size} items`);
  }
});

test('other work runs before a long list is sorted', async () => {
  let turnCount = 0;
  let isSorted = false;
  const count = (): void => {
    turnCount++;
    if (!isSorted) setImmediate(count);
  };
  setImmediate(count);
  await sortInPieces(
    Array.from({ length: 300_000 }, (_, index) => -index),
    (a, b) => a - b,
  );
  isSorted = true;
  assert.ok(turnCount > 2, `${turnCount} turns`);
});
