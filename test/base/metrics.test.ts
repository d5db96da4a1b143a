// Pools and caches that metrics read.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  measuredCache,
  measuredCaches,
  measuredPool,
  measuredPools,
} from '../../daemon/base/metrics.ts';
import { Slots } from '../../daemon/base/slots.ts';

test('registered pools and caches are read as they are now', async () => {
  const slots = measuredPool('test pool', new Slots({ runningMax: 1 }));
  const cache = measuredCache('test cache', new Map([['a', 1]]));
  cache.set('b', 2);
  await slots.run('', undefined, async () => {
    const ours = measuredPools().filter(([{ pool }]) => pool === 'test pool');
    assert.deepEqual(ours, [
      [{ pool: 'test pool', kind: 'running' }, 1],
      [{ pool: 'test pool', kind: 'waiting' }, 0],
    ]);
  });
  assert.deepEqual(
    measuredCaches().find(([labels]) => labels.cache === 'test cache'),
    [{ cache: 'test cache' }, 2],
  );
});
