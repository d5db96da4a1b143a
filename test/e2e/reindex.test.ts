// Searches during a build, the second start with a finished index, and causes of a rebuild.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { FORMAT_VERSION } from '../../core/shared/format.ts';
import { readCatalog } from '../../daemon/app/read-catalog.ts';
import { restoreRows } from '../../daemon/index/catalog/catalog-rows.ts';
import { makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import {
  index,
  jobsEnded,
  pathsOf,
  search,
  serve,
  serveIndexed,
  shardNames,
  trawl,
} from './daemon.ts';

/** Enough text that a build takes a while; the word is on each twentieth line, so that answers are small. */
function manyFiles(word: string): Record<string, string> {
  const text = Array.from(
    { length: 100 },
    (_, i) => `${i % 20 === 0 ? word : 'line'} ${'filler '.repeat(20)} ${String(i)}\n`,
  ).join('');
  return Object.fromEntries(
    Array.from({ length: 400 }, (_, i) => [
      `d${String(i % 10)}/f${String(i)}.txt`,
      `${String(i)} ${text}`,
    ]),
  );
}

void test('the daemon listens at once and answers from the old index until the new one is ready', async () => {
  const repo = makeRepo(manyFiles('oldword'));
  const dataDir = temporaryFolder();
  await index(dataDir, [repo]);
  writeFiles(repo, manyFiles('newword'));
  const second = await serve(dataDir, [repo]);
  let isDone = false;
  const done = jobsEnded(second, 1).then(() => (isDone = true));
  const counts: string[] = [];
  // oxlint-disable-next-line no-unmodified-loop-condition -- set when the build below ends
  while (!isDone) {
    const of = async (word: string): Promise<unknown> =>
      (await search(second.url, word, { matches: 100_000 })).stats['fileCount'];
    counts.push(String(await of('oldword')));
    const { stats } = await search(second.url, 'oldword or newword', { matches: 1_000_000 });
    assert.equal(stats['fileCount'], 400, 'never both, never half');
  }
  await done;
  assert.equal(counts[0], '400');
  assert.deepEqual(pathsOf(await search(second.url, 'oldword')), []);
  assert.equal((await search(second.url, 'newword', { matches: 100_000 })).stats['fileCount'], 400);
  assert.equal(shardNames(dataDir).length, 1);
  await second.process.stop();
});

void test('an index of another format is named, never searched, and rebuilt by the next start', async () => {
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  const dataDir = temporaryFolder();
  await index(dataDir, [repo]);
  const { repos } = await readCatalog(dataDir);
  rmSync(path.join(dataDir, 'index.db'));
  await restoreRows(dataDir, { repos, formatVersion: FORMAT_VERSION - 1 });
  const found = await trawl(['search', 'plum', '--data-dir', dataDir]);
  assert.match(
    found.stderr,
    new RegExp(`built again .*another format than ${FORMAT_VERSION}, which this version reads`),
  );
  assert.equal(found.stdout, '');
  const second = await serveIndexed(dataDir, [repo]);
  assert.deepEqual(pathsOf(await search(second.url, 'plum')), ['a.txt']);
  assert.equal((await second.process.stop()).code, 0);
  const again = await trawl(['search', 'plum', '--data-dir', dataDir]);
  assert.match(again.stdout, /plum/);
  assert.doesNotMatch(again.stderr, /built again/);
});
