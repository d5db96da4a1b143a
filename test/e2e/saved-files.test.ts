// A running daemon notices saved files without a commit: they are soon searchable.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { eventually, pathsOf, search, serveIndexed, shardNames } from './daemon.ts';

type Served = Awaited<ReturnType<typeof serveIndexed>>;

function finderOf(served: Served): (query: string, paths: readonly string[]) => Promise<void> {
  return (query, paths) =>
    eventually(async () => pathsOf(await search(served.url, query)).join() === paths.join());
}

function jobCount({ process }: Served): number {
  return `${process.stdout}${process.stderr}`.split('repo indexed').length;
}

/** Waits until no job has ended for a while. */
async function untilQuiet(served: Served): Promise<number> {
  for (let before = -1; ;) {
    const now = jobCount(served);
    if (now === before) return now;
    before = now;
    await sleep(4000);
  }
}

void test('a work tree: saved, deleted, renamed files, new folders, another branch', async () => {
  const others = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`o${i}.txt`, 'pear\n']));
  const repo = makeRepo({
    'a.txt': 'plum\n',
    'b.txt': 'plum\n',
    '.gitignore': 'out/\n',
    ...others,
  });
  const dataDir = temporaryFolder();
  const served = await serveIndexed(dataDir, [repo], { flags: ['--mode', 'worktree'] });
  const finds = finderOf(served);
  await finds('plum', ['a.txt', 'b.txt']);
  const before = shardNames(dataDir).filter((name) => name.endsWith('.shard'));

  writeFiles(repo, { 'c.txt': 'plum\n' });
  await finds('plum', ['a.txt', 'b.txt', 'c.txt']);
  assert.ok(
    before.every((name) => shardNames(dataDir).includes(name)),
    'shards stay',
  );
  rmSync(path.join(repo, 'b.txt'));
  await finds('plum', ['a.txt', 'c.txt']);
  // As editors save.
  writeFiles(repo, { '.c.txt.swp': 'plum\n' });
  renameSync(path.join(repo, '.c.txt.swp'), path.join(repo, 'o1.txt'));
  await finds('plum', ['a.txt', 'c.txt', 'o1.txt']);
  writeFiles(repo, { 'new/deep/d.txt': 'plum\n', 'out/e.txt': 'plum\n' });
  await finds('plum', ['a.txt', 'c.txt', 'new/deep/d.txt', 'o1.txt']);
  appendFileSync(path.join(repo, 'new/deep/d.txt'), 'cherry\n');
  await finds('cherry', ['new/deep/d.txt']);
  renameSync(path.join(repo, 'new'), path.join(repo, 'old'));
  writeFiles(repo, { 'old/deep/f.txt': 'cherry\n' });
  await finds('cherry', ['old/deep/d.txt', 'old/deep/f.txt']);
  symlinkSync('cherry', path.join(repo, 'link'));
  await finds('cherry', ['link', 'old/deep/d.txt', 'old/deep/f.txt']);
  writeFiles(repo, { '.gitignore': 'old/\n' });
  await finds('cherry', ['link']);
  await finds('plum', ['a.txt', 'c.txt', 'o1.txt', 'out/e.txt']);
  writeFiles(repo, { 'out/g.txt': 'cherry\n' });
  await finds('cherry', ['link', 'out/g.txt']);

  git(repo, 'checkout', '-q', '-b', 'side');
  commitAll(repo);
  git(repo, 'checkout', '-q', 'main');
  await finds('plum', ['a.txt', 'b.txt']);
  const { stats } = await search(served.url, 'plum');
  assert.equal(stats['crashes'], 0);
});

void test('excluded files cause no work', async () => {
  const repo = makeRepo({ '.gitignore': 'out/\n*.log\n', 'a.txt': 'plum\n' });
  mkdirSync(path.join(repo, 'out'));
  const served = await serveIndexed(temporaryFolder(), [repo], { flags: ['--mode', 'worktree'] });
  writeFiles(repo, { 'x.log': 'plum\n', 'out/a': 'plum\n' });
  const before = await untilQuiet(served);
  for (let i = 0; i < 20; i++) {
    appendFileSync(path.join(repo, 'x.log'), 'plum\n');
    writeFiles(repo, { [`out/${i}`]: 'plum\n' });
    await sleep(50);
  }
  await sleep(1000);
  assert.equal(jobCount(served), before);
  writeFiles(repo, { 'b.txt': 'plum\n' });
  await finderOf(served)('plum', ['a.txt', 'b.txt']);
});
