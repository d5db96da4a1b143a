// The code of the benchmark: statistics, tables, case data, reference counts, and measuring against a server that
// scans. No times are asserted.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { COMMON_CASES, LINUX_CASES, quoteLiteral, quotePattern } from '../../bench/cases.ts';
import type { BenchCase } from '../../bench/cases.ts';
import { createClient, rangesByPath, searchAllThrough } from '../../bench/client.ts';
import { compareMatches, describeReport, runDifferential } from '../../bench/differential.ts';
import { expectedCases, expectedCorpora, findExpected } from '../../bench/expected.ts';
import { findPeers, measurePeers } from '../../bench/peers.ts';
import { findInLinks, readLinks } from '../../bench/links.ts';
import { countExcluded, referenceCounts } from '../../bench/reference.ts';
import { QUICK_EFFORT, findProblem, measureCase } from '../../bench/runner.ts';
import { drawSamples, seededRandom } from '../../bench/samples.ts';
import { median, quantile } from '../../daemon/cli/bench/statistics.ts';
import { statsOf } from '../http/answers.ts';
import { temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { startFakeDaemon } from './fake-daemon.ts';

const hasRipgrep = spawnSync('rg', ['--version']).status === 0;
const skip = hasRipgrep ? false : 'needs the Debian package ripgrep';

/** A small tree with a binary file, a hidden file, an ignored file and two letter cases. */
function makeTree(): string {
  const root = temporaryFolder();
  writeFiles(root, {
    'src/a.c': 'alpha beta alpha\nbeta\nAlpha\n',
    'src/b.c': 'beta\ngamma => -x\n>\n',
    '.hidden': 'alpha\n',
    '.gitignore': 'src/b.c\n',
    bin: 'alpha\0alpha\n',
  });
  return root;
}

const SEARCHED = new Set(['src/a.c', 'src/b.c', '.hidden', '.gitignore']);
const EXTRA_FOLDERS = new Set(['bin']);

void test('quantiles are nearest-rank', () => {
  const ten = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  const shares = [0.01, 0.1, 0.5, 0.95, 0.99, 1];
  assert.deepEqual(
    shares.map((share) => quantile(ten, share)),
    [1, 1, 5, 10, 10, 10],
  );
  assert.equal(quantile([7], 0.5), 7);
  assert.throws(() => quantile([], 0.5));
  assert.equal(median([9, 1, 5]), 5);
});

for (const [name, cases] of Object.entries({ LINUX_CASES, COMMON_CASES })) {
  void test(`case data is valid: ${name}`, () => {
    const ids = cases.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length, 'ids are unique');
    for (const { id, query, why, meaning, isRegex } of cases) {
      assert.ok(why.length > 0, id);
      if ('literal' in meaning) assert.equal(query, quoteLiteral(meaning.literal));
      if ('regex' in meaning) assert.equal(query, quotePattern(meaning.regex));
      assert.equal('regex' in meaning, isRegex === true, id);
    }
  });
}

void test('stored counts belong to cases, and fit their classes', () => {
  const byId = new Map(LINUX_CASES.map((entry) => [entry.id, entry]));
  assert.ok(expectedCorpora().length > 0);
  for (const corpus of expectedCorpora()) {
    assert.deepEqual(expectedCases(corpus).sort(), LINUX_CASES.map(({ id }) => id).sort());
    for (const id of expectedCases(corpus)) {
      const counts = findExpected(corpus, id);
      const caseClass = byId.get(id)?.class;
      assert.ok(counts && counts.files <= counts.matches && counts.lines <= counts.matches, id);
      const isAbsent = caseClass?.startsWith('no match') === true;
      assert.equal(counts.matches === 0, isAbsent, id);
    }
  }
  assert.equal(findExpected('linux@0', 'kmalloc'), undefined);
});

void test('literals are quoted for the query language', () => {
  assert.equal(quoteLiteral('a "b" \\'), '"a \\"b\\" \\\\"');
  assert.equal(quotePattern('a"\\"\\\\"\\w'), '"a\\"\\"\\\\\\"\\w"');
});

const MEANINGS: readonly (readonly [BenchCase['meaning'], boolean, readonly number[]])[] = [
  [{ literal: 'alpha' }, true, [2, 2, 3]],
  [{ literal: 'alpha' }, false, [2, 3, 4]],
  [{ literal: 'absent' }, true, [0, 0, 0]],
  [{ regex: 'a\\w+a$' }, true, [2, 2, 2]],
  [{ regex: 'A\\w+a$' }, false, [2, 3, 3]],
  [{ regex: 'a\\sbeta|beta' }, true, [2, 2, 3]],
  [{ regex: '^x*' }, true, [0, 0, 0]],
  [{ and: [{ regex: 'a\\n\\w' }, { literal: 'gamma' }] }, true, [1, 1, 1]],
  // Literals that a command line could take for something else.
  [{ literal: '=>' }, true, [1, 1, 1]],
  [{ literal: '-x' }, true, [1, 1, 1]],
  [{ literal: '--' }, true, [0, 0, 0]],
  [{ and: [{ literal: 'alpha' }, { literal: 'beta' }] }, true, [1, 2, 4]],
  [{ or: [{ literal: 'alpha' }, { literal: 'gamma' }] }, true, [3, 3, 4]],
  [{ and: [{ literal: 'beta' }, { not: { literal: 'alpha' } }] }, true, [1, 1, 1]],
  [{ and: [{ path: /^src\// }, { literal: 'alpha' }] }, true, [1, 1, 2]],
  [{ path: /^b/ }, true, [1, 0, 1]],
  [{ or: [{ path: /b\.c$/ }, { literal: 'Alpha' }] }, true, [2, 1, 2]],
];

void test('reference counts follow the query language', { skip }, async () => {
  const root = makeTree();
  for (const [meaning, isCaseSensitive, [files, lines, matches]] of MEANINGS) {
    assert.ok(meaning);
    const benchCase: BenchCase = {
      id: 'x',
      query: 'x',
      class: 'boolean',
      why: 'a test',
      isCaseSensitive,
      meaning,
    };
    const counts = await referenceCounts(benchCase, {
      root,
      searched: SEARCHED,
      excluded: EXTRA_FOLDERS,
      links: readLinks(root),
    });
    assert.deepEqual(counts, { files, lines, matches }, JSON.stringify(meaning));
  }
  assert.equal(await countExcluded(ALPHA, root, EXTRA_FOLDERS), 1);
  assert.equal(await countExcluded(ALPHA, root, new Set()), 0);
});

const ALPHA: BenchCase = {
  id: 'alpha',
  query: '"alpha"',
  class: 'rare literal',
  why: 'a test',
  isCaseSensitive: false,
  meaning: { literal: 'alpha' },
};

void test('a case is measured only if its counts are right', async () => {
  const root = makeTree();
  const daemon = await startFakeDaemon(root, [...SEARCHED]);
  const client = createClient(daemon.url, 1);
  try {
    const right = { files: 2, lines: 3, matches: 4 };
    const figure = await measureCase(client, ALPHA, right, QUICK_EFFORT);
    assert.equal(figure.kind, 'measured');
    assert.ok(figure.all.latency.sampleCount >= QUICK_EFFORT.iterationCount);
    assert.equal(figure.all.stats['contentBytesLoaded'], 1000);
    const wrong = await measureCase(client, ALPHA, { ...right, lines: 2 }, QUICK_EFFORT);
    assert.deepEqual(wrong, { kind: 'wrong', problem: '3 lines instead of 2' });
  } finally {
    client.close();
    await daemon.close();
  }
});

void test('a cut answer has exactly the limit and says that it is cut', async () => {
  const root = makeTree();
  const daemon = await startFakeDaemon(root, [...SEARCHED]);
  try {
    const expected = { files: 2, lines: 3, matches: 4 };
    const answer = await fetch(`${daemon.url}/api/search`, {
      method: 'POST',
      body: JSON.stringify({ query: '"alpha"', matches: 2 }),
    });
    const response = (await answer.json()) as Parameters<typeof findProblem>[0];
    assert.equal(findProblem(response, expected, 2), undefined);
    assert.match(findProblem(response, expected, 3) ?? '', /2 of 4 ranges for a limit of 3/);
    const liar = { ...response, isSearchExhaustive: true };
    assert.match(findProblem(liar, expected, 2) ?? '', /2 of 4 ranges/);
    assert.match(findProblem(response, { ...expected, matches: 2 }, 2) ?? '', /not exhaustive/);
  } finally {
    await daemon.close();
  }
});

void test('the differential test runs against a server and detects a fault', { skip }, async () => {
  const root = makeTree();
  for (const isSpoiled of [false, true]) {
    const daemon = await startFakeDaemon(root, [...SEARCHED], (response) =>
      isSpoiled ? { ...response, files: response.files.slice(1) } : response,
    );
    const client = createClient(daemon.url, 2);
    try {
      const report = await runDifferential({
        root,
        sampleCount: 20,
        seed: 5,
        rangeCountMax: 1000,
        fileSizeMax: 1000,
        searchAll: searchAllThrough(client),
      });
      assert.equal(report.differences.length > 0, isSpoiled, describeReport(report));
      assert.ok(report.comparedCount > 10);
    } finally {
      client.close();
      await daemon.close();
    }
  }
});

void test('a symbolic link is searched as its target text', () => {
  const root = makeTree();
  symlinkSync('../É/Alpha-alpha', path.join(root, 'src', 'link'));
  const links = readLinks(root);
  assert.deepEqual(links, new Map([['src/link', '../É/Alpha-alpha']]));
  const ranges = new Map([['src/link', [[6, 11] as const, [12, 17] as const]]]);
  assert.deepEqual(findInLinks(links, 'alpha', false), ranges);
  assert.deepEqual(findInLinks(links, '/a', true), new Map());
});

void test('differences name the first range that differs', () => {
  const expected = new Map([['a', [[0, 1] as const, [4, 5] as const]]]);
  const actual = new Map([['a', [[0, 1] as const, [4, 6] as const]]]);
  assert.deepEqual(compareMatches(expected, actual), [
    { path: 'a', expected: [4, 5], actual: [4, 6] },
  ]);
  assert.deepEqual(compareMatches(expected, expected), []);
  assert.deepEqual(
    rangesByPath({ stats: statsOf(), files: [], repositoryInfo: [], isSearchExhaustive: true }),
    new Map(),
  );
});

void test('samples are reproducible, fit their bounds and cover all kinds', () => {
  const root = makeTree();
  const draw = (seed: number) => drawSamples(root, [...SEARCHED], 30, seededRandom(seed));
  assert.deepEqual(draw(3), draw(3));
  assert.notDeepEqual(draw(3), draw(4));
  const samples = draw(3);
  assert.ok(new Set(samples.map(({ kind }) => kind)).size === 4);
  for (const { literal } of samples) {
    const size = Buffer.byteLength(literal);
    assert.ok(size >= 1 && size <= 64 && !/[\n\0]/.test(literal), JSON.stringify(literal));
  }
});

void test('peers list the same lines as the reference', { skip }, async () => {
  const root = makeTree();
  const corpus = { name: 'test', version: 'unknown', root, cases: [] };
  const peers = findPeers(corpus, path.join(root, '..', `${path.basename(root)}-cache`));
  const figures = await measurePeers(peers, { ...ALPHA, isCaseSensitive: true }, root, 1);
  const expression = { ...ALPHA, isCaseSensitive: true, meaning: { regex: 'al[p]+ha' } };
  const expressed = await measurePeers(peers, expression, root, 1);
  rmSync(path.join(root, '..', `${path.basename(root)}-cache`), { recursive: true, force: true });
  // Both search the binary file as text: one more line than the daemon finds.
  assert.equal(figures.get('rg')?.lineCount, 3);
  assert.equal(figures.get('git grep')?.lineCount, 3);
  assert.equal(expressed.get('rg')?.lineCount, 3);
  assert.equal(expressed.get('git grep')?.lineCount, 3);
  assert.ok(peers.every(({ version }) => /\d/.test(version)));
});
