// A disk that fills up at any point of writing into the index: the published state stays, searches continue, no file
// is left behind, and the work is repeated once there is space.
// tier: ci (kills and full disks)

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Catalog } from '../../daemon/index/catalog/catalog.ts';
import type { CatalogRepo } from '../../daemon/index/catalog/catalog-records.ts';
import { Merger } from '../../daemon/index/merge/merger.ts';
import { messageOf } from '../../daemon/base/caught.ts';
import { createLog } from '../../daemon/base/log.ts';
import { coreModule } from '../engine/host/harness.ts';
import { eventually } from '../http/harness.ts';
import { repoRecord } from '../repos/record.ts';
import { commitAll, git, makeRepo, writeFiles } from '../sources/git/fixture.ts';
import { type IndexOf, openIndexOf } from './index-of.ts';
import { EAGER, NEVER } from '../index/merge-limits.ts';
import { SmallDisk } from './small-disk.ts';
import { checkFiles } from './check-files.ts';

function diskOf(size: string, t: { skip: (why: string) => void }): SmallDisk | undefined {
  const disk = SmallDisk.mount(size);
  if (typeof disk !== 'string') return disk;
  t.skip(disk);
  return undefined;
}

function repoOf(repoId: number, note: string): CatalogRepo {
  return {
    record: {
      ...repoRecord(repoId, `host/repo-${repoId}`),
      source: { kind: 'commits', path: `/repos/${repoId}` },
      defaultRevision: 'refs/heads/main',
    },
    fingerprint: note,
    shards: [],
    skipped: {},
  };
}

void test('catalog: a change without disk space is refused as a whole', async (t) => {
  const disk = diskOf('1m', t);
  if (disk === undefined) return;
  const catalog = new Catalog(disk.folder);
  await catalog.load(true);
  const keep = async (put: readonly CatalogRepo[]): Promise<void> =>
    void (await catalog.commit(() => ({ put })));
  await keep(Array.from({ length: 60 }, (_, i) => repoOf(i + 1, 'x'.repeat(1000))));
  let refused = 0;
  for (let i = 0; i < 60; i++) {
    disk.fill((i % 3) * 8);
    await keep([repoOf((i % 60) + 1, `${i} `.repeat(1000 + 100 * i))]).catch(
      (error: NodeJS.ErrnoException) => {
        assert.equal(error.code, 'ENOSPC');
        refused++;
      },
    );
    const read = new Catalog(disk.folder);
    await read.load();
    assert.deepEqual(read.damaged, [], `${i}`);
    assert.deepEqual(read.repos, catalog.repos, `${i}`);
    disk.clear();
  }
  assert.ok(refused > 10 && refused < 60, `${refused}`);
});

const ON_DEMAND = { repos: 20, docs: 50_000, timeoutMs: 60_000, diskBytes: 2 ** 32 };

async function found(index: IndexOf, query: string): Promise<string[]> {
  const { files, isSearchExhaustive } = await index.search(query);
  assert.ok(isSearchExhaustive);
  return files.map(({ repository, path: file }) => `${repository} ${file}`);
}

/** Files that are of no use any more go a little later, and their room with the last mapping of them. */
function oldFilesGone({ dataDir, instance: { catalog } }: IndexOf): Promise<void> {
  return eventually(() => {
    const { fileNames, shardFolder } = catalog;
    const maps = readFileSync('/proc/self/maps', 'utf8').split('\n');
    const isGone = (map: string): boolean => map.endsWith(' (deleted)') && map.includes(dataDir);
    return readdirSync(shardFolder).length === [...fileNames].length && !maps.some(isGone);
  });
}

/** Runs work with room for 0, 1, 2, .. pages until it succeeds; returns how often it failed. */
async function fillStepwise(
  disk: SmallDisk,
  index: IndexOf,
  work: () => Promise<unknown>,
): Promise<number> {
  const { catalog, symbols } = index.instance;
  await symbols?.run();
  /** Without what says that there is nothing to do. */
  const reposNow = (): string =>
    JSON.stringify(catalog.repos, (name, value: unknown) =>
      name === 'fingerprint' || name === 'look' ? undefined : value,
    );
  const repos = reposNow();
  const plums = await found(index, 'plum');
  const names = (): string[] => [
    ...readdirSync(index.dataDir).filter((name) => name.endsWith('.next')),
    ...namesOnDemand(path.join(index.dataDir, 'on-demand')),
  ];
  const namesBefore = names();
  for (let pagesRemaining = 0; ; pagesRemaining++) {
    const message = `${pagesRemaining} pages left`;
    // They would leave room.
    await oldFilesGone(index);
    disk.fill(pagesRemaining);
    const error: unknown = await work().then(
      () => undefined,
      (cause: unknown) => cause,
    );
    disk.clear();
    if (error === undefined) return pagesRemaining;
    assert.match(messageOf(error), /ENOSPC: .* '\/[^']+'|disk is full/, message);
    assert.equal(reposNow(), repos, message);
    assert.deepEqual(await found(index, 'plum'), plums, message);
    await checkFiles(index, message);
    assert.deepEqual(names(), namesBefore, message);
  }
}

/** Files of docs on demand, without those of symbols, which may be found beside them at any time. */
function namesOnDemand(folder: string): string[] {
  const names = readdirSync(folder);
  return names.filter((name) => !names.some((docs) => name === `${docs}.tags`));
}

/** Indexes the first repo. Errors: its job failed. */
async function job({ instance }: IndexOf, isForced: boolean): Promise<void> {
  const records = instance.served.records.slice(0, 1);
  const [result] = await instance.indexer.jobs.indexAll(records, isForced);
  if (result?.error !== undefined) throw new Error(result.error);
}

/** Merges all shards, once. Errors: they could not be merged. */
async function merge({ instance }: IndexOf): Promise<void> {
  const { catalog, served } = instance;
  const { jobs } = instance.indexer;
  const lines: string[] = [];
  const merger = new Merger({
    module: await coreModule('release'),
    catalog,
    served,
    limits: EAGER,
    log: createLog({ level: 'warn', format: 'json', write: (line) => lines.push(line) }),
    without: (repoIds, work) => jobs.without(repoIds, work),
  });
  await merger.run();
  await merger.close();
  if (lines.length > 0) throw new Error(lines[0]);
}

void test('delta, build, revision on demand, merge: all or nothing', async (t) => {
  const disk = diskOf('4m', t);
  if (disk === undefined) return;
  const repo = makeRepo({ 'a.c': 'int plum(void);\n'.repeat(99), 'b.c': 'int plum_b;\n' });
  git(repo, 'branch', 'old');
  const first = git(repo, 'rev-parse', 'HEAD');
  await using index = await openIndexOf(disk.folder, {
    findsSymbols: true,
    mergeLimits: NEVER,
    onDemand: ON_DEMAND,
  });
  const other = makeRepo({ 'c.c': 'int plum_c;\n' });
  await index.index([repo, other], { branches: ['old'] }, 'commits');
  git(repo, 'branch', '-f', 'old', 'main~0');
  writeFiles(repo, { 'a.c': 'int pear;\n', 'n.c': 'int pear;\n' });
  commitAll(repo);
  git(repo, 'branch', '-f', 'old');
  const steps = [
    await fillStepwise(disk, index, () => job(index, false)),
    await fillStepwise(disk, index, () => found(index, `plum rev:${first}`)),
    await fillStepwise(disk, index, () => merge(index)),
    await fillStepwise(disk, index, () => job(index, true)),
  ];
  assert.ok(
    steps.every((count) => count > 1),
    steps.join(),
  );
  assert.deepEqual(await found(index, 'plum -file:c.c'), [
    `${index.instance.served.records[0]!.name} b.c`,
  ]);
  await oldFilesGone(index);
  await checkFiles(index);
});

void test('symbols that found no disk space are computed once there is some', async (t) => {
  const disk = diskOf('4m', t);
  if (disk === undefined) return;
  await using index = await openIndexOf(disk.folder, { findsSymbols: true, mergeLimits: NEVER });
  await index.instance.symbols!.run();
  await index.index([makeRepo({ 'a.c': 'int plum;\n' })], undefined, 'commits');
  disk.fill(0);
  await index.instance.symbols!.run();
  assert.ok(index.warnings.includes('symbols could not be found'));
  disk.clear();
  while (!(await index.search('sym:plum')).isSearchExhaustive) await sleep(50);
  assert.equal((await found(index, 'sym:plum')).length, 1);
  await oldFilesGone(index);
  await checkFiles(index);
});
