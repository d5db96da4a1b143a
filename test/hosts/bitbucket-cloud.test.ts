// Bitbucket Cloud, against a stand-in that answers in the shapes of its REST API 2.0 (reference: Repositories, Workspaces,
// Users).

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { pathsOf, served, testListing, TOKEN, visibilitiesOf } from './listing-suite.ts';
import { listAll, SIGNAL } from './opened.ts';
import type { Requested, StandInReply } from './servers.ts';

interface Repository {
  readonly uuid: string;
  readonly full_name: string;
  readonly key?: string;
  readonly is_private?: boolean;
  readonly parent?: { readonly uuid: string };
}

interface World {
  repositories: readonly Repository[];
  readonly workspaces?: readonly string[];
}

function answer(
  requested: Requested,
  { repositories, workspaces = ['full', 'other'] }: World,
): StandInReply {
  const [, version, area, workspace = '', slug] = requested.path.split('/').map(decodeURIComponent);
  assert.equal(version, '2.0');
  if (area === 'user' && workspace === '')
    return { body: { type: 'user', uuid: '{7}', display_name: 'Ann' } };
  if (area === 'user') return workspacePage(requested, workspaces);
  const own = repositories.filter((one) => one.full_name.startsWith(`${workspace}/`));
  const one = own.find((one) => one.full_name === `${workspace}/${slug}`);
  if (one !== undefined)
    return { body: picked({ values: [jsonOf(one)] }, requested, 'values.').values[0] };
  const error = { type: 'error', error: { message: `Workspace ${workspace} not found` } };
  if (slug !== undefined || !workspaces.includes(workspace)) return { status: 404, body: error };
  const key = /^project\.key="(.*)"$/.exec(requested.query.get('q') ?? '')?.[1];
  const all = own.filter((one) => key === undefined || one.key === key).map(jsonOf);
  return { body: picked({ ...paged(requested, all), size: all.length }, requested, '') };
}

function workspacePage(requested: Requested, slugs: readonly string[]): StandInReply {
  const all = slugs.map((slug) => {
    const workspace = { type: 'workspace_base', uuid: `{${slug}}`, slug };
    return { type: 'workspace_access', administrator: false, workspace };
  });
  return { body: paged(requested, all) };
}

/** The requested page, 10 by default, 100 at most; the next one is named by its whole address. */
function paged<Item>(requested: Requested, all: readonly Item[]) {
  const page = Number(requested.query.get('page') ?? 1);
  const pagelen = Math.min(100, Number(requested.query.get('pagelen') ?? 10));
  const query = new URLSearchParams(requested.query);
  query.set('page', String(page + 1));
  const next = `http://${requested.headers.host}${requested.path}?${query.toString()}`;
  const values = all.slice((page - 1) * pagelen, page * pagelen);
  return { values, pagelen, page, ...(page * pagelen < all.length ? { next } : {}) };
}

/** Leaves what `fields` names, as Bitbucket does. */
function picked(
  body: { values?: Record<string, unknown>[]; size?: number },
  requested: Requested,
  prefix: string,
) {
  const fields = requested.query
    .get('fields')!
    .split(',')
    .map((field) => prefix + field);
  const kept = (name: string): boolean =>
    fields.some((field) => field === name || field.startsWith(`${name}.`));
  const values = body.values!.map((value) =>
    Object.fromEntries(Object.entries(value).filter(([name]) => kept(`values.${name}`))),
  );
  const outer = Object.fromEntries(Object.entries(body).filter(([name]) => kept(name)));
  return { ...outer, values };
}

function jsonOf({ key = 'KEY', ...repository }: Repository) {
  const { full_name: name } = repository;
  return {
    type: 'repository',
    is_private: true,
    size: 1234,
    mainbranch: { type: 'branch', name: 'main' },
    ...repository,
    name: name.split('/')[1]!,
    slug: name.split('/')[1]!,
    scm: 'git',
    created_on: '2026-01-02T03:04:05.678901+00:00',
    updated_on: '2026-11-20T10:00:00.123456+00:00',
    project: { type: 'project', key },
    links: {
      avatar: { href: 'https://bytebucket.example/avatar' },
      html: { href: `https://bitbucket.org/${name}` },
      clone: [{ href: `https://ann@bitbucket.org/${name}.git`, name: 'https' }],
    },
  };
}

const token = { env: 'TOKEN' };

function worldOf(count: number): World {
  const many = Array.from({ length: count }, (_, i) => ({
    uuid: `{${i}}`,
    full_name: `full/p${i}`,
  }));
  return { repositories: [...many, { uuid: '{x}', full_name: 'other/one' }] };
}

testListing({
  kind: 'bitbucket cloud',
  pageSize: 100,
  settings: { type: 'bitbucket', token, workspaces: ['full', 'other'] },
  fullTarget: 'workspaces: full',
  otherTarget: 'workspaces: other',
  answer: (requested, count) => answer(requested, worldOf(count)),
  skippedBy: ({ path, query }) =>
    path === '/2.0/repositories/full' ? (Number(query.get('page') ?? 1) - 1) * 100 : undefined,
  answerOne: (requested, isMoved) => {
    const full_name = isMoved ? 'other/after' : 'full/before';
    return answer(requested, { repositories: [{ uuid: '{8}', full_name }] });
  },
  missing: [
    { workspaces: ['nobody'], repos: ['full/p1', 'full/gone'] },
    [
      'NOT_FOUND workspaces: nobody DISCOVERY_INCOMPLETE',
      'NOT_FOUND repos: full/gone TARGET_SKIPPED',
    ],
  ],
  pageElsewhere: (url) => ({ body: { values: [], next: `${url}/2.0/repositories/full?page=2` } }),
});

const start = (t: TestContext, world: World, settings: object) =>
  served(t, (requested) => answer(requested, world), { type: 'bitbucket', ...settings });

test('bitbucket cloud: fields of a repository', async (t) => {
  const fork = { uuid: '{a}', full_name: 'full/a', is_private: false, parent: { uuid: '{z}' } };
  const { host, server } = await start(t, { repositories: [fork] }, { token, repos: ['full/a'] });
  assert.equal(host.codeHostType, 'bitbucketCloud');
  assert.deepEqual((await listAll(host)).repos, [
    {
      hostId: '{a}',
      path: 'full/a',
      displayName: 'full/a',
      cloneUrl: `${server.url}/full/a.git`,
      webUrl: `${server.url}/full/a`,
      imageUrl: 'https://bytebucket.example/avatar',
      isFork: true,
      isArchived: false,
      visibility: 'public',
      topics: [],
      pushedAt: '2026-11-20T10:00:00.123Z',
    },
  ]);
});

test('bitbucket cloud: workspaces, projects, repositories, and all own workspaces', async (t) => {
  const world = {
    workspaces: Array.from({ length: 120 }, (_, i) => `w${i}`),
    repositories: [
      { uuid: '{1}', full_name: 'w1/a', key: 'ONE' },
      { uuid: '{2}', full_name: 'w1/b', key: 'TWO', is_private: undefined as never },
      { uuid: '{3}', full_name: 'w119/c' },
    ],
  };
  const listedBy = async (settings: object) => {
    const { host } = await start(t, world, { token, ...settings });
    const { repos, issues } = await listAll(host);
    return [pathsOf({ repos }), issues.map(({ target, effect }) => [target, effect])];
  };
  assert.deepEqual(await listedBy({ all: true }), [['w1/a', 'w1/b', 'w119/c'], []]);
  assert.deepEqual(await listedBy({ projects: ['w1/TWO'] }), [['w1/b'], []]);
  assert.deepEqual(await listedBy({ repos: ['w119/c', 'w1/gone'], workspaces: ['nobody'] }), [
    ['w119/c'],
    [
      ['workspaces: nobody', 'DISCOVERY_INCOMPLETE'],
      ['repos: w1/gone', 'TARGET_SKIPPED'],
    ],
  ]);
  const { host } = await start(t, world, { token, workspaces: ['w1'] });
  const visibilities = visibilitiesOf(await listAll(host));
  assert.deepEqual(visibilities, ['private', 'unknown']);
});

test('bitbucket cloud: own workspaces that cannot be listed are an issue, named ones are listed', async (t) => {
  const answered = (requested: Requested) =>
    requested.path === '/2.0/user/workspaces'
      ? { status: 410, body: { type: 'error', error: { message: 'CHANGE-2770' } } }
      : answer(requested, worldOf(3));
  const settings = { type: 'bitbucket', token, all: true, workspaces: ['other'] };
  const { host } = await served(t, answered, settings);
  const { repos, issues } = await listAll(host);
  assert.deepEqual(pathsOf({ repos }), ['other/one']);
  assert.deepEqual(
    issues.map(({ target, effect }) => [target, effect]),
    [['all', 'DISCOVERY_INCOMPLETE']],
  );
});

test('bitbucket cloud: forks and globs are excluded', async (t) => {
  const world = {
    repositories: [
      { uuid: '{1}', full_name: 'full/a', parent: { uuid: '{9}' } },
      { uuid: '{2}', full_name: 'full/b' },
      { uuid: '{3}', full_name: 'full/c-old' },
    ],
  };
  const exclude = { forks: true, archived: true, repos: ['full/*-old'] };
  const { host } = await start(t, world, { token, workspaces: ['full'], exclude });
  assert.deepEqual(pathsOf(await listAll(host)), ['full/b']);
});

test('bitbucket cloud: each kind of token is sent with its name, to the API and to git', async (t) => {
  const basic = (user: string): string =>
    `Basic ${Buffer.from(`${user}:${TOKEN}`).toString('base64')}`;
  for (const [settings, authorization, gitUser] of [
    [{}, `Bearer ${TOKEN}`, 'x-token-auth'],
    [{ user: 'ann' }, basic('ann'), 'ann'],
    [{ user: 'ann@example.com' }, basic('ann@example.com'), 'x-bitbucket-api-token-auth'],
    [{ user: 'ann@example.com', gitUser: 'ann' }, basic('ann@example.com'), 'ann'],
  ] as const) {
    const { host, server } = await start(t, worldOf(1), {
      token,
      workspaces: ['full'],
      ...settings,
    });
    await listAll(host);
    assert.equal(server.requested[0]?.headers.authorization, authorization);
    const credential = await host.gitCredential({ path: 'full/p0', cloneUrl: 'x' }, SIGNAL);
    assert.deepEqual([credential?.user, credential?.password.reveal()], [gitUser, TOKEN]);
    assert.equal(await host.probe(SIGNAL), 'Ann');
  }
});
