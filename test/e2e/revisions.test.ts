// Branches and tags from the command line: options and their errors, kill -9 while revisions are published, the next
// start.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { jobsEnded, pathsOf, search, serve, startTrawl, trawl } from './daemon.ts';

/** A bare repository: `main` has a.txt, branch `release/1` and tag `v1` have old.txt. */
function makeBare(): string {
  const work = makeRepo({ 'old.txt': 'plum old\n' });
  git(work, 'branch', 'release/1');
  git(work, 'tag', 'v1');
  git(work, 'mv', 'old.txt', 'a.txt');
  writeFiles(work, { 'a.txt': 'plum new\n' });
  commitAll(work);
  const bare = temporaryFolder();
  git(bare, 'clone', '-q', '--bare', work, 'repo.git');
  return `${bare}/repo.git`;
}

void test('options select branches and tags, and are kept', async () => {
  const repo = makeBare();
  const dataDir = temporaryFolder();
  const flags = ['--data-dir', dataDir];
  const first = await trawl([
    'index',
    ...flags,
    '--branches',
    'x,release/*',
    '--tags',
    'v{1,2}',
    repo,
  ]);
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stdout, /2 docs, 3 revisions,/);
  const again = await trawl(['index', ...flags, '--json', repo]);
  assert.match(again.stdout, /"isUnchanged":true,"revisionCount":3/);
  const found = await trawl(['search', '-l', ...flags, 'plum rev:release']);
  assert.match(found.stdout, /:old\.txt\n$/);
  const emptied = await trawl(['index', ...flags, '--branches=', '--tags=v9', repo]);
  assert.match(emptied.stderr, /no tag matches/);
  assert.equal((await trawl(['search', '-l', ...flags, 'old rev:*'])).code, 1);
});

void test('verify checks revision files', async () => {
  const dataDir = temporaryFolder();
  const flags = ['--data-dir', dataDir];
  assert.equal((await trawl(['index', ...flags, '--tags', 'v1', makeBare()])).code, 0);
  const folder = path.join(dataDir, 'shards');
  const name = readdirSync(folder).find((one) => one.endsWith('.revisions'))!;
  const file = path.join(folder, name);
  const verify = async (): Promise<[number | undefined, string]> => {
    const { code, stdout } = await trawl(['verify', ...flags]);
    return [code, stdout.split('\n').find((line) => line.includes(name)) ?? ''];
  };
  assert.deepEqual(await verify(), [0, `valid ${file}`]);
  writeFileSync(file, 'x', { flag: 'a' });
  assert.deepEqual(await verify(), [1, `damaged ${file}: wrong checksum`]);
  rmSync(file);
  const [code, line] = await verify();
  assert.equal(code, 1);
  assert.match(line, /^damaged .*ENOENT/);
});

void test('invalid globs are refused with the reason', async () => {
  for (const [glob, reason] of [
    ['release/{1,2', /A } is missing/],
    ['v[0-9', /A \] is missing/],
    ['a,,b', /empty glob/],
    ['a b', /no blanks/],
    ['refs/heads/main', /short names/],
  ] as const) {
    const { code, stderr } = await trawl(['index', '--tags', glob, '/nonexistent']);
    assert.equal(code, 2, glob);
    assert.match(stderr, reason);
  }
});

void test('kill -9 while revisions change: the last published ones remain', async () => {
  const repo = makeBare();
  const dataDir = temporaryFolder();
  const index = ['index', '--data-dir', dataDir, '--branches', '**', repo];
  assert.equal((await trawl(index)).code, 0);
  git(repo, 'branch', 'more', 'v1');
  for (const moment of [/^listing /m, /^merging /m, / repo indexed /]) {
    const building = startTrawl([...index, '--force']);
    await building.until(moment);
    await building.stop('SIGKILL');
    const local = await trawl(['search', '-l', '--data-dir', dataDir, 'plum rev:*']);
    assert.equal(local.stdout.trim().split('\n').length, 2, String(moment));
  }
  const served = await serve(dataDir, [repo]);
  await jobsEnded(served, 1);
  const answer = await search(served.url, 'plum rev:more');
  assert.deepEqual(pathsOf(answer), ['old.txt']);
  assert.deepEqual(pathsOf(await search(served.url, 'plum')), ['a.txt']);
  await served.process.stop();
});
