// Further listeners on a port: they answer as the server does, end with it, and no child keeps the port.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import test from 'node:test';
import { listenMore } from '../../daemon/http/adapters/more-listeners.ts';

const options = { skip: process.platform !== 'linux' && 'Linux only' };

async function closed(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}

async function answerOf(port: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } });
  return answer.text();
}

void test('further listeners answer, and end', options, async () => {
  const server = createServer((_, response) => response.end('yes'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const more = listenMore(server);
  assert.ok(more.length > 1);
  assert.deepEqual(
    await Promise.all(Array.from({ length: 100 }, () => answerOf(port))),
    Array.from({ length: 100 }, () => 'yes'),
  );
  const child = spawn('sleep', ['60']);
  await once(child, 'spawn');
  await closed(server);
  assert.equal(await answerOf(port), 'yes');
  await Promise.all(more.map(closed));
  await assert.rejects(answerOf(port));
  const next = createServer((_, response) => response.end('next'));
  next.listen(port, '127.0.0.1');
  await once(next, 'listening');
  assert.equal(await answerOf(port), 'next');
  await closed(next);
  child.kill();
});

const WAITING = 1_000;
const SYSTEM_MAX = options.skip ? 0 : Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));

void test(
  'a thousand connections wait while nobody accepts',
  { skip: SYSTEM_MAX < WAITING && 'the system lets fewer wait' },
  async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const more = listenMore(server);
    const script = `
    let count = 0;
    for (let i = 0; i < ${WAITING}; i++)
      require('node:net').connect(${port}, '127.0.0.1', () => ++count === ${WAITING} && process.exit());`;
    // This thread accepts none until the program has ended.
    const { status } = spawnSync(process.execPath, ['-e', script], { timeout: 20_000 });
    assert.equal(status, 0);
    await Promise.all([server, ...more].map(closed));
  },
);

void test('a server that does not listen has no further listeners', () => {
  assert.deepEqual(listenMore(createServer()), []);
});
