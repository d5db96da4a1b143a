// The regular expression syntax: which tree a pattern has (in the canonical text of a tree), which pattern
// is refused where, and the limits. What a tree means: javascriptTarget of test/fuzz/targets.ts, and program.test.ts.

import test from 'node:test';
import assert from 'node:assert/strict';
import { QueryError } from '../../../daemon/engine/regex/query-error.ts';
import { printRegex } from '../../../daemon/engine/regex/print.ts';
import {
  parseRegex,
  PATTERN_DEPTH_MAX,
  PATTERN_SIZE_MAX,
} from '../../../daemon/engine/regex/syntax.ts';

const raw = String.raw;

const TREES: readonly (readonly [pattern: string, tree: string])[] = [
  ['', 'seq()'],
  ['a', "'a'"],
  ['ab', "seq('a', 'b')"],
  ['a|b', "or('a', 'b')"],
  ['|a', "or(seq(), 'a')"],
  ['(a)', "'a'"],
  ['(?:a|b)c', "seq(or('a', 'b'), 'c')"],
  ['()', 'seq()'],
  ['(?P<n>a)(?<m_1>b)', "seq('a', 'b')"],
  ['\u{1f600}+', "repeat(1,, '\u{1f600}')"],
  ['.', 'anyInLine'],
  ['(?s).', 'any'],
  ['^$', 'seq(lineStart, lineEnd)'],
  ['(?-m)^$', 'seq(textStart, textEnd)'],
  [raw`\A\z\b\B`, 'seq(textStart, textEnd, wordBorder, notWordBorder)'],
  ['a*b+c?', "seq(repeat(0,, 'a'), repeat(1,, 'b'), repeat(0,1, 'c'))"],
  ['a*?b+?c??', "seq(lazy(0,, 'a'), lazy(1,, 'b'), lazy(0,1, 'c'))"],
  ['(?U)a*b*?', "seq(lazy(0,, 'a'), repeat(0,, 'b'))"],
  [
    'a{2}b{2,}c{2,4}d{0}',
    "seq(repeat(2,2, 'a'), repeat(2,, 'b'), repeat(2,4, 'c'), repeat(0,0, 'd'))",
  ],
  ['a{2}?', "lazy(2,2, 'a')"],
  ['a{', "seq('a', '{')"],
  ['a{,2}', "seq('a', '{', ',', '2', '}')"],
  ['a{2', "seq('a', '{', '2')"],
  ['a{2,x}', "seq('a', '{', '2', ',', 'x', '}')"],
  ['a{02}', "seq('a', '{', '0', '2', '}')"],
  ['{', "'{'"],
  ['}]', "seq('}', ']')"],
  ['(a*)*', "repeat(0,, repeat(0,, 'a'))"],
  ['^*', 'repeat(0,, lineStart)'],
  ['a(?i)*', "repeat(0,, 'a')"],
  ['(?i)a', "'a'/i"],
  ['a(?i)b(?-i)c', "seq('a', 'b'/i, 'c')"],
  ['(a(?i)b)c', "seq(seq('a', 'b'/i), 'c')"],
  ['a(?i)b|c', "or(seq('a', 'b'/i), 'c'/i)"],
  ['(?i:a)b', "seq('a'/i, 'b')"],
  ['(?i-s:a.)', "seq('a'/i, anyInLine)"],
  ['(?)a', "'a'"],
  ['(?is-m).^', 'seq(any, textStart)'],
  [raw`\Qa.*\Eb`, "seq('a', '.', '*', 'b')"],
  [raw`\Qab\E*`, "seq('a', repeat(0,, 'b'))"],
  [raw`\Qa\n`, raw`seq('a', '\', 'n')`],
  [raw`a\Q\E*`, "repeat(0,, 'a')"],
  [raw`\.\*\_\-\"\/`, `seq('.', '*', '_', '-', '"', '/')`],
  [raw`\a\f\n\r\t\v`, "seq('\u0007', '\f', '\n', '\r', '\t', '\v')"],
  [raw`\x41\x{1F600}\x{0041}`, "seq('A', '\u{1f600}', 'A')"],
  [raw`\101\0\12\08`, "seq('A', '\0', '\n', '\0', '8')"],
  [raw`\d\D`, 'seq([30-39], [0-2f 3a-10ffff])'],
  [raw`\w\s`, 'seq([30-39 41-5a 5f 61-7a], [9-a c-d 20])'],
  [raw`\W`, '[0-2f 3a-40 5b-5e 60 7b-10ffff]'],
  [raw`\pL\p{Greek}\PN\p{^Lu}\P{^Lu}`, 'seq([L], [Greek], [!N], [!Lu], [Lu])'],
  [raw`\p{Any}\p{Old_Italic}`, 'seq([Any], [Old_Italic])'],
  ['[a]', '[61]'],
  ['[a-cb-dx]', '[61-64 78]'],
  ['[^a]', '[^61]'],
  ['[]a]', '[5d 61]'],
  ['[^]a]', '[^5d 61]'],
  ['[a-]', '[2d 61]'],
  ['[-a]', '[2d 61]'],
  ['[a-b-d]', '[2d 61-62 64]'],
  ['[a^]', '[5e 61]'],
  ['[(*|]', '[28 2a 7c]'],
  [raw`[\]\-\\]`, '[2d 5c-5d]'],
  [raw`[\d-z]`, '[2d 30-39 7a]'],
  [raw`[\n\x41-\x{43}\060]`, '[a 30 41-43]'],
  [raw`[^\w\pL\P{Greek}]`, '[^30-39 41-5a 5f 61-7a L !Greek]'],
  ['[[:digit:]x]', '[30-39 78]'],
  ['[[:^digit:]]', '[0-2f 3a-10ffff]'],
  ['[[:word:]-]', '[2d 30-39 41-5a 5f 61-7a]'],
  ['[[:a]', '[3a 5b 61]'],
  ['[[:]a', "seq([3a 5b], 'a')"],
  ['[[.a]', '[2e 5b 61]'],
  ['[:alpha:]', '[3a 61 68 6c 70]'],
  ['(?i)[a-b]', '[61-62]/i'],
];

for (const [pattern, tree] of TREES) {
  test(`tree of ${JSON.stringify(pattern)}`, () => {
    assert.equal(printRegex(parseRegex(pattern)), tree);
  });
}

/** Refused expressions; `¦` stands before the culprit. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  group: ['¦(', 'a¦(', '(a)¦(b', '(¦(a', '¦((a)', 'a¦)', '¦)(', 'a|¦(b|c'],
  'group head': ['¦(?', '¦(?:a', '¦(?i', '¦(?P', '¦(?<', '¦(?P<n'],
  'kind of group': '(?¦=a) (?¦!a) (?<¦=a) (?<¦!a) (?¦>a) (?¦#a) (?P¦=n) (?¦|a)'.split(' '),
  flag: ['(?¦x)', '(?i¦x:a)', '(?-¦)', '(?i-¦)', '(?-¦-i)', '(?i-¦:a)'],
  name: ['(?P<¦>a)', '(?P<a¦-b>c)', '(?P<n>a)(?P<¦n>b)'],
  class: ['¦[', 'a¦[b', '¦[]', '¦[^]', '¦[a-', raw`¦[a\]`, '¦[[:alpha:]', 'a¦[b(c)'],
  'member of a class': ['[b-¦a]', raw`[a-\¦d]`, raw`[\¦b]`, raw`[\¦A]`, raw`[\¦1]`],
  'name of a class': ['[[:¦nosuch:]]', '[[:^¦nosuch:]]', '[[:¦a] b:]'],
  'lone backslash': ['¦\\', 'ab¦\\', '\\\\¦\\', '[a¦\\', '[a-¦\\', '(a¦\\'],
  repeat: ['¦*', '¦+a', '¦?', 'a|¦*', '(¦*a)', '¦{2}', '(?i)¦*', raw`\Q\E¦*`],
  'doubled repeat': ['a*¦*', 'a+¦+', 'a??¦?', 'a*?¦*', 'a{2}¦{3}', 'a*¦{2}'],
  count: ['a{¦1001}', 'a{¦1001,}', 'a{0,¦1001}', 'a{¦99999999999,2}', 'a{3,¦2}'],
  'product of counts': ['(a{100}){¦11}', '((a{10}){10}){¦11}', '(a{2,}){¦501}', '(a|b{501}){¦2}'],
  escape: ['q', 'Z', 'C', 'E', 'G', 'ä', 'k<n>'].map((escape) => `\\¦${escape}`),
  'back-reference': [raw`\¦1`, raw`(a)\¦2`, raw`\¦8`],
  hexadecimal: [raw`\x¦`, raw`\x4¦g`, raw`\x{¦}`, raw`\x{41¦g}`, raw`\x{11000¦0}`, raw`\x{41¦`],
  property: [
    raw`\p¦`,
    raw`\p¦Q`,
    raw`\p{¦Nosuch}`,
    raw`\p{¦}`,
    raw`\p{Greek¦`,
    raw`\p{^¦no}`,
    raw`\p{L¦=u}`,
  ],
};

for (const [kind, patterns] of Object.entries(REFUSED)) {
  for (const marked of patterns) {
    const position = Array.from(marked).indexOf('¦');
    const pattern = marked.replace('¦', '');
    test(`refused ${kind}: ${JSON.stringify(pattern)} at ${position}`, () => {
      assert.throws(
        () => parseRegex(pattern),
        (error) => error instanceof QueryError && error.position === position,
      );
    });
  }
}

/** Refused expressions, and what their messages say to write instead. */
const REMEDIES = [
  ['*.ts', /nothing to repeat: a glob's \* is \.\* here.* at position 0$/],
  ['(?<!x)y', /no look-around; -content:x excludes files that contain x at position 3$/],
  ['(?=x)y', /no look-around; .* at position 2$/],
  ['a\\', /must be quoted, "a b"; lone backslash at the end at position 1$/],
] as const;

for (const [pattern, message] of REMEDIES) {
  test(`the message names a remedy: ${JSON.stringify(pattern)}`, () => {
    assert.throws(() => parseRegex(pattern), { message });
  });
}

test('look-around characters elsewhere are not look-around', () => {
  for (const pattern of ['(?P=n)', '(?>a)', '+a'])
    assert.throws(
      () => parseRegex(pattern),
      ({ message }: Error) => !/look-around|glob/.test(message),
    );
});

test('the position refers to the query', () => {
  assert.throws(() => parseRegex('\u{1f600}(', { position: 7 }), {
    message: /^regular expression: .* at position 8$/,
  });
});

test('counts up to 1000 and products up to 1000 are accepted', () => {
  for (const pattern of [
    'a{1000}',
    'a{0,1000}',
    '(a{10}){100}',
    '(a{1000}){0}',
    '(a{1000})*',
    'a{1000}b{1000}',
  ]) {
    assert.doesNotThrow(() => parseRegex(pattern), pattern);
  }
});

function nested(depth: number): string {
  return `${'('.repeat(depth)}a${')'.repeat(depth)}`;
}

test('nesting is limited', () => {
  assert.equal(printRegex(parseRegex(nested(PATTERN_DEPTH_MAX))), "'a'");
  assert.throws(() => parseRegex(nested(PATTERN_DEPTH_MAX + 1)), { position: PATTERN_DEPTH_MAX });
});

test('patterns of the largest size, of any kind, parse or are refused', () => {
  for (const fragment of [
    '(',
    '[',
    '[[:',
    '|',
    '\\Q',
    'a{',
    'a(?i)*',
    '(?i)',
    '()*',
    '\\pL',
    '[a]',
    '(?:a|b)?',
    '{1}',
    '\\',
  ]) {
    const pattern = fragment.repeat(Math.floor(PATTERN_SIZE_MAX / fragment.length));
    try {
      assert.notEqual(printRegex(parseRegex(pattern)), '');
    } catch (error) {
      assert.ok(error instanceof QueryError, fragment);
    }
  }
});
