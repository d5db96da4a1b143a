// A queued request whose client disconnects is not started; one whose client stays is.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextTimeSlice } from '../../daemon/base/next-time-slice.ts';
import { STARTS_MAX, paced } from '../../daemon/base/pace.ts';
import { onBothAdapters } from './adapters.ts';
import { eventually, openWire, SEARCH_BODY, startWorld } from './harness.ts';

/** Callers in front of the next one: more time slices than it takes to notice a disconnect. */
const CROWD = 20_000;

/** Lets every time slice start as many requests as possible, so that later ones queue; returns the end of it. */
function crowd(): () => void {
  let isOver = false;
  const fill = (): void => {
    if (isOver) return;
    for (let i = 0; i < STARTS_MAX; i++) void paced('crowd');
    setImmediate(fill);
  };
  fill();
  for (let i = 0; i < CROWD; i++) void nextTimeSlice(`one of the crowd, ${i}`);
  return () => (isOver = true);
}

onBothAdapters('disconnected clients', (kind) => {
  test('a request whose client disconnects before its time slice is not started', async (t) => {
    const world = await startWorld({ kind, logLevel: 'debug' });
    t.after(crowd());
    const wires = ['leaves', 'stays'].map((id) => {
      const wire = openWire(world.server);
      wire.post('/api/search', SEARCH_BODY, `X-Request-Id: ${id}\r\n`);
      return wire;
    });
    // The log line precedes the last check: after it the request only waits for its time slice.
    const isRead = (id: string): boolean =>
      world.lines.some(({ message, requestId }) => message === 'search' && requestId === id);
    await eventually(() => isRead('leaves') && isRead('stays'));
    assert.equal(world.calls.length, 0, 'both wait');
    wires[0]?.socket.destroy();
    await wires[1]?.until('HTTP/1.1 200');
    const statusOf = (id: string): unknown =>
      world.lines.find(({ status, requestId }) => status !== undefined && requestId === id)?.[
        'status'
      ];
    await eventually(() => statusOf('leaves') !== undefined && statusOf('stays') !== undefined);
    assert.deepEqual([statusOf('leaves'), statusOf('stays')], [499, 200]);
    assert.equal(world.calls.length, 1, 'only one was begun');
    wires[1]?.socket.destroy();
  });
});
