// The order of the checks, by requests with two faults each, and the checks themselves: Host header,
// credentials, roles, admission.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { answerOf, explanationOf } from './answers.ts';
import {
  closeWorlds,
  OTHER_KEY,
  OWNER_KEY,
  SEARCH_BODY,
  eventually,
  gate,
  openWire,
  searchWith,
  startWorld,
  type CallOptions,
} from './harness.ts';
import { adapters } from './adapters.ts';

afterEach(closeWorlds);

const OWNER_ENV = { TRAWL_OWNER_EMAIL: 'o@example.com', TRAWL_OWNER_API_KEY: OWNER_KEY };
const WITH_KEY = { Authorization: `Bearer ${OWNER_KEY}` };

function explainWith(body: unknown, headers: Record<string, string> = {}): CallOptions {
  return { ...searchWith(body, headers), path: '/api/explain' };
}

const BAD_HOST = { Host: 'evil.example' };

test('the first failing check decides', async () => {
  const release = gate();
  const world = await startWorld({
    env: { ...OWNER_ENV },
    settings: { maxRequestBodyBytes: 100, maxConcurrentSearches: 1, maxQueuedSearches: 1 },
    search: async () => {
      await release.opened;
      return answerOf();
    },
  });
  // One search runs, one of two more waits: admission refuses all others.
  const busy = [world.call(searchWith(SEARCH_BODY, WITH_KEY))];
  await eventually(() => world.calls.length === 1);
  busy.push(...[1, 2].map(() => world.call(searchWith(SEARCH_BODY, WITH_KEY))));
  await eventually(() => world.lines.some((line) => line['status'] === 503));

  const big = 'x'.repeat(101);
  const post = { method: 'POST', path: '/api/search' };
  const cases: [string, CallOptions, string][] = [
    ['host, path', { path: '/api/none', headers: BAD_HOST }, 'HOST_NOT_ALLOWED'],
    [
      'host, OPTIONS',
      { method: 'OPTIONS', path: '/api/none', headers: BAD_HOST },
      'HOST_NOT_ALLOWED',
    ],
    ['path, method', { method: 'DELETE', path: '/api/none' }, 'NOT_FOUND'],
    ['method, body', { method: 'PUT', path: '/api/search', body: '{' }, 'METHOD_NOT_ALLOWED'],
    ['method, credential', { path: '/api/search' }, 'METHOD_NOT_ALLOWED'],
    ['size, JSON', { ...post, body: big }, 'REQUEST_BODY_TOO_LARGE'],
    ['size, credential', { ...post, body: big }, 'REQUEST_BODY_TOO_LARGE'],
    ['JSON, credential', { ...post, body: '{' }, 'INVALID_REQUEST_BODY'],
    ['schema, credential', { ...post, body: '{}' }, 'INVALID_REQUEST_BODY'],
    ['parameters, credential', { path: '/api/repos?page=0' }, 'INVALID_QUERY_PARAMS'],
    ['credential, admission', searchWith(SEARCH_BODY), 'NOT_AUTHENTICATED'],
    ['licence, schema', { ...post, path: '/api/ee/users', body: '{}' }, 'INSUFFICIENT_PERMISSIONS'],
    [
      'licence, parameters',
      { path: '/api/ee/audit?page=0', headers: WITH_KEY },
      'INSUFFICIENT_PERMISSIONS',
    ],
    ['credential, repo', { path: '/api/source?repo=none&path=x' }, 'NOT_AUTHENTICATED'],
    ['schema, admission', { ...post, body: '{}', headers: WITH_KEY }, 'INVALID_REQUEST_BODY'],
    ['admission', searchWith(SEARCH_BODY, WITH_KEY), 'SERVER_OVERLOADED'],
    ['explain: method', { path: '/api/explain' }, 'METHOD_NOT_ALLOWED'],
    ['explain: schema, credential', explainWith({ query: 'x' }), 'INVALID_REQUEST_BODY'],
    ['explain: credential, admission', explainWith(SEARCH_BODY), 'NOT_AUTHENTICATED'],
    ['explain: admission', explainWith(SEARCH_BODY, WITH_KEY), 'SERVER_OVERLOADED'],
  ];
  for (const [name, options, errorCode] of cases) {
    const reply = await world.call(options);
    assert.equal(reply.json()['errorCode'], errorCode, name);
  }
  const overloaded = await world.call(searchWith(SEARCH_BODY, WITH_KEY));
  assert.equal(overloaded.status, 503);
  assert.equal(overloaded.headers['retry-after'], '1');
  assert.equal((await world.call({ path: '/api/repos', headers: WITH_KEY })).status, 200);
  release.open();
  const statuses = (await Promise.all(busy)).map((reply) => reply.status);
  assert.deepEqual(
    statuses.sort((a, b) => a - b),
    [200, 200, 503],
  );
  assert.equal((await world.call(searchWith(SEARCH_BODY, WITH_KEY))).status, 200);
});

test('an explanation for an owner is complete, with a limit on context lines', async () => {
  const world = await startWorld({ env: OWNER_ENV });
  const owner = await world.call(explainWith({ ...SEARCH_BODY, contextLines: 200 }, WITH_KEY));
  assert.equal(owner.status, 200);
  assert.deepEqual(owner.json(), { ...explanationOf(SEARCH_BODY.query), shards: [] });
  assert.equal(world.calls[0]?.contextLines, 100);
});

test('Host: loopback names and the base URL are served, others refused', async () => {
  const world = await startWorld({ env: { TRAWL_BASE_URL: 'http://Code.example:8080' } });
  const { port } = world.server.address;
  const status = async (host: string) =>
    (await world.call({ path: '/api/health', headers: { Host: host } })).status;
  const allowed = ['localhost', `localhost:${port}`, 'LOCALHOST:1', '127.0.0.1', '[::1]:3000'];
  for (const host of [...allowed, 'code.example', 'code.example:8080']) {
    assert.equal(await status(host), 200, host);
  }
  const refused = ['evil.example', 'localhost.evil.example', 'evil.example:3000', '127.0.0.2'];
  for (const host of [...refused, 'x@localhost', '0.0.0.0']) {
    assert.equal(await status(host), 403, host);
  }
  await world.close();
  const plain = await startWorld({});
  const reply = await plain.call({ path: '/api/health', headers: { Host: 'code.example' } });
  assert.equal(reply.json()['errorCode'], 'HOST_NOT_ALLOWED');
});

test('Host: bound to other addresses, any name is served', async () => {
  const env = { TRAWL_HOST: '0.0.0.0', TRAWL_ANONYMOUS_ACCESS: 'true' };
  const world = await startWorld({ env });
  const wire = openWire({
    ...world.server,
    address: { ...world.server.address, host: '127.0.0.1' },
  });
  wire.write('GET /api/health HTTP/1.1\r\nHost: any.example\r\n\r\n');
  assert.match(await wire.until('\r\n\r\n{'), /^HTTP\/1\.1 200 /);
  assert.equal(world.server.url, `http://localhost:${world.server.address.port}`);
  wire.socket.destroy();
});

const credentials: [string, Record<string, string | string[]>, boolean][] = [
  ['none', {}, false],
  ['bearer', { Authorization: `Bearer ${OWNER_KEY}` }, true],
  ['bearer in other letters', { AUTHORIZATION: `bEaReR  ${OWNER_KEY}` }, true],
  ['key header', { 'X-Service-Api-Key': OWNER_KEY }, true],
  ['key header in other letters', { 'x-service-API-key': OWNER_KEY }, true],
  ['wrong bearer', { Authorization: `Bearer ${OTHER_KEY}` }, false],
  ['wrong key header', { 'X-Service-Api-Key': OTHER_KEY }, false],
  ['wrong bearer, right key', { Authorization: 'Bearer x', 'X-Service-Api-Key': OWNER_KEY }, true],
  ['right bearer, wrong key', { ...WITH_KEY, 'X-Service-Api-Key': OTHER_KEY }, true],
  ['basic', { Authorization: `Basic ${OWNER_KEY}` }, false],
  ['bare', { Authorization: OWNER_KEY }, false],
  ['empty', { Authorization: 'Bearer ', 'X-Service-Api-Key': '' }, false],
  ['upper case', { Authorization: `Bearer ${OWNER_KEY.toUpperCase()}` }, false],
  ['too long', { Authorization: `Bearer ${OWNER_KEY}0` }, false],
  ['too short', { Authorization: `Bearer ${OWNER_KEY.slice(0, -1)}` }, false],
  ['cookie', { Cookie: `trawl_session=${OWNER_KEY}` }, false],
];

for (const anonymous of ['false', 'true']) {
  test(`with an owner key, anonymous access ${anonymous}`, async () => {
    const env = { ...OWNER_ENV, TRAWL_ANONYMOUS_ACCESS: anonymous };
    const world = await startWorld({ env });
    for (const [name, headers, isOwner] of credentials) {
      const reply = await world.call({ path: '/api/repos', headers });
      assert.equal(reply.status, isOwner || anonymous === 'true' ? 200 : 401, name);
      if (reply.status === 401) assert.equal(reply.json()['errorCode'], 'NOT_AUTHENTICATED');
      assert.equal((await world.call({ path: '/api/health', headers })).status, 200);
    }
    assert.ok(!JSON.stringify(world.lines).includes(OWNER_KEY.slice(4)));
  });
}

test('without an owner key a loopback daemon serves everybody, with any credentials', async () => {
  const world = await startWorld({});
  for (const [name, headers] of credentials) {
    assert.equal((await world.call({ path: '/api/repos', headers })).status, 200, name);
  }
});

test('on a public address nobody is served before there is an owner', async () => {
  for (const host of ['0.0.0.0', '::', '[::]']) {
    if (adapters().includes('uws'))
      await assert.rejects(startWorld({ kind: 'uws', env: { TRAWL_HOST: host } }), {
        variable: 'TRAWL_HTTP',
        message: /uws cannot listen on /,
      });
    const world = await startWorld({ env: { TRAWL_HOST: host } });
    assert.equal((await world.call(searchWith(SEARCH_BODY))).status, 401);
    assert.match(world.server.setupUrl ?? '', /\/setup\?token=[0-9a-f]{64}$/);
    await world.close();
  }
});
