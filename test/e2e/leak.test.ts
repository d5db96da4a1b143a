// Nothing leaks: two daemons that differ in one hidden repository alone give the same answers, in every byte but times
// and random values, on every endpoint there is, to guests, members, holders of scoped tokens and local callers. An
// endpoint that is new fails here until somebody has said what to ask it.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ENDPOINTS } from '../../daemon/api/endpoints.ts';
import { readConfiguration } from '../../daemon/base/config/configuration.ts';
import { type Daemon, startDaemon } from '../../daemon/app/main.ts';
import { openIndex } from '../../daemon/app/open-index.ts';
import { probeSource } from '../../daemon/sources/git/probe.ts';
import { createLog } from '../../daemon/base/log.ts';
import { licenceEnvironment } from '../accounts/licences.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import type { RawReply } from '../http/ask.ts';
import { send } from './daemon.ts';

const OWNER_KEY = `svk_${'0123456789abcdef'.repeat(4)}`;
const PASSWORD = 'correct horse battery';
const TIMEOUT = { timeout: 300_000 };

function named(name: string, files: Record<string, string>): string {
  const repo = makeRepo(files);
  git(repo, 'remote', 'add', 'origin', `https://host.example/acme/${name}.git`);
  return repo;
}

const OPEN = [
  named('one', { 'a.ts': 'export function plum(): number { return 1; }\n', LICENSE: 'MIT\n' }),
  named('two', { 'b.c': 'int plum(void) { return shared + shared; }\n' }),
];
const HIDDEN = named('hidden', {
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

interface Ask {
  readonly query?: Record<string, string>;
  readonly body?: unknown;
  /** Of parameters in the path. */
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

const SEARCHES: readonly Ask[] = [
  ...QUERIES.map((query) => ({ body: { query, matches: 100 } })),
  ...['pl.m', 'z[e]bra', '^int'].map((query) => ({
    body: { query, matches: 100, isRegexEnabled: true },
  })),
  { body: { query: 'shared', matches: 1 } },
  { body: { query: 'plum', matches: 100, whole: true, contextLines: 3 } },
];

/** A limit that cuts between files: those of a stream are as they were found, which depends on the time. */
const SEARCHES_AT_ONCE: readonly Ask[] = [...SEARCHES, { body: { query: 'plum', matches: 1 } }];

/** The same of the hidden repository, of an open one, and of one that never was. */
function ofRepos(ask: (repo: string, head: string) => Values): Values[] {
  return [
    ask(NAME, HIDDEN_HEAD),
    ask(NAME, 'HEAD'),
    ask('3', 'HEAD'),
    ask(OPEN_NAME, HIDDEN_HEAD),
    ask(OPEN_NAME, OPEN_HEAD),
    ask(OPEN_NAME, 'hidden-branch'),
    ask(`${NAME}-2`, 'HEAD'),
  ];
}

function queries(all: readonly Values[]): Ask[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- texts
  return all.map((query) => ({ query: query as Record<string, string> }));
}

function bodies(all: readonly Values[]): Ask[] {
  return all.map((body) => ({ body }));
}

const NAVIGATION: readonly Ask[] = bodies([
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

const NOTHING: readonly Ask[] = [{}];
const USER = { userId: '00000000-0000-4000-8000-000000000000' };

/** What each endpoint is asked. */
const ASKED: Readonly<Record<string, readonly Ask[]>> = {
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
};

interface Reply extends Omit<RawReply, 'body'> {
  readonly body: string;
}

async function sendTo(
  { url }: Daemon,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): Promise<Reply> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const sent = text === undefined ? headers : { ...headers, 'content-type': 'application/json' };
  const reply = await send(`${url}${path}`, { method, headers: sent, body: text });
  return { ...reply, body: reply.body.toString() };
}

function addressOf(endpoint: string, { query = {}, values = {} }: Ask): [string, string] {
  const [method = '', template = ''] = endpoint.split(' ');
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
  const search = new URLSearchParams(query);
  return [method, search.size === 0 ? path : `${path}?${search.toString()}`];
}

/** Members of statistics that say how long something took, and numbers of threads at work. */
const TIMES =
  /"(duration|wait|[a-zA-Z]*(?:Time|Ms|Construction|Search|Duration|Wait))":-?[0-9.e+-]+/g;

/** An answer without what differs from one time to the next. */
function normalised({ status, headers, body }: Reply): unknown {
  const kept = Object.entries(headers)
    .filter(([name]) => !['date', 'x-request-id', 'content-length', 'etag'].includes(name))
    .map(([name, value]) => `${name}: ${plain(String(value))}`);
  const isStream = headers['content-type']?.startsWith('text/event-stream') === true;
  return { status, headers: kept.sort(), body: isStream ? joined(body) : plain(body) };
}

/** What the events of a stream say together: where they are cut depends on the time. */
function joined(body: string): string[] {
  const parts = body.split('\n').flatMap((line) => {
    if (!line.startsWith('data: {')) return line === '' ? [] : [line];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an event
    const event = JSON.parse(line.slice('data: '.length)) as Values;
    if (event['type'] !== 'chunk') return [JSON.stringify(event).replace(FLUSH_REASON, '')];
    const { files = [], repositoryInfo = [] } = event;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- lists
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
const daemons: Daemon[] = [];

after(async () => {
  for (const daemon of daemons) await daemon.close();
});

async function start(isHiding: boolean, env: Record<string, string>): Promise<Daemon> {
  const dataDir = temporaryFolder();
  const index = await openIndex(dataDir, undefined, log);
  for (const source of OPEN) await index.registry.admit([await probeSource(source, 'commits')], {});
  if (isHiding)
    await index.registry.admit([await probeSource(HIDDEN, 'commits')], {
      visibility: 'private',
      enforcement: 'restricted',
    });
  await index.store.close();
  const configuration = readConfiguration({
    env: {
      TRAWL_PORT: '0',
      TRAWL_DATA_DIR: dataDir,
      TRAWL_WORKERS: '1',
      ...licenceEnvironment(),
      ...env,
    },
  });
  const daemon = await startDaemon({
    configuration,
    log,
    sources: isHiding ? [...OPEN, HIDDEN] : OPEN,
    mode: 'commits',
    change: { branches: ['*'], tags: [] },
  });
  daemons.push(daemon);
  for (const job of await daemon.indexed) assert.equal(job.state, 'COMPLETED', job.error);
  return daemon;
}

/** Until the symbols of what local or anonymous callers see are found: they come behind the index. */
async function symbolsFound(daemon: Daemon, headers: Record<string, string>): Promise<void> {
  for (;;) {
    const body = { query: 'sym:plum', matches: 1 };
    const { body: answer } = await sendTo(daemon, 'POST', '/api/search', headers, body);
    if (!answer.includes('symbols_missing')) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

type Pair = readonly [hiding: Daemon, plain: Daemon];

function startPair(env: Record<string, string>): Promise<Pair> {
  return Promise.all([start(true, env), start(false, env)]);
}

/** Suggestions and hints have a time limit, which a busy machine reaches at times. A leak differs each time. */
const TIMED = /^\/api\/(suggestions|search|stream_search|explain)\b/;

type Headers = readonly [Record<string, string>, Record<string, string>];

/** Asks both everything, and tells what they answered differently. */
async function differences(pair: Pair, headers: Headers): Promise<string[]> {
  const found: string[] = [];
  for (const [endpoint, asks] of Object.entries(ASKED)) {
    for (const ask of asks) {
      const [method, path] = addressOf(endpoint, ask);
      let difference = await differenceOf(pair, headers, method, path, ask.body);
      for (let i = 0; i < 20 && difference !== undefined && TIMED.test(path); i++)
        difference = await differenceOf(pair, headers, method, path, ask.body);
      if (difference !== undefined)
        found.push(`${method} ${path} ${JSON.stringify(ask.body)}: ${difference}`);
    }
  }
  return found;
}

async function differenceOf(
  pair: Pair,
  headers: Headers,
  ...[method, path, body]: [string, string, unknown]
): Promise<string | undefined> {
  const [hiding, without] = await Promise.all(
    pair.map((daemon, index) => sendTo(daemon, method, path, headers[index]!, body)),
  );
  const [one, other] = [normalised(hiding!), normalised(without!)];
  try {
    assert.deepEqual(one, other);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

async function keysOf(daemon: Daemon): Promise<{ member: string; scoped: string }> {
  const owner = { authorization: `Bearer ${OWNER_KEY}` };
  const json = async (
    path: string,
    headers: Record<string, string>,
    body: unknown,
  ): Promise<[Record<string, string>, Reply]> => {
    const reply = await sendTo(daemon, 'POST', path, headers, body);
    assert.equal(reply.status, 201, reply.body);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- members that are texts
    return [JSON.parse(reply.body) as Record<string, string>, reply];
  };
  const email = 'member@example.com';
  const [{ setupUrl }] = await json('/api/ee/users', owner, { email });
  const link = new URL(setupUrl!).searchParams.get('token');
  const setUp = { token: link, email, name: 'M', password: PASSWORD };
  const [, reply] = await json('/api/auth/setup', {}, setUp);
  const cookie = reply.headers['set-cookie']![0]!.split(';')[0]!;
  const [{ key }] = await json('/api/user/api_keys', { cookie, origin: daemon.url }, { name: 'k' });
  const member = { authorization: `Bearer ${key!}` };
  const [{ token: scoped }] = await json('/api/ee/scoped_access_token', member, {
    repoIds: [1, 2],
  });
  return { member: key!, scoped: scoped! };
}

function bearer(value: string): Record<string, string> {
  return { authorization: `Bearer ${value}` };
}

void test('there is something to ask of every endpoint', () => {
  const endpoints = ENDPOINTS.map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(Object.keys(ASKED).sort(), endpoints.sort());
});

void test(
  'guests, members and scoped tokens: the same answers with and without',
  TIMEOUT,
  async () => {
    const pair = await startPair({
      TRAWL_OWNER_EMAIL: 'owner@example.com',
      TRAWL_OWNER_PASSWORD: PASSWORD,
      TRAWL_OWNER_API_KEY: OWNER_KEY,
      TRAWL_ANONYMOUS_ACCESS: 'true',
    });
    for (const daemon of pair) await symbolsFound(daemon, bearer(OWNER_KEY));
    const [one, other] = [await keysOf(pair[0]), await keysOf(pair[1])];
    assert.deepEqual(await differences(pair, [{}, {}]), []);
    assert.deepEqual(await differences(pair, [bearer(one.member), bearer(other.member)]), []);
    assert.deepEqual(await differences(pair, [bearer(one.scoped), bearer(other.scoped)]), []);
    // The comparison sees what is there to see.
    const seen = await differences(pair, [bearer(OWNER_KEY), bearer(OWNER_KEY)]);
    const endpoints = new Set(seen.map((text) => /^\w+ [^ ?]+/.exec(text)![0]));
    for (const endpoint of [
      'POST /api/search',
      'POST /api/explain',
      'GET /api/repos',
      'GET /api/source',
    ])
      assert.equal(endpoints.has(endpoint), true, endpoint);
  },
);

void test('local callers: the same answers with and without', TIMEOUT, async () => {
  const pair = await startPair({});
  for (const daemon of pair) await symbolsFound(daemon, {});
  assert.deepEqual(await differences(pair, [{}, {}]), []);
});
