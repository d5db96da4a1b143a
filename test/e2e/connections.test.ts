// Connections of a real daemon, over HTTP to a code host and git: listed repositories are cloned and found, a push is
// found after its webhook, deleted ones are removed, and private ones hidden.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { idOf } from '../hosts/github-server.ts';
import { startServer } from '../hosts/servers.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import type { StatusReport } from '../../daemon/api/shapes/status-report.ts';
import { call, eventually, serve, type Served, trawl } from './daemon.ts';
import { CodeHost } from './hosted.ts';

const KEY = `svk_${'0123456789abcdef'.repeat(4)}`;
const SECRET = 'only-the-host-knows';
const dataDir = temporaryFolder();
const file = path.join(temporaryFolder(), 'trawl.json');
let host: CodeHost;
let served: Served;

before(async () => {
  host = await CodeHost.start();
  host.add('one', { 'a.txt': 'firstword\n' });
  host.add('two', { 'b.txt': 'secondword\n' });
  writeFileSync(
    file,
    JSON.stringify({
      settings: {
        webhooks: { secret: { env: 'WEBHOOK_SECRET' } },
        repoGarbageCollectionGracePeriodMs: 100,
      },
      connections: {
        acme: {
          type: 'github',
          url: host.url,
          orgs: ['acme'],
          token: { env: 'HOST_TOKEN' },
          enforcePermissions: true,
          revisions: { tags: ['none*'] },
        },
      },
    }),
  );
  served = await serve(dataDir, [], {
    flags: ['--config', file, '--default-source', makeRepo({ 'own.txt': 'firstword\n' })],
    env: {
      TRAWL_OWNER_EMAIL: 'owner@example.com',
      TRAWL_OWNER_API_KEY: KEY,
      TRAWL_ANONYMOUS_ACCESS: 'true',
      WEBHOOK_SECRET: SECRET,
      HOST_TOKEN: 'ghp_of-the-operator',
    },
  });
});

after(async () => {
  await served?.process.stop();
  host?.stop();
});

async function send<Body>(method: string, path: string, body?: object): Promise<Body> {
  const reply = await call(`${served.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  assert.ok(reply.status < 300, `${path}: ${reply.status}`);
  return (await reply.json()) as Body;
}

/** @param isGuest  asks as nobody */
async function found(query: string, isGuest = false): Promise<string[]> {
  const body = { query, matches: 10 };
  const reply = await call(`${served.url}/api/search`, {
    method: 'POST',
    headers: isGuest ? {} : { authorization: `Bearer ${KEY}` },
    body: JSON.stringify(body),
  });
  assert.equal(reply.status, 200, query);
  const { files } = (await reply.json()) as { files: { repository: string }[] };
  return files.map(({ repository }) => repository).sort();
}

const push = (name: string, secret: string, event = 'push', more: object = {}) =>
  host.notify(served.url, name, secret, event, more);

const nameOf = (name: string): string => host.nameOf(name);

void test('repositories listed by a host are cloned, indexed and found, and nothing else by default', async () => {
  await eventually(async () => (await found('firstword or secondword')).length === 2);
  assert.deepEqual(await found('firstword or secondword'), [nameOf('one'), nameOf('two')]);
  const [connection] = await send<{ id: number; name: string }[]>('GET', '/api/connections');
  assert.equal(connection?.name, 'acme');
  // Its end is written after what it found.
  await eventually(async () => {
    const { connections } = await send<{ connections: { latestJob: { status: string } }[] }>(
      'POST',
      '/api/connection-sync-status',
      { connectionIds: [connection.id] },
    );
    return connections[0]?.latestJob.status === 'COMPLETED';
  });
  // Said every three seconds, until all are indexed: a test that removes one must not come first.
  await eventually(async () => served.process.stderr.includes('2 of 2 repositories indexed'));
});

void test('a push is found after its webhook, which needs the secret', async (t) => {
  host.commit('one', 'c.txt', 'pushedword\n');
  assert.equal((await push('one', 'another')).status, 401);
  assert.deepEqual((await push('one', SECRET, 'ping')).body, { repositories: 0 });
  assert.deepEqual((await push('none', SECRET)).body, { repositories: 0 });
  const elsewhere = await startServer(t, () => ({ status: 404 }));
  const addresses = { clone_url: `${elsewhere.url}/acme/one.git`, ssh_url: 'git@10.0.0.1:one' };
  const moved = { ...addresses, html_url: `${elsewhere.url}/acme/one` };
  assert.deepEqual((await push('one', SECRET, 'push', moved)).body, { repositories: 0 });
  assert.deepEqual(await found('pushedword'), []);
  const { status, body } = await push('one', SECRET, 'push', addresses);
  assert.deepEqual([status, body], [202, { repositories: 1 }]);
  assert.deepEqual((await push('one', SECRET)).body, { repositories: 0 }, 'a repeat');
  await eventually(async () => (await found('pushedword')).length === 1);
  assert.deepEqual(elsewhere.requested, [], 'what a push says of addresses is not asked for');
});

void test('removed repositories disappear and new ones appear with the next listing', async () => {
  rmSync(host.pathOf('two'), { recursive: true });
  host.add('three', { 'f.txt': 'thirdword\n' });
  const [connection] = await send<{ id: number }[]>('GET', '/api/connections');
  await send('POST', `/api/connections/${connection!.id}/sync`);
  await eventually(async () => (await found('secondword')).length === 0);
  await eventually(async () => (await found('thirdword')).length === 1);
  assert.deepEqual(await found('firstword'), [nameOf('one')]);
});

void test('the status has the repositories, the state of each connection, and the time of each request', async () => {
  const run = (...flags: string[]) => trawl(['status', '--data-dir', dataDir, '--json', ...flags]);
  const { code, stdout } = await run();
  assert.equal(code, 0, stdout);
  assert.equal((await push('one', 'another')).status, 401);
  const refused = await run();
  assert.equal(refused.code, 1);
  assert.match(
    refused.stdout,
    /no webhook has been accepted since .* 1 was refused: .*secret points to/,
  );
  await push('one', SECRET, 'ping');
  assert.equal((await run()).code, 0, 'one was taken since');
  const report = JSON.parse(stdout) as StatusReport;
  assert.deepEqual(report.repos, { served: 2, indexed: 2, failed: 0 });
  const warnings = ['one', 'three'].map((name) => `${nameOf(name)}: no tag matches: none*`);
  assert.deepEqual([...report.warnings].sort(), warnings);
  const [connection, ...more] = report.connections;
  assert.equal(more.length, 0);
  assert.deepEqual(
    [connection?.name, connection?.repos, connection?.indexed, connection?.state],
    ['acme', 2, 2, 'fine'],
  );
  const rows = (await run('--repos')).stdout.trim().split('\n');
  assert.equal(rows.length, 2);
  for (const row of rows) assert.match(row, /"connection":"acme","askedAt":"20/);
  assert.match(
    (await trawl(['status', '--data-dir', dataDir])).stdout,
    /2 repositories: 2 indexed/,
  );
});

void test('a repository that takes the name of a public one is never shown in its place', async () => {
  const [one, moved] = ['one', 'moved'].map((name) => host.pathOf(name));
  assert.deepEqual(await found('firstword', true), [nameOf('one')]);
  writeFileSync(path.join(one!, 'host-id'), String(idOf('one')));
  renameSync(one!, moved!);
  host.add('one', { 'g.txt': 'hiddenword\n' });
  writeFileSync(path.join(one!, 'host-id'), '4711');
  writeFileSync(path.join(one!, 'is-private'), '');
  await push('one', SECRET);
  await eventually(async () => {
    assert.deepEqual(await found('hiddenword', true), []);
    const isListed = (await found('hiddenword')).length === 1;
    assert.deepEqual(await found('hiddenword rev:main', true), []);
    return isListed && (await found('firstword', true)).length === 1;
  });
  assert.deepEqual(await found('firstword', true), [nameOf('moved')]);
  assert.deepEqual(await found('hiddenword'), [nameOf('one')]);
  assert.match(served.process.stderr, /another repository is at acme\/one now/);
});

void test('the host decides who sees its repositories', async () => {
  const set = ['repo', 'set', nameOf('one'), '--visibility', 'public', '--data-dir', dataDir];
  const { code, stderr } = await trawl(set);
  assert.notEqual(code, 0);
  assert.match(stderr, /Nothing was changed: a connection lists .*one, .*enforcePermissions/);
});

void test('a webhook that makes a repository private hides it at once, whatever was listed before', async () => {
  assert.deepEqual(await found('thirdword', true), [nameOf('three')]);
  writeFileSync(path.join(host.pathOf('three'), 'is-private'), '');
  const { status, body } = await push('three', SECRET, 'repository', { private: true });
  assert.deepEqual([status, body], [202, { repositories: 0 }]);
  assert.deepEqual(await found('thirdword', true), [], 'it is hidden before the host is answered');
  assert.deepEqual(await found('thirdword'), [nameOf('three')]);
});

void test('a renamed repository is found by its new name: after a webhook, or when its clone fails', async () => {
  const rename = (from: string, to: string): void => {
    writeFileSync(path.join(host.pathOf(from), 'host-id'), String(idOf('three')));
    renameSync(host.pathOf(from), host.pathOf(to));
  };
  rename('three', 'third');
  const repository = { full_name: 'acme/third' };
  assert.equal((await push('three', SECRET, 'repository', repository)).status, 202);
  await eventually(async () => (await found('thirdword'))[0] === nameOf('third'));
  rename('third', 'fourth');
  await push('three', SECRET, 'push', repository);
  await eventually(async () => (await found('thirdword'))[0] === nameOf('fourth'));
});

void test('a listing with skipped repositories is not reported as complete', async () => {
  const content = JSON.parse(readFileSync(file, 'utf8')) as { connections: { acme: object } };
  const acme = { ...content.connections.acme, repos: ['acme/none'] };
  writeFileSync(file, JSON.stringify({ ...content, connections: { acme } }));
  // A listing that began before may follow.
  await eventually(async () => {
    const { stdout } = await trawl(['status', '--data-dir', dataDir]);
    return (
      /^acme +github .* incomplete$/m.test(stdout) &&
      /connection acme could not be fully synced: .*acme\/none/.test(stdout)
    );
  });
});

void test('no secret is in the log, in an answer, or in a clone', async () => {
  const log = `${served.process.stdout}${served.process.stderr}`;
  assert.doesNotMatch(log, /ghp_of-the-operator|only-the-host-knows/);
  const jobs = JSON.stringify(await send('GET', '/api/jobs?perPage=100'));
  assert.doesNotMatch(jobs, /ghp_of-the-operator|only-the-host-knows/);
  const matches = spawnSync('grep', ['-rl', 'ghp_of-the-operator', dataDir], { encoding: 'utf8' });
  assert.equal(matches.stdout, '');
  assert.equal(matches.status, 1, 'none');
});
