// A stream with constant results lets the event loop run, so that disconnects are noticed and short searches
// answered, and alternates with other streams.

import assert from 'node:assert/strict';
import test from 'node:test';
import { type SearchStream, startStream } from '../../../daemon/engine/search/stream.ts';
import { Engine, environmentOf, requestOf } from '../host/harness.ts';

async function engineWithMuch(): Promise<Engine> {
  const docs = Array.from({ length: 60 }, (_, i) => ({
    path: `d${i}`,
    bytes: Buffer.from(`${i} plum\n`.repeat(1500)),
  }));
  // Everything is found before the first event is requested.
  return Engine.over(docs, { inlineNs: 10n ** 12n });
}

function streamOf({ parts }: Engine): Promise<SearchStream> {
  const request = requestOf('plum', { matches: 100_000 });
  return startStream({ ...parts, inlineNs: 10n ** 12n }, request, environmentOf());
}

/** Pulls a stream to its end as fast as it gives; calls `onEvent` for each. */
async function drain(stream: SearchStream, onEvent: () => void): Promise<void> {
  while ((await stream.next()) !== undefined) onEvent();
  stream.close();
}

void test('the event loop runs between the chunks of a stream', async () => {
  await using engine = await engineWithMuch();
  let timeSliceCount = 0;
  let eventCount = 0;
  const whenRunning = (): void => {
    timeSliceCount++;
    next = setImmediate(whenRunning);
  };
  let next = setImmediate(whenRunning);
  await drain(await streamOf(engine), () => eventCount++);
  clearImmediate(next);
  assert.ok(eventCount > 20, `${eventCount} events`);
  assert.ok(timeSliceCount >= eventCount / 2, `${timeSliceCount} turns for ${eventCount} events`);
});

void test('streams alternate', async () => {
  await using engine = await engineWithMuch();
  const order: number[] = [];
  const streams = await Promise.all([0, 1, 2].map(() => streamOf(engine)));
  await Promise.all(streams.map((stream, id) => drain(stream, () => order.push(id))));
  // All have started long before one ends.
  const ends = [0, 1, 2].map((id) => order.lastIndexOf(id));
  const starts = [0, 1, 2].map((id) => order.indexOf(id));
  assert.ok(Math.max(...starts) < Math.min(...ends) / 2, order.join(''));
});
