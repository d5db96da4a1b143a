// Work that several callers wait for: done once, and aborted when nobody waits.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { SharedWork } from '../../daemon/base/shared-work.ts';

const NEVER = new AbortController().signal;

test('work is done once for all waiting callers, and again for later ones', async () => {
  const work = new SharedWork<string, number>();
  let madeCount = 0;
  const make = async (): Promise<number> => {
    await setImmediate();
    return ++madeCount;
  };
  const all = await Promise.all([1, 2, 3].map(() => work.get('a', NEVER, make)));
  assert.deepEqual(all, [1, 1, 1]);
  assert.equal(work.count, 0);
  assert.equal(await work.get('a', NEVER, make), 2);
  const failing = (): Promise<never> => Promise.reject(new Error('bad'));
  await assert.rejects(work.get('a', NEVER, failing), /bad/);
  assert.equal(await work.get('a', NEVER, make), 3);
});

test('a caller that leaves stops waiting, and work without callers is aborted', async () => {
  const work = new SharedWork<string, number>();
  const leaving = [new AbortController(), new AbortController()];
  let end: AbortSignal | undefined;
  const make = (signal: AbortSignal): Promise<never> => {
    end = signal;
    return new Promise(() => {});
  };
  const requested = leaving.map(({ signal }) =>
    assert.rejects(work.get('a', signal, make), /gone/),
  );
  leaving[0]!.abort(new Error('gone'));
  await requested[0];
  assert.deepEqual([end?.aborted, work.count], [false, 1]);
  leaving[1]!.abort(new Error('gone'));
  await requested[1];
  assert.deepEqual([end?.aborted, work.count], [true, 0]);
  await assert.rejects(work.get('a', leaving[0]!.signal, make), /gone/);
  assert.equal(await work.get('a', NEVER, () => Promise.resolve(7)), 7);
});
