// What changes of a few repos costs what changes, however many there are: what searches see, and what is merged next, is kept
// as the catalog changes, and is always what it would be if it were worked out anew.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import * as fc from 'fast-check';
import { createLog } from '../../daemon/base/log.ts';
import type { Snapshot } from '../../daemon/engine/search/snapshot.ts';
import { Catalog } from '../../daemon/sync/catalog/catalog.ts';
import type {
  CatalogChange,
  CatalogRepo,
  CatalogShard,
} from '../../daemon/sync/catalog/catalog-records.ts';
import { Holdings } from '../../daemon/sync/merge/holdings.ts';
import { QuarantineFile } from '../../daemon/sync/served/quarantine-file.ts';
import { Served } from '../../daemon/sync/served/served.ts';
import { repoRecord } from '../repos/record.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { openIndexOf } from './index-of.ts';
import { EAGER } from './merge-limits.ts';

const DOCS = 10;
const FOLDER = temporaryFolder();
let catalogCount = 0;

/** A catalog that counts for how many repos it was asked. */
class CountingCatalog extends Catalog {
  askedCount = 0;

  override get repos(): readonly CatalogRepo[] {
    this.askedCount += super.repos.length;
    return super.repos;
  }

  override reposOfShard(shardId: string): readonly CatalogRepo[] {
    const repos = super.reposOfShard(shardId);
    this.askedCount += repos.length;
    return repos;
  }

  override revisionsOf(repo: CatalogRepo): ReturnType<Catalog['revisionsOf']> {
    this.askedCount++;
    return super.revisionsOf(repo);
  }
}

async function openCatalog(): Promise<CountingCatalog> {
  const catalog = new CountingCatalog(path.join(FOLDER, String(catalogCount++)));
  mkdirSync(catalog.shardFolder, { recursive: true });
  await catalog.load();
  return catalog;
}

interface Seen {
  readonly served: Served;
  /** What searches see. */
  readonly snapshot: () => Snapshot | undefined;
}

function serve(catalog: Catalog): Seen {
  let snapshot: Snapshot | undefined;
  const served = new Served({
    catalog,
    log: createLog({ level: 'error', format: 'text' }),
    quarantineFile: new QuarantineFile(FOLDER),
    publish: (next) => {
      snapshot = next;
      return [];
    },
    onDamage: () => {},
    onSymbolsLost: () => {},
  });
  return { served, snapshot: () => snapshot };
}

function idOf(shard: number): string {
  return shard.toString(16).padStart(64, '0');
}

function shardOf(shard: number): CatalogShard {
  return { shardId: idOf(shard), size: 5000, docCount: DOCS, contentSize: 1000, hashSize: 20 };
}

function repoOf(repoId: number, shards: readonly CatalogShard[]): CatalogRepo {
  const indexedAt = '2026-11-01T00:00:00.000Z';
  const record = { ...repoRecord(repoId, `host/${repoId}`), indexedAt };
  return { record, shards: [...shards], skipped: {} };
}

/** One thing that happens to a repo. */
interface Step {
  readonly kind: 'build' | 'share' | 'stray' | 'remove';
  readonly repoId: number;
  readonly count: number;
}

const STEP = fc.record<Step>({
  kind: fc.constantFrom('build', 'build', 'share', 'share', 'stray', 'remove'),
  repoId: fc.integer({ min: 1, max: 6 }),
  count: fc.integer({ min: 0, max: 3 }),
});

let lastShard = 0;

function changeOf(catalog: Catalog, { kind, repoId, count }: Step): CatalogChange {
  const known = catalog.repo(repoId);
  if (kind === 'remove') return known === undefined ? {} : { removed: [repoId] };
  if (kind === 'stray')
    return known === undefined || known.isStray ? {} : { put: [{ ...known, isStray: true }] };
  if (kind === 'share') return shareOf(catalog, count + 2);
  return {
    put: [
      repoOf(
        repoId,
        Array.from({ length: count }, () => shardOf(++lastShard)),
      ),
    ],
  };
}

/** So many repos from now on have their docs in one shard, as after a merge. */
function shareOf(catalog: Catalog, count: number): CatalogChange {
  const shard = shardOf(++lastShard);
  const put = catalog.repos.slice(0, count).map((repo, index) => {
    const part = { docStart: index, docEnd: index + 1, contentSize: 100 };
    return { ...repo, shards: [{ ...shard, part }, ...repo.shards.slice(2)] };
  });
  return { put };
}

void test('what is kept is what it would be anew', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { maxLength: 25 }), async (steps) => {
      const catalog = await openCatalog();
      const kept = serve(catalog);
      kept.served.publish();
      const holdings = new Holdings(catalog);
      for (const step of steps) {
        await catalog.commit(() => changeOf(catalog, step));
        if (step.count === 0) continue;
        kept.served.publishChanges();
        const fresh = serve(catalog);
        fresh.served.publish();
        assert.deepEqual(kept.snapshot(), fresh.snapshot());
        assert.deepEqual(holdings.all, new Holdings(catalog).all);
        const idsOf = (one: Holdings): string[] | undefined =>
          one.nextMerge(() => true, EAGER)?.map(({ shardId }) => shardId);
        assert.deepEqual(idsOf(holdings), idsOf(new Holdings(catalog)));
      }
    }),
    { numRuns: 60 },
  );
});

void test('what is hidden by something else than the catalog is hidden with the next change', async () => {
  const catalog = await openCatalog();
  await catalog.commit(() => ({ put: [1, 2].map((id) => repoOf(id, [shardOf(++lastShard)])) }));
  const { served, snapshot } = serve(catalog);
  served.publish();
  served.repoIds = new Set([2]);
  await catalog.commit(() => ({ put: [repoOf(2, [shardOf(++lastShard)])] }));
  served.publishChanges();
  assert.deepEqual(
    snapshot()?.repos.map(({ repoId }) => repoId),
    [2],
  );
  assert.equal(snapshot()?.shards.length, 1);
});

void test('one repo of many that changes: nothing is asked of the others', async () => {
  const catalog = await openCatalog();
  const shared = shardOf(++lastShard);
  const many = Array.from({ length: 1000 }, (_, index): CatalogRepo => {
    const part = { docStart: index, docEnd: index + 1, contentSize: 100 };
    return repoOf(index + 1, index < 500 ? [{ ...shared, part }] : [shardOf(++lastShard)]);
  });
  await catalog.commit(() => ({ put: many }));
  const { served, snapshot } = serve(catalog);
  served.publish();
  const holdings = new Holdings(catalog);
  holdings.nextMerge(() => true, EAGER);
  const before = snapshot()!;
  catalog.askedCount = 0;
  await catalog.commit(() => ({ put: [repoOf(700, [shardOf(++lastShard)])] }));
  served.publishChanges();
  holdings.nextMerge(() => true, EAGER);
  assert.ok(catalog.askedCount < 20, `asked for ${catalog.askedCount} repos`);
  assert.equal(snapshot()!.repos.length, 1000);
  // What others have is not made again.
  const known = new Set(before.shards);
  assert.equal(snapshot()!.shards.filter((shard) => !known.has(shard)).length, 1);
});

void test('what builds leave in the heaps of threads is given back while they go on', async () => {
  const index = await openIndexOf(temporaryFolder(), { findsSymbols: false });
  const { heap } = index.instance;
  assert.equal(heap.isWaiting, false);
  await index.index([makeRepo({ 'a.txt': 'plum\n' })], undefined, 'commits');
  assert.ok(heap.isWaiting || heap.trimCount > 0);
  await index.close();
});
