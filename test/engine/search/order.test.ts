// The order of results, sorted in steps: it equals that of one sort, no step handles many docs, and docs added while
// the backlog of a stream is sorted are neither lost nor sent twice.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { atOnce } from '../../../daemon/base/steps.ts';
import { Backlog } from '../../../daemon/engine/search/backlog.ts';
import { type DocList, FoundDocs } from '../../../daemon/engine/search/found-docs.ts';
import {
  orderDocs,
  type OrderContext,
  sortDocs,
  withDiversity,
} from '../../../daemon/engine/search/order.ts';
import { repoOrderOf } from '../../../daemon/engine/search/scope.ts';
import { repoRecord } from '../../repos/record.ts';
import type { UnitFinding } from '../../../daemon/engine/host/search-messages.ts';

/** With the order of these paths. */
function contextOf(
  pathOf: OrderContext['pathOf'],
  others: Omit<OrderContext, 'pathOf' | 'comparePaths'>,
): OrderContext {
  const comparePaths: OrderContext['comparePaths'] = (shardA, docA, shardB, docB) =>
    Buffer.compare(pathOf(shardA, docA), pathOf(shardB, docB));
  return { ...others, pathOf, comparePaths };
}

const PATHS: OrderContext['pathOf'] = (shard, docId) =>
  Buffer.from(`${shard}/${docId}.${'abc'[docId % 3]}`);
const CONTEXT = contextOf(PATHS, {
  // Shards from 3 on hold docs of two repos.
  isPlain: (shard) => shard < 3,
  repoRank: (shard, docId) => (shard < 3 ? shard >> 1 : docId % 2),
  versionOf: () => ({ isDefault: true, oid: '' }),
});
const TIER_SHIFT = 28;

/** A unit of docs that differ by score, tier and path. */
function unitOf(shard: number, unit: number, scores: readonly number[], firstDoc = 0): UnitFinding {
  const rows = scores.flatMap((score, i) => [
    firstDoc + i,
    1,
    score | ((score % 2) << TIER_SHIFT),
    firstDoc + i,
  ]);
  const counts = { considered: scores.length, loaded: 0, contentBytes: 0, regexps: 0 };
  return { shard, unit, rows: Uint32Array.from(rows), matches: scores.length, ...counts };
}

const scoresArbitrary = (sizeMax: number) =>
  fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: sizeMax });
const infosOf = ({ found, docs }: DocList) =>
  Array.from(docs, (doc) => ({
    doc,
    shard: found.shard(doc),
    docId: found.docId(doc),
    score: found.score(doc),
    tier: found.tier(doc),
    pathRank: found.pathRank(doc),
  }));
const keysOf = (list: DocList): string[] =>
  infosOf(list).map(({ shard, docId }) => `${shard} ${docId}`);

/** As one sort would have it. */
function expected(list: DocList): DocList {
  const sorted = infosOf(list).toSorted(
    (a, b) =>
      b.score - a.score ||
      a.tier - b.tier ||
      (a.shard === b.shard && a.shard < 3
        ? a.pathRank - b.pathRank
        : CONTEXT.repoRank(a.shard, a.docId) - CONTEXT.repoRank(b.shard, b.docId) ||
          Buffer.compare(CONTEXT.pathOf(a.shard, a.docId), CONTEXT.pathOf(b.shard, b.docId))),
  );
  return { found: list.found, docs: Uint32Array.from(sorted, ({ doc }) => doc) };
}

test('docs sorted in steps are in the order of one sort', () => {
  const unitsArbitrary = fc.array(scoresArbitrary(3000), { maxLength: 5 });
  const property = fc.property(unitsArbitrary, (lists) => {
    const units = lists.map((scores, shard) => unitOf(shard, 0, scores));
    const list = atOnce(orderDocs(units, CONTEXT));
    const { found, docs } = list;
    const sorted = { found, docs: atOnce(sortDocs({ found, docs: docs.toReversed() }, CONTEXT)) };
    assert.deepEqual(keysOf(sorted), keysOf(expected(list)));
    assert.deepEqual(keysOf(list), keysOf(withDiversity(sorted, CONTEXT)));
  });
  fc.assert(property, { numRuns: 30 });
});

test('docs of the same rank in several shards of a repo come by path, whatever shard has which', () => {
  const path = fc.record({ shard: fc.nat(3), score: fc.nat(2) });
  const property = fc.property(
    fc.array(path, { maxLength: 200 }),
    fc.boolean(),
    (docs, isApart) => {
      const shards = Array.from({ length: 4 }, (_, shard) =>
        docs.flatMap((doc, index) => (doc.shard === shard ? [{ index, score: doc.score }] : [])),
      );
      const pathOf: OrderContext['pathOf'] = (shard, docId) => {
        const { index } = shards[shard]![docId]!;
        // Each shard has folders of its own, or none has.
        return Buffer.from(`${isApart ? shard : ''}${index.toString().padStart(4, '0')}.c`);
      };
      const context = contextOf(pathOf, { ...CONTEXT, isPlain: () => true, repoRank: () => 0 });
      const units = shards.map((own, shard) => ({
        ...unitOf(shard, 0, []),
        rows: Uint32Array.from(own.flatMap(({ score }, docId) => [docId, 1, score, docId])),
      }));
      const found = new FoundDocs(units);
      for (const unit of units) found.add(unit);
      const shuffled = found.range(0, found.count).toReversed();
      const sorted = atOnce(sortDocs({ found, docs: shuffled }, context));
      const textOf = ({
        shard,
        docId,
        score,
      }: {
        shard: number;
        docId: number;
        score: number;
      }): string => `${9 - score} ${Buffer.from(pathOf(shard, docId)).toString()}`;
      const texts = infosOf({ found, docs: sorted }).map(textOf);
      assert.deepEqual(texts, texts.toSorted());
      assert.equal(new Set(sorted).size, docs.length);
    },
  );
  fc.assert(property, { numRuns: 200 });
});

test('no sorting step handles many docs', () => {
  const docCount = 50_000;
  const found = new FoundDocs();
  for (let shard = docCount; shard-- > 0;) found.add(unitOf(shard, 0, [0]));
  let compareCount = 0;
  let most = 0;
  const repoRank = (shard: number): number => {
    compareCount++;
    return shard;
  };
  const context = { ...CONTEXT, isPlain: () => false, repoRank };
  const steps = sortDocs({ found, docs: found.range(0, docCount) }, context);
  for (let isOver = false, before = 0; !isOver; before = compareCount) {
    isOver = steps.next().done === true;
    most = Math.max(most, compareCount - before);
  }
  assert.ok(compareCount > docCount);
  assert.ok(most < 60_000, `${most} comparisons in a step`);
});

test('a backlog returns each doc once, with ordered batches, while docs are added', () => {
  const lists = fc.array(scoresArbitrary(40), { minLength: 1, maxLength: 12 });
  const property = fc.property(lists, fc.infiniteStream(fc.nat(3)), (unitScores, choices) => {
    const backlog = new Backlog(CONTEXT, 1_000_000, false);
    backlog.noteSize(5000); // some fifty docs fill a batch
    const many = Array.from({ length: 70_000 }, (_, i) => (i * 7919) % 31);
    const few = unitScores.map((scores, i) => unitOf(i % 3, i, scores, i * 100));
    // So many that they are not sorted in one step.
    const pending = [unitOf(3, 0, many), ...few];
    const expected = keysOf(atOnce(orderDocs(pending, CONTEXT)));
    const taken: string[] = [];
    let stepCount = 0;
    const choose = (): number => choices.next().value;
    while (pending.length > 0 || backlog.waitMs(true) !== undefined) {
      if (pending.length > 0 && choose() > 0)
        for (const unit of pending.splice(0, choose())) backlog.add(unit, false);
      if (backlog.waitMs(true) === undefined) continue;
      const steps = backlog.takeBatch(true);
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) {
        stepCount++;
        if (pending.length > 0 && choose() === 0) backlog.add(pending.shift()!, false);
      }
      const batch = step.value;
      assert.deepEqual(keysOf(batch), keysOf(batch.docs.length < 3 ? batch : inOrderButOne(batch)));
      taken.push(...keysOf(batch));
    }
    assert.ok(stepCount > 2);
    assert.deepEqual(taken.toSorted(), expected.toSorted());
  });
  fc.assert(property, { numRuns: 8 });
});

test('the docs within a limit do not depend on when batches are taken', () => {
  const lists = fc.array(scoresArbitrary(30), { minLength: 1, maxLength: 8 });
  const property = fc.property(
    lists,
    fc.nat(8),
    fc.nat(120),
    fc.infiniteStream(fc.boolean()),
    (unitScores, headCount, limit, choices) => {
      const takenBy = (isTakenNow: () => boolean): string[] => {
        const backlog = new Backlog(CONTEXT, limit, false);
        const taken: string[] = [];
        const takeAll = (): void => {
          while (backlog.waitMs(true) !== undefined)
            taken.push(...keysOf(atOnce(backlog.takeBatch(true))));
        };
        for (const [i, scores] of unitScores.entries()) {
          backlog.add(unitOf(i % 3, i, scores, i * 100), i < headCount);
          if (i + 1 >= headCount && isTakenNow()) takeAll();
        }
        takeAll();
        return taken.toSorted();
      };
      const atEnd = takenBy(() => false);
      assert.equal(atEnd.length, Math.min(limit, unitScores.flat().length));
      assert.deepEqual(
        takenBy(() => choices.next().value),
        atEnd,
      );
    },
  );
  fc.assert(property, { numRuns: 200 });
});

/** The docs in order, or in order but for one that was moved up to one of the first three places. */
function inOrderButOne(list: DocList): DocList {
  const { found, docs } = list;
  const isInOrder = (some: Uint32Array): boolean =>
    expected({ found, docs: some }).docs.every((doc, i) => doc === some[i]);
  const isFine = [undefined, ...docs.slice(0, 3)].some((one) =>
    isInOrder(docs.filter((doc) => doc !== one)),
  );
  return isFine ? list : expected(list);
}

test('repos by name: a list with only changed records keeps its order', () => {
  const repos = [repoRecord(1, 'host/b'), repoRecord(2, 'host/a')];
  const first = repoOrderOf(repos);
  assert.deepEqual([first.ranks.get(1), first.ranks.get(2)], [1, 0]);
  const changed = { ...repos[1]!, indexedAt: '2026-11-01T00:00:00.000Z' };
  const second = repoOrderOf([repos[0]!, changed]);
  assert.equal(second.ranks, first.ranks);
  assert.equal(second.repos[second.positions.get(2)!], changed);
  const renamed = repoOrderOf([repos[0]!, repoRecord(2, 'host/c')]);
  assert.deepEqual([renamed.ranks.get(1), renamed.ranks.get(2)], [0, 1]);
  const others = repoOrderOf([repoRecord(3, 'host/c'), repoRecord(1, 'host/b')]);
  assert.deepEqual([others.positions.get(3), others.positions.get(2)], [0, undefined]);
  const sameNames = repoOrderOf([repoRecord(5, 'host/c'), repoRecord(1, 'host/b')]);
  assert.deepEqual([sameNames.positions.get(5), sameNames.ranks.get(5)], [0, 1]);
});
