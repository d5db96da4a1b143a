// The engine against the slow search (brute-force.ts): random corpora in several repos and shards, random
// queries, both builds of the core; every text of a small world; the worked example of API.md 7.4.
// TRAWL_FUZZ_RUNS: number of corpora; TRAWL_TEST_SEED: the seed, which is printed.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import {
  type Build,
  buildFromDisk,
  buildShard,
  coreModule,
  Engine,
  repoRecord,
  type TestDoc,
  temporaryFolder,
} from '../engine/harness.ts';
import type { QueryNode } from '../../daemon/query/tree.ts';
import { readExpression } from '../../daemon/search/expressions.ts';
import type { LiveShard } from '../../daemon/search/snapshot.ts';
import { checkAnswer, type OracleDoc } from './compare.ts';
import {
  type Corpus,
  corpusArbitrary,
  type OracleQuery,
  queryArbitrary,
  REPO_NAMES,
} from './corpora.ts';

const RUNS = Number(process.env['TRAWL_FUZZ_RUNS'] ?? 50);
const SEED = Number(process.env['TRAWL_TEST_SEED'] ?? Date.now() % 1_000_000);
const QUERIES_PER_CORPUS = 16;

interface Case {
  readonly corpus: Corpus;
  readonly queries: readonly {
    readonly query: OracleQuery;
    readonly matches: number;
    readonly contextLines: number;
    readonly isCaseSensitive: boolean;
  }[];
}

const caseArbitrary: fc.Arbitrary<Case> = corpusArbitrary.chain((corpus) =>
  fc.record({
    corpus: fc.constant(corpus),
    queries: fc.array(
      fc.record({
        query: queryArbitrary(corpus),
        matches: fc.constantFrom(1, 2, 3, 5, 17, 100_000, 100_000, 100_000),
        contextLines: fc.constantFrom(0, 0, 1, 2, 3),
        isCaseSensitive: fc.boolean(),
      }),
      { minLength: QUERIES_PER_CORPUS, maxLength: QUERIES_PER_CORPUS },
    ),
  }),
);

const REPOS = REPO_NAMES.map((name, index) => repoRecord(index + 1, name));

function shardsOf(module: WebAssembly.Module, folder: string, corpus: Corpus): LiveShard[] {
  return REPOS.flatMap((repo) =>
    [0, 1].flatMap((shard) => {
      const docs = corpus.docs.filter(
        (doc, index) => doc.repo === repo.name && corpus.shardOf[index] === shard,
      );
      return docs.length === 0 ? [] : [buildShard(module, folder, repo, docs)];
    }),
  );
}

for (const build of ['debug', 'release'] as const satisfies readonly Build[]) {
  void test(`random queries over random corpora, ${build}, seed ${SEED}`, async () => {
    const module = await coreModule(build);
    const folder = temporaryFolder();
    const engine = new Engine(module);
    let regexRunCount = 0;
    const property = fc.asyncProperty(caseArbitrary, async ({ corpus, queries }) => {
      engine.publish(shardsOf(module, folder, corpus), REPOS);
      for (const { query, ...options } of queries) {
        const { matches, contextLines, isCaseSensitive } = options;
        const answer = await engine.search(query.text, {
          matches,
          contextLines,
          isRegexEnabled: query.isRegexEnabled,
          isCaseSensitivityEnabled: isCaseSensitive,
        });
        try {
          checkAnswer(corpus.docs, { query: query.tree, ...options }, answer);
          regexRunCount += answer.stats['regexpsConsidered']!;
          if (answer.isSearchExhaustive) await checkFlipped(engine, query, options, answer);
        } catch (error) {
          const text = `${query.text} ${JSON.stringify(options)}`;
          throw new Error(`query ${text}: ${(error as Error).message}`, { cause: error });
        }
      }
    });
    try {
      await fc.assert(property, {
        numRuns: build === 'debug' ? Math.ceil(RUNS / 2) : RUNS,
        seed: SEED,
        interruptAfterTimeLimit: process.env['TRAWL_FUZZ_RUNS'] === undefined ? 12_000 : 3_600_000,
      });
      assert.ok(regexRunCount > 200, `${regexRunCount} runs of the regular expression engine`);
      assert.ok(comparedExpressions > 20, `S13 was checked for ${comparedExpressions} expressions`);
    } finally {
      await engine.close();
    }
  });
}

/** S13 and S15: letter case never changes what is looked up, nor do `whole` and context what is counted. */
async function checkFlipped(
  engine: Engine,
  { tree, text, isRegexEnabled }: OracleQuery,
  { contextLines, isCaseSensitive }: { contextLines: number; isCaseSensitive: boolean },
  { stats }: Awaited<ReturnType<Engine['search']>>,
): Promise<void> {
  const flipped = await engine.search(text, {
    isRegexEnabled,
    isCaseSensitivityEnabled: !isCaseSensitive,
  });
  // A path that only one of the two finds ends the looking up early.
  if (!text.includes('file:') && areReadAlike(tree)) {
    const lookups = [stats['ngramLookups']!, flipped.stats['ngramLookups']!];
    const [exact, folded] = isCaseSensitive ? lookups : lookups.reverse();
    // Case marks may rule a literal with capitals out, which ends the looking up early.
    if (/[A-Z]/.test(text)) assert.ok(exact! <= folded!, `S13: ${exact} > ${folded}`);
    else assert.equal(exact, folded, 'S13');
    if (isRegexEnabled && stats['ngramLookups']! > 0) comparedExpressions++;
  }
  const whole = await engine.search(text, {
    isRegexEnabled,
    isCaseSensitivityEnabled: isCaseSensitive,
    contextLines: contextLines + 1,
    whole: true,
  });
  for (const name of ['totalMatchCount', 'fileCount'])
    assert.equal(whole.stats[name], stats[name], 'S15');
  const { contentBytesLoaded, filesLoaded, filesConsidered } = whole.stats;
  assert.equal(contentBytesLoaded === 0, filesLoaded === 0, 'S5, whole');
  assert.ok(filesLoaded! <= filesConsidered!, 'S4, whole');
}

let comparedExpressions = 0;

/**
 * Whether each expression of a query is a choice of literals with and without regard to case, or in neither: only
 * literal search looks literals of one and two characters up.
 */
function areReadAlike(node: QueryNode): boolean {
  if (node.kind === 'not') return areReadAlike(node.child);
  if (node.kind === 'and' || node.kind === 'or') return node.children.every(areReadAlike);
  if (node.kind !== 'regex') return true;
  const [folded, exact] = [true, false].map((isFolded) => {
    const options = { position: 0, isFolded, subject: 'content' } as const;
    return readExpression(node.pattern, options).kind;
  });
  return folded === exact;
}

const text = (path: string, content: string): TestDoc & OracleDoc => ({
  path,
  bytes: Buffer.from(content),
  language: '',
  repo: REPO_NAMES[0]!,
  tier: 0,
});

const FRUITS = [
  text('a.txt', 'red plum jam\n'),
  text('b.txt', 'green pear tart\n'),
  text('c.txt', 'plum and pear pie\n'),
];

type Bounds = number | readonly [least: number, most: number];
const COLUMNS = [
  'totalMatchCount',
  'fileCount',
  'filesConsidered',
  'filesLoaded',
  'contentBytesLoaded',
  'ngramLookups',
  'ngramMatches',
  'regexpsConsidered',
] as const;

/** API.md 7.4; the last two columns are shards scanned and ruled out, undefined: either. */
const WORKED: readonly [string, string, readonly Bounds[], (readonly [number, number])?][] = [
  ['jam', 'K', [1, 1, 1, 1, 13, 1, 1, 0], [1, 0]],
  ['JAM', 'K', [1, 1, 1, 1, 13, 1, 1, 0], [1, 0]],
  ['JAM', 'KS', [0, 0, 1, 1, 13, 1, 1, 0], [1, 0]],
  ['zzz', 'K', [0, 0, 0, 0, 0, 1, 0, 0], [0, 1]],
  ['pear', 'K', [2, 2, 2, 2, 34, [1, 2], 2, 0], [1, 0]],
  ['pear pie', 'K', [2, 1, [1, 2], [1, 2], [18, 34], [1, 3], [1, 2], 0], [1, 0]],
  ['pear or jam', 'K', [3, 3, 3, 3, 47, [2, 3], 3, 0], [1, 0]],
  ['jam pie', 'K', [0, 0, [0, 1], [0, 1], [0, 18], [1, 2], [0, 1], 0]],
  ['p[a-z]+r', 'R', [2, 2, 3, 3, 47, 0, 0, 3], [1, 0]],
  ['P[a-z]+R', 'R', [2, 2, 3, 3, 47, 0, 0, 3], [1, 0]],
  ['zzz+', 'R', [0, 0, 0, 0, 0, 1, 0, 0], [0, 1]],
  ['pea.$', 'R', [0, 0, 2, 2, 34, 1, 2, 2], [1, 0]],
  ['(jam|pie)', 'R', [2, 2, 2, 2, 31, 2, 2, 0], [1, 0]],
  [String.raw`file:c\.txt`, 'K', [1, 1, [1, 3], 0, 0, [0, 3], 0, 0], [1, 0]],
  ['-file:txt', 'K', [0, 0, [0, 3], 0, 0, [0, 1], 0, 0]],
];

void test('the worked example of the statistics', async (t) => {
  const module = await coreModule('release');
  const engine = new Engine(module);
  const folder = temporaryFolder();
  const memory = buildShard(module, folder, REPOS[0]!, FRUITS);
  const disk = await buildFromDisk(module, folder, REPOS[0]!, FRUITS);
  for (const [name, shards] of Object.entries({ memory: [memory], disk })) {
    engine.publish(shards, REPOS);
    for (const [query, mode, bounds, classes] of WORKED) {
      await t.test(`${query} ${mode}, built from ${name}`, async () => {
        const { stats, isSearchExhaustive } = await engine.search(query, {
          matches: 100,
          isRegexEnabled: mode === 'R',
          isCaseSensitivityEnabled: mode === 'KS',
        });
        for (const [index, column] of COLUMNS.entries()) {
          const bound = bounds[index]!;
          const [least, most] = typeof bound === 'number' ? [bound, bound] : bound;
          const value = stats[column]!;
          assert.ok(value >= least && value <= most, `${column}: ${value}`);
        }
        const scanned = [stats['shardsScanned'], stats['shardsSkippedFilter']];
        if (classes !== undefined) assert.deepEqual(scanned, classes);
        assert.equal(scanned[0]! + scanned[1]!, 1);
        assert.equal(stats['shardFilesConsidered'], 3);
        assert.equal(stats['crashes']! + stats['filesSkipped']! + stats['shardsSkipped']!, 0);
        assert.equal(isSearchExhaustive, true);
      });
    }
  }
  await engine.close();
});
