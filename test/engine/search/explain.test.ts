// Explanations of real searches: their numbers equal those of the search, the shards add up to them, each class of
// shard has its reason, the plan shows what each condition leaves, and expressions name their engine.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test, { after } from 'node:test';
import { HEADER_SIZE } from '../../../core/shared/format.ts';
import type { Explanation, ShardRow } from '../../../daemon/engine/search/explain.ts';
import type { LiveShard } from '../../../daemon/engine/search/snapshot.ts';
import type { SearchRequest } from '../../../daemon/engine/query/request.ts';
import { buildShard, coreModule, Engine, repoRecord, temporaryFolder } from '../host/harness.ts';
import type { TestDoc } from '../host/harness.ts';

const module = await coreModule('release');
const folder = temporaryFolder();
const REPOS = [repoRecord(1, 'host/fruit'), repoRecord(2, 'host/code')];
const [FRUIT, CODE] = REPOS as [(typeof REPOS)[0], (typeof REPOS)[0]];

function doc(path: string, text: string, language = ''): TestDoc {
  return { path, bytes: Buffer.from(text), language };
}

const FRUITS = [
  doc('a.txt', 'red plum jam\n'),
  doc('b.txt', 'green pear tart\n'),
  doc('c.txt', 'plum and pear pie\n'),
];
const FUNCTIONS = Array.from({ length: 40 }, (_, i) =>
  doc(`src/f${i}.go`, `func plum${i}() {}\n`.repeat(i + 1), 'Go'),
);
const fruit = buildShard(module, folder, FRUIT, FRUITS);
const shards = [
  fruit,
  buildShard(module, folder, CODE, FUNCTIONS),
  buildShard(module, folder, CODE, [doc('readme', 'a pear\n'), doc('big', 'plum\n'.repeat(9000))]),
];

const engines: Engine[] = [];
after(() => Promise.all(engines.map((engine) => engine.close())));

function newEngine(options: ConstructorParameters<typeof Engine>[1] = {}): Engine {
  const engine = new Engine(module, options);
  engines.push(engine);
  return engine;
}

function engineOver(searched: readonly LiveShard[]): Engine {
  const engine = newEngine();
  engine.publish(searched, REPOS);
  return engine;
}

/** Times of the search as a whole, which have no shares. */
const TIMES = ['duration', 'wait'];
const WORK_TIMES = ['matchTreeConstruction', 'matchTreeSearch'];

/** The numbers of a `stats` object that shards add up to. */
function countsIn(stats: object): Record<string, number> {
  const counts = Object.entries(stats).filter(
    ([name, value]) => typeof value === 'number' && !TIMES.includes(name),
  );
  return Object.fromEntries(counts);
}

/** Those that do not depend on the clock. */
function withoutTimes(stats: object): Record<string, number> {
  const counts = Object.entries(countsIn(stats)).filter(([name]) => !WORK_TIMES.includes(name));
  return Object.fromEntries(counts);
}

/** Checks that the rows of an explanation add up to its numbers, and the classes to their counts. */
function checkSums({ shards: rows = [], stats, totals }: Explanation): void {
  const counts = countsIn(stats);
  for (const [field, value] of Object.entries(counts)) {
    const sum = rows.reduce((total, row) => total + countsIn(row.stats)[field]!, 0);
    assert.equal(sum, value, field);
    assert.equal(totals[field], value, field);
  }
  assert.equal(rows.length, totals['shardsEligible']);
  assert.equal(
    rows.reduce((sum, row) => sum + row.docs, 0),
    totals['docsInScope'],
  );
  const classCount = (name: string): number => rows.filter((row) => row.class === name).length;
  assert.equal(classCount('scanned'), counts['shardsScanned']);
  assert.equal(classCount('skipped'), counts['shardsSkipped']);
  assert.equal(classCount('skipped_filter'), counts['shardsSkippedFilter']);
  assert.equal(classCount('crashed'), counts['crashes']);
}

/** `class: reason` of each row. */
function reasonsOf({ shards: rows }: { readonly shards: readonly ShardRow[] }): string[] {
  return rows.map((row) => `${row.class}: ${row.reason}`);
}

const REQUESTS: readonly (readonly [query: string, more?: Partial<SearchRequest>])[] = [
  ['plum'],
  ['PLUM', { isCaseSensitivityEnabled: true }],
  ['pear pie'],
  ['pear or jam'],
  ['zzz'],
  ['p'],
  ['pl -(jam)'],
  ['repo:fruit plum'],
  ['repo:none plum'],
  ['lang:go func'],
  ['file:txt$'],
  ['-()'],
  ['()'],
  ['plum', { matches: 3 }],
  ['plum', { whole: true, contextLines: 3 }],
  ['pear', { whole: true }],
  ['p[a-z]+m', { isRegexEnabled: true }],
  ['file:f[13]+ (func|jam) x*', { isRegexEnabled: true }],
  ['rev:HEAD plum'],
  ['rev:none plum'],
];

for (const inlineNs of [0n, 10n ** 12n]) {
  void test(`rows add up to the numbers of the search, ${inlineNs === 0n ? 'in the pool' : 'on this thread'}`, async () => {
    const engine = newEngine({ inlineNs, workers: 2 });
    engine.publish(shards, REPOS);
    for (const [query, more] of REQUESTS) {
      const explained = await engine.explain(query, more);
      checkSums(explained);
      const { stats, isSearchExhaustive, incompleteReasons } = await engine.search(query, more);
      assert.deepEqual(withoutTimes(explained.stats), withoutTimes(stats), query);
      for (const row of explained.shards) {
        if (row.class !== 'scanned') continue;
        for (const name of WORK_TIMES)
          assert.ok(countsIn(row.stats)[name]! > 0, `${query} ${name}`);
      }
      assert.equal(explained.isSearchExhaustive, isSearchExhaustive);
      assert.deepEqual(explained.incompleteReasons, incompleteReasons);
      assert.equal(
        shards.length - explained.totals['shardsEligible']!,
        explained.totals['shardsOutOfScope'],
      );
    }
  });
}

void test('each class of shard and its reason', async () => {
  const engine = engineOver(shards);
  const cases: readonly (readonly [
    query: string,
    reasons: readonly string[],
    more?: Partial<SearchRequest>,
  ])[] = [
    [
      'pear',
      [
        'scanned: candidate docs: 2',
        'skipped_filter: no block contains text:"pear"',
        'scanned: candidate docs: 1',
      ],
    ],
    ['lang:go repo:fruit', ['skipped_filter: no doc of language Go']],
    ['repo:fruit jam pie', ['skipped_filter: no doc passes all conditions together']],
    [
      'repo:fruit (zzz or lang:go)',
      ['skipped_filter: no block contains text:"zzz"; no doc of language Go'],
    ],
    ['repo:fruit file:\\.go$', ['skipped_filter: no path for file:".go"$']],
    ['repo:fruit file:\\.g+o$', ['skipped_filter: no path for file:/\\.g+o$/']],
    ['repo:fruit -file:txt', ['skipped_filter: every doc is excluded by a negation']],
    ['repo:fruit rev:none', ['skipped_filter: no doc in rev:"none"']],
    ['repo:fruit qz', ['skipped_filter: no block contains text:"qz"']],
    [
      'repo:fruit zzz+',
      ['skipped_filter: no block contains the texts required by regex:/zzz+/'],
      { isRegexEnabled: true },
    ],
    [
      'plum',
      ['scanned: candidate docs: 2', 'scanned: candidate docs: 40', 'skipped: limit reached'],
      { matches: 5 },
    ],
  ];
  for (const [query, reasons, more] of cases) {
    const explained = await engine.explain(query, more);
    assert.deepEqual(reasonsOf(explained), reasons, query);
    checkSums(explained);
  }
});

void test('a shard out of service, and a failing one', async () => {
  const damaged = buildShard(module, folder, CODE, [doc('big', 'plum pear\n'.repeat(2000))]);
  const bytes = readFileSync(damaged.path);
  // In the middle of the content, so that it can be opened.
  writeFileSync(damaged.path, bytes.fill(0xff, HEADER_SIZE + 9000, HEADER_SIZE + 9001));
  const engine = newEngine({ wantsRead: true });
  const reason = `shard ${shards[1]!.shardId}: checksum of section 4`;
  engine.publish([fruit, damaged], REPOS, [{ ...shards[1]!, reason }]);
  const explained = await engine.explain('plum');
  assert.deepEqual(reasonsOf(explained), [
    'scanned: candidate docs: 2',
    'crashed: page 3 is damaged or cannot be read',
    'skipped: quarantined: checksum of section 4',
  ]);
  checkSums(explained);
  assert.deepEqual(explained.incompleteReasons, ['shard_crashed', 'shard_quarantined']);
  assert.deepEqual(engine.failures.length, 1);
});

void test('the plan of the worked corpus: conditions with their blocks and docs', async () => {
  const engine = engineOver([fruit]);
  const gram = (text: string): object => ({ kind: 'gram', gram: text });
  const jam = {
    kind: 'content',
    condition: 'text:"jam"',
    blocks: 1,
    docs: 1,
    shardsScanned: 0,
    grams: gram('jam'),
  };
  const pear = {
    kind: 'content',
    condition: 'text:"pear"',
    blocks: 2,
    docs: 2,
    shardsScanned: 0,
    grams: { kind: 'and', children: [gram('pea'), gram('ear')] },
  };
  const scan = { kind: 'content', blocks: 0, docs: 3, shardsScanned: 1, grams: { kind: 'scan' } };
  const cases: readonly (readonly [string, object, boolean?])[] = [
    ['jam', jam],
    ['JAM', { ...jam, condition: 'text:"JAM"' }],
    ['pear or jam', { kind: 'or', children: [pear, jam] }],
    ['-(jam)', { kind: 'not', children: [jam] }],
    ['zzz', { ...jam, condition: 'text:"zzz"', blocks: 0, docs: 0, grams: gram('zzz') }],
    ['qz', { ...jam, condition: 'text:"qz"', blocks: 0, docs: 0, grams: gram('qz') }],
    ['p', { ...scan, condition: 'text:"p"' }],
    ['p[a-z]+r', { ...scan, condition: 'regex:/p[a-z]+r/' }, true],
    [
      'plu.*(jam|pie)',
      {
        kind: 'content',
        condition: 'regex:/plu.*(jam|pie)/',
        blocks: 2,
        docs: 2,
        shardsScanned: 0,
        grams: {
          kind: 'and',
          children: [gram('plu'), { kind: 'or', children: [gram('jam'), gram('pie')] }],
        },
      },
      true,
    ],
    ['file:c\\.txt', { kind: 'filter', condition: 'file:"c.txt"', docs: 1 }],
    // Once a condition excludes all docs of a shard, the others are not looked up.
    [
      'zzz jam',
      {
        kind: 'and',
        children: [
          { ...jam, condition: 'text:"zzz"', blocks: 0, docs: 0, grams: gram('zzz') },
          { kind: 'content', condition: 'text:"jam"', grams: gram('jam') },
        ],
      },
    ],
    ['()', { kind: 'none' }],
    ['-()', { kind: 'all' }],
  ];
  for (const [query, conditions, isRegexEnabled = false] of cases) {
    const { plan } = await engine.explain(query, { isRegexEnabled });
    assert.deepEqual(plan.conditions, conditions, query);
  }
});

void test('bytes to verify: expected and read ones, without those only read for the answer', async () => {
  const engine = engineOver([fruit]);
  const plan = async (query: string, more: Partial<SearchRequest> = {}): Promise<number[]> => {
    const { plan: found } = await engine.explain(query, more);
    return [found.estimatedBytes, found.verifiedBytes];
  };
  assert.deepEqual(await plan('jam'), [13, 13]);
  assert.deepEqual(await plan('pear or jam'), [47, 47]);
  assert.deepEqual(await plan('zzz'), [0, 0]);
  assert.deepEqual(await plan('file:c', { whole: true }), [0, 0]);
});

void test('the query in canonical form, and its implicit revision', async () => {
  const engine = engineOver([fruit]);
  const { query } = await engine.explain('f:txt  (plum)');
  assert.deepEqual(query, {
    canonical: 'and(file:/txt/, text:"plum")',
    implicitRevision: 'rev:"HEAD"',
  });
  const explained = await engine.explain('-rev:x plum');
  assert.deepEqual(explained.query, { canonical: 'and(not(rev:"x"), text:"plum")' });
  assert.deepEqual(Object.keys(explained), [
    'query',
    'plan',
    'totals',
    'best',
    'shards',
    'stats',
    'isSearchExhaustive',
  ]);
});

void test('each expression with its engine and what it requires', async () => {
  const engine = engineOver([fruit]);
  const engines: readonly (readonly [query: string, engine: string, requires: string])[] = [
    ['(jam|pie)', 'literal search', 'or("jam", "pie")'],
    ['mutex_[a-z]+', 'prefix needles + DFA', '"mutex_"'],
    ['[a-z]+_mutex_lock', 'inner needles by line + DFA', '"_mutex_lock"'],
    [String.raw`\w+\s\w+`, 'DFA', 'ALL'],
    ['[0-9]{9,}', 'run of bytes + DFA', 'ALL'],
    [String.raw`[a-z]+\s*_mutex_lock`, 'inner needles + DFA', '"_mutex_lock"'],
    ['(a|b*|c+)[xy]*?', 'simulation', 'ALL'],
    ['file:(a|b*|c+)[xy]*?', 'DFA', 'ALL'],
    ['sym:[a-z]+_lock', 'inner needles + DFA', '"_lock"'],
    ['file:c\\.txt', 'literal search', '"c.txt"'],
    ['file:[ab]+\\.txt', 'inner needles + DFA', 'or("a.txt", "b.txt")'],
    ['repo:fruit', 'literal search', '"fruit"'],
    ['repo:.*', 'literal search', 'ALL'],
  ];
  for (const [query, name, requires] of engines) {
    const { plan } = await engine.explain(query, { isRegexEnabled: true });
    const [report] = plan.regexps;
    assert.deepEqual(
      [report?.engine, report?.requires, plan.regexps.length],
      [name, requires, 1],
      query,
    );
  }
  const spanning = await engine.explain(String.raw`jam\n*pie`, {
    isRegexEnabled: true,
    isCaseSensitivityEnabled: true,
  });
  assert.deepEqual(spanning.plan.regexps, [
    {
      expression: String.raw`regex:/jam\n*pie/`,
      engine: 'prefix needles + DFA',
      requires: 'and("jam", "pie")',
      begins: String.raw`"jam" near and("pie", or(and("am\n", "\npi"), "ampi")) over 7 kinds of bytes`,
      needles: ['jam'],
    },
  ]);
  const { plan } = await engine.explain('plum or file:a', { isRegexEnabled: false });
  assert.deepEqual(plan.regexps, [
    { expression: 'file:/a/', engine: 'literal search', requires: '"a"' },
  ]);
});

void test('a caller who cannot see all docs of a shard learns nothing of its index', async () => {
  const engine = newEngine();
  const shared = engine.sharedShardOf([
    { repoId: 1, name: FRUIT.name, docs: FRUITS },
    { repoId: 2, name: CODE.name, docs: [doc('secret', 'plum plum sauce\n')] },
  ]);
  engine.publish([shared], REPOS);
  const narrow = { base: new Set([1]), extra: new Set<number>() };
  const reported = await engine.explain('plum file:.', {}, narrow, false);
  assert.doesNotMatch(JSON.stringify(reported.plan), /"(?:blocks|docs|shardsScanned)"/);
  assert.equal(reported.plan.estimatedBytes, 0);
  assert.deepEqual(reported.shards, []);
  const { docsInScope, bytesInScope, totalMatchCount, ngramMatches } = reported.totals;
  assert.deepEqual([docsInScope, bytesInScope, totalMatchCount, ngramMatches], [3, 47, 2, 0]);
  const own = engine.sharedShardOf([{ repoId: 1, name: FRUIT.name, docs: FRUITS }]);
  engine.publish([own], REPOS);
  const whole = await engine.explain('plum file:.', {}, narrow, false);
  assert.match(JSON.stringify(whole.plan), /"blocks":2/);
  assert.ok(whole.plan.estimatedBytes > 0);
});
