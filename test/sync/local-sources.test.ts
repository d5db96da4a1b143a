// Local addresses in connections of type git (API.md 19.4): the sources that they select, by globs of real folders,
// and reports about rejected ones.

import assert from 'node:assert/strict';
import test from 'node:test';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  findLocalSources,
  type LocalSourcesOptions,
} from '../../daemon/sync/sources/local-sources.ts';
import { git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';

/** A mirror: `o/a.git`, `o/b.git` and `p/a.git` bare, `o/work` and `o/linked` work trees, `plain` a folder. */
function makeMirror(): string {
  const root = temporaryFolder();
  const repo = makeRepo({ 'a.c': 'plum\n' });
  for (const name of ['o/a.git', 'o/b.git', 'p/a.git'])
    git(root, 'clone', '-q', '--bare', repo, name);
  git(root, 'clone', '-q', repo, 'o/work');
  git(path.join(root, 'o/work'), 'worktree', 'add', '-q', '../linked');
  writeFiles(root, { 'plain/a.txt': 'plum\n', 'plain/gen/b.txt': 'plum\n' });
  return root;
}

async function found(root: string, glob: string, options: LocalSourcesOptions = {}) {
  const { sources, issues } = await findLocalSources(`${pathToFileURL(root).href}${glob}`, options);
  return {
    sources: sources.map(({ path: at, kind }) => `${path.relative(root, at)} ${kind}`),
    issues: issues.map(({ code, target, effect, message }) => {
      assert.match(message, /^(?:\/|file:).*: .{8}/);
      return `${code} ${target.slice(pathToFileURL(root).href.length)} ${effect}`;
    }),
  };
}

void test('one folder, globs, and any number of folders', async () => {
  const root = makeMirror();
  const bare = ['o/a.git commits', 'o/b.git commits', 'p/a.git commits'];
  const trees = ['o/linked commits', 'o/work commits'];
  const cases: [string, string[]][] = [
    ['/o/a.git', bare.slice(0, 1)],
    ['/o/a.git/', bare.slice(0, 1)],
    ['/plain', ['plain folder']],
    ['/*/*.git', bare],
    ['/{o,p}/[^b].git', [bare[0]!, bare[2]!]],
    ['/o/?.git', bare.slice(0, 2)],
    ['/o/*', [...bare.slice(0, 2), ...trees]],
    ['/**/*.git', bare],
    ['/**', [...bare, ...trees].sort()],
    ['/o/**/', [...bare.slice(0, 2), ...trees]],
    ['/%6f/%61.git', bare.slice(0, 1)],
  ];
  for (const [glob, expected] of cases)
    assert.deepEqual(await found(root, glob), { sources: expected, issues: [] }, glob);
  for (const name of ['wo?', 'wo[r]k']) git(path.join(root, 'o'), 'clone', '-q', 'work', name);
  assert.deepEqual((await found(root, '/o/wo%5Br%5Dk')).sources, ['o/wo[r]k commits']);
  assert.deepEqual((await found(root, '/o/wo%3F*')).sources, ['o/wo? commits']);
});

void test('modes, and globs of excluded paths', async () => {
  const root = makeMirror();
  const worktree = { mode: 'worktree' as const, ignore: ['gen/**'] };
  assert.deepEqual(await found(root, '/*', worktree), {
    sources: ['o folder', 'p folder', 'plain folder'],
    issues: [],
  });
  assert.deepEqual(await found(root, '/o/*', worktree), {
    sources: ['o/linked worktree', 'o/work worktree'],
    issues: [
      'MODE_NOT_POSSIBLE /o/a.git TARGET_SKIPPED',
      'MODE_NOT_POSSIBLE /o/b.git TARGET_SKIPPED',
    ],
  });
  assert.deepEqual(await found(root, '/plain', { mode: 'commits' }), {
    sources: [],
    issues: ['MODE_NOT_POSSIBLE /plain TARGET_SKIPPED'],
  });
  const { sources } = await findLocalSources(`file://${root}/plain`, { ignore: ['gen/**'] });
  assert.deepEqual(sources, [{ path: `${root}/plain`, kind: 'folder', ignore: ['gen/**'] }]);
  const committed = await findLocalSources(`file://${root}/o/work`, { ignore: ['gen/**'] });
  assert.deepEqual(committed.sources[0]!.ignore, []);
});

void test('a rejected path is an issue with its reason', async () => {
  const root = makeMirror();
  const outside = makeRepo({ a: '' });
  symlinkSync(outside, path.join(root, 'o/out'));
  symlinkSync('work', path.join(root, 'o/inner'));
  symlinkSync('nowhere', path.join(root, 'o/dangling'));
  symlinkSync('..', path.join(root, 'o/up'));
  writeFileSync(path.join(root, 'o/README'), '');
  mkdirSync(path.join(root, 'o/half.git/objects'), { recursive: true });
  mkdirSync(path.join(root, 'o/stolen'));
  writeFileSync(path.join(root, 'o/stolen/.git'), `gitdir: ${outside}/.git\n`);
  mkdirSync(Buffer.from(`${root}/o/odd\xff`, 'latin1'));
  const all = await found(root, '/o/*');
  // A link to what is there anyhow makes it no second one; which of the two paths counts is not said.
  assert.equal(all.sources.length, 4);
  assert.deepEqual(all.issues.sort(), [
    'LINK_LEADS_OUT /o/out TARGET_SKIPPED',
    'LINK_LEADS_OUT /o/up TARGET_SKIPPED',
    'NOT_A_FOLDER /o/README TARGET_SKIPPED',
    'NOT_A_REPOSITORY /o/half.git DISCOVERY_INCOMPLETE',
    'NOT_FOUND /o/dangling DISCOVERY_INCOMPLETE',
    'NOT_ITS_OWN /o/stolen TARGET_SKIPPED',
    'NOT_READABLE /o/odd%EF%BF%BD DISCOVERY_INCOMPLETE',
  ]);
  // In characters it is not long.
  const long = `/long/${Array<string>(9).fill('\u9577'.repeat(83)).join('/')}`;
  mkdirSync(path.join(root, long), { recursive: true });
  assert.deepEqual(await found(root, `/long${'/*'.repeat(9)}`), {
    sources: [],
    issues: [`PATH_TOO_LONG ${encodeURI(long)} DISCOVERY_INCOMPLETE`],
  });
  // A loop of links has an end, and `**` follows none.
  assert.equal((await found(root, '/*/*/*/*/work')).sources.length, 0);
  assert.deepEqual((await found(root, '/**/work')).sources, ['o/work commits']);
});

void test('a missing path means that nothing counts as removed', async () => {
  const root = makeMirror();
  const none = (issue: string) => ({ sources: [], issues: [issue] });
  assert.deepEqual(await found(root, '/no'), none('NOT_FOUND /no DISCOVERY_INCOMPLETE'));
  assert.deepEqual(
    await found(root, '/no/*.git'),
    none('NOT_FOUND /no/*.git DISCOVERY_INCOMPLETE'),
  );
  assert.deepEqual(await found(root, '/*.git'), none('NOTHING_FOUND /*.git TARGET_SKIPPED'));
  assert.deepEqual(
    await found(root, '/plain/a.txt'),
    none('NOT_A_FOLDER /plain/a.txt TARGET_SKIPPED'),
  );
  if (process.getuid?.() === 0) return;
  chmodSync(path.join(root, 'o'), 0);
  const { issues } = await found(root, '/*/*.git');
  chmodSync(path.join(root, 'o'), 0o755);
  assert.deepEqual(issues, ['NOT_READABLE /o DISCOVERY_INCOMPLETE']);
});

void test('meaningless addresses', async () => {
  const cases = ['https://host/x', 'file://other/srv/git', 'file:/srv', 'file:///srv/../etc'];
  cases.push(
    'file:///srv/%2e%2e/etc',
    'file:///a%00b',
    'file:///a%2Fb',
    'file:///%ff',
    'file:///{a/b,c}',
  );
  for (const url of cases) {
    const { sources, issues } = await findLocalSources(url);
    assert.deepEqual(
      [sources, issues.map(({ code, target }) => [code, target])],
      [[], [['BAD_ADDRESS', url]]],
      url,
    );
  }
  const { issues } = await findLocalSources('file://localhost/nowhere');
  assert.equal(issues[0]!.code, 'NOT_FOUND');
});

void test('folders removed while they are listed, and a stop', async () => {
  const root = temporaryFolder();
  for (let i = 0; i < 200; i++)
    mkdirSync(path.join(root, `a${i % 20}/b${i}/.git`), { recursive: true });
  const looking = findLocalSources(`file://${root}/**`);
  for (let i = 0; i < 20; i++) {
    await new Promise(setImmediate);
    rmSync(path.join(root, `a${19 - i}`), { recursive: true, force: true });
  }
  const { issues } = await looking;
  assert.deepEqual(
    issues.filter(({ code }) => code !== 'NOTHING_FOUND'),
    [],
  );
  const signal = AbortSignal.abort(new Error('stopped'));
  await assert.rejects(findLocalSources(`file://${root}/*`, { signal }), /stopped/);
});
