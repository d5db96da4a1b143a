// The parts of a shard against a slow twin that checks each doc.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { bitmapSizeOf } from '../../../daemon/engine/shards/bits.ts';
import {
  type ChosenRevisions,
  docsOfParts,
  isCovered,
  liveDocCount,
  type PartedShard,
  partOf,
  type ShardPart,
} from '../../../daemon/engine/shards/parts.ts';
import {
  RevisionTable,
  RevisionWriter,
  type ShardRevisions,
} from '../../../daemon/engine/shards/revisions.ts';

/** Revisions of so many docs, from what each holds. */
function revisionsOf(
  docCount: number,
  docsByRevision: readonly (readonly boolean[])[],
): ShardRevisions {
  const writer = new RevisionWriter([{ docCount, unstored: [] }]);
  for (const docs of docsByRevision) {
    const bitmap = new Uint8Array(bitmapSizeOf(docCount));
    for (let doc = 0; doc < docCount; doc++) if (docs[doc]) bitmap[doc >> 3]! |= 1 << (doc & 7);
    writer.add([bitmap]);
  }
  return RevisionTable.open(writer.bytes(), docsByRevision.length, [docCount]).shards[0]!;
}

interface TestPart extends ShardPart {
  /** By revision and doc; absent: one revision, which holds all. */
  readonly docsByRevision?: readonly (readonly boolean[])[];
}

const partArbitrary = fc.record({
  gap: fc.constantFrom(0, 0, 0, 1, 9),
  size: fc.integer({ min: 1, max: 70 }),
  docsByRevision: fc.option(
    fc.array(fc.array(fc.boolean(), { minLength: 70, maxLength: 70 }), {
      minLength: 1,
      maxLength: 3,
    }),
    { nil: undefined },
  ),
});

const shardArbitrary = fc
  .record({
    parts: fc.array(partArbitrary, { minLength: 1, maxLength: 6 }),
    tail: fc.constantFrom(0, 0, 3, 130),
  })
  .map(({ parts, tail }): PartedShard & { parts: readonly TestPart[] } => {
    let docEnd = 0;
    const laidOut = parts.map(({ gap, size, docsByRevision }, index): TestPart => {
      const docStart = docEnd + gap;
      docEnd = docStart + size;
      const more =
        docsByRevision === undefined
          ? {}
          : { docsByRevision, revisions: revisionsOf(size, docsByRevision) };
      return { repoId: index + 1, docStart, docEnd, ...more };
    });
    return { docCount: docEnd + tail, parts: laidOut };
  });

const chosenArbitrary = fc.array(
  fc.constantFrom<ChosenRevisions>('any', undefined, [0], [0], [0, 1, 2], [2]),
  { minLength: 6, maxLength: 6 },
);

const ANY: readonly ChosenRevisions[] = Array.from({ length: 6 }, () => 'any');

/** Whether a doc is in one of the chosen revisions. */
function isIn(parts: readonly TestPart[], chosen: readonly ChosenRevisions[], docId: number) {
  const part = parts.find((one) => one.docStart <= docId && docId < one.docEnd);
  if (part === undefined) return false;
  const of = chosen[part.repoId - 1];
  if (of === undefined) return false;
  if (part.docsByRevision === undefined) return true;
  const indexes = of === 'any' ? [...part.docsByRevision.keys()] : of;
  return indexes.some((index) => part.docsByRevision![index]?.[docId - part.docStart] === true);
}

test('the docs of parts equal a check of each doc', () => {
  fc.assert(
    fc.property(shardArbitrary, chosenArbitrary, (shard, requested) => {
      // A repo has the revisions that it has.
      const chosen = (shard.parts as readonly TestPart[]).map(({ docsByRevision }, index) => {
        const one = requested[index];
        return Array.isArray(one) ? one.filter((i) => i < (docsByRevision?.length ?? 1)) : one;
      });
      const some = chosen.map((one) => (Array.isArray(one) && one.length === 0 ? undefined : one));
      const set = docsOfParts(shard, (repoId) => some[repoId - 1]);
      const found = Array.from({ length: shard.docCount }, (_, doc) =>
        typeof set === 'string' ? set === 'all' : ((set[doc >> 3]! >> (doc & 7)) & 1) === 1,
      );
      const expected = found.map((_, doc) => isIn(shard.parts, some, doc));
      assert.deepEqual(found, expected);
      if (typeof set === 'string') return;
      assert.equal(set.length, bitmapSizeOf(shard.docCount));
      assert.ok(expected.includes(true) && expected.includes(false), 'said in a word');
      const bits = set.reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0);
      assert.equal(bits, expected.filter(Boolean).length, 'no bit behind the docs');
    }),
    { numRuns: 2000 },
  );
});

test('each doc is in its part, docs without owner in none', () => {
  fc.assert(
    fc.property(shardArbitrary, (shard) => {
      let live = 0;
      let owned = 0;
      for (let doc = 0; doc < shard.docCount; doc++) {
        const expected = shard.parts.find((one) => one.docStart <= doc && doc < one.docEnd);
        if (expected === undefined) {
          assert.throws(() => partOf(shard, doc), /belongs to no repo/);
          continue;
        }
        assert.equal(partOf(shard, doc), expected);
        owned++;
        if (isIn(shard.parts, ANY, doc)) live++;
      }
      assert.equal(liveDocCount(shard), live);
      assert.equal(isCovered(shard), owned === shard.docCount);
    }),
  );
});
