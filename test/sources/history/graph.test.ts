// Our commit graphs: they never give wrong results, in any state, they grow with the history, and their repositories
// are never written to.
// tier: ci (long)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { allowGitPaths } from '../../../daemon/sources/git/git-paths.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../git/fixture.ts';
import { logOf } from './oracle.ts';
import { importStream, makeHistory, type MadeCommit } from './repos.ts';
import { graphFolder, historyOf, type HistoryWorld, NEVER } from './world.ts';

function commitsOf(count: number): MadeCommit[] {
  return Array.from({ length: count }, (_, i) => ({
    files: { [`f${i % 3}.txt`]: `${i}\n`, 'all.txt': `${i}\n` },
  }));
}

/** Every file below a folder, with what shows that it was written to. */
function stateOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => {
      const { size, mtimeMs, mode } = lstatSync(path.join(folder, name));
      return `${name} ${size} ${mtimeMs} ${mode}`;
    })
    .sort();
}

function graphsIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.graph'))
    .sort();
}

async function assertEqual(world: HistoryWorld, repo: string, ref = 'HEAD'): Promise<void> {
  assert.deepEqual(world.failures, []);
  for (const file of ['f1.txt', 'all.txt', undefined]) {
    const log = logOf(repo, ref, ...(file === undefined ? [] : ['--', file]));
    // Where the history of a shallow clone ends is no name.
    const expected = log.map((item) => (item['refs'] === 'grafted' ? { ...item, refs: '' } : item));
    const found = await world.commits({ path: file, ref });
    assert.deepEqual(found, { total: expected.length, items: expected });
    assert.ok(expected.length > 0);
  }
}

test('the repository is not written to', async () => {
  const { path: repo } = makeHistory(commitsOf(9));
  const before = stateOf(repo);
  const folder = graphFolder();
  const world = historyOf(repo, { folder });
  await world.history.prepare(world.repo, NEVER);
  await assertEqual(world, repo);
  await world.blame('all.txt');
  await world.diff('HEAD~3', 'HEAD');
  await world.history.authors(world.repo, { ref: undefined, path: undefined }, NEVER);
  assert.equal(graphsIn(folder).length, 1);
  assert.deepEqual(stateOf(repo), before);
});

test('short histories get no graph, long ones do', async () => {
  const { path: repo } = makeHistory(commitsOf(9));
  const folder = graphFolder();
  const short = historyOf(repo, { folder, commitCountMin: 10 });
  await short.history.prepare(short.repo, NEVER);
  assert.deepEqual(graphsIn(folder), []);
  const long = historyOf(repo, { folder, commitCountMin: 9 });
  await long.history.prepare(long.repo, NEVER);
  assert.equal(graphsIn(folder).length, 1);
});

test('git uses the graph: without its commit objects it still lists them', async () => {
  const { path: repo, commits } = makeHistory(commitsOf(9));
  const folder = graphFolder();
  const world = historyOf(repo, { folder });
  await world.history.prepare(world.repo, NEVER);
  const bare = historyOf(repo, { commitCountMin: 1000 });
  const victim = commits[3]!;
  const objectFile = path.join(repo, 'objects', victim.slice(0, 2), victim.slice(2));
  const hidden = path.join(temporaryFolder(), 'hidden');
  renameSync(objectFile, hidden);
  assert.equal((await world.commits({ limit: 2 })).total, 9);
  await assert.rejects(bare.commits({ limit: 2 }), { name: 'GitError' });
});

test('new commits are correct at once, and join the graph later', async () => {
  const { path: repo } = makeHistory(commitsOf(9));
  const folder = graphFolder();
  const world = historyOf(repo, { folder });
  await world.history.prepare(world.repo, NEVER);
  const first = graphsIn(folder);
  const more: MadeCommit[] = [
    { parents: ['refs/heads/main^0'], files: { 'f1.txt': 'new\n' } },
    { files: { 'all.txt': 'new\n' }, renames: { 'f0.txt': 'f9.txt' } },
  ];
  const made = spawnSync('git', ['fast-import', '--quiet'], {
    cwd: repo,
    input: importStream(more),
  });
  assert.equal(made.status, 0, made.stderr.toString());
  await assertEqual(world, repo);
  await world.history.prepare(world.repo, NEVER);
  assert.notDeepEqual(graphsIn(folder), first);
  await assertEqual(world, repo);
});

test('a damaged, truncated or locked graph does no harm', async () => {
  const { path: repo } = makeHistory(commitsOf(9));
  const folder = graphFolder();
  const made = historyOf(repo, { folder });
  await made.history.prepare(made.repo, NEVER);
  const [name = ''] = graphsIn(folder);
  const file = path.join(folder, name);
  const good = readFileSync(file);
  const { repoId } = made.repo;
  for (const bad of [Buffer.alloc(0), good.subarray(0, 100), Buffer.from('x'.repeat(2000))]) {
    renameSync(file, `${file}.old`);
    writeFileSync(file, bad);
    const world = historyOf(repo, { folder, repoId });
    await assertEqual(world, repo);
  }
  const chain = path.join(folder, String(repoId), 'info/commit-graphs/commit-graph-chain');
  writeFileSync(chain, 'garbage\n');
  await assertEqual(historyOf(repo, { folder, repoId }), repo);
  writeFileSync(`${chain}.lock`, '');
  writeFileSync(chain, '');
  const world = historyOf(repo, { folder, repoId });
  await world.history.prepare(world.repo, NEVER);
  assert.match(readFileSync(chain, 'utf8'), /^[0-9a-f]{40}\n$/);
  await assertEqual(world, repo);
});

test('shallow repositories: no graph, and no earlier one', async () => {
  const { path: source } = makeHistory(commitsOf(9));
  const parent = temporaryFolder();
  git(parent, 'clone', '-q', '--bare', `file://${source}`, 'repo');
  const repo = path.join(parent, 'repo');
  const folder = graphFolder();
  const world = historyOf(repo, { folder });
  await world.history.prepare(world.repo, NEVER);
  assert.equal(graphsIn(folder).length, 1);
  git(repo, 'fetch', '-q', '--depth=3', 'origin', 'main');
  assert.equal(git(repo, 'rev-list', '--count', 'HEAD'), '3');
  const shallow = historyOf(repo, { folder, repoId: world.repo.repoId });
  await assertEqual(shallow, repo);
  const other = graphFolder();
  const late = historyOf(repo, { folder: other });
  await late.history.prepare(late.repo, NEVER);
  assert.deepEqual(graphsIn(other), []);
});

test('objects elsewhere: alternates, relative and nested ones, and unusual folder names', async () => {
  const parent = temporaryFolder();
  allowGitPaths([parent]);
  const { path: source } = makeHistory(commitsOf(9));
  const odd = 'odd: "name" \\ with $(x)';
  git(parent, 'clone', '-q', '--bare', source, odd);
  git(parent, 'clone', '-q', '--bare', '--shared', odd, 'second');
  git(parent, 'clone', '-q', '--bare', '--shared', 'second', 'third');
  for (const [name, target] of [
    ['second', odd],
    ['third', 'second'],
  ] as const) {
    const file = path.join(parent, name, 'objects/info/alternates');
    writeFileSync(file, `../../${target}/objects\n`);
  }
  for (const name of [odd, 'second', 'third']) {
    const folder = graphFolder();
    const repo = path.join(parent, name);
    const world = historyOf(repo, { folder });
    // Git itself decides whether relative names in alternates of alternates count.
    if (spawnSync('git', ['log', 'HEAD'], { cwd: repo }).status !== 0) continue;
    await world.history.prepare(world.repo, NEVER);
    assert.equal(graphsIn(folder).length, 1, name);
    await assertEqual(world, repo);
  }
});

test('work trees, linked ones too, are queried for commits', async () => {
  const main = makeRepo({ 'f1.txt': 'a\n', 'all.txt': 'a\n' });
  writeFiles(main, { 'f1.txt': 'b\n', '.mailmap': 'Other <o@example.com> <a@example.com>\n' });
  commitAll(main, 'second');
  const linked = path.join(temporaryFolder(), 'linked');
  git(main, 'worktree', 'add', '-q', '--detach', linked, 'HEAD~1');
  writeFiles(linked, { '.mailmap': 'On Disk <d@example.com> <a@example.com>\n' });
  for (const [repo, name] of [
    [main, 'Other'],
    [linked, 'A'],
  ] as const) {
    const world = historyOf(repo, { source: { kind: 'worktree', path: repo } });
    await world.history.prepare(world.repo, NEVER);
    const { items } = await world.commits();
    assert.equal(items[0]?.authorName, name);
    assert.equal(items.length, repo === main ? 2 : 1);
    const [commit] = Object.values((await world.blame('f1.txt')).commits);
    assert.equal(commit?.authorName, name);
  }
});

test('folders of removed repos are removed', async () => {
  const folder = graphFolder();
  for (const name of ['1', '2', 'other'])
    mkdirSync(path.join(folder, name, 'info'), { recursive: true });
  const { history } = historyOf('/nowhere', { folder });
  await history.sweep((repoId) => repoId === 2);
  assert.deepEqual(readdirSync(folder), ['2']);
  await historyOf('/nowhere', { folder: path.join(folder, 'none') }).history.sweep(() => true);
});
