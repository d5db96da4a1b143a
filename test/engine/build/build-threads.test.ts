// The threads shared by builds: one build gets all, a further one soon gets its first, and their number is limited. A
// reused thread builds like a new one.

import assert from 'node:assert/strict';
import path from 'node:path';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { buildRepo } from '../../../daemon/engine/build/build.ts';
import { BuildThreads } from '../../../daemon/engine/build/build-threads.ts';
import { makeRepo, temporaryFolder } from '../../sources/git/fixture.ts';
import { coreModule } from '../host/harness.ts';

void test('a client with several threads returns one, and waiting clients get it first', async () => {
  const threads = new BuildThreads(await coreModule('release'), 2);
  await threads.take(undefined);
  assert.ok(threads.tryTake());
  assert.ok(!threads.tryTake());
  let requested = 0;
  const end = threads.onWaiter(() => requested++);
  const second = threads.take(undefined);
  assert.deepEqual([requested, threads.hasWaiters], [1, true]);
  threads.release();
  assert.ok(!threads.tryTake(), 'it is taken already');
  await second;
  assert.deepEqual([threads.hasWaiters, threads.takenCount], [false, 2]);
  end();
  const abort = new AbortController();
  const third = threads.take(abort.signal);
  abort.abort(new Error('enough'));
  await assert.rejects(third, /enough/);
  assert.deepEqual([requested, threads.hasWaiters], [1, false]);
  threads.release();
  threads.release();
  assert.equal(threads.takenCount, 0);
});

const FILTERS = { maxFileSize: 64 << 20, maxTrigramCount: 0, alwaysIndexFilePatterns: [] };

async function build(
  threads: BuildThreads,
  files: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<string[]> {
  const { shards } = await buildRepo({
    module: await coreModule('release'),
    spec: { kind: 'worktree', path: makeRepo(files) },
    repoId: 1,
    repoName: 'plums',
    filters: FILTERS,
    folder: temporaryFolder(),
    threads,
    signal,
  });
  return shards.map(({ path: file }) => readFileSync(file, 'latin1'));
}

void test('an idle thread builds the same as a new one, after builds of any size', async () => {
  const threads = new BuildThreads(await coreModule('release'), 1);
  const small = { 'a.c': 'int plum;\n', 'b/c.h': '#pragma once\n' };
  const other = { 'x.py': 'def pear():\n  pass\n', 'a.c': 'int plum;\n' };
  const fresh = [await build(threads, small)];
  assert.equal(threads.idleCount, 1);
  await threads.close();
  fresh.push(await build(threads, other));
  assert.deepEqual([await build(threads, small), await build(threads, other)], fresh);
  assert.equal(threads.idleCount, 1, 'it is the same one');
  await build(threads, { 'large.txt': 'quince 1234567\n'.repeat(700_000) });
  assert.equal(threads.idleCount, 1);
  assert.deepEqual([await build(threads, small), await build(threads, other)], fresh);
  await threads.close();
  assert.equal(threads.idleCount, 0);
});

void test('a thread whose build was stopped is not reused', async () => {
  const threads = new BuildThreads(await coreModule('release'), 1);
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [`f${i}.txt`, `plum ${i}\n`.repeat(50_000)]),
  );
  const stop = new AbortController();
  const building = build(threads, files, stop.signal);
  while (threads.takenCount === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort(new Error('enough'));
  await assert.rejects(building, /enough/);
  assert.deepEqual([threads.takenCount, threads.idleCount], [0, 0]);
  assert.equal((await build(threads, { 'a.c': 'int plum;\n' })).length, 1);
  await threads.close();
});

void test('a build stopped before its turn does not start', async () => {
  const threads = new BuildThreads(await coreModule('release'), 1);
  await threads.take(undefined);
  const stop = new AbortController();
  const building = build(threads, { 'a.c': 'int plum;\n' }, stop.signal);
  while (!threads.hasWaiters) await new Promise((resolve) => setTimeout(resolve, 5));
  threads.release();
  stop.abort(new Error('enough'));
  await assert.rejects(building, /enough/);
  assert.deepEqual([threads.takenCount, threads.idleCount], [0, 0]);
});

void test('a thread that exits is reported, and not reused', async () => {
  const threads = new BuildThreads(await coreModule('release'), 1);
  await threads.take(undefined);
  const thread = threads.thread();
  const spec = { kind: 'folder', path: temporaryFolder() } as const;
  const ended = new Promise<Error>((resolve) =>
    thread.begin(
      { spec, filters: FILTERS, headerFolders: new Map() },
      { onMessage: () => {}, onError: resolve },
    ),
  );
  // An order that cannot be followed: the error ends the thread.
  thread.post({ kind: 'completion', path: '/dev/null/x' } as never);
  assert.ok((await ended) instanceof Error);
  assert.ok(thread.isOver);
  await threads.giveBack(thread, true);
  assert.deepEqual([threads.takenCount, threads.idleCount], [0, 0]);
});

void test('concurrent builds release all memory', async () => {
  const module = await coreModule('release');
  const threads = new BuildThreads(module, 2);
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [`f${i}.txt`, `plum ${i}\n`.repeat(20_000)]),
  );
  const folder = temporaryFolder();
  let takenMax = 0;
  const built = await Promise.all(
    [files, { 'a.txt': 'pear\n' }, { 'b.txt': 'pear\n' }].map((content, i) =>
      buildRepo({
        module,
        spec: { kind: 'worktree', path: makeRepo(content) },
        repoId: i + 1,
        repoName: path.basename(folder),
        filters: { maxFileSize: 1 << 20, maxTrigramCount: 0, alwaysIndexFilePatterns: [] },
        folder,
        threads,
        onProgress: () => (takenMax = Math.max(takenMax, threads.takenCount)),
      }),
    ),
  );
  assert.deepEqual(
    built.map(({ shards }) => shards.map(({ docCount }) => docCount)),
    [[40], [1], [1]],
  );
  assert.equal(takenMax, 2);
  assert.equal(threads.takenCount, 0);
  await threads.close();
});
