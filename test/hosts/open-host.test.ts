// Each type of connection opens its kind of host.

import assert from 'node:assert/strict';
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

test('each type of connection opens its kind of host, without a request', async (t) => {
  for (const [settings, codeHostType] of OPENED) {
    const { host } = await openedHost(t, settings);
    assert.equal(host.codeHostType, codeHostType);
    assert.equal(host.nameHost, 'git.example.com:8443');
  }
});
