// The socket of the operator: who may open it, what it passes on, how it refuses; and that none of it can be had over TCP.

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { findControlPath } from '../../../daemon/base/config/control-path.ts';
import { createLog } from '../../../daemon/base/log.ts';
import { operatorApiAt, NoDaemonError } from '../../../daemon/cli/control-client.ts';
import { startControlServer } from '../../../daemon/api/operator/control-server.ts';
import type { OperatorApi } from '../../../daemon/api/operator/operations.ts';
import { temporaryFolder } from '../../sources/git/fixture.ts';
import { onBothAdapters } from '../../http/adapters.ts';
import { startWorld } from '../../http/harness.ts';

/** Bytes of an input that are taken. */
const INPUT_SIZE_MAX = 16 * 1024 * 1024;

const ECHO: OperatorApi = {
  run: (name, input, account) => Promise.resolve({ name, input, account }),
  async *backup() {
    yield Buffer.from('first ');
    yield Buffer.from('second');
  },
};

async function withServer(
  operatorApi: OperatorApi,
  work: (socketPath: string) => Promise<void>,
): Promise<void> {
  const dataDir = temporaryFolder();
  const log = createLog({ level: 'error', format: 'json', write: () => {} });
  const server = await startControlServer({ dataDir, operatorApi, log });
  try {
    await work(findControlPath(dataDir));
  } finally {
    await server.close();
  }
}

async function bytesOf(parts: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const part of parts) all.push(part);
  return Buffer.concat(all);
}

function statusOf(socketPath: string, body: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path: '/x', method: 'POST', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

test('only the account of the daemon may open it; name, input and account are passed on', () =>
  withServer(ECHO, async (socketPath) => {
    assert.equal(statSync(socketPath).mode & 0o777, 0o600);
    const operatorApi = operatorApiAt(socketPath);
    const input = { email: 'ä@x.org' };
    assert.deepEqual(await operatorApi.run('user.show', input, 'größe'), {
      name: 'user.show',
      input,
      account: 'größe',
    });
    const { signal } = new AbortController();
    assert.equal(String(await bytesOf(operatorApi.backup({}, signal))), 'first second');
  }));

test('a refusal has its message; what comes of a fault too, to the operator alone', async () => {
  const operatorApi: OperatorApi = {
    run: () => Promise.reject(new Error('There is no user a@x.org.')),
    // oxlint-disable-next-line require-yield -- fails before the first byte
    async *backup() {
      throw new Error('There is no room.');
    },
  };
  await withServer(operatorApi, async (socketPath) => {
    const away = operatorApiAt(socketPath);
    await assert.rejects(away.run('x', {}, undefined), /^UsageError: There is no user a@x\.org\.$/);
    const { signal } = new AbortController();
    await assert.rejects(bytesOf(away.backup({}, signal)), /There is no room\.$/);
  });
  const nowhere = operatorApiAt(path.join(temporaryFolder(), 'control.sock'));
  await assert.rejects(nowhere.run('ping', {}, undefined), NoDaemonError);
});

test('who is cut off before being let in has met no daemon; after it, that is a failure', async () => {
  const folder = temporaryFolder();
  for (const isLetIn of [false, true]) {
    const socketPath = path.join(folder, `${isLetIn}.sock`);
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        if (isLetIn) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    const asked = operatorApiAt(socketPath).run('ping', {}, undefined);
    await assert.rejects(asked, (error) => error instanceof NoDaemonError === !isLetIn);
    await new Promise((resolve) => server.close(resolve));
  }
});

test('inputs are bounded, and others are served on', () =>
  withServer(ECHO, async (socketPath) => {
    const text = (size: number) => `"${'x'.repeat(size - 2)}"`;
    assert.equal(await statusOf(socketPath, text(INPUT_SIZE_MAX)), 200);
    // One that is still on its way is cut off with its connection.
    for (const size of [INPUT_SIZE_MAX + 1, 4 * INPUT_SIZE_MAX])
      assert.equal(await statusOf(socketPath, text(size)).catch(() => 400), 400);
    assert.equal(await statusOf(socketPath, 'no JSON'), 400);
    assert.equal(await statusOf(socketPath, '{}'), 200);
  }));

onBothAdapters('the operator', (kind) => {
  test('cannot be had over TCP, whatever a request says of itself', async () => {
    const world = await startWorld({ kind });
    for (const name of ['ping', 'user.list', 'key.create', 'repo.set', 'audit.list', 'backup'])
      for (const folder of ['/', '/api/', '/api/operator/'])
        for (const method of ['POST', 'GET']) {
          const headers = { 'x-trawl-account': 'root', host: 'localhost' };
          const body = method === 'POST' ? { body: '{}' } : {};
          const reply = await world.call({ method, path: `${folder}${name}`, headers, ...body });
          assert.equal(reply.status, 404, `${method} ${folder}${name}`);
        }
  });
});
