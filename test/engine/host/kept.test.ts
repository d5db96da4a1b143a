// Cached ranges of a unit: docs rendered with them equal those evaluated again, byte for byte, with the same counts,
// and ranges outside of the doc are ignored.

import assert from 'node:assert/strict';
import test from 'node:test';
import { UNIT_DOCS_MAX } from '../../../core/shared/plan.ts';
import { Searcher, type KeptRanges } from '../../../daemon/engine/host/searcher.ts';
import {
  type Build,
  buildShard,
  coreModule,
  encodedPlan,
  LINKS,
  REPO,
  temporaryFolder,
  type TestDoc,
} from './harness.ts';

const WORDS = ['foo1', 'foo22', 'bar', 'é日本', '\n', '\n\n', ' ', 'x', 'FOO3', '\r\n', '\u212a'];

/** Texts of random words, some of them twice, one with a great many lines. */
function makeDocs(): TestDoc[] {
  let seed = 7;
  const pick = (): string => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return WORDS[Math.floor(seed / 65536) % WORDS.length]!;
  };
  const texts = Array.from({ length: 60 }, (_, doc) =>
    Array.from({ length: doc * 7 }, pick).join(''),
  );
  const long = 'foo1 bar\nfoo22\n'.repeat(40_000);
  return [...texts, ...texts.slice(20, 30), long].map((text, doc) => ({
    path: `foo${doc % 4}/doc${doc}.txt`,
    bytes: Buffer.from(text),
  }));
}

/** A searcher of one shard with these docs. */
async function searcherOver(
  build: Build,
  docs: readonly TestDoc[] = makeDocs(),
): Promise<{ searcher: Searcher; shardId: string }> {
  const module = await coreModule(build);
  const searcher = new Searcher(module);
  const shard = buildShard(module, temporaryFolder(), REPO, docs);
  assert.deepEqual(searcher.setShards([shard]), []);
  return { searcher, shardId: shard.shardId };
}

interface FoundDocs {
  readonly rows: Uint32Array;
  readonly kept: KeptRanges | undefined;
}

function searchUnits(
  searcher: Searcher,
  shardId: string,
  text: string,
  isRegexEnabled = true,
): FoundDocs[] {
  searcher.beginPlan(encodedPlan(text, isRegexEnabled));
  const { unitCount } = searcher.bind(shardId);
  return Array.from({ length: unitCount }, (_, unit) => {
    const { rows, kept } = searcher.searchUnit(unit);
    return { rows, kept };
  });
}

/** Number of kept ranges of each doc. */
function keptCounts(kept: KeptRanges | undefined): number[] {
  const counts: number[] = [];
  for (let next = 0; next < (kept?.length ?? 0); next += 1 + 2 * kept![next]!)
    counts.push(kept![next]!);
  return counts;
}

/** Renders the docs of a unit one by one, by `ranges` if there are any; what came of it as text. */
function renderUnit(
  searcher: Searcher,
  { rows, kept }: FoundDocs,
  change: ((ranges: Uint32Array) => Uint32Array) | undefined,
  rangeMax: number,
): string[] {
  const docs: string[] = [];
  let next = 0;
  for (let i = 0; i < rows.length; i += 4) {
    const count = kept?.[next] ?? 0;
    const found = kept?.slice(next + 1, next + 1 + 2 * count) ?? new Uint32Array();
    next += 1 + 2 * count;
    const ranges = change?.(found) ?? new Uint32Array();
    const requests = Uint32Array.of(rows[i]!, rangeMax, 0, ranges.length / 2, 7, 0);
    const options = { links: [LINKS], ends: [], contextLines: i % 3, returnsContent: false };
    const done = searcher.render(requests, ranges, options)!;
    const numbers = [done.rangeCount, done.bytesRead[0], done.loadCount];
    docs.push(`${Buffer.from(done.json).toString()} ${numbers.join(' ')}`);
  }
  return docs;
}

const DAMAGES: Readonly<Record<string, (ranges: Uint32Array) => Uint32Array>> = {
  'ends behind the content': (ranges) => ranges.fill(4_000_000_000, -1),
  'is empty': (ranges) => ranges.fill(ranges[0]!, 1, 2),
  'overlaps the one before': (ranges) => (ranges.length < 4 ? ranges : ranges.fill(0, 2, 3)),
};

for (const build of ['debug', 'release'] as const) {
  void test(`docs are rendered the same with cached ranges, ${build}`, async () => {
    const { searcher, shardId } = await searcherOver(build);
    const expressions = ['foo\\d+', 'fo+\\d.*bar', '(?i)k\\w*', 'file:foo[12] foo\\d+'];
    // `foo1` is also a word of paths.
    const words = ['foo1', 'é日本', 'bar file:foo2', '-file:foo3 foo22'];
    for (const query of [...expressions, ...words]) {
      const units = searchUnits(searcher, shardId, query, expressions.includes(query));
      const keptCount = units.reduce((sum, { kept }) => sum + (kept?.length ?? 0), 0);
      assert.ok(keptCount > 200, query);
      for (const unit of units) {
        for (const rangeMax of [1, 100_000]) {
          const expected = renderUnit(searcher, unit, undefined, rangeMax);
          assert.deepEqual(
            renderUnit(searcher, unit, (ranges) => ranges, rangeMax),
            expected,
          );
        }
      }
    }
  });
}

void test('ranges outside of the doc are ignored', async () => {
  const { searcher, shardId } = await searcherOver('debug');
  for (const unit of searchUnits(searcher, shardId, 'foo\\d+')) {
    const expected = renderUnit(searcher, unit, undefined, 100);
    for (const [name, damage] of Object.entries(DAMAGES))
      assert.deepEqual(renderUnit(searcher, unit, damage, 100), expected, `a range ${name}`);
  }
});

void test('a unit caches no ranges of several literals, over lines, nor beyond the limit', async () => {
  const { searcher, shardId } = await searcherOver('release');
  for (const query of ['foo1 bar', 'foo1\nbar', 'foo\\s+bar', 'foo\\d+ or bar\\d+', '-foo\\d+'])
    for (const { kept } of searchUnits(searcher, shardId, query)) assert.equal(kept, undefined);
  // Once the score of a literal is settled, its ranges are counted.
  const literal = searchUnits(searcher, shardId, 'foo1', false);
  const records = literal.flatMap(({ rows, kept }) => (rows.length === 0 ? [] : keptCounts(kept)));
  assert.ok(records.includes(0) && records.some((count) => count > 0));
  const units = searchUnits(searcher, shardId, 'foo\\d+');
  const counts = units.flatMap(({ rows }) => [...rows].filter((_, i) => i % 4 === 1));
  assert.ok(Math.max(...counts) > 32_768);
  for (const { kept } of units) assert.ok((kept?.length ?? 0) <= 2 * 32_768);
});

void test('cached ranges belong to their docs, however many are equal', async () => {
  // Docs with the same content stay in one unit, which holds more than UNIT_DOCS_MAX then.
  const docs = Array.from({ length: UNIT_DOCS_MAX + 300 }, (_, doc) => ({
    path: `doc${doc}.txt`,
    bytes: Buffer.from(doc % 100 === 0 ? `${'foo1 '.repeat(doc / 100)}foo2` : 'x foo1\n\nfoo22\n'),
  }));
  const { searcher, shardId } = await searcherOver('debug', docs);
  const units = searchUnits(searcher, shardId, 'foo\\d+');
  assert.ok(Math.max(...units.map(({ rows }) => rows.length / 4)) > UNIT_DOCS_MAX);
  for (const { rows, kept } of units) {
    let next = 0;
    for (let i = 0; i < rows.length; i += 4) {
      const text = docs[rows[i]!]!.bytes.toString();
      const ranges = [...text.matchAll(/foo\d+/g)].map((one) => [
        one.index,
        one.index + one[0].length,
      ]);
      const record = kept!.subarray(next, (next += 1 + 2 * ranges.length));
      assert.deepEqual([...record], [ranges.length, ...ranges.flat()], text);
    }
    assert.equal(next, kept!.length);
  }
});

void test('after a binding to the heads its docs are rendered by it, others are bound again', async () => {
  // The first is a head by its name; the last has the word only in a folder of its path, far behind the first.
  const others = Array.from({ length: 300 }, (_, doc) => `doc${doc}.txt`);
  const docs = ['plum.txt', ...others, 'of-plums/pear.txt'].map((file) => ({
    path: file,
    bytes: Buffer.from(`text of ${file.replace('plum', '')}\n`),
  }));
  const { searcher, shardId } = await searcherOver('debug', docs);
  searcher.beginPlan(encodedPlan('plum'));
  assert.equal(searcher.bindHeads(shardId)?.candidateDocs, 1);
  const options = { links: [LINKS], ends: [], contextLines: 0, returnsContent: false };
  for (const docId of [0, docs.length - 1]) {
    assert.ok(searcher.bindDocs(shardId, [docId], () => false));
    const { json } = searcher.render(
      Uint32Array.of(docId, 100, 0, 0, 7, 0),
      new Uint32Array(),
      options,
    )!;
    assert.match(Buffer.from(json).toString(), /"matchRanges":\[\{/, docs[docId]!.path);
  }
});
