// Submodules of listed repositories, with real git over HTTP: each is a separate repo below its outer one, at the
// pinned commit, visible to readers of both; `.gitmodules` leads only to repositories of a connection.
// tier: ci (long)

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { ConfiguredGrant } from '../../../daemon/accounts/configured-grants.ts';
import { RepoAccessResolver } from '../../../daemon/accounts/repo-access-resolver.ts';
import { RepoDirectory } from '../../../daemon/repos/directory.ts';
import { SEES_ALL, type RepoAccess } from '../../../daemon/repos/repo-access.ts';
import type { Host } from '../../../daemon/hosts/host.ts';
import { fetchMirror } from '../../../daemon/hosts/mirrors/fetch-mirror.ts';
import { readSource } from '../../../daemon/sources/reading/source-reader.ts';
import { GitServer } from '../../hosts/mirrors/git-server.ts';
import { git, makeRepo, temporaryFolder, writeFiles } from '../../sources/git/fixture.ts';
import { type ConnectedIndex, openConnected } from './connected-index.ts';
import { hostedRepo, localHost, settingsOf } from './local-host.ts';

/** The name, path and address of each submodule, and the commit that is pinned. */
type Links = readonly (readonly [name: string, place: string, url: string, commit: string])[];

/** Commits files and submodules; returns the commit. */
function commitWith(repo: string, files: Record<string, string>, links: Links): string {
  const modules = links.map(
    ([name, at, url]) => `[submodule "${name}"]\n\tpath = ${at}\n\turl = ${url}\n`,
  );
  writeFiles(repo, {
    ...files,
    ...(links.length === 0 ? {} : { '.gitmodules': modules.join('') }),
  });
  git(repo, 'add', '-A', '-f', '.');
  for (const [, at, , commit] of links)
    if (!at.includes('..'))
      git(repo, 'update-index', '--add', '--cacheinfo', `160000,${commit},${at}`);
  git(repo, 'commit', '-q', '-m', 'change');
  return git(repo, 'rev-parse', 'HEAD');
}

test('a reader of both repositories sees the submodule, at its commit; nothing else is followed', async (t) => {
  const [root, marks] = [temporaryFolder(), temporaryFolder()];
  const [deep, lib, secret, outer] = ['deep', 'lib', 'secret', 'outer'].map((name) =>
    makeRepo({ [`${name}.txt`]: 'plum\n' }),
  ) as [string, string, string, string];
  const { url, requests: requested } = await GitServer.start(t, { root });
  const publish = (name: string, repo: string): void => {
    if (existsSync(path.join(root, `o/${name}.git`)))
      git(repo, 'push', '-q', '-f', path.join(root, `o/${name}.git`), 'HEAD');
    else git(root, 'clone', '-q', '--bare', repo, `o/${name}.git`);
  };
  const head = (repo: string): string => git(repo, 'rev-parse', 'HEAD');
  const atDeep = head(deep);
  const atLib = commitWith(lib, {}, [
    ['d', 'deep', '../deep.git', atDeep],
    ['up', 'up', '../outer.git', head(outer)],
  ]);
  const links: Links = [
    ['lib', 'vendor/lib', '../lib.git', atLib],
    ['secret', 'vendor/secret', `${url}/o/secret.git`, head(secret)],
    ['self', 'self', './', head(outer)],
    ['ext', 'e1', `ext::sh -c "touch% ${marks}/ext"`, atLib],
    ['file', 'e2', `file://${lib}`, atLib],
    ['option', 'e3', `--upload-pack=touch ${marks}/option`, atLib],
    ['above', 'e4', '../../../../../../etc', atLib],
    ['other', 'e5', 'http://other.example/o/lib.git', atLib],
    ['gone', 'e6', '../lib.git', atDeep],
    ['outside', '../e7', '../lib.git', atLib],
    ...Array.from({ length: 30 }, (_, n) => [`n${n}`, `n${n}`, `../n${n}.git`, atLib] as const),
  ];
  commitWith(outer, {}, links);
  for (const [name, repo] of Object.entries({ deep, lib, secret, outer })) publish(name, repo);

  const host = localHost(new URL(url).host);
  const of = (name: string, visibility: 'public' | 'private', pushedAt = '2026-01-01T00:00:00Z') =>
    hostedRepo(name, '', { cloneUrl: `${url}/o/${name}.git`, visibility, pushedAt });
  host.repos = [
    of('deep', 'public'),
    of('lib', 'public'),
    of('outer', 'public'),
    of('secret', 'private'),
  ];
  const more = { enforcePermissions: true, submodules: true };
  await using index = await openConnected(
    temporaryFolder(),
    host,
    { c: settingsOf(more) },
    { fetchMirror },
  );
  await index.settle();

  const start = `${new URL(url).host}/o/`;
  const directory = new RepoDirectory(() => index.instance.parts.snapshots.current.repos);
  let configuredGrants: ConfiguredGrant[] = [];
  const accessResolver = new RepoAccessResolver({
    directory,
    configuredGrants: () => configuredGrants,
    countingLists: () => new Map(),
    hasGrants: () => true,
    areRulesLoaded: () => true,
  });
  const finds = async (repoAccess: RepoAccess, word = 'plum'): Promise<string[]> =>
    (await index.search(word, {}, repoAccess)).files
      .map(({ repository, path: file }) => `${repository}:${file}`.slice(start.length))
      .sort();
  const grantAll = (begin: string): void => {
    configuredGrants = [
      { emails: new Set(), isForEveryone: true, covers: (name) => name.startsWith(begin) },
    ];
  };
  const open = [
    'deep:deep.txt',
    'lib/deep:deep.txt',
    'lib:lib.txt',
    'outer/vendor/lib/deep:deep.txt',
    'outer/vendor/lib:lib.txt',
    'outer:outer.txt',
  ];
  const up = 'lib/up:outer.txt';
  const closed = ['outer/vendor/secret:secret.txt', 'secret:secret.txt'];
  assert.deepEqual(await finds(SEES_ALL), [...open, ...closed, up].sort());
  assert.deepEqual(await finds(accessResolver.ofGuest()), [...open, up].sort());
  grantAll(`${start}outer/`);
  assert.deepEqual(
    await finds(accessResolver.ofGuest()),
    [...open, up].sort(),
    'a grant by the name gives nothing',
  );
  grantAll(`${start}secret`);
  assert.deepEqual(await finds(accessResolver.ofGuest()), [...open, ...closed, up].sort());
  configuredGrants = [];
  const record = directory.all.find(({ name }) => name.endsWith('outer/vendor/lib'))!;
  const read = await readSource(record, 'lib.txt', undefined, {
    sizeMax: 100,
    signal: new AbortController().signal,
  });
  assert.equal(Buffer.from(read.bytes).toString(), 'plum\n');
  assert.equal(
    existsSync(path.join(marks, 'ext')) || existsSync(path.join(marks, 'option')),
    false,
  );
  const repos = new Set(requested.map(({ path: url }) => url.split('/')[2]));
  assert.deepEqual(repos, new Set(['deep.git', 'lib.git', 'outer.git', 'secret.git']));

  // The link moves, and one goes.
  const moved = commitWith(lib, { 'new.txt': 'cherry\n' }, [['d', 'deep', '../deep.git', atDeep]]);
  publish('lib', lib);
  host.repos[1] = of('lib', 'public', '2026-01-02T00:00:00Z');
  await index.sync('c');
  assert.deepEqual(await finds(SEES_ALL, 'cherry'), ['lib:new.txt'], 'it is pinned');
  git(outer, 'rm', '-q', '--cached', 'vendor/secret');
  commitWith(outer, {}, [['lib', 'vendor/lib', '../lib.git', moved]]);
  publish('outer', outer);
  host.repos[2] = of('outer', 'public', '2026-01-02T00:00:00Z');
  await index.sync('c');
  assert.deepEqual(await finds(SEES_ALL, 'cherry'), ['lib:new.txt', 'outer/vendor/lib:new.txt']);
  assert.deepEqual(await finds(SEES_ALL), [...open, 'secret:secret.txt'].sort());

  host.repos[1] = of('lib', 'private', '2026-01-02T00:00:00Z');
  await index.sync('c');
  assert.deepEqual(await finds(accessResolver.ofGuest()), ['deep:deep.txt', 'outer:outer.txt']);
  await index.configure({ c: settingsOf({ enforcePermissions: true }) });
  await index.settle();
  assert.deepEqual(
    index.instance.served.records.map(({ name }) => name.slice(start.length)).sort(),
    ['deep', 'lib', 'outer', 'secret'],
  );
});

test('excluded submodules are reported once, in one line; an unreadable one does not stop the rest', async (t) => {
  const [root, dataDir] = [temporaryFolder(), temporaryFolder()];
  const [lib, outer] = ['lib', 'outer'].map((name) => makeRepo({ [`${name}.txt`]: 'plum\n' })) as [
    string,
    string,
  ];
  const { url } = await GitServer.start(t, { root });
  const many = Array.from({ length: 1_000 }, (_, n) => `m${n}`);
  const atFirst = git(lib, 'rev-parse', 'HEAD');
  const modules = many.map((n) => `[submodule "${n}"]\n\tpath = ${n}\n\turl = ../no.git\n`);
  writeFiles(lib, { '.gitmodules': modules.join('') });
  git(lib, 'add', '.gitmodules');
  const info = many.map((n) => `160000 commit ${atFirst}\t${n}\n`).join('');
  execFileSync('git', ['update-index', '--index-info'], { cwd: lib, input: info });
  git(lib, 'commit', '-q', '-m', 'many');
  const secret = `https://ann:s3cret@other.example/${'x'.repeat(5_000)}`;
  commitWith(outer, {}, [
    ['lib', 'lib', '../lib.git', git(lib, 'rev-parse', 'HEAD')],
    ['other', 'other', secret, atFirst],
    ['ssh', 'ssh', `ssh://git@${new URL(url).hostname}:7999/o/lib.git`, atFirst],
  ]);
  for (const [name, repo] of Object.entries({ lib, outer }))
    git(root, 'clone', '-q', '--bare', repo, `scm/o/${name}.git`);
  const host = localHost(new URL(url).host);
  host.repos = ['lib', 'outer'].map((name) =>
    hostedRepo(name, '', { path: `O/${name}`, cloneUrl: `${url}/scm/o/${name}.git` }),
  );
  const server = {
    open: (name: string): Host => ({ ...host.open(name), codeHostType: 'bitbucketServer' }),
  };
  const settings = { c: settingsOf({ submodules: true }) };
  const open = (fetch = fetchMirror) =>
    openConnected(dataDir, server, settings, { fetchMirror: fetch });
  await using first = await open();
  await first.settle();
  await first.sync('c');
  const idOf = ({ instance }: ConnectedIndex, name: string): number | undefined =>
    instance.served.records.find((record) => record.name.endsWith(name))?.repoId;
  const [outerId, repoId] = [idOf(first, '/O/outer'), idOf(first, '/outer/lib')];
  assert.ok(outerId !== undefined && repoId !== undefined);
  assert.notEqual(idOf(first, '/outer/ssh'), undefined);
  const reported = (): string[] =>
    first.warningLines.filter((line) => /"\S+\/O\/outer".*"submodules"/.test(line));
  const before = reported();
  await first.sync('c');
  assert.deepEqual(reported(), before);
  assert.match(before.at(-1) ?? '', /no connection has [^;]*other\.example.*; and \d+ more/);
  assert.doesNotMatch(before.join(''), /s3cret|x{100}|m999/);
  await first.close();

  // Git says of this clone that it is no repository.
  rmSync(path.join(dataDir, 'clones', `${outerId}.git`, 'objects'), { recursive: true });
  await using second = await open(() => Promise.reject(new Error('the host is down')));
  await second.settle();
  await second.sync('c');
  assert.equal(idOf(second, '/outer/lib'), repoId);
});
