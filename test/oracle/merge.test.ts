// Merged shards against the slow search: random corpora in several repos and shards, with removed docs, become one
// shard, and each query finds the remaining docs. TRAWL_FUZZ_RUNS: number of corpora.
// tier: ci (long)

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import * as fc from 'fast-check';
import { MergeOverflow, mergeShards, type MergeRepo } from '../../daemon/engine/build/merge.ts';
import { SymbolsFileBuilder } from '../../daemon/engine/shards/symbols-builder.ts';
import { verifyShardFile, verifySymbolsFile } from '../../daemon/engine/host/verify.ts';
import type { LiveShard } from '../../daemon/engine/search/snapshot.ts';
import { buildShard, Engine, headings } from '../engine/host/harness.ts';
import type { Corpus } from './corpora.ts';
import { type Case, caseArbitrary, checkCase, REPOS, shardsOf } from './random-case.ts';
import { SEED } from '../seed.ts';

const RUNS = Number(process.env['TRAWL_FUZZ_RUNS'] ?? 8);

let mergeCount = 0;

/** The docs of a repo in the shards, without those that are dead. */
function docsOf(
  shards: readonly LiveShard[],
  repoId: number,
  isDead: (shard: number, docId: number) => boolean,
): MergeRepo['docs'] {
  return shards.flatMap(({ parts }, source) =>
    parts
      .filter((part) => part.repoId === repoId)
      .map(({ docStart, docEnd }) => ({
        source,
        docIds: Uint32Array.from({ length: docEnd - docStart }, (_, i) => docStart + i).filter(
          (docId) => !isDead(source, docId),
        ),
      })),
  );
}

/** One shard of all of them; undefined: no doc lives. */
function merged(
  { module, folder }: Engine,
  shards: readonly LiveShard[],
  isDead: (shard: number, docId: number) => boolean,
): LiveShard | undefined {
  const repos = REPOS.map(({ repoId, name }) => ({
    repoId,
    name,
    docs: docsOf(shards, repoId, isDead),
  })).filter(({ docs }) => docs.some(({ docIds }) => docIds.length > 0));
  if (repos.length === 0) return undefined;
  const file = path.join(folder, `merged-${++mergeCount}.shard`);
  const symbolsPath = `${file}.tags`;
  const result = mergeShards(module, { sources: shards, repos, path: file, symbolsPath });
  assert.equal(verifyShardFile(module, file), undefined);
  const { symbols } = result;
  if (symbols !== undefined) assert.equal(verifySymbolsFile(module, file, symbolsPath), undefined);
  return {
    shardId: `${mergeCount}`.padStart(16, 'm'),
    path: file,
    size: result.size,
    docCount: result.docCount,
    ...(symbols === undefined ? {} : { symbols: { path: symbolsPath, size: symbols.size } }),
    parts: result.repos.map(({ repoId, docStart, docEnd }) => ({ repoId, docStart, docEnd })),
  };
}

/** What is left of a corpus whose docs die by their index in their shard. */
function survivors(corpus: Corpus, isDead: (shard: number, docId: number) => boolean): Corpus {
  const locations = locationsOf(corpus);
  const lives = corpus.docs.map((_, index) => !isDead(...locations[index]!));
  return {
    docs: corpus.docs.filter((_, index) => lives[index]),
    shardOf: corpus.shardOf.filter((_, index) => lives[index]),
  };
}

/** Shard and docId of each doc, as shardsOf places them. */
function locationsOf({ docs, shardOf }: Corpus): [number, number][] {
  const locations = docs.map((): [number, number] => [0, 0]);
  let shard = 0;
  for (const { name } of REPOS) {
    const own = [...docs.keys()].filter((i) => docs[i]!.repo === name && shardOf[i] === 0);
    for (const [docId, i] of own.entries()) locations[i] = [shard, docId];
    if (own.length > 0) shard++;
  }
  let docId = 0;
  for (const { name } of REPOS)
    for (const i of docs.keys())
      if (docs[i]!.repo === name && shardOf[i] === 1) locations[i] = [shard, docId++];
  return locations;
}

interface MergeCase extends Case {
  /** Of 5 docs so many are dead. */
  readonly deadOfFive: number;
  /** Merged a second time, from what the first made. */
  readonly isTwice: boolean;
}

const mergeCase: fc.Arbitrary<MergeCase> = fc
  .tuple(caseArbitrary, fc.constantFrom(0, 0, 1, 3), fc.boolean())
  .map(([one, deadOfFive, isTwice]) => ({ ...one, deadOfFive, isTwice }));

void test(`random queries over merged shards, seed ${SEED}`, async () => {
  await using engine = await Engine.open({}, 'release');
  let liveCount = 0;
  const property = fc.asyncProperty(mergeCase, async ({ deadOfFive, isTwice, corpus, queries }) => {
    const isDead = (shard: number, docId: number): boolean =>
      (shard * 3 + docId * 7) % 5 < deadOfFive;
    const first = merged(engine, shardsOf(engine.module, engine.folder, corpus), isDead);
    if (first === undefined) return;
    const shard = isTwice ? merged(engine, [first], () => false)! : first;
    assert.deepEqual(shard.parts, first.parts);
    const remaining = survivors(corpus, isDead);
    liveCount += remaining.docs.length;
    await checkCase(engine, { corpus: remaining, queries }, [shard]);
  });
  await fc.assert(property, { numRuns: RUNS, seed: SEED });
  assert.ok(liveCount > RUNS);
});

void test('shards whose symbols have too many names together are not merged', async (t) => {
  await using engine = await Engine.open({}, 'release');
  const shards = REPOS.slice(0, 2).map((repo, i) =>
    buildShard(engine.module, engine.folder, repo, [{ path: `${i}`, ...headings(i, 1) }]),
  );
  t.mock.method(SymbolsFileBuilder.prototype, 'addBlob', () => undefined);
  assert.throws(() => merged(engine, shards, () => false), MergeOverflow);
});
