// The load generator: answers in any chunks, faults that end a run, and a run against a real server.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import test from 'node:test';
import { createAnswerReader, measureLoad } from '../../bench/load.ts';
import { startPlainServer } from '../http/plain-server.ts';

const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\nX: é\r\ncontent-length: 5\r\n\r\n12\r\n5');

void test('an answer is complete with its last byte, in any chunks', () => {
  for (let cut = 1; cut < ANSWER.length; cut++) {
    const isComplete = createAnswerReader();
    for (let round = 0; round < 2; round++) {
      assert.equal(isComplete(ANSWER.subarray(0, cut)), false);
      assert.equal(isComplete(ANSWER.subarray(cut)), true);
    }
  }
  assert.equal(createAnswerReader()(ANSWER), true);
  assert.equal(
    createAnswerReader()(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')),
    true,
  );
});

void test('a wrong answer ends the run', () => {
  const read = (text: string): boolean => createAnswerReader()(Buffer.from(text));
  assert.throws(() => read('HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n'), /503/);
  assert.throws(() => read('HTTP/1.1 200 OK\r\n\r\n'), /no size/);
  assert.throws(() => read('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n12'), /more bytes/);
});

/** A server that answers with the size of the body that came; every body is remembered. */
async function withServer(status: number, use: (url: string, bodies: string[]) => Promise<void>) {
  const bodies: string[] = [];
  const server = await startPlainServer((request, body, reply) => {
    bodies.push(`${request.method ?? ''} ${request.url ?? ''} ${body}`);
    const text = 'x'.repeat(100_000);
    reply.writeHead(status, { 'content-length': text.length }).end(text);
  });
  try {
    await use(server.url, bodies);
  } finally {
    await server.close();
  }
}

void test('all connections send the mix in turn, and every answer is counted', async () => {
  await withServer(200, async (url, bodies) => {
    const figure = await measureLoad({ url, pid: process.pid }, ['"a"', '"é"', '"c"'], 5, 1000);
    assert.equal(figure.connectionCount, 5);
    assert.equal(figure.latency.sampleCount, bodies.length);
    assert.ok(bodies.length >= 5 && figure.requestsPerSecond > 0);
    const distinct = new Set(bodies);
    assert.deepEqual(
      [...distinct].sort(),
      ['"a"', '"c"', '"é"'].map((body) => `POST /api/search ${body}`),
    );
  });
  await withServer(500, async (url) => {
    await assert.rejects(measureLoad({ url, pid: process.pid }, ['1'], 2, 100), /500/);
  });
});
