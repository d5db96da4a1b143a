// The bridge to handlers with Request and Response of the Fetch standard, over real sockets: their requests, the
// responses, and cleanup when the client disconnects.
// tier: ci (kills and full disks)

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { z } from 'zod';
import type { Person } from '../../daemon/accounts/caller.ts';
import { endpoint, fetched } from '../../daemon/api/shapes/endpoint.ts';
import type { CallContext, Endpoint, Method } from '../../daemon/api/shapes/endpoint.ts';
import { onBothAdapters } from './adapters.ts';
import { OWNER_KEY, eventually, gate } from './harness.ts';
import { sendRaw } from './raw-client.ts';
import { serveEndpoints } from './mounted.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE'];

/** A library mounted below /lib. */
function mounted(
  handle: (request: Request, context: CallContext) => Response | Promise<Response>,
): readonly Endpoint[] {
  return METHODS.map((method) =>
    endpoint(
      {
        operationId: method,
        method,
        path: '/lib/*rest',
        access: 'opt',
        tag: 'System',
        summary: 'A library',
        responses: { 200: { description: 'Done.', body: z.object({}) } },
      },
      async (_, context) => fetched(await handle(context.fetchRequest(), context)),
    ),
  );
}

/** A body of chunks made on request, and their number. */
function chunkedBody(
  next: (index: number) => Uint8Array | undefined | Promise<Uint8Array | undefined>,
) {
  const progress = { pulledCount: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = await next(progress.pulledCount++);
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
      cancel: () => void (progress.isCancelled = true),
    },
    { highWaterMark: 0 },
  );
  return { body, progress };
}

onBothAdapters('bridge to fetch', (kind) => {
  const serve = (
    handle: (request: Request, context: CallContext) => Response | Promise<Response>,
    settings = {},
    env = {},
    times = {},
  ) => serveEndpoints(kind, mounted(handle), settings, env, times);

  test('a standard request: method, address, headers, all kinds of bodies', async () => {
    const served = await serve(async (request) => {
      const { method, url, headers } = request;
      const type = headers.get('content-type') ?? '';
      const isForm = type.startsWith('application/x-www-form-urlencoded');
      const body = isForm ? [...(await request.formData())] : await request.text();
      return Response.json({ method, url, x: headers.get('x-some'), body });
    });
    const see = async (call: Parameters<typeof sendRaw>[1]) =>
      JSON.parse((await sendRaw(served, call)).body.toString()) as unknown;
    const url = 'http://localhost/lib/a%20b/ö?x=1&x=2'.replace('ö', '%C3%B6');
    const path = url.slice('http://localhost'.length);
    const odd = { Host: 'localhost:1', 'X-Some': 'a' };
    const none = { url, x: 'a', body: '' };
    assert.deepEqual(await see({ path, headers: odd }), { method: 'GET', ...none });
    for (const method of ['POST', 'PUT', 'DELETE'])
      assert.deepEqual(await see({ method, path, headers: odd, body: '{"ö":1}' }), {
        method,
        url,
        x: 'a',
        body: '{"ö":1}',
      });
    assert.deepEqual(await see({ method: 'POST', path, headers: odd }), {
      method: 'POST',
      ...none,
    });
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const sent = { method: 'POST', path: '/lib/', headers: form, body: 'a=1&b=%C3%B6+x&a=2' };
    assert.deepEqual(await see(sent), {
      method: 'POST',
      url: 'http://localhost/lib/',
      x: null,
      body: [
        ['a', '1'],
        ['b', 'ö x'],
        ['a', '2'],
      ],
    });
    const head = await sendRaw(served, { method: 'HEAD', path });
    assert.deepEqual([head.status, head.body.length], [200, 0]);
  });

  test('invalid headers are dropped, others stay', async () => {
    const served = await serve((request) => Response.json([...request.headers.keys()].sort()));
    const socket = connect(served.address.port, served.address.host);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const head = 'GET /lib/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Odd: ';
    socket.write(
      Buffer.concat([Buffer.from(head), Buffer.from([0xc4, 0x80, 0x80]), Buffer.from('\r\n\r\n')]),
    );
    await eventually(() => text.includes(']'));
    assert.match(text, /^HTTP\/1\.1 200 .*\["connection","host"(?:,"x-odd")?\]/s);
    socket.destroy();
  });

  test('an oversized body is refused as elsewhere, even if the handler catches the error', async () => {
    let caught: unknown;
    const served = await serve(
      async (request) => {
        try {
          return new Response(await request.text());
        } catch (error) {
          caught = error;
          throw error;
        }
      },
      { maxRequestBodyBytes: 1000 },
    );
    const call = { method: 'POST', path: '/lib/', body: 'x'.repeat(1001) };
    const reply = await sendRaw(served, call);
    assert.equal(reply.status, 413);
    assert.match(reply.body.toString(), /"errorCode":"REQUEST_BODY_TOO_LARGE"/);
    assert.ok(caught instanceof Error);
    assert.equal((await sendRaw(served, { ...call, body: 'fits' })).body.toString(), 'fits');
    await eventually(() => served.pipeline.memory.usedSize === 0);
  });

  test('statuses, one header for each cookie, a redirect with a body, answers without one', async () => {
    const served = await serve((request) => {
      const headers = new Headers({ 'Content-Type': 'text/html', 'X-Frame-Options': 'DENY' });
      headers.append('Set-Cookie', 'a=1; Path=/');
      headers.append('Set-Cookie', 'b=2, 3; Path=/');
      headers.set('Transfer-Encoding', 'gzip');
      headers.set('Content-Length', '99');
      const status = Number(request.url.split('/').at(-1));
      if (status === 302) headers.set('Location', '/lib/200');
      return new Response(status === 204 || status === 205 ? null : '<p>ö</p>', {
        status,
        headers,
      });
    });
    for (const status of [200, 204, 205, 302, 401, 500]) {
      const { headers, body, ...reply } = await sendRaw(served, { path: `/lib/${status}` });
      assert.equal(reply.status, status);
      assert.deepEqual(headers['set-cookie'], ['a=1; Path=/', 'b=2, 3; Path=/']);
      assert.equal(headers['x-frame-options'], 'DENY');
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.match(String(headers['x-request-id']), /./);
      assert.equal(headers.location, status === 302 ? '/lib/200' : undefined);
      const isEmpty = status === 204 || status === 205;
      assert.equal(body.toString(), isEmpty ? '' : '<p>ö</p>');
      assert.equal(headers['content-length'], status === 205 ? '0' : undefined);
      await eventually(() => served.lines.some((line) => line['status'] === status));
    }
    const line = served.lines.find(({ status }) => status === 302);
    assert.equal(line?.['bytes'], Buffer.byteLength('<p>ö</p>'));
  });

  test('chunks are sent as they are made, and requested only as the client reads', async () => {
    const second = gate();
    const small = chunkedBody(async (index) => {
      if (index === 1) await second.opened;
      return index < 2 ? Buffer.from(`data: ${index}\n\n`) : undefined;
    });
    const endless = chunkedBody(() => Buffer.alloc(262_144));
    const served = await serve(
      (request) => new Response((request.url.endsWith('small') ? small : endless).body),
    );
    const open = (path: string) => {
      const socket = connect(served.address.port, served.address.host);
      socket.write(`GET /lib/${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      return socket;
    };
    const reader = open('small');
    let text = '';
    reader.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await eventually(() => text.includes('data: 0'));
    second.open();
    await eventually(() => text.endsWith('\r\n0\r\n\r\n'));
    // The connection continues.
    reader.write('GET /api/none HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await eventually(() => text.includes('NOT_FOUND'));
    reader.destroy();
    const sleeper = open('endless').pause();
    let count = -1;
    await eventually(() => {
      const isStill = endless.progress.pulledCount > 0 && endless.progress.pulledCount === count;
      count = endless.progress.pulledCount;
      return isStill;
    });
    assert.ok(count < 200, `${count} pieces`);
    sleeper.destroy();
    await eventually(() => endless.progress.isCancelled);
    await eventually(() => served.pipeline.memory.usedSize === 0);
    await eventually(() => served.lines.some((line) => line['status'] === 499));
  });

  test('nothing of a request remains after its response', async () => {
    const made: WeakRef<Request>[] = [];
    const served = await serve((request) => {
      made.push(new WeakRef(request));
      return request.url.endsWith('empty')
        ? new Response(null, { status: 204 })
        : new Response('a');
    });
    for (let i = 0; i < 20; i++)
      await sendRaw(served, {
        method: 'POST',
        path: i % 2 === 0 ? '/lib/a' : '/lib/empty',
        body: 'a',
      });
    await eventually(() => {
      collectGarbage();
      return made.every((one) => one.deref() === undefined);
    });
    assert.equal(made.length, 20);
  });

  test('a disconnecting client aborts the signal of its request, before and during the answer', async () => {
    const signals: AbortSignal[] = [];
    let observedCount = 0;
    const silent = chunkedBody(() => gate<undefined>().opened);
    const served = await serve(async (request, { fetchRequest }) => {
      signals.push(request.signal);
      fetchRequest().signal.addEventListener('abort', () => observedCount++);
      if (request.url.endsWith('never')) await gate().opened;
      return new Response(silent.body);
    });
    for (const path of ['never', 'silent']) {
      const socket = connect(served.address.port, served.address.host);
      socket.write(`GET /lib/${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      await eventually(() => signals.length === (path === 'never' ? 1 : 2));
      if (path === 'silent') await eventually(() => silent.progress.pulledCount === 1);
      // Of the request nothing but its signal is in use any more.
      collectGarbage();
      socket.destroy();
      await eventually(() => signals.every(({ aborted }) => aborted));
    }
    await eventually(() => silent.progress.isCancelled);
    assert.equal(observedCount, 2);
  });

  test('a failing or non-binary body ends the connection, and is logged', async () => {
    const served = await serve((request) => {
      const { body } = chunkedBody((index) => {
        if (index === 0) return Buffer.from('begin');
        if (request.url.endsWith('text')) return 'text' as never;
        throw new Error('lost');
      });
      return new Response(body);
    });
    for (const path of ['/lib/text', '/lib/fault'])
      await assert.rejects(sendRaw(served, { path }), /aborted|hang up|ECONNRESET/);
    const faults = served.lines.filter(({ message }) => message === 'request failed unexpectedly');
    assert.match(JSON.stringify(faults), /not of bytes|but bytes.*lost/);
  });

  test('a caller who loses the credential during a response gets no more of it', async () => {
    const more = gate();
    const { body, progress } = chunkedBody(async (index) => {
      if (index > 0) await more.opened;
      return Buffer.from(`piece ${index} `);
    });
    const env = { TRAWL_OWNER_EMAIL: 'o@example.com', TRAWL_OWNER_API_KEY: OWNER_KEY };
    let owner: Person | undefined;
    const served = await serve(
      (_, { caller }) => {
        owner = caller?.person;
        return new Response(body);
      },
      {},
      { ...env, TRAWL_ANONYMOUS_ACCESS: 'false' },
    );
    const socket = connect(served.address.port, served.address.host);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const isClosed = new Promise((resolve) => {
      socket.once('close', resolve);
    });
    const head = `GET /lib/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${OWNER_KEY}\r\n\r\n`;
    socket.write(head);
    await eventually(() => text.includes('piece 0'));
    const { keys } = served.control.accounts;
    const [key] = await keys.list(owner!);
    await keys.remove(undefined, key!.id);
    more.open();
    await isClosed;
    assert.doesNotMatch(text, /piece 1/);
    assert.equal(progress.isCancelled, true);
  });

  test('a body that fails while it is cancelled ends nothing else', async () => {
    const served = await serve((request) => {
      if (request.url.endsWith('failed'))
        return new Response(new ReadableStream({ start: (to) => to.error(new Error('lost')) }));
      const cancel = () => Promise.reject(new Error('not now'));
      return new Response(new ReadableStream({ cancel }, { highWaterMark: 0 }));
    });
    for (const name of ['failed', 'stubborn'])
      assert.equal((await sendRaw(served, { method: 'HEAD', path: `/lib/${name}` })).status, 200);
    // An unhandled rejection fails the test.
    await new Promise(setImmediate);
  });

  test('an invalid response, or one already read, is an internal error', async () => {
    const served = await serve((request) => {
      if (request.url.endsWith('error')) return Response.error();
      const read = new Response('text');
      read.body!.getReader();
      return read;
    });
    for (const name of ['error', 'read'])
      assert.equal((await sendRaw(served, { path: `/lib/${name}` })).status, 500, name);
    await eventually(() => served.pipeline.memory.usedSize === 0);
  });

  test('small and empty chunks available at once let others run', async () => {
    const streams = [0, 1].map((size) => chunkedBody(() => new Uint8Array(size)));
    const served = await serve(
      (request) => new Response(streams[Number(request.url.at(-1))]!.body),
    );
    const sockets = streams.map((_, size) => {
      const socket = connect(served.address.port, served.address.host).pause();
      socket.write(`GET /lib/${size} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      return socket;
    });
    await eventually(() => streams.every(({ progress }) => progress.pulledCount > 1000));
    let count = -1;
    await eventually(() => {
      const isStill = streams[1]!.progress.pulledCount === count;
      count = streams[1]!.progress.pulledCount;
      return isStill;
    });
    for (const socket of sockets) socket.destroy();
    await eventually(() => streams.every(({ progress }) => progress.isCancelled));
  });

  test('a body requested twice is read once; after the answer it is gone', async () => {
    const answered = gate();
    const late: Promise<unknown>[] = [];
    const served = await serve(async (request, { fetchRequest }) => {
      const more = fetchRequest();
      if (request.url.endsWith('twice'))
        return Response.json(await Promise.all([request.text(), more.text()]));
      const hasStarted = request.url.endsWith('begun');
      late.push(
        assert.rejects(hasStarted ? request.text() : answered.opened.then(() => request.text())),
      );
      return new Response('soon');
    });
    const twice = await sendRaw(served, { method: 'POST', path: '/lib/twice', body: 'text' });
    assert.equal(twice.body.toString(), '["text","text"]');
    for (const name of ['begun', 'later']) {
      const socket = connect(served.address.port, served.address.host);
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.write(
        `POST /lib/${name} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nsome`,
      );
      await eventually(() => text.endsWith('\r\n0\r\n\r\n'));
      answered.open();
      await late.pop();
      socket.destroy();
    }
  });

  test('a disconnect is noticed while a large body is not read', async () => {
    const { body, progress } = chunkedBody(async (index) =>
      index === 0 ? Buffer.from('begin') : gate<undefined>().opened,
    );
    const served = await serve(() => new Response(body), {}, {}, { requestTimeoutMs: 300 });
    const socket = connect(served.address.port, served.address.host);
    socket.write('POST /lib/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 400000\r\n\r\n');
    socket.write('x'.repeat(400_000));
    await eventually(() => progress.pulledCount === 2);
    socket.destroy();
    await eventually(() => progress.isCancelled);
    await eventually(() => served.pipeline.memory.usedSize === 0);
  });

  test('a path that the standard normalises to another one is refused', async () => {
    const served = await serve((request) => new Response(request.url));
    for (const rest of ['../other', '%2e%2E/other', '.', 'a\\..\\..\\..\\other', 'a#b'])
      assert.equal((await sendRaw(served, { path: `/lib/${rest}` })).status, 404, rest);
    for (const rest of ['%2e%2e%2fother', '', '/', 'a.b/..c', '%5C', '{x}'])
      assert.equal((await sendRaw(served, { path: `/lib/${rest}` })).status, 200, rest);
  });
});
