// Gerrit, against a stand-in that answers in the shapes of its REST API (reference: /projects/ and /accounts/ of Gerrit 3).

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { HostError } from '../../daemon/hosts/host.ts';
import { served, testListing, TOKEN, pathsOf, issuesOf } from './listing-suite.ts';
import { listAll, SIGNAL } from './opened.ts';
import type { Requested, StandInReply } from './servers.ts';

interface Project {
  readonly name: string;
  readonly state?: 'ACTIVE' | 'READ_ONLY' | 'HIDDEN';
  readonly isForAll?: boolean;
}

const BASIC = `Basic ${Buffer.from(`ann:${TOKEN}`).toString('base64')}`;

/** What Gerrit puts before its JSON, so that no script of another page can read it. */
function guarded(value: unknown): StandInReply {
  const headers = { 'content-type': 'application/json; charset=UTF-8' };
  return { body: `)]}'\n${JSON.stringify(value)}`, headers };
}

function answer(requested: Requested, projects: readonly Project[]): StandInReply {
  const isSignedIn = requested.path.startsWith('/a/');
  if (isSignedIn && requested.headers.authorization !== BASIC)
    return { status: 401, body: 'Unauthorized' };
  const path = isSignedIn ? requested.path.slice(2) : requested.path;
  if (path === '/accounts/self') return guarded({ _account_id: 7, name: 'Ann', username: 'ann' });
  assert.equal(path, '/projects/');
  const { query } = requested;
  assert.equal(query.get('type') ?? 'CODE', 'CODE');
  const visible = projects
    .filter(({ isForAll = true }) => isSignedIn || isForAll)
    .filter(({ state }) => state !== 'HIDDEN' || (isSignedIn && query.has('all')))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const skipped = Number(query.get('S') ?? 0);
  const count = Math.min(500, Number(query.get('n') ?? 500));
  const some = visible.slice(skipped, skipped + count);
  const hasMore = skipped + count < visible.length;
  const entries = some.map(({ name, state = 'ACTIVE' }, i) => [
    name,
    {
      id: encodeURIComponent(name),
      state,
      web_links: [{ name: 'browse', url: `/plugins/gitiles/${name}` }],
      ...(hasMore && i === some.length - 1 ? { _more_projects: true } : {}),
    },
  ]);
  return guarded(Object.fromEntries(entries));
}

function many(count: number): Project[] {
  return Array.from({ length: count }, (_, i) => ({ name: `full/p${String(i).padStart(5, '0')}` }));
}

const credential = { user: 'ann', token: { env: 'TOKEN' } };

testListing({
  kind: 'gerrit',
  pageSize: 500,
  settings: { type: 'gerrit', ...credential },
  fullTarget: 'projects',
  otherTarget: undefined,
  answer: (requested, count) => answer(requested, many(count)),
  skippedBy: ({ path, query }) => (path === '/a/projects/' ? Number(query.get('S')) : undefined),
  callers: ['ann', 'ann'],
});

const start = (t: TestContext, projects: readonly Project[], settings: object) =>
  served(t, (requested) => answer(requested, projects), { type: 'gerrit', ...settings });

const PROJECTS: readonly Project[] = [
  { name: 'plugins/gitiles' },
  { name: 'plugins/old', state: 'READ_ONLY' },
  { name: 'secret', isForAll: false },
  { name: 'hidden', state: 'HIDDEN' },
  { name: 'with space/ö' },
];

test('gerrit: fields of a project, with credentials and without', async (t) => {
  const asAnn = await start(t, PROJECTS.slice(0, 1), credential);
  const base = {
    hostId: 'plugins/gitiles',
    path: 'plugins/gitiles',
    displayName: 'plugins/gitiles',
    isFork: false,
    isArchived: false,
    topics: [],
  };
  assert.equal(asAnn.host.codeHostType, 'gerrit');
  assert.deepEqual((await listAll(asAnn.host)).repos, [
    {
      ...base,
      cloneUrl: `${asAnn.server.url}/a/plugins/gitiles`,
      webUrl: `${asAnn.server.url}/plugins/gitiles/plugins/gitiles`,
      visibility: 'private',
    },
  ]);
  const asNobody = await start(t, PROJECTS.slice(0, 1), {});
  assert.deepEqual((await listAll(asNobody.host)).repos, [
    {
      ...base,
      cloneUrl: `${asNobody.server.url}/plugins/gitiles`,
      webUrl: `${asNobody.server.url}/plugins/gitiles/plugins/gitiles`,
      visibility: 'public',
    },
  ]);
  assert.equal(asNobody.server.requested[0]?.headers.authorization, undefined);
});

test('gerrit: which projects are requested', async (t) => {
  const all = ['hidden', 'plugins/gitiles', 'plugins/old', 'secret', 'with space/ö'];
  for (const [settings, expected] of [
    [credential, all],
    [{}, ['plugins/gitiles', 'plugins/old', 'with space/ö']],
    [
      { ...credential, projects: ['plugins/**', 'secret'] },
      ['plugins/gitiles', 'plugins/old', 'secret'],
    ],
    [{ ...credential, exclude: { readOnly: true } }, all.filter((name) => name !== 'plugins/old')],
    [{ ...credential, exclude: { hidden: true, projects: ['plugins/*', 'with*/*'] } }, ['secret']],
  ] as const) {
    const { host } = await start(t, PROJECTS, settings);
    const { repos } = await listAll(host);
    assert.deepEqual(pathsOf({ repos }), expected, JSON.stringify(settings));
    for (const { path, isArchived } of repos) assert.equal(isArchived, path === 'plugins/old');
  }
  const { host, server } = await start(t, PROJECTS.slice(4), {});
  assert.equal((await listAll(host)).repos[0]?.cloneUrl, `${server.url}/with%20space/%C3%B6`);
});

test('gerrit: an answer without its prefix is not from Gerrit', async (t) => {
  const { host } = await served(t, () => ({ body: {} }), { type: 'gerrit' });
  const { issues } = await listAll(host);
  assert.deepEqual(issuesOf({ issues }), ['HOST_ANSWER_INVALID DISCOVERY_INCOMPLETE']);
});

test('gerrit: no credential, and a token without its user', async (t) => {
  const nobody = await start(t, PROJECTS, {});
  assert.equal(await nobody.host.gitCredential({ path: 'x', cloneUrl: 'x' }, SIGNAL), undefined);
  assert.equal(await nobody.host.probe(SIGNAL), 'anonymous');
  const { host: half } = await start(t, PROJECTS, { token: credential.token });
  for (const request of [listAll(half), half.probe(SIGNAL)])
    await assert.rejects(
      request,
      (error) => error instanceof HostError && /give `user`/.test(error.message),
    );
});
