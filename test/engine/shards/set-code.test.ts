// Encoded sets of docs against sets of numbers: any encoding round-trips; damaged ones are detected.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { bitmapSizeOf } from '../../../daemon/engine/shards/bits.ts';
import {
  RevisionTable,
  RevisionWriter,
  ShardRevisions,
} from '../../../daemon/engine/shards/revisions.ts';
import {
  encodeSet,
  FORM_ALL,
  FORM_BITS,
  FORM_NONE,
  FORM_RUNS,
  isValid,
} from '../../../daemon/engine/shards/set-code.ts';

function bitmapOf(docIds: Iterable<number>, docCount: number): Uint8Array {
  const bitmap = new Uint8Array(bitmapSizeOf(docCount));
  for (const docId of docIds) bitmap[docId >> 3]! |= 1 << (docId & 7);
  return bitmap;
}

function docIdsOf(set: Uint8Array | 'all' | 'none', docCount: number): number[] {
  const all = Array.from({ length: docCount }, (_, docId) => docId);
  if (typeof set === 'string') return set === 'all' ? all : [];
  return all.filter((docId) => ((set[docId >> 3]! >> (docId & 7)) & 1) === 1);
}

/** Runs of docs, so that all forms occur. */
const shardArbitrary = fc.integer({ min: 0, max: 700 }).chain((docCount) =>
  fc.record({
    docCount: fc.constant(docCount),
    sets: fc.array(
      fc
        .array(fc.tuple(fc.nat(docCount), fc.constantFrom(1, 2, 3, 200)), { maxLength: 60 })
        .map(
          (runs) =>
            new Set(
              runs.flatMap(([start, size]) =>
                Array.from({ length: size }, (_, i) => start + i).filter(
                  (docId) => docId < docCount,
                ),
              ),
            ),
        ),
      { minLength: 4, maxLength: 4 },
    ),
  }),
);

void test('a file returns its sets, their unions, and the holders of a doc', () => {
  fc.assert(
    fc.property(fc.array(shardArbitrary, { minLength: 1, maxLength: 3 }), (shards) => {
      const unstored = [{ docId: 0, oid: 'ab'.repeat(20) }];
      const writer = new RevisionWriter(
        shards.map(({ docCount }) => ({ docCount, unstored: docCount > 0 ? unstored : [] })),
      );
      for (let revision = 0; revision < 4; revision++)
        writer.add(shards.map(({ docCount, sets }) => bitmapOf(sets[revision]!, docCount)));
      const docCounts = shards.map(({ docCount }) => docCount);
      const table = RevisionTable.open(writer.bytes(), 4, docCounts);
      for (const [index, { docCount, sets }] of shards.entries()) {
        const stored = table.shards[index]!;
        const shard = ShardRevisions.of(structuredClone(stored.data));
        for (const revisions of [[0], [1], [2, 3], [0, 1, 2, 3]]) {
          const expected = new Set(revisions.flatMap((revision) => [...sets[revision]!]));
          const found = docIdsOf(shard.docsIn(revisions), docCount);
          assert.deepEqual(
            found,
            [...expected].sort((a, b) => a - b),
          );
        }
        const all = new Set(sets.flatMap((set) => [...set]));
        assert.equal(shard.liveCount, all.size);
        const docIds = Uint32Array.from({ length: docCount }, (_, docId) => docId);
        const having = shard.revisionsHaving(docIds, [0, 2, 3]);
        for (const docId of docIds)
          assert.deepEqual(
            having[docId],
            [0, 2, 3].filter((one) => sets[one]!.has(docId)),
          );
        assert.deepEqual(shard.unstoredDocs(), docCount > 0 ? unstored : []);
      }
    }),
  );
});

void test('the shortest encoding is used', () => {
  const form = (docIds: Iterable<number>, docCount: number): number =>
    encodeSet(bitmapOf(docIds, docCount), docCount).form;
  const every = (step: number): number[] =>
    Array.from({ length: 1000 }, (_, docId) => docId).filter((docId) => docId % step === 0);
  assert.equal(form([], 1000), FORM_NONE);
  assert.equal(form(every(1), 1000), FORM_ALL);
  assert.equal(form(every(300), 1000), FORM_RUNS);
  assert.equal(form(every(2), 1000), FORM_BITS);
});

void test('a set with docs beyond the last is invalid', () => {
  assert.ok(isValid({ form: FORM_RUNS, bytes: Uint8Array.of(2, 3) }, 5));
  assert.ok(!isValid({ form: FORM_RUNS, bytes: Uint8Array.of(2, 3) }, 4));
  assert.ok(isValid({ form: FORM_BITS, bytes: Uint8Array.of(31) }, 5));
  assert.ok(!isValid({ form: FORM_BITS, bytes: Uint8Array.of(32) }, 5));
  assert.ok(!isValid({ form: FORM_BITS, bytes: Uint8Array.of(1, 0) }, 5));
  assert.ok(!isValid({ form: FORM_ALL, bytes: Uint8Array.of(1) }, 5));
  assert.ok(!isValid({ form: 9, bytes: new Uint8Array() }, 5));
});
