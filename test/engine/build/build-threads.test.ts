// The threads that builds share: one build has them all, a further one soon gets its first, and never are there more.

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { buildRepo } from '../../../daemon/engine/build/build.ts';
import { BuildThreads } from '../../../daemon/engine/build/build-threads.ts';
import { makeRepo, temporaryFolder } from '../../sources/git/fixture.ts';
import { coreModule } from '../host/harness.ts';

void test('who has several is asked for one, and whoever waits gets it first', async () => {
  const threads = new BuildThreads(2);
  await threads.take(undefined);
  assert.ok(threads.tryTake());
  assert.ok(!threads.tryTake());
  let asked = 0;
  const end = threads.onWanted(() => asked++);
  const second = threads.take(undefined);
  assert.deepEqual([asked, threads.isWanted], [1, true]);
  threads.release();
  assert.ok(!threads.tryTake(), 'it is taken already');
  await second;
  assert.deepEqual([threads.isWanted, threads.takenCount], [false, 2]);
  end();
  const abort = new AbortController();
  const third = threads.take(abort.signal);
  abort.abort(new Error('enough'));
  await assert.rejects(third, /enough/);
  assert.deepEqual([asked, threads.isWanted], [1, false]);
  threads.release();
  threads.release();
  assert.equal(threads.takenCount, 0);
});

void test('builds beside each other give all back', async () => {
  const threads = new BuildThreads(2);
  const module = await coreModule('release');
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
    built.map(({ docCount }) => docCount),
    [40, 1, 1],
  );
  assert.equal(takenMax, 2);
  assert.equal(threads.takenCount, 0);
});
