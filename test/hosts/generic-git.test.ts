// A connection to any address of a git repository, against git's own http-backend.

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ConfigError } from '../../daemon/base/config/error.ts';
import type { Host } from '../../daemon/hosts/host.ts';
import { git, temporaryFolder } from '../sources/git/fixture.ts';
import { GitServer } from './mirrors/git-server.ts';
import { listAll, openedHost, SIGNAL } from './opened.ts';
import { makeCertificates, startServer } from './servers.ts';

async function open(
  t: TestContext,
  settings: Record<string, unknown>,
  env: Record<string, string> = {},
): Promise<Host> {
  return (await openedHost(t, { type: 'git', ...settings }, { env })).host;
}

/** Address, host of names, path, address for git. */
const NAMES = `
https://Git.Example.com/owner/name.git git.example.com owner/name https://git.example.com/owner/name.git
https://ann@git.example.com:8443/name/ git.example.com:8443 name https://git.example.com:8443/name
http://git.example.com/a/b/c?x=y#z git.example.com a/b/c http://git.example.com/a/b/c
ssh://git@git.example.com/owner/name git.example.com owner/name ssh://git@git.example.com/owner/name
ssh://git@git.example.com:22/owner/name git.example.com owner/name ssh://git@git.example.com:22/owner/name
ssh://git.example.com:2222/~ann/name.git git.example.com:2222 ~ann/name ssh://git.example.com:2222/~ann/name.git`;

test('an address lists itself', async (t) => {
  for (const line of NAMES.trim().split('\n')) {
    const [url, nameHost, repoPath, cloneUrl] = line.split(' ');
    const host = await open(t, { url });
    assert.equal(host.nameHost, nameHost);
    const [page, ...more] = (await listAll(host)).pages;
    assert.deepEqual(more, []);
    const [repo] = page?.repos ?? [];
    assert.deepEqual(
      [repo?.path, repo?.cloneUrl, repo?.visibility],
      [repoPath, cloneUrl, 'unknown'],
    );
  }
});

test('an address that is not a repository is refused', async (t) => {
  for (const url of ['https://git.example.com', 'https://git.example.com/', 'file:///a/b'])
    await assert.rejects(open(t, { url }), (error) => error instanceof ConfigError);
});

test('the credential: the name beside the token, that in the address, or any', async (t) => {
  const token = { env: 'TOKEN' };
  const env = { TOKEN: ' secret-word \n' };
  const names = [
    [{ url: 'https://ann@h.example/a', token, user: 'bob' }, 'bob'],
    [{ url: 'https://an%20n@h.example/a', token }, 'an n'],
    [{ url: 'https://%zz@h.example/a', token }, '%zz'],
    [{ url: 'https://h.example/a', token }, 'git'],
  ] as const;
  for (const [settings, user] of names) {
    const credential = await (
      await open(t, settings, env)
    ).gitCredential({ path: 'a', cloneUrl: settings.url }, SIGNAL);
    assert.equal(credential?.user, user);
    assert.equal(credential.password.reveal(), 'secret-word');
  }
  const without = await open(t, { url: 'https://h.example/a', user: 'bob' });
  assert.equal(await without.gitCredential({ path: 'a', cloneUrl: '' }, SIGNAL), undefined);
  const missing = await open(t, { url: 'https://h.example/a', token });
  await assert.rejects(
    missing.gitCredential({ path: 'a', cloneUrl: '' }, SIGNAL),
    /TOKEN: no secret/,
  );
});

test('git checks that the repository exists, and the password is needed', async (t) => {
  const login = 'ann:secret-word';
  const root = temporaryFolder();
  git(root, 'init', '-q', '--bare', 'owner/name.git');
  const server = await GitServer.start(t, { root, login });
  const messageOf = async (name: string, word: string): Promise<string> => {
    const settings = { url: `${server.url}/owner/${name}`, user: 'ann', token: { env: 'TOKEN' } };
    return (await open(t, settings, { TOKEN: word })).probe(SIGNAL);
  };
  assert.equal(await messageOf('name.git', 'secret-word'), 'git over http');
  await assert.rejects(messageOf('name.git', 'wrong-word'), (error: Error) => {
    assert.match(error.message, /GET \/owner\/name\.git\/info\/refs: the credential is refused/);
    assert.doesNotMatch(error.message, /wrong-word/);
    return true;
  });
  await assert.rejects(
    messageOf('other.git', 'secret-word'),
    /owner\/other\.git\/info\/refs: not found/,
  );
  const without = await open(t, { url: `${server.url}/owner/name.git` });
  await assert.rejects(without.probe(SIGNAL), /missing \(401\).* reads only what is public/);
  const page = await startServer(t, () => ({ body: '<html>Welcome</html>' }));
  const elsewhere = await open(t, { url: `${page.url}/a/b` });
  await assert.rejects(
    elsewhere.probe(SIGNAL),
    /not of the expected form \(content type text\/html\)/,
  );
});

test('a repository with a private certificate is reached with its file', async (t) => {
  const certificates = makeCertificates(t);
  const type = 'application/x-git-upload-pack-advertisement';
  const server = await startServer(
    t,
    () => ({ headers: { 'content-type': type }, body: '' }),
    certificates,
  );
  const { caFile } = certificates;
  const host = await open(t, { url: `${server.url}/a/b`, tls: { caFile } });
  assert.equal(await host.probe(SIGNAL), 'git over http');
});
