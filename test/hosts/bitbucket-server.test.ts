// Bitbucket Data Center, against a stand-in that answers in the shapes of its REST API 1.0 (reference: Repository and Project).

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  openForTest,
  served,
  testListing,
  TOKEN,
  pathsOf,
  visibilitiesOf,
} from './listing-suite.ts';
import { listAll, SIGNAL } from './opened.ts';
import { startServer, type Requested, type StandInReply } from './servers.ts';

interface Repository {
  readonly id: number;
  readonly path: string;
  readonly public?: boolean;
  readonly archived?: boolean;
  readonly origin?: { readonly id: number };
  readonly isProjectPublic?: boolean;
}

interface World {
  repositories: readonly Repository[];
}

/** As many repositories as a page has at most. */
const LIMIT = 1000;

function answer(requested: Requested, { repositories }: World): StandInReply {
  const found = /^\/rest\/api\/1\.0(?:\/projects\/([^/]+))?\/repos(?:\/([^/]+))?$/.exec(
    requested.path,
  );
  assert.notEqual(found, null, requested.path);
  const [key, slug] = [found![1], found![2]].map((text) => text && decodeURIComponent(text));
  const own = repositories.filter(({ path }) => key === undefined || path.startsWith(`${key}/`));
  const one = own.find(({ path }) => path === `${key}/${slug}`);
  if (one !== undefined) return { body: jsonOf(one) };
  const message = `Project ${key} does not exist.`;
  const isThere = key === undefined || key === 'EMPTY' || own.length > 0;
  if (slug !== undefined || !isThere)
    return {
      status: 404,
      body: { errors: [{ context: null, message, exceptionName: 'com.atlassian.x' }] },
    };
  const all = own.filter(
    ({ archived }) =>
      key !== undefined || archived !== true || requested.query.get('archived') === 'ALL',
  );
  const start = Number(requested.query.get('start') ?? 0);
  const limit = Math.min(LIMIT, Number(requested.query.get('limit') ?? 25));
  const values = all.slice(start, start + limit).map(jsonOf);
  const isLastPage = start + limit >= all.length;
  const next = isLastPage ? { nextPageStart: null } : { nextPageStart: start + limit };
  return { body: { size: values.length, limit, isLastPage, values, start, ...next } };
}

function jsonOf(repository: Repository) {
  const { id, path, archived = false, origin, isProjectPublic = false } = repository;
  const [key = '', slug = ''] = path.split('/');
  const type = key.startsWith('~') ? 'PERSONAL' : 'NORMAL';
  return {
    slug,
    id,
    name: slug.toUpperCase(),
    hierarchyId: 'e3c939f9ef4a7fae272e',
    scmId: 'git',
    state: 'AVAILABLE',
    statusMessage: 'Available',
    forkable: true,
    ...(origin === undefined ? {} : { origin }),
    project: {
      key,
      id: 1,
      name: `Project ${key}`,
      type,
      ...(type === 'NORMAL' ? { public: isProjectPublic } : {}),
    },
    public: repository.public ?? false,
    archived,
    links: {
      clone: [
        { href: `ssh://git@bitbucket.example/${key}/${slug}.git`, name: 'ssh' },
        { href: `https://bitbucket.example/scm/${key}/${slug}.git`, name: 'http' },
      ],
      self: [{ href: `https://bitbucket.example/projects/${key}/repos/${slug}/browse` }],
    },
  };
}

const token = { env: 'TOKEN' };
const common = { type: 'bitbucket', deploymentType: 'server', token };

function worldOf(count: number): World {
  const many = Array.from({ length: count }, (_, i) => ({ id: i + 1, path: `FULL/p${i}` }));
  return { repositories: [...many, { id: 9999, path: 'other/one' }] };
}

testListing({
  kind: 'bitbucket server',
  pageSize: LIMIT,
  settings: { ...common, projects: ['FULL', 'other'] },
  fullTarget: 'projects: FULL',
  otherTarget: 'projects: other',
  answer: (requested, count) => {
    const reported = answer(requested, worldOf(Math.max(1, count)));
    if (count > 0 || requested.path !== FULL) return reported;
    return { body: { size: 0, limit: LIMIT, isLastPage: true, values: [], start: 0 } };
  },
  skippedBy: ({ path, query }) => (path === FULL ? Number(query.get('start')) : undefined),
  answerOne: (requested, isMoved) =>
    answer(requested, { repositories: [{ id: 8, path: isMoved ? 'other/after' : 'FULL/before' }] }),
  missing: [
    { projects: ['nobody'], repos: ['other/one', 'FULL/gone'] },
    [
      'NOT_FOUND projects: nobody DISCOVERY_INCOMPLETE',
      'NOT_FOUND repos: FULL/gone TARGET_SKIPPED',
    ],
  ],
});
const FULL = '/rest/api/1.0/projects/FULL/repos';

const start = (t: TestContext, world: World, settings: object) =>
  served(t, (requested) => answer(requested, world), { ...common, ...settings });

test('bitbucket server: fields of a repository, also of a user repository', async (t) => {
  const world = {
    repositories: [
      { id: 5, path: 'PRJ/tool', public: true, archived: true, origin: { id: 1 } },
      { id: 6, path: '~ann/own' },
    ],
  };
  const { host, server } = await start(t, world, { repos: ['PRJ/tool', '~ann/own', 'PRJ/gone'] });
  assert.equal(host.codeHostType, 'bitbucketServer');
  const { repos, issues } = await listAll(host);
  assert.deepEqual(repos, [
    {
      hostId: '5',
      path: 'PRJ/tool',
      displayName: 'Project PRJ/TOOL',
      cloneUrl: `${server.url}/scm/prj/tool.git`,
      webUrl: `${server.url}/projects/PRJ/repos/tool`,
      isFork: true,
      isArchived: true,
      visibility: 'public',
      topics: [],
    },
    {
      hostId: '6',
      path: '~ann/own',
      displayName: 'Project ~ann/OWN',
      cloneUrl: `${server.url}/scm/~ann/own.git`,
      webUrl: `${server.url}/users/ann/repos/own`,
      isFork: false,
      isArchived: false,
      visibility: 'private',
      topics: [],
    },
  ]);
  assert.deepEqual(
    issues.map(({ target, effect }) => [target, effect]),
    [['repos: PRJ/gone', 'TARGET_SKIPPED']],
  );
});

test('bitbucket server: everything, archived too; exclusions', async (t) => {
  const world = {
    repositories: [
      { id: 1, path: 'A/a', archived: true },
      { id: 2, path: 'A/b', origin: { id: 9 } },
      { id: 3, path: 'B/c', isProjectPublic: true },
      { id: 4, path: 'B/d' },
    ],
  };
  for (const [exclude, expected] of [
    [{}, ['A/a', 'A/b', 'B/c', 'B/d']],
    [{ archived: true }, ['A/b', 'B/c', 'B/d']],
    [{ forks: true, repos: ['B/d'] }, ['A/a', 'B/c']],
  ] as const) {
    const { host } = await start(t, world, { all: true, exclude });
    const { repos } = await listAll(host);
    assert.deepEqual(pathsOf({ repos }), expected);
    assert.equal(repos.find(({ path }) => path === 'B/c')?.visibility, 'public');
  }
});

test('bitbucket server: public repositories of a closed server are internal', async (t) => {
  const world = {
    repositories: [
      { id: 1, path: 'A/a', public: true },
      { id: 2, path: 'A/b' },
    ],
  };
  const answered = (requested: Requested) =>
    requested.headers.authorization === undefined
      ? { status: 401, body: { errors: [{ message: 'no' }] } }
      : answer(requested, world);
  const { host } = await served(t, answered, { ...common, projects: ['A'] });
  assert.deepEqual(visibilitiesOf(await listAll(host)), ['internal', 'private']);
});

test('bitbucket server: a page filtered to nothing is not the last', async (t) => {
  const answered = (requested: Requested) => {
    const from = Number(requested.query.get('start'));
    const page = { size: 0, limit: 1000, isLastPage: false, values: [], start: from };
    return from < 3000
      ? { body: { ...page, nextPageStart: from + 1000 } }
      : answer(requested, late);
  };
  const late = {
    repositories: [...worldOf(3000).repositories.slice(0, 3000), { id: 9998, path: 'FULL/last' }],
  };
  const { host } = await served(t, answered, { ...common, projects: ['FULL'] });
  assert.deepEqual(pathsOf(await listAll(host)), ['FULL/last']);
});

test('bitbucket server: a server below a path; tokens with and without a user', async (t) => {
  const server = await startServer(t, (requested) =>
    answer({ ...requested, path: requested.path.replace(/^\/stash/, '') }, worldOf(1)),
  );
  const basic = `Basic ${Buffer.from(`ann:${TOKEN}`).toString('base64')}`;
  for (const [settings, authorization, gitUser] of [
    [{}, `Bearer ${TOKEN}`, 'x-token-auth'],
    [{ user: 'ann' }, basic, 'ann'],
    [{ user: 'ann', gitUser: 'git-ann' }, basic, 'git-ann'],
  ] as const) {
    const where = { url: `${server.url}/stash/`, projects: ['FULL'] };
    const { host } = await openForTest(t, { ...common, ...where, ...settings });
    const { repos } = await listAll(host);
    assert.equal(repos[0]?.cloneUrl, `${server.url}/stash/scm/full/p0.git`);
    assert.equal(server.requested.at(-1)?.headers.authorization, authorization);
    const credential = await host.gitCredential({ path: 'FULL/p0', cloneUrl: 'x' }, SIGNAL);
    assert.deepEqual([credential?.user, credential?.password.reveal()], [gitUser, TOKEN]);
    assert.equal(await host.probe(SIGNAL), 'user' in settings ? 'ann' : 'an access token');
  }
});

test('bitbucket server: a project that the token may not read does not stop the others', async (t) => {
  const errors = [
    {
      context: null,
      message: 'You are not permitted to access this resource',
      exceptionName: 'com.atlassian.bitbucket.AuthorisationException',
    },
  ];
  const answered = (requested: Requested) =>
    requested.path.includes('/CLOSED/')
      ? { status: 401, body: { errors } }
      : answer(requested, worldOf(1));
  const settings = { ...common, projects: ['CLOSED', 'FULL'], repos: ['CLOSED/one'] };
  const { host } = await served(t, answered, settings);
  const { repos, issues } = await listAll(host);
  assert.deepEqual(pathsOf({ repos }), ['FULL/p0']);
  assert.deepEqual(
    issues.map(({ code, target }) => [code, target]),
    [
      ['NOT_ALLOWED', 'projects: CLOSED'],
      ['NOT_ALLOWED', 'repos: CLOSED/one'],
    ],
  );
});
