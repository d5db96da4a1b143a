// Azure DevOps against a stand-in that answers in the shapes of its REST API 7 (reference: Git Repositories, Project
// Collections, Accounts, Profiles).

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { HostError } from '../../daemon/hosts/host.ts';
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
  readonly id: string;
  /** `org/project/name`. */
  readonly path: string;
  readonly visibility?: 'private' | 'public' | 'organization';
  readonly isDisabled?: boolean;
  readonly isFork?: boolean;
  readonly size?: number;
}

interface World {
  repositories: readonly Repository[];
  readonly collections?: readonly string[];
}

const BASIC = `Basic ${Buffer.from(`:${TOKEN}`).toString('base64')}`;

function answer(requested: Requested, world: World): StandInReply {
  // Not a refusal: a page for people.
  if (requested.headers.authorization !== BASIC)
    return { status: 203, body: '<html>Sign In</html>', headers: { 'content-type': 'text/html' } };
  const [prefix = '', what = ''] = requested.path.split('/_apis/').map(decodeURIComponent);
  const names = prefix.split('/').filter((name) => name !== '' && name !== 'tfs');
  if (what === 'profile/profiles/me')
    return { body: { id: 'me', displayName: 'Ann', emailAddress: 'ann@example.com' } };
  if (what === 'connectionData')
    return {
      body: { authenticatedUser: { id: 'me', providerDisplayName: 'Ann' }, instanceId: 'x' },
    };
  if (what === 'accounts') return accounts(requested, world);
  if (what === 'projectCollections') return collections(requested, world);
  const own = world.repositories.filter(({ path }) => path.startsWith(`${names.join('/')}/`));
  const [, , slug] = what.split('/');
  const one = own.find(({ path }) => path.split('/')[2] === slug);
  if (slug !== undefined && one !== undefined) return { body: jsonOf(one, requested) };
  if (slug !== undefined || (own.length === 0 && names[0] !== 'empty'))
    return {
      status: 404,
      body: { $id: '1', message: `TF200016: ${names.at(-1)} does not exist.`, errorCode: 0 },
    };
  return { body: { count: own.length, value: own.map((one) => jsonOf(one, requested)) } };
}

function orgsOf({ repositories }: World): string[] {
  return [...new Set(repositories.map(({ path }) => path.split('/')[0]!))];
}

function accounts(requested: Requested, world: World): StandInReply {
  assert.equal(requested.query.get('memberId'), 'me');
  const value = orgsOf(world).map((accountName) => ({
    accountId: `id-${accountName}`,
    accountUri: `https://vssps.example/${accountName}`,
    accountName,
    properties: {},
  }));
  return { body: { count: value.length, value } };
}

function collections(requested: Requested, world: World): StandInReply {
  const skipped = Number(requested.query.get('$skip') ?? 0);
  const count = Number(requested.query.get('$top') ?? 100);
  const all = world.collections ?? orgsOf(world);
  const value = all
    .slice(skipped, skipped + count)
    .map((name) => ({ id: `id-${name}`, name, url: `https://tfs.example/${name}` }));
  return { body: { count: value.length, value } };
}

function jsonOf(repository: Repository, requested: Requested): object {
  const { id, path, visibility = 'private', isDisabled = false, isFork, size = 728 } = repository;
  const [org = '', project = '', name = ''] = path.split('/');
  const url = `http://${requested.headers.host}/${org}`;
  return {
    id,
    name,
    url: `${url}/_apis/git/repositories/${id}`,
    project: {
      id: `id-${project}`,
      name: project,
      url: `${url}/_apis/projects/${project}`,
      state: 'wellFormed',
      revision: 12,
      visibility,
      lastUpdateTime: '2026-11-20T10:00:00.123Z',
    },
    defaultBranch: 'refs/heads/main',
    size,
    remoteUrl: `https://${org}@dev.azure.com/${org}/${project}/_git/${name}`,
    sshUrl: `git@ssh.dev.azure.com:v3/${path}`,
    webUrl: `https://dev.azure.com/${org}/${project}/_git/${name}`,
    isDisabled,
    isInMaintenance: false,
    ...(isFork === undefined ? {} : { isFork }),
  };
}

const common = { type: 'azuredevops', deploymentType: 'cloud', token: { env: 'TOKEN' } };

function worldOf(count: number): World {
  const many = Array.from({ length: count }, (_, i) => ({ id: `id-${i}`, path: `full/web/p${i}` }));
  return { repositories: [...many, { id: 'x', path: 'other/web/one' }] };
}

testListing({
  kind: 'azure devops',
  pageSize: undefined,
  settings: { ...common, orgs: ['full', 'other'] },
  fullTarget: 'orgs: full',
  otherTarget: 'orgs: other',
  answer: (requested, count) => answer(requested, worldOf(count)),
  skippedBy: ({ path }) => (path === '/full/_apis/git/repositories' ? 0 : undefined),
  answerOne: (requested, isMoved) => {
    const path = isMoved ? 'other/web/after' : 'full/web/before';
    return answer(requested, { repositories: [{ id: '8', path }] });
  },
  missing: [
    { orgs: ['nobody'], projects: ['full/gone'], repos: ['full/web/gone', 'other/web/one'] },
    [
      'NOT_FOUND orgs: nobody DISCOVERY_INCOMPLETE',
      'NOT_FOUND projects: full/gone DISCOVERY_INCOMPLETE',
      'NOT_FOUND repos: full/web/gone TARGET_SKIPPED',
    ],
  ],
});

const start = (t: TestContext, world: World, settings: object) =>
  served(t, (requested) => answer(requested, world), { ...common, ...settings });

test('azure devops: fields of a repository', async (t) => {
  const one = {
    id: '5febef5a',
    path: 'acme/My Project/My Repo',
    isFork: true,
  };
  const { host, server } = await start(t, { repositories: [one] }, { orgs: ['acme'] });
  assert.equal(host.codeHostType, 'azuredevops');
  const url = `${server.url}/acme/My%20Project/_git/My%20Repo`;
  assert.deepEqual((await listAll(host)).repos, [
    {
      hostId: '5febef5a',
      path: 'acme/My Project/My Repo',
      displayName: 'acme/My Project/My Repo',
      cloneUrl: url,
      webUrl: url,
      isFork: true,
      isArchived: false,
      visibility: 'private',
      topics: [],
      size: 728,
    },
  ]);
});

const WORLD: World = {
  repositories: [
    { id: '1', path: 'a/x/one', visibility: 'public', size: 10 },
    { id: '2', path: 'a/x/two', visibility: 'organization' },
    { id: '3', path: 'a/y/three', size: 5000 },
    { id: '4', path: 'b/z/four' },
    { id: '5', path: 'b/z/five', isDisabled: true },
  ],
};

test('azure devops: organizations, projects, repositories, or everything, but nothing disabled', async (t) => {
  const everything = ['a/x/one', 'a/x/two', 'a/y/three', 'b/z/four'];
  for (const [settings, expected] of [
    [{}, everything],
    [{ deploymentType: 'server' }, everything],
    [{ deploymentType: 'server', useTfsPath: true }, everything],
    [{ orgs: ['b'], projects: ['a/y'] }, ['b/z/four', 'a/y/three']],
    [{ repos: ['a/x/two', 'b/z/five'] }, ['a/x/two']],
    [{ exclude: { disabled: false, projects: ['a/y'] } }, ['a/x/one', 'a/x/two', 'b/z/four']],
    [{ exclude: { repos: ['*/x/*'], size: { max: 4000 } } }, ['b/z/four']],
  ] as const) {
    const { host, server } = await start(t, WORLD, settings);
    const { repos, issues } = await listAll(host);
    assert.deepEqual(issues, []);
    assert.deepEqual(pathsOf({ repos }), expected, JSON.stringify(settings));
    const isBelowTfs = 'useTfsPath' in settings;
    for (const { path } of server.requested)
      assert.equal(path.startsWith('/tfs/'), isBelowTfs, path);
    for (const { cloneUrl } of repos) assert.equal(cloneUrl.includes('/tfs/'), isBelowTfs);
  }
});

test('azure devops: public is what the organization shows to all; the rest is private', async (t) => {
  for (const [isOpen, visibilities] of [
    [true, ['public', 'private', 'private']],
    [false, ['internal', 'private', 'private']],
  ] as const) {
    const answered = (requested: Requested) => {
      const isNobody = requested.headers.authorization === undefined;
      return isNobody && isOpen ? { body: { id: '1' } } : answer(requested, WORLD);
    };
    const { host } = await served(t, answered, { ...common, orgs: ['a'] });
    assert.deepEqual(visibilitiesOf(await listAll(host)), visibilities);
  }
});

test('azure devops: a server with more collections than a page holds', async (t) => {
  const names = Array.from({ length: 105 }, (_, i) => `c${i}`);
  const world = {
    repositories: names.map((name) => ({ id: name, path: `${name}/p/r` })),
    collections: names,
  };
  const { host } = await start(t, world, { deploymentType: 'server' });
  assert.equal((await listAll(host)).repos.length, 105);
});

test('azure devops: a sign-in page means that the credential was rejected', async (t) => {
  const elsewhere = await startServer(t, () => ({ body: '<html>Sign In</html>' }));
  for (const reported of [
    { status: 203, body: '<html>Sign In</html>' },
    { status: 302, headers: { location: `${elsewhere.url}/_signin` } },
  ]) {
    for (const orgs of [['a'], []]) {
      const { host } = await served(t, () => reported, { ...common, orgs });
      await assert.rejects(
        listAll(host),
        (error) => error instanceof HostError && error.code === 'NOT_AUTHENTICATED',
      );
    }
  }
  assert.deepEqual(elsewhere.requested, []);
});

test('azure devops: credential for git, and the current user', async (t) => {
  const { host } = await start(t, WORLD, {});
  const credential = await host.gitCredential({ path: 'a/x/one', cloneUrl: 'x' }, SIGNAL);
  assert.equal(credential?.password.reveal(), TOKEN);
  assert.equal(await host.probe(SIGNAL), 'Ann');
  // A token of one organization can query that one, not all.
  const server = await startServer(t, (requested) =>
    requested.path.startsWith('/_apis/') ? { status: 401, body: '' } : answer(requested, WORLD),
  );
  const { host: one } = await openForTest(t, { ...common, url: server.url, projects: ['a/x'] });
  assert.equal(await one.probe(SIGNAL), 'Ann');
  const { host: all } = await openForTest(t, { ...common, url: server.url });
  await assert.rejects(all.probe(SIGNAL), /name it in `orgs`/);
});
