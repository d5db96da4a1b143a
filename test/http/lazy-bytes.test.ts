// Answers assembled while they are sent: each window is overwritten by the next, so bytes that a socket has not taken
// must be copied.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import test from 'node:test';
import type { LazyBytes } from '../../daemon/base/lazy-bytes.ts';
import { openAdapter } from '../../daemon/http/adapters/open-adapter.ts';
import { createLog } from '../../daemon/base/log.ts';
import { onBothAdapters } from './adapters.ts';

const WINDOW_SIZE = 100_000;
const LOG = createLog({ level: 'error', format: 'json', write: () => {} });
const SIZE = 40 * WINDOW_SIZE;

/** `SIZE` bytes, the `n`-th window all of the byte `n`, in one buffer. */
function windows(): LazyBytes {
  const window = Buffer.alloc(WINDOW_SIZE);
  return {
    byteLength: SIZE,
    memorySize: WINDOW_SIZE,
    from: (offset) => {
      window.fill(Math.floor(offset / WINDOW_SIZE));
      return window.subarray(offset % WINDOW_SIZE);
    },
  };
}

onBothAdapters('answers in windows', (kind) => {
  test('a reader slower than the daemon gets unchanged windows', async () => {
    const handle = () => Promise.resolve({ status: 200, headers: {}, body: windows() });
    const adapter = await openAdapter(kind, { handle }, LOG);
    const { host, port } = await adapter.listen('127.0.0.1', 0);
    const socket = connect(port, host);
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    const parts: Buffer[] = [];
    for await (const part of socket as AsyncIterable<Buffer>) {
      parts.push(part);
      if (parts.length % 8 === 0) await delay(1);
    }
    const all = Buffer.concat(parts);
    const body = all.subarray(all.indexOf('\r\n\r\n') + 4);
    assert.equal(body.length, SIZE);
    const wrong = body.findIndex((byte, at) => byte !== Math.floor(at / WINDOW_SIZE));
    assert.equal(wrong, -1);
    await adapter.close(0);
  });

  test('with many readers only one gets a window in a time slice', async () => {
    let whenRunning = 0;
    const timeSlices: number[] = [];
    /** Takes longer than a turn should. */
    const costly = (): LazyBytes => {
      const bytes = windows();
      const from = (offset: number): Uint8Array => {
        timeSlices.push(whenRunning);
        for (const endMs = performance.now() + 2; performance.now() < endMs;);
        return bytes.from(offset);
      };
      return { byteLength: 4 * WINDOW_SIZE, memorySize: WINDOW_SIZE, from };
    };
    const handle = () => Promise.resolve({ status: 200, headers: {}, body: costly() });
    const adapter = await openAdapter(kind, { handle }, LOG);
    const { host, port } = await adapter.listen('127.0.0.1', 0);
    const tick = (): void => {
      whenRunning++;
      if (!isOver) setImmediate(tick);
    };
    let isOver = false;
    tick();
    const readers = Array.from({ length: 20 }, async () => {
      const answer = await fetch(`http://${host}:${port}/`);
      return (await answer.arrayBuffer()).byteLength;
    });
    const sizes = await Promise.all(readers);
    isOver = true;
    await adapter.close(0);
    assert.deepEqual(new Set(sizes), new Set([4 * WINDOW_SIZE]));
    assert.equal(new Set(timeSlices).size, timeSlices.length);
  });
});
