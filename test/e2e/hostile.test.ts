// A real daemon under requests made from its own description, on both HTTP servers: each is answered as the
// description says, never with a fault of the daemon, and the daemon goes on.

import assert from 'node:assert/strict';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import test, { after, before, describe } from 'node:test';
import fc from 'fast-check';
import { loadUws } from '../../daemon/http/uws-adapter.ts';
import { checkReply } from '../api/checker.ts';
import { operationsOf, wholeDocument } from '../api/document.ts';
import { requestsFor } from '../api/requests.ts';
import type { MadeRequest, Vocabulary } from '../api/requests.ts';
import { makeRepo, temporaryFolder } from '../repos/fixture.ts';
import { get, post, serveIndexed } from './daemon.ts';
import type { Served } from './daemon.ts';

const KEY = `svk_${'0123456789abcdef'.repeat(4)}`;
const OWNER = { TRAWL_OWNER_EMAIL: 'owner@example.com', TRAWL_OWNER_API_KEY: KEY };
const CREDENTIAL = { Authorization: `Bearer ${KEY}` };

/** Requests for each operation. */
const RUNS = 300;

const repo = makeRepo({ 'a.txt': 'plum\n', 'src/b.ts': 'const pear = 1;\n', 'c.bin': '\0\0' });
const dataDir = temporaryFolder();
const document = wholeDocument();
const agent = new Agent({ keepAlive: true, maxSockets: 4 });
after(() => agent.destroy());

interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

function send(url: string, { method, path, headers, body }: MadeRequest): Promise<Received> {
  const framing = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const options = { agent, method, path, headers: { ...headers, ...framing } };
    const call = httpRequest(url, options, (reply) => {
      const parts: Buffer[] = [];
      reply.on('data', (part: Buffer) => parts.push(part));
      reply.on('error', reject);
      reply.on('end', () =>
        resolve({
          status: reply.statusCode ?? 0,
          headers: reply.headers,
          body: Buffer.concat(parts),
        }),
      );
    });
    call.on('error', reject);
    call.end(body);
  });
}

/** The status of an answer that is as described and no fault of the daemon. */
async function statusOf(url: string, made: MadeRequest): Promise<number> {
  const reply = await send(url, made);
  checkReply({ ...made, accept: made.headers['Accept'] }, reply);
  assert.notEqual(reply.status, 500);
  return reply.status;
}

/** Resolves once the connection that the bytes were sent on is over, or has brought something. */
function sendBytes(url: string, bytes: Uint8Array): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    socket.on('close', () => resolve());
    socket.on('data', () => socket.destroy());
    socket.end(bytes);
  });
}

const uwsFailure = await loadUws().then(
  () => undefined,
  (error: unknown) => String(error).split('\n')[0],
);

for (const kind of ['node', 'uws']) {
  const skip = kind === 'uws' && uwsFailure !== undefined ? uwsFailure : false;
  describe(`hostile requests on ${kind}`, { skip }, () => {
    let served: Served;
    let vocabulary: Vocabulary;

    before(async () => {
      served = await serveIndexed(dataDir, [repo], { env: { ...OWNER, TRAWL_HTTP: kind } });
      const { body } = await get<{ repoName: string }[]>(`${served.url}/api/repos`, CREDENTIAL);
      const words = {
        repo: body.map(({ repoName }) => repoName),
        path: ['a.txt', 'src/b.ts', 'src', 'none'],
        ref: ['HEAD', 'none', ''],
        file: ['page.js', 'swagger-ui.css', 'none'],
      };
      vocabulary = { words, credential: CREDENTIAL };
    });
    after(() => served.process.stop());

    for (const named of operationsOf(document)) {
      test(`${named.method} ${named.path}`, async () => {
        const statuses = new Set<number>();
        await fc.assert(
          fc.asyncProperty(requestsFor(named, document, vocabulary), async (made) => {
            statuses.add(await statusOf(served.url, made));
          }),
          { numRuns: RUNS },
        );
        assert.ok(statuses.has(200) && statuses.size > 1, `only ${[...statuses].join(', ')}`);
      });
    }

    test('paths that do not exist', async () => {
      const path = fc.webPath({ size: 'small' }).map((text) => text.replace(/^\/*/, '/'));
      const made = fc.record({
        method: fc.constantFrom('GET', 'POST', 'DELETE', 'OPTIONS', 'HEAD'),
        path: fc.oneof(
          path,
          path.map((text) => `/api${text}`),
          fc.constant('/api/%2e%2e/health'),
        ),
        headers: fc.constant({}),
      });
      await fc.assert(
        fc.asyncProperty(made, async (one) => void (await statusOf(served.url, one))),
        { numRuns: RUNS },
      );
    });

    test('bytes that are no HTTP end the connection, nothing else', async () => {
      const start = fc.constantFrom(
        '',
        'GET ',
        'GET /api/health HTTP/1.1\r\n',
        'POST /api/search ',
      );
      await fc.assert(
        fc.asyncProperty(start, fc.uint8Array({ minLength: 1, maxLength: 400 }), (text, bytes) =>
          sendBytes(served.url, Buffer.concat([Buffer.from(text), bytes])),
        ),
        { numRuns: RUNS },
      );
    });

    test('the daemon goes on, and has met no fault of its own', async () => {
      const { status, body } = await post(served.url, { query: 'plum' }, CREDENTIAL);
      assert.equal(status, 200);
      assert.deepEqual(
        body.files.map(({ fileName }) => fileName.text),
        ['a.txt'],
      );
      assert.doesNotMatch(served.process.stderr, / ERROR |failed unexpectedly|\n\s+at /);
    });
  });
}
