// The shared words of a search, against a model: in any order of claims, returns and ends each unit is claimed by one
// thread at a time, and finished once.

import assert from 'node:assert/strict';
import test from 'node:test';
import {
  array,
  assert as assertProperty,
  boolean,
  integer,
  nat,
  property,
  record,
} from 'fast-check';
import { PrefixSum, SearchControl } from '../../../daemon/engine/host/control.ts';

const THREADS = 3;

void test('each unit is claimed by one thread at a time and finished once', () => {
  const step = record({ thread: nat(THREADS - 1), isReturned: boolean(), isOfPart: boolean() });
  assertProperty(
    property(integer({ min: 1, max: 12 }), nat(12), array(step), (unitCount, part, steps) => {
      const partCount = Math.min(part, unitCount);
      const control = new SearchControl([2, unitCount]);
      control.setUnitCount(0, 0);
      control.setPartCount(1, partCount);
      const claimed: (number | undefined)[] = Array.from({ length: THREADS });
      const finished = new Set<number>();
      const finish = (unit: number): void => {
        assert.ok(!finished.has(unit), `unit ${unit} a second time`);
        finished.add(unit);
        control.finish(1, unit, unit);
      };
      const claim = (isOfPart = false): number | undefined => {
        const count = isOfPart ? partCount : unitCount;
        const unit = control.claim(1, count);
        if (unit === undefined) return undefined;
        assert.ok(unit < count && !claimed.includes(unit) && !finished.has(unit));
        assert.equal(control.matchesOf(1, unit), undefined);
        return unit;
      };
      for (const { thread, isReturned, isOfPart } of steps) {
        const unit = claimed[thread];
        claimed[thread] = undefined;
        if (unit === undefined) claimed[thread] = claim(isOfPart);
        else if (isReturned) control.giveBack(1, unit);
        else finish(unit);
      }
      for (const [thread, unit] of claimed.entries()) {
        claimed[thread] = undefined;
        if (unit !== undefined) control.giveBack(1, unit);
      }
      for (let unit = claim(true); unit !== undefined; unit = claim(true)) finish(unit);
      const sumOfPart = (partCount * (partCount - 1)) / 2;
      assert.ok(partCount === 0 || new PrefixSum(control, 2, []).isOver(sumOfPart - 1));
      const isOverPart = new PrefixSum(control, 2, []).isOver(sumOfPart);
      assert.ok(!isOverPart, 'nothing counts behind the part until the whole shard is bound');
      control.setUnitCount(1, unitCount);
      for (let unit = claim(); unit !== undefined; unit = claim()) finish(unit);
      assert.equal(finished.size, unitCount);
      const sum = (unitCount * (unitCount - 1)) / 2;
      assert.ok(!new PrefixSum(control, 2, []).isOver(sum));
      assert.ok(new PrefixSum(control, 2, []).isOver(sum - 1));
    }),
  );
});
