// Every text of up to 5 bytes over five significant bytes (letters with and without another case, a newline, k
// without its Kelvin sign, an invalid byte) in one shard, and every literal of up to 3 code points over the same
// alphabet: the engine agrees with the slow search, in both case modes.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import { Searcher } from '../../daemon/engine/host/searcher.ts';
import { type Build, buildShard, coreModule, temporaryFolder } from '../engine/host/harness.ts';
import { encodePlan } from '../engine/query/at-once.ts';

const BYTES = [0x61, 0x42, 0x0a, 0x6b, 0xc3];
/** A bad byte is written U+FFFD in a literal. */
const POINTS = ['a', 'B', '\n', 'k', '\ufffd'];
const REPO = { repoId: 1, name: 'host/repo' };

/** All lists of 1 to `sizeMax` of the values. */
function listsOf<T>(values: readonly T[], sizeMax: number): T[][] {
  let lists: T[][] = [[]];
  const all: T[][] = [];
  for (let size = 1; size <= sizeMax; size++) {
    lists = lists.flatMap((list) => values.map((value) => [...list, value]));
    all.push(...lists);
  }
  return all;
}

/** How often `literal` stands in `text`, not overlapping; each byte of this world is a character. */
function countOf(text: string, literal: string): number {
  return text.split(literal).length - 1;
}

const texts = listsOf(BYTES, 5).map((bytes) => Uint8Array.from(bytes));
const literals = listsOf(POINTS, 3).map((points) => points.join(''));

for (const build of ['debug', 'release'] as const satisfies readonly Build[]) {
  void test(`all small texts and all small literals, ${build}`, async () => {
    const module = await coreModule(build);
    const docs = texts.map((bytes, index) => ({ path: `d${index}`, bytes }));
    const shard = buildShard(module, temporaryFolder(), REPO, docs);
    const searcher = new Searcher(module);
    assert.deepEqual(searcher.setShards([shard]), []);
    const contents = texts.map((bytes) =>
      Buffer.from(bytes).toString('latin1').replaceAll('\xc3', '\ufffd'),
    );
    for (const isExact of [true, false]) {
      const fold = (text: string): string => (isExact ? text : text.toLowerCase());
      const folded = contents.map(fold);
      for (const literal of literals) {
        const expected = new Map<number, number>();
        for (const [index, text] of folded.entries()) {
          const count = countOf(text, fold(literal));
          if (count > 0) expected.set(index, count);
        }
        const found = searchAll(searcher, shard.shardId, literal, isExact);
        const label = `${JSON.stringify(literal)}, ${isExact ? 'exact' : 'folded'}`;
        assert.equal(found.size, expected.size, label);
        for (const [docId, count] of found) assert.equal(count, expected.get(docId), label);
      }
    }
  });
}

function searchAll(
  searcher: Searcher,
  shardId: string,
  text: string,
  isExact: boolean,
): Map<number, number> {
  searcher.setPlan(encodePlan({ kind: 'text', text }, isExact));
  const { unitCount } = searcher.bind(shardId);
  const found = new Map<number, number>();
  for (let unit = 0; unit < unitCount; unit++) {
    const { rows } = searcher.searchUnit(unit);
    for (let i = 0; i < rows.length; i += 4) found.set(rows[i]!, rows[i + 1]!);
  }
  return found;
}
