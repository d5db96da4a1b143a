// Where matches over several lines begin (core/match/match-starts.ts): no match is lost, wherever block borders are,
// and blocks in which none can begin are not read. Lines longer than a block are separate blocks. The oracle is
// JavaScript, which agrees on these patterns. TRAWL_FUZZ_RUNS: number of corpora; TRAWL_TEST_SEED: the seed, which is
// printed.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { Engine, REPO, type SearchAnswer, type TestDoc } from '../engine/host/harness.ts';
import { SEED } from '../seed.ts';

const raw = String.raw;
const RUNS = Number(process.env['TRAWL_FUZZ_RUNS'] ?? 6);
/** A line that is a block, whatever stands around it. */
const LINE_SIZE = 20_000;

const endingWith = (text: string): string => `${text.padStart(LINE_SIZE - 1, '.')}\n`;
const lineStartingWith = (text: string): string => `${text.padEnd(LINE_SIZE - 1, '.')}\n`;
const within = (text: string): string => endingWith(text.padEnd(100, '.'));
const BLANK = `${' '.repeat(LINE_SIZE - 1)}\n`;

const docsOf = (texts: readonly string[]): TestDoc[] =>
  texts.map((text, index) => ({ path: `${index}`, bytes: Buffer.from(text) }));

const engineOver = (texts: readonly string[]): Promise<Engine> => Engine.over(docsOf(texts));

const searchFor = (engine: Engine, pattern: string, isExact = true): Promise<SearchAnswer> =>
  engine.search(`"${pattern}"`, { isRegexEnabled: true, isCaseSensitivityEnabled: isExact });

const byteSizeOf = (text: string): number => Buffer.byteLength(text);

function rangesOf(answer: SearchAnswer, path: string): number[][] {
  const file = answer.files.find(({ fileName }) => fileName.text === path);
  const ranges = file?.chunks.flatMap(({ matchRanges }) => matchRanges) ?? [];
  return ranges
    .map(({ start, end }) => [start.byteOffset, end.byteOffset])
    .sort((a, b) => a[0]! - b[0]!);
}

/** Of JavaScript, but for lines: there a carriage return ends one too. */
function expressionOf(pattern: string, isExact: boolean): RegExp {
  const source = pattern.replace(/(?<!\[)\^/g, raw`(?<![^\n])`).replaceAll('$', raw`(?![^\n])`);
  return new RegExp(source.replaceAll('.', raw`[^\n]`), isExact ? 'gu' : 'giu');
}

function expectedOf(text: string, pattern: string, isExact: boolean): number[][] {
  const expression = expressionOf(pattern, isExact);
  const ranges: number[][] = [];
  let [index, offset] = [0, 0];
  for (const { 0: match, index: start } of text.matchAll(expression)) {
    if (match === '') continue;
    offset += byteSizeOf(text.slice(index, start));
    ranges.push([offset, offset + byteSizeOf(match)]);
    index = start;
  }
  return ranges;
}

/** Matches, and blocks of LINE_SIZE that are read, for a doc made of such blocks. */
const LAYOUTS: readonly (readonly [
  name: string,
  pattern: string,
  docs: readonly (readonly string[])[],
  figures: readonly [matches: number, blocks: number],
])[] = [
  ['in one block', raw`foo\s*=\s*bar`, [[within('foo = bar'), within('foo'), within('x')]], [1, 1]],
  [
    'the last literal in the next block',
    raw`foo\s*=\s*bar`,
    [[within('x'), endingWith('foo ='), lineStartingWith('bar'), within('foo'), within('x')]],
    [1, 2],
  ],
  [
    'a gap that is a block',
    raw`foo\s*=\s*bar`,
    [[endingWith('foo'), BLANK, lineStartingWith('= bar'), within('bar')]],
    [1, 3],
  ],
  [
    'the last literal two blocks on',
    raw`foo\s*=\s*bar`,
    [[within('bar'), endingWith('foo ='), BLANK, lineStartingWith('bar')]],
    [1, 3],
  ],
  [
    'a gap of three blocks',
    raw`foo\s*=\s*bar`,
    [[endingWith('foo ='), BLANK, BLANK, BLANK, lineStartingWith('bar'), within('x')]],
    [1, 5],
  ],
  [
    'a gap of other bytes than whitespace',
    raw`foo[=\s]+bar`,
    [[endingWith('foo'), `${'='.repeat(LINE_SIZE - 1)}\n`, BLANK, lineStartingWith('=bar')]],
    [1, 4],
  ],
  [
    'across the border of two contents',
    raw`foo\s*=\s*bar`,
    [[endingWith('foo =')], [lineStartingWith('bar')], [within('foo'), within('= bar')]],
    [0, 0],
  ],
  [
    'a next block in which the literal stands elsewhere',
    raw`foo\s*=\s*bar`,
    [[within('foo ='), within('bar'), within('foo'), within('= bar')]],
    [0, 0],
  ],
  [
    'the end of a block, from where it goes on otherwise',
    raw`foo\s*=\s*bar`,
    [[endingWith('foo ='), within('bar'), within('x')]],
    [0, 2],
  ],
  [
    'whitespace in front',
    raw`\s+foo\s*=`,
    // The whitespace at the end of a block may begin a match: the first byte of the next one is read.
    [[endingWith('x'), lineStartingWith('foo\t='), within('x'), within('x')]],
    [1, 3],
  ],
  [
    'a part that is no chain, on the line where the chain ends',
    raw`foo\s*=.*bar`,
    [[endingWith('foo'), lineStartingWith('= _ bar'), within('foo'), within('bar')]],
    [1, 2],
  ],
  [
    'two ways to begin',
    raw`foo\s*=\s*bar|baz\s*\(\s*qux`,
    [[endingWith('foo ='), lineStartingWith('bar'), endingWith('baz'), lineStartingWith('( qux')]],
    [2, 4],
  ],
  [
    'an end that may be missing',
    raw`foo\s*(=\s*bar)?\s*;`,
    [[endingWith('foo'), lineStartingWith(';'), within('foo = bar;'), within('bar')]],
    [2, 3],
  ],
];

for (const [name, pattern, docs, [matches, blocks]] of LAYOUTS) {
  void test(`a match of ${pattern}: ${name}`, async () => {
    await using engine = await engineOver(docs.map((lines) => lines.join('')));
    const { stats, ...answer } = await searchFor(engine, pattern);
    for (const [index, lines] of docs.entries()) {
      const expected = expectedOf(lines.join(''), pattern, true);
      assert.deepEqual(rangesOf({ stats, ...answer }, `${index}`), expected);
    }
    const read = stats['contentBytesLoaded']! / LINE_SIZE;
    assert.deepEqual([stats['totalMatchCount'], read], [matches, blocks]);
  });
}

const PATTERNS: readonly string[] = [
  raw`foo\s*=\s*bar`,
  raw`(foo|ba+r)\s+=\s*foo`,
  raw`foo\s*\(\s*bar`,
  raw`\s+foo\s*=`,
  raw`^\s*foo\s+bar`,
  raw`a\s*b`,
  raw`(x|y)\s+foo\s*=`,
  raw`[a-z]+\s*=\s*foo\s*;`,
  raw`foo[=\s]+bar`,
  raw`foo[^;]*bar`,
  raw`foo(bar)?\s*=\s*-E[A-Z]+;`,
  raw`foo\s*;\s*foo`,
  raw`foo\s*=.*bar\s*;`,
  raw`bar\s*(foo\s*)*;`,
  raw`(=\s*){3,}bar`,
  raw`foo\n\s*bar`,
  raw`foo\r?\n\t?bar`,
  raw`foo\s*=\s*bar|bar\s*\(\s*foo`,
  raw`foo\s*$\s*bar`,
  raw`\bfoo\b\s*\bbar\b`,
  raw`é\s*foo\s*=`,
  raw`sks\s*=\s*bar`,
];

const WORDS = ['foo', 'bar', 'baar', 'foobar', 'x', 'y', 'a', 'b', 'sks', '\u017f\u212as', 'é'];
const SIGNS = ['=', '(', ';', '-EIO;', '= -EINVAL;', '.', 'zzz'];
const GAPS = ['', ' ', '\n', '\t', '  ', '\n\n', ' \n\t', '\r\n', '\f'];
/** What blocks are filled with, and about how much. */
const FILLERS = [' ', '\n', '   \n', '=', '=\n', '.', '.......\n', 'foo =\n', 'é\n', '\r\n'];
const SIZES = [4000, 4090, 4096, 4100, 8200, 12_400];

const chunk = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 4, arbitrary: fc.constantFrom(...SIGNS) },
  { weight: 9, arbitrary: fc.constantFrom(...GAPS) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...FILLERS), fc.constantFrom(...SIZES), fc.nat(12))
      .map(([filler, size, less]) => filler.repeat((size - less) / filler.length)),
  },
);
const corpus = fc.array(
  fc.array(chunk, { minLength: 1, maxLength: 30 }).map((chunks) => chunks.join('')),
  { minLength: 1, maxLength: 6 },
);

void test(`random gaps and borders, seed ${SEED}`, async () => {
  await using engine = await Engine.open();
  let [matchCount, unreadCount] = [0, 0];
  const property = fc.asyncProperty(corpus, async (docs) => {
    engine.publish([engine.shardOf(REPO, docsOf(docs))], [REPO]);
    const size = docs.reduce((sum, text) => sum + byteSizeOf(text), 0);
    for (const pattern of PATTERNS) {
      for (const isExact of [true, false]) {
        const answer = await searchFor(engine, pattern, isExact);
        for (const [index, text] of docs.entries()) {
          const expected = expectedOf(text, pattern, isExact);
          assert.deepEqual(rangesOf(answer, `${index}`), expected, `${pattern} ${isExact}`);
          matchCount += expected.length;
        }
        if (answer.stats['contentBytesLoaded']! < size) unreadCount++;
      }
    }
  });
  await fc.assert(property, { numRuns: RUNS, seed: SEED });
  assert.ok(matchCount > 0 && unreadCount > 200, `${matchCount}, ${unreadCount}`);
});

/** Blocks of all kinds in a fixed order that looks random. */
function manyBlocks(count: number): string {
  const line = (text: string): string => `${text}\n`;
  const kinds = [
    line(`${'.'.repeat(4200)}foo =`),
    line(`bar${'.'.repeat(4200)}`),
    line(' '.repeat(4200)),
    line(`foo${'.'.repeat(4200)}`),
    line(`${'(x); '.repeat(900)}foo`),
    line(`= bar ${'(x); '.repeat(900)}`),
    line(`foo = bar${'.'.repeat(4200)}`),
    // Most of the blocks where a match could begin are neither inside nor near.
    line(`foo;${'.'.repeat(4200)}`),
    line(`foo,${'.'.repeat(4200)}`),
    line(`foo:${'.'.repeat(4200)}`),
    line(' '.repeat(4200)),
    line(' '.repeat(4200)),
  ];
  let state = 7;
  return Array.from({ length: count }, () => {
    state = (state * 48_271) % 0x7fffffff;
    return kinds[state % kinds.length]!;
  }).join('');
}

void test('blocks excluded by their grams, where there are many', async () => {
  const docs = [`${manyBlocks(3200)}_absent_`, manyBlocks(400).toUpperCase()];
  await using engine = await engineOver(docs);
  for (const [pattern, isExact, blocksMax] of [
    [raw`foo\s*=\s*bar`, true, 2200],
    [raw`foo\s*=\s*bar`, false, 2500],
    [raw`foo\s*=\s*absent`, false, 1000],
    [raw`foo\s*bar`, true, 1000],
  ] as const) {
    const answer = await searchFor(engine, pattern, isExact);
    for (const [index, text] of docs.entries()) {
      assert.deepEqual(rangesOf(answer, `${index}`), expectedOf(text, pattern, isExact), pattern);
    }
    const blocks = answer.stats['contentBytesLoaded']! / 4200;
    assert.ok(blocks < blocksMax, `${pattern}: ${blocks}`);
  }
});
