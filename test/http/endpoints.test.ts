// The endpoints as callers see them: every field, every 400, pages, links. Fakes of the harness replace the engine
// and the git reader.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { ApiError } from '../../daemon/api/shapes/api-error.ts';
import type { Services } from '../../daemon/api/shapes/endpoint-services.ts';
import { QueryError } from '../../daemon/engine/regex/query-error.ts';
import { readCommit } from '../../daemon/base/config/version.ts';
import { UnknownContextError } from '../../daemon/engine/query/repos.ts';
import { CLAIMS, HEADER, PAIR, token } from '../accounts/licences.ts';
import { answerOf, resultOf } from './answers.ts';
import { closeWorlds, OWNER_KEY, SEARCH_BODY, repo, searchWith, startWorld } from './harness.ts';
import type { Reply, World } from './harness.ts';

afterEach(closeWorlds);

function assertError(reply: Reply, status: number, errorCode: string, message: RegExp): void {
  const value = reply.json();
  assert.deepEqual(Object.keys(value), ['statusCode', 'errorCode', 'message']);
  assert.equal(value['errorCode'], errorCode, JSON.stringify(value));
  assert.equal(reply.status, status);
  assert.equal(value['statusCode'], status);
  assert.match(String(value['message']), message);
}

test('search passes the checked, clamped request on and returns the bytes of the service', async () => {
  const world = await startWorld({
    settings: { maxMatchCount: 500 },
    search: async (_, { baseUrl }) => answerOf([resultOf('text', { webUrl: baseUrl })]),
  });
  const reply = await world.call(searchWith({ query: 'a', matches: 7, extra: null }));
  assert.deepEqual(reply.json(), answerOf([resultOf('text', { webUrl: world.server.url })]));
  const body = `{"query":"b","matches":1e3,"contextLines":100.0,"whole":true,
    "isRegexEnabled":true,"isCaseSensitivityEnabled":true}`;
  await world.call({ method: 'POST', path: '/api/search', body });
  await world.call({
    ...searchWith({ query: '', matches: 1e300, contextLines: 101 }),
    headers: { 'Content-Type': 'text/plain' },
  });
  const off = { whole: false, isRegexEnabled: false, isCaseSensitivityEnabled: false };
  const on = { whole: true, isRegexEnabled: true, isCaseSensitivityEnabled: true };
  assert.deepEqual(world.calls, [
    { query: 'a', matches: 7, contextLines: 0, ...off },
    { query: 'b', matches: 500, contextLines: 100, ...on },
    { query: '', matches: 500, contextLines: 100, ...off },
  ]);
});

test('every bad body is 400 INVALID_REQUEST_BODY and names the field', async () => {
  const world = await startWorld({});
  const cases: [string | Uint8Array, RegExp][] = [
    ['', /^body: not valid JSON/],
    ['{', /^body: not valid JSON/],
    [Buffer.of(0x22, 0xff, 0x22), /^body: not valid JSON in UTF-8/],
    [`{"query":"q","matches":1,"x":${'['.repeat(19_999)}`, /^body: more than 20000 values/],
    [`{"query":"q","matches":1,"x":[1${',1'.repeat(19_997)}`, /^body: more than 20000 values/],
    // As many as may be; commas and brackets in texts do not count.
    [`{"query":"q","matches":1,"x":[1${',1'.repeat(19_996)}`, /^body: not valid JSON/],
    [`{"query":"q","matches":1,"x":[[ ]${',{}'.repeat(19_996)}`, /^body: not valid JSON/],
    [`{"query":"q","matches":1,"x":"\\"${',[{'.repeat(20_000)}`, /^body: not valid JSON/],
    ['null', /^body: /],
    ['[]', /^body: /],
    ['"text"', /^body: /],
    ['{}', /^query: /],
    ['{"matches":1}', /^query: /],
    ['{"query":null,"matches":1}', /^query: /],
    ['{"query":1,"matches":1}', /^query: /],
    [JSON.stringify({ query: 'é'.repeat(32769), matches: 1 }), /^query: longer than 65536 bytes/],
    ['{"query":"q"}', /^matches: /],
    ...['0', '-1', '1.5', '"1"', 'null', '1e400', 'true', '[1]'].map((value): [string, RegExp] => [
      `{"query":"q","matches":${value}}`,
      /^matches: expected an integer >= 1/,
    ]),
    ['{"query":"q","matches":1,"contextLines":-1}', /^contextLines: expected an integer >= 0/],
    ['{"query":"q","matches":1,"contextLines":null}', /^contextLines: /],
    ...['whole', 'isRegexEnabled', 'isCaseSensitivityEnabled'].flatMap((name) =>
      ['null', '"true"', '1'].map((value): [string, RegExp] => [
        `{"query":"q","matches":1,"${name}":${value}}`,
        new RegExp(`^${name}: `),
      ]),
    ),
  ];
  for (const [body, message] of cases) {
    const reply = await world.call({ method: 'POST', path: '/api/search', body });
    assertError(reply, 400, 'INVALID_REQUEST_BODY', message);
  }
  assert.equal(world.calls.length, 0);
  const longest = await world.call(searchWith({ query: 'é'.repeat(32768), matches: 1 }));
  assert.equal(longest.status, 200);
});

test('missing files or memory are reported as such, with the cause for owners', async () => {
  const failures = [
    Object.assign(new Error('EMFILE: too many open files, open /x'), { code: 'EMFILE' }),
    new RangeError('Array buffer allocation failed'),
  ];
  const world = await startWorld({
    repos: [repo(1, 'a')],
    source: async () => {
      throw failures.shift();
    },
  });
  for (const reason of ['EMFILE', 'allocation']) {
    const reply = await world.call({ path: '/api/source?repo=a&path=x' });
    assert.equal(reply.json()['errorCode'], 'SERVER_OVERLOADED');
    assert.equal(reply.headers['retry-after'], '1');
    assert.doesNotMatch(reply.body.toString(), /x'|EMFILE/);
    assert.ok(
      world.lines.some((line) => JSON.stringify(line).includes(reason)),
      reason,
    );
  }
});

test('a bad query is 400 with its position; an internal error is 500 and discloses nothing', async () => {
  const world = await startWorld({
    search: ({ query }) => {
      if (query === '(') throw new QueryError('missing )', 1);
      throw new Error(`secret at /srv/data: ${JSON.stringify(query)}`);
    },
  });
  const bad = await world.call(searchWith({ query: '(', matches: 1 }));
  assertError(bad, 400, 'FAILED_TO_PARSE_QUERY', /^missing \) at position 1$/);
  const fault = await world.call(searchWith({ query: 'q', matches: 1 }));
  assertError(fault, 500, 'UNEXPECTED_ERROR', /^An unexpected error occurred\.$/);
  const requestId = fault.headers['x-request-id'];
  const line = world.lines.find((entry) => entry['level'] === 'error');
  assert.equal(line?.['requestId'], requestId);
  assert.match(JSON.stringify(line?.['error']), /secret at \/srv\/data/);
});

const many = Array.from({ length: 7 }, (_, i) => repo(i + 1, `host/r${i + 1}`));

test('repos are listed with all their fields', async () => {
  const full = repo(9, 'github.com/Ö/r x', {
    displayName: 'R',
    webUrl: 'https://github.com/o/r',
    isFork: true,
    indexedAt: '2026-01-01T00:00:00.000Z',
    pushedAt: '2026-01-02T00:00:00.000Z',
  });
  const bare = repo(2, 'local/b', { codeHostType: 'genericGitHost', defaultRevision: 'HEAD' });
  // How much its shards take is for owners.
  const reported = { docs: 3, contentBytes: 40, skipped: { too_large: 1 } };
  const sizes = { ...reported, shardBytes: 500 };
  const world = await startWorld({
    repos: [bare, full],
    jobs: { sizesOf: (repoId) => (repoId === 9 ? sizes : undefined) },
  });
  const base = `${world.server.url}/browse`;
  assert.deepEqual((await world.call({ path: '/api/repos' })).json(), [
    {
      codeHostType: 'github',
      repoId: 9,
      repoName: 'github.com/Ö/r x',
      webUrl: `${base}/github.com/%C3%96/r%20x/-/tree/`,
      isFork: true,
      isArchived: false,
      repoDisplayName: 'R',
      externalWebUrl: 'https://github.com/o/r',
      defaultBranch: 'main',
      indexedAt: '2026-01-01T00:00:00.000Z',
      pushedAt: '2026-01-02T00:00:00.000Z',
      state: 'ready',
      ...reported,
    },
    {
      codeHostType: 'genericGitHost',
      repoId: 2,
      repoName: 'local/b',
      webUrl: `${base}/local/b/-/tree/`,
      isFork: false,
      isArchived: false,
      state: 'ready',
    },
  ]);
});

const names = async (world: World, path: string) => {
  const reply = await world.call({ path });
  return (reply.json() as unknown as { repoName: string }[]).map((item) => item.repoName);
};

test('repos sort by name bytes or push date, either way, and filter by name', async () => {
  const world = await startWorld({
    repos: [
      repo(1, 'b', { pushedAt: '2026-02-01T00:00:00.000Z' }),
      repo(2, '\u{1F600}'),
      repo(3, '\uFF5E', { pushedAt: '2026-01-01T00:00:00.000Z' }),
      repo(4, 'B'),
    ],
  });
  const byName = ['B', 'b', '\uFF5E', '\u{1F600}'];
  const byPush = ['\uFF5E', 'b', 'B', '\u{1F600}'];
  assert.deepEqual(await names(world, '/api/repos'), byName);
  assert.deepEqual(await names(world, '/api/repos?direction=desc'), [...byName].reverse());
  assert.deepEqual(await names(world, '/api/repos?sort=pushed'), byPush);
  assert.deepEqual(
    await names(world, '/api/repos?sort=pushed&direction=desc'),
    [...byPush].reverse(),
  );
  assert.deepEqual(await names(world, '/api/repos?query=B'), ['B', 'b']);
  assert.deepEqual(await names(world, '/api/repos?query='), byName);
  assert.deepEqual(await names(world, '/api/repos?name=B'), ['B']);
  assert.deepEqual(await names(world, '/api/repos?name='), []);
});

test('repos are filtered by state, among those visible to the caller', async () => {
  const world = await startWorld({
    env: { TRAWL_ANONYMOUS_ACCESS: 'true' },
    repos: [repo(1, 'a'), repo(2, 'b'), repo(3, 'c', { enforcement: 'all' }), repo(4, 'd')],
    jobs: { states: () => (one) => (one.repoId === 4 ? 'waiting' : 'failed') },
  });
  assert.deepEqual(await names(world, '/api/repos?state=failed'), ['a', 'b']);
  assert.deepEqual(await names(world, '/api/repos?state=waiting'), ['d']);
  assert.deepEqual(await names(world, '/api/repos?state=failed&name=c'), []);
  const { headers } = await world.call({ path: '/api/repos?state=failed&perPage=1' });
  assert.equal(headers['x-total-count'], '2');
  assert.match(headers['link']!.toString(), /state=failed>; rel="next"/);
  assert.equal((await world.call({ path: '/api/repos?state=other' })).status, 400);
});

test('each repository has its connection, visible with the repository', async () => {
  const world = await startWorld({
    env: {
      TRAWL_OWNER_EMAIL: 'o@example.com',
      TRAWL_OWNER_API_KEY: OWNER_KEY,
      TRAWL_ANONYMOUS_ACCESS: 'true',
    },
    repos: [
      repo(7, 'b'),
      repo(2, 'a', { visibility: 'private', enforcement: 'all' }),
      repo(5, 'B'),
    ],
  });
  const getJson = async (path: string, headers = {}) =>
    (await world.call({ path, headers })).json();
  const [big, small] = ['B', 'b'].map((name, index) => ({
    id: [5, 7][index],
    name,
    connectionType: 'git',
  }));
  assert.deepEqual(await getJson('/api/connections'), [big, small]);
  assert.deepEqual(await getJson('/api/connections', { 'X-Service-Api-Key': OWNER_KEY }), [
    big,
    { id: 2, name: 'a', connectionType: 'git' },
    small,
  ]);
  assert.deepEqual(await names(world, '/api/repos?connectionId=7'), ['b']);
  assert.deepEqual(await names(world, '/api/repos?connectionId=2'), []);
  assert.deepEqual(await names(world, '/api/repos?connectionId=1'), []);
});

test('a query with a context: 403 without a licence for contexts, 404 with one', async () => {
  const search = () => Promise.reject(new UnknownContextError('Search context "x" not found.'));
  const events = (): never => {
    throw new UnknownContextError('Search context "x" not found.');
  };
  const now = Math.floor(Date.now() / 1000);
  const claims = { ...CLAIMS, iat: now, exp: now + 3600, entitlements: ['search-contexts'] };
  const licence = {
    TRAWL_LICENSE_PUBLIC_KEY: PAIR.publicKey,
    TRAWL_LICENSE_KEY: token(HEADER, claims),
  };
  for (const [env, code] of [
    [{}, 'INSUFFICIENT_PERMISSIONS'],
    [licence, 'SEARCH_CONTEXT_NOT_FOUND'],
  ] as const) {
    const world = await startWorld({ env, search, stream: events });
    for (const path of ['/api/search', '/api/stream_search', '/api/explain']) {
      const reply = await world.call({ ...searchWith({ query: 'context:x a', matches: 1 }), path });
      assert.equal(reply.json()['errorCode'], code, path);
    }
    await world.close();
  }
});

test('pages: total count, links in order, the first of repeated values, beyond the end', async () => {
  const world = await startWorld({ repos: many });
  const at = (page: number, rest: string, name: string) =>
    `<${world.server.url}/api/repos?page=${page}&perPage=3${rest}>; rel="${name}"`;
  const page = async (query: string) => {
    const { headers, json } = await world.call({ path: `/api/repos?${query}` });
    assert.equal(headers['x-total-count'], '7', query);
    const count = (json() as unknown as unknown[]).length;
    return { count, link: headers['link'] };
  };
  assert.deepEqual(await page('perPage=7'), { count: 7, link: undefined });
  assert.deepEqual(await page('perPage=7&page=2'), { count: 0, link: undefined });
  assert.deepEqual(await page('perPage=3'), {
    count: 3,
    link: [at(1, '', 'first'), at(2, '', 'next'), at(3, '', 'last')].join(', '),
  });
  const rest = '&sort=name&direction=asc&query=r';
  assert.deepEqual(await page('perPage=3&query=r&direction=asc&sort=name&page=2&page=9&x=1'), {
    count: 3,
    link: (
      [
        [1, 'first'],
        [1, 'prev'],
        [3, 'next'],
        [3, 'last'],
      ] as const
    )
      .map(([number, name]) => at(number, rest, name))
      .join(', '),
  });
  assert.deepEqual(await page('perPage=3&page=3'), {
    count: 1,
    link: [at(1, '', 'first'), at(2, '', 'prev'), at(3, '', 'last')].join(', '),
  });
  assert.deepEqual(await page('perPage=3&page=99'), {
    count: 0,
    link: [at(1, '', 'first'), at(3, '', 'prev'), at(3, '', 'last')].join(', '),
  });
});

test('every bad query parameter is 400 INVALID_QUERY_PARAMS and names it', async () => {
  const world = await startWorld({ repos: many });
  const bad = (name: string, values: string[]) =>
    values.map((value): [string, string] => [`/api/repos?${name}=${value}`, name]);
  const cases: [string, string][] = [
    ...bad('page', ['0', '', '-1', '1.0', '1e1', 'x', '%201', '0x1', '99999999999999999999']),
    ...bad('perPage', ['0', '101', '', 'ten']),
    ...bad('sort', ['', 'size', 'Name']),
    ...bad('direction', ['', 'up']),
    ...bad('connectionId', ['0', '', '1.5']),
    ['/api/source', 'path'],
    ['/api/source?repo=host%2Fr1', 'path'],
    ['/api/source?path=a', 'repo'],
  ];
  for (const [path, name] of cases) {
    const reply = await world.call({ path });
    assertError(reply, 400, 'INVALID_QUERY_PARAMS', new RegExp(`^${name}: `));
  }
});

test('source returns the content with its links; an empty ref counts as absent', async () => {
  const requested: unknown[] = [];
  const read: Services['source']['read'] = async (record, path, ref, limits) => {
    requested.push([record.name, path, ref, limits.sizeMax]);
    const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff, 0x0a]);
    return ref === undefined
      ? { bytes, language: 'C++', blobSha: 'abc' }
      : { bytes: Buffer.alloc(0), language: '', blobSha: 'def' };
  };
  const web = 'https://github.com/o/r';
  const world = await startWorld({
    repos: [repo(1, 'h/o', { webUrl: web, displayName: 'O' })],
    source: read,
  });
  const base = `${world.server.url}/browse/h/o`;
  const plain = await world.call({ path: '/api/source?repo=h/o&path=a%20b/%23.ts&ref=' });
  assert.deepEqual(plain.json(), {
    source: '\uFEFFa\uFFFD\n',
    language: 'C++',
    path: 'a b/#.ts',
    repo: 'h/o',
    repoCodeHostType: 'github',
    repoDisplayName: 'O',
    repoExternalWebUrl: web,
    webUrl: `${base}/-/blob/a%20b/%23.ts`,
    externalWebUrl: `${web}/blob/main/a%20b/%23.ts`,
    blobSha: 'abc',
  });
  const atRef = await world.call({ path: '/api/source?repo=h/o&path=x&ref=refs/tags/v%231' });
  assert.deepEqual(atRef.json(), {
    source: '',
    language: '',
    path: 'x',
    repo: 'h/o',
    repoCodeHostType: 'github',
    repoDisplayName: 'O',
    repoExternalWebUrl: web,
    webUrl: `${base}@refs/tags/v%231/-/blob/x`,
    externalWebUrl: `${web}/blob/v%231/x`,
    blobSha: 'def',
  });
  assert.deepEqual(requested, [
    ['h/o', 'a b/#.ts', undefined, 67108864],
    ['h/o', 'x', 'refs/tags/v#1', 67108864],
  ]);
});

test('source checks repo, path syntax and ref syntax in this order, then calls the reader', async () => {
  const read: Services['source']['read'] = async (_, path) => {
    if (path === 'slow') throw new Error('git took too long at /srv/clones');
    if (path === 'ref')
      throw Object.assign(new Error('No commit.'), { errorCode: 'INVALID_GIT_REF' });
    throw new ApiError('FILE_NOT_FOUND', 'File not found.');
  };
  const world = await startWorld({ repos: many, source: read });
  const getSource = (query: string) => world.call({ path: `/api/source?${query}` });
  const nowhere = await getSource('repo=none&path=../x&ref=-x');
  assertError(nowhere, 404, 'NOT_FOUND', /^Repository "none" not found\.$/);
  const empty = await getSource('repo=&path=x');
  assertError(empty, 404, 'NOT_FOUND', /^Repository "" not found\.$/);
  for (const path of ['..', '../x', 'a/../b', '%2Fx', 'a%00b', 'a/..']) {
    assertError(await getSource(`repo=host/r1&path=${path}&ref=-x`), 404, 'FILE_NOT_FOUND', /./);
  }
  const refs = ['-x', 'a..b', 'a%40%7B1%7D', 'a%00', 'a%0Ab', 'a%7F', 'a'.repeat(1025)];
  for (const ref of refs) {
    assertError(await getSource(`repo=host/r1&path=x&ref=${ref}`), 400, 'INVALID_GIT_REF', /./);
  }
  assertError(await getSource('repo=host/r1&path=ref'), 400, 'INVALID_GIT_REF', /^No commit\.$/);
  for (const path of ['', 'absent', 'a..b', '...']) {
    assertError(await getSource(`repo=host/r1&path=${path}`), 404, 'FILE_NOT_FOUND', /./);
  }
  assertError(await getSource('repo=host/r1&path=slow'), 500, 'UNEXPECTED_ERROR', /^An unexpected/);
});

test('source calls git with a deadline', async () => {
  const world = await startWorld({
    repos: many,
    settings: { gitTimeoutMs: 5 },
    source: (_repo, _path, _ref, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      }),
  });
  const reply = await world.call({ path: '/api/source?repo=host/r1&path=x' });
  assertError(reply, 500, 'UNEXPECTED_ERROR', /^An unexpected/);
});

test('health, ready and version', async () => {
  const world = await startWorld({ repos: many });
  assert.deepEqual((await world.call({ path: '/api/health' })).json(), { status: 'ok' });
  assert.deepEqual((await world.call({ path: '/api/version' })).json(), {
    version: 'v0.1.0',
    ...(readCommit() !== '' && { commit: readCommit() }),
  });
  // What there is, is for owners: test/accounts/ready.test.ts.
  assert.deepEqual((await world.call({ path: '/api/ready' })).json(), { status: 'ready' });
  await world.close();
  const loading = await startWorld({ isReady: false });
  assertError(await loading.call({ path: '/api/ready' }), 503, 'NOT_READY', /loading/);
  assert.equal((await loading.call({ path: '/api/health' })).status, 200);
  await loading.close();
});

test('a base URL with a path moves every route and every link below it', async () => {
  const env = { TRAWL_BASE_URL: 'http://code.example:81/code/' };
  const world = await startWorld({ env, repos: many });
  assert.equal(world.server.url, 'http://code.example:81/code');
  assert.equal((await world.call({ path: '/api/health' })).status, 404);
  for (const path of ['/', '/cod', '/codes'])
    assert.equal((await world.call({ path })).status, 404, path);
  assert.equal((await world.call({ path: '/codeapi/health' })).status, 404);
  const { headers, json } = await world.call({ path: '/code/api/repos?perPage=1&page=7' });
  assert.match(String(headers['link']), /^<http:\/\/code\.example:81\/code\/api\/repos\?page=1&/);
  const [first] = json() as unknown as { webUrl: string }[];
  assert.equal(first?.webUrl, 'http://code.example:81/code/browse/host/r7/-/tree/');
});

test('one log line for each request; queries only at debug', async () => {
  const world = await startWorld({});
  await world.call(searchWith(SEARCH_BODY, { 'X-Request-Id': 'id-1' }));
  const lines = world.lines.filter((line) => line['message'] === 'request');
  assert.equal(lines.length, 1);
  const { durationMs, timestamp, ...rest } = lines[0] ?? {};
  assert.equal(typeof durationMs, 'number');
  assert.match(String(timestamp), /^\d{4}-\d\d-\d\dT.*Z$/);
  assert.deepEqual(rest, {
    level: 'info',
    message: 'request',
    label: 'http',
    requestId: 'id-1',
    method: 'POST',
    route: '/api/search',
    status: 200,
    source: 'local',
    address: '127.0.0.1',
    bytes: JSON.stringify(answerOf()).length,
  });
  assert.ok(!JSON.stringify(world.lines).includes(SEARCH_BODY.query));
});
