// Answers of parts, joined, are the answer of the whole: an index cut anywhere into parts that are searched apart.

import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import * as fc from 'fast-check';
import type { SearchRequest } from '../../../daemon/engine/query/request.ts';
import {
  joinAnswers,
  ownAnswer,
  type PartialAnswer,
} from '../../../daemon/engine/search/partial.ts';
import { prepareSearch } from '../../../daemon/engine/search/prepare.ts';
import { runSearch } from '../../../daemon/engine/search/run.ts';
import { repoOrderOf, ScopeView } from '../../../daemon/engine/search/scope.ts';
import {
  type Completed,
  completeSearch,
  showAnswer,
} from '../../../daemon/engine/search/service.ts';
import type { LiveShard, Snapshot } from '../../../daemon/engine/search/snapshot.ts';
import { Engine, environmentOf, repoRecord, requestOf, type TestDoc } from '../host/harness.ts';

const engine = await Engine.open();
after(() => engine.close());
const REPOS = ['zebra', 'apple', 'melon', 'beech'].map((name, i) => repoRecord(i + 1, name));

function docsOf(repoId: number, count: number): TestDoc[] {
  return Array.from({ length: count }, (_, doc) => ({
    path: `d${doc % 3}/f${doc}.${['go', 'ts', 'c'][doc % 3]}`,
    bytes: Buffer.from(`plum ${repoId} ${doc}\npear plum\n`.repeat((doc % 4) + 1)),
    tier: doc % 3,
  }));
}

const SHARDS: LiveShard[] = [
  ...REPOS.map((repo) => engine.shardOf(repo, docsOf(repo.repoId, 7))),
  engine.sharedShardOf(REPOS.map((repo) => ({ ...repo, docs: docsOf(repo.repoId, 4) }))),
  engine.shardOf(REPOS[1]!, docsOf(9, 20)),
];
const QUARANTINED = [{ ...engine.shardOf(REPOS[2]!, docsOf(3, 2)), reason: 'a test' }];

engine.publish(SHARDS, REPOS, QUARANTINED);

const QUERIES = ['plum', 'pear', 'plum pear', 'file:d1', 'plum -file:d1', 'p[a-z]+ \\d', 'absent'];

/** The answer of parts that end at these places, searched apart. */
async function joined(
  snapshot: Snapshot,
  query: string,
  matches: number,
  ends: readonly number[],
): Promise<Omit<Completed, 'prepared' | 'outcome'>> {
  const environment = environmentOf();
  const prepared = await prepareSearch(engine.parts, asked(query, matches), environment, snapshot);
  const { scope, run, render } = prepared;
  const bounds = [0, ...ends, scope.shards.length];
  const answers = await Promise.all(
    bounds.slice(1).map(async (end, part) => {
      const shards = scope.shards.slice(bounds[part], end);
      const quarantined = part === 0 ? scope.quarantined : [];
      const view = new ScopeView(engine.searcher, repoOrderOf(snapshot.repos), shards);
      const own = {
        ...prepared,
        scope: { shards, quarantined },
        view,
        render: {
          ...render,
          shards,
          repoOf: (shard: number, docId: number) => view.repoOf(shard, docId),
          tablesOf: (shard: number) => view.tablesOf(shard),
        },
      };
      const outcome = await runSearch(engine.searcher, engine.pool, { ...run, shards });
      return ownAnswer(own, outcome);
    }),
  );
  return showAnswer(joinAnswers(answers), prepared, environment, process.hrtime.bigint());
}

const asked = (query: string, matches: number): SearchRequest =>
  requestOf(query, {
    matches,
    contextLines: 1,
    isRegexEnabled: true,
    isCaseSensitivityEnabled: true,
  });

const TIMES = new Set(['duration', 'wait', 'matchTreeConstruction', 'matchTreeSearch']);

/** Everything but times. */
function comparable({
  files,
  numbers,
  reasons,
  answered,
}: Omit<Completed, 'prepared' | 'outcome'>) {
  const json = Buffer.alloc(files.sizeOf(0, files.count) + files.count);
  const end = files.writeTo(json, 0, 0, files.count);
  const counts = Object.entries(numbers).filter(([name]) => !TIMES.has(name));
  const { found, docs } = answered;
  const places = Array.from(docs, (doc) => [
    found.shard(doc),
    found.docId(doc),
    found.rangeMax(doc),
  ]);
  return { files: json.toString('utf8', 0, end), counts, reasons, places };
}

void test('an index searched in parts answers as one', async () => {
  let cutCount = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...QUERIES),
      fc.constantFrom(1, 3, 10, 40, 1000),
      fc.array(fc.nat(SHARDS.length), { minLength: 1, maxLength: 3 }),
      async (query, matches, cuts) => {
        const snapshot = engine.snapshots.acquire();
        const whole = await completeSearch(
          engine.parts,
          asked(query, matches),
          environmentOf(),
          snapshot,
        );
        const ends = cuts.toSorted((a, b) => a - b);
        const parts = await joined(snapshot, query, matches, ends);
        engine.snapshots.release(snapshot);
        assert.deepEqual(comparable(parts), comparable(whole));
        if (whole.reasons.includes('match_limit')) cutCount++;
      },
    ),
    { numRuns: 300 },
  );
  assert.ok(cutCount > 20, `${cutCount} answers were cut`);
});

void test('of the reasons why parts stopped the gravest is told, wherever it stands', () => {
  const part = (stop: PartialAnswer['outcome']['stop']): PartialAnswer => ({
    shards: [],
    quarantined: [],
    outcome: {
      bindings: [],
      headBindings: [],
      units: [],
      failures: [],
      times: [],
      firstUnitNs: undefined,
      headShards: [],
      stop,
    },
    docs: undefined as never,
    render: () => Promise.reject(new Error('nothing to render')),
  });
  const stopOf = (...stops: PartialAnswer['outcome']['stop'][]) =>
    joinAnswers(stops.map(part)).outcome.stop;
  assert.equal(stopOf(undefined, undefined), undefined);
  assert.equal(stopOf(undefined, 'deadline'), 'deadline');
  assert.equal(stopOf('deadline', 'failed', undefined), 'failed');
  assert.equal(stopOf('failed', 'deadline'), 'failed');
});
