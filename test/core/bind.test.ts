// Binding a plan to one shard must not depend on the shards bound before: threads bind them in different
// orders and must still agree on the units of work.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Searcher } from '../../daemon/engine/host/searcher.ts';
import {
  buildShard,
  buildSharedShard,
  coreModule,
  encodedPlan,
  Engine,
  printTree,
  REPO,
  repoRecord,
  temporaryFolder,
} from '../engine/host/harness.ts';

void test('binding a shard does not depend on earlier shards', async () => {
  const module = await coreModule('release');
  const folder = temporaryFolder();
  const word = (index: number): string => `word${String(index).padStart(6, '0')}`;
  const docs = (prefix: string, has: string): { path: string; bytes: Buffer }[] =>
    Array.from({ length: 700 }, (_, i) => ({
      path: `${prefix}${i}`,
      bytes: Buffer.from(
        `${word(i)} ${has} pear\n`
          .repeat(400)
          .replace(/\n$/, i === 0 ? ' zebra tail\n' : ' tail\n'),
      ),
    }));
  const first = buildShard(module, folder, REPO, docs('a', 'jam pie quince'));
  const second = buildShard(module, folder, REPO, docs('b', 'pie quince'));
  const plans = [
    '(jam pie quince) or tail',
    // The rarest of the first shard, which it is cheapest to ask first, is not what the second one lacks.
    'jam pie zebra',
    'quince jam',
    'jam lang:go',
  ];
  const counts: number[] = [];
  for (const plan of plans.map((query) => encodedPlan(query))) {
    const fresh = new Searcher(module);
    fresh.setShards([second]);
    fresh.setPlan(plan);
    const expected = fresh.bind(second.shardId);
    const used = new Searcher(module);
    used.setShards([first, second]);
    used.setPlan(plan);
    used.bind(first.shardId);
    assert.deepEqual(used.bind(second.shardId), expected);
    counts.push(expected.candidateDocs);
  }
  assert.deepEqual(counts, [700, 0, 0, 0]);
});

void test('when the arena runs out, candidates keep their order or there are none', async () => {
  const module = await coreModule('release');
  const docs = [...Array.from({ length: 40 }, (_, i) => `d${i}`), 'plum'].map((path, i) => ({
    path,
    bytes: Buffer.from(`pear plum ${i}\n`),
  }));
  const shard = buildShard(module, temporaryFolder(), REPO, docs);
  const searcher = new Searcher(module);
  searcher.setShards([shard]);
  const plan = encodedPlan('pear plum');
  const { core, outputEnd } = searcher.spaceOf(shard.shardId);
  const rowsWithin = (arenaSize: number): string => {
    core.exports.requestArenaInit(outputEnd, outputEnd + arenaSize);
    searcher.beginPlan(plan);
    searcher.bind(shard.shardId);
    return String(searcher.searchUnit(0)?.rows);
  };
  const expected = rowsWithin(1 << 20);
  let failureCount = 0;
  let successCount = 0;
  for (let size = 2048; successCount < 100; size += 8) {
    try {
      assert.equal(rowsWithin(size), expected, `${size} bytes`);
      successCount++;
    } catch (error) {
      if (!/memory/.test(String(error))) throw error;
      failureCount++;
    }
  }
  assert.ok(failureCount > 0);
});

void test('blocks with only another case of a word are not candidates', async () => {
  const module = await coreModule('release');
  const docs = Array.from({ length: 30 }, (_, i) => ({
    path: `lower${i}`,
    bytes: Buffer.from(`static int pm_resume(void); // ${i}\n`),
  }));
  docs.push({ path: 'upper', bytes: Buffer.from('#define PM_RESUME 1\n') });
  const shard = buildShard(module, temporaryFolder(), REPO, docs);
  const searcher = new Searcher(module);
  searcher.setShards([shard]);
  const candidates = (query: string, isCaseSensitive: boolean): number => {
    searcher.setPlan(encodedPlan(query, true, [], isCaseSensitive));
    return searcher.bind(shard.shardId).candidateDocs;
  };
  assert.equal(candidates('PM_RESUME', true), 1);
  assert.equal(candidates('PM_RESUME', false), 31);
  assert.equal(candidates('[A-Z]+_RESUME', true), 1);
  assert.equal(candidates('[A-Z]+_RESUME', false), 31);
  assert.equal(candidates('(?i:pm)_RESUME', true), 31);
  assert.equal(candidates('pm_resume', true), 31);
  assert.equal(candidates('PM', true), 1);
});

void test('conditions run in order of selectivity, filters before content', async () => {
  const module = await coreModule('release');
  const docs = Array.from({ length: 20 }, (_, i) => ({
    path: `${i % 2 === 0 ? 'even' : 'odd'}${i}.go`,
    language: 'Go',
    bytes: Buffer.from(`pear ${i < 3 ? 'plum' : 'quince'} ${i}\n${i === 4 ? 'open\nshut\n' : ''}`),
  }));
  const shard = buildShard(module, temporaryFolder(), REPO, docs);
  const searcher = new Searcher(module);
  searcher.setShards([shard]);
  const treeOf = (query: string, isRegexEnabled = false): string => {
    searcher.setPlan(encodedPlan(query, isRegexEnabled));
    searcher.bind(shard.shardId);
    return printTree(searcher, shard.shardId);
  };
  assert.equal(
    treeOf('pear plum lang:go'),
    'and(lang:"Go", text:"plum" in 3 blocks, text:"pear" in 20 blocks)',
  );
  assert.equal(
    treeOf('pear -(plum file:odd)'),
    'and(not(and(file:"odd", text:"plum" in 3 blocks)), text:"pear" in 20 blocks)',
  );
  assert.equal(treeOf('pear or zebra'), 'or(none, text:"pear" in 20 blocks)');
  assert.equal(treeOf('zebra pear'), 'none');
  assert.equal(treeOf('sym:pear'), 'none');
  assert.equal(treeOf('p.*m', true), 'regex in all blocks');
  assert.equal(treeOf('plu.*\\d', true), 'regex in 3 blocks');
  assert.equal(treeOf('pear\\s+quince', true), 'regex in 17 blocks, from 17, 0 of them at the end');
  assert.equal(treeOf('open\\s+shut', true), 'regex in 1 blocks, from 1, 0 of them at the end');
});

void test('repos of a shared shard are separated, with negated filters too', async () => {
  const module = await coreModule('release');
  const repos = ['host/a', 'host/b', 'host/c'].map((name, i) => repoRecord(i + 1, name));
  await using engine = new Engine(module);
  const shard = buildSharedShard(
    module,
    temporaryFolder(),
    repos.map((repo) => ({ ...repo, docs: [{ path: 'f', bytes: Buffer.from('plum\n') }] })),
  );
  engine.publish([shard], repos);
  const found = async (query: string): Promise<string[]> => {
    const { files } = await engine.search(query);
    return files.map(({ repository }) => repository.slice(-1)).sort();
  };
  assert.deepEqual(await found('repo:a plum'), ['a']);
  assert.deepEqual(await found('-repo:a plum'), ['b', 'c']);
  assert.deepEqual(await found('-repo:a or file:zebra'), ['b', 'c']);
  assert.deepEqual(await found('-(repo:a or repo:c) or file:zebra'), ['b']);
  assert.deepEqual(await found('(repo:a plum) or (-repo:b plum)'), ['a', 'c']);
  assert.deepEqual(await found('(repo:a or file:zebra) plum'), ['a']);
});
