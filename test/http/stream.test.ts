// Streamed responses over real sockets, on both adapters: exact framing, failing sources, slow, stalled and
// disconnecting clients. The events are invented; those of real searches are in stream-search.test.ts.
// tier: ci (long)

import { type Cancellation, LazySignal } from '../../daemon/base/cancellation.ts';
import assert from 'node:assert/strict';
import diagnostics from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { unpack } from 'msgpackr';
import { z } from 'zod';
import { endpoint } from '../../daemon/api/shapes/endpoint.ts';
import type { EventStream } from '../../daemon/api/shapes/endpoint-services.ts';
import { BUFFER_SIZE_MAX } from '../../daemon/http/adapters/pump.ts';
import { adapters, onBothAdapters } from './adapters.ts';
import { FINAL_EVENT, chunkEvent, resultOf } from './answers.ts';
import {
  OWNER_KEY,
  SEARCH_BODY,
  closeWorlds,
  eventStream,
  eventually,
  gate,
  openWire,
  searchWith,
  startWorld,
  type Wire,
} from './harness.ts';
import { mountEndpoints } from './mounted.ts';
import { replyAt } from './wire-replies.ts';

const MIB = 1024 * 1024;
const EVENTS = [chunkEvent([resultOf('größe\n\u2028')], { duration: 5_000_000_000 }), FINAL_EVENT];
const SIMILAR_EVENTS = [
  ...Array.from({ length: 20 }, () => chunkEvent([resultOf('const answer = 42; '.repeat(20))])),
  FINAL_EVENT,
];
const CHUNK = JSON.stringify(chunkEvent());
const FINAL = JSON.stringify(FINAL_EVENT);

function streamWith(body: unknown, headers: Record<string, string> = {}) {
  return { ...searchWith(body, headers), path: '/api/stream_search' };
}

function numbered(count: number): Buffer {
  return Buffer.from(JSON.stringify(chunkEvent([resultOf(`event ${count}`)])));
}

/** Two events and the final one; the second comes when `second` says so. */
function pausedStream(second: Promise<void>): EventStream {
  let count = 0;
  return {
    async next() {
      if (++count === 2) await second;
      if (count === 3) return { json: Buffer.from(FINAL) };
      return count > 3 ? undefined : { json: numbered(count) };
    },
    close: () => {},
  };
}

/** Sends the request for a stream on a bare connection. */
function requestStream(wire: Wire, headers = ''): void {
  wire.post('/api/stream_search', SEARCH_BODY, headers);
}

/** Payloads of length-prefixed frames; throws unless the last one, and only it, is empty. */
function readFrames(body: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  let offset = 0;
  for (;;) {
    const size = body.readUInt32BE(offset);
    offset += 4;
    if (size === 0) break;
    frames.push(body.subarray(offset, offset + size));
    offset += size;
  }
  assert.equal(offset, body.length, 'nothing follows the zero frame');
  return frames;
}

/** Endless large events, counted. */
class Flood implements EventStream {
  readonly json = Buffer.from(JSON.stringify(chunkEvent([resultOf('x'.repeat(MIB / 4))])));
  pulledSize = 0;
  closeCount = 0;
  sizeMax = Infinity;

  next() {
    if (this.pulledSize >= this.sizeMax || this.closeCount > 0) return Promise.resolve(undefined);
    this.pulledSize += this.json.length;
    return Promise.resolve({ json: this.json });
  }

  close(): void {
    this.closeCount++;
  }

  /** Resolves once as much has been pulled as a system keeps at least, and no more for a while. */
  async settled(): Promise<number> {
    for (;;) {
      const before = this.pulledSize;
      await new Promise((resolve) => void setTimeout(resolve, 150));
      if (before >= MIB && this.pulledSize === before) return before;
    }
  }
}

/** Reads up to the end of the stream; the number of its events. */
function readToEnd(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let count = 0;
    let tail = '';
    socket.on('data', (data) => {
      const text = tail + data.toString();
      count += text.split('data: {').length - 1;
      // Long enough for a mark that is cut, too short for one that was counted.
      tail = text.slice(-6);
      if (text.includes('[DONE]')) resolve(count);
    });
    socket.on('close', () => reject(new Error(`closed after ${count} events`)));
    socket.resume();
  });
}

onBothAdapters('streams', (kind) => {
  test('server-sent events: only data lines, one JSON object each, then [DONE]', async () => {
    const world = await startWorld({ kind, stream: () => eventStream(EVENTS) });
    const sent = { 'Accept-Encoding': 'br;q=0', Connection: 'keep-alive' };
    const reply = await world.call(streamWith(SEARCH_BODY, sent));
    assert.equal(reply.status, 200);
    const expected = EVENTS.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    assert.equal(reply.body.toString(), `${expected}data: [DONE]\n\n`);
    const { headers } = reply;
    assert.equal(headers['content-type'], 'text/event-stream');
    assert.equal(headers['cache-control'], 'no-cache, no-transform');
    assert.equal(headers['connection'], 'keep-alive');
    assert.equal(headers['x-accel-buffering'], 'no');
    assert.equal(headers['content-encoding'], undefined);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.match(headers['x-request-id'] as string, /^[0-9a-f-]{36}$/);
    await eventually(() => world.lines.some((line) => line['route'] === '/api/stream_search'));
    const line = world.lines.find(({ route }) => route === '/api/stream_search');
    assert.equal(line?.['status'], 200);
    assert.equal(line['bytes'], reply.body.length);
  });

  for (const [coding, decode] of [
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const) {
    test(`${coding}: the same events, smaller; both encodings`, async () => {
      const world = await startWorld({ kind, stream: () => eventStream(SIMILAR_EVENTS) });
      for (const accept of ['text/event-stream', 'application/x-msgpack']) {
        const plain = await world.call(streamWith(SEARCH_BODY, { Accept: accept }));
        const headers = { Accept: accept, 'Accept-Encoding': coding };
        const coded = await world.call(streamWith(SEARCH_BODY, headers));
        assert.equal(coded.headers['content-encoding'], coding);
        assert.equal(coded.headers['vary'], 'Accept, Accept-Encoding');
        assert.deepEqual(decode(coded.body), plain.body);
        assert.ok(coded.body.length < plain.body.length / 2);
        await eventually(() => world.lines.some(({ bytes }) => bytes === coded.body.length));
      }
    });

    test(`${coding}: each event can be read before the next one exists`, async () => {
      const second = gate();
      const world = await startWorld({ kind, stream: () => pausedStream(second.opened) });
      const { host, port } = world.server.address;
      const reply = await fetch(`http://${host}:${port}/api/stream_search`, {
        method: 'POST',
        headers: { 'Accept-Encoding': coding },
        body: JSON.stringify(SEARCH_BODY),
      });
      assert.equal(reply.headers.get('content-encoding'), coding);
      let text = '';
      for await (const bytes of reply.body!) {
        text += Buffer.from(bytes).toString();
        if (text.includes('"event 1"')) second.open();
      }
      assert.match(text, /"event 1"[^]*"event 2"[^]*\[DONE\]\n\n$/);
    });
  }

  test('a compressed search that fails as a whole: error event, then the body ends', async () => {
    const world = await startWorld({
      kind,
      stream: () => eventStream([chunkEvent(), new Error('/secret/path')]),
    });
    const reply = await world.call(streamWith(SEARCH_BODY, { 'Accept-Encoding': 'br' }));
    const text = brotliDecompressSync(reply.body).toString();
    assert.match(text, /data: \{"type":"error","error":\{"statusCode":500,.*\}\}\n\n$/);
    assert.doesNotMatch(text, /DONE|secret/);
  });

  test('a stream refused for its memory releases its permit', async () => {
    // The share of a caller is an eighth, a little less than one stream takes.
    const memory = 8 * BUFFER_SIZE_MAX - 8;
    const settings = { memory, maxConcurrentSearches: 1, maxQueuedSearches: 1 };
    const world = await startWorld({ kind, settings, stream: () => eventStream(EVENTS) });
    for (let i = 0; i < 3; i++) {
      const refused = await world.call(streamWith(SEARCH_BODY));
      assert.equal(refused.status, 503);
    }
    assert.equal((await world.call(searchWith(SEARCH_BODY))).status, 200);
  });

  test('MessagePack: frames with their length before them, a zero frame at the end', async () => {
    const world = await startWorld({ kind, stream: () => eventStream(EVENTS) });
    const reply = await world.call(streamWith(SEARCH_BODY, { Accept: 'application/x-msgpack' }));
    assert.equal(reply.headers['content-type'], 'application/x-msgpack; framing=u32be');
    assert.equal(reply.headers['content-encoding'], undefined);
    const events = readFrames(reply.body).map((frame): unknown =>
      JSON.parse(
        JSON.stringify(unpack(frame), (_, value: unknown) =>
          typeof value === 'bigint' ? Number(value) : value,
        ),
      ),
    );
    assert.deepEqual(events, EVENTS);
    const empty = await startWorld({ kind });
    const end = await empty.call(streamWith(SEARCH_BODY, { Accept: 'application/x-msgpack' }));
    assert.equal(readFrames(end.body).length, 1);
  });

  test('errors before the start are ordinary errors', async () => {
    const world = await startWorld({
      kind,
      env: { TRAWL_OWNER_EMAIL: 'owner@example.com', TRAWL_OWNER_API_KEY: OWNER_KEY },
      stream: () => {
        throw Object.assign(new Error('bad at position 3'), { errorCode: 'FAILED_TO_PARSE_QUERY' });
      },
    });
    const key = { 'X-Service-Api-Key': OWNER_KEY };
    const cases: [unknown, Record<string, string>, number, string][] = [
      [{ query: 'x' }, {}, 400, 'INVALID_REQUEST_BODY'],
      [SEARCH_BODY, {}, 401, 'NOT_AUTHENTICATED'],
      [SEARCH_BODY, key, 400, 'FAILED_TO_PARSE_QUERY'],
    ];
    for (const [body, headers, status, errorCode] of cases) {
      const reply = await world.call(streamWith(body, headers));
      assert.equal(reply.status, status);
      assert.equal(reply.headers['content-type'], 'application/json');
      assert.equal(reply.json()['errorCode'], errorCode);
    }
    const packed = await world.call(
      streamWith(SEARCH_BODY, { ...key, Accept: 'application/msgpack' }),
    );
    assert.equal(packed.headers['content-type'], 'application/x-msgpack');
    const error = unpack(packed.body) as Record<string, unknown>;
    assert.equal(error['errorCode'], 'FAILED_TO_PARSE_QUERY');
    const wrong = await world.call({ path: '/api/stream_search' });
    assert.equal(wrong.status, 405);
  });

  test('a failing batch is an error event, and the stream ends normally', async () => {
    const events: ({ json: Buffer } | { error: Error } | undefined)[] = [
      { json: Buffer.from(CHUNK) },
      { error: new Error('/secret/path') },
      { json: Buffer.from(FINAL) },
      undefined,
    ];
    const world = await startWorld({
      kind,
      stream: () => ({ next: () => Promise.resolve(events.shift()), close: () => {} }),
    });
    const reply = await world.call(streamWith(SEARCH_BODY));
    const error = {
      statusCode: 500,
      errorCode: 'UNEXPECTED_ERROR',
      message: 'An unexpected error occurred.',
    };
    assert.equal(
      reply.body.toString(),
      `data: ${CHUNK}\n\ndata: ${JSON.stringify({ type: 'error', error })}\n\n` +
        `data: ${FINAL}\n\ndata: [DONE]\n\n`,
    );
    assert.ok(world.lines.some(({ level }) => level === 'error'));
  });

  test('a search that fails as a whole: error event, then the body ends', async () => {
    const world = await startWorld({
      kind,
      stream: () => eventStream([chunkEvent(), new Error('/secret/path')]),
    });
    const wire = openWire(world.server);
    requestStream(wire);
    await wire.until('\r\n0\r\n\r\n');
    requestStream(wire, 'Connection: close\r\n');
    const received = await wire.closed();
    const first = replyAt(received, 'POST');
    const text = first!.body.toString();
    assert.ok(text.startsWith(`data: ${CHUNK}\n\n`));
    assert.match(text, /data: \{"type":"error","error":\{"statusCode":500,.*\}\}\n\n$/);
    assert.doesNotMatch(text, /DONE|"final"|secret/);
    assert.equal(replyAt(received.slice(first!.size), 'POST')?.body.toString(), text);
  });

  test('the connection serves the next request', async () => {
    const world = await startWorld({ kind, stream: () => eventStream(EVENTS) });
    const wire = openWire(world.server);
    for (let count = 1; count <= 3; count++) {
      requestStream(wire);
      await wire.until('[DONE]\n\n\r\n0\r\n\r\n', count);
    }
    wire.socket.destroy();
  });

  test('a connection ends after the stream if the request says so', async () => {
    const world = await startWorld({ kind, stream: () => eventStream(EVENTS) });
    const wire = openWire(world.server);
    requestStream(wire, 'Connection: close\r\n');
    const text = await wire.closed();
    assert.match(text, /\[DONE\]\n\n\r\n0\r\n\r\n$/);
    assert.equal(replyAt(text, 'POST')?.headers['connection'], 'close');
  });

  test('a slow reader: at most 2 MiB are buffered, then the search pauses', async () => {
    const flood = new Flood();
    flood.sizeMax = 64 * MIB;
    const world = await startWorld({ kind, stream: () => flood });
    const wire = openWire(world.server);
    wire.socket.removeAllListeners('data');
    wire.socket.pause();
    requestStream(wire);
    const pulled = await flood.settled();
    const received = wire.socket.bytesRead;
    // What the system keeps of a connection on loopback is some MiB on top.
    assert.ok(pulled < 24 * MIB, `${pulled} bytes pulled`);
    assert.ok(received < MIB, `${received} bytes received`);
    assert.equal((await world.call({ path: '/api/health' })).status, 200);
    const rest = readToEnd(wire.socket);
    const expected = Math.ceil((64 * MIB) / flood.json.length);
    assert.equal(await rest, expected);
    assert.ok(flood.closeCount > 0);
    wire.socket.destroy();
  });

  test('a client that reads nothing for too long is disconnected', async () => {
    const flood = new Flood();
    const world = await startWorld({ kind, stream: () => flood, streamStallMs: 300 });
    const wire = openWire(world.server);
    wire.socket.pause();
    requestStream(wire);
    await eventually(() => flood.closeCount > 0);
    await eventually(() => world.lines.some((line) => line['status'] === 499));
    wire.socket.destroy();
  });

  const skip =
    kind === 'uws' && 'its sockets cannot be looked at; the library has a time of its own';
  test('a client that does not read the end is disconnected', { skip }, async () => {
    let socket: Socket | undefined;
    const note = (message: unknown): void => {
      // Safety: as the documentation of Node.js has it.
      ({ socket } = message as { socket: Socket });
    };
    diagnostics.subscribe('http.server.request.start', note);
    const json = numbered(1);
    const stream = (): EventStream => ({
      async next() {
        await new Promise((resolve) => void setImmediate(resolve));
        // Over as soon as the system takes no more.
        return socket === undefined || socket.writableLength > 0 ? undefined : { json };
      },
      close: () => {},
    });
    const world = await startWorld({ kind, stream, streamStallMs: 300 });
    const wire = openWire(world.server);
    wire.socket.pause();
    requestStream(wire);
    await eventually(
      () => socket !== undefined && !socket.writableEnded && socket.writableLength > 0,
    );
    await eventually(() => socket?.destroyed === true);
    diagnostics.unsubscribe('http.server.request.start', note);
    wire.socket.destroy();
  });

  test('100 clients that disconnect in the middle leave nothing behind', async () => {
    const floods: Flood[] = [];
    const signals: Cancellation[] = [];
    const world = await startWorld({
      kind,
      settings: { maxConcurrentSearches: 4, maxQueuedSearches: 400, memory: 2 ** 32 },
      stream: (_, { signal }) => {
        signals.push(signal);
        const flood = new Flood();
        floods.push(flood);
        return flood;
      },
    });
    await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const wire = openWire(world.server);
        requestStream(wire);
        if (i % 3 === 0) wire.socket.pause();
        else await wire.until('data: ');
        setTimeout(() => wire.socket.destroy(), i % 7);
      }),
    );
    await eventually(() => floods.length > 60 && floods.every(({ closeCount }) => closeCount > 0));
    assert.ok(signals.every(({ aborted }) => aborted));
    assert.ok(!world.lines.some((line) => line['level'] === 'error'));
    // All places are free again: as many searches as may run at a time are answered.
    const replies = await Promise.all(
      Array.from({ length: 4 }, () => world.call(searchWith(SEARCH_BODY))),
    );
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200, 200],
    );
  });

  test('a long stream gives way to a waiting search, and ends normally', async () => {
    const finish = gate();
    let isDone = false;
    const world = await startWorld({
      kind,
      settings: { maxConcurrentSearches: 1, maxQueuedSearches: 1 },
      stream: () => ({
        async next() {
          await finish.opened;
          if (isDone) return undefined;
          isDone = true;
          return { json: Buffer.from(FINAL) };
        },
        close: () => {},
      }),
    });
    const first = world.call(streamWith(SEARCH_BODY));
    await eventually(() => world.calls.length === 1);
    const second = await world.call(searchWith(SEARCH_BODY));
    assert.equal(second.status, 200);
    finish.open();
    assert.equal((await first).status, 200);
  });

  test('close waits for a stream', async () => {
    const finish = gate();
    const events = [numbered(1), numbered(2), Buffer.from(FINAL)];
    const world = await startWorld({
      kind,
      stream: () => ({
        async next() {
          if (events.length === 2) await finish.opened;
          const json = events.shift();
          return json === undefined ? undefined : { json };
        },
        close: () => {},
      }),
    });
    const wire = openWire(world.server);
    requestStream(wire);
    await wire.until('"event 1"');
    const closing = world.server.close(60_000);
    finish.open();
    assert.match(await wire.closed(), /"event 2"[^]*\n\n[^]*data: \[DONE\]\n\n/);
    await closing;
  });
});

test('a stream whose response cannot be made is closed, and its permit released', async (t) => {
  t.after(closeWorlds);
  let closeCount = 0;
  const endpointOfStream = endpoint(
    {
      operationId: 'stream',
      method: 'GET',
      path: '/stream',
      access: 'opt',
      isSearch: true,
      tag: 'System',
      summary: 'A stream',
      responses: { 200: { description: 'Events.', body: z.object({}) } },
    },
    () => {
      const events = { ...eventStream([FINAL_EVENT]), close: () => void closeCount++ };
      return Promise.resolve({ status: 200, content: { events } });
    },
  );
  const { handle, pipeline } = await mountEndpoints([endpointOfStream]);
  const headers = new Map<string, string>();
  // As when there is no memory for a coder.
  headers.get = (name) => (name === 'accept-encoding' ? assert.fail('no coder') : undefined);
  const response = await handle({
    method: 'GET',
    path: '/stream',
    rawQuery: '',
    remoteAddress: '127.0.0.1',
    headers,
    signal: new LazySignal(),
    body: () => Promise.resolve(Buffer.alloc(0)),
  });
  assert.equal(response.status, 500);
  assert.equal(closeCount, 1);
  assert.equal(pipeline.admission.runningCount, 0);
  assert.equal(pipeline.memory.usedSize, 0);
});

// Both at once: it is the waiting that takes long.
void test('a client that resumes reading after a long time loses nothing', async (t) => {
  const readLate = async (kind: 'uws' | 'node'): Promise<void> => {
    const flood = new Flood();
    flood.sizeMax = 24 * MIB;
    const world = await startWorld({ kind, stream: () => flood });
    const wire = openWire(world.server);
    wire.socket.removeAllListeners('data');
    wire.socket.pause();
    requestStream(wire);
    // Longer than the time after which a library drops a connection by itself.
    await new Promise((resolve) => void setTimeout(resolve, 14_000));
    assert.equal(await readToEnd(wire.socket), Math.ceil((24 * MIB) / flood.json.length));
    wire.socket.destroy();
  };
  t.after(closeWorlds);
  await Promise.all(adapters().map(readLate));
});
