// Checks of index files that their owner changes meanwhile.
// tier: ci (long)

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs, { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import test from 'node:test';
import { verifyShards } from '../../daemon/cli/index-files.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { openIndexOf } from '../sync/index-of.ts';

async function indexed(dataDir: string, repo: string): Promise<string[]> {
  const index = await openIndexOf(dataDir, { findsSymbols: true });
  await index.index([repo], { branches: ['**'] }, 'commits');
  await index.instance.symbols!.run();
  await index.close();
  const { shardFolder, fileNames } = index.instance.catalog;
  return [...fileNames].map((name) => path.join(shardFolder, name)).sort();
}

void test('a file replaced during the check is checked in its new version', async (t) => {
  const repo = makeRepo({ 'a.go': 'package a\n\nfunc plum() {}\n' });
  git(repo, 'branch', 'dev');
  const [dataDir, later] = [temporaryFolder(), temporaryFolder()];
  const before = await indexed(dataDir, repo);
  writeFiles(repo, { 'a.go': 'package a\n\nfunc pear() {}\n' });
  commitAll(repo);
  await indexed(later, repo);
  for (const ending of ['.shard', '.tags']) {
    const now = temporaryFolder();
    cpSync(dataDir, now, { recursive: true });
    const { statSync } = fs;
    let isReplaced = false;
    t.mock.method(fs, 'statSync', (...args: Parameters<typeof statSync>) => {
      if (!isReplaced && String(args[0]).endsWith(ending)) {
        isReplaced = true;
        rmSync(now, { recursive: true });
        cpSync(later, now, { recursive: true });
      }
      return statSync(...args);
    });
    syncBuiltinESMExports();
    const checks = await verifyShards({ dataDir: now, paths: [] });
    t.mock.restoreAll();
    syncBuiltinESMExports();
    assert.ok(isReplaced);
    assert.deepEqual(
      checks.flatMap(({ problems }) => problems),
      [],
    );
    const names = checks.map((check) => path.relative(now, check.path)).sort();
    const expected = fs.readdirSync(path.join(now, 'shards')).map((name) => `shards/${name}`);
    assert.deepEqual(names, expected.sort());
    assert.ok(before.every((file) => !names.includes(path.relative(dataDir, file))));
  }
});

void test('a search whose files the owner replaces meanwhile finds all', async (t) => {
  const repo = makeRepo({ 'a.go': 'package a\n\nfunc plum() {}\n' });
  git(repo, 'branch', 'dev');
  const [dataDir, later] = [temporaryFolder(), temporaryFolder()];
  await indexed(dataDir, repo);
  writeFiles(repo, { 'a.go': 'package a\n\nfunc plum() {}\nfunc pear() {}\n' });
  commitAll(repo);
  await indexed(later, repo);
  for (const ending of ['.revisions', '.shard', '.tags']) {
    const now = temporaryFolder();
    cpSync(dataDir, now, { recursive: true });
    let isReplaced = false;
    const replaceBefore = (file: unknown): void => {
      if (isReplaced || !String(file).endsWith(ending)) return;
      isReplaced = true;
      rmSync(now, { recursive: true });
      cpSync(later, now, { recursive: true });
    };
    const { openSync } = fs;
    const { open } = fs.promises;
    t.mock.method(fs, 'openSync', (...args: Parameters<typeof openSync>) => {
      replaceBefore(args[0]);
      return openSync(...args);
    });
    t.mock.method(fs.promises, 'open', (...args: Parameters<typeof open>) => {
      replaceBefore(args[0]);
      return open(...args);
    });
    syncBuiltinESMExports();
    await using index = await openIndexOf(now, { isOwner: false });
    t.mock.restoreAll();
    syncBuiltinESMExports();
    assert.ok(isReplaced, ending);
    const { files, isSearchExhaustive } = await index.search('sym:pear');
    assert.deepEqual([files.length, isSearchExhaustive], [1, true], ending);
    assert.deepEqual(index.warnings, [], ending);
    await index.close();
  }
});

void test('a missing file is named, and the others are checked', async () => {
  const dataDir = temporaryFolder();
  await indexed(dataDir, makeRepo({ 'a.go': 'package a\n\nfunc plum() {}\n' }));
  const later = makeRepo({ 'b.go': 'package b\n\nfunc pear() {}\n' });
  const files = (await indexed(dataDir, later)).filter((file) => /\.(shard|tags)$/.test(file));
  assert.equal(files.length, 4);
  const missing = async (): Promise<string[]> => {
    const checks = await verifyShards({ dataDir, paths: [] });
    assert.equal(checks.length, 3, 'symbols without their shard say nothing');
    const wrong = checks.filter(({ problems }) => problems.length > 0);
    for (const { problems } of wrong) assert.deepEqual(problems, ['the file is missing']);
    return wrong.map((check) => check.path);
  };
  const gone = files.find((file) => file.endsWith('.shard'))!;
  rmSync(gone);
  assert.deepEqual(await missing(), [gone]);
  await assert.rejects(verifyShards({ dataDir, paths: [gone] }));
  for (const file of files) if (file.endsWith('.tags')) rmSync(file);
  assert.equal((await missing()).length, 2);
});

void test('unreadable files of an index are named, and the others are checked', async () => {
  const dataDir = temporaryFolder();
  const files = await indexed(dataDir, makeRepo({ 'a.go': 'package a\n\nfunc plum() {}\n' }));
  const shard = files.find((file) => file.endsWith('.shard'))!;
  const tags = files.find((file) => file.endsWith('.tags'))!;
  const wrongs: readonly (readonly [(file: string) => void, RegExp])[] = [
    [(file) => symlinkSync(file, file), /^it cannot be read: ELOOP: .*\.(shard|tags)/],
    [
      (file) => mkdirSync(file),
      /^it cannot be read: \/.* is a folder and not a file; move it away/,
    ],
    [
      (file) => void execFileSync('mkfifo', [file]),
      /^it cannot be read: \/.* is a pipe and not a file/,
    ],
  ];
  for (const file of [tags, shard])
    for (const [make, problem] of wrongs) {
      rmSync(file, { recursive: true });
      make(file);
      const checks = await verifyShards({ dataDir, paths: [] });
      // Symbols without their shard say nothing.
      assert.equal(checks.length, file === tags ? 2 : 1);
      const [wrong, ...others] = checks.filter(({ problems }) => problems.length > 0);
      assert.equal(wrong?.path, file);
      assert.match(wrong.problems.join(), problem);
      assert.deepEqual(others, []);
    }
});
