// The configuration file end to end: `trawl config check`, the JSON schema that a daemon serves, and starts of a daemon
// with a file that is invalid, that appears later, or that is fetched from a URL.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { startGithub } from '../hosts/github-server.ts';
import { type Outcome, post, serve, trawl } from './daemon.ts';
import { startIssuer } from '../accounts/sign-on/real-issuer.ts';

const folder = temporaryFolder();

function fileOf(text: string): string {
  const file = path.join(folder, 'trawl.json');
  writeFileSync(file, text);
  return file;
}

const RIGHT = `{
  "connections": {
    "acme": {
      "type": "github", "orgs": ["acme"], "repos": ["x/y"], "topics": ["go"], "token": { "env": "ACME_TOKEN" },
      "exclude": { "forks": true, "repos": ["acme/*-old"], "size": { "max": 5 } },
    },
    "review": { "type": "gerrit", "url": "https://review.example.com", "token": { "file": "token" } },
    "disk": { "type": "git", "url": "file:///srv/*" },
  },
  "settings": { "webhooks": { "secret": { "env": "HOOK" } } },
  "contexts": { "core": { "include": ["x/*"] } },
  "identityProviders": {
    "sso": { "type": "oidc", "issuer": "https://id", "clientId": "c", "clientSecret": { "env": "SSO" } },
  },
}`;

void test('config check: what each connection selects, which secrets exist; never their values', async () => {
  const file = fileOf(RIGHT);
  writeFileSync(path.join(folder, 'token'), 'hunter2\n');
  const env = { ACME_TOKEN: 'hunter2', SSO: 'hunter2' };
  const options = { env: { ...env, HOOK: 'hunter2' }, cwd: folder };
  const right = await trawl(['config', 'check', file], options);
  assert.deepEqual(right.stdout.split('\n'), [
    'connection  type    selects',
    'acme        github  orgs acme; repos x/y; only with topics go; without forks, repos acme/*-old, size beyond max 5 bytes; at https://github.com',
    'review      gerrit  everything the credential can list; at https://review.example.com',
    'disk        git     file:///srv/*',
    '',
    'key                                 from                 state',
    'connections.acme.token              variable ACME_TOKEN  found',
    'connections.review.token            file token           found',
    'settings.webhooks.secret            variable HOOK        found',
    'identityProviders.sso.clientSecret  variable SSO         found',
    '',
  ]);
  assert.equal(
    right.stderr,
    'note: contexts require a licence with the entitlement "search-contexts"\n' +
      'valid: 1 setting, 3 connections, 1 context, 0 grants, 1 identity provider\n',
  );
  assert.equal(right.code, 0);
  const missing = await trawl(['config', 'check', file], { env, cwd: folder });
  assert.match(missing.stdout, /^settings\.webhooks\.secret +variable HOOK +not set$/m);
  assert.match(missing.stderr, /^0 mistakes, 1 secret missing$/m);
  assert.equal(missing.code, 1);
  for (const { stdout, stderr } of [right, missing])
    assert.doesNotMatch(stdout + stderr, /hunter2/);
});

void test('config check: all errors with exit code 1; unreadable files are exit code 2', async () => {
  const file = fileOf(
    '{\n"settings": { "memroy": 5 },\n"connections": { "a": { "type": "git" } }}',
  );
  const env = { TRAWL_CONFIG: file };
  for (const [args, options] of [
    [[file], {}],
    [[], { env }],
  ] as const) {
    const wrong = await trawl(['config', 'check', ...args], options);
    assert.equal(
      wrong.stdout,
      `${file}:2: settings.memroy: no such key; did you mean memory?\n` +
        `${file}:3: connections.a.url: missing; expected a text\n`,
    );
    assert.equal(wrong.code, 1);
  }
  const reason = '"/nosuch.json"; ENOENT; allowed: a readable file\n';
  for (const [args, options] of [
    [['config', 'check', '/nosuch.json'], {}],
    [['config', 'check'], { env: { TRAWL_CONFIG: '/nosuch.json' } }],
    [['user', 'list', '--config', '/nosuch.json'], {}],
  ] as const) {
    const { code, stderr } = await trawl(args, options);
    assert.deepEqual([code, stderr], [2, `error: configuration file: ${reason}`]);
  }
  const none = await trawl(['config', 'check']);
  assert.deepEqual([none.code, none.stderr], [2, 'error: name a file, or set TRAWL_CONFIG\n']);
});

void test('config check refuses the same addresses as the daemon', async () => {
  for (const url of [
    'ssh://-oProxyCommand=touch/x/y',
    'ssh://-oProxyCommand=x@host/a/b',
    'https://host',
    'https://host/',
    'ssh://host/',
    'https://host/a%00b',
    'https://host\\@other/a/b',
    'ssh://host%2f/a/b',
  ]) {
    const file = fileOf(JSON.stringify({ connections: { tool: { type: 'git', url } } }));
    const { code, stdout } = await trawl(['config', 'check', file]);
    assert.equal(code, 1, `${url}: ${stdout}`);
    assert.match(stdout, /connections\.tool/, url);
  }
});

void test('a start with an invalid file prints each error on a line', async () => {
  const file = fileOf('{\n"settings": { "memory": 0 },\n"a\\u0007": 1 }');
  const { code, stderr } = await trawl(['serve', '--config', file, '--data-dir', folder]);
  assert.equal(code, 2);
  assert.match(stderr, /^error: .*:2: settings\.memory: 0; allowed: integers from 1$/m);
  assert.match(stderr, /^error: .*:3: a\\x07: no such key/m);
});

void test('a daemon waits for a missing file, serves its schema, and reads an address again at SIGHUP', async (t) => {
  let status = 404;
  let content = { settings: { maxMatchCount: 2 } };
  const server = createServer((_, response) => {
    response.writeHead(status).end(JSON.stringify(content));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/trawl.json`;
  const repo = makeRepo({ 'a.txt': 'plum\nplum\nplum\n' });
  const dataDir = temporaryFolder();
  const starting = serve(dataDir, [repo], {
    flags: ['--config', address],
    env: { TRAWL_ANONYMOUS_ACCESS: 'true' },
  });
  await new Promise((resolve) => server.once('request', resolve));
  status = 200;
  const served = await starting;
  assert.match(served.process.stderr, /status 404; .* trying again in 2 s \(1 of 5\)/);
  const rangeCount = async (): Promise<number> =>
    (await post(served.url, { query: 'plum' })).body.stats['actualMatchCount'];
  await served.process.until(/ repo indexed /);
  assert.equal(await rangeCount(), 2);
  content = { settings: { maxMatchCount: 3 } };
  served.process.child.kill('SIGHUP');
  await served.process.until(/read again .*trawl\.json.*maxMatchCount/);
  assert.equal(await rangeCount(), 3);
  status = 500;
  served.process.child.kill('SIGHUP');
  await served.process.until(/refused.*\n?.*status 500/);
  assert.equal(await rangeCount(), 3);
  const copy = readFileSync(path.join(dataDir, 'configuration-copy.json'), 'utf8');
  assert.match(copy, /maxMatchCount.*3/);

  const answer = await fetch(`${served.url}/schemas/config.json`);
  assert.equal(answer.headers.get('content-type'), 'application/schema+json');
  const { stdout } = await trawl(['config', 'schema']);
  assert.deepEqual(await answer.json(), JSON.parse(stdout));
  await served.process.stop();
});

void test('config check --online: each identity provider is queried', async () => {
  const issuer = await startIssuer();
  issuer.serve(['http://localhost/back']);
  const sso = { type: 'oidc', issuer: issuer.url, clientId: 'c', clientSecret: { env: 'SSO' } };
  const away = { ...sso, issuer: 'http://127.0.0.1:9', acceptBearer: true, audience: 'a' };
  const other = { ...sso, issuer: `${issuer.url}/other` };
  const file = fileOf(JSON.stringify({ identityProviders: { sso, away, other } }));
  const options = { env: { SSO: 'hunter2' } };
  const { stdout, stderr, code } = await trawl(['config', 'check', '--online', file], options);
  assert.equal(code, 1, stdout + stderr);
  assert.match(stdout, /^sso +reached +people sign in at http:\/\/127\.0\.0\.1:\d+\/auth$/m);
  assert.match(stdout, /^away +failed +.*ECONNREFUSED/m);
  assert.match(stdout, /^other +failed +/m);
  assert.match(stderr, /^note: identityProviders\.sso: the issuer is reached without TLS/m);
  assert.match(stderr, /^note: tokens of identity providers require a licence .*"oauth"/m);
  assert.match(stderr, /^0 mistakes, 0 secrets missing, 2 hosts not reached$/m);
  assert.doesNotMatch(stdout + stderr, /hunter2/);
});

void test('config check --online: the answer of each host, and why one does not answer', async (t) => {
  const github = await startGithub(t, { tokens: new Map([['right', 'ann']]) });
  const gone = await startGithub(t, {});
  await gone.close();
  const acme = (url: string, variable: string): object => ({
    type: 'github',
    url,
    orgs: ['acme'],
    token: { env: variable },
  });
  const connections = {
    right: acme(github.url, 'RIGHT'),
    wrong: acme(github.url, 'WRONG'),
    unset: acme(github.url, 'UNSET'),
    gone: acme(gone.url, 'RIGHT'),
    disk: { type: 'git', url: `file://${makeRepo({})}` },
    unmounted: { type: 'git', url: `file://${folder}/unmounted/*` },
    // Its library is loaded by the first that asks, out of a bundle of kept code.
    gitlab: { type: 'gitlab', url: gone.url, groups: ['acme'], token: { env: 'RIGHT' } },
  };
  const env = { RIGHT: 'right', WRONG: 'hunter2' };
  const check = (some: object): Promise<Outcome> =>
    trawl(['config', 'check', '--online', fileOf(JSON.stringify({ connections: some }))], { env });
  const all = await check(connections);
  const [, said = ''] = all.stdout.split('\nconnection  state');
  assert.match(said, /^right +reached +\S*ann/m);
  assert.match(said, /^wrong +failed +.*401|^wrong +failed +.*refuse/m);
  assert.match(said, /^unset +failed +UNSET: no secret; set the variable$/m);
  assert.match(said, /^gone +failed +.*ECONNREFUSED/m);
  assert.match(said, /^gitlab +failed +.*ECONNREFUSED/m);
  assert.match(said, /^disk +reached +this machine: 1 sources$/m);
  assert.match(said, /^unmounted +failed +.*is its disk mounted/m);
  assert.match(all.stderr, /^0 mistakes, 1 secret missing, 5 hosts not reached$/m);
  assert.equal(all.code, 1);
  assert.doesNotMatch(all.stdout + all.stderr, /hunter2/);
  const right = await check({ right: connections.right });
  assert.equal(right.code, 0, right.stderr);
});
