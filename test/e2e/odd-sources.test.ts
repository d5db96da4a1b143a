// Incomplete and unreadable sources: the others are served, and the daemon reports the problem and the remedy.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { startApp } from '../api/app.ts';
import { git, makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { get, index, jobsEnded, pathsOf, search, serve, trawl } from './daemon.ts';

interface Result {
  readonly repo: string;
  readonly state: string;
  readonly docCount: number;
  readonly ignored: Record<string, number>;
  readonly warnings: readonly string[];
  readonly error?: string;
}

async function resultsOf(...sources: readonly string[]): Promise<Result[]> {
  const folder = temporaryFolder();
  const { stdout } = await trawl([
    'index',
    '--json',
    '--no-symbols',
    '--data-dir',
    folder,
    ...sources,
  ]);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Result);
}

void test('an empty folder, a repository without commits', async () => {
  const repo = temporaryFolder();
  git(repo, 'init', '-q', '--bare');
  const results = await resultsOf(temporaryFolder(), repo);
  assert.deepEqual(
    results.map(({ warnings }) => warnings.join()),
    ['nothing is indexed: the folder has no files', 'nothing is indexed: no files are committed'],
  );
  const tree = temporaryFolder();
  git(tree, 'init', '-q');
  assert.deepEqual((await resultsOf('--mode', 'commits', tree))[0]?.warnings, [
    'nothing is indexed: no files are committed; to index the files on disk use --mode worktree',
  ]);
});

void test('a missing source does not prevent the others from being served', async () => {
  const good = makeRepo({ 'a.txt': 'plum\n' });
  const missing = path.join(temporaryFolder(), 'gone');
  const served = await serve(temporaryFolder(), [missing, good]);
  await jobsEnded(served, 2);
  assert.deepEqual(pathsOf(await search(served.url, 'plum')), ['a.txt']);
  await served.process.until(new RegExp(`^${missing}: failed: .*does not exist`, 'm'));
  await served.process.stop();
  const results = await resultsOf(missing, good);
  assert.deepEqual(
    results.map(({ state }) => state),
    ['FAILED', 'COMPLETED'],
  );
  assert.match(results[0]?.error ?? '', new RegExp(`^${missing}: does not exist$`));
  const alone = await trawl(['serve', missing], { cwd: temporaryFolder() });
  assert.equal(alone.code, 2);
  assert.match(
    alone.stderr,
    /does not exist; .* waited for if there are others, or if it was indexed/,
  );
});

void test('a source missing at the start is served once it exists', async () => {
  const good = makeRepo({ 'a.txt': 'plum\n' });
  const missing = path.join(temporaryFolder(), 'later');
  const served = await serve(temporaryFolder(), [missing, good], {
    flags: ['--mode', 'commits', '--branches', 'side'],
  });
  await served.process.until(/ repo indexed /);
  const later = makeRepo({ 'b.txt': 'plum\n' });
  git(later, 'branch', 'side');
  renameSync(later, missing);
  await served.process.until(/ repo indexed /, 2);
  assert.deepEqual(pathsOf(await search(served.url, 'plum')), ['a.txt', 'b.txt']);
  assert.deepEqual(pathsOf(await search(served.url, 'plum rev:side')), ['b.txt']);
  const ready = await get<{ degraded?: readonly string[] }>(`${served.url}/api/ready`);
  assert.equal(ready.body.degraded?.some((one) => one.includes('later')) ?? false, false);
  await served.process.stop();
});

void test('a later source does not change existing ones', async () => {
  const dataDir = temporaryFolder();
  const secret = makeRepo({ 's.txt': 'plum\n' });
  const good = makeRepo({ 'a.txt': 'plum\n' });
  await index(dataDir, [secret, good]);
  const set = ['repo', 'set', '--data-dir', dataDir, '--enforce-permissions'];
  assert.equal((await trawl([...set, `local/${path.basename(secret)}`], {})).code, 0);
  const missing = path.join(temporaryFolder(), 'later');
  const served = await serve(dataDir, [good, missing], { flags: ['--no-enforce-permissions'] });
  await served.process.until(/ repo indexed /);
  symlinkSync(secret, missing);
  await served.process.until(/may be a known repository/);
  assert.deepEqual(pathsOf(await search(served.url, 'plum')), ['a.txt']);
  await served.process.stop();
  const { stdout } = await trawl(['repo', 'list', '--data-dir', dataDir], {});
  assert.match(stdout, new RegExp(`${path.basename(secret)}[^\n]*restricted[^\n]*${secret}`));
});

void test('a source whose git now leads elsewhere is hidden, with its former content', async () => {
  const dataDir = temporaryFolder();
  const good = makeRepo({ 'a.txt': 'plum\n' });
  const unrelated = makeRepo({ 'b.txt': 'plum\n' });
  await index(dataDir, [good, unrelated]);
  const link = path.join(unrelated, '.git/objects/pack/pack-1.pack');
  symlinkSync(path.join(makeRepo({ x: '' }), '.git/config'), link);
  const displayed = async (sources: readonly string[], paths: readonly string[]): Promise<void> => {
    const app = await startApp(sources, { dataDir, mayFail: true });
    assert.deepEqual(pathsOf(await app.search('plum')), paths);
    const repos = await app.get<readonly unknown[]>('/api/repos');
    assert.equal(repos.body.length, paths.length);
    const repo = `local/${path.basename(unrelated)}`;
    const query = new URLSearchParams({ repo, path: 'b.txt' }).toString();
    const { status } = await app.get(`/api/source?${query}`);
    assert.equal(status, paths.length === 2 ? 200 : 404);
    await app.close();
  };
  // Named, and found in the catalog.
  await displayed([good, unrelated], ['a.txt']);
  await displayed([], ['a.txt']);
  const local = await trawl(['search', '--data-dir', dataDir, '-l', 'plum']);
  assert.doesNotMatch(local.stdout, /b\.txt/);
  rmSync(link);
  await displayed([], ['a.txt', 'b.txt']);
});
