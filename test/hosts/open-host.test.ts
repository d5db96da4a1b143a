// Each type of connection opens its kind of host. The client libraries that the bundle leaves apart are loaded by the first
// connection that needs them, not with the daemon.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { openedHost } from './opened.ts';

const url = 'https://git.example.com:8443/below/';
const token = { env: 'TOKEN' };

const OPENED: readonly (readonly [settings: Record<string, unknown>, codeHostType: string])[] = [
  [{ type: 'github', url, orgs: ['a'] }, 'github'],
  [{ type: 'gitlab', url, groups: ['a'] }, 'gitlab'],
  [{ type: 'gitea', url, orgs: ['a'] }, 'gitea'],
  [{ type: 'gerrit', url }, 'gerrit'],
  [{ type: 'bitbucket', url, workspaces: ['a'] }, 'bitbucketCloud'],
  [{ type: 'bitbucket', url, deploymentType: 'server', all: true }, 'bitbucketServer'],
  [{ type: 'azuredevops', url, deploymentType: 'cloud', token }, 'azuredevops'],
  [{ type: 'azuredevops', url, deploymentType: 'server', token }, 'azuredevops'],
  [{ type: 'git', url: `${url}name.git` }, 'genericGitHost'],
];

test('each type of connection opens its kind of host, and asks nothing yet', async (t) => {
  for (const [settings, codeHostType] of OPENED) {
    const { host } = await openedHost(t, settings);
    assert.equal(host.codeHostType, codeHostType);
    assert.equal(host.nameHost, 'git.example.com:8443');
  }
});

const HOSTS = new URL('../../daemon/hosts/', import.meta.url).href;

/** Names of packages that a process has loaded; those of CommonJS, which Azure's library is. */
const PROGRAM = `
  import { createRequire } from 'node:module';
  const loaded = () => [...new Set(Object.keys(createRequire(import.meta.url).cache)
    .map((file) => /node_modules\\/([^/]+)/.exec(file)?.[1]))];
  const hosts = process.argv[1];
  await import(hosts + 'open-host.js');
  const { openAzureClient } = await import(hosts + 'azure-client.js');
  await import(hosts + 'azure-devops.js');
  const before = loaded();
  await openAzureClient({ url: 'https://git.example.com', token: () => undefined });
  console.log(JSON.stringify({ before, after: loaded() }));
`;

test('a client library is loaded when it is needed', () => {
  const args = ['--input-type=module', '--eval', PROGRAM, HOSTS];
  const reported = execFileSync(process.execPath, args, { encoding: 'utf8' });
  const { before, after } = JSON.parse(reported) as { before: string[]; after: string[] };
  const ours = ['azure-devops-node-api', 'typed-rest-client'];
  assert.deepEqual(
    ours.filter((name) => before.includes(name)),
    [],
  );
  assert.deepEqual(
    ours.filter((name) => !after.includes(name)),
    [],
  );
});
