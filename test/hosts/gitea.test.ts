// A connection to Gitea or Forgejo, against a server that speaks their API.

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { HostError, type HostRepo } from '../../daemon/hosts/host.ts';
import {
  giteaRefusal,
  startGitea,
  type FakeGiteaRepository,
  type GiteaServer,
  type GiteaState,
} from './gitea-server.ts';
import { listAll, openedHost, SIGNAL, type OpenedHost } from './opened.ts';

const ENV = { TOKEN: 'the-token' };
const SIGNED = { token: { env: 'TOKEN' } };

function many(owner: string, count: number, firstId = 1): FakeGiteaRepository[] {
  return Array.from({ length: count }, (_, at) => ({
    id: firstId + at,
    path: `${owner}/repo-${at}`,
    isPrivate: true,
  }));
}

async function open(
  t: TestContext,
  state: Partial<GiteaState>,
  settings: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = ENV,
): Promise<OpenedHost & { readonly server: GiteaServer }> {
  const server = await startGitea(t, state);
  const opened = await openedHost(t, { type: 'gitea', url: server.url, ...settings }, { env });
  return { ...opened, server };
}

function paths(repos: readonly HostRepo[]): string[] {
  return repos.map(({ path }) => path).sort();
}

test('a repository is described as Gitea does, with addresses of the connection', async (t) => {
  const more = { topics: ['web'], size: 3, avatar_url: 'https://avatars.example/repo' };
  const { host, server } = await open(
    t,
    {
      repositories: [
        { id: 7, path: 'acme/Web.js', more },
        {
          id: 8,
          path: 'acme/empty',
          more: { empty: true, fork: true, archived: true, updated_at: 'never' },
        },
      ],
    },
    { orgs: ['acme'], ...SIGNED },
  );
  const { repos, issues } = await listAll(host);
  assert.deepEqual(issues, []);
  assert.deepEqual(repos[0], {
    hostId: '7',
    path: 'acme/Web.js',
    displayName: 'acme/Web.js',
    cloneUrl: `${server.url}/acme/Web.js.git`,
    webUrl: `${server.url}/acme/Web.js`,
    imageUrl: 'https://avatars.example/repo',
    isFork: false,
    isArchived: false,
    visibility: 'public',
    topics: ['web'],
    size: 3072,
    defaultBranch: 'main',
    pushedAt: '2026-11-02T10:12:13.000Z',
  });
  const { isFork, isArchived, defaultBranch, pushedAt, imageUrl } = repos[1]!;
  assert.deepEqual(
    [isFork, isArchived, defaultBranch, pushedAt],
    [true, true, undefined, undefined],
  );
  assert.equal(imageUrl, 'https://avatars.example/acme');
});

test('who sees a repository: itself, its owner and the server count', async (t) => {
  const orgs = { acme: 101, limited: 102, closed: 103 };
  const state: Partial<GiteaState> = {
    orgs,
    visibility: { limited: 'limited', closed: 'private' },
    repositories: [
      { id: 1, path: 'acme/open' },
      { id: 2, path: 'acme/kept', isPrivate: true },
      { id: 3, path: 'acme/inner', more: { internal: true } },
      { id: 4, path: 'limited/open' },
      { id: 5, path: 'closed/open' },
    ],
  };
  const settings = { orgs: Object.keys(orgs), ...SIGNED };
  const seen = async (isClosed: boolean): Promise<string[]> => {
    const { host, server } = await open(t, { ...state, isClosed }, settings);
    const url = { url: server.url };
    const { host: alone } = await openedHost(
      t,
      { type: 'gitea', ...url, ...settings },
      { env: ENV },
    );
    const { repos } = await listAll(host);
    for (const repo of repos) {
      const count = server.asked.length;
      assert.deepEqual(await host.repository!(repo.path, SIGNAL), repo);
      assert.equal(server.asked.length, count + 1);
      assert.deepEqual(await alone.repository!(repo.path, SIGNAL), repo, 'before any listing');
    }
    await assert.rejects(host.repository!('acme/none', SIGNAL), { code: 'NOT_FOUND' });
    return repos.map(({ visibility }) => visibility);
  };
  assert.deepEqual(await seen(false), ['public', 'private', 'private', 'internal', 'private']);
  assert.deepEqual(await seen(true), ['internal', 'private', 'private', 'internal', 'private']);
});

test('where those who do not sign in have asked too often nobody knows what they see, and it is told once', async (t) => {
  const slow = { status: 429, headers: { 'retry-after': '60' }, body: { message: 'slow down' } };
  const repositories = ['acme/one', 'other/two'].map((path, index) => ({ id: index + 1, path }));
  const state: Partial<GiteaState> = {
    orgs: { acme: 101, other: 102 },
    repositories,
    instead: ({ headers }) => (headers.authorization === undefined ? slow : undefined),
  };
  const { host, server } = await open(t, state, { orgs: ['acme', 'other'], ...SIGNED });
  const { repos, issues } = await listAll(host);
  assert.deepEqual(
    repos.map(({ visibility }) => visibility),
    ['maybe-public', 'maybe-public'],
  );
  assert.deepEqual(
    issues.map(({ code, effect }) => [code, effect]),
    [['RATE_LIMITED', 'TARGET_SKIPPED']],
  );
  assert.match(issues[0]!.message, /repositories that were public stay public/);
  const anonymous = server.asked.filter(({ headers }) => headers.authorization === undefined);
  assert.equal(anonymous.length, 1);
});

test('all that a connection names is listed, once, without what it excludes', async (t) => {
  const { host } = await open(
    t,
    {
      repositories: [
        ...many('acme', 3),
        { id: 11, path: 'acme/old', more: { archived: true } },
        { id: 12, path: 'ann/mine', isPrivate: true },
        { id: 13, path: 'bob/open' },
        { id: 14, path: 'other/one' },
      ],
    },
    {
      orgs: ['Acme'],
      users: ['ann', 'bob'],
      repos: ['other/one', 'acme/repo-1'],
      exclude: { archived: true, repos: ['*/repo-2'] },
      ...SIGNED,
    },
  );
  const { repos, issues } = await listAll(host);
  assert.deepEqual(issues, []);
  assert.deepEqual(paths(repos), [
    'acme/repo-0',
    'acme/repo-1',
    'ann/mine',
    'bob/open',
    'other/one',
  ]);
});

for (const count of [0, 1, 50, 51, 130]) {
  for (const how of [
    {},
    { pageSizeMax: 20 },
    { hasNoCount: true },
    { hasNoCount: true, pageSizeMax: 20 },
  ]) {
    test(`pages: ${count} repositories are listed once each, ${JSON.stringify(how)}`, async (t) => {
      const repositories = many('acme', count);
      const { host } = await open(t, { repositories, ...how }, { orgs: ['acme'], ...SIGNED });
      const { repos, issues } = await listAll(host);
      assert.deepEqual(issues, []);
      assert.equal(repos.length, count);
      assert.deepEqual(paths(repos), repositories.map((one) => one.path).sort());
    });
  }
}

test('what stays is listed, whatever comes and goes between two pages', async (t) => {
  const repositories = many('acme', 180);
  const { host, server } = await open(t, { repositories }, { orgs: ['acme'], ...SIGNED });
  const gone = new Set<string>();
  let newest = 1_000;
  const { repos } = await listAll(host, undefined, () => {
    const { state } = server;
    for (const at of [0, 40, 70, 110]) gone.add(state.repositories[at]!.path);
    state.repositories = [
      ...state.repositories.filter((one) => !gone.has(one.path)),
      { id: newest, path: `acme/new-${newest++}` },
    ];
  });
  const listed = new Set(paths(repos));
  assert.deepEqual(
    repositories.filter((one) => !gone.has(one.path) && !listed.has(one.path)),
    [],
  );
});

test('a listing goes on behind any page', async (t) => {
  const repositories = [
    ...many('acme', 120),
    ...many('ann', 60, 1_000),
    { id: 9_999, path: 'other/one' },
  ];
  const settings = { orgs: ['acme'], users: ['ann'], repos: ['other/one'], ...SIGNED };
  const { host, server } = await open(t, { repositories }, settings);
  const { pages } = await listAll(host);
  for (const [index, page] of pages.slice(0, -1).entries()) {
    const { host: later } = await openedHost(
      t,
      { type: 'gitea', url: server.url, ...settings },
      { env: ENV },
    );
    const { repos } = await listAll(later, JSON.parse(JSON.stringify(page.next)));
    const before = pages.slice(0, index + 1).flatMap(({ repos }) => repos);
    assert.deepEqual(
      new Set(paths([...before, ...repos])),
      new Set(repositories.map((one) => one.path)),
    );
  }
});

test('one target that fails is an issue, and the others are listed', async (t) => {
  const { host } = await open(
    t,
    {
      orgs: { acme: 101, broken: 102 },
      repositories: many('acme', 2),
      instead: ({ path, query }) =>
        query.get('uid') === '102' || path.endsWith('/repo-0')
          ? giteaRefusal(500, 'database is locked')
          : undefined,
    },
    {
      orgs: ['nobody', 'broken', 'a/../b', 'acme'],
      repos: ['acme/none', 'acme/repo-0'],
      ...SIGNED,
    },
  );
  const { repos, issues } = await listAll(host);
  assert.deepEqual(paths(repos), ['acme/repo-0', 'acme/repo-1']);
  assert.deepEqual(
    issues.map(({ code, target, effect }) => [code, target, effect]),
    [
      ['NOT_FOUND', 'orgs: nobody', 'DISCOVERY_INCOMPLETE'],
      ['HOST_UNAVAILABLE', 'orgs: broken', 'DISCOVERY_INCOMPLETE'],
      ['NOT_FOUND', 'orgs: a/../b', 'DISCOVERY_INCOMPLETE'],
      ['NOT_FOUND', 'repos: acme/none', 'TARGET_SKIPPED'],
      ['HOST_UNAVAILABLE', 'repos: acme/repo-0', 'DISCOVERY_INCOMPLETE'],
    ],
  );
  assert.match(issues[1]!.message, /orgs: broken: .*500 "database is locked"/);
});

for (const body of [
  '{"ok": true, "data": [{"id": 1, "full_na',
  '<html>Sign in</html>',
  '',
  '{"ok": true, "data": [{"id": 1, "full_name": "acme/..", "private": true, "fork": false}]}',
]) {
  test(`an answer that is none is an issue: ${body.slice(0, 60)}`, async (t) => {
    const headers = { 'content-type': 'application/json' };
    const instead: GiteaState['instead'] = ({ query }) =>
      query.has('uid') ? { body, headers } : undefined;
    const { host } = await open(t, { instead }, { orgs: ['acme'], ...SIGNED });
    const { repos, issues } = await listAll(host);
    assert.deepEqual(repos, []);
    assert.deepEqual(
      issues.map(({ code, effect }) => [code, effect]),
      [['HOST_ANSWER_INVALID', 'DISCOVERY_INCOMPLETE']],
    );
  });
}

test('a host that repeats a page for ever is left, and nothing is taken for gone', async (t) => {
  const repositories = many('acme', 10);
  const instead: GiteaState['instead'] = ({ query }) => {
    query.set('page', '1');
    return undefined;
  };
  const { host, server } = await open(
    t,
    { repositories, hasNoCount: true, instead },
    { orgs: ['acme'], ...SIGNED },
  );
  const { repos, issues } = await listAll(host);
  assert.equal(repos.length, 10);
  assert.equal(issues[0]?.effect, 'DISCOVERY_INCOMPLETE');
  assert.ok(server.asked.length < 100);
});

test('a token that is not taken ends the listing, and is nowhere shown', async (t) => {
  const { host, lines } = await open(
    t,
    {},
    { orgs: ['acme'], ...SIGNED },
    { TOKEN: 'revoked-token' },
  );
  await assert.rejects(listAll(host), (error) => {
    assert.ok(error instanceof HostError);
    assert.equal(error.code, 'NOT_AUTHENTICATED');
    assert.match(error.message, /wrong, expired or revoked/);
    assert.doesNotMatch(error.message + lines.join(''), /revoked-token/);
    return true;
  });
  const { host: other } = await open(t, {}, { orgs: ['acme'], ...SIGNED }, {});
  await assert.rejects(listAll(other), /TOKEN: no secret/);
});

test('without a token what is public is listed', async (t) => {
  const repositories = [...many('acme', 2), { id: 9, path: 'acme/open' }];
  const { host, server } = await open(t, { repositories }, { orgs: ['acme'] });
  const { repos } = await listAll(host);
  assert.deepEqual(
    repos.map(({ path, visibility }) => [path, visibility]),
    [['acme/open', 'public']],
  );
  assert.equal(await host.gitCredential({ path: 'acme/open', cloneUrl: '' }, SIGNAL), undefined);
  assert.equal(await host.probe(SIGNAL), 'anonymous');
  assert.ok(server.asked.every(({ headers }) => headers.authorization === undefined));
  const closed = await open(t, { isClosed: true }, { orgs: ['acme'] });
  await assert.rejects(closed.host.probe(SIGNAL), /Only signed in user/);
});

test('git gets the token; the probe says who it is', async (t) => {
  const { host } = await open(t, {}, { orgs: ['acme'], ...SIGNED });
  const credential = await host.gitCredential({ path: 'acme/one', cloneUrl: '' }, SIGNAL);
  assert.equal(credential?.password.reveal(), 'the-token');
  assert.equal(await host.probe(SIGNAL), 'ann');
});

test('a server below a folder is asked there', async (t) => {
  const { host, server } = await open(t, {}, { orgs: ['acme'], ...SIGNED });
  await host.close();
  const below = { type: 'gitea', url: `${server.url}/git/`, orgs: ['acme'], ...SIGNED };
  const { host: other } = await openedHost(t, below, { env: ENV });
  await listAll(other).catch(() => {});
  assert.ok(server.asked.length > 0);
  assert.ok(server.asked.every(({ path }) => path.startsWith('/git/api/v1/')));
});

test('an aborted listing ends with the reason of its signal', async (t) => {
  const controller = new AbortController();
  const reason = new Error('stopped');
  const instead = (): undefined => {
    controller.abort(reason);
    return undefined;
  };
  const { host } = await open(t, { instead }, { orgs: ['acme'], ...SIGNED });
  await assert.rejects(async () => {
    for await (const page of host.list(undefined, controller.signal)) assert.ok(page);
  }, reason);
});
