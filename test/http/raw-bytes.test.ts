// Bytes on a connection, and the required replies: valid requests of HTTP/1.1 and 1.0 are answered in any form, and
// everything else is refused at once with the error object and all common headers. One table for both adapters. What
// uWebSockets.js cannot do is noted at the case; it is why node:http is the default.
// tier: ci (long)

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { onBothAdapters } from './adapters.ts';
import { startWorld, type World } from './harness.ts';
import { replyAt, type FoundReply } from './wire-replies.ts';

interface Case {
  readonly name: string;
  /** Pieces, each sent when the one before it has left. */
  readonly send: string | readonly string[];
  /** Statuses of the replies, in order. A refusal must be the last. */
  readonly statuses: readonly number[];
  /** The connection is still good behind the last reply; default: where that is not an error of HTTP. */
  readonly keeps?: boolean;
  /** Sends no more behind the last piece. */
  readonly halfCloses?: boolean;
  /** Why uWebSockets.js does otherwise. */
  readonly uws?: string;
  readonly check?: (reply: FoundReply) => void;
}

const HOST = 'Host: localhost\r\n';
const HEALTH = `GET /api/health HTTP/1.1\r\n${HOST}\r\n`;
const BODY = '{"query":"needle","matches":1}';
const CHUNKED = `POST /api/search HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n`;
const CHUNKS = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;

const get = (headers: string, line = 'GET /api/health HTTP/1.1'): string =>
  `${line}\r\n${headers}\r\n`;
const post = (headers: string, body: string): string =>
  `POST /api/search HTTP/1.1\r\n${HOST}${headers}\r\n${body}`;
const SEARCH = post(`Content-Length: ${BODY.length}\r\n`, BODY);

const OLD_PARSER = 'its parser knows letters, digits and the hyphen only, and waits for ever';
const WAITS = 'its parser waits for more, and gives up after 10 s without a word';
const BARE = 'refuses within the library, by a page of its own';
const DROPS = 'drops the connection of a client that pipelines or that sends no more';

/** @param uws  why uWebSockets.js does otherwise */
const answered =
  (status: number) =>
  (name: string, send: string | readonly string[], uws?: string): Case => ({
    name,
    send,
    statuses: [status],
    ...(uws === undefined ? {} : { uws }),
  });
const legal = answered(200);
const illegal = answered(400);

/** RFC 9110 5.6.2, letters and digits aside. */
const TOKEN_MARKS = "!#$%&'*+-.^_`|~".split('');

const LEGAL_HEADS: readonly Case[] = [
  ...TOKEN_MARKS.map((mark) => ({
    name: `header name with ${mark}`,
    send: get(`${HOST}X${mark}Custom: 1\r\n`),
    statuses: [200],
    ...(mark === '-' ? {} : { uws: OLD_PARSER }),
  })),
  legal('header name of digits', get(`${HOST}123: 1\r\n`)),
  legal('host in another case, blanks around values', get('hOsT:\t localhost \t\r\n')),
  legal('empty value', get(`${HOST}X-Empty:\r\n`)),
  legal('value with bytes above 127', get(`${HOST}X-Name: gr\xfc\xdfe\r\n`)),
  legal(
    '150 headers',
    get(`${HOST}${Array.from({ length: 150 }, (_, i) => `X-${i}: 1\r\n`).join('')}`),
    'takes fewer than 100 headers',
  ),
  legal('2,500 headers', get(`${HOST}${'a:\r\n'.repeat(2500)}`), 'takes fewer than 100 headers'),
  legal(
    'a head of 15 KiB',
    get(`${HOST}X-Long: ${'a'.repeat(15_000)}\r\n`),
    'takes heads of 4 KiB where they come in pieces',
  ),
  legal('the same unknown header twice', get(`${HOST}A: 1\r\nA: 2\r\n`)),
  legal('empty lines before the request', `\r\n\r\n${HEALTH}`, BARE),
  legal('a host with a port', get('Host: localhost:1234\r\n')),
  {
    name: 'a host that is not served',
    send: get('Host: evil.example\r\n'),
    statuses: [403],
    keeps: true,
  },
];

const LEGAL_LINES: readonly Case[] = [
  {
    name: 'absolute form',
    send: get(HOST, 'GET http://localhost/api/version HTTP/1.1'),
    statuses: [200],
    uws: BARE,
    check: (reply) => assert.match(reply.body.toString(), /"version"/),
  },
  {
    name: 'absolute form without a path',
    send: get(HOST, 'GET http://localhost:80 HTTP/1.1'),
    statuses: [200],
    keeps: true,
    uws: BARE,
  },
  legal(
    'absolute form with a query',
    get(HOST, 'GET HTTP://localhost/api/health?a=b HTTP/1.1'),
    BARE,
  ),
  {
    name: 'absolute form: its host counts',
    send: get(HOST, 'GET http://evil.example/api/health HTTP/1.1'),
    statuses: [403],
    keeps: true,
    uws: BARE,
  },
  {
    name: 'OPTIONS *',
    send: get(HOST, 'OPTIONS * HTTP/1.1'),
    statuses: [204],
    uws: BARE,
    check: (reply) => assert.match(reply.headers['allow'] ?? '', /^GET, HEAD, POST/),
  },
  {
    name: 'GET *',
    send: get(HOST, 'GET * HTTP/1.1'),
    statuses: [404],
    keeps: true,
    uws: BARE,
    check: ({ body }) => assert.match(body.toString(), /"Not found: \*\. GET \/api\//),
  },
  {
    name: 'HTTP/1.0',
    send: get(HOST, 'GET /api/health HTTP/1.0'),
    statuses: [200],
    keeps: false,
    uws: BARE,
  },
  {
    name: 'HTTP/1.0 without Host',
    send: get('', 'GET /api/health HTTP/1.0'),
    statuses: [200],
    keeps: false,
    uws: BARE,
  },
  {
    name: 'HTTP/1.0 with keep-alive',
    send: get(`${HOST}Connection: keep-alive\r\n`, 'GET /api/health HTTP/1.0'),
    statuses: [200],
    keeps: true,
    uws: BARE,
    check: (reply) => assert.equal(reply.headers['connection'], 'keep-alive'),
  },
  {
    name: 'HTTP/1.0 with a body',
    send: `POST /api/search HTTP/1.0\r\n${HOST}Content-Length: ${BODY.length}\r\n\r\n${BODY}`,
    statuses: [200],
    keeps: false,
    uws: BARE,
  },
  {
    name: 'Connection: close',
    send: get(`${HOST}Connection: close\r\n`),
    statuses: [200],
    keeps: false,
  },
  legal(
    'an upgrade that is not wanted',
    get(`${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n`),
  ),
  { name: 'HEAD', send: get(HOST, 'HEAD /api/none HTTP/1.1'), statuses: [404], keeps: true },
  {
    name: 'HEAD has the size of the body of GET',
    send: get(HOST, 'HEAD /api/health HTTP/1.1'),
    statuses: [200],
    check: ({ headers }) =>
      assert.equal(headers['content-length'], String('{"status":"ok"}'.length)),
  },
  {
    name: 'OPTIONS: methods, and no CORS',
    send: get(`${HOST}Origin: http://other\r\n`, 'OPTIONS /api/repos HTTP/1.1'),
    statuses: [204],
    check({ headers }) {
      assert.equal(headers['allow'], 'GET, HEAD, OPTIONS');
      assert.doesNotMatch(Object.keys(headers).join(), /access-control/);
    },
  },
  {
    name: 'PROPFIND',
    send: get(HOST, 'PROPFIND /api/health HTTP/1.1'),
    statuses: [405],
    keeps: true,
  },
];

const LEGAL_BODIES: readonly Case[] = [
  legal('a body with a length', SEARCH),
  legal('a body in chunks', `${CHUNKED}\r\n${CHUNKS}`),
  legal('the coding in capitals', `${CHUNKED.replace('chunked', 'Chunked')}\r\n${CHUNKS}`),
  legal('chunk extensions', `${CHUNKED}\r\n${CHUNKS.replace('\r\n', ';a=b;c="d"\r\n')}`, WAITS),
  legal(
    'trailers',
    `${CHUNKED}Trailer: X-A\r\n\r\n${CHUNKS.replace(/\r\n$/, 'X-A: 1\r\n\r\n')}`,
    WAITS,
  ),
  legal('chunk size with zeros before it', `${CHUNKED}\r\n000${CHUNKS}`),
  {
    name: 'an empty body in chunks is no JSON',
    send: `${CHUNKED}\r\n0\r\n\r\n`,
    statuses: [400],
    keeps: true,
  },
  {
    name: 'a body where none is wanted',
    send: get(`${HOST}Content-Length: 5\r\n`).concat('hello'),
    statuses: [200],
    keeps: true,
  },
  {
    name: 'chunks where none are wanted',
    send: `${get(`${HOST}Transfer-Encoding: chunked\r\n`)}${CHUNKS}`,
    statuses: [200],
    keeps: true,
  },
  { name: 'length 0', send: get(`${HOST}Content-Length: 0\r\n`), statuses: [200], keeps: true },
  {
    name: 'Expect: 100-continue',
    send: [post(`Content-Length: ${BODY.length}\r\nExpect: 100-continue\r\n`, ''), BODY],
    statuses: [100, 200],
  },
  {
    name: 'Expect: 100-continue for a body that is refused',
    send: post('Content-Length: 999999999\r\nExpect: 100-continue\r\n', ''),
    statuses: [413],
    keeps: false,
    uws: 'asks for the body by itself',
  },
  {
    name: 'Expect: 100-continue of HTTP/1.0 is not heeded',
    send: [
      `POST /api/search HTTP/1.0\r\n${HOST}Content-Length: ${BODY.length}\r\nExpect: 100-continue\r\n\r\n`,
      BODY,
    ],
    statuses: [200],
    keeps: false,
    uws: BARE,
  },
  legal('an unknown expectation is not heeded', get(`${HOST}Expect: miracles\r\n`)),
];

const PIPELINES: readonly Case[] = [
  { name: 'three at once', send: HEALTH.repeat(3), statuses: [200, 200, 200] },
  {
    name: 'fifty at once',
    send: HEALTH.repeat(50),
    statuses: Array.from({ length: 50 }, () => 200),
  },
  {
    name: 'a search, then others',
    send: `${SEARCH}${HEALTH}${SEARCH}${HEALTH}`,
    statuses: [200, 200, 200, 200],
  },
  {
    name: 'with bodies in chunks between',
    send: `${CHUNKED}\r\n${CHUNKS}${HEALTH}${CHUNKED}\r\n${CHUNKS}`,
    statuses: [200, 200, 200],
  },
  { name: 'one, and no more', send: HEALTH, statuses: [200], keeps: false, halfCloses: true },
  {
    name: 'several, and no more',
    send: `${SEARCH}${HEALTH}${HEALTH}`,
    statuses: [200, 200, 200],
    keeps: false,
    halfCloses: true,
  },
  {
    name: 'nonsense behind a request',
    send: `${SEARCH}${HEALTH}nonsense\r\n\r\n`,
    statuses: [200, 200, 400],
    uws: DROPS,
  },
  {
    name: 'another Host behind a request',
    send: `${HEALTH}${get(`${HOST}${HOST}`)}`,
    statuses: [200, 400],
  },
  {
    name: 'byte by byte',
    send: `${HEALTH}${SEARCH}`.split(''),
    statuses: [200, 200],
    uws: 'takes half of a request line for HTTP/1.0',
  },
  {
    name: 'nonsense byte by byte',
    send: 'GET /api/health\r\n\r\n'.split(''),
    statuses: [400],
    uws: WAITS,
  },
];

const ILLEGAL_HEADS: readonly Case[] = [
  illegal('no Host', get(''), WAITS),
  illegal('two Hosts', get(`${HOST}${HOST}`)),
  illegal('two Hosts that differ', get(`${HOST}Host: other\r\n`)),
  illegal('a list as Host', get('Host: localhost other\r\n')),
  illegal('a user in the target', get(HOST, 'GET http://u@localhost/ HTTP/1.1'), BARE),
  illegal('blank in a header name', get(`${HOST}X Y: 1\r\n`), WAITS),
  illegal('blank before the colon', get(`${HOST}TE : chunked\r\n`), WAITS),
  illegal('no colon', get(`${HOST}nothing\r\n`), WAITS),
  illegal('empty header name', get(`${HOST}: 1\r\n`), WAITS),
  illegal('header name with @', get(`${HOST}X@Y: 1\r\n`), WAITS),
  illegal('header name with a byte above 127', get(`${HOST}\xfc: 1\r\n`), WAITS),
  illegal('NUL in a value', get(`${HOST}X: a\0b\r\n`), WAITS),
  illegal('CR in a value', get(`${HOST}X: a\rb\r\n`), WAITS),
  illegal('LF without CR', `GET /api/health HTTP/1.1\n${HOST}\r\n`, BARE),
  illegal('a header that ends with LF', get('Host: localhost\n'), WAITS),
  illegal('a folded line', get(`${HOST}X: a\r\n b\r\n`), WAITS),
  illegal('a blank before the first header', get(` X: a\r\n${HOST}`), WAITS),
  {
    name: '200 KB of headers',
    send: get(`${HOST}${`X-Long: ${'a'.repeat(1000)}\r\n`.repeat(200)}`),
    statuses: [431],
    uws: BARE,
  },
  {
    name: 'a target of 20 KB',
    send: get(HOST, `GET /${'a'.repeat(20_000)} HTTP/1.1`),
    statuses: [431],
  },
  { name: 'a header of 20 KB', send: get(`${HOST}X: ${'a'.repeat(20_000)}\r\n`), statuses: [431] },
];

const ILLEGAL_LINES: readonly Case[] = [
  illegal('no version', 'GET /api/health\r\n\r\n', BARE),
  illegal('HTTP/2.0', get(HOST, 'GET /api/health HTTP/2.0'), BARE),
  illegal('the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', BARE),
  illegal('HTTP/0.9', get(HOST, 'GET /api/health HTTP/0.9'), BARE),
  illegal('a TLS client', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', WAITS),
  illegal('a target without a slash', get(HOST, 'GET api/health HTTP/1.1'), BARE),
  illegal('a blank in the target', get(HOST, 'GET /api/he alth HTTP/1.1'), BARE),
  illegal('a method that is none', get(HOST, 'G@T /api/health HTTP/1.1'), 'looks at no method'),
  illegal('CONNECT', get(HOST, 'CONNECT localhost:80 HTTP/1.1'), BARE),
];

const ILLEGAL_BODIES: readonly Case[] = [
  illegal('two lengths that differ', post('Content-Length: 5\r\nContent-Length: 6\r\n', 'hello')),
  illegal('two lengths that agree', post('Content-Length: 5\r\nContent-Length: 5\r\n', 'hello')),
  illegal('a list of lengths', post('Content-Length: 5, 5\r\n', 'hello'), BARE),
  ...['+5', '-5', '0x5', '5.0', '', 'five', '99999999999999999999'].map((length) => ({
    name: `length "${length}"`,
    send: post(`Content-Length: ${length}\r\n`, 'hello'),
    statuses: [400],
    uws: BARE,
  })),
  illegal('length and chunks', `${CHUNKED}Content-Length: 5\r\n\r\n${CHUNKS}`, BARE),
  ...[
    'xchunked',
    'chunked, identity',
    'identity',
    'gzip, chunked',
    'chunked, chunked',
    'gzip',
    '"chunked"',
  ].map((coding) => ({
    name: `transfer coding ${coding}`,
    send: `${CHUNKED.replace('chunked', coding)}\r\n${CHUNKS}`,
    statuses: [400],
  })),
  illegal('two transfer codings', `${CHUNKED}Transfer-Encoding: chunked\r\n\r\n${CHUNKS}`),
  illegal('chunks in HTTP/1.0', `${CHUNKED.replace('1.1', '1.0')}\r\n${CHUNKS}`, BARE),
  illegal('chunk size that is no number', `${CHUNKED}\r\nxyz\r\n`, BARE),
  illegal('chunk size too large', `${CHUNKED}\r\n${'f'.repeat(17)}\r\n`, BARE),
  illegal('chunk longer than its size', `${CHUNKED}\r\n2\r\n{"query"\r\n0\r\n\r\n`, BARE),
  illegal('chunk size that ends with LF', `${CHUNKED}\r\n5\n`, BARE),
];

/** Bytes that come back until `isDone` or the end of the connection. */
async function exchange(
  { server }: World,
  { send, halfCloses = false }: Case,
  isDone: (received: string) => boolean,
): Promise<{ received: string; isClosed: boolean; probe: () => Promise<string> }> {
  const socket = connect(server.address.port, server.address.host);
  socket.setNoDelay(true).setEncoding('latin1');
  let received = '';
  let isClosed = false;
  let check = (): void => {};
  socket.on('data', (text: string) => {
    received += text;
    check();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
    check();
  });
  const settled = (isOver: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      check = () => void ((isOver() || isClosed) && resolve());
      check();
    });
  for (const chunk of typeof send === 'string' ? [send] : send) {
    await new Promise((resolve) => {
      socket.write(Buffer.from(chunk, 'latin1'), resolve);
    });
    await new Promise(setImmediate);
  }
  if (halfCloses) socket.end();
  await settled(() => isDone(received));
  const probe = async (): Promise<string> => {
    const before = received.length;
    if (!isClosed) socket.write(HEALTH);
    await settled(() => received.slice(before).includes('{"status":"ok"}'));
    socket.destroy();
    return received.slice(before);
  };
  return { received, isClosed, probe };
}

function repliesOf(received: string, count: number, method: string): FoundReply[] {
  const replies: FoundReply[] = [];
  let rest = received;
  while (replies.length < count) {
    const found = replyAt(rest, method);
    if (found === undefined) break;
    replies.push(found);
    rest = rest.slice(found.size);
  }
  return replies;
}

function checkError(reply: FoundReply, method: string): void {
  assert.match(reply.headers['content-type'] ?? '', /^application\/json/);
  if (method === 'HEAD') return;
  const error = JSON.parse(reply.body.toString()) as Record<string, unknown>;
  assert.deepEqual(Object.keys(error), ['statusCode', 'errorCode', 'message']);
  assert.equal(error['statusCode'], reply.status);
}

function checkCommon(reply: FoundReply): void {
  assert.match(reply.headers['x-request-id'] ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(reply.headers['x-content-type-options'], 'nosniff');
  assert.equal(reply.headers['x-frame-options'], 'SAMEORIGIN');
  assert.equal(reply.headers['referrer-policy'], 'strict-origin-when-cross-origin');
  assert.match(reply.headers['permissions-policy'] ?? '', /camera=\(\)/);
  assert.match(reply.headers['content-security-policy'] ?? '', /(?:^|; )frame-ancestors 'self'$/);
}

/** Tries again one that sends no more: its client counts as gone after 10 ms, which a busy machine may not keep. */
async function run(world: World, one: Case): Promise<void> {
  for (let i = 0; one.halfCloses === true && i < 9; i++) {
    const isGood = await runOnce(world, one).then(
      () => true,
      () => false,
    );
    if (isGood) return;
  }
  await runOnce(world, one);
}

async function runOnce(world: World, one: Case): Promise<void> {
  const { statuses, keeps = [1, 2].includes(Math.floor((statuses.at(-1) ?? 0) / 100)) } = one;
  const method = /^(?:\r\n)*([A-Z]+) /.exec([one.send].flat().join(''))?.[1] ?? 'GET';
  const read = (text: string): FoundReply[] => repliesOf(text, statuses.length, method);
  const { received, probe } = await exchange(
    world,
    one,
    (text) => read(text).length === statuses.length,
  );
  const replies = read(received);
  assert.deepEqual(
    replies.map(({ status }) => status),
    statuses,
    received.slice(0, 2000),
  );
  for (const reply of replies) {
    if (reply.status === 100) continue;
    checkCommon(reply);
    if (reply.status >= 400) checkError(reply, method);
  }
  const last = replies.at(-1);
  if (last !== undefined) one.check?.(last);
  const answer = await probe();
  if (keeps) assert.match(answer, /^HTTP\/1\.1 200 /);
  else assert.equal(answer, '');
}

const GROUPS: Readonly<Record<string, readonly Case[]>> = {
  'legal heads': LEGAL_HEADS,
  'legal request lines': LEGAL_LINES,
  'legal bodies': LEGAL_BODIES,
  'several requests': PIPELINES,
  'illegal heads': ILLEGAL_HEADS,
  'illegal request lines': ILLEGAL_LINES,
  'illegal bodies': ILLEGAL_BODIES,
};

/** Refused since two readers may find different ends of them; what comes behind one is nobody's request. */
const REFUSED: readonly string[] = [
  post(`Content-Length: ${BODY.length}\r\nContent-Length: 5\r\n`, BODY),
  post(`Content-Length: 5\r\nContent-Length: ${BODY.length}\r\n`, BODY),
  get(`${HOST}Content-Length: 0\r\nContent-Length: 0\r\n`, 'HEAD /api/health HTTP/1.1'),
  ...['xchunked', 'identity', 'chunked, identity', '"chunked"'].map(
    (coding) => `${CHUNKED.replace('chunked', coding)}\r\n${CHUNKS}`,
  ),
  `${CHUNKED}Transfer-Encoding: chunked\r\n\r\n${CHUNKS}`,
  get(`${HOST}${HOST}`),
  get(`${HOST}${HOST}`, 'HEAD /api/health HTTP/1.1'),
];

onBothAdapters('bytes of HTTP', (kind) => {
  test('nothing is answered after a refused request, and the connection closes', async () => {
    const world = await startWorld({ kind });
    for (const refused of REFUSED)
      for (const send of [`${refused}${HEALTH}`, [refused, HEALTH]]) {
        const isAnswered = (text: string): boolean => text.includes('"status":"ok"');
        const { received, isClosed } = await exchange(
          world,
          { name: '', send, statuses: [] },
          isAnswered,
        );
        assert.ok(isClosed && !isAnswered(received), `${JSON.stringify(send)}: ${received}`);
      }
  });

  for (const [name, cases] of Object.entries(GROUPS)) {
    test(name, async () => {
      const world = await startWorld({ kind });
      const failures: string[] = [];
      for (const one of cases) {
        if (kind === 'uws' && one.uws !== undefined) continue;
        await run(world, one).catch((error: unknown) => {
          failures.push(`${one.name}: ${String(error)}`);
        });
      }
      assert.deepEqual(failures, []);
    });
  }
});
