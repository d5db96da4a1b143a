// Changes of a few repos cost only their own size: what searches see, and the next merge, is updated incrementally,
// and always equals a fresh computation.
// tier: ci (long)

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import * as fc from 'fast-check';
import { createLog } from '../../daemon/base/log.ts';
import type { Snapshot } from '../../daemon/engine/search/snapshot.ts';
import { RevisionWriter, revisionFileId } from '../../daemon/engine/shards/revisions.ts';
import { Catalog } from '../../daemon/index/catalog/catalog.ts';
import type {
  CatalogChange,
  CatalogRepo,
  CatalogShard,
} from '../../daemon/index/catalog/catalog-records.ts';
import { Holdings } from '../../daemon/index/merge/holdings.ts';
import { Served, type ServedOptions } from '../../daemon/index/served/served.ts';
import { shardIdOf } from '../../daemon/index/served/visible-index.ts';
import { repoRecord } from '../repos/record.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { openIndexOf } from '../sync/index-of.ts';
import { EAGER } from './merge-limits.ts';

const DOCS = 10;
const SYMBOLS = { size: 100, symbolCount: 1, fileCount: 1, failedCount: 0, foundBy: 'x' };
const FOLDER = temporaryFolder();
let catalogCount = 0;

/** A catalog that counts for how many repos it was asked. */
class CountingCatalog extends Catalog {
  requestCount = 0;

  override get repos(): readonly CatalogRepo[] {
    this.requestCount += super.repos.length;
    return super.repos;
  }

  override reposOfShard(shardId: string): readonly CatalogRepo[] {
    const repos = super.reposOfShard(shardId);
    this.requestCount += repos.length;
    return repos;
  }

  override revisionsOf(repo: CatalogRepo): ReturnType<Catalog['revisionsOf']> {
    this.requestCount++;
    return super.revisionsOf(repo);
  }
}

async function openCatalog(): Promise<CountingCatalog> {
  const catalog = new CountingCatalog(path.join(FOLDER, String(catalogCount++)));
  mkdirSync(catalog.shardFolder, { recursive: true });
  await catalog.load(true);
  return catalog;
}

interface ServedWorld {
  readonly served: Served;
  readonly snapshot: () => Snapshot | undefined;
}

function serve(
  catalog: Catalog,
  rules: Pick<ServedOptions, 'isConnected' | 'connected'> = {},
): ServedWorld {
  let snapshot: Snapshot | undefined;
  // What is out of service is told on purpose.
  const log = createLog({ level: 'error', format: 'text', write: () => {} });
  const served = new Served({
    catalog,
    log,
    publish: (next) => {
      snapshot = next;
      return [];
    },
    onDamage: () => {},
    onSymbolsLost: () => {},
    ...rules,
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
  const indexedAt = new Date(1_800_000_000_000 + lastShard).toISOString();
  const record = { ...repoRecord(repoId, `host/${repoId}`), indexedAt };
  return { record, shards: [...shards], skipped: {} };
}

/** As `repoOf`, with two revisions that a file says the docs of. */
function revisedRepoOf(repoId: number, count: number): { repo: CatalogRepo; file: Buffer } {
  const shards = Array.from({ length: count }, () => shardOf(++lastShard));
  const writer = new RevisionWriter(shards.map(() => ({ docCount: DOCS, unstored: [] })));
  for (const byte of [0b1011, 0b0110]) writer.add(shards.map(() => Uint8Array.of(byte, 1)));
  const file = writer.bytes();
  const repo = repoOf(repoId, shards);
  const record = { ...repo.record, revisions: ['refs/heads/main', 'refs/heads/dev'] };
  return { repo: { ...repo, record, revisionFile: revisionFileId(file) }, file };
}

interface Step {
  readonly kind: keyof typeof CHANGES | 'quarantine' | 'serve';
  readonly repoId: number;
  readonly count: number;
  /** Searches see it at once, not together with what follows. */
  readonly isVisible: boolean;
}

let lastShard = 0;

type Change = (
  catalog: Catalog,
  step: Pick<Step, 'repoId' | 'count'>,
) => Promise<CatalogChange> | CatalogChange;

const CHANGES: Readonly<
  Record<'build' | 'again' | 'remove' | 'share' | 'stray' | 'revise' | 'blind' | 'symbols', Change>
> = {
  build: (_, { repoId, count }) => ({ put: [builtRepoOf(repoId, count)] }),
  /** It goes, and is another one at once. */
  again: (_, { repoId, count }) => ({ removed: [repoId], put: [builtRepoOf(repoId, count)] }),
  remove: (_, { repoId }) => ({ removed: [repoId] }),
  share: (catalog, { count }) => shareOf(catalog, count + 2),
  stray: (catalog, { repoId, count }) => {
    const existing = catalog.repo(repoId);
    if (existing === undefined) return {};
    const { isStray: _, ...rest } = existing;
    return { put: [count > 1 ? { ...rest, isStray: true } : rest] };
  },
  /** Repos of so many shards have the same file. */
  revise: async (catalog, { repoId, count }) => {
    const { repo, file } = revisedRepoOf(repoId, count);
    await catalog.writeRevisions(file);
    return { put: [repo] };
  },
  /** Its file is not there, unless another repo has the same. */
  blind: (_, { repoId, count }) => ({ put: [revisedRepoOf(repoId, count).repo] }),
  symbols: (catalog, { repoId }) => {
    const shardId = catalog.repo(repoId)?.shards[0]?.shardId ?? '';
    const symbols = { ...SYMBOLS, symbolsId: idOf(++lastShard) };
    const put = catalog.reposOfShard(shardId).map((repo) => ({
      ...repo,
      shards: repo.shards.map((one) => (one.shardId === shardId ? { ...one, symbols } : one)),
    }));
    return { put };
  },
};

const KINDS: readonly Step['kind'][] = [
  ...(['build', 'build', 'build', 'share', 'share', 'again', 'remove', 'stray'] as const),
  ...(['revise', 'blind', 'symbols', 'quarantine', 'serve'] as const),
];

const STEP = fc.record<Step>({
  kind: fc.constantFrom(...KINDS),
  repoId: fc.integer({ min: 1, max: 4 }),
  count: fc.integer({ min: 0, max: 3 }),
  isVisible: fc.boolean(),
});

function builtRepoOf(repoId: number, count: number): CatalogRepo {
  return repoOf(
    repoId,
    Array.from({ length: count }, () => shardOf(++lastShard)),
  );
}

/** So many repos from now on have their docs in one shard, as after a merge. */
function shareOf(catalog: Catalog, count: number): CatalogChange {
  const shard = shardOf(++lastShard);
  const plain = catalog.repos.filter(({ revisionFile }) => revisionFile === undefined);
  const put = plain.slice(0, count).map((repo, index) => {
    const part = { docStart: index, docEnd: index + 1, contentSize: 100 };
    return { ...repo, shards: [{ ...shard, part }, ...repo.shards.slice(2)] };
  });
  return { put };
}

async function take(catalog: Catalog, served: Served, step: Step): Promise<void> {
  const { kind, repoId, count } = step;
  if (kind === 'serve') {
    served.repoIds = new Set([1, 2, 3, 4].filter((id) => id % 4 !== count));
  } else if (kind === 'quarantine') {
    const shard = catalog.repo(repoId)?.shards[0];
    if (shard !== undefined) served.quarantine(shard.shardId, 'for the test');
  } else {
    const change = await CHANGES[kind](catalog, step);
    const former = await catalog.commit(() => change);
    // Files that nobody has any more go.
    await catalog.unpin(
      former.flatMap(({ revisionFile }) => catalog.revisionPath(revisionFile ?? '')),
    );
  }
}

function revisionsHaving({ repos }: Catalog, shardId: string): CatalogRepo[] {
  return repos.filter(({ shards }) => shards.some((shard) => shard.shardId === shardId));
}

/** Whatever time it is. */
function candidatesOf(holdings: Holdings): unknown[] {
  return holdings.all.map((holding) => {
    const candidate = holdings.candidateOf(holding);
    return candidate && { ...candidate, restMs: candidate.restMs > 0 };
  });
}

void test('incremental state equals a fresh one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { maxLength: 25, size: 'max' }), async (steps) => {
      const catalog = await openCatalog();
      const kept = serve(catalog);
      kept.served.publish();
      const holdings = new Holdings(catalog);
      for (const step of steps) {
        await take(catalog, kept.served, step);
        if (!step.isVisible) continue;
        kept.served.publishChanges();
        const fresh = serve(catalog);
        fresh.served.repoIds = kept.served.repoIds;
        fresh.served.publish();
        assert.deepEqual(kept.snapshot(), fresh.snapshot());
        assert.deepEqual(holdings.all, new Holdings(catalog).all);
        for (const { shard, repos } of holdings.all)
          assert.deepEqual(repos, revisionsHaving(catalog, shard.shardId));
        const { shards } = kept.snapshot()!;
        assert.ok(!shards.some(({ shardId }) => kept.served.isOut(shardIdOf(shardId))));
        assert.deepEqual(candidatesOf(holdings), candidatesOf(new Holdings(catalog)));
        const idsOf = (one: Holdings): string[] | undefined =>
          one.nextMerge(() => true, EAGER)?.map(({ shardId }) => shardId);
        assert.deepEqual(idsOf(holdings), idsOf(new Holdings(catalog)));
      }
    }),
    { numRuns: 60 },
  );
});

void test('repos removed from all connections are hidden with the next change of another repo', async () => {
  const catalog = await openCatalog();
  await catalog.commit(() => ({ put: [1, 2].map((id) => builtRepoOf(id, 1)) }));
  let connected = new Set([1, 2]);
  const { served, snapshot } = serve(catalog, {
    isConnected: (repoId) => connected.has(repoId),
    connected: () => connected,
  });
  served.publish();
  connected = new Set([2]);
  await catalog.commit(() => ({ put: [builtRepoOf(2, 1)] }));
  served.publishChanges();
  const visible = snapshot()!.repos.map(({ repoId }) => repoId);
  assert.deepEqual(visible, [2]);
});

void test('symbols out of service stay so when their repo changes', async () => {
  const catalog = await openCatalog();
  const shard = { ...shardOf(++lastShard), symbols: { ...SYMBOLS, symbolsId: idOf(++lastShard) } };
  await catalog.commit(() => ({ put: [repoOf(1, [shard])] }));
  const { served, snapshot } = serve(catalog);
  served.publish();
  const { shardId } = snapshot()!.shards[0]!;
  for (let i = 0; i < 2; i++) served.noteShardFailure(shardId, 'for the test');
  assert.equal(served.isSymbolless(shard.shardId), true);
  await catalog.commit(() => ({ put: [repoOf(1, [shard, shardOf(++lastShard)])] }));
  served.publishChanges();
  const symbols = snapshot()!.shards.map((one) => one.symbols);
  assert.deepEqual(symbols, [undefined, undefined]);
});

void test('a change of one of many repos does not read the others', async () => {
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
  for (const repoId of Array.from({ length: 30 }, (_, index) => 701 + index).concat(700)) {
    catalog.requestCount = 0;
    await catalog.commit(() => ({ put: [builtRepoOf(repoId, 1)] }));
    served.publishChanges();
    holdings.nextMerge(() => true, EAGER);
  }
  assert.ok(catalog.requestCount < 20, `asked for ${catalog.requestCount} repos`);
  assert.equal(snapshot()!.repos.length, 1000);
  // What others have is not made again.
  const existing = new Set(before.shards);
  assert.equal(snapshot()!.shards.filter((shard) => !existing.has(shard)).length, 31);
});

void test('heap garbage of builds is released while they continue', async () => {
  const index = await openIndexOf(temporaryFolder());
  const { heap } = index.instance;
  assert.equal(heap.isWaiting, false);
  await index.index([makeRepo({ 'a.txt': 'plum\n' })], undefined, 'commits');
  assert.ok(heap.isWaiting || heap.trimCount > 0);
  await index.close();
});
