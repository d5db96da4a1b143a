// A daemon whose connection syncs permissions: GitLab decides who may read a private project, and requests follow it.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { licenceEnvironment } from '../accounts/licences.ts';
import { startGithub } from '../hosts/github-server.ts';
import { answerAsGitLab, type GitLabMember, projectOf } from '../hosts/gitlab-server.ts';
import { startServer } from '../hosts/servers.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { call, eventually, get, serve, trawl } from './daemon.ts';

const KEY = `svk_${'0123456789abcdef'.repeat(4)}`;
const TOKEN = 'the-token-of-the-test';

void test('readers of a GitLab project see it here, and no longer than there', async (t) => {
  const member = (id: number, email: string): GitLabMember => ({
    id,
    state: 'active',
    access_level: 30,
    email,
    confirmed_at: '2026-01-01T00:00:00.000Z',
  });
  const world = {
    token: TOKEN,
    groups: ['acme'],
    users: [],
    isAdmin: true,
    members: [member(7, 'Ann@X.org'), member(8, 'eve@x.org')],
    projects: [projectOf(5, 'acme/secret')],
  };
  const server = await startServer(t, (requested) => answerAsGitLab(requested, world));
  const [dataDir, file] = [temporaryFolder(), path.join(temporaryFolder(), 'trawl.json')];
  const configure = (changes: object = {}): void => {
    const access = { url: server.url, token: { env: 'LAB_TOKEN' }, groups: ['acme'] };
    const rules = { enforcePermissions: true, syncPermissions: true, ...changes };
    writeFileSync(
      file,
      JSON.stringify({ connections: { lab: { type: 'gitlab', ...access, ...rules } } }),
    );
  };
  configure();
  const env = {
    ...licenceEnvironment(),
    TRAWL_OWNER_EMAIL: 'owner@x.org',
    TRAWL_OWNER_API_KEY: KEY,
    TRAWL_CONFIG: file,
    LAB_TOKEN: TOKEN,
  };
  const { url, process } = await serve(dataDir, [], { env });
  const keyOf = async (email: string): Promise<string> => {
    const flags = ['--data-dir', dataDir];
    await trawl(['user', 'add', email, ...flags], { env });
    const made = await trawl(['key', 'create', '--user', email, '--name', 'k', ...flags], { env });
    return /svk_[0-9a-f]{64}/.exec(made.stdout)?.[0] ?? assert.fail(made.stderr);
  };
  const visibleTo = async (key: string): Promise<string[]> => {
    const headers = { authorization: `Bearer ${key}` };
    const { body } = await get<{ repoName: string }[]>(`${url}/api/repos`, headers);
    return body.map(({ repoName }) => repoName.replace(/^[^/]+\//, ''));
  };
  const [ann, bob] = [await keyOf('ann@x.org'), await keyOf('bob@x.org')];
  await eventually(async () => (await visibleTo(ann)).includes('acme/secret'));
  assert.deepEqual(await visibleTo(KEY), ['acme/secret']);
  assert.deepEqual(await visibleTo(bob), []);
  configure({ syncPermissions: false });
  process.child.kill('SIGHUP');
  await eventually(async () => (await visibleTo(ann)).length === 0);
  configure();
  process.child.kill('SIGHUP');
  await eventually(async () => (await visibleTo(ann)).length === 1);
  world.members = [member(8, 'eve@x.org')];
  const headers = { authorization: `Bearer ${KEY}` };
  const { body } = await get<{ id: number }[]>(`${url}/api/connections`, headers);
  const requested = await call(`${url}/api/connections/${body[0]?.id}/sync`, {
    method: 'POST',
    headers,
  });
  assert.ok(requested.ok, await requested.text());
  await eventually(async () => (await visibleTo(ann)).length === 0);
  const { stderr } = await process.stop();
  assert.ok(!stderr.includes(TOKEN));
});

void test('a GitHub repository with another one at its path is listed again', async (t) => {
  const server = await startGithub(t, { repositories: [{ id: 101, path: 'acme/secret' }] });
  const legacy = { id: 101, path: 'acme/legacy' };
  server.state.instead = ({ path }) => {
    if (path.endsWith('/collaborators'))
      server.state.repositories = [legacy, { id: 102, path: 'acme/secret' }];
    return undefined;
  };
  const file = path.join(temporaryFolder(), 'trawl.json');
  const hub = { type: 'github', url: server.url, token: { env: 'HUB_TOKEN' }, orgs: ['acme'] };
  writeFileSync(file, JSON.stringify({ connections: { hub: { ...hub, syncPermissions: true } } }));
  const env = {
    ...licenceEnvironment(),
    TRAWL_OWNER_EMAIL: 'owner@x.org',
    TRAWL_OWNER_API_KEY: KEY,
    TRAWL_CONFIG: file,
    HUB_TOKEN: 'the-token',
  };
  const { url, process } = await serve(temporaryFolder(), [], { env });
  await eventually(async () => {
    const headers = { authorization: `Bearer ${KEY}` };
    const { body } = await get<{ repoName: string }[]>(`${url}/api/repos`, headers);
    return body.some(({ repoName }) => repoName.endsWith('acme/legacy'));
  });
  await process.stop();
});
