// A thread that runs one job after the other: it is replaced after a kill or a failure, is not terminated while it
// loads, and its end is awaited.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { Worker } from 'node:worker_threads';
import { ReusableThread } from '../../daemon/base/reusable-thread.ts';

/** Answers each order with the id of its thread; `fail` lets it fail. */
const CODE = `
  const { parentPort, threadId } = require('node:worker_threads');
  const port = parentPort;
  setTimeout(() => {
    port.postMessage({ kind: 'loaded' });
    port.on('message', ({ kind }) => {
      if (kind === 'end') port.close();
      else if (kind === 'fail') throw new Error('failed');
      else port.postMessage(threadId);
    });
  }, 50);
`;

function startThread(): Worker {
  return new Worker(CODE, { eval: true });
}

/** What the thread answers to an order; the notice that it has loaded is passed over. */
async function answerOf(worker: Worker): Promise<unknown> {
  worker.postMessage({ kind: 'run' });
  for (;;) {
    const [message]: unknown[] = await once(worker, 'message');
    if (typeof message === 'number') return message;
  }
}

void test('jobs run on one thread until it ends', async () => {
  const thread = new ReusableThread<unknown>(startThread);
  const ids: unknown[] = [];
  for (let i = 0; i < 3; i++) {
    ids.push(await answerOf(thread.take()));
    thread.rest();
  }
  await thread.end();
  ids.push(await answerOf(thread.take()));
  thread.rest();
  await thread.end();
  const [first, second, third, fourth] = ids;
  assert.deepEqual([second, third], [first, first]);
  assert.notEqual(fourth, first);
});

void test('a thread ends by itself after its idle time, and the next job starts another', async () => {
  const thread = new ReusableThread<unknown>(startThread, 20);
  const worker = thread.take();
  const first = await answerOf(worker);
  const ended = once(worker, 'exit');
  thread.rest();
  worker.ref();
  await ended;
  assert.notEqual(await answerOf(thread.take()), first);
  await thread.end();
});

void test('a failed or killed thread is not reused, and its end is awaited', async () => {
  const thread = new ReusableThread<unknown>(startThread);
  const failed = thread.take();
  const ended: Worker[] = [];
  failed.once('exit', () => ended.push(failed));
  failed.postMessage({ kind: 'fail' });
  await once(failed, 'error');
  thread.rest();
  const killed = thread.take();
  assert.notEqual(killed, failed);
  let hasLoaded = false;
  killed.once('message', () => (hasLoaded = true)).once('exit', () => ended.push(killed));
  thread.kill(killed);
  thread.rest();
  assert.notEqual(thread.take(), killed);
  thread.rest();
  await thread.end();
  assert.ok(ended.includes(failed) && ended.includes(killed));
  assert.ok(hasLoaded, 'it was terminated before it had loaded');
});
