// The contract of the HTTP adapters, over real sockets: connections, methods, body limits, large responses,
// disconnecting clients, orderly shutdown.
// tier: ci (long)

import type { Cancellation } from '../../daemon/base/cancellation.ts';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { onBothAdapters } from './adapters.ts';
import { answerOf, resultOf } from './answers.ts';
import { SEARCH_BODY, eventually, gate, openWire, searchWith, startWorld } from './harness.ts';

const HOST = 'Host: localhost\r\n';
const GET_HEALTH = `GET /api/health HTTP/1.1\r\n${HOST}\r\n`;
const HEALTHY = '{"status":"ok"}';

onBothAdapters('HTTP contract', (kind) => {
  test('a request pipelined behind a waiting one is answered after it, or ends the connection', async () => {
    const finish = gate();
    const world = await startWorld({
      kind,
      search: async () => {
        await finish.opened;
        return answerOf([resultOf('first')]);
      },
    });
    const wire = openWire(world.server);
    // In one piece.
    wire.socket.cork();
    wire.post('/api/search', SEARCH_BODY);
    wire.write(`GET /api/version HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`);
    wire.socket.uncork();
    if (kind === 'node') {
      await eventually(() => world.calls.length === 1);
      finish.open();
    }
    const received = await wire.closed();
    if (kind === 'node') assert.match(received, /"content":"first".*"version":"v/s);
    else assert.equal(received, '');
    finish.open();
    assert.equal((await world.call({ path: '/api/health' })).status, 200);
  });

  test('unknown paths are 404 whatever the method, known paths with a wrong method 405 with Allow', async () => {
    const world = await startWorld({ kind });
    assert.equal(world.server.http, kind);
    for (const method of ['GET', 'POST', 'DELETE', 'PUT', 'TRACE']) {
      for (const path of ['/api/none', '/api/health/', '/api/health/x', '/none', '/API/health']) {
        const reply = await world.call({ method, path });
        assert.equal(reply.status, 404, `${method} ${path}`);
        assert.equal(reply.json()['errorCode'], 'NOT_FOUND');
      }
    }
    for (const method of ['PUT', 'DELETE', 'POST', 'TRACE']) {
      const reply = await world.call({ method, path: '/api/health' });
      assert.equal(reply.status, 405, method);
      assert.equal(reply.headers.allow, 'GET, HEAD, OPTIONS');
      assert.deepEqual(Object.keys(reply.json()), ['statusCode', 'errorCode', 'message']);
      assert.equal(reply.json()['errorCode'], 'METHOD_NOT_ALLOWED');
    }
    assert.equal((await world.call({ path: '/api/search' })).headers.allow, 'POST, OPTIONS');
    assert.equal((await world.call({ method: 'HEAD', path: '/api/search' })).status, 405);
  });

  test('the body limit applies with Content-Length and with chunks', async () => {
    const world = await startWorld({ kind, settings: { maxRequestBodyBytes: 100 } });
    const fitting = JSON.stringify({ query: 'q', matches: 1 }).padEnd(100);
    const atCap = await world.call({ method: 'POST', path: '/api/search', body: fitting });
    assert.equal(atCap.status, 200);
    const above = await world.call({ method: 'POST', path: '/api/search', body: `${fitting} ` });
    assert.equal(above.status, 413);
    assert.equal(above.json()['errorCode'], 'REQUEST_BODY_TOO_LARGE');

    const wire = openWire(world.server);
    const start = `POST /api/search HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`;
    wire.write(`${start}${`32\r\n${' '.repeat(50)}\r\n`.repeat(2)}`);
    wire.write('1\r\n \r\n0\r\n\r\n');
    assert.match(await wire.until('REQUEST_BODY_TOO_LARGE'), /^HTTP\/1\.1 413 /);
    wire.write(GET_HEALTH);
    await wire.until(HEALTHY);
    wire.socket.destroy();
    assert.equal(world.calls.length, 1);
  });

  test('a body far above the limit is refused before it has arrived, declared or not', async () => {
    const { server } = await startWorld({ kind, settings: { maxRequestBodyBytes: 100 } });
    const declared = openWire(server);
    declared.write(`POST /api/search HTTP/1.1\r\n${HOST}Content-Length: 999999\r\n\r\n{`);
    assert.match(await declared.closed(), /^HTTP\/1\.1 413 .*REQUEST_BODY_TOO_LARGE/s);
    const chunked = openWire(server);
    chunked.write(`POST /api/search HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`);
    chunked.write(`1000\r\n${' '.repeat(4096)}\r\n`);
    assert.match(await chunked.closed(), /^HTTP\/1\.1 413 .*REQUEST_BODY_TOO_LARGE/s);
  });

  test('a body in chunks is joined; an endless one does not reach the search', async () => {
    const world = await startWorld({ kind });
    const body = JSON.stringify({ query: 'größe', matches: 3 });
    const wire = openWire(world.server);
    wire.write(`POST /api/search HTTP/1.1\r\n${HOST}`);
    wire.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`);
    const bytes = Buffer.from(body);
    for (const byte of bytes) {
      wire.socket.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
    await wire.until('"files":[]');
    assert.equal(world.calls[0]?.query, 'größe');
    wire.write(`POST /api/search HTTP/1.1\r\n${HOST}Content-Length: 50\r\n\r\n{"query"`);
    wire.socket.end();
    await wire.closed();
    await eventually(() => world.lines.some((line) => line['status'] === 499));
    assert.equal(world.calls.length, 1);
  });

  test('a disconnecting client aborts the signal of its own search only', async () => {
    const started = gate<Cancellation>();
    const world = await startWorld({
      kind,
      search: ({ query }, { signal }) => {
        if (query !== 'slow') return Promise.resolve(answerOf());
        started.open(signal);
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')));
        });
      },
    });
    const leaving = new AbortController();
    const aborted = world.call({
      ...searchWith({ query: 'slow', matches: 1 }),
      signal: leaving.signal,
    });
    const signal = await started.opened;
    assert.equal((await world.call(searchWith(SEARCH_BODY))).status, 200);
    assert.equal(signal.aborted, false);
    leaving.abort();
    await assert.rejects(aborted);
    await eventually(() => signal.aborted);
    await eventually(() => world.lines.some((line) => line['status'] === 499));
    assert.ok(!world.lines.some((line) => line['level'] === 'error'));
  });

  test('a large response reaches a slow reader completely, and others are served meanwhile', async () => {
    const size = 20 * 1024 * 1024;
    const content = Buffer.alloc(size, 'abcdefghijklmnopqrstuvwxyz0123456789').toString('latin1');
    const answer = answerOf([resultOf(content)]);
    const asked = gate();
    const search = async () => {
      asked.open();
      return answer;
    };
    const world = await startWorld({ kind, search });
    const wire = openWire(world.server);
    wire.socket.pause();
    wire.post('/api/search', SEARCH_BODY, 'Connection: close\r\n');
    await asked.opened;
    assert.equal((await world.call({ path: '/api/health' })).status, 200);
    // Four readings of whatever is there, with pauses, then the rest.
    for (let i = 0; i < 4; i++) {
      wire.socket.resume();
      await new Promise(setImmediate);
      wire.socket.pause();
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
    assert.equal((await world.call({ path: '/api/health' })).status, 200);
    wire.socket.resume();
    const received = await wire.closed();
    const sent = received.slice(received.indexOf('\r\n\r\n') + 4);
    const digest = (text: string) => createHash('sha256').update(text).digest('hex');
    assert.ok(sent.length > size);
    assert.equal(digest(sent), digest(JSON.stringify(answer)));
    await eventually(() => world.lines.some(({ route }) => route === '/api/search'));
    assert.equal(world.lines.find(({ route }) => route === '/api/search')!['status'], 200);
  });

  test('close waits for running requests and refuses new connections', async () => {
    const [started, finish] = [gate(), gate()];
    const world = await startWorld({
      kind,
      search: async () => {
        started.open();
        await finish.opened;
        return answerOf([resultOf('late')]);
      },
    });
    const silent = openWire(world.server);
    const half = openWire(world.server);
    const idle = openWire(world.server);
    half.write(GET_HEALTH.slice(0, 9));
    idle.write(GET_HEALTH);
    await idle.until(HEALTHY);
    const running = world.call(searchWith(SEARCH_BODY));
    await started.opened;
    // Longer than a test may take.
    const closing = world.server.close(2_000_000);
    await assert.rejects(world.call({ path: '/api/health' }), /ECONNREFUSED/);
    finish.open();
    assert.deepEqual((await running).json(), answerOf([resultOf('late')]));
    await closing;
    await Promise.all([silent.closed(), half.closed(), idle.closed()]);
  });

  test('close drops requests after the grace period', async () => {
    const [started, finish] = [gate<Cancellation>(), gate()];
    const world = await startWorld({
      kind,
      search: async (_, { signal }) => {
        started.open(signal);
        await finish.opened;
      },
    });
    const running = assert.rejects(world.call(searchWith(SEARCH_BODY)));
    const signal = await started.opened;
    await world.server.close(20);
    await running;
    await eventually(() => signal.aborted);
    finish.open();
  });

  test('a port in use is an error that names it', async () => {
    const first = await startWorld({ kind });
    const port = String(first.server.address.port);
    await assert.rejects(startWorld({ kind, env: { TRAWL_PORT: port } }), {
      name: 'ConfigError',
      variable: '--port and --host, or TRAWL_PORT and TRAWL_HOST',
      exitCode: 2,
    });
  });

  test('hostile paths, queries and headers get an error object, never a crash', async () => {
    const world = await startWorld({ kind });
    const targets = [
      '/api/repos?%zz&&==%ff',
      '/api/%2e%2e/health',
      '//api/health',
      '/api/search?__proto__=1',
      `/api/repos?query=${'a'.repeat(3000)}`,
    ];
    for (const path of targets) {
      const reply = await world.call({ path, headers: { 'X-Request-Id': '<script>' } });
      assert.ok([200, 404, 405].includes(reply.status), `${path}: ${reply.status}`);
      assert.match(String(reply.headers['x-request-id']), /^[0-9a-f-]{36}$/);
      reply.json();
    }
    const body = `{"query":"q","matches":1,"__proto__":{"whole":true},"constructor":1}`;
    const reply = await world.call({ method: 'POST', path: '/api/search', body });
    assert.equal(reply.status, 200);
    assert.equal(world.calls[0]?.whole, false);
  });
});
