// Time slices of the event loop: one for each unit of work, clients in rotation.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextTimeSlice } from '../../daemon/base/next-time-slice.ts';
import { STARTS_MAX, paced } from '../../daemon/base/pace.ts';

interface TimeSlice {
  readonly who: string;
  /** In which turn of the event loop. */
  readonly whenRunning: number;
}

/** Who was given which turn, of these who all ask at once. */
async function timeSlicesOf(clients: readonly string[]): Promise<TimeSlice[]> {
  let whenRunning = 0;
  let ticking = setImmediate(function tick() {
    whenRunning++;
    ticking = setImmediate(tick);
  });
  const granted: TimeSlice[] = [];
  const request = async (clientKey: string, index: number): Promise<void> => {
    await nextTimeSlice(clientKey);
    granted.push({ who: `${clientKey}${index}`, whenRunning });
  };
  await Promise.all(clients.map(request));
  clearImmediate(ticking);
  assert.equal(
    new Set(granted.map((one) => one.whenRunning)).size,
    granted.length,
    'one turn each',
  );
  return granted;
}

test('each time slice goes to one request, in order of arrival', async () => {
  const granted = await timeSlicesOf(Array.from({ length: 30 }, () => 'a'));
  assert.deepEqual(
    granted.map(({ who }) => who),
    Array.from({ length: 30 }, (_, i) => `a${i}`),
  );
});

test('a client with little work waits for one slice of each other client', async () => {
  const granted = await timeSlicesOf(['a', 'a', 'a', 'a', 'b', 'a', 'c', 'b']);
  assert.deepEqual(
    granted.map(({ who }) => who),
    ['a0', 'b4', 'c6', 'a1', 'b7', 'a2', 'a3', 'a5'],
  );
});

test('requests that find many others started wait for a time slice', async () => {
  const waits = Array.from({ length: STARTS_MAX + 2 }, () => paced('a'));
  assert.deepEqual(
    waits.map((wait) => wait instanceof Promise),
    waits.map((_, i) => i >= STARTS_MAX),
  );
  for (const wait of waits) await wait;
  assert.equal(paced('a'), undefined, 'another turn');
});
