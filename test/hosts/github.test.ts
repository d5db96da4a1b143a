// A connection to GitHub, against a server with its API: listings, credentials and where they are sent, and failures.

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTimeSlice } from 'node:timers/promises';
import type { HostRepo } from '../../daemon/hosts/host.ts';
import { hostPauses } from '../../daemon/hosts/rate-limit.ts';
import {
  accountId,
  answerAsGithub,
  githubState,
  refusal,
  startGithub,
  type FakeApp,
  type FakeRepository,
  type GithubServer,
  type GithubState,
} from './github-server.ts';
import { collect, listAll, openedHost, SIGNAL, type OpenedHost } from './opened.ts';
import {
  issuesOf,
  targetIssues,
  testListing,
  TOKEN,
  visibilitiesOf,
  pathsOf,
} from './listing-suite.ts';

const ENV = { TOKEN: 'the-token' };
const token = { env: 'TOKEN' };

/** Repositories of an owner, `count` of them. */
function many(owner: string, count: number, more: Partial<FakeRepository> = {}): FakeRepository[] {
  return Array.from({ length: count }, (_, at) => ({
    id: accountId(owner) * 100_000 + at + 1,
    path: `${owner}/repo-${at}`,
    ...more,
  }));
}

testListing({
  kind: 'github',
  pageSize: 100,
  isFirstPageReadTwice: true,
  settings: { type: 'github', token, orgs: ['full', 'other'] },
  fullTarget: 'orgs: full',
  otherTarget: 'orgs: other',
  answer: (requested, count) =>
    answerAsGithub(
      requested,
      githubState({
        orgs: ['full', 'other'],
        tokens: new Map([[TOKEN, 'ann']]),
        repositories: [...many('full', count), { id: 9, path: 'other/one' }],
      }),
    ),
  skippedBy: ({ path, query }) =>
    path === '/api/v3/orgs/full/repos' ? (Number(query.get('page') ?? 1) - 1) * 100 : undefined,
  missing: [
    { orgs: ['nobody'], repos: ['full/none', 'full/repo-0'] },
    ['NOT_FOUND orgs: nobody DISCOVERY_INCOMPLETE', 'NOT_FOUND repos: full/none TARGET_SKIPPED'],
  ],
  uncounted: ({ body }) => ({ body, headers: { link: '<http://h/x?page=2>; rel="next"' } }),
  callers: ['x-access-token', 'ann'],
});

interface Opened extends OpenedHost {
  readonly server: GithubServer;
}

async function open(
  t: TestContext,
  state: Partial<GithubState>,
  settings: Readonly<Record<string, unknown>>,
  options: Parameters<typeof openedHost>[2] = {},
): Promise<Opened> {
  const server = await startGithub(t, state);
  const { token: ownToken = token, ...others } = settings;
  const credential = ownToken === null ? {} : { token: ownToken };
  const all = { type: 'github', url: server.url, ...credential, ...others };
  const opened = await openedHost(t, all, { env: ENV, ...options });
  return { ...opened, server };
}

function paths(repos: readonly HostRepo[]): string[] {
  return pathsOf({ repos }).sort();
}

test('a repository is described as GitHub does, with addresses of the connection', async (t) => {
  const { host, server } = await open(
    t,
    {
      repositories: [
        {
          id: 7,
          path: 'Acme/Web.js',
          visibility: 'internal',
          topics: ['web'],
          size: 3,
          pushedAt: '2026-11-02T03:04:05Z',
        },
        {
          id: 8,
          path: 'acme/empty',
          visibility: 'public',
          fork: true,
          archived: true,
          pushedAt: null,
        },
      ],
    },
    { orgs: ['acme'] },
  );
  const { repos, issues } = await listAll(host);
  assert.deepEqual(issues, []);
  assert.deepEqual(repos[0], {
    hostId: '7',
    path: 'Acme/Web.js',
    displayName: 'Acme/Web.js',
    cloneUrl: `${server.url}/Acme/Web.js.git`,
    webUrl: `${server.url}/Acme/Web.js`,
    imageUrl: 'https://avatars.example/u/Acme',
    isFork: false,
    isArchived: false,
    visibility: 'internal',
    topics: ['web'],
    size: 3072,
    pushedAt: '2026-11-02T03:04:05.000Z',
  });
  const { isFork, isArchived, visibility, pushedAt } = repos[1]!;
  assert.deepEqual([isFork, isArchived, visibility, pushedAt], [true, true, 'public', undefined]);
  assert.equal(host.nameHost, new URL(server.url).host);
  assert.equal(host.codeHostType, 'github');
});

test('everything a connection names is listed, once, without its exclusions', async (t) => {
  const { host } = await open(
    t,
    {
      repositories: [
        ...many('acme', 3),
        { id: 1, path: 'acme/old', archived: true },
        { id: 2, path: 'ann/mine', visibility: 'private' },
        { id: 3, path: 'bob/open', visibility: 'public' },
        { id: 4, path: 'bob/closed', visibility: 'private' },
        { id: 5, path: 'other/one' },
      ],
    },
    {
      orgs: ['acme'],
      users: ['ANN', 'bob'],
      repos: ['other/one', 'acme/repo-1'],
      exclude: { archived: true, repos: ['*/repo-2'] },
    },
  );
  const { repos, issues } = await listAll(host);
  assert.deepEqual(issues, []);
  // Of other users GitHub lists public repositories only, for any caller.
  assert.deepEqual(paths(repos), 'acme/repo-0 acme/repo-1 ann/mine bob/open other/one'.split(' '));
});

test('a host without a last page link is read from the first page on', async (t) => {
  const repositories = many('acme', 250);
  const { host } = await open(t, { repositories, hasNoLastLink: true }, { orgs: ['acme'] });
  const { repos, issues } = await listAll(host);
  assert.deepEqual(issues, []);
  assert.equal(new Set(paths(repos)).size, 250);
});

test('unchanged repositories are listed, while others come and go between pages', async (t) => {
  const repositories = many('acme', 350);
  const { host, server } = await open(t, { repositories }, { orgs: ['acme'] });
  const gone = new Set<string>();
  let newest = 1;
  const { repos, issues } = await listAll(host, () => {
    const { state } = server;
    // Of each page that is left one goes, the oldest too, and one comes in.
    for (const at of [0, 90, 150, 210]) gone.add(state.repositories[at]!.path);
    state.repositories = [
      ...state.repositories.filter((one) => !gone.has(one.path)),
      { id: newest, path: `acme/new-${newest++}` },
    ];
  });
  assert.deepEqual(issues, []);
  const listed = new Set(paths(repos));
  const missing = repositories.filter((one) => !gone.has(one.path) && !listed.has(one.path));
  assert.deepEqual(missing, []);
  assert.equal(listed.size, repos.length, 'each once');
});

const BROKEN: Readonly<Record<string, { body: unknown; headers?: Record<string, string> }>> = {
  'a repository without an id': { body: [{ full_name: 'acme/one', fork: false, private: true }] },
  'a path that leads elsewhere': {
    body: [{ id: 1, full_name: 'acme/..', fork: false, private: true }],
  },
  'a path of three parts': { body: [{ id: 1, full_name: 'acme/a/b', fork: false, private: true }] },
  'nothing at all': { body: '' },
  'more than was asked for': {
    body: Array.from({ length: 101 }, (_, at) => ({
      id: at + 1,
      full_name: 'acme/a',
      fork: false,
      private: true,
    })),
  },
  'a name that is a megabyte long': {
    body: [{ id: 1, full_name: `acme/${'a'.repeat(1e6)}`, fork: false, private: true }],
  },
};

for (const [name, reported] of Object.entries(BROKEN)) {
  test(`an invalid answer is an issue: ${name}`, async (t) => {
    const instead = ({ path }: { path: string }) =>
      path.includes('/orgs/') ? reported : undefined;
    const { host } = await open(t, { instead }, { orgs: ['acme'] });
    const listed = await listAll(host);
    assert.deepEqual(listed.repos, []);
    assert.deepEqual(issuesOf(listed), ['HOST_ANSWER_INVALID DISCOVERY_INCOMPLETE']);
  });
}

test('an empty page in the middle is not believed', async (t) => {
  const instead = ({ query }: { query: URLSearchParams }) =>
    query.get('page') === '2' ? { body: [] } : undefined;
  const { host } = await open(t, { repositories: many('acme', 350), instead }, { orgs: ['acme'] });
  const { issues } = await listAll(host);
  assert.equal(issues[0]?.effect, 'DISCOVERY_INCOMPLETE');
  assert.match(issues[0]?.message ?? '', /page 2 is empty/);
});

test('a renamed repository is found by its former name, with its id', async (t) => {
  const repositories = [{ id: 12, path: 'acme/new', formerPath: 'acme/old' }];
  const { host } = await open(t, { repositories }, { repos: ['acme/old'] });
  const { repos, issues } = await listAll(host);
  assert.deepEqual(issues, []);
  assert.deepEqual(
    repos.map(({ hostId, path }) => [hostId, path]),
    [['12', 'acme/new']],
  );
  for (const path of ['acme/old', 'acme/new'])
    assert.deepEqual(await host.repository!(path, SIGNAL), repos[0]);
  await assert.rejects(host.repository!('acme/none', SIGNAL), { code: 'NOT_FOUND' });
});

test('a token revoked during a listing ends it; a replaced token file applies at once', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'trawl-token-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'token');
  writeFileSync(file, ' the-token\n');
  const state = { repositories: many('acme', 350) };
  const { host, server } = await open(t, state, { orgs: ['acme'], token: { file } });
  const exchange = (now: string): void => {
    server.state.tokens.clear();
    server.state.tokens.set('another-token', 'ann');
    writeFileSync(file, now);
  };
  await assert.rejects(
    listAll(host, () => exchange('the-token')),
    /Bad credentials/,
  );
  exchange('another-token');
  assert.equal((await listAll(host)).repos.length, 350);
  rmSync(file);
  await assert.rejects(listAll(host), /no secret/);
  writeFileSync(file, 'another-token');
});

test('without a token public repositories are listed, and no user is requested', async (t) => {
  const repositories = [
    ...many('acme', 2),
    { id: 3, path: 'acme/open', visibility: 'public' as const },
  ];
  const { host, server } = await open(
    t,
    { repositories },
    { orgs: ['acme'], users: ['ann'], token: null },
  );
  const { repos, issues } = await listAll(host);
  assert.deepEqual([paths(repos), issues], [['acme/open'], []]);
  assert.equal(await host.gitCredential({ path: 'acme/open', cloneUrl: '' }, SIGNAL), undefined);
  assert.equal(await host.probe(SIGNAL), 'anonymous');
  assert.ok(server.requested.every(({ headers }) => headers.authorization === undefined));
});

test('a token without a user lists public repositories of users', async (t) => {
  const tokens = new Map([['the-token', '']]);
  const repositories = [{ id: 3, path: 'ann/open', visibility: 'public' as const }];
  const { host } = await open(t, { repositories, tokens }, { users: ['ann'] });
  assert.deepEqual(paths((await listAll(host)).repos), ['ann/open']);
});

test('public repositories of a closed server are for its members', async (t) => {
  const repositories = [{ id: 1, path: 'acme/open', visibility: 'public' as const }];
  const closed = refusal(401, 'Must authenticate to access this API.');
  const limited = refusal(403, 'API rate limit exceeded', {
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': '9999999999',
  });
  const signIn = { body: '<html>Please sign in</html>' };
  for (const [reported, expected] of [
    [undefined, 'public'],
    [closed, 'internal'],
    [limited, 'maybe-public'],
    [signIn, 'internal'],
  ] as const) {
    const instead: GithubState['instead'] = ({ headers }) =>
      headers.authorization === undefined ? reported : undefined;
    const { host } = await open(t, { repositories, instead }, { orgs: ['acme'] });
    assert.deepEqual(visibilitiesOf(await listAll(host)), [expected]);
  }
});

test('a long pause demanded by the host is visible while it lasts', async (t) => {
  const [before, controller] = [Date.now(), new AbortController()];
  const long = () => refusal(429, 'wait', { 'retry-after': '600' });
  const other = await open(t, { repositories: [], instead: long }, { orgs: ['acme'] });
  const listing = other.host.list(controller.signal)[Symbol.asyncIterator]().next();
  const { host: name } = new URL(other.server.url);
  const pauseOf = (name: string) => hostPauses().find(({ host }) => host === name);
  while (pauseOf(name) === undefined) await nextTimeSlice();
  assert.ok(Math.abs(pauseOf(name)!.until - before - 600_000) < 60_000);
  controller.abort(new Error('stopped'));
  await assert.rejects(listing, /stopped/);
});

test('members: all readers, by their account ids', async (t) => {
  const readers = Object.fromEntries(
    Array.from(
      { length: 230 },
      (_, at) =>
        [`${'abcdefghij'[at % 10]}${'x'.repeat(at)}`, at % 7 === 0 ? 'none' : 'read'] as const,
    ),
  );
  const repositories = [{ id: 1, path: 'acme/one', collaborators: readers }];
  const { host } = await open(t, { repositories }, { orgs: ['acme'] });
  const members = await collect(host.members!({ hostId: '1', path: 'acme/one' }, SIGNAL));
  const expected = Object.entries(readers)
    .filter(([, role]) => role === 'read')
    .map(([login]) => String(accountId(login)));
  assert.deepEqual(
    members.map(({ accountId }) => accountId),
    expected,
  );
  assert.ok(members.every(({ emails }) => emails.length === 0));
  await assert.rejects(
    collect(host.members!({ hostId: '2', path: 'acme/none' }, SIGNAL)),
    /acme\/none\/collaborators: not found/,
  );
});

const KEYS = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
});

function appState(installations: FakeApp['installations']): Partial<GithubState> {
  return {
    orgs: ['acme', 'other', 'sleepy'],
    app: { id: 99, publicKey: KEYS.publicKey, installations },
    repositories: [
      { id: 1, path: 'acme/given' },
      { id: 2, path: 'acme/kept' },
      { id: 3, path: 'acme/open', visibility: 'public' },
      { id: 4, path: 'other/open', visibility: 'public' },
      { id: 5, path: 'other/kept' },
      { id: 6, path: 'ann/given' },
      { id: 7, path: 'ann/kept' },
      { id: 8, path: 'ann/open', visibility: 'public' },
    ],
  };
}

async function openWithApp(
  t: TestContext,
  state: Partial<GithubState>,
  settings: Readonly<Record<string, unknown>>,
  key: string = KEYS.privateKey,
): Promise<Opened> {
  const server = await startGithub(t, state);
  const app = {
    type: 'githubApp' as const,
    id: 99,
    privateKey: { env: 'KEY' },
    url: server.url,
  };
  const elsewhere = { ...app, id: 1, url: 'https://github.com' };
  const opened = await openedHost(
    t,
    { type: 'github', url: server.url, ...settings },
    { env: { KEY: key }, apps: [elsewhere, app] },
  );
  return { ...opened, server };
}

const INSTALLED = {
  Acme: { id: 11, repositories: [1] },
  ann: { id: 12, repositories: [6] },
  sleepy: { id: 13, repositories: [], suspended: true },
};

test('an app lists the repositories of its installations, and public ones', async (t) => {
  const { host, server } = await openWithApp(t, appState(INSTALLED), {
    orgs: ['acme'],
    users: ['ann'],
    repos: ['acme/given', 'acme/kept'],
  });
  const { repos, issues } = await listAll(host);
  assert.deepEqual(paths(repos), ['acme/given', 'acme/open', 'ann/given', 'ann/open']);
  assert.deepEqual(
    issues.map(({ code, target }) => [code, target]),
    [['NOT_FOUND', 'repos: acme/kept']],
  );
  const made = server.requested.filter(({ path }) => path.endsWith('/access_tokens'));
  assert.equal(made.length, 2, 'one credential for each installation');
  assert.equal(await host.probe(SIGNAL), 'app trawl-app, installed by 2');
  const credentialFor = async (repo: string) =>
    (await host.gitCredential({ path: repo, cloneUrl: '' }, SIGNAL))?.password.reveal();
  assert.equal(await credentialFor('acme/given'), 'installation-11');
  assert.equal(await credentialFor('ANN/given'), 'installation-12');
  assert.equal(await credentialFor('other/open'), undefined);
});

test('a missing or suspended installation is reported; public repositories are listed', async (t) => {
  const { host } = await openWithApp(t, appState(INSTALLED), { orgs: ['other', 'sleepy', 'acme'] });
  const listed = await listAll(host);
  assert.deepEqual(paths(listed.repos), ['acme/given', 'acme/open', 'other/open']);
  assert.deepEqual(targetIssues(listed), [
    'APP_NOT_INSTALLED orgs: other DISCOVERY_INCOMPLETE',
    'APP_NOT_INSTALLED orgs: sleepy DISCOVERY_INCOMPLETE',
  ]);
});

test('a connection with a token uses no app', async (t) => {
  const { host, server } = await openWithApp(
    t,
    appState(INSTALLED),
    { orgs: ['acme'], token: { env: 'KEY' } },
    'the-token',
  );
  assert.deepEqual(paths((await listAll(host)).repos), ['acme/given', 'acme/kept', 'acme/open']);
  assert.ok(server.requested.every(({ path }) => !path.includes('/app')));
});

test('an app authenticates although the clock of the host is hours off', async (t) => {
  for (const hours of [-5, 5]) {
    const state = { ...appState(INSTALLED), clockAheadMs: hours * 3_600_000 };
    const { host } = await openWithApp(t, state, { orgs: ['acme'] });
    assert.equal((await listAll(host)).repos.length, 2);
  }
});

test('an invalid key, or one of another app, is reported without printing it', async (t) => {
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
  for (const [key, message] of [
    ['-----BEGIN no key at all', /app 99: privateKey is not a private key/],
    ['', /KEY: no secret/],
    [other, /app\/installations: the credential is refused/],
  ] as const) {
    const { host } = await openWithApp(t, appState(INSTALLED), { orgs: ['acme'] }, key);
    await assert.rejects(listAll(host), (error: Error) => {
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /BEGIN/);
      return true;
    });
  }
  const escaped = KEYS.privateKey.replaceAll('\n', String.raw`\n`);
  const { host } = await openWithApp(t, appState(INSTALLED), { orgs: ['acme'] }, escaped);
  assert.equal((await listAll(host)).repos.length, 2);
});
