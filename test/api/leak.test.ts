// Nothing leaks: two daemons that differ only in one hidden repository give the same answers, in every byte but times
// and random values, on every endpoint, to guests, members, scoped tokens and local callers. A new endpoint fails
// here until it has a request.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ENDPOINTS } from '../../daemon/api/endpoints.ts';
import { openIndex } from '../../daemon/app/open-index.ts';
import { probeSource } from '../../daemon/sources/git/probe.ts';
import { createLog } from '../../daemon/base/log.ts';
import { licenceEnvironment } from '../accounts/licences.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { type App, startApp } from './app.ts';

const OWNER_KEY = `svk_${'0123456789abcdef'.repeat(4)}`;
const PASSWORD = 'correct horse battery';

function repoNamed(name: string, files: Record<string, string>): string {
  const repo = makeRepo(files);
  git(repo, 'remote', 'add', 'origin', `https://host.example/acme/${name}.git`);
  return repo;
}

const OPEN = [
  repoNamed('one', { 'a.ts': 'export function plum(): number { return 1; }\n', LICENSE: 'MIT\n' }),
  repoNamed('two', { 'b.c': 'int plum(void) { return shared + shared; }\n' }),
];
const HIDDEN = repoNamed('hidden', {
  'secret.ts': 'export function plum(): string { return "zebra shared"; }\nplum(); hiddenName();\n',
  'deep/only/here.rs': 'fn hidden_name() { plum(shared); }\n',
  'binary.bin': 'a\0b',
});
writeFiles(HIDDEN, { 'secret.ts': 'export function plum(): string { return "zebra"; }\n' });
const HIDDEN_HEAD = commitAll(HIDDEN, 'hidden change');
git(HIDDEN, 'branch', 'hidden-branch');
const OPEN_HEAD = git(OPEN[0]!, 'rev-parse', 'HEAD');

const NAME = 'host.example/acme/hidden';
const OPEN_NAME = 'host.example/acme/one';

type Values = Record<string, unknown>;

interface TestRequest {
  readonly query?: Record<string, string>;
  readonly body?: unknown;
  readonly values?: Record<string, string>;
}

const QUERIES = [
  'plum',
  'zebra',
  'shared',
  'hiddenName',
  'repo:hidden',
  `repo:^${NAME}$ plum`,
  '-repo:one plum',
  'repo:hidden or repo:one',
  'file:secret',
  'file:\\.rs$ or lang:rust',
  'plum lang:typescript',
  'plum rev:hidden-branch',
  'plum rev:*',
  'visibility:private plum',
  'sym:plum',
  'sym:hidden_name',
  'reposet:hidden plum',
  'context:hidden plum',
  '-zebra',
  'plum (zebra',
];

const SEARCHES: readonly TestRequest[] = [
  ...QUERIES.map((query) => ({ body: { query, matches: 100 } })),
  ...['pl.m', 'z[e]bra', '^int'].map((query) => ({
    body: { query, matches: 100, isRegexEnabled: true },
  })),
  { body: { query: 'shared', matches: 1 } },
  { body: { query: 'plum', matches: 100, whole: true, contextLines: 3 } },
];

/** A limit that cuts between files: those of a stream are as they were found, which depends on the time. */
const SEARCHES_AT_ONCE: readonly TestRequest[] = [
  ...SEARCHES,
  { body: { query: 'plum', matches: 1 } },
];

/** The same of the hidden repository, of an open one, and of one that never was. */
function ofRepos(make: (repo: string, head: string) => Values): Values[] {
  return [
    make(NAME, HIDDEN_HEAD),
    make(NAME, 'HEAD'),
    make('3', 'HEAD'),
    make(OPEN_NAME, HIDDEN_HEAD),
    make(OPEN_NAME, OPEN_HEAD),
    make(OPEN_NAME, 'hidden-branch'),
    make(`${NAME}-2`, 'HEAD'),
  ];
}

function queries(all: readonly Values[]): TestRequest[] {
  return all.map((query) => ({ query: query as Record<string, string> }));
}

function bodies(all: readonly Values[]): TestRequest[] {
  return all.map((body) => ({ body }));
}

const NAVIGATION: readonly TestRequest[] = bodies([
  ...['plum', 'hiddenName', 'hidden_name'].flatMap((symbolName) => [
    { symbolName, revisionName: 'HEAD' },
    { symbolName, revisionName: 'HEAD', repoName: NAME },
    { symbolName, revisionName: 'hidden-branch', repoName: OPEN_NAME },
    { symbolName, revisionName: 'main', repoName: OPEN_NAME, language: 'TypeScript' },
  ]),
  ...['secret.ts', 'a.ts'].flatMap((path) =>
    ofRepos((repo, ref) => ({ position: { repo, ref, path, line: 1, column: 14 } })),
  ),
]);

const NOTHING: readonly TestRequest[] = [{}];
const USER = { userId: '00000000-0000-4000-8000-000000000000' };

const REQUESTS: Readonly<Record<string, readonly TestRequest[]>> = {
  'POST /api/search': SEARCHES_AT_ONCE,
  'POST /api/stream_search': SEARCHES,
  'POST /api/explain': SEARCHES_AT_ONCE,
  'POST /api/find_definitions': NAVIGATION,
  'POST /api/find_references': NAVIGATION,
  'GET /api/suggestions': queries(
    ['repo', 'file', 'lang', 'sym', 'rev', 'context'].flatMap((kind) =>
      ['', 'secret', 'hidden', 'a'].map((prefix) => ({ kind, prefix, limit: '50' })),
    ),
  ),
  'GET /api/source': queries([
    ...ofRepos((repo, ref) => ({ repo, ref, path: 'secret.ts' })),
    ...ofRepos((repo) => ({ repo, path: 'a.ts' })),
  ]),
  'GET /api/raw': queries([
    ...ofRepos((repo, ref) => ({ repo, ref, path: 'secret.ts' })),
    ...ofRepos((repo) => ({ repo, path: 'a.ts' })),
  ]),
  'GET /api/blame': queries(ofRepos((repo, ref) => ({ repo, ref, path: 'secret.ts' }))),
  'GET /api/diff': queries(ofRepos((repo, head) => ({ repo, base: `${head}~1`, head }))),
  'GET /api/commit': queries(ofRepos((repo, ref) => ({ repo, ref }))),
  'GET /api/commits': queries(ofRepos((repo, ref) => ({ repo, ref }))),
  'GET /api/commits/authors': queries(ofRepos((repo, ref) => ({ repo, ref }))),
  'POST /api/files': bodies(ofRepos((repoName, revisionName) => ({ repoName, revisionName }))),
  'POST /api/tree': bodies(
    ofRepos((repoName, revisionName) => ({ repoName, revisionName, paths: ['', 'deep'] })),
  ),
  'GET /api/folder_contents': queries(
    ofRepos((repoName, revisionName) => ({ repoName, revisionName, path: 'deep' })),
  ),
  'GET /api/refs': queries(ofRepos((repo) => ({ repo }))),
  'GET /api/repos': queries([
    {},
    { query: 'hidden' },
    { query: 'e' },
    { perPage: '1' },
    { perPage: '1', page: '2' },
    { perPage: '1', page: '3' },
    { sort: 'pushed' },
    { name: NAME },
    { state: 'ready' },
  ]),
  'GET /api/connections': queries([{}, { perPage: '1' }, { query: 'hidden' }]),
  'POST /api/connection-sync-status': bodies([
    { connectionIds: [1, 3, 4] },
    { connectionIds: [3] },
  ]),
  'GET /api/connection-sync-counts': NOTHING,
  'POST /api/connections/{connectionId}/sync': ['3', '4'].map((connectionId) => ({
    values: { connectionId },
  })),
  'GET /api/repos/{repoId}/skipped': ['1', '3', '4'].map((repoId) => ({ values: { repoId } })),
  'POST /api/repo-index-status': bodies([{ repoIds: [1, 3, 4] }, { repoIds: [3] }]),
  'GET /api/repository-sync-counts': NOTHING,
  'GET /api/jobs': NOTHING,
  'POST /api/job-logs': bodies([{ queue: 'repo-index', jobId: 'none' }]),
  'POST /api/repos/{repoId}/index': ['3', '4'].map((repoId) => ({ values: { repoId } })),
  'GET /api/ee/user': queries([USER]),
  'GET /api/ee/users': NOTHING,
  'DELETE /api/ee/user': queries([USER]),
  'POST /api/ee/users': bodies([{ email: 'new@example.com' }]),
  'PATCH /api/ee/user': [{ query: USER, body: { name: 'x' } }],
  'GET /api/ee/audit': NOTHING,
  'GET /api/ee/grants': queries([{ repoId: '3' }, { repoId: '4' }, USER]),
  'POST /api/ee/grants': bodies([{ ...USER, repoIds: [3] }]),
  'DELETE /api/ee/grants': bodies([{ ...USER, repoIds: [3] }]),
  'POST /api/ee/scoped_access_token': bodies([
    { repoIds: [3] },
    { repoIds: [1, 3] },
    { repoIds: [4] },
    { repoIds: [1] },
  ]),
  'DELETE /api/ee/scoped_access_token/{id}': [{ values: { id: USER.userId } }],
  'POST /api/auth/setup': bodies([
    { token: 'f'.repeat(64), email: 'x@example.com', name: 'X', password: PASSWORD },
  ]),
  'GET /api/auth/link': queries([{ token: 'x' }]),
  'GET /api/auth/state': NOTHING,
  'POST /api/auth/login': bodies([{ email: 'nobody@example.com', password: PASSWORD }]),
  'POST /api/auth/logout': NOTHING,
  'POST /api/auth/password': bodies([{ currentPassword: 'x', newPassword: PASSWORD }]),
  'GET /api/user': NOTHING,
  'GET /api/user/usage': NOTHING,
  'GET /api/user/api_keys': NOTHING,
  'POST /api/user/api_keys': bodies([{ name: 'other' }]),
  'DELETE /api/user/api_keys/{id}': [{ values: { id: USER.userId } }],
  'GET /api/user/scoped_access_tokens': NOTHING,
  'GET /api/user/applications': NOTHING,
  'DELETE /api/user/applications/{id}': [{ values: { id: USER.userId } }],
  'GET /api/auth/oidc/{id}': [{ values: { id: 'none' } }],
  'GET /api/auth/oidc/{id}/callback': [
    { values: { id: 'none' }, query: { code: 'x', state: 'x' } },
  ],
  'GET /api/ee/oauth/request/{id}': [{ values: { id: 'none' } }],
  'POST /api/ee/oauth/request/{id}': [{ values: { id: 'none' }, body: { isAllowed: true } }],
  'GET /api/license': NOTHING,
  'PUT /api/license': bodies([{ key: 'x' }]),
  'GET /api/instance': NOTHING,
  'PATCH /api/instance': bodies([{ anonymousAccess: true }]),
  'GET /api/health': NOTHING,
  'GET /api/health/series': queries([{}, { window: '86400' }]),
  'GET /api/ready': NOTHING,
  'GET /api/version': NOTHING,
  'GET /schemas/config.json': NOTHING,
  'POST /api/webhook': bodies([{ repository: { full_name: 'hidden' } }]),
  'GET /api/openapi.json': NOTHING,
  'GET /api/reference': NOTHING,
  'GET /api/reference/{file}': [{ values: { file: 'none' } }],
  // Only for the operator.
  'PUT /api/ee/user/password': bodies([
    { userId: 'owner@example.com', password: 'a new password' },
  ]),
  'DELETE /api/ee/user/links': queries([{ userId: 'owner@example.com' }]),
  'GET /api/ee/repos': queries([{}, { name: 'hidden' }]),
  'PATCH /api/ee/repos': bodies([{ names: [NAME], visibility: 'public' }]),
  'DELETE /api/ee/repos': queries([{ name: NAME }]),
  'GET /api/status': NOTHING,
  'POST /api/backup': bodies([{}]),
  // Last: it would change what others answer.
  'DELETE /api/license': NOTHING,
};

function sendTo(
  app: App,
  request: TestRequest,
  endpoint: string,
  headers: Headers,
): Promise<Response> {
  const [method, path] = addressOf(endpoint, request);
  if (request.body === undefined) return app.call(path, { method, headers });
  const sent = { ...headers, 'content-type': 'application/json' };
  return app.call(path, { method, headers: sent, body: JSON.stringify(request.body) });
}

function addressOf(endpoint: string, { query = {}, values = {} }: TestRequest): [string, string] {
  const [method = '', template = ''] = endpoint.split(' ');
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
  const search = new URLSearchParams(query);
  return [method, search.size === 0 ? path : `${path}?${search.toString()}`];
}

/** Members of statistics that say how long something took, and numbers of threads at work. */
const TIMES =
  /"(duration|wait|[a-zA-Z]*(?:Time|Ms|Construction|Search|Duration|Wait))":-?[0-9.e+-]+/g;

/** An answer without what differs from one time to the next. */
async function normalised(answer: Response): Promise<unknown> {
  const { status, headers } = answer;
  const body = await answer.text();
  const kept = [...headers]
    .filter(([name]) => !['date', 'x-request-id', 'content-length', 'etag'].includes(name))
    .map(([name, value]) => `${name}: ${plain(value)}`);
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  return { status, headers: kept.sort(), body: isStream ? joined(body) : plain(body) };
}

/** What the events of a stream say together: where they are cut depends on the time. */
function joined(body: string): string[] {
  const parts = body.split('\n').flatMap((line) => {
    if (!line.startsWith('data: {')) return line === '' ? [] : [line];
    const event = JSON.parse(line.slice('data: '.length)) as Values;
    if (event['type'] !== 'chunk') return [JSON.stringify(event).replace(FLUSH_REASON, '')];
    const { files = [], repositoryInfo = [] } = event;
    return ([files, repositoryInfo] as unknown[][]).flat().map((one) => JSON.stringify(one));
  });
  return [...new Set(parts.map(plain))].sort();
}

const FLUSH_REASON = /"flushReason":"[A-Z_]+"/;

function plain(text: string): string {
  return text
    .replaceAll(/localhost:[0-9]+|127\.0\.0\.1:[0-9]+/g, 'HOST')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID')
    .replaceAll(/\b(svst|svk)_[0-9a-f]{64}/g, '$1_VALUE')
    .replaceAll(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/g, 'TIME')
    .replaceAll(TIMES, '"$1":TIME');
}

const log = createLog({
  level: 'error',
  format: 'text',
  write: (line) => process.stderr.write(line),
});
async function start(isHiding: boolean, env: Record<string, string>): Promise<App> {
  const dataDir = temporaryFolder();
  const index = await openIndex(dataDir, undefined, log);
  for (const source of OPEN) await index.registry.admit([await probeSource(source, 'commits')], {});
  if (isHiding)
    await index.registry.admit([await probeSource(HIDDEN, 'commits')], {
      visibility: 'private',
      enforcement: 'restricted',
    });
  await index.store.close();
  return startApp(isHiding ? [...OPEN, HIDDEN] : OPEN, {
    dataDir,
    env: { ...licenceEnvironment(), ...env },
    mode: 'commits',
    change: { branches: ['*'], tags: [] },
  });
}

type Headers = Readonly<Record<string, string>>;
type Pair<One> = readonly [hiding: One, plain: One];

/** Both, once the symbols of what the callers see are found: they come behind the index. */
async function startPair(env: Record<string, string>, headers: Headers): Promise<Pair<App>> {
  const pair = await Promise.all([start(true, env), start(false, env)]);
  for (const app of pair) {
    const search = { query: 'sym:plum', matches: 1 };
    const isMissing = async () =>
      JSON.stringify(await app.post('/api/search', search, headers)).includes('symbols_missing');
    while (await isMissing()) await sleep(50);
  }
  return pair;
}

/** Suggestions and hints have a time limit, which a busy machine reaches at times. A leak differs each time. */
const TIMED = /^\w+ \/api\/(suggestions|search|stream_search|explain)\b/;

/** Sends both everything; returns what they answered differently. */
async function differences(pair: Pair<App>, headers: Pair<Headers>): Promise<string[]> {
  const found: string[] = [];
  for (const [endpoint, requests] of Object.entries(REQUESTS)) {
    for (const request of requests) {
      const differenceNow = () => differenceOf(pair, headers, endpoint, request);
      let difference = await differenceNow();
      for (let i = 0; i < 20 && difference !== undefined && TIMED.test(endpoint); i++)
        difference = await differenceNow();
      if (difference !== undefined)
        found.push(`${endpoint} ${JSON.stringify(request)}: ${difference}`);
    }
  }
  return found;
}

/** Whether both answer the same caller differently, the first time that they are asked. */
async function isDifferent(pair: Pair<App>, headers: Headers, endpoint: string): Promise<boolean> {
  for (const request of REQUESTS[endpoint] ?? [])
    if ((await differenceOf(pair, [headers, headers], endpoint, request)) !== undefined)
      return true;
  return false;
}

async function differenceOf(
  pair: Pair<App>,
  headers: Pair<Headers>,
  endpoint: string,
  request: TestRequest,
): Promise<string | undefined> {
  const [hiding, without] = await Promise.all(
    pair.map(async (app, index) =>
      normalised(await sendTo(app, request, endpoint, headers[index]!)),
    ),
  );
  try {
    assert.deepEqual(hiding, without);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

/** Credentials of a member, and of a token of it for the open repositories. */
async function credentialsOf(app: App): Promise<{ member: Headers; scoped: Headers }> {
  const email = 'member@example.com';
  const owner = bearer(OWNER_KEY);
  const { body: added } = await app.post<{ setupUrl: string }>('/api/ee/users', { email }, owner);
  const link = new URL(added.setupUrl).searchParams.get('token');
  const setUp = { token: link, email, name: 'M', password: PASSWORD };
  const { headers } = await app.post('/api/auth/setup', setUp);
  const session = { cookie: headers.getSetCookie()[0]!.split(';')[0]!, origin: app.url };
  const made = await app.post<{ key: string }>('/api/user/api_keys', { name: 'k' }, session);
  const member = bearer(made.body.key);
  const scope = { repoIds: [1, 2] };
  const token = await app.post<{ token: string }>('/api/ee/scoped_access_token', scope, member);
  return { member, scoped: bearer(token.body.token) };
}

function bearer(value: string): Headers {
  return { authorization: `Bearer ${value}` };
}

test('every endpoint has a request', () => {
  const endpoints = ENDPOINTS.map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(Object.keys(REQUESTS).sort(), endpoints.sort());
});

test('guests, members and scoped tokens: the same answers with and without a hidden repository', async () => {
  const owner = bearer(OWNER_KEY);
  const env = {
    TRAWL_OWNER_EMAIL: 'owner@example.com',
    TRAWL_OWNER_PASSWORD: PASSWORD,
    TRAWL_OWNER_API_KEY: OWNER_KEY,
    TRAWL_ANONYMOUS_ACCESS: 'true',
  };
  const pair = await startPair(env, owner);
  const [one, other] = [await credentialsOf(pair[0]), await credentialsOf(pair[1])];
  assert.deepEqual(await differences(pair, [{}, {}]), []);
  assert.deepEqual(await differences(pair, [one.member, other.member]), []);
  assert.deepEqual(await differences(pair, [one.scoped, other.scoped]), []);
  // The comparison detects real differences.
  for (const endpoint of [
    'POST /api/search',
    'POST /api/explain',
    'GET /api/repos',
    'GET /api/source',
  ])
    assert.ok(await isDifferent(pair, owner, endpoint), endpoint);
});

test('local callers: the same answers with and without a hidden repository', async () => {
  const pair = await startPair({}, {});
  assert.deepEqual(await differences(pair, [{}, {}]), []);
});
