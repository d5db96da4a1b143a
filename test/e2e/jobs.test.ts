// Jobs of a real daemon over HTTP: requested, listed, their log read; a job that a stop or a kill interrupts is done
// after a restart.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { replyTo } from '../http/raw-client.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { type Answer, call, eventually, post, serve, serveIndexed, type Served } from './daemon.ts';

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

const MANY = Object.fromEntries(
  Array.from({ length: 200 }, (_, i) => [`f${i}.txt`, 'the plum\n'.repeat(i + 1)]),
);
const repos = [makeRepo({ 'a.txt': 'one\n' }), makeRepo(MANY)];
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
  const one = listed.body.find(({ repoId }) => repoId === 1)!;
  assert.deepEqual([one['docs'], one['contentBytes']], [1, 4]);
  assert.ok(Number(one['shardBytes']) > 4);
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

for (const signal of ['SIGTERM', 'SIGKILL'] as const)
  void test(`${signal} during searches and a job, whose work is done by the next daemon at the latest`, async () => {
    const fifo = path.join(repos[0]!, '.gitignore');
    execFileSync('mkfifo', [fifo]);
    const jobId = await trigger(1);
    await eventually(async () => (await latestOf(1))?.status === 'IN_PROGRESS');
    const query = { query: 'th', matches: 1_000_000 };
    const begin = async () => {
      const headers = { 'content-type': 'application/json' };
      const sent = request(`${served.url}/api/search`, { method: 'POST', headers });
      const reply = replyTo(sent, JSON.stringify(query));
      reply.catch(() => {});
      await once(sent, 'response');
      return { reply };
    };
    const begun = await Promise.all(Array.from({ length: 8 }, begin));
    const ended = served.process.stop(signal);
    // Opening it for writing lets git go on, which waits for that.
    closeSync(openSync(fifo, 'r+'));
    rmSync(fifo);
    const { code, stderr } = await ended;
    if (signal === 'SIGTERM') {
      assert.equal(code, 0, stderr);
      for (const { reply } of begun) {
        const { files } = JSON.parse((await reply).body.toString()) as { files: unknown[] };
        assert.equal(files.length, 200);
      }
    }
    await start(false);
    await eventually(async () => (await latestOf(1))?.status === 'COMPLETED');
    if (signal === 'SIGKILL') assert.equal((await latestOf(1))?.id, jobId);
    assert.equal((await post(served.url, query)).body.files.length, 200);
  });
