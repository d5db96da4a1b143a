// Jobs of a real daemon over HTTP: requested, listed, their log read; a job interrupted by a kill is resumed after a
// restart, and the reason of a failure is kept.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { childrenOf, untilGone } from '../engine/symbols/processes.ts';
import { type Answer, call, eventually, serve, serveIndexed, type Served } from './daemon.ts';

const KEY = `svk_${'0123456789abcdef'.repeat(4)}`;
const env = {
  TRAWL_OWNER_EMAIL: 'owner@example.com',
  TRAWL_OWNER_API_KEY: KEY,
  TRAWL_ANONYMOUS_ACCESS: 'true',
};
const OWNER = { authorization: `Bearer ${KEY}` };

interface Job {
  readonly id: string;
  readonly data: { readonly repoId: number };
  readonly status: string;
  readonly attempt: number;
  readonly errorMessage: string | null;
  readonly result: Readonly<Record<string, unknown>> | null;
}

const repos = ['one', 'two'].map((name) => makeRepo({ 'a.txt': `${name}\n` }));
const dataDir = temporaryFolder();
let served: Served;

async function start(isIndexed: boolean): Promise<void> {
  served = await (isIndexed ? serveIndexed : serve)(dataDir, repos, { env });
}

async function send<Body>(
  method: string,
  route: string,
  body?: object,
  headers: Record<string, string> = OWNER,
): Promise<Answer<Body>> {
  const reply = await call(`${served.url}${route}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: reply.status, headers: reply.headers, body: (await reply.json()) as Body };
}

async function latestOf(repoId: number): Promise<Job | null> {
  const { body } = await send<{ repositories: { latestJob: Job | null }[] }>(
    'POST',
    '/api/repo-index-status',
    { repoIds: [repoId] },
  );
  return body.repositories[0]!.latestJob;
}

async function trigger(repoId: number): Promise<string> {
  const { status, body } = await send<{ jobId: string }>('POST', `/api/repos/${repoId}/index`);
  assert.equal(status, 202);
  return body.jobId;
}

before(() => start(true));
after(() => served.process.stop());

void test('status, jobs in pages, logs from an offset, and their access', async () => {
  const jobId = await trigger(1);
  await eventually(async () => (await latestOf(1))?.status === 'COMPLETED');
  const status = await send<{ repositories: Record<string, unknown>[] }>(
    'POST',
    '/api/repo-index-status',
    { repoIds: [2, 77, 1, 2] },
    {},
  );
  assert.deepEqual(
    status.body.repositories.map(({ repoId, indexedCommitHash }) => [repoId, indexedCommitHash]),
    // What is on disk is no commit.
    [
      [2, null],
      [1, null],
    ],
  );
  const first = await send<Job[]>('GET', '/api/jobs?perPage=1&status=COMPLETED');
  assert.equal(first.headers.get('x-total-count'), '3');
  assert.match(first.headers.get('link')!, /page=2&perPage=1&status=COMPLETED>; rel="next"/);
  assert.deepEqual([first.body[0]!.id, first.body[0]!.data.repoId], [jobId, 1]);
  const { docs, durationMs } = first.body[0]!.result!;
  assert.deepEqual([docs, typeof durationMs], [1, 'number']);
  assert.deepEqual((await send<Job[]>('GET', '/api/jobs?queue=connection-sync')).body, []);
  const listed = await send<Record<string, unknown>[]>('GET', '/api/repos?state=ready');
  assert.equal(listed.body.length, 2);
  const [{ docs: docCount, contentBytes, shardBytes } = {}] = listed.body;
  assert.deepEqual([docCount, contentBytes], [1, 4]);
  assert.ok(Number(shardBytes) > 4);
  const logs = (body: object) =>
    send<{ logs: { message: string }[]; count: number }>('POST', '/api/job-logs', {
      queue: 'repo-index',
      jobId,
      ...body,
    });
  const whole = (await logs({})).body;
  assert.deepEqual(
    whole.logs.map(({ message }) => message),
    ['repo indexed'],
  );
  assert.deepEqual((await logs({ offset: 1 })).body, { logs: [], count: 1 });
  assert.equal((await logs({ jobId: 'none' })).status, 404);
  assert.equal((await logs({ queue: 'connection-sync' })).status, 404);
  assert.equal((await logs({ queue: 'other' })).status, 400);
  assert.equal((await send('POST', '/api/repos/77/index')).status, 404);
  const counts = await send('GET', '/api/repository-sync-counts');
  const none = { firstTimeIndexingCount: 0, failedCount: 0, warningCount: 0 };
  assert.deepEqual(counts.body, none);
  for (const [method, route] of [
    ['GET', '/api/jobs'],
    ['GET', '/api/repository-sync-counts'],
    ['POST', '/api/repos/1/index'],
  ] as const)
    assert.equal((await send(method, route, undefined, {})).status, 401);
});

void test('a job interrupted by a kill is resumed, as is the one queued after it', async () => {
  const fifo = path.join(repos[0]!, '.gitignore');
  execFileSync('mkfifo', [fifo]);
  const jobId = await trigger(1);
  await eventually(async () => (await latestOf(1))?.status === 'IN_PROGRESS');
  assert.notEqual(await trigger(1), jobId, 'one more after that which is under way');
  const { body } = await send<Job[]>('GET', '/api/jobs?status=PENDING');
  assert.equal(body.length, 1);
  // Another repo does not wait.
  await trigger(2);
  await eventually(async () => (await latestOf(2))?.status === 'COMPLETED');
  const gits = childrenOf(served.process.child.pid!, 'git');
  assert.ok(gits.length > 0);
  await served.process.stop('SIGKILL');
  // Opening it for writing lets git go on that waits for somebody to do so: nobody ends it now.
  const end = openSync(fifo, 'r+');
  rmSync(fifo);
  closeSync(end);
  await untilGone(gits);
  await start(false);
  // Also those whose end was not written yet when the kill came.
  const all = async (): Promise<Job[]> => (await send<Job[]>('GET', '/api/jobs')).body;
  await eventually(async () =>
    (await all()).every(({ status }) => ['COMPLETED', 'FAILED'].includes(status)),
  );
  const [first, last] = [(await all()).find(({ id }) => id === jobId), await latestOf(1)];
  assert.deepEqual([first?.status, last?.status], ['FAILED', 'COMPLETED']);
  assert.match(first?.errorMessage ?? '', /^interrupted; replaced by a later job/);
});

void test('the reason of a failed repo is available after a restart', async () => {
  renameSync(repos[1]!, `${repos[1]!}.away`);
  const jobId = await trigger(2);
  const hasFailed = async (): Promise<boolean> => (await latestOf(2))?.errorMessage !== null;
  await eventually(hasFailed);
  // Of a folder that has gone the watch of refs may have asked for it already, or for another job.
  const isAgain = ({ data, status, attempt }: Job): boolean =>
    data.repoId === 2 && (['PENDING', 'IN_PROGRESS'].includes(status) || attempt === 2);
  const jobs = (await send<Job[]>('GET', '/api/jobs?queue=repo-index')).body;
  assert.ok(jobs.some(isAgain), 'there is to be a second attempt');
  await served.process.stop('SIGKILL');
  await start(false);
  await eventually(hasFailed);
  const all = (await send<Job[]>('GET', '/api/jobs?queue=repo-index')).body;
  assert.match(all.find(({ id }) => id === jobId)?.errorMessage ?? '', /does not exist/);
  const { body } = await send<{ failedCount: number }>('GET', '/api/repository-sync-counts');
  assert.equal(body.failedCount, 1);
  renameSync(`${repos[1]!}.away`, repos[1]!);
  await trigger(2);
  await eventually(async () => (await latestOf(2))?.status === 'COMPLETED');
});
