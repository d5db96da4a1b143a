// The GitLab client against a fake server: listings, visibility, members and errors.

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { HostError, type HostMember } from '../../daemon/hosts/host.ts';
import { answerAsGitLab, type GitLabMember, type GitLabWorld, projectOf } from './gitlab-server.ts';
import { served, testListing, TOKEN, pathsOf, visibilitiesOf } from './listing-suite.ts';
import { collect, listAll, SIGNAL } from './opened.ts';
import type { Requested } from './servers.ts';

const WORLD = { token: TOKEN, groups: ['full', 'other'], users: ['ann'] };
const token = { env: 'TOKEN' };

function worldOf(count: number): GitLabWorld {
  const many = Array.from({ length: count }, (_, i) => projectOf(1000 - i, `full/p${i}`));
  return { ...WORLD, projects: [...many, projectOf(2000, 'other/one')] };
}

testListing({
  kind: 'gitlab',
  pageSize: 100,
  isFirstPageReadTwice: true,
  settings: { type: 'gitlab', token, groups: ['full', 'other'] },
  fullTarget: 'groups: full',
  otherTarget: 'groups: other',
  answer: (requested, count) => answerAsGitLab(requested, worldOf(count)),
  skippedBy: ({ path, query }) =>
    path === '/api/v4/groups/full/projects' ? (Number(query.get('page')) - 1) * 100 : undefined,
  missing: [
    { groups: ['nobody'], projects: ['full/p1', 'full/gone'] },
    [
      'NOT_FOUND groups: nobody DISCOVERY_INCOMPLETE',
      'NOT_FOUND projects: full/gone TARGET_SKIPPED',
    ],
  ],
  answerOne: (requested, isMoved) =>
    answerAsGitLab(requested, {
      ...WORLD,
      projects: [projectOf(8, isMoved ? 'other/after' : 'full/before')],
    }),
  callers: ['oauth2', 'bot'],
});

testListing({
  kind: 'gitlab, everything',
  pageSize: 100,
  settings: { type: 'gitlab', token, all: true },
  fullTarget: 'all',
  otherTarget: undefined,
  answer: (requested, count) => {
    const world = worldOf(count);
    return answerAsGitLab(requested, { ...world, projects: world.projects.slice(0, count) });
  },
  skippedBy: ({ path, query }) => {
    if (path !== '/api/v4/projects') return undefined;
    return Number(query.get('id_after')) === 0 ? 0 : 100;
  },
});

const start = (t: TestContext, world: GitLabWorld, settings: object) =>
  served(t, (requested) => answerAsGitLab(requested, world), { type: 'gitlab', ...settings });

test('gitlab: fields of a project', async (t) => {
  const world = {
    ...WORLD,
    projects: [
      projectOf(5, 'full/sub/deep', {
        visibility: 'internal',
        topics: ['tools', 'go'],
        forked_from_project: { id: 1 },
        archived: true,
        avatar_url: 'https://gitlab.internal.example/a.png',
      }),
    ],
  };
  const { host, server } = await start(t, world, {
    token,
    groups: ['full'],
    webUrl: 'https://gitlab.example.com/',
  });
  const { repos } = await listAll(host);
  assert.deepEqual(repos, [
    {
      hostId: '5',
      path: 'full/sub/deep',
      displayName: 'full/sub/deep',
      cloneUrl: `${server.url}/full/sub/deep.git`,
      webUrl: 'https://gitlab.example.com/full/sub/deep',
      imageUrl: 'https://gitlab.internal.example/a.png',
      isFork: true,
      isArchived: true,
      visibility: 'internal',
      topics: ['tools', 'go'],
      pushedAt: '2026-11-20T10:00:00.000Z',
    },
  ]);
  assert.equal(host.codeHostType, 'gitlab');
});

test('gitlab: groups with subgroups, users, projects; overlaps are listed once', async (t) => {
  const world = {
    ...WORLD,
    projects: [
      projectOf(1, 'full/a'),
      projectOf(2, 'full/sub/b'),
      projectOf(3, 'ann/c', { namespace: { kind: 'user', full_path: 'ann' } }),
      projectOf(4, 'x/y/d'),
      projectOf(5, 'x/y/e'),
    ],
  };
  const settings = {
    token,
    groups: ['full'],
    users: ['ann'],
    projects: ['x/y/d', 'full/a', 'x/gone'],
  };
  const { host } = await start(t, world, settings);
  const { repos, issues } = await listAll(host);
  assert.deepEqual(pathsOf({ repos }), ['full/a', 'full/sub/b', 'ann/c', 'x/y/d']);
  assert.deepEqual(
    issues.map(({ target, effect }) => [target, effect]),
    [['projects: x/gone', 'TARGET_SKIPPED']],
  );
});

test('gitlab: code visibility follows the repository setting, not the project', async (t) => {
  const world = {
    ...WORLD,
    projects: [
      projectOf(1, 'full/open', { visibility: 'public' }),
      projectOf(2, 'full/members', { visibility: 'public', repository_access_level: 'private' }),
      projectOf(3, 'full/unreadable', { visibility: 'public', default_branch: undefined as never }),
      projectOf(4, 'full/empty', { visibility: 'public', default_branch: null }),
      projectOf(5, 'full/issues', { visibility: 'public', repository_access_level: 'disabled' }),
    ],
  };
  const { host } = await start(t, world, { token, groups: ['full'] });
  const { repos } = await listAll(host);
  assert.deepEqual(
    repos.map(({ path, visibility }) => [path, visibility]),
    [
      ['full/open', 'public'],
      ['full/members', 'private'],
      ['full/unreadable', 'private'],
      ['full/empty', 'public'],
    ],
  );
});

test('gitlab: public projects of a closed server are internal', async (t) => {
  const world = {
    ...WORLD,
    projects: [projectOf(1, 'full/open', { visibility: 'public' }), projectOf(2, 'full/own')],
  };
  const answer = (requested: Requested) =>
    requested.headers.authorization === undefined
      ? { status: 302, headers: { location: 'https://sign-in.example/' } }
      : answerAsGitLab(requested, world);
  const { host } = await served(t, answer, { type: 'gitlab', token, groups: ['full'] });
  const { repos, issues } = await listAll(host);
  assert.deepEqual([visibilitiesOf({ repos }), issues], [['internal', 'private'], []]);
});

test('gitlab: without a token projects with readable code are public, and no credential is sent', async (t) => {
  const world = {
    ...WORLD,
    projects: [
      projectOf(1, 'full/open', { visibility: 'public' }),
      projectOf(2, 'full/old', { visibility: 'public', archived: true }),
      projectOf(3, 'full/secret'),
      projectOf(4, 'full/members', { visibility: 'public', default_branch: undefined as never }),
    ],
  };
  const { host, server } = await start(t, world, { groups: ['full'], exclude: { archived: true } });
  const { repos } = await listAll(host);
  assert.deepEqual(
    repos.map(({ path, visibility }) => [path, visibility]),
    [
      ['full/open', 'public'],
      ['full/members', 'private'],
    ],
  );
  assert.equal(server.requested[0]?.headers.authorization, undefined);
  assert.equal(await host.gitCredential(repos[0]!, SIGNAL), undefined);
  assert.equal(await host.probe(SIGNAL), 'anonymous');
});

const EXCLUDED: readonly [exclude: object, topics: readonly string[], left: readonly number[]][] = [
  [{ forks: true, projects: ['full/sub/*'] }, [], [1, 3, 4]],
  [{ archived: true, topics: ['old-*'] }, [], [2, 4, 5]],
  [{ userOwnedProjects: true }, [], [1, 2, 3, 5]],
  [{ projects: ['**/e'] }, ['go', 'rust*'], [2]],
];

test('gitlab: exclusions, and requested topics', async (t) => {
  const world = {
    ...WORLD,
    projects: [
      projectOf(1, 'full/a', { topics: ['old-stuff'] }),
      projectOf(2, 'full/b', { topics: ['go'], forked_from_project: { id: 9 } }),
      projectOf(3, 'full/c', { archived: true }),
      projectOf(4, 'ann/d', { namespace: { kind: 'user', full_path: 'ann' } }),
      projectOf(5, 'full/sub/e', { topics: ['rust-lang', 'x'] }),
    ],
  };
  for (const [exclude, topics, expected] of EXCLUDED) {
    const { host } = await start(t, world, {
      token,
      groups: ['full'],
      users: ['ann'],
      topics,
      exclude,
    });
    const ids = (await listAll(host)).repos.map(({ hostId }) => Number(hostId));
    assert.deepEqual(new Set(ids), new Set(expected), JSON.stringify({ exclude, topics }));
  }
});

test('gitlab: a configuration that would list wrongly is refused with the next step', async (t) => {
  const world = { ...WORLD, projects: [] };
  const noToken = await start(t, world, { groups: ['full'], exclude: { forks: true } });
  await assert.rejects(listAll(noToken.host), /exclude\.forks.*give `token`/);
});

const membersOf = (members: AsyncIterable<HostMember> | undefined): Promise<HostMember[]> =>
  collect(members!);

function memberOf(id: number, more: Partial<GitLabMember> = {}): GitLabMember {
  const confirmed_at = '2026-01-01T00:00:00.000Z';
  return {
    id,
    state: 'active',
    access_level: 20,
    email: `u${id}@example.com`,
    confirmed_at,
    ...more,
  };
}

const MEMBERS = [
  memberOf(1),
  memberOf(2, { access_level: 10 }),
  memberOf(3, { access_level: 15 }),
  memberOf(4, { state: 'blocked', access_level: 50 }),
  memberOf(6, { membership_state: 'awaiting' }),
  memberOf(5, { confirmed_at: null, access_level: 40 }),
  ...Array.from({ length: 120 }, (_, i) => memberOf(100 + i, { access_level: 30 })),
];

test('gitlab: members who can read the code, all pages, e-mail addresses only for administrators', async (t) => {
  for (const isAdmin of [true, false]) {
    const world = { ...WORLD, projects: [], members: MEMBERS, isAdmin };
    const { host, server } = await start(t, world, { token, groups: ['full'] });
    const repo = { hostId: '8', path: 'full/a' };
    const members = await membersOf(host.members?.(repo, SIGNAL));
    assert.equal(members.length, 122);
    const emails = (id: number): readonly string[] | undefined =>
      members.find(({ accountId }) => accountId === String(id))?.emails;
    assert.deepEqual([2, 3, 4, 6].map(emails), Array(4).fill(undefined));
    assert.deepEqual(
      [1, 5, 219].map(emails),
      isAdmin ? [['u1@example.com'], [], ['u219@example.com']] : [[], [], []],
    );
    assert.equal(server.requested[0]?.path, '/api/v4/projects/8/members/all');
    const users = (): number =>
      server.requested.filter(({ path }) => path.includes('/users/')).length;
    assert.equal(users(), isAdmin ? 122 : 1);
    await membersOf(host.members?.(repo, SIGNAL));
    assert.equal(users(), isAdmin ? 122 : 2, 'addresses are kept for a while');
  }
});

test('gitlab: unreadable members are an error, never fewer members', async (t) => {
  const answer = (requested: Requested) =>
    requested.query.get('page') === '1'
      ? answerAsGitLab(requested, { ...WORLD, projects: [], members: MEMBERS })
      : { status: 403, body: { message: '403 Forbidden' } };
  const { host } = await served(t, answer, { type: 'gitlab', token, groups: ['full'] });
  await assert.rejects(
    membersOf(host.members?.({ hostId: '8', path: 'full/a' }, SIGNAL)),
    (error) => error instanceof HostError,
  );
});
