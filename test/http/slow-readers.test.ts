// A client that reads slowly but steadily gets its answer, although the system takes nothing more for minutes; one that
// stops reading is dropped. The timers are moved by hand.
// tier: ci (openssl)

import assert from 'node:assert/strict';
import diagnostics from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { after, test } from 'node:test';
import type { HttpResponse } from '../../daemon/http/adapters/adapter.ts';
import { STALL_SIZE, STREAM_STALL_MS } from '../../daemon/http/adapters/adapter.ts';
import { NodeAdapter } from '../../daemon/http/adapters/node-adapter.ts';
import { receivedSize } from '../../daemon/http/adapters/stall-timer.ts';
import { makeCertificates } from '../hosts/servers.ts';

const atEnd: (() => void)[] = [];
after(() => atEnd.forEach((end) => end()));
const certificates = makeCertificates({ after: (end) => void atEnd.push(end as () => void) });

const BODY = Buffer.alloc(64 * 1024 * 1024);

function streamed(): HttpResponse['body'] {
  let offset = 0;
  const next = async () => BODY.subarray(offset, (offset += STALL_SIZE));
  return { next, close: () => {} };
}

/** The server's end of the next connection with a request. */
function nextSocket(): () => Socket | undefined {
  let socket: Socket | undefined;
  const note = (message: unknown): void => {
    // Safety: as the documentation of Node.js has it.
    ({ socket } = message as { socket: Socket });
    diagnostics.unsubscribe('http.server.request.start', note);
  };
  diagnostics.subscribe('http.server.request.start', note);
  return () => socket;
}

async function turnsUntil(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((resolve) => void setImmediate(resolve));
}

/** Nothing of it has moved for many turns. */
async function settled(size: () => number | undefined): Promise<void> {
  for (let last, turns = 0; turns < 500; turns++) {
    await new Promise((resolve) => void setImmediate(resolve));
    if (size() !== last) [last, turns] = [size(), 0];
  }
}

const skip = process.platform !== 'linux' && 'only Linux says what has been received';

for (const [name, isTls, body] of [
  ['an answer', false, () => BODY],
  ['an encrypted answer', true, () => BODY],
  ['a stream', false, streamed],
] as const)
  test(`${name} for a slow reader`, { skip }, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const handle = async () => ({ status: 200, headers: {}, body: body() });
    const adapter = new NodeAdapter({ handle, isTls });
    if (isTls) adapter.useCertificate(certificates);
    const { host, port } = await adapter.listen('127.0.0.1', 0);
    const socketOf = nextSocket();
    const client = isTls
      ? connectTls({ host, port, rejectUnauthorized: false })
      : connect({ host, port });
    client.pause();
    client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await turnsUntil(() => (socketOf()?.writableLength ?? 0) > 0);
    const server = socketOf()!;
    const received = () => receivedSize(server);
    for (let minute = 0; minute < 3; minute++) {
      await settled(received);
      t.mock.timers.tick(1000);
      const before = received()!;
      client.resume();
      await turnsUntil(() => server.destroyed || received()! - before >= STALL_SIZE);
      client.pause();
      await settled(received);
      t.mock.timers.tick(STREAM_STALL_MS - 1000);
      assert.equal(server.destroyed, false, `in minute ${minute}`);
    }
    for (let minute = 0; minute < 3; minute++) t.mock.timers.tick(STREAM_STALL_MS);
    await turnsUntil(() => server.destroyed);
    client.destroy();
    t.mock.timers.reset();
    await adapter.close(0);
  });
