// Traces of a running daemon, sent to a receiver that takes OTLP as JSON over HTTP: which spans there are, what belongs to
// what, what is not in them; and a receiver that refuses, or is gone, changes nothing but the log.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { call, eventually, search, serveIndexed, type Served } from './daemon.ts';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: Pick<Span, 'attributes'>;
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

const SECRET = 'swordfish';
const spans: Span[] = [];
const resources: Pick<Span, 'attributes'>[] = [];
let text = '';
let status = 200;
let server: Server;
let served: Served;

function attribute({ attributes }: Pick<Span, 'attributes'>, name: string): unknown {
  const value = attributes.find(({ key }) => key === name)?.value;
  return value === undefined ? undefined : Object.values(value)[0];
}

async function spanOf(isIt: (span: Span) => boolean): Promise<Span> {
  await eventually(() => Promise.resolve(spans.some(isIt)));
  return spans.find(isIt)!;
}

function childrenOf({ traceId, spanId }: Span): Span[] {
  return spans.filter((span) => span.traceId === traceId && span.parentSpanId === spanId);
}

async function repoName(): Promise<string> {
  const [repo] = (await (await call(`${served.url}/api/repos`)).json()) as { repoName: string }[];
  return encodeURIComponent(repo!.repoName);
}

before(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      assert.equal(request.url, '/v1/traces');
      assert.equal(request.headers.authorization, `Bearer ${SECRET}`);
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
      if (status !== 200) return;
      text += body;
      for (const { resource, scopeSpans } of (JSON.parse(body) as ExportRequest).resourceSpans) {
        resources.push(resource);
        spans.push(...scopeSpans.flatMap((scope) => scope.spans));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const lines = Array.from({ length: 200_000 }, (_, line) => `plum ${line}`).join('\n');
  served = await serveIndexed(temporaryFolder(), [makeRepo({ 'secret-plum.txt': lines })], {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer ${SECRET}`,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=lab',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    },
    flags: ['--anonymous'],
  });
});

after(() => {
  server.closeAllConnections();
  server.close();
});

test('a request is a span with its route and status, and with those who ask for it its parent', async () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
  await call(`${served.url}/api/repos`, { headers: { traceparent, 'x-request-id': 'request-1' } });
  const span = await spanOf((one) => one.traceId === traceId);
  assert.equal(span.parentSpanId, 'b7ad6b7169203331');
  assert.equal(span.name, 'GET /api/repos');
  assert.equal(attribute(span, 'http.route'), '/api/repos');
  assert.equal(attribute(span, 'http.response.status_code'), 200);
  assert.equal(attribute(span, 'trawl.request_id'), 'request-1');
  const [resource] = resources;
  assert.equal(attribute(resource!, 'service.name'), 'trawl');
  assert.equal(attribute(resource!, 'deployment.environment.name'), 'lab');
});

test('a long search has its phases, one after the other within the request', async () => {
  await search(served.url, 'plum', { matches: 200_000 });
  const request = await spanOf(({ name }) => name === 'POST /api/search');
  const phases = childrenOf(request);
  const names = ['parse', 'plan', 'bind', 'search', 'render'];
  assert.deepEqual(phases.map(({ name }) => name).sort(), names.toSorted());
  let lastNs = BigInt(request.startTimeUnixNano);
  for (const name of names) {
    const { startTimeUnixNano, endTimeUnixNano } = phases.find((phase) => phase.name === name)!;
    assert.ok(BigInt(startTimeUnixNano) >= lastNs, name);
    lastNs = BigInt(endTimeUnixNano);
    assert.ok(lastNs >= BigInt(startTimeUnixNano), name);
  }
  assert.ok(lastNs <= BigInt(request.endTimeUnixNano));
});

test('git belongs to the request that needs it; what jobs run stands alone', async () => {
  await call(`${served.url}/api/commits?repo=${await repoName()}`);
  const request = await spanOf(({ name }) => name === 'GET /api/commits');
  const gits = childrenOf(request);
  assert.ok(
    gits.some(({ name }) => name === 'git log'),
    JSON.stringify(gits.map(({ name }) => name)),
  );
  const ofJob = await spanOf(({ name }) => name === 'git ls-files');
  assert.equal(ofJob.parentSpanId, undefined);
});

test('a refused request has its error code', async () => {
  await fetch(`${served.url}/api/search`, { method: 'POST' });
  const refused = await spanOf((span) => attribute(span, 'http.response.status_code') === 400);
  assert.equal(attribute(refused, 'error.type'), 'INVALID_REQUEST_BODY');
});

test('who asks for no trace gets none, and none of what the request calls', async () => {
  const traceId = '1af7651916cd43dd8448eb211c80319c';
  const known = spans.length;
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-00` };
  await call(`${served.url}/api/commits?repo=${await repoName()}`, { headers });
  await call(`${served.url}/api/health`);
  await spanOf(({ name }) => name === 'GET /api/health');
  assert.equal(spans.slice(known).filter((span) => span.traceId === traceId).length, 0);
  assert.ok(spans.slice(known).every(({ name }) => !name.startsWith('git')));
});

test('no span holds a query, a path, a repository or a secret', () => {
  assert.ok(text.length > 0);
  assert.doesNotMatch(text, new RegExp(`plum|${SECRET}|fixture`));
});

test('a receiver that refuses, or is gone, delays nobody: one line of the log says so', async () => {
  status = 400;
  await search(served.url, 'plum', { matches: 1 });
  await served.process.until(/traces are incomplete/);
  server.closeAllConnections();
  server.close();
  for (let count = 0; count < 20; count++) await search(served.url, 'plum', { matches: 1 });
  served.process.child.kill('SIGTERM');
  const { code, stderr } = await served.process.ended;
  assert.equal(code, 0, stderr);
  assert.equal(stderr.match(/traces are incomplete/g)?.length, 1);
  assert.doesNotMatch(stderr, new RegExp(SECRET));
});
