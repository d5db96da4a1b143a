// The symbols of an index of real repositories: computed after the index, stored with their shards, out of service
// when damaged, recomputed; and what searches report meanwhile.
// tier: ci (long)

import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CatalogShard } from '../../daemon/index/catalog/catalog-records.ts';
import { fetchMirror } from '../../daemon/hosts/mirrors/fetch-mirror.ts';
import { enginesHere } from '../../daemon/engine/symbols/extractor.ts';
import { eventually } from '../http/harness.ts';
import { commitAll, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { GitServer } from '../hosts/mirrors/git-server.ts';
import { type IndexOf, openIndexOf } from './index-of.ts';
import { openConnected } from './connections/connected-index.ts';
import { hostedRepo, localHost, settingsOf } from './connections/local-host.ts';
import { EAGER, NEVER } from '../index/merge-limits.ts';
import { checkFiles } from './check-files.ts';

const FILES = {
  'a.c': 'struct plum { int stone; };\nint eat(struct plum *p) { return p->stone; }\n',
  'b.py': 'class Plum:\n    def eat(self):\n        return 1\n',
  'c.txt': 'plum eat\n',
};

function filesOf(dataDir: string, ending: string): string[] {
  return readdirSync(path.join(dataDir, 'shards')).filter((name) => name.endsWith(ending));
}

async function found(index: IndexOf, query: string): Promise<string[]> {
  const { files } = await index.search(query);
  return files.map((file) => file.path).sort();
}

void test('symbols are computed after the index and stay with it', async () => {
  assert.equal((await enginesHere()).at(-1)?.name, 'tree-sitter');
  const repo = makeRepo(FILES);
  const dataDir = temporaryFolder();
  await using first = await openIndexOf(dataDir, { findsSymbols: true });
  await first.index([repo]);
  assert.deepEqual(await found(first, 'eat'), ['a.c', 'b.py', 'c.txt']);
  await first.instance.symbols!.run();
  assert.deepEqual(await found(first, 'sym:^eat$'), ['a.c', 'b.py']);
  assert.deepEqual(await found(first, 'sym:plum lang:python'), ['b.py']);
  assert.equal((await first.search('sym:absent')).isSearchExhaustive, true);
  await first.close();
  const tags = filesOf(dataDir, '.tags');
  assert.equal(tags.length, 1);

  await using second = await openIndexOf(dataDir, { findsSymbols: true });
  assert.deepEqual(await found(second, 'sym:^eat$'), ['a.c', 'b.py']);
  const [unchanged] = await second.index([repo]);
  assert.ok(unchanged?.isUnchanged);
  await second.instance.symbols!.run();
  assert.deepEqual(filesOf(dataDir, '.tags'), tags);

  writeFiles(repo, { 'd.c': 'int drink(void) { return 0; }\n' });
  commitAll(repo);
  await second.index([repo]);
  await second.instance.symbols!.run();
  assert.deepEqual(await found(second, 'sym:drink'), ['d.c']);
  // The new file has a shard of its own, and the symbols of the others stay.
  const both = filesOf(dataDir, '.tags');
  assert.ok(both.length === 2 && both.includes(tags[0]!));
  await second.close();
  assert.deepEqual(filesOf(dataDir, '.next'), []);
});

void test('equal contents have the symbols of their languages', async () => {
  const bytes = 'class Walrus:\n    pass\n';
  // The first doc of a content has none, the last one has none, and what is said of one path differs by repository.
  const one = makeRepo({ 'a.md': bytes, 'b.py': bytes, 'c.txt': bytes, 'd.x': bytes });
  const two = makeRepo({ 'a.py': bytes, 'b.txt': bytes, 'd.x': bytes, 'more.txt': 'plum\n' });
  writeFiles(one, { '.gitattributes': '*.x linguist-language=Text\n' });
  writeFiles(two, { '.gitattributes': '*.x linguist-language=Python\n' });
  for (const repo of [one, two]) commitAll(repo);
  await using index = await openIndexOf(temporaryFolder(), {
    findsSymbols: true,
    mergeLimits: NEVER,
  });
  await index.index([one, two]);
  await index.instance.symbols!.run();
  const walruses = async (kept: IndexOf): Promise<string[]> => {
    const answer = await kept.search('sym:^Walrus$');
    assert.equal(answer.isSearchExhaustive, true);
    return answer.files.map(({ path: name, repositoryId }) => `${repositoryId} ${name}`).sort();
  };
  const expected = ['1 b.py', '2 a.py', '2 d.x'];
  assert.deepEqual(await walruses(index), expected);
  // A rename to a language without symbols, as a shard beside the first.
  renameSync(path.join(two, 'a.py'), path.join(two, 'a.txt'));
  commitAll(two);
  const [, job] = await index.index([one, two]);
  assert.equal(job!.built, 'delta');
  await index.instance.symbols!.run();
  const renamed = expected.filter((name) => name !== '2 a.py');
  assert.deepEqual(await walruses(index), renamed);
  await index.close();

  await using merged = await openIndexOf(index.dataDir, {
    mergeLimits: EAGER,
  });
  await merged.instance.indexer.merger.run();
  assert.equal(merged.instance.catalog.shardFiles.length, 1);
  assert.deepEqual(await walruses(merged), renamed);
});

void test('without symbols a symbol search says so, others do not', async () => {
  const repo = makeRepo(FILES);
  const dataDir = temporaryFolder();
  await using owner = await openIndexOf(dataDir, { findsSymbols: true });
  await owner.instance.symbols!.close();
  await owner.index([repo]);
  for (const query of ['sym:eat', 'eat -(sym:plum)', '(sym:plum or eat)']) {
    const answer = await owner.search(query);
    assert.deepEqual(answer.incompleteReasons, ['symbols_missing'], query);
  }
  assert.equal((await owner.search('eat')).isSearchExhaustive, true);
  assert.equal((await owner.search('sym:eat repo:nothing')).isSearchExhaustive, true);
});

/** The symbols of the largest shard are found anew the next time that the catalog is asked for this. */
function findWith(
  t: TestContext,
  { instance: { catalog }, instance }: IndexOf,
  method: 'adoptShard' | 'writeRevisions',
  foundBy: string,
): () => string {
  const largest = (): CatalogShard =>
    catalog.repos.flatMap(({ shards }) => shards).sort((a, b) => b.docCount - a.docCount)[0]!;
  const { shardId, symbols } = largest();
  const file = catalog.symbolsPath(symbols!.symbolsId);
  const plain: (...args: never[]) => Promise<unknown> = catalog[method].bind(catalog);
  const adoptFirst = async (...args: never[]): Promise<unknown> => {
    const copy = `${file}.next`;
    copyFileSync(file, copy);
    await instance.indexer.symbols.adopt(shardId, copy, { ...symbols!, foundBy });
    return plain(...args);
  };
  t.mock.method(catalog, method, adoptFirst, { times: 1 });
  return () => {
    assert.equal(largest().shardId, shardId);
    return largest().symbols!.foundBy;
  };
}

void test('symbols computed during a job or a merge stay', async (t) => {
  const files = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`${i}.c`, `int plum${i};\n`.repeat(200)]),
  );
  const repos = [makeRepo(files), makeRepo({ 'b.c': 'int pear;\n' })];
  await using first = await openIndexOf(temporaryFolder(), {
    findsSymbols: true,
    mergeLimits: NEVER,
  });
  await first.index(repos, {}, 'commits');
  await first.instance.symbols!.run();
  await first.close();

  await using index = await openIndexOf(first.dataDir, { mergeLimits: NEVER });
  for (const repo of repos) {
    writeFiles(repo, { 'b.c': 'int plum;\n' });
    commitAll(repo);
  }
  const afterJob = findWith(t, index, 'adoptShard', 'second');
  const [job] = await index.index(repos, {}, 'commits');
  assert.equal(job!.built, 'delta');
  assert.equal(afterJob(), 'second');
  await index.close();

  // Small ones alone are merged.
  const mergeLimits = { ...EAGER, levels: [1000] };
  await using last = await openIndexOf(first.dataDir, { mergeLimits });
  const afterMerge = findWith(t, last, 'writeRevisions', 'third');
  await last.instance.indexer.merger.run();
  assert.equal(last.instance.catalog.shardFiles.length, 2);
  assert.equal(afterMerge(), 'third');
  await checkFiles(last);
});

void test('a shard replaced while its symbols are computed is not an error', async (t) => {
  const repo = makeRepo(FILES);
  await using index = await openIndexOf(temporaryFolder(), {
    findsSymbols: true,
    mergeLimits: NEVER,
  });
  const { symbols } = index.instance.indexer;
  const missing = symbols.missing.bind(symbols);
  let shards: ReturnType<typeof missing> = [];
  // The first shard is found to want symbols, and its pass begins when another has come in its place.
  t.mock.method(symbols, 'missing', (foundBy: string) => {
    if (shards.length === 0) shards = missing(foundBy);
    return [];
  });
  await index.index([repo], {}, 'worktree');
  await index.instance.symbols!.run();
  const [shard] = shards;
  writeFiles(repo, { 'a.c': 'int pear;\n' });
  const [again] = await index.instance.indexer.jobs.indexAll(index.instance.served.records, true);
  assert.equal(again!.error, undefined);
  await eventually(() => !existsSync(shard!.path));
  await index.instance.symbols!.run();
  const requested = t.mock.method(symbols, 'missing', (foundBy: string) =>
    requested.mock.callCount() === 0 ? [shard!] : missing(foundBy),
  );
  await index.instance.symbols!.run();
  assert.ok(requested.mock.callCount() > 1);
  assert.deepEqual(index.warnings, []);
  assert.deepEqual(await found(index, 'sym:pear'), ['a.c']);
});

/** Two repos without symbols, the large one first. */
async function twoWithout(): Promise<string> {
  const large = Object.fromEntries(
    Array.from({ length: 9 }, (_, i) => [`${i}.c`, `int plum${i};\n`.repeat(99)]),
  );
  const repos = [makeRepo(large), makeRepo({ 'small.c': 'int pear;\n' })];
  const options = { mergeLimits: NEVER };
  await using index = await openIndexOf(temporaryFolder(), options);
  await index.index(repos, {}, 'commits');
  await index.close();
  return index.dataDir;
}

void test('symbols of newly visible repositories are computed, the smallest first', async (t) => {
  await using index = await openIndexOf(await twoWithout(), {
    findsSymbols: true,
    mergeLimits: NEVER,
  });
  const { instance } = index;
  const { symbols } = instance.indexer;
  // As at a start whose sources have not been looked at yet.
  instance.served.repoIds = new Set();
  instance.served.publish();
  await instance.symbols!.run();
  assert.equal(symbols.pending, undefined);

  const adopt = symbols.adopt.bind(symbols);
  const states: (string | undefined)[] = [];
  const docCounts: number[] = [];
  t.mock.method(symbols, 'adopt', async (...call: Parameters<typeof adopt>) => {
    states.push(symbols.pending);
    const shards = instance.catalog.repos.flatMap((repo) => repo.shards);
    docCounts.push(shards.find(({ shardId }) => shardId === call[0])!.docCount);
    await adopt(...call);
  });
  instance.served.repoIds = undefined;
  instance.served.publish();
  assert.equal(symbols.pending, 'symbols of 2 repositories are missing: 2 waiting');
  assert.ok(instance.indexer.degradations.includes(symbols.pending));
  await eventually(() => symbols.pending === undefined);
  assert.deepEqual(docCounts, [1, 9]);
  assert.deepEqual(states, [
    'symbols of 2 repositories are missing: 1 being read, 1 waiting',
    'symbols of 1 repository are missing: 1 being read',
  ]);
  assert.deepEqual(await found(index, 'sym:pear'), ['small.c']);
});

void test('failed symbols are reported, and retried', async (t) => {
  await using index = await openIndexOf(await twoWithout(), {
    findsSymbols: true,
    mergeLimits: NEVER,
  });
  const { symbols, degradations } = index.instance.indexer;
  assert.deepEqual(degradations, ['symbols of 2 repositories are missing: 2 waiting']);
  const adopt = symbols.adopt.bind(symbols);
  let refusals = 0;
  // The first attempt after a failure comes at once.
  t.mock.method(symbols, 'adopt', async (...call: Parameters<typeof adopt>) => {
    if (refusals++ < 2) throw new Error('for the test');
    await adopt(...call);
  });
  index.instance.served.publish();
  await eventually(() => symbols.lastError !== undefined && symbols.reading === undefined);
  await index.instance.symbols!.run();
  const [repo] = index.instance.catalog.repos.toReversed();
  const name = repo!.record.name;
  const sentence = `symbols of 1 repository are missing: 1 failed (${name}: for the test)`;
  assert.equal(symbols.lastError, sentence);
  assert.equal(symbols.pending, undefined);
  assert.ok(index.instance.indexer.degradations.includes(sentence));
  // Nobody calls for it.
  const { snapshots } = index.instance.parts;
  await eventually(() => snapshots.current.shards.every((shard) => shard.symbols !== undefined));
  assert.equal(symbols.lastError, undefined);
  assert.deepEqual(await found(index, 'sym:pear'), ['small.c']);
});

void test('closing does not wait for a host that symbols wait for', async (t) => {
  const server = await GitServer.start(t, { root: temporaryFolder() });
  server.answer = () => true; // It does not.
  const host = localHost(new URL(server.url).host);
  host.repos = [hostedRepo('one', '', { cloneUrl: `${server.url}/one.git` })];
  await using index = await openConnected(
    temporaryFolder(),
    host,
    { c: settingsOf({}) },
    { fetchMirror, findsSymbols: true },
  );
  await eventually(() => server.requests.length > 0);
  const { symbols } = index.instance;
  void symbols!.run();
  // It waits for the job by then.
  await sleep(100);
  await symbols!.close();
  assert.equal(index.instance.indexer.jobs.open.length, 1, 'the job still waits');
  assert.deepEqual(index.warnings, []);
});
