// Hints on another letter case over random corpora with characters that fold into ASCII: the search without regard to case is
// left out only where it finds nothing (Binding.mayMatchFolded), and hints are the same as with it.
// TRAWL_FUZZ_RUNS: number of corpora.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { seededRandom } from '../../../bench/samples.ts';
import type { SearchRequest } from '../../../daemon/engine/query/request.ts';
import { foldVariants } from '../../../daemon/engine/regex/fold.ts';
import { QueryError } from '../../../daemon/engine/regex/query-error.ts';
import { parseQuery } from '../../../daemon/engine/query/parser.ts';
import { revisionHints } from '../../../daemon/engine/search/revision-hints.ts';
import { answerHints } from '../../../daemon/engine/search/near-hints.ts';
import { prepareSearch } from '../../../daemon/engine/search/prepare.ts';
import { type Completed, completeSearch, search } from '../../../daemon/engine/search/search.ts';
import type { Snapshot } from '../../../daemon/engine/search/snapshot.ts';
import { mayMatchFolded } from '../../../daemon/engine/search/totals.ts';
import { caseArbitrary, REPOS, shardsOf } from '../../oracle/random-case.ts';
import {
  encodedPlan,
  Engine,
  environmentOf,
  permitOf,
  REPO,
  requestOf,
  streamEvents,
} from '../host/harness.ts';
import type { RepoRecord } from '../../../daemon/repos/records.ts';
import { SEED } from '../../seed.ts';

const RUNS = Number(process.env['TRAWL_FUZZ_RUNS'] ?? 25);
const TIME_MAX_MS = process.env['TRAWL_FUZZ_RUNS'] === undefined ? 120_000 : 3_600_000;

/** The query with other cases of some characters of its quoted parts, and at times one that is nowhere. */
function recased(query: string, seed: number): string {
  const random = seededRandom(seed);
  return query.replaceAll(/"(?:[^"\\]|\\.)*"/gsu, (quoted) => {
    const shares = [random(), random() / 4];
    return quoted.replaceAll(/\\.|[^"]/gsu, (one) => {
      if (one.length > 1 && one.startsWith('\\')) return one;
      const variants = foldVariants(one.codePointAt(0)!);
      if (random() < shares[1]!) return 'q';
      return random() < shares[0]!
        ? String.fromCodePoint(variants[Math.floor(random() * variants.length)]!)
        : one;
    });
  });
}

/** Docs that match in a shard. */
function countDocs(engine: Engine, shardId: string): number {
  const { unitCount } = engine.searcher.bind(shardId);
  let count = 0;
  for (let unit = 0; unit < unitCount; unit++)
    count += engine.searcher.searchUnit(unit).rows.length;
  return count / 4;
}

interface Tally {
  /** Searches without matches, and of those: answered without a search that the hints would need; with a hint on case. */
  emptyCount: number;
  savedCount: number;
  hintedCount: number;
  /** Shards in which nothing can match, whatever the case. */
  excludedCount: number;
}

/** On a busy machine hints may lack searches; that takes their whole time, 200 ms, and is done again. */
async function inTime<Value>(work: () => Promise<Value>): Promise<Value> {
  for (;;) {
    const beganMs = performance.now();
    const value = await work();
    if (performance.now() - beganMs < 190) return value;
  }
}

/** Errors: what differs. */
async function checkHints(
  engine: Engine,
  snapshot: Snapshot,
  request: SearchRequest,
  tally: Tally,
): Promise<void> {
  const { parts } = engine;
  const environment = environmentOf();
  const completed = await completeSearch(parts, request, environment, snapshot);
  const hintsWith = async (mayMatch: boolean) => {
    let searchCount = 0;
    const search = (...options: Parameters<typeof completeSearch>): Promise<Completed> => {
      searchCount++;
      return completeSearch(...options);
    };
    const { prepared, numbers, reasons } = completed;
    const matchCount = numbers.totalMatchCount;
    const found = { matchCount, isExhaustive: reasons.length === 0, mayMatchFolded: mayMatch };
    const inputs = { parts, request, environment, snapshot, prepared, found, search };
    const { hints = [] } = await answerHints(inputs);
    return { hints, searchCount };
  };
  const { shards } = completed.totals;
  const all = await inTime(() => hintsWith(true));
  const some = await inTime(() => hintsWith(mayMatchFolded(shards)));
  assert.deepEqual(some.hints, all.hints);
  if (completed.numbers.totalMatchCount === 0) tally.emptyCount++;
  if (some.searchCount < all.searchCount) tally.savedCount++;
  if (all.hints.some(({ message }) => message.startsWith('Without regard'))) tally.hintedCount++;
  type Final = { readonly hints?: typeof all.hints };
  const events = await inTime(() => streamEvents<Final>(parts, request));
  assert.deepEqual(events.at(-1)?.hints ?? [], all.hints);
  const folded = { ...request, isCaseSensitivityEnabled: false };
  const { run } = await prepareSearch(parts, folded, environment, snapshot);
  engine.searcher.beginPlan(run.encodedPlan);
  for (const { shard, binding } of shards) {
    if (binding?.mayMatchFolded !== false) continue;
    tally.excludedCount++;
    assert.equal(countDocs(engine, completed.prepared.scope.shards[shard]!.shardId), 0);
  }
}

void test(`no match in any case of letters: random queries, seed ${SEED}`, async () => {
  await using engine = await Engine.open();
  const tally: Tally = { emptyCount: 0, savedCount: 0, hintedCount: 0, excludedCount: 0 };
  const property = fc.asyncProperty(caseArbitrary, fc.nat(), async ({ corpus, queries }, seed) => {
    engine.publish(shardsOf(engine.module, engine.folder, corpus), REPOS);
    const snapshot = engine.snapshots.acquire();
    for (const [index, { query }] of queries.entries()) {
      const text = recased(query.text, seed + index);
      const { isRegexEnabled } = query;
      const request = requestOf(text, { isRegexEnabled, isCaseSensitivityEnabled: true });
      try {
        await checkHints(engine, snapshot, request, tally);
      } catch (error) {
        // Such as a range that runs backwards in another case.
        if (error instanceof QueryError) continue;
        throw new Error(`query ${text}: ${(error as Error).message}`, { cause: error });
      }
    }
    engine.snapshots.release(snapshot);
  });
  await fc.assert(property, { numRuns: RUNS, seed: SEED, interruptAfterTimeLimit: TIME_MAX_MS });
  assert.ok(tally.savedCount > RUNS, JSON.stringify(tally));
  assert.ok(tally.hintedCount > RUNS / 2, JSON.stringify(tally));
});

void test('whether a word may match in another case, by shard', async () => {
  await using engine = await Engine.open();
  const doc = (path: string, text: string) => ({ path, bytes: Buffer.from(text), language: 'Go' });
  const kernels = [doc('src/plum_tree.go', 'Kiwi kiwi KIWI\n'), doc('b.go', 'kiwi pear\n')];
  const shard = engine.shardOf(REPO, kernels);
  engine.publish([shard], [REPO]);
  const mayMatch = (query: string, isRegexEnabled = false): boolean => {
    engine.searcher.setPlan(encodedPlan(query, isRegexEnabled, [], true));
    const binding = engine.searcher.bind(shard.shardId);
    assert.equal(binding.candidateDocs, 0, query);
    return binding.mayMatchFolded;
  };
  // Grams that no block and no path has.
  for (const query of [
    'quince',
    'QUINCE',
    'c:kiwis',
    'quince or peach',
    'kiwi quince',
    'lang:C++ k',
  ])
    assert.equal(mayMatch(query), false, query);
  for (const query of ['quince', 'quince|peach', 'file:quince', 'KIWI file:quince'])
    assert.equal(mayMatch(query, true), false, query);
  // Ruled out by case marks, by paths, and what is not known.
  for (const query of ['KiWi', '\u212aiWi', 'PLUM_tree', 'KiWi quince', 'KiWi or quince', 'QU'])
    assert.equal(mayMatch(query), true, query);
  for (const query of ['KiWi|quince', 'file:PLUM', 'sym:quince'])
    assert.equal(mayMatch(query, true), true, query);
});

void test('a request that has waited for long gets hints, too', async () => {
  await using engine = await Engine.over([{ path: 'a.txt', bytes: Buffer.from('plum\n') }]);
  const request = requestOf('Plum', { isCaseSensitivityEnabled: true });
  const environment = environmentOf({ permit: permitOf(performance.now() - 5000) });
  // Searches for hints may be late on a busy machine.
  for (let attempt = 0; attempt < 20; attempt++) {
    const { json } = await search(engine.parts, request, environment);
    assert.ok(json instanceof Uint8Array);
    const { hints } = JSON.parse(Buffer.from(json).toString()) as { hints?: unknown[] };
    if (hints !== undefined) return;
  }
  assert.fail('no hint on case');
});

void test('an incomplete search that found nothing makes no claims, and searches no more', async () => {
  await using engine = await Engine.over([{ path: 'a.txt', bytes: Buffer.from('plum\n') }]);
  const { parts } = engine;
  const request = requestOf('plum file:b');
  const environment = environmentOf();
  const snapshot = engine.snapshots.acquire();
  const { prepared } = await completeSearch(parts, request, environment, snapshot);
  const found = { matchCount: 0, isExhaustive: false, mayMatchFolded: true };
  const search = () => assert.fail('searches again');
  const inputs = { parts, request, environment, snapshot, prepared, found, search };
  assert.deepEqual(await answerHints(inputs), {});
  engine.snapshots.release(snapshot);
});

void test('what git knows is not said of repos that are not indexed yet', () => {
  const query = parseQuery('rev:dev', { isRegexEnabled: false, isFolded: true });
  const { indexedAt: _, ...waiting } = REPO;
  const hints = (...repos: RepoRecord[]) => revisionHints(query, 'rev:dev', repos, true, new Set());
  assert.deepEqual(hints(waiting), []);
  assert.doesNotMatch(hints(REPO, waiting)[0]!.message, /git/);
  assert.match(hints(REPO)[0]!.message, /git knows no such revision/);
});
