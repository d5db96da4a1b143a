// Connections over HTTP: those with a visible repository, the state of their listings, what only owners see, and
// starting a listing.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Services } from '../../daemon/api/shapes/endpoint-services.ts';
import type { JobView } from '../../daemon/repos/jobs.ts';
import { closeWorlds, OWNER_KEY, repo, startWorld } from './harness.ts';

after(closeWorlds);

const FIRST_ID = 1_000_000_001;

function jobOf(targetId: number): JobView {
  return {
    id: 'j',
    queue: 'connection-sync',
    targetId,
    priority: 10,
    state: 'FAILED',
    attempt: 2,
    createdAt: 0,
    startedAt: 1_500,
    finishedAt: 2_000,
    error: 'acme/secret: not allowed',
    result: { status: 'PARTIAL_SUCCESS', issues: [{ target: 'repos: acme/secret' }] },
  };
}

const idsOf: Services['connections']['idsOf'] = (repoId) =>
  ({ 1: [FIRST_ID], 2: [FIRST_ID, FIRST_ID + 1], 3: [FIRST_ID + 2] })[repoId] ?? [];

async function start() {
  const requested: unknown[] = [];
  const world = await startWorld({
    env: {
      TRAWL_ANONYMOUS_ACCESS: 'true',
      TRAWL_OWNER_EMAIL: 'o@example.com',
      TRAWL_OWNER_API_KEY: OWNER_KEY,
    },
    repos: [repo(1, 'a'), repo(2, 'b'), repo(3, 'c', { enforcement: 'all' }), repo(4, 'd')],
    connections: {
      list: () =>
        (['z', 'b', 'hidden', 'new'] as const).map((name, index) => ({
          id: FIRST_ID + index,
          name,
          connectionType: 'github',
          syncedAt: index === 0 ? 1_000 : null,
          ...(index === 0 || index === 3 ? { trouble: `${name} is down` } : {}),
          readers: { count: 12, known: 0 },
        })),
      idsOf,
      latest: (ids) => {
        requested.push(ids);
        return Promise.resolve(new Map(ids.map((id) => [id, jobOf(id)])));
      },
      sync: (id) => {
        requested.push(id);
        return Promise.resolve(id === FIRST_ID ? 'job' : undefined);
      },
      counts: () => ({ firstTime: 1, failed: 2, warned: 3 }),
    },
    jobs: { index: (repoId) => Promise.resolve(`index ${repoId}`) },
  });
  const send = async (path: string, key?: string, body?: unknown, method = 'GET') => {
    const headers = key === undefined ? {} : { 'X-Service-Api-Key': key };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await world.call({ method, path, headers, ...text });
    return { status: answer.status, json: answer.json() as unknown };
  };
  return { requested, send };
}

test('connections and sources of a visible repository are listed by name; repositories of one', async () => {
  const { send } = await start();
  const source = { id: 4, name: 'd', connectionType: 'git' };
  const [z, b, hidden, fresh] = ['z', 'b', 'hidden', 'new'].map((name, index) => ({
    id: FIRST_ID + index,
    name,
    connectionType: 'github',
  }));
  assert.deepEqual((await send('/api/connections')).json, [b, source, z]);
  assert.deepEqual((await send('/api/connections', OWNER_KEY)).json, [
    b,
    source,
    hidden,
    { ...fresh, trouble: 'new is down' },
    { ...z, trouble: 'z is down' },
  ]);
  const names = async (id: number): Promise<unknown> => {
    const { json } = await send(`/api/repos?connectionId=${id}`);
    return (json as { repoName: string }[]).map(({ repoName }) => repoName);
  };
  assert.deepEqual(
    [await names(FIRST_ID), await names(FIRST_ID + 1), await names(FIRST_ID + 2), await names(4)],
    [['a', 'b'], ['b'], [], ['d']],
  );
});

test('state of listings: hidden ids are never requested, and only owners see names', async () => {
  const { send, requested } = await start();
  const connectionIds = [FIRST_ID + 2, FIRST_ID, 3, 4, FIRST_ID];
  const status = async (key?: string) =>
    (await send('/api/connection-sync-status', key, { connectionIds }, 'POST')).json as {
      connections: { connectionId: number; syncedAt: string; latestJob: Record<string, unknown> }[];
    };
  const { connections } = await status();
  assert.deepEqual(requested, [[FIRST_ID, 4]]);
  assert.equal(JSON.stringify(connections).includes('secret'), false);
  const [first] = connections;
  assert.deepEqual(
    [first?.connectionId, first?.syncedAt, first?.latestJob['result'], first?.latestJob['data']],
    [
      FIRST_ID,
      '1970-01-01T00:00:01.000Z',
      { status: 'PARTIAL_SUCCESS' },
      { connectionId: FIRST_ID },
    ],
  );
  assert.equal(JSON.stringify(connections).includes('readers'), false);
  assert.match(JSON.stringify(await status(OWNER_KEY)), /"readers":\{"count":12,"known":0\}/);
  assert.match(JSON.stringify(await status(OWNER_KEY)), /acme\/secret: not allowed.*issues/);
  assert.equal((await send('/api/connection-sync-counts')).status, 401);
  assert.deepEqual((await send('/api/connection-sync-counts', OWNER_KEY)).json, {
    firstTimeSyncingCount: 1,
    failedCount: 2,
    warningCount: 3,
  });
});

test('owners start a listing or an indexing job; unknown ones are not found', async () => {
  const { send } = await start();
  const trigger = (id: number, key?: string) =>
    send(`/api/connections/${id}/sync`, key, undefined, 'POST');
  assert.equal((await trigger(FIRST_ID)).status, 401);
  assert.deepEqual(await trigger(FIRST_ID, OWNER_KEY), { status: 202, json: { jobId: 'job' } });
  assert.deepEqual((await trigger(4, OWNER_KEY)).json, { jobId: 'index 4' });
  for (const id of [1, 9, FIRST_ID + 9])
    assert.equal((await trigger(id, OWNER_KEY)).status, 404, String(id));
});
