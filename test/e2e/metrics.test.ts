// The metrics of a running daemon (API.md 24.1): requests and searches are counted, OPERATIONS.md lists what is there, no
// label names what must stay hidden, and nothing else is served.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { before, test } from 'node:test';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { get, post, search, send, serveIndexed, startTrawl, type Served } from './daemon.ts';
import { samplesIn, type Sample } from './metrics-text.ts';

const FLAGS = ['--anonymous'];
let served: Served;
let address: string;

async function scrape(): Promise<readonly Sample[]> {
  const answer = await fetch(address);
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  return samplesIn(await answer.text());
}

/** The value of the one sample with these labels. */
async function valueOf(name: string, labels: Readonly<Record<string, string>>): Promise<number> {
  const found = (await scrape()).filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([key, v]) => sample.labels[key] === v),
  );
  assert.ok(found.length <= 1, `${name}: ${found.length} samples`);
  return found[0]?.value ?? 0;
}

function codesIn(text: string): string[] {
  return [...text.matchAll(/`(\w+)`/g)].map(([, one = '']) => one);
}

before(async () => {
  const repo = makeRepo({ 'secret-plum.txt': 'plum\nplum\n' });
  const config = path.join(temporaryFolder(), 'trawl.json');
  writeFileSync(config, JSON.stringify({ settings: { maxSourceBytes: 9 } }));
  served = await serveIndexed(temporaryFolder(), [repo], {
    env: { TRAWL_METRICS_PORT: '0' },
    flags: [...FLAGS, '--config', config],
  });
  const [, url = ''] = await served.process.until(/metrics are served url=(\S+)/);
  address = url.replaceAll('"', '');
});

test('a search counts with its endpoint, kind, outcome and phases', async () => {
  const ofSearch = { endpoint: '/api/search', method: 'POST', status: '2xx' };
  assert.equal(await valueOf('trawl_http_request_duration_seconds_count', ofSearch), 0);
  await search(served.url, 'plum');
  await search(served.url, 'plum', { matches: 1 });
  assert.equal(await valueOf('trawl_http_request_duration_seconds_count', ofSearch), 2);
  for (const outcome of ['exhaustive', 'limited']) {
    const labels = { kind: 'search', outcome };
    assert.equal(await valueOf('trawl_search_duration_seconds_count', labels), 1);
    assert.ok((await valueOf('trawl_search_duration_seconds_sum', labels)) > 0);
  }
  for (const phase of ['wait', 'bind', 'match'])
    assert.equal(
      await valueOf('trawl_search_phase_seconds_count', { kind: 'search', phase }),
      2,
      phase,
    );
});

test('a stream counts at its end', async () => {
  const { body } = await send(`${served.url}/api/stream_search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ query: 'plum', matches: 10 })),
  });
  assert.match(String(body), /\[DONE\]/);
  const labels = { kind: 'stream', outcome: 'exhaustive' };
  assert.equal(await valueOf('trawl_search_duration_seconds_count', labels), 1);
  const request = { endpoint: '/api/stream_search', status: '2xx' };
  assert.equal(await valueOf('trawl_http_request_duration_seconds_count', request), 1);
});

test('refusals count by class of status and by code', async () => {
  assert.equal((await post(served.url, { query: '(', isRegexEnabled: true })).status, 400);
  assert.equal((await fetch(`${served.url}/nowhere/plum`)).status, 404);
  assert.equal(await valueOf('trawl_http_errors_total', { code: 'FAILED_TO_PARSE_QUERY' }), 1);
  assert.equal(await valueOf('trawl_http_errors_total', { code: 'NOT_FOUND' }), 1);
  const unknown = { endpoint: 'none', method: 'none', status: '4xx' };
  assert.equal(await valueOf('trawl_http_request_duration_seconds_count', unknown), 1);
});

test('a file above maxSourceBytes is no fault', async () => {
  const { body } = await get<{ repoName: string }[]>(`${served.url}/api/repos`);
  for (const endpoint of ['source', 'raw', 'blame']) {
    const call = `${served.url}/api/${endpoint}?repo=${body[0]?.repoName}&path=secret-plum.txt`;
    const answer = await get<{ message: string }>(call);
    assert.equal(answer.status, 500);
    const message = 'File "secret-plum.txt" is too large: 10 bytes, limit 9.';
    assert.deepEqual(answer.body, { statusCode: 500, errorCode: 'UNEXPECTED_ERROR', message });
  }
  assert.equal(await valueOf('trawl_http_errors_total', { code: 'UNEXPECTED_ERROR' }), 0);
  assert.doesNotMatch(served.process.stderr, /request failed unexpectedly/);
});

test('gauges have what the daemon has', async () => {
  assert.equal(await valueOf('trawl_repositories', { state: 'ready' }), 1);
  assert.equal(await valueOf('trawl_repositories', { state: 'failed' }), 0);
  assert.equal(await valueOf('trawl_docs', {}), 1);
  assert.ok((await valueOf('trawl_index_bytes', {})) > 0);
  assert.equal(await valueOf('trawl_store_up', {}), 1);
  assert.ok((await valueOf('trawl_mappings', {})) > 10);
  const completed = { queue: 'repo-index', result: 'completed' };
  assert.equal(await valueOf('trawl_job_attempts_total', completed), 1);
});

test('each thread has memory of V8 and of the core, which grows by what a search needs', async () => {
  const sizes = async (kind: string): Promise<ReadonlyMap<string, number>> => {
    const found = (await scrape()).filter(
      ({ name, labels }) => name === 'trawl_thread_memory_bytes' && labels['kind'] === kind,
    );
    return new Map(found.map(({ labels, value }) => [labels['thread']!, value]));
  };
  const threads = [
    'main',
    ...Array.from({ length: availableParallelism() }, (_, at) => `search-${at + 1}`),
  ];
  const heaps = await sizes('heap');
  assert.deepEqual([...heaps.keys()], threads);
  // An isolate of Node.js alone has some MB.
  for (const [thread, size] of heaps)
    assert.ok(size > 1 << 20 && size < 1 << 30, `${thread}: ${size}`);
  const cores = await sizes('core');
  assert.deepEqual([...cores.keys()], threads);
  const privateSize = await valueOf('trawl_private_bytes', {});
  const sum = [...heaps.values(), ...cores.values()].reduce((total, size) => total + size, 0);
  assert.ok(sum < 1.5 * privateSize, `${sum} of ${privateSize}`);
  await search(served.url, 'pl[a-u]m', { isRegexEnabled: true });
  assert.ok((await sizes('core')).get('main')! > 0);
});

test('OPERATIONS.md lists the metrics with their labels', async () => {
  const [, part = ''] = readFileSync('daemon/OPERATIONS.md', 'utf8').split('\n## Metrics\n');
  const rows = part.split('\n## ')[0]!.matchAll(/^\| (`trawl_.*?) \| (.*?)\|/gm);
  const listed = new Map(
    [...rows].flatMap(([, names = '', labels = '']) =>
      codesIn(names).map((name) => [name, codesIn(labels)] as const),
    ),
  );
  const text = await (await fetch(address)).text();
  const names = [...text.matchAll(/^# TYPE (trawl_\w+) /gm)].map(([, name = '']) => name);
  assert.deepEqual(new Set(names), new Set(listed.keys()));
  for (const { name, labels } of await scrape()) {
    const metric = name.replace(/_(?:bucket|sum|count)$/, '');
    if (!name.startsWith('trawl_')) continue;
    const given = Object.keys(labels).filter((label) => label !== 'le');
    assert.deepEqual(given, listed.get(metric) ?? listed.get(name), name);
  }
});

test('no label holds a query, a repository or a path', async () => {
  const text = await (await fetch(address)).text();
  assert.doesNotMatch(text, /plum|fixture|nowhere/);
  assert.doesNotMatch(text, /^trawl_.*"(?!\/)[^"]*\/[^"]*"/m);
});

test('nothing else is served there, and only to names of this machine', async () => {
  const statusOf = async (url: string, options: object = {}): Promise<number> =>
    (await send(url, { method: 'GET', ...options })).status;
  assert.equal(await statusOf(address), 200);
  assert.equal(await statusOf(address, { method: 'POST' }), 405);
  assert.equal(await statusOf(address.replace('/metrics', '/api/health')), 404);
  assert.equal(await statusOf(address, { headers: { host: 'rebound.example' } }), 403);
  assert.equal(await statusOf(`${served.url}/metrics`), 404);
});

test('a taken port ends the start, with the names of the variables', async () => {
  const { port } = new URL(address);
  const flags = ['serve', '--port', '0', '--data-dir', temporaryFolder(), ...FLAGS];
  const { code, stderr } = await startTrawl(flags, { env: { TRAWL_METRICS_PORT: port } }).ended;
  assert.equal(code, 2, stderr);
  assert.match(stderr, /TRAWL_METRICS_PORT and TRAWL_METRICS_HOST/);
});
