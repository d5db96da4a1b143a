// What failed is tried again after pauses that double, once each, whatever the time of day says meanwhile.

import assert from 'node:assert/strict';
import test from 'node:test';
import { FailurePauses } from '../../daemon/sync/jobs/failure-pauses.ts';

const DAY_MS = 24 * 3600 * 1000;

void test('a clock that jumps neither holds up what failed nor has it tried at once', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(Math, 'random', () => 0);
  let [passedMs, today] = [0, Date.now()];
  t.mock.method(performance, 'now', () => passedMs);
  t.mock.method(Date, 'now', () => today);
  const tried: number[] = [];
  const pauses = new FailurePauses((repoId) => tried.push(repoId));
  const pass = (ms: number): void => {
    passedMs += ms;
    t.mock.timers.tick(ms);
  };
  let pauseMs = 30_000;
  for (const jumpMs of [-DAY_MS, 365 * DAY_MS, -365 * DAY_MS, DAY_MS]) {
    tried.length = 0;
    pauses.begin(7);
    today += jumpMs;
    pass(pauseMs - 1);
    assert.deepEqual(tried, []);
    pass(1);
    assert.deepEqual(tried, [7], `${jumpMs} ms`);
    pass(DAY_MS);
    assert.deepEqual(tried, [7], 'once');
    pauseMs *= 2;
  }
  pauses.begin(7);
  today += 365 * DAY_MS;
  assert.equal(pauses.shorten(7), true);
  pass(9_999);
  assert.deepEqual(tried, [7]);
  today -= 366 * DAY_MS;
  pass(1);
  assert.deepEqual(tried, [7, 7], 'its source has changed');
  pauses.close();
});
