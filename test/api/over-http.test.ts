// Requests over HTTP get the same answers as in process, on each adapter.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { adapters } from '../http/adapters.ts';
import { sendRaw, type RawCall, type RawReply } from '../http/raw-client.ts';
import { sendInProcess } from '../http/in-process.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { startApp } from './app.ts';

const source = makeRepo({ 'a.py': 'plum = 1\n'.repeat(10_000), 'empty.txt': '' });
const FILE = `repo=local/${path.basename(source)}&path=`;
const JSON_TYPE = { 'content-type': 'application/json' };
const SEARCH = JSON.stringify({ query: 'plum', matches: 3 });

const CALLS: readonly RawCall[] = [
  { path: '/api/version' },
  { path: '/api/version', method: 'HEAD' },
  { path: '/api/repos?perPage=0' },
  { path: '/api/nothing' },
  { path: '/api/repos', method: 'DELETE' },
  { path: `/api/source?${FILE}a.py` },
  { path: `/api/source?${FILE}a.py`, headers: { 'accept-encoding': 'gzip' } },
  { path: `/api/raw?${FILE}empty.txt` },
  { path: `/api/raw?${FILE}a.py`, headers: { range: 'bytes=0-3' } },
  { path: `/api/commits?${FILE}a.py` },
  { path: '/api/search', method: 'POST', headers: JSON_TYPE, body: SEARCH },
  { path: '/api/stream_search', method: 'POST', headers: JSON_TYPE, body: SEARCH },
  { path: '/api/search', method: 'POST', headers: JSON_TYPE, body: '{"query"' },
  { path: '/api/search', method: 'POST', headers: JSON_TYPE, body: ' '.repeat(2_000_000) },
  { path: '/api/auth/logout', method: 'POST', headers: { origin: 'https://evil.example' } },
  { path: '/%zz' },
];

/** Headers of the connection, and those new in each answer; bodies with times vary in length. */
const VARYING =
  /^(?:connection|keep-alive|transfer-encoding|date|x-request-id|uwebsockets|content-length)$/;
const TIMES = /"(duration|wait|matchTree\w+)":\d+/g;

function comparable({ status, headers, body }: RawReply): unknown {
  const kept = Object.entries(headers).filter(([name]) => !VARYING.test(name));
  return { status, kept, body: body.toString('latin1').replaceAll(TIMES, '"$1":0') };
}

for (const kind of adapters()) {
  test(`the same answers through ${kind} and in process`, async () => {
    const app = await startApp([source], { dataDir: temporaryFolder(), env: { TRAWL_HTTP: kind } });
    const { hostname, port } = new URL(app.url);
    const address = { host: hostname, port: Number(port) };
    for (const call of CALLS) {
      const headers = { ...call.headers, host: `${hostname}:${port}` };
      const [sent, inProcess] = [
        await sendRaw({ address }, { ...call, headers }),
        await sendInProcess(app.daemon, { ...call, headers }),
      ];
      const label = `${call.method ?? 'GET'} ${call.path}`;
      assert.deepEqual(comparable(sent), comparable(inProcess), label);
    }
  });
}
