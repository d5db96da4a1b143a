// Which shards are merged: few rounds, each doc rewritten once or twice, for any sizes.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { SPACE_CAPACITY } from '../../daemon/engine/host/space.ts';
import {
  levelOf,
  MERGE_LIMITS,
  type MergeCandidate,
  planMerge,
} from '../../daemon/index/merge/merge-plan.ts';

const MIB = 1 << 20;

function candidate(index: number, more: Partial<MergeCandidate>): MergeCandidate {
  const counts = { fileSize: 1200, docCount: 10, liveCount: 10, liveSize: 1000 };
  return { shardId: `${index}`, kind: 'a', ...counts, repoId: undefined, restMs: 0, ...more };
}

/** Merges until nothing is to be merged; returns what is left, and the bytes that were written. */
function settle(candidates: readonly MergeCandidate[]): {
  remaining: MergeCandidate[];
  written: number;
} {
  let remaining = [...candidates];
  let written = 0;
  for (let round = 0; ; round++) {
    assert.ok(round < 1000, 'it never ends');
    const some = planMerge(remaining, MERGE_LIMITS);
    if (some === undefined) return { remaining, written };
    const sum = (of: (one: MergeCandidate) => number): number =>
      some.reduce((total, one) => total + of(one), 0);
    assert.equal(new Set(some.map(({ kind }) => kind)).size, 1);
    const made = {
      ...some[0]!,
      shardId: `m${round}`,
      docCount: sum(({ liveCount }) => liveCount),
      liveCount: sum(({ liveCount }) => liveCount),
      liveSize: sum(({ liveSize }) => liveSize),
      fileSize: sum(({ liveSize }) => 1.2 * liveSize),
    };
    assert.ok(some.length === 1 || sum(({ fileSize }) => fileSize) <= SPACE_CAPACITY);
    assert.ok(made.liveSize <= 800 * MIB && made.docCount <= MERGE_LIMITS.docCountMax);
    written += made.liveSize;
    remaining = [made, ...remaining.filter((one) => !some.includes(one))];
  }
}

void test('repositories added one by one end in few shards, whatever their size', () => {
  for (const kib of [500, 900, 1100, 3000])
    for (const docSize of [300, 1000, 4000]) {
      const docCount = Math.ceil((kib << 10) / docSize);
      let remaining: MergeCandidate[] = [];
      let written = 0;
      const count = Math.min(5000, Math.floor(4_000_000 / docCount));
      for (let i = 0; i < count; i++) {
        const one = candidate(i, { docCount, liveCount: docCount, liveSize: kib << 10 });
        const settled = settle([one, ...remaining]);
        remaining = settled.remaining;
        written += settled.written;
      }
      const [docs, size] = [count * docCount, count * (kib << 10)];
      // All but a few of each level hold a quarter of what one has room for.
      const most = 4 * Math.max(docs / MERGE_LIMITS.docCountMax, size / MERGE_LIMITS.sizeMax) + 35;
      assert.ok(
        remaining.length <= most,
        `${remaining.length} of ${most} shards: ${kib} KiB, ${docSize}`,
      );
      assert.ok(written <= 3 * size);
    }
});

void test('of very many shards at most as many are merged as can be open', () => {
  const many = Array.from({ length: 20_000 }, (_, i) =>
    candidate(i, { docCount: 1, liveCount: 1 }),
  );
  assert.equal(planMerge(many, MERGE_LIMITS)!.length, 2048);
  assert.ok(settle(many).remaining.length < 16);
});

void test('files that do not fit into memory together are first rewritten without dead docs', () => {
  const dead = { fileSize: 1 << 30, docCount: 100_000, liveCount: 10, liveSize: 10_000 };
  const many = Array.from({ length: 40 }, (_, i) => candidate(i, dead));
  assert.equal(settle(many).remaining.length, 10);
  const idle = many.slice(0, 15).map((one) => ({ ...one, docCount: 10, repoId: 1, restMs: 1e9 }));
  assert.equal(planMerge(idle, MERGE_LIMITS)!.length, 2);
});

void test('random sizes, kinds and dead docs: merging ends, and no level keeps sixteen that fit', () => {
  const one = fc.record({
    kind: fc.constantFrom('a', 'b'),
    liveSize: fc.oneof(fc.nat(2 * MIB), fc.nat(300 * MIB)),
    docCount: fc.integer({ min: 1, max: 30_000 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  const property = fc.property(fc.array(one, { maxLength: 120 }), (drawn) => {
    const { remaining } = settle(
      drawn.map(({ share, docCount, ...rest }, i) =>
        candidate(i, { ...rest, docCount, liveCount: Math.round(share * docCount) }),
      ),
    );
    const levels = new Map<string, number>();
    for (const one of remaining) {
      const { liveCount, docCount, kind } = one;
      const isAlive = docCount - liveCount < MERGE_LIMITS.deadShare * docCount;
      assert.ok(liveCount === 0 || isAlive);
      const level = levelOf(one, MERGE_LIMITS);
      const key = `${kind} ${level}`;
      if (liveCount > 0 && level !== undefined) levels.set(key, (levels.get(key) ?? 0) + 1);
    }
    for (const [key, count] of levels) assert.ok(count < MERGE_LIMITS.shardCount, key);
  });
  fc.assert(property, { numRuns: 200 });
});

void test('shards of very many docs without content do not block other merges', () => {
  const many = [150_000, 150_000, ...Array.from({ length: 40 }, () => 10)].map((docCount, i) =>
    candidate(i, { docCount, liveCount: docCount, liveSize: docCount }),
  );
  const { remaining, written } = settle(many);
  assert.deepEqual(docCounts(remaining), [400, 150_000, 150_000]);
  assert.equal(written, 400);
});

/** Shards of one repo by how many docs they hold, 13 KB each. */
function ofRepo(
  docCounts: readonly number[],
  more: Partial<MergeCandidate> = {},
): MergeCandidate[] {
  return docCounts.map((docCount, i) =>
    candidate(i, {
      docCount,
      liveCount: docCount,
      liveSize: docCount * 13_000,
      repoId: 1,
      restMs: MERGE_LIMITS.restMs,
      ...more,
    }),
  );
}

/** Of what is left. */
function docCounts(candidates: readonly MergeCandidate[]): number[] {
  return candidates.map(({ docCount }) => docCount).sort((a, b) => a - b);
}

void test('when idle the shards of 1,000 commits are merged with a large one, which is written once', () => {
  const { remaining, written } = settle(ofRepo([13, 987, 35_000, 40_000]));
  assert.deepEqual(docCounts(remaining), [36_000, 40_000]);
  assert.equal(written, 36_000 * 13_000);
  assert.deepEqual(docCounts(settle(ofRepo([1, 40, 41])).remaining), [82]);
});

void test('small, busy, shared and oversized shards are not merged', () => {
  for (const docs of [[7, 300, 35_000, 40_000], [36_000, 40_000], [1, 41], [5]])
    assert.deepEqual(docCounts(settle(ofRepo(docs)).remaining), docs);
  for (const more of [{ restMs: MERGE_LIMITS.restMs - 1 }, { repoId: undefined }])
    assert.deepEqual(
      docCounts(settle(ofRepo([13, 987, 19_000], more)).remaining),
      [13, 987, 19_000],
    );
  const kinds = [...ofRepo([900, 10_000]), ...ofRepo([900], { kind: 'b' })];
  assert.deepEqual(docCounts(settle(kinds).remaining), [900, 10_900]);
  const repos = [...ofRepo([900]), ...ofRepo([900], { repoId: 2 })];
  assert.deepEqual(docCounts(settle(repos).remaining), [900, 900]);
});

void test('an index of three full shards takes at most 1.6 times the bytes of its living docs, after any changes', () => {
  const DOCS = 40_000;
  for (const [restMs, changed] of [
    [0, 1000],
    [0, 12_000],
    [MERGE_LIMITS.restMs, 120],
  ] as const) {
    let shards = ofRepo([DOCS, DOCS, DOCS], { restMs });
    let most = 0;
    const weigh = (more: readonly MergeCandidate[]): void => {
      const docs = [...shards, ...more].reduce((sum, { docCount }) => sum + docCount, 0);
      most = Math.max(most, docs / (3 * DOCS));
    };
    for (let round = 0; round < 400; round++) {
      const rest = { repoId: 1, restMs, liveSize: changed * 13_000 };
      const made = candidate(round, { docCount: changed, liveCount: changed, ...rest });
      shards = [made, ...change(shards, changed)];
      for (let some = planMerge(shards, MERGE_LIMITS); some !== undefined;) {
        const liveCount = some.reduce((sum, one) => sum + one.liveCount, 0);
        const out = candidate(0, {
          ...rest,
          docCount: liveCount,
          liveCount,
          liveSize: liveCount * 13_000,
        });
        weigh([out]);
        shards = [...shards.filter((one) => !some!.includes(one)), out];
        some = planMerge(shards, MERGE_LIMITS);
      }
    }
    assert.ok(most > 1.2 && most <= 1.6, `${most} at ${changed} changed docs a round`);
  }
});

/** As many docs die, of each shard as its share of those that live; shards of none are gone. */
function change(shards: readonly MergeCandidate[], count: number): MergeCandidate[] {
  const living = shards.reduce((sum, { liveCount }) => sum + liveCount, 0);
  let [passed, died] = [0, 0];
  return shards.flatMap((one) => {
    passed += one.liveCount;
    const dead = Math.round((count * passed) / living) - died;
    died += dead;
    const liveCount = one.liveCount - dead;
    return liveCount > 0 ? [{ ...one, liveCount, liveSize: liveCount * 13_000 }] : [];
  });
}
