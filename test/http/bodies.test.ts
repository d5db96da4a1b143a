// Request bodies: how much is buffered for whom, from which budget, and for how long.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { BodyCollector } from '../../daemon/http/adapters/exchange-parts.ts';
import { MemoryBudget, Reservation } from '../../daemon/http/adapters/memory-budget.ts';
import { DELIVERY_MAX } from '../../daemon/api/jobs/webhook-endpoint.ts';
import { adapters, onBothAdapters } from './adapters.ts';
import { OWNER_KEY, eventually, openWire, repo, startWorld, type World } from './harness.ts';

const OWNER_ENV = { TRAWL_OWNER_EMAIL: 'o@example.com', TRAWL_OWNER_API_KEY: OWNER_KEY };
const WITH_KEY = { 'X-Service-Api-Key': OWNER_KEY };
const UNKNOWN_SIZE_MAX = 65_536;

/** A search of so many bytes. */
const searchOf = (size: number): string => '{"query":"q","matches":1}'.padEnd(size);

async function post(world: World, path: string, body: string, headers = {}): Promise<string> {
  const reply = await world.call({ method: 'POST', path, body, headers });
  const { errorCode } = reply.json() as { errorCode?: string };
  return `${reply.status} ${errorCode ?? ''}`.trim();
}

onBothAdapters('bodies', (kind) => {
  test('without a credential at most 64 KB of a body are read', async () => {
    const world = await startWorld({ kind, env: OWNER_ENV });
    const search = (body: string, headers = {}) => post(world, '/api/search', body, headers);
    assert.equal(await search('{'), '400 INVALID_REQUEST_BODY');
    assert.equal(await search('{'.padEnd(UNKNOWN_SIZE_MAX)), '400 INVALID_REQUEST_BODY');
    assert.equal(await search('{'.padEnd(UNKNOWN_SIZE_MAX + 1)), '401 NOT_AUTHENTICATED');
    assert.equal(await search(searchOf(UNKNOWN_SIZE_MAX)), '401 NOT_AUTHENTICATED');
    assert.equal(await search(searchOf(1_048_576)), '401 NOT_AUTHENTICATED');
    assert.equal(await search(searchOf(1_048_577)), '413 REQUEST_BODY_TOO_LARGE');
    assert.equal(await search(searchOf(1_048_576), WITH_KEY), '200');
    assert.equal(await search(searchOf(1_048_577), WITH_KEY), '413 REQUEST_BODY_TOO_LARGE');
    const logIn = (size: number) => post(world, '/api/auth/login', '{}'.padEnd(size));
    assert.equal(await logIn(UNKNOWN_SIZE_MAX), '400 INVALID_REQUEST_BODY');
    assert.equal(await logIn(UNKNOWN_SIZE_MAX + 1), '413 REQUEST_BODY_TOO_LARGE');
    // Code hosts have no credential of ours: the endpoint has its own limit (API.md 13.6).
    const deliver = (size: number) => post(world, '/api/webhook', '{}'.padEnd(size));
    assert.equal(await deliver(DELIVERY_MAX), '202');
    assert.equal(await deliver(DELIVERY_MAX + 1), '413 REQUEST_BODY_TOO_LARGE');
    const open = await startWorld({ kind, env: { ...OWNER_ENV, TRAWL_ANONYMOUS_ACCESS: 'true' } });
    const asGuest = (size: number, path = '/api/search') => post(open, path, searchOf(size));
    assert.equal(await asGuest(UNKNOWN_SIZE_MAX), '200');
    assert.equal(await asGuest(UNKNOWN_SIZE_MAX + 1), '413 REQUEST_BODY_TOO_LARGE');
    assert.equal(await asGuest(UNKNOWN_SIZE_MAX + 1, '/api/explain'), '401 NOT_AUTHENTICATED');
    assert.equal(await post(open, '/api/search', searchOf(1_048_576), WITH_KEY), '200');
  });

  test('webhook deliveries share the budget of one caller, and take nothing from others', async () => {
    const size = 100_000;
    const env = { ...OWNER_ENV, TRAWL_ANONYMOUS_ACCESS: 'true' };
    // The share of a caller has room for three.
    const world = await startWorld({ kind, env, settings: { memory: 8 * 3.5 * size } });
    const head = `POST /api/webhook HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${size}\r\n\r\n`;
    const wires = [0, 1, 2].map(() => openWire(world.server));
    for (const wire of wires) {
      wire.write(head);
      wire.write('x'.repeat(size - 1));
    }
    let reply = '';
    for (let i = 0; reply !== '503 SERVER_OVERLOADED'; i++) {
      assert.ok(i < 1000, 'the share is never full');
      reply = await post(world, '/api/webhook', 'x'.repeat(size));
    }
    assert.equal(await post(world, '/api/search', searchOf(UNKNOWN_SIZE_MAX)), '200');
    for (const wire of wires) wire.write('x');
    for (const wire of wires) assert.match(await wire.until('repositories'), /^HTTP\/1\.1 202 /);
    assert.equal(await post(world, '/api/webhook', 'x'.repeat(size)), '202');
  });

  test('bodies share a budget with a share for each caller, and release it', async () => {
    const size = 60_000;
    const env = { ...OWNER_ENV, TRAWL_ANONYMOUS_ACCESS: 'true' };
    // The share of a caller has room for three.
    const world = await startWorld({ kind, env, settings: { memory: 8 * 3.5 * size } });
    const head = `POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${size}\r\n\r\n`;
    const wires = [0, 1, 2].map(() => openWire(world.server));
    for (const wire of wires) {
      wire.write(head);
      wire.write(searchOf(size - 1));
    }
    const guest = () => post(world, '/api/search', searchOf(size));
    let reply = '';
    for (let i = 0; reply !== '503 SERVER_OVERLOADED'; i++) {
      assert.ok(i < 1000, 'the budget is never full');
      reply = await guest();
    }
    const refused = await world.call({ method: 'POST', path: '/api/search', body: searchOf(size) });
    assert.equal(refused.headers['retry-after'], '1');
    assert.equal(await post(world, '/api/search', searchOf(size), WITH_KEY), '200');
    for (const wire of wires) wire.write(' ');
    for (const wire of wires) assert.match(await wire.until('"stats"'), /^HTTP\/1\.1 200 /);
    assert.equal(await guest(), '200');
    for (const wire of wires) {
      wire.write(head);
      wire.write(searchOf(size - 1));
      wire.socket.destroy();
    }
    await eventually(() => world.lines.filter(({ status }) => status === 499).length === 3);
    assert.equal(await guest(), '200');
  });

  // HAProxy 2.6 sends the next request behind a part of a body whose client left with the answer.
  test('an answer before the end of the body ends the connection', async () => {
    const world = await startWorld({ kind, repos: [repo(1, 'a')] });
    for (const line of ['PUT /api/search', 'POST /api/none', 'GET /api/source?repo=a&path=b'])
      for (const size of [10, 1_000_000]) {
        const wire = openWire(world.server);
        wire.write(`${line} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${size}\r\n\r\n `);
        await wire.until('X-Request-Id');
        wire.socket.write('GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n');
        const text = await wire.closed();
        assert.match(text, /^HTTP\/1\.1 [^]*\r\nConnection: close\r\n/i);
        assert.equal(text.match(/X-Request-Id/g)?.length, 1);
      }
  });

  test('a body may come with its head or after it, on one connection', async () => {
    const world = await startWorld({ kind, env: { TRAWL_ANONYMOUS_ACCESS: 'true' } });
    const wire = openWire(world.server);
    let count = 0;
    for (const size of [0, 1, 25, 16_384, 16_385, UNKNOWN_SIZE_MAX])
      for (const lateSize of [0, Math.min(size, 1), size]) {
        const body = searchOf(size).slice(0, size);
        const head = `POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${size}\r\n\r\n`;
        wire.write(head + body.slice(0, size - lateSize));
        // Long enough for this part to arrive.
        if (lateSize > 0) await world.call({ path: '/api/health' });
        if (lateSize > 0) wire.write(body.slice(size - lateSize));
        const [reply] = (await wire.until('X-Request-Id', ++count)).match(
          /HTTP\/1\.1 \d+ (?!.*HTTP\/1\.1 )/s,
        )!;
        assert.equal(reply.slice(9, 12), size < 25 ? '400' : '200', `${size}, ${lateSize} late`);
      }
    wire.socket.destroy();
  });

  test('a body that takes too long is refused, and the connection ends', async () => {
    const world = await startWorld({ kind, requestTimeoutMs: 500 });
    const wire = openWire(world.server);
    wire.write('POST /api/none HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello');
    await wire.until('NOT_FOUND');
    wire.socket.write(
      'POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{',
    );
    assert.match(await wire.closed(), /\}HTTP\/1\.1 408 .*"errorCode":"REQUEST_TIMEOUT"/s);
  });
});

// Both at once: it is the waiting that takes long.
test('a slow body is read', async () => {
  const sendSlowly = async (kind: 'uws' | 'node'): Promise<void> => {
    const world = await startWorld({ kind, env: OWNER_ENV });
    const wire = openWire(world.server);
    wire.write('POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n');
    // Longer than the time of a library.
    await sleep(15_000);
    wire.write('{}');
    assert.match(await wire.until('errorCode'), /HTTP\/1\.1 400 [^]*INVALID_REQUEST_BODY/);
    await world.close();
  };
  await Promise.all(adapters().map(sendSlowly));
});

test('an aborted body takes no memory at its end', async () => {
  const budget = new MemoryBudget(8 * 1024);
  const reservation = new Reservation(budget, 'somebody');
  const body = new BodyCollector(undefined);
  const reading = body.read({ sizeMax: 2 ** 30, reserve: (size) => reservation.grow(size) });
  const chunk = new Uint8Array(1_000_000);
  for (let count = 0; count < 300; count++) body.push(chunk);
  const before = process.memoryUsage().arrayBuffers;
  body.end();
  assert.ok(process.memoryUsage().arrayBuffers - before < 1_000_000);
  await assert.rejects(reading, { errorCode: 'SERVER_OVERLOADED' });
});
