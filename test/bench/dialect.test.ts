// Regular expressions translated to the syntax of ripgrep and JavaScript, and those made for the differential test.
// The translations are checked on real text with ripgrep.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { canSpanLines, escapeLiteral, toJavaScript, toRipgrep } from '../../bench/dialect.ts';
import { findInLinks } from '../../bench/links.ts';
import { drawPatterns } from '../../bench/patterns.ts';
import { ripgrepAll, type ByteRange } from '../../bench/ripgrep.ts';
import { seededRandom } from '../../bench/samples.ts';

const hasRipgrep = spawnSync('rg', ['--version']).status === 0;
const skip = hasRipgrep ? false : 'needs the Debian package ripgrep';

const SAID: readonly (readonly [pattern: string, ripgrep: string])[] = [
  ['abc', 'abc'],
  ['\\w+', '[0-9A-Za-z_]+'],
  ['[\\d_]', '[[0-9]_]'],
  ['\\bab\\B', '(?-u:\\b)ab(?-u:\\B)'],
  ['a.*b.c', 'a(?-u:.)*b.c'],
  ['[^}]*\\}', '(?-u:[^}])*\\}'],
  ['[^é]*', '[^é]*'],
  ['[]a]', '[\\]a]'],
  ['[[:alpha:]&&~[]', '[[:alpha:]\\&\\&\\~\\[]'],
  ['\\Qa.b\\E.', 'a\\.b.'],
  ['\\p{Greek}\\pL', '\\p{Greek}\\pL'],
  ['\\"\\/\\.', '"/\\.'],
];

void test('expressions are written in the syntax of ripgrep', () => {
  for (const [pattern, said] of SAID) assert.equal(toRipgrep(pattern), said, pattern);
});

void test('expressions whose match may contain a line feed are marked', () => {
  const spanning = ['a\\s', '[^x]', '\\W', '(?s).', 'a\\nb', '(?is)a.b'];
  const inLine = ['a.*b', '\\w+ \\d', '(?i)a', '[a-z]', '(?:s)', 'abc$'];
  assert.deepEqual(spanning.filter(canSpanLines), spanning);
  assert.deepEqual(inLine.filter(canSpanLines), []);
});

const TEXT = Buffer.concat([
  Buffer.from('ab  cd\n ef\u00a0gh \u03b1\u03b2 \u017f\n{ x\n y }\n'),
  Buffer.from([0x61, 0xe9, 0x62, 0x0a]),
]);
/** Ranges in `TEXT` under the rules of the daemon. */
const FOUND: readonly (readonly [pattern: string, ranges: readonly ByteRange[]])[] = [
  ['cd\\s+ef', [[4, 10]]],
  [
    '\\w+',
    [
      [0, 2],
      [4, 6],
      [8, 10],
      [12, 14],
      [25, 26],
      [28, 29],
      [32, 33],
      [34, 35],
    ],
  ],
  [
    '\\p{Greek}',
    [
      [15, 17],
      [17, 19],
    ],
  ],
  ['h\\b', [[13, 14]]],
  ['\\{[^}]*\\}', [[23, 31]]],
  ['a.*b$', [[32, 35]]],
  ['^ef|x*', [[25, 26]]],
  ['cd.ef', []],
];

void test('ripgrep finds what the daemon should find', { skip }, async () => {
  const root = mkdtempSync(path.join(tmpdir(), 'trawl-dialect-test-'));
  try {
    writeFileSync(path.join(root, 'text'), TEXT);
    for (const [pattern, ranges] of FOUND) {
      const found = await ripgrepAll(root, pattern, { isCaseSensitive: true, isRegex: true });
      assert.deepEqual(found?.get('text') ?? [], ranges, pattern);
    }
    const folded = await ripgrepAll(root, '[s]', { isCaseSensitive: false, isRegex: true });
    assert.deepEqual(folded?.get('text'), [[20, 22]]);
  } finally {
    rmSync(root, { recursive: true });
  }
});

void test('expressions run on the targets of links', () => {
  const links = new Map([['link', '../\u03b1/Makefile.am']]);
  const find = (pattern: string, isCaseSensitive = true): readonly ByteRange[] =>
    findInLinks(links, pattern, isCaseSensitive, true).get('link') ?? [];
  assert.deepEqual(find('\\p{Greek}/M'), [[3, 7]]);
  assert.deepEqual(find('make\\w+|x', false), [[6, 14]]);
  assert.deepEqual(find('z*'), []);
  assert.equal(toJavaScript('\\Qa.\\E\\s\\pL'), 'a\\.[\\t\\n\\f\\r ]\\p{L}');
});

void test('expressions are made of samples and are reproducible', () => {
  const samples = ['err_free(x)', 'a', 'Foo 12', '[^]', 'caf\u00e9;', '-->'].map((literal) => ({
    kind: 'place' as const,
    literal,
  }));
  const draw = (seed: number): readonly string[] =>
    drawPatterns(samples, seededRandom(seed)).map(({ literal }) => literal);
  assert.deepEqual(draw(1), draw(1));
  assert.notDeepEqual(draw(1), draw(2));
  const all = Array.from({ length: 50 }, (_, seed) => draw(seed)).flat();
  for (const pattern of all) assert.doesNotThrow(() => new RegExp(toJavaScript(pattern), 'mu'));
  for (const part of ['.*', '\\w', '|', '\\b', '\\s']) {
    assert.ok(
      all.some((pattern) => pattern.includes(part)),
      part,
    );
  }
  assert.equal(escapeLiteral('[^]'), '\\[\\^\\]');
});
