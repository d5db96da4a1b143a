// The status of repositories over HTTP: hidden repositories are excluded and never requested; how jobs are shown.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { JobView } from '../../daemon/repos/jobs.ts';
import { startAccounts } from '../accounts/world.ts';
import { closeWorlds, repo, type Reply, startWorld, type WorldOptions } from './harness.ts';

after(closeWorlds);

const JOB: JobView = {
  id: 'j',
  queue: 'repo-index',
  targetId: 2,
  priority: 5,
  state: 'IN_PROGRESS',
  attempt: 2,
  createdAt: 0,
  startedAt: 1_500,
  finishedAt: null,
  error: 'no',
  result: null,
  progress: { phase: 'receiving', done: 10, total: 30, unit: 'objects', remainingMs: 2_000 },
};

test('hidden ids are excluded; a running job reports its progress', async () => {
  const requested: (readonly number[])[] = [];
  const world = await startWorld({
    env: { TRAWL_ANONYMOUS_ACCESS: 'true' },
    repos: [
      repo(1, 'a', { indexedAt: '2026-01-02T03:04:05.000Z' }),
      repo(2, 'b'),
      repo(3, 'c', { enforcement: 'all' }),
    ],
    jobs: {
      latest: (repoIds) => {
        requested.push(repoIds);
        return Promise.resolve(new Map([[2, JOB]]));
      },
      askedAt: (repoId) => (repoId === 1 ? 1_000 : undefined),
      commitOf: (repoId) => (repoId === 1 ? 'f'.repeat(40) : undefined),
    },
  });
  const send = (repoIds: unknown) =>
    world.call({
      method: 'POST',
      path: '/api/repo-index-status',
      body: JSON.stringify({ repoIds }),
    });
  const { repositories } = (await send([3, 1, 9, 2])).json() as { repositories: unknown };
  assert.deepEqual(requested, [[1, 2]]);
  assert.deepEqual(repositories, [
    {
      repoId: 1,
      indexedAt: '2026-01-02T03:04:05.000Z',
      askedAt: '1970-01-01T00:00:01.000Z',
      indexedCommitHash: 'f'.repeat(40),
      latestJob: null,
    },
    {
      repoId: 2,
      indexedAt: null,
      askedAt: null,
      indexedCommitHash: null,
      latestJob: {
        id: 'j',
        queue: 'repo-index',
        data: { repoId: 2 },
        status: 'IN_PROGRESS',
        priority: 5,
        attempt: 2,
        createdAt: '1970-01-01T00:00:00.000Z',
        startedAt: '1970-01-01T00:00:01.500Z',
        finishedAt: null,
        errorMessage: 'no',
        result: null,
        progress: JOB.progress,
      },
    },
  ]);
  const tooMany = Array.from({ length: 101 }, (_, i) => i + 1);
  for (const wrong of [[], tooMany, [0], ['1'], 1, undefined])
    assert.equal((await send(wrong)).status, 400);
});

test('only owners and local callers see why the job of a repository failed', async () => {
  const jobs: WorldOptions['jobs'] = {
    latest: () => Promise.resolve(new Map([[2, JOB]])),
    askedAt: () => undefined,
    commitOf: () => undefined,
  };
  const repos = [repo(2, 'b')];
  const body = JSON.stringify({ repoIds: [2] });
  const errorOf = (reply: Reply): unknown => {
    const { repositories } = reply.json() as {
      repositories: { latestJob: { errorMessage: unknown } }[];
    };
    return repositories[0]?.latestJob.errorMessage;
  };
  const path = '/api/repo-index-status';
  const local = await startWorld({ repos, jobs });
  assert.equal(errorOf(await local.call({ method: 'POST', path, body })), 'no');
  const world = await startAccounts({ repos, jobs });
  const ask = async (as: string) => errorOf(await world.send('POST', path, as, { repoIds: [2] }));
  assert.equal(await ask(world.ownerKey), 'no');
  assert.equal(await ask(world.memberKey), 'the job failed; owners see the reason');
});
