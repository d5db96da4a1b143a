// A connection to Gitea or Forgejo, against a server that speaks their API.

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { HostRepo } from '../../daemon/hosts/host.ts';
import {
  answerAsGitea,
  giteaState,
  startGitea,
  type FakeGiteaRepository,
  type GiteaServer,
  type GiteaState,
} from './gitea-server.ts';
import { testListing, TOKEN, pathsOf, visibilitiesOf, issuesOf } from './listing-suite.ts';
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

testListing({
  kind: 'gitea',
  pageSize: 50,
  isFirstPageReadTwice: true,
  settings: { type: 'gitea', ...SIGNED, orgs: ['full', 'other'] },
  fullTarget: 'orgs: full',
  otherTarget: 'orgs: other',
  answer: (requested, count) =>
    answerAsGitea(
      requested,
      giteaState({
        orgs: { full: 101, other: 102 },
        token: TOKEN,
        repositories: [...many('full', count), { id: 999, path: 'other/one', isPrivate: true }],
      }),
    ),
  skippedBy: ({ query }) =>
    query.get('uid') === '101' ? (Number(query.get('page') ?? 1) - 1) * 50 : undefined,
  missing: [
    { orgs: ['nobody', 'a/../b'], repos: ['full/none', 'full/repo-0'] },
    [
      'NOT_FOUND orgs: nobody DISCOVERY_INCOMPLETE',
      'NOT_FOUND orgs: a/../b DISCOVERY_INCOMPLETE',
      'NOT_FOUND repos: full/none TARGET_SKIPPED',
    ],
  ],
  uncounted: ({ body }) => ({ body }),
  callers: ['x-access-token', 'ann'],
});

async function open(
  t: TestContext,
  state: Partial<GiteaState>,
  settings: Readonly<Record<string, unknown>>,
): Promise<OpenedHost & { readonly server: GiteaServer }> {
  const server = await startGitea(t, state);
  const opened = await openedHost(t, { type: 'gitea', url: server.url, ...settings }, { env: ENV });
  return { ...opened, server };
}

function paths(repos: readonly HostRepo[]): string[] {
  return pathsOf({ repos }).sort();
}

test('a repository is described as Gitea does, with addresses of the connection', async (t) => {
  const more = { topics: ['web'], avatar_url: 'https://avatars.example/repo' };
  const { host, server } = await open(
    t,
    {
      repositories: [
        { id: 7, path: 'acme/Web.js', more },
        {
          id: 8,
          path: 'acme/empty',
          more: { fork: true, archived: true, updated_at: 'never' },
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
    pushedAt: '2026-11-02T10:12:13.000Z',
  });
  const { isFork, isArchived, pushedAt, imageUrl } = repos[1]!;
  assert.deepEqual([isFork, isArchived, pushedAt], [true, true, undefined]);
  assert.equal(imageUrl, 'https://avatars.example/acme');
});

test('visibility depends on the repository, its owner and the server', async (t) => {
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
  const listedNames = async (isClosed: boolean): Promise<string[]> => {
    const { host, server } = await open(t, { ...state, isClosed }, settings);
    const url = { url: server.url };
    const { host: alone } = await openedHost(
      t,
      { type: 'gitea', ...url, ...settings },
      { env: ENV },
    );
    const { repos } = await listAll(host);
    for (const repo of repos) {
      const count = server.requested.length;
      assert.deepEqual(await host.repository!(repo.path, SIGNAL), repo);
      assert.equal(server.requested.length, count + 1);
      assert.deepEqual(await alone.repository!(repo.path, SIGNAL), repo, 'before any listing');
    }
    await assert.rejects(host.repository!('acme/none', SIGNAL), { code: 'NOT_FOUND' });
    return visibilitiesOf({ repos });
  };
  assert.deepEqual(await listedNames(false), 'public private private internal private'.split(' '));
  assert.deepEqual(await listedNames(true), 'internal private private internal private'.split(' '));
});

test('when anonymous requests are rate limited visibility is unknown, and reported once', async (t) => {
  const slow = { status: 429, headers: { 'retry-after': '60' }, body: { message: 'slow down' } };
  const repositories = ['acme/one', 'other/two'].map((path, index) => ({ id: index + 1, path }));
  const state: Partial<GiteaState> = {
    orgs: { acme: 101, other: 102 },
    repositories,
    instead: ({ headers }) => (headers.authorization === undefined ? slow : undefined),
  };
  const { host, server } = await open(t, state, { orgs: ['acme', 'other'], ...SIGNED });
  const { repos, issues } = await listAll(host);
  assert.deepEqual(visibilitiesOf({ repos }), ['maybe-public', 'maybe-public']);
  assert.deepEqual(issuesOf({ issues }), ['RATE_LIMITED TARGET_SKIPPED']);
  assert.match(issues[0]!.message, /repositories that were public stay public/);
  const anonymous = server.requested.filter(({ headers }) => headers.authorization === undefined);
  assert.equal(anonymous.length, 1);
});

test('everything a connection names is listed, once, without its exclusions', async (t) => {
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
  assert.deepEqual(paths(repos), 'acme/repo-0 acme/repo-1 ann/mine bob/open other/one'.split(' '));
});

for (const how of [
  { pageSizeMax: 20 },
  { hasNoCount: true },
  { hasNoCount: true, pageSizeMax: 20 },
]) {
  test(`pages: repositories are listed once each, ${JSON.stringify(how)}`, async (t) => {
    for (const count of [0, 1, 50, 51, 130]) {
      const repositories = many('acme', count);
      const { host } = await open(t, { repositories, ...how }, { orgs: ['acme'], ...SIGNED });
      const { repos, issues } = await listAll(host);
      assert.deepEqual(issues, []);
      assert.deepEqual(paths(repos), repositories.map((one) => one.path).sort());
    }
  });
}

test('a page with fewer repositories than the count is not a complete listing', async (t) => {
  for (const short of [1, 2, 3]) {
    const state = giteaState({ repositories: many('acme', 130) });
    const instead: GiteaState['instead'] = (requested) => {
      const answered = answerAsGitea(requested, state);
      if (requested.query.get('page') !== String(short)) return answered;
      const { data } = answered.body as { data: object[] };
      return { ...answered, body: { ok: true, data: data.slice(1) } };
    };
    const { host } = await open(t, { instead }, { orgs: ['acme'], ...SIGNED });
    const { issues } = await listAll(host);
    assert.deepEqual(
      issuesOf({ issues }),
      ['HOST_ANSWER_INVALID DISCOVERY_INCOMPLETE'],
      `${short}`,
    );
  }
});

test('without a token public repositories are listed', async (t) => {
  const repositories = [...many('acme', 2), { id: 9, path: 'acme/open' }];
  const { host, server } = await open(t, { repositories }, { orgs: ['acme'] });
  const { repos } = await listAll(host);
  assert.deepEqual(
    repos.map(({ path, visibility }) => [path, visibility]),
    [['acme/open', 'public']],
  );
  assert.equal(await host.gitCredential({ path: 'acme/open', cloneUrl: '' }, SIGNAL), undefined);
  assert.equal(await host.probe(SIGNAL), 'anonymous');
  assert.ok(server.requested.every(({ headers }) => headers.authorization === undefined));
  const closed = await open(t, { isClosed: true }, { orgs: ['acme'] });
  await assert.rejects(closed.host.probe(SIGNAL), /Only signed in user/);
});

test('a server below a folder is requested there', async (t) => {
  const { host, server } = await open(t, {}, { orgs: ['acme'], ...SIGNED });
  await host.close();
  const below = { type: 'gitea', url: `${server.url}/git/`, orgs: ['acme'], ...SIGNED };
  const { host: other } = await openedHost(t, below, { env: ENV });
  await listAll(other).catch(() => {});
  assert.ok(server.requested.length > 0);
  assert.ok(server.requested.every(({ path }) => path.startsWith('/git/api/v1/')));
});
