// The token rules of the query language (API.md 9.2), with cases beside the worked examples: tables of query and
// canonical form.

import test from 'node:test';
import assert from 'node:assert/strict';
import { QueryError } from '../../../daemon/engine/regex/query-error.ts';
import { printRegex } from '../../../daemon/engine/regex/print.ts';
import { GROUP_DEPTH_MAX, parseQuery } from '../../../daemon/engine/query/parser.ts';
import { formOf } from './forms.ts';

type Case = readonly [query: string, form: string];

function table(name: string, mode: 'K' | 'R', cases: readonly Case[]): void {
  for (const [query, form] of cases) {
    test(`${name}, mode ${mode}: ${JSON.stringify(query)}`, () => {
      assert.equal(formOf(query, mode), form);
    });
  }
}

const raw = String.raw;

table('white space', 'K', [
  ['a\tb\nc', 'and(text:"a", text:"b", text:"c")'],
  ['a\rb', 'text:"a\rb"'],
  ['  a  ', 'text:"a"'],
  ['a\u00a0b', 'text:"a\u00a0b"'],
]);

table('prefix', 'K', [
  ['r:a', 'repo:/a/'],
  ['f:a', 'file:/a/'],
  ['c:a', 'content:"a"'],
  ['sym:a', 'sym:/a/'],
  ['lang:C++', 'lang:"C++"'],
  ['reposet:a,b', 'reposet:"a,b"'],
  ['file :a', 'and(text:"file", text:":a")'],
  ['xfile:a', 'text:"xfile:a"'],
  ['file:\n\t a', 'file:/a/'],
  ['type:a b:a regex:a public:a l:a a:a select:a count:a', formOfWords()],
  [
    'timeout:a patterntype:a case:a branch:a',
    'and(text:"timeout:a", text:"patterntype:a", text:"case:a", text:"branch:a")',
  ],
  ['toString:a', 'text:"toString:a"'],
  ['(file:)', 'ERROR@6'],
  ['file:   ', 'ERROR@5'],
  ['a -file:', 'ERROR@8'],
  ['lang:""', 'ERROR@5'],
  ['content:""', 'ERROR@8'],
]);

function formOfWords(): string {
  const names = ['type', 'b', 'regex', 'public', 'l', 'a', 'select', 'count'];
  return `and(${names.map((name) => `text:"${name}:a"`).join(', ')})`;
}

table('checked values', 'K', [
  ['archived:yes', 'archived:"yes"'],
  ['fork:only', 'fork:"only"'],
  ['visibility:any', 'visibility:"any"'],
  ['visibility:private', 'visibility:"private"'],
  ['archived:"no"', 'archived:"no"'],
  ['archived:No', 'ERROR@9'],
  ['a fork:any', 'ERROR@7'],
  ['visibility:internal', 'ERROR@11'],
  ['fork:"never"', 'ERROR@6'],
]);

table('value', 'K', [
  ['file:"a b"c', 'and(file:/a b/, text:"c")'],
  ['file:a"b c', 'and(file:/a"b/, text:"c")'],
  ['file:"a', 'file:/"a/'],
  ['file:(a)(b) c', 'and(file:/(a)(b)/, text:"c")'],
  ['(file:(a)b) c', 'and(file:/(a)b/, text:"c")'],
  ['(file:a)b', 'and(file:/a/, text:"b")'],
  ['content:(a b)', 'and(content:"(a", text:"b)")'],
  ['file:lang:go', 'ERROR@5'],
  ['file: lang:go', 'ERROR@6'],
  ['file:"lang:go"', 'file:/lang:go/'],
  ['file:-lang:go', 'file:/-lang:go/'],
  ['file: or x', 'and(file:/or/, text:"x")'],
  [raw`(file:a\) or x)`, raw`or(file:/a\)/, text:"x")`],
  ['(file:[)] x)', 'and(file:/[)]/, text:"x")'],
  [raw`(lang:a\) x)`, raw`and(lang:"a\", text:"x)")`],
]);

table('quoted', 'K', [
  ['"a\nb"', raw`and(text:"\"a", text:"b\"")`],
  ['"a\\\nb"', raw`and(text:"\"a\", text:"b\"")`],
  ["'a b'", `and(text:"'a", text:"b'")`],
  ['"a""b"', 'and(text:"a", text:"b")'],
  ['"a"file:b', 'and(text:"a", file:/b/)'],
  ['"a"(b)', 'and(text:"a", text:"b")'],
  [raw`"a\" b`, raw`and(text:"\"a\"", text:"b")`],
  ['a ""', 'ERROR@2'],
  ['"or" a', 'and(text:"or", text:"a")'],
  ['a "or" b', 'and(text:"a", text:"or", text:"b")'],
  ['"(" a', 'and(text:"(", text:"a")'],
  ['"file:a"', 'text:"file:a"'],
]);

for (const mode of ['K', 'R'] as const) {
  table('empty', mode, [
    ['""', 'ERROR@0'],
    ['-c:""', 'ERROR@3'],
    ['(a "")', 'ERROR@3'],
    ['repo:""', 'ERROR@5'],
    ['rev:""', 'ERROR@4'],
    ['sym:""', 'ERROR@4'],
    ['\r', mode === 'K' ? 'text:"\r"' : 'regex:/\r/'],
    ['() or -()', 'or(NONE, ALL)'],
    ['-() -(())', 'and(ALL, ALL)'],
  ]);
}

table('unescaping', 'K', [
  [raw`a\\b`, raw`text:"a\b"`],
  [raw`a\"b`, raw`text:"a\"b"`],
  [raw`a\d\\\"`, raw`text:"a\d\\""`],
  [raw`content:"a\\b"`, raw`content:"a\b"`],
  [raw`lang:"a\"b"`, raw`lang:"a\"b"`],
  [raw`rev:a\\b`, raw`rev:"a\b"`],
  [raw`file:a\\b`, raw`file:/a\\b/`],
  [raw`repo:"a\"b"`, raw`repo:/a\"b/`],
]);

table('unescaping', 'R', [
  [raw`a\\b`, raw`regex:/a\\b/`],
  [raw`"a\"b"`, raw`regex:/a\"b/`],
  [raw`content:"a\\b"`, raw`regex:/a\\b/`],
  [raw`lang:"a\\b"`, raw`lang:"a\b"`],
]);

table('or', 'K', [
  ['or', 'text:"or"'],
  ['or or', 'and(text:"or", text:"or")'],
  ['or or or', 'or(text:"or", text:"or")'],
  ['a or or', 'or(text:"a", text:"or")'],
  ['a or or or', 'ERROR@5'],
  ['a\tor\nb', 'or(text:"a", text:"b")'],
  ['a or)', 'and(text:"a", text:"or)")'],
  ['a or )', 'or(text:"a", text:")")'],
  ['(a)or b', 'or(text:"a", text:"b")'],
  ['"a"or b', 'and(text:"a", text:"or", text:"b")'],
  ['a or(b)', 'and(text:"a", text:"or(b)")'],
  ['a (or b)', 'and(text:"a", text:"or", text:"b")'],
  ['(a or b or ) c', 'and(or(text:"a", and(text:"b", text:"or")), text:"c")'],
  ['a or (b or c)', 'or(text:"a", text:"b", text:"c")'],
  ['a (b c) or d', 'or(and(text:"a", text:"b", text:"c"), text:"d")'],
  ['a Or b', 'and(text:"a", text:"Or", text:"b")'],
  ['a not b NOT c AND d', words('a not b NOT c AND d')],
]);

function words(query: string): string {
  return `and(${query
    .split(' ')
    .map((word) => `text:"${word}"`)
    .join(', ')})`;
}

table('dash', 'K', [
  ['-\n(a)', 'not(text:"a")'],
  ['a-(b)', 'text:"a-(b)"'],
  ['-(a', 'text:"-(a"'],
  ['- (a', 'and(text:"-", text:"(a")'],
  ['- a', 'and(text:"-", text:"a")'],
  ['- -file:a', 'and(text:"-", not(file:/a/))'],
  ['-(-(a))', 'not(not(text:"a"))'],
  ['-(-())', 'not(ALL)'],
  ['-file:"a b" c', 'and(not(file:/a b/), text:"c")'],
  ['-c:"a b"', 'not(content:"a b")'],
]);

table('parenthesis', 'K', [
  ['( )', 'NONE'],
  ['(())', 'NONE'],
  ['a ()', 'and(text:"a", NONE)'],
  ['((a) (b', 'and(text:"((a)", text:"(b")'],
  ['(a) (b', 'and(text:"a", text:"(b")'],
  ['(a (b)', 'and(text:"(a", text:"b")'],
  ['(test( a)', 'and(text:"(test(", text:"a)")'],
  ['(a( b) c)', 'and(text:"a(", text:"b", text:"c)")'],
  ['("(" a)', 'and(text:"(", text:"a")'],
  ['(a"(" b)', raw`and(text:"(a\"(\"", text:"b)")`],
  ['("a (b) c" d', raw`and(text:"(\"a", text:"b", text:"c\"", text:"d")`],
  ['(a)(b)', 'and(text:"a", text:"b")'],
  ['(a)file:b', 'and(text:"a", file:/b/)'],
  ['(a)"b c"', 'and(text:"a", text:"b c")'],
  [')', 'text:")"'],
  [') (a)', 'and(text:")", text:"a")'],
  ['(a) )', 'and(text:"a", text:")")'],
  ['a(b)c)d', 'text:"a(b)c)d"'],
  ['(a(b)c)d', 'and(text:"a(b)c", text:"d")'],
  [raw`(a\) b)`, raw`and(text:"a\", text:"b)")`],
  [raw`(\(foo or bar)`, raw`or(text:"(\(foo", text:"bar)")`],
  [raw`(\(foo bar)`, raw`and(text:"(\(foo", text:"bar)")`],
  [raw`(\(foo) bar`, raw`and(text:"(\(foo)", text:"bar")`],
]);

table('parenthesis', 'R', [
  ['()', 'NONE'],
  ['( )', 'NONE'],
  ['( a )', 'regex:/a/'],
  ['(a)', 'regex:/(a)/'],
  ['((a b))', 'and(regex:/a/, regex:/b/)'],
  ['((a b)c)', 'ERROR@1'],
  ['(("a"))', 'regex:/a/'],
  ['("a"|"b")', raw`and(regex:/a/, regex:/|"b"/)`],
  ['(file:a)', 'file:/a/'],
  ['(-file:a)', 'not(file:/a/)'],
  ['(-foo:a)', 'regex:/(-foo:a)/'],
  ['((file:a))', 'file:/a/'],
  ['(())', 'NONE'],
  ['-(a)', 'not(regex:/a/)'],
  ['-((a))', 'not(regex:/(a)/)'],
  ['- (a|b)', 'not(regex:/a|b/)'],
  ['(-(a))', 'regex:/(-(a))/'],
  ['(- (a))', 'not(regex:/a/)'],
  ['((a b)file: x)', 'and(regex:/a/, regex:/b/, file:/x/)'],
  ['((a b)lang:x( c) d)', 'ERROR@18'],
  ['-(a', 'ERROR@1'],
  [raw`(a\) b)`, raw`and(regex:/a\)/, regex:/b/)`],
  [raw`(\( a)`, raw`and(regex:/\(/, regex:/a/)`],
  [raw`(\\(a) b)`, raw`and(regex:/\\(a)/, regex:/b/)`],
  ['([)(] a)', 'and(regex:/[)(]/, regex:/a/)'],
  ['([])] a)', 'and(regex:/[])]/, regex:/a/)'],
  ['([^])] a)', 'and(regex:/[^])]/, regex:/a/)'],
  ['([[:alpha:])] a)', 'and(regex:/[[:alpha:])]/, regex:/a/)'],
  [raw`([\])] a)`, raw`and(regex:/[\])]/, regex:/a/)`],
  ['((a|b)c d)', 'and(regex:/(a|b)c/, regex:/d/)'],
  ['(a b)|c', 'and(regex:/a/, regex:/b/, regex:/|c/)'],
  ['(a ([)', 'ERROR@0'],
  ['([ a)', 'ERROR@1'],
  ['a)', 'ERROR@1'],
  ['foo\\', 'ERROR@3'],
]);

table('culprit of a regular expression', 'K', [
  ['a file:"b(c"', 'ERROR@9'],
  ['sym: [a', 'ERROR@5'],
  ['\u{1f600} repo:a**', 'ERROR@9'],
  ['(file:"a|*" or x)', 'ERROR@9'],
]);

test('the error has a reason and a position', () => {
  assert.throws(
    () => parseQuery('fork:maybe', { isRegexEnabled: false }),
    (error) =>
      error instanceof QueryError &&
      error.reason === 'value of fork: must be yes, no, only' &&
      error.position === 5 &&
      error.message === 'value of fork: must be yes, no, only at position 5',
  );
});

test('leaves have the positions of their text', () => {
  const D = { kind: 'literal', codePoint: 0x64, isFolded: false };
  assert.deepEqual(parseQuery('\u{1f600}b "c" file:"d" lang: e', { isRegexEnabled: false }), {
    kind: 'and',
    children: [
      { kind: 'text', text: '\u{1f600}b', position: 0 },
      { kind: 'text', text: 'c', position: 4 },
      { kind: 'pattern', prefix: 'file', pattern: 'd', tree: D, position: 13 },
      { kind: 'value', prefix: 'lang', value: 'e', position: 22 },
    ],
  });
});

test('regular expressions ignore case where requested, but never those of repos', () => {
  const fields = (isFolded: boolean) => {
    const query = parseQuery('a (?-i)b file:c sym:d repo:e', { isRegexEnabled: true, isFolded });
    assert.ok(query.kind === 'and');
    return query.children.map((leaf) => ('tree' in leaf ? printRegex(leaf.tree) : ''));
  };
  assert.deepEqual(fields(false), ["'a'", "'b'", "'c'", "'d'", "'e'"]);
  assert.deepEqual(fields(true), ["'a'/i", "'b'", "'c'/i", "'d'/i", "'e'"]);
});

function nested(depth: number): string {
  return `${'( '.repeat(depth)}a${' )'.repeat(depth)}`;
}

for (const mode of ['K', 'R'] as const) {
  test(`nested groups up to the limit, mode ${mode}`, () => {
    assert.match(formOf(nested(GROUP_DEPTH_MAX), mode), /^(text|regex):/);
    assert.equal(formOf(nested(GROUP_DEPTH_MAX + 1), mode), `ERROR@${2 * GROUP_DEPTH_MAX}`);
  });
}

test('an expression above 4096 bytes is refused, in bytes and not in characters', () => {
  assert.equal(
    formOf(`x file:${'a'.repeat(4096)}`, 'K'),
    `and(text:"x", file:/${'a'.repeat(4096)}/)`,
  );
  assert.equal(formOf(`x file:${'a'.repeat(4097)}`, 'K'), 'ERROR@7');
  assert.equal(formOf('\u00e4'.repeat(2049), 'R'), 'ERROR@0');
  assert.equal(formOf('a'.repeat(4097), 'K'), `text:"${'a'.repeat(4097)}"`);
});
