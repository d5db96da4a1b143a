// MessagePack of large bodies: the same bytes as packed at once, while the event loop runs.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import { jsonToMessagePack } from '../../daemon/http/message-pack.ts';
import { gatherBytes } from '../../daemon/base/lazy-bytes.ts';
import { pack, Packer } from '../../daemon/http/packer.ts';

function jsonOf(count: number): Buffer {
  const rows = Array.from({ length: count }, (_, i) => ({ id: 2 ** 33 + i, name: `n${i}é` }));
  return Buffer.from(JSON.stringify(rows));
}

/** The same bytes, some at a time, in a buffer that is used again. */
function lazily(bytes: Buffer) {
  const window = Buffer.alloc(100_000);
  return {
    byteLength: bytes.length,
    memorySize: bytes.length,
    from: (offset: number) => {
      const size = bytes.copy(window, 0, offset, offset + window.length);
      return window.subarray(0, size);
    },
  };
}

test('bodies of any size, whole and in chunks, concurrently', async () => {
  const bodies = [10, 20_000, 3, 100_000, 50_000].map(jsonOf);
  const expected = bodies.map((body) => Buffer.from(jsonToMessagePack(body)));
  const packed = await Promise.all(bodies.flatMap((body) => [pack(body), pack(lazily(body))]));
  for (const [i, bytes] of packed.entries())
    assert.ok(expected[i >> 1]!.equals(bytes), `body ${i >> 1}`);
  // What was packed is still there.
  assert.deepEqual(bodies[3], jsonOf(100_000));
});

test('the event loop runs while a large body is packed', async () => {
  const body = jsonOf(50_000);
  let timeSliceCount = 0;
  const whenRunning = (): void => {
    timeSliceCount++;
    next = setImmediate(whenRunning);
  };
  let next = setImmediate(whenRunning);
  await pack(body);
  clearImmediate(next);
  assert.ok(timeSliceCount > 0);
});

test('invalid JSON of any size is reported, and affects nobody else', async () => {
  const bad = Buffer.concat([jsonOf(20_000), Buffer.from('x')]);
  const good = jsonOf(20_000);
  const [first, second] = await Promise.allSettled([pack(bad), pack(good)]);
  assert.equal(first.status, 'rejected');
  assert.ok(second.status === 'fulfilled');
  assert.ok(Buffer.from(jsonToMessagePack(good)).equals(second.value));
});

test('a request during the shutdown of an idle thread gets a new one', async () => {
  const bodies = [40_000, 50_000].map(jsonOf);
  const expected = bodies.map((body) => Buffer.from(jsonToMessagePack(body)));
  for (let round = 0; round < 3; round++) {
    await pack(jsonOf(20_000));
    // The thread is sent to rest by a timer of this length that was set before.
    await new Promise((resolve) => void setTimeout(resolve, 1000));
    const packed = await Promise.all(bodies.map((body) => pack(body)));
    for (const [i, bytes] of packed.entries()) assert.ok(expected[i]!.equals(bytes), `body ${i}`);
  }
});

test('a body beyond the memory of the thread is refused, later ones are packed', async () => {
  const small = new Packer(8);
  const large = new Uint8Array(jsonOf(400_000));
  await assert.rejects(small.pack(large), { errorCode: 'SERVER_OVERLOADED' });
  const body = jsonOf(10);
  const packed = await small.pack(new Uint8Array(body));
  assert.ok(Buffer.from(jsonToMessagePack(body)).equals(packed));
});

test('the event loop runs while a large body is copied', async () => {
  let timeSliceCount = 0;
  const whenRunning = (): void => {
    timeSliceCount++;
    next = setImmediate(whenRunning);
  };
  let next = setImmediate(whenRunning);
  const body = jsonOf(500_000);
  const copy = await gatherBytes(body, 'somebody');
  clearImmediate(next);
  assert.ok(body.equals(copy));
  assert.ok(timeSliceCount >= Math.floor(body.length / 2 ** 20), `${timeSliceCount} turns`);
});
