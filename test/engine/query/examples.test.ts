// The worked examples of the query language (API.md 9.8), row by row. Mode K: words are literal; mode R:
// words are regular expressions. `ERROR@n`: refused, the culprit at code point n.

import test from 'node:test';
import assert from 'node:assert/strict';
import { formOf } from './forms.ts';

type Row = readonly [number: number, query: string, mode: 'K' | 'R', form: string];

const ROWS: readonly Row[] = [
  [1, 'foo', 'K', 'text:"foo"'],
  [2, 'foo bar', 'K', 'and(text:"foo", text:"bar")'],
  [3, '"foo bar"', 'K', 'text:"foo bar"'],
  [4, 'foo or bar', 'K', 'or(text:"foo", text:"bar")'],
  [5, 'foo bar or baz qux', 'K', 'or(and(text:"foo", text:"bar"), and(text:"baz", text:"qux"))'],
  [6, 'foo (bar or baz)', 'K', 'and(text:"foo", or(text:"bar", text:"baz"))'],
  [7, '(foo)', 'K', 'text:"foo"'],
  [8, '((foo bar))', 'K', 'and(text:"foo", text:"bar")'],
  [9, 'foo OR bar', 'K', 'and(text:"foo", text:"OR", text:"bar")'],
  [10, 'foo and bar', 'K', 'and(text:"foo", text:"and", text:"bar")'],
  [11, 'or foo', 'K', 'and(text:"or", text:"foo")'],
  [12, 'foo or', 'K', 'and(text:"foo", text:"or")'],
  [13, 'orange', 'K', 'text:"orange"'],
  [14, 'foo or or bar', 'K', 'ERROR@7'],
  [15, '', 'K', 'ERROR@0'],
  [15, '', 'R', 'ERROR@0'],
  [15, ' \t\n ', 'K', 'ERROR@0'],
  [15, ' \t\n ', 'R', 'ERROR@0'],
  [16, '()', 'K', 'NONE'],
  [17, '-foo', 'K', 'text:"-foo"'],
  [18, '-"foo"', 'K', String.raw`text:"-\"foo\""`],
  [19, '-(foo) bar', 'K', 'and(not(text:"foo"), text:"bar")'],
  [20, '- file:test foo', 'K', 'and(not(file:/test/), text:"foo")'],
  [21, String.raw`-file:_test\.go$ foo`, 'K', String.raw`and(not(file:/_test\.go$/), text:"foo")`],
  [22, '-(file:test or file:spec) foo', 'K', 'and(not(or(file:/test/, file:/spec/)), text:"foo")'],
  [23, '-http://x', 'K', 'text:"-http://x"'],
  [24, '-foo:bar', 'K', 'text:"-foo:bar"'],
  [25, 'foo:bar', 'K', 'text:"foo:bar"'],
  [26, 'File:x', 'K', 'text:"File:x"'],
  [27, 'case:yes foo', 'K', 'and(text:"case:yes", text:"foo")'],
  [28, 'branch:main foo', 'K', 'and(text:"branch:main", text:"foo")'],
  [29, 'file:README', 'K', 'file:/README/'],
  [
    30,
    String.raw`f:\.ts$ lang:TypeScript useState`,
    'K',
    String.raw`and(file:/\.ts$/, lang:"TypeScript", text:"useState")`,
  ],
  [31, 'file:"a b"', 'K', 'file:/a b/'],
  [32, String.raw`file:(test|spec)\.ts`, 'K', String.raw`file:/(test|spec)\.ts/`],
  [
    33,
    String.raw`repo:^github\.com/acme/web$ foo`,
    'K',
    String.raw`and(repo:/^github\.com/acme/web$/, text:"foo")`,
  ],
  [34, 'r:acme -r:legacy foo', 'K', 'and(repo:/acme/, not(repo:/legacy/), text:"foo")'],
  [35, 'repo:Acme', 'K', 'repo:/Acme/'],
  [
    36,
    'reposet:github.com/a/b,github.com/c/d foo',
    'K',
    'and(reposet:"github.com/a/b,github.com/c/d", text:"foo")',
  ],
  [37, 'context:web userId', 'K', 'and(context:"web", text:"userId")'],
  [38, '-context:pipelines foo', 'K', 'and(not(context:"pipelines"), text:"foo")'],
  [
    39,
    String.raw`( context:p1 or context:p2 ) logger\.debug`,
    'R',
    String.raw`and(or(context:"p1", context:"p2"), regex:/logger\.debug/)`,
  ],
  [40, 'lang:go func', 'K', 'and(lang:"go", text:"func")'],
  [41, 'lang:nosuch x', 'K', 'and(lang:"nosuch", text:"x")'],
  [42, 'rev:* foo', 'K', 'and(rev:"*", text:"foo")'],
  [43, 'rev:release foo', 'K', 'and(rev:"release", text:"foo")'],
  [44, '(rev:a or rev:b) foo', 'K', 'and(or(rev:"a", rev:"b"), text:"foo")'],
  [45, '-rev:main foo', 'K', 'and(not(rev:"main"), text:"foo")'],
  [46, 'sym:parse', 'K', 'sym:/parse/'],
  [47, String.raw`sym:\bmain\b lang:c`, 'K', String.raw`and(sym:/\bmain\b/, lang:"c")`],
  [48, 'content:foo', 'K', 'content:"foo"'],
  [48, 'c:foo', 'K', 'content:"foo"'],
  [49, 'content:"repo:x"', 'K', 'content:"repo:x"'],
  [50, 'content:repo:x', 'K', 'ERROR@8'],
  [51, 'archived:no fork:no foo', 'K', 'and(archived:"no", fork:"no", text:"foo")'],
  [52, 'archived:only', 'K', 'archived:"only"'],
  [53, 'archived:maybe', 'K', 'ERROR@9'],
  [54, 'visibility:public foo', 'K', 'and(visibility:"public", text:"foo")'],
  [55, 'test( foo', 'K', 'and(text:"test(", text:"foo")'],
  [56, 'func(arg)', 'K', 'text:"func(arg)"'],
  [57, 'foo"bar baz"', 'K', String.raw`and(text:"foo\"bar", text:"baz\"")`],
  [58, '"foo', 'K', String.raw`text:"\"foo"`],
  [59, String.raw`"a \"b\""`, 'K', String.raw`text:"a \"b\""`],
  [60, 'foo.*bar', 'R', 'regex:/foo.*bar/'],
  [61, String.raw`^function\s+\w+`, 'R', String.raw`regex:/^function\s+\w+/`],
  [62, '(foo|bar)', 'R', 'regex:/(foo|bar)/'],
  [63, '(foo bar)', 'R', 'and(regex:/foo/, regex:/bar/)'],
  [64, '(file:a or file:b) x', 'R', 'and(or(file:/a/, file:/b/), regex:/x/)'],
  [65, '"foo bar"', 'R', 'regex:/foo bar/'],
  [66, String.raw`foo\(`, 'R', String.raw`regex:/foo\(/`],
  [67, 'foo(', 'R', 'ERROR@3'],
  [
    68,
    '"useQuery" (repo:a or repo:b) (lang:Go or lang:C) ( rev:refs/heads/x )',
    'K',
    'and(text:"useQuery", or(repo:/a/, repo:/b/), or(lang:"Go", lang:"C"), rev:"refs/heads/x")',
  ],
  [69, 'file: foo', 'K', 'file:/foo/'],
  [70, 'foo file:', 'K', 'ERROR@9'],
  [71, 'file:""', 'K', 'ERROR@5'],
  [72, '"foo"bar', 'K', 'and(text:"foo", text:"bar")'],
  [73, '(foo)bar', 'K', 'and(text:"foo", text:"bar")'],
  [74, '-', 'K', 'text:"-"'],
  [75, '--file:x', 'K', 'text:"--file:x"'],
  [76, '-content:foo bar', 'K', 'and(not(content:"foo"), text:"bar")'],
  [77, '(foo or) bar', 'K', 'and(text:"foo", text:"or", text:"bar")'],
  [78, '-()', 'K', 'ALL'],
  [79, String.raw`"C:\\dir"`, 'K', String.raw`text:"C:\dir"`],
  [80, String.raw`"a\nb"`, 'K', String.raw`text:"a\nb"`],
  [81, 'foo)', 'K', 'text:"foo)"'],
  [82, '((foo)', 'K', 'text:"((foo)"'],
  [83, '(func(arg) x)', 'K', 'and(text:"func(arg)", text:"x")'],
  [84, 'repo:(', 'K', 'ERROR@5'],
  [85, 'a or b or c', 'K', 'or(text:"a", text:"b", text:"c")'],
  [86, '-(foo) bar', 'R', 'and(not(regex:/foo/), regex:/bar/)'],
  [87, '(a|b)c', 'R', 'regex:/(a|b)c/'],
  [88, String.raw`foo\ bar`, 'R', 'ERROR@3'],
  [89, 'content:"a(b"', 'R', 'ERROR@10'],
  [90, String.raw`sym:"operator\+"`, 'K', String.raw`sym:/operator\+/`],
];

for (const [number, query, mode, form] of ROWS) {
  test(`row ${number}, mode ${mode}: ${JSON.stringify(query)}`, () => {
    assert.equal(formOf(query, mode), form);
  });
}

test('the table has every row', () => {
  const numbers = new Set(ROWS.map(([number]) => number));
  assert.deepEqual(
    [...numbers],
    Array.from({ length: 90 }, (_, index) => index + 1),
  );
});
