// The memory budget: shares, exact accounting, and a model of it under random takes, growths and releases.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  type Reservation,
  MemoryBudget,
  noMemoryError,
} from '../../daemon/http/adapters/memory-budget.ts';

test('a reservation grows within the limit, shrinks, and is released once', () => {
  const budget = new MemoryBudget(80);
  const reservation = budget.tryTake('a', 0);
  assert.ok(reservation);
  assert.equal(reservation.grow(8), true);
  assert.equal(reservation.grow(3), false);
  assert.equal(reservation.size, 8);
  assert.equal(reservation.grow(2), true);
  reservation.shrinkTo(4);
  reservation.shrinkTo(20);
  assert.equal(budget.usedBy('a'), 4);
  const other = budget.tryTake('a', 6);
  reservation.release();
  reservation.release();
  assert.equal(reservation.grow(1), false, 'released');
  assert.equal(budget.usedBy('a'), 6);
  other?.release();
  assert.equal(budget.usedSize, 0);
});

test('a refused caller is told when to retry', () => {
  const error = noMemoryError();
  assert.equal(error.statusCode, 503);
  assert.equal(error.errorCode, 'SERVER_OVERLOADED');
  assert.equal(error.headers?.['Retry-After'], '1');
});

interface Taken {
  readonly clientKey: string;
  readonly reservation: Reservation;
  size: number;
}

const action = fc.record({
  kind: fc.constantFrom('take', 'grow', 'shrink', 'release'),
  clientKey: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'),
  size: fc.nat(40),
  index: fc.nat(30),
});

test('random takes and releases are counted to the byte', () => {
  fc.assert(
    fc.property(fc.nat(400), fc.array(action, { maxLength: 60 }), (sizeMax, actions) => {
      const budget = new MemoryBudget(sizeMax);
      const taken: Taken[] = [];
      const usedBy = (clientKey?: string): number =>
        taken
          .filter((one) => clientKey === undefined || one.clientKey === clientKey)
          .reduce((sum, { size }) => sum + size, 0);
      const hasCapacity = (clientKey: string, size: number): boolean =>
        usedBy() + size <= sizeMax && usedBy(clientKey) + size <= Math.ceil(sizeMax / 8);
      for (const { kind, clientKey, size, index } of actions) {
        const one = taken[index % Math.max(1, taken.length)];
        if (kind === 'take') {
          const isExpected = hasCapacity(clientKey, size);
          const reservation = budget.tryTake(clientKey, size);
          assert.equal(reservation !== undefined, isExpected);
          if (reservation !== undefined) taken.push({ clientKey, reservation, size });
        } else if (one !== undefined && kind === 'grow') {
          const isExpected = hasCapacity(one.clientKey, size);
          assert.equal(one.reservation.grow(size), isExpected);
          if (isExpected) one.size += size;
        } else if (one !== undefined && kind === 'shrink') {
          one.reservation.shrinkTo(size);
          one.size = Math.min(one.size, size);
        } else if (one !== undefined) {
          one.reservation.release();
          taken.splice(taken.indexOf(one), 1);
        }
        assert.equal(budget.usedSize, usedBy());
        assert.equal(budget.usedBy(clientKey), usedBy(clientKey));
      }
      for (const { reservation } of taken) reservation.release();
      assert.equal(budget.usedSize, 0);
    }),
  );
});
