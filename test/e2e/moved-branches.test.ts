// A running daemon notices moved branches: commits are soon searchable, however refs are stored.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import test from 'node:test';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { eventually, pathsOf, search, serveIndexed, shardNames } from './daemon.ts';

const shardsOf = (dataDir: string): string[] =>
  shardNames(dataDir).filter((name) => name.endsWith('.shard'));

void test('commits, packed refs, other branches and a removed default branch', async () => {
  const others = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`o${i}.txt`, 'pear\n']));
  const repo = makeRepo({ 'a.txt': 'plum\n', 'b.txt': 'plum\n', ...others });
  git(repo, 'branch', 'side');
  const dataDir = temporaryFolder();
  const served = await serveIndexed(dataDir, [repo], {
    flags: ['--mode', 'commits', '--branches', '**'],
  });
  const finds = async (query: string, paths: readonly string[]): Promise<void> => {
    const expected = paths.join();
    await eventually(async () => pathsOf(await search(served.url, query)).join() === expected);
  };
  await finds('plum', ['a.txt', 'b.txt']);

  const before = shardsOf(dataDir);
  writeFiles(repo, { 'c.txt': 'plum\n' });
  commitAll(repo);
  await finds('plum', ['a.txt', 'b.txt', 'c.txt']);
  assert.ok(
    before.every((name) => shardsOf(dataDir).includes(name)),
    'shards stay',
  );

  git(repo, 'pack-refs', '--all');
  git(repo, 'rm', '-q', 'b.txt');
  commitAll(repo);
  await finds('plum', ['a.txt', 'c.txt']);
  await finds('plum rev:side', ['a.txt', 'b.txt']);

  git(repo, 'update-ref', 'refs/heads/side', 'HEAD');
  await finds('plum rev:side', ['a.txt', 'c.txt']);
  git(repo, 'branch', '-m', 'main', 'trunk');
  await finds('plum rev:trunk', ['a.txt', 'c.txt']);
  git(repo, 'branch', '-D', 'side');
  await finds('plum rev:side', []);
  const { stats } = await search(served.url, 'plum');
  assert.equal(stats['crashes'], 0);
});
