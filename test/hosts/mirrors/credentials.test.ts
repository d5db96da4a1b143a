// Git credentials: they are visible to nobody, go only to their host, and refusals are explained.
// tier: ci (long)

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { deferred } from '../../../daemon/base/deferred.ts';
import { closeTransports } from '../../../daemon/hosts/mirrors/list-remote.ts';
import { makeCertificates, startProxy } from '../servers.ts';
import { git } from '../../sources/git/fixture.ts';
import {
  assertMirrors,
  credentialOf,
  failureOf,
  fetchInto,
  logLines,
  mirrorFolder,
} from './fetched.ts';
import { basic, type GitServerOptions, noise, type Origin, startOrigin } from './git-server.ts';

const PASSWORD = 's3cret+/=%41 "x';
const LOGIN = `x-access-token:${PASSWORD}`;
const CREDENTIAL = credentialOf('x-access-token', PASSWORD);

const start = (t: TestContext, more: Partial<GitServerOptions> = {}): Promise<Origin> =>
  startOrigin(t, { 'a.txt': 'plum\n', 'b.bin': noise(200_000, 7) }, more);

/** All processes that one has started, and those that they have. */
function familyOf(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
        return [
          {
            pid: Number(name),
            parent: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]),
          },
        ];
      } catch {
        return [];
      }
    });
  const of = (parent: number): number[] =>
    parents.filter((one) => one.parent === parent).flatMap((one) => [one.pid, ...of(one.pid)]);
  return of(pid);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

const FORMS = [PASSWORD, encodeURIComponent(PASSWORD), Buffer.from(LOGIN).toString('base64')];

function assertHidden(text: string, where: string): void {
  for (const form of FORMS) assert.ok(!text.includes(form), where);
}

test(
  'the credential is in no command line, variable or file while git waits, nor afterwards',
  { skip: process.platform !== 'linux' && 'needs /proc' },
  async (t) => {
    const { repo, server, url } = await start(t, { login: LOGIN });
    const release = deferred();
    server.pauseAt = { size: 4096, until: () => release.promise };
    const folder = mirrorFolder();
    const fetching = fetchInto(folder, url, { credential: CREDENTIAL });
    const authorizations = new Set<string>();
    while (!authorizations.has('git-remote-http') || !authorizations.has('index-pack')) {
      for (const pid of familyOf(process.pid)) {
        const command = read(`/proc/${pid}/cmdline`);
        // The server's own git gets what the client sends.
        if (command.includes('http-backend') || command.includes('upload-pack')) continue;
        for (const name of ['git-remote-http', 'index-pack'])
          if (command.includes(name)) authorizations.add(name);
        assertHidden(command + read(`/proc/${pid}/environ`), command);
      }
      await sleep(5);
    }
    assertNoFile(path.dirname(folder));
    release.resolve();
    await fetching;
    assertMirrors(folder, repo);
    assertNoFile(path.dirname(folder));
    assertHidden(logLines.join('\n'), 'log');
    assert.ok(server.requests.some(({ authorization }) => authorization === basic(LOGIN)));
  },
);

function assertNoFile(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) assertHidden(read(path.join(entry.parentPath, entry.name)), entry.name);
}

test('wrong, missing, expired and replaced credentials', async (t) => {
  const { repo, server, url } = await start(t, { login: LOGIN });
  const folder = mirrorFolder();
  const wrong = credentialOf('x-access-token', 'wr0ng');
  for (const credential of [wrong, undefined]) {
    const error = await failureOf(fetchInto(folder, url, { credential }), 'NOT_AUTHENTICATED');
    assert.match(error.message, /127\.0\.0\.1.*token/);
    assert.doesNotMatch(error.message, /wr0ng/);
  }
  await fetchInto(folder, url, { credential: CREDENTIAL });
  server.login = 'x-access-token:new';
  const error = await failureOf(
    fetchInto(folder, url, { credential: CREDENTIAL }),
    'NOT_AUTHENTICATED',
  );
  assertHidden(error.message, 'message');
  // The mirror stays as it was.
  assertMirrors(folder, repo);
  await fetchInto(folder, url, { credential: credentialOf('x-access-token', 'new') });
});

test('a credential that expires between the listing of refs and the fetch', async (t) => {
  const { server, url } = await start(t, { login: LOGIN });
  let count = 0;
  server.answer = () => {
    if (++count === 3) server.login = 'x-access-token:new';
    return false;
  };
  const error = await failureOf(
    fetchInto(mirrorFolder(), url, { credential: CREDENTIAL }),
    'NOT_AUTHENTICATED',
  );
  assertHidden(error.message, 'message');
  assert.ok(count >= 3);
});

test('a credential echoed by a host is in no message', async (t) => {
  const { server, url } = await start(t, { login: LOGIN });
  let count = 0;
  server.answer = (request, response) => {
    if (++count < 3) return false;
    const said = `you sent ${request.headers.authorization} ${PASSWORD}`;
    response.writeHead(418, { 'content-type': 'text/plain' }).end(said);
    return true;
  };
  const error: unknown = await fetchInto(mirrorFolder(), url, { credential: CREDENTIAL }).catch(
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Error);
  assertHidden(error.message + logLines.join('\n'), 'message');
});

test('a repository that moved within its host is followed', async (t) => {
  const { repo, server, url } = await start(t, { login: LOGIN });
  server.redirect = (requested) =>
    requested.startsWith('/old/name.git')
      ? requested.replace('/old/name.git', '/one.git')
      : undefined;
  const folder = mirrorFolder();
  const from = url.replace('/one.git', '/old/name.git');
  await fetchInto(folder, from, { credential: CREDENTIAL });
  assertMirrors(folder, repo);
  git(repo, 'branch', 'more', 'main');
  assert.equal((await fetchInto(folder, from, { credential: CREDENTIAL })).isChanged, true);
  assertMirrors(folder, repo);
});

test('a repository that moved to another host is refused, which gets neither credential nor request', async (t) => {
  const { server, url } = await start(t, { login: LOGIN });
  const other = await start(t);
  server.redirect = (requested) => other.server.url + requested;
  const folder = mirrorFolder();
  const refused = fetchInto(folder, url, { credential: CREDENTIAL });
  const error = await failureOf(refused, 'REDIRECT_REFUSED');
  assert.match(error.message, new RegExp(`:${other.server.port}\\b`));
  assert.deepEqual(other.server.requests, []);
});

test('a host that redirects elsewhere once git connects', async (t) => {
  const { server, url } = await start(t, { login: LOGIN });
  const other = await start(t, { login: LOGIN });
  let count = 0;
  server.redirect = (requested) => (++count > 2 ? other.server.url + requested : undefined);
  await failureOf(fetchInto(mirrorFolder(), url, { credential: CREDENTIAL }), 'REDIRECT_REFUSED');
  assert.ok(count > 2);
  assert.deepEqual(other.server.requests, []);
});

test('certificates of the connection are trusted, and no others but those of the system', async (t) => {
  const tls = makeCertificates(t);
  const { repo, url } = await start(t, { tls, login: LOGIN });
  const refused = fetchInto(mirrorFolder(), url, { credential: CREDENTIAL });
  const error = await failureOf(refused, 'CERTIFICATE_REFUSED');
  assert.match(error.message, /tls\.caFile/);
  const folder = mirrorFolder();
  await fetchInto(folder, url, { credential: CREDENTIAL, caFile: tls.caFile });
  assertMirrors(folder, repo);
  await assert.rejects(
    fetchInto(mirrorFolder(), url, { caFile: '/none.pem' }),
    /tls\.caFile.*none\.pem/,
  );
});

test('certificates of the connection count after a redirect from http to https', async (t) => {
  const tls = makeCertificates(t);
  const sealed = await start(t, { tls, login: LOGIN });
  const { server, url } = await start(t);
  server.redirect = (requested) => sealed.server.url + requested;
  const folder = mirrorFolder();
  await fetchInto(folder, url, { credential: CREDENTIAL, caFile: tls.caFile });
  assertMirrors(folder, sealed.repo);
});

/** Runs with these variables. */
async function withVariables(
  variables: Readonly<Record<string, string>>,
  run: () => Promise<void>,
): Promise<void> {
  // Those that are open have the proxy of before.
  closeTransports();
  Object.assign(process.env, variables);
  try {
    await run();
  } finally {
    closeTransports();
    for (const name of Object.keys(variables)) delete process.env[name];
  }
}

test('requests and git go through the proxy of the environment', async (t) => {
  const proxy = await startProxy(t);
  const tls = makeCertificates(t);
  const plain = await start(t, { login: LOGIN });
  const sealed = await start(t, { login: LOGIN, tls });
  const address = `http://${proxy.url}`;
  for (const [{ url, repo, server }, name, caFile] of [
    [plain, 'HTTP_PROXY', undefined],
    [plain, 'http_proxy', undefined],
    [sealed, 'HTTPS_PROXY', tls.caFile],
    [sealed, 'https_proxy', tls.caFile],
  ] as const) {
    const before = proxy.requested.length;
    const folder = mirrorFolder();
    await withVariables({ [name]: address }, async () => {
      await fetchInto(folder, url, { credential: CREDENTIAL, caFile });
    });
    assertMirrors(folder, repo);
    const requested = proxy.requested.slice(before);
    assert.ok(requested.length >= 2, name);
    assert.ok(
      requested.every((line) => line.includes(`127.0.0.1:${server.port}`)),
      requested.join(),
    );
    // The proxy itself gets no credential.
    assert.ok(proxy.credentials.every((credential) => credential === undefined));
    const count = proxy.requested.length;
    await withVariables({ [name]: address, NO_PROXY: '127.0.0.1' }, async () => {
      await fetchInto(mirrorFolder(), url, { credential: CREDENTIAL, caFile });
    });
    assert.equal(proxy.requested.length, count, `${name} with NO_PROXY`);
  }
});
