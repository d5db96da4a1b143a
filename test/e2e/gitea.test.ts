// A connection to a real Gitea or Forgejo: several pages, clones, pushes by its own webhooks, renames, newly private
// repositories, downtime. Runs where TRAWL_TEST_GITEA names a folder with its program (gitea-server.ts).
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { call, eventually, post, serve, type Served, trawl } from './daemon.ts';
import { GITEA_FOLDER, type RealGitea, startRealGitea } from './gitea-server.ts';

const KEY = `svk_${'0123456789abcdef'.repeat(4)}`;
const SECRET = 'only-the-host-knows';
/** More than one page of 50. */
const MANY = 120;
const options = {
  timeout: 240_000,
  skip: GITEA_FOLDER === undefined && 'TRAWL_TEST_GITEA names no folder of a Gitea',
};
const dataDir = temporaryFolder();
let host: RealGitea;
let served: Served;

/** A repository of the organization, with a commit where files are given; returns its work tree. */
async function create(
  name: string,
  files: Record<string, string> | undefined,
  settings: object = {},
): Promise<string> {
  await host.send('POST', '/orgs/acme/repos', { name, default_branch: 'main', ...settings });
  if (files === undefined) return '';
  const work = makeRepo(files);
  git(work, 'branch', '-M', 'main');
  git(work, 'push', '-q', host.remoteOf(`acme/${name}`), 'main');
  return work;
}

before(async () => {
  if (GITEA_FOLDER === undefined) return;
  host = await startRealGitea(GITEA_FOLDER);
  await host.send('POST', '/orgs', { username: 'acme', visibility: 'public' });
  for (let at = 0; at < MANY; at++) await create(`empty-${at}`, undefined);
  await create('one', { 'a.txt': 'firstword\n' });
  await create('Two.js', { 'b.txt': 'secondword\n' }, { private: true });
  await create('old', { 'c.txt': 'thirdword\n' });
  await host.send('PATCH', '/repos/acme/old', { archived: true });
  await host.send('PUT', '/repos/acme/one/topics', { topics: ['web', 'go'] });
  const file = path.join(temporaryFolder(), 'trawl.json');
  writeFileSync(file, JSON.stringify(configuration()));
  const env = {
    TRAWL_OWNER_EMAIL: 'owner@example.com',
    TRAWL_OWNER_API_KEY: KEY,
    TRAWL_ANONYMOUS_ACCESS: 'true',
    WEBHOOK_SECRET: SECRET,
    HOST_TOKEN: host.token,
  };
  served = await serve(dataDir, [], { flags: ['--config', file], env });
});

after(async () => {
  await served?.process.stop();
  await host?.stop();
});

function configuration(): object {
  return {
    settings: {
      webhooks: { secret: { env: 'WEBHOOK_SECRET' } },
      repoGarbageCollectionGracePeriodMs: 100,
    },
    connections: {
      forge: {
        type: 'gitea',
        url: host.url,
        orgs: ['acme'],
        token: { env: 'HOST_TOKEN' },
        enforcePermissions: true,
      },
    },
  };
}

const ASKERS = { owner: { authorization: `Bearer ${KEY}` }, guest: {} };

/** Repositories in which a query finds something, without the host's name. */
async function found(query: string, asker: keyof typeof ASKERS = 'owner'): Promise<string[]> {
  const { status, body } = await post(served.url, { query }, ASKERS[asker]);
  assert.equal(status, 200, JSON.stringify(body));
  const names = body.files.map(({ repository }) => repository.slice(repository.indexOf('/') + 1));
  return [...new Set(names)].sort();
}

async function send<Body>(method: string, route: string, body?: object): Promise<Body> {
  const init = { method, headers: ASKERS.owner };
  const sent = body === undefined ? init : { ...init, body: JSON.stringify(body) };
  const reply = await call(`${served.url}${route}`, sent);
  assert.ok(reply.status < 300, `${route}: ${reply.status}`);
  return (await reply.json()) as Body;
}

interface Connection {
  readonly id: number;
}

async function list(): Promise<void> {
  const [connection] = await send<Connection[]>('GET', '/api/connections');
  await send('POST', `/api/connections/${connection!.id}/sync`);
}

void test('all pages are listed; private repositories are for their readers', options, async () => {
  await eventually(async () => (await found('firstword or secondword or thirdword')).length === 3);
  assert.deepEqual(await found('firstword or secondword or thirdword', 'guest'), [
    'acme/old',
    'acme/one',
  ]);
  assert.deepEqual(await found('thirdword archived:no'), []);
  let rows: string[] = [];
  await eventually(async () => {
    const { stdout } = await trawl(['status', '--data-dir', dataDir, '--json', '--repos']);
    rows = stdout.trim().split('\n');
    return rows.every((row) => row.includes('"job":null'));
  }, 500);
  assert.equal(rows.length, MANY + 3);
  assert.deepEqual(
    rows.filter((row) => !row.includes('"failure":null')),
    [],
  );
});

void test('a push is found by the webhook of Gitea', options, async () => {
  await host.send('POST', '/orgs/acme/hooks', {
    type: 'gitea',
    active: true,
    events: ['push'],
    config: { url: `${served.url}/api/webhook`, content_type: 'json', secret: SECRET },
  });
  const work = temporaryFolder();
  git(work, 'clone', '-q', host.remoteOf('acme/one'), '.');
  writeFiles(work, { 'pushed.txt': 'pushedword\n' });
  commitAll(work);
  git(work, 'push', '-q', host.remoteOf('acme/one'), 'HEAD:main');
  await eventually(async () => (await found('pushedword')).length === 1);
});

void test('a first push into an empty repository is found', options, async () => {
  const work = makeRepo({ 'first.txt': 'bornword\n' });
  git(work, 'push', '-q', host.remoteOf('acme/empty-7'), 'HEAD:main');
  await eventually(async () => (await found('bornword')).length === 1);
  assert.deepEqual(await found('bornword', 'guest'), ['acme/empty-7']);
});

void test(
  'renamed repositories keep their ids, and newly private ones are hidden',
  options,
  async () => {
    const idsOf = async (word: string): Promise<number[]> => {
      const { body } = await post(served.url, { query: word }, ASKERS.owner);
      return body.files.map(({ repositoryId }) => repositoryId);
    };
    const [before] = await idsOf('firstword');
    await host.send('PATCH', '/repos/acme/one', { name: 'renamed' });
    await host.send('PATCH', '/repos/acme/empty-7', { private: true });
    await list();
    await eventually(async () => (await found('firstword')).join() === 'acme/renamed');
    await eventually(async () => (await found('bornword', 'guest')).length === 0);
    assert.deepEqual(await found('bornword'), ['acme/empty-7']);
    assert.deepEqual(await idsOf('firstword'), [before]);
  },
);

void test(
  'while the host is down everything is found, and the failure is reported',
  options,
  async () => {
    await host.stop();
    await list();
    await eventually(async () => {
      const { stdout } = await trawl(['status', '--data-dir', dataDir]);
      return /forge.*(?:cannot be reached|refused|ECONNREFUSED)/i.test(stdout);
    });
    assert.deepEqual(await found('firstword'), ['acme/renamed']);
    await host.start();
    await host.send('DELETE', '/repos/acme/old');
    await list();
    await eventually(async () => (await found('thirdword')).length === 0);
    assert.deepEqual(await found('firstword'), ['acme/renamed']);
  },
);
