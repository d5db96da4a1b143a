// What commands print: results in all forms (marked chunks in, exact text out), explanations, the content of an index, errors.

import assert from 'node:assert/strict';
import test from 'node:test';
import { describeCheck } from '../../daemon/cli/commands/verify.ts';
import { RequestError, describeError, pointAt } from '../../daemon/cli/errors.ts';
import { formatExplanation } from '../../daemon/cli/explain-output.ts';
import {
  formatHints,
  formatIncomplete,
  formatResponse,
  formatStats,
  type OutputOptions,
} from '../../daemon/cli/search-output.ts';
import { formatSummary, shardFields } from '../../daemon/cli/summary-output.ts';
import type { FileResult } from '../../daemon/api/search/search-schemas.ts';
import { chunk, explanation, file, response, surveyed } from './responses.ts';

const PIPE: OutputOptions = {
  form: 'lines',
  unit: 'line',
  hasHeading: false,
  hasFileName: true,
  hasLineNumber: true,
  hasColumn: false,
  hasNull: false,
  before: 0,
  after: 0,
  lineCountMax: Infinity,
  lineSizeMax: Infinity,
  hasColor: false,
  isEscaped: false,
  sort: 'rank',
};
const CONTEXT = { before: 1, after: 1 };
const TERMINAL: OutputOptions = { ...PIPE, ...CONTEXT, hasHeading: true, isEscaped: true };
const COLORED: OutputOptions = { ...TERMINAL, hasColor: true };

interface Row {
  readonly name: string;
  readonly options: OutputOptions;
  readonly files: FileResult[];
  readonly output: string;
}

/** Colour codes as short names: {m}agenta, {g}reen, {r}ed bold, {0} reset. */
function colors(text: string): string {
  return text
    .replaceAll('{m}', '\u001b[35m')
    .replaceAll('{g}', '\u001b[32m')
    .replaceAll('{r}', '\u001b[1;31m')
    .replaceAll('{0}', '\u001b[0m');
}

const SPANNING = [file('b', [chunk('«x\ny» «z»\n«x\ny»\n«z»\n')])];

const ROWS: readonly Row[] = [
  {
    name: 'names with line ends are one line in a pipe too',
    options: { ...PIPE, form: 'files' },
    files: [file('a\nb\r.c', [])],
    output: 'r/a:a\\nb\\r.c\n',
  },
  {
    name: 'terminal: heading, lines, context, chunks in line order, blank line between files',
    options: TERMINAL,
    files: [
      file('b.c', [chunk('x «y»\nz\n', 9), chunk('a\n«b»\nc\n', 2)]),
      file('a.c', [chunk('«q»\n')]),
    ],
    output: 'r/a:b.c\n2-a\n3:b\n4-c\n--\n9:x y\n10-z\n\nr/a:a.c\n1:q\n',
  },
  {
    name: 'pipe: no -- without context, as ripgrep',
    options: PIPE,
    files: [file('b.c', [chunk('«x»\n', 9), chunk('«b»\n', 2)]), file('a.c', [chunk('«q»\n')])],
    output: 'r/a:b.c:2:b\nr/a:b.c:9:x\nr/a:a.c:1:q\n',
  },
  {
    name: 'pipe: with context -- is between lines that are not adjacent, and between files',
    options: { ...PIPE, ...CONTEXT },
    files: [
      file('b.c', [chunk('«b»\nc\n', 2), chunk('d\n«e»\n', 4), chunk('«x»\n', 9)]),
      file('a.c', [chunk('«q»\n')]),
    ],
    output:
      'r/a:b.c:2:b\nr/a:b.c-3-c\nr/a:b.c-4-d\nr/a:b.c:5:e\n--\nr/a:b.c:9:x\n--\nr/a:a.c:1:q\n',
  },
  {
    name: 'terminal with colours',
    options: COLORED,
    files: [file('b.c', [chunk('one «two» three «four»\nnext\n', 7)])],
    output: colors('{m}r/a:b.c{0}\n{g}7{0}:one {r}two{0} three {r}four{0}\n{g}8{0}-next\n'),
  },
  {
    name: 'multi-byte text: ranges by code point, behind two- and four-byte characters',
    options: COLORED,
    files: [file('ü.c', [chunk('äö 𝒳𝒴«ß𝒵» «é» 😀\n')])],
    output: colors('{m}r/a:ü.c{0}\n{g}1{0}:äö 𝒳𝒴{r}ß𝒵{0} {r}é{0} 😀\n'),
  },
  {
    name: 'bad bytes count one column each',
    options: COLORED,
    files: [file('b', [chunk('\ufffd\ufffd«x»\ufffd\n')])],
    output: colors('{m}r/a:b{0}\n{g}1{0}:\ufffd\ufffd{r}x{0}\ufffd\n'),
  },
  {
    name: 'bad bytes count one byte each in a column, in the line before too',
    options: { ...PIPE, hasColumn: true },
    files: [file('b', [chunk('\ufffd\nü\ufffd«x»\ufffd«x»\n')])],
    output: 'r/a:b:2:4:ü\ufffdx\ufffdx\n',
  },
  {
    name: 'a range over several lines marks each of them',
    options: COLORED,
    files: [file('b', [chunk('a «b\nc\nd» e\nf\n', 3)])],
    output: colors(
      '{m}r/a:b{0}\n{g}3{0}:a {r}b{0}\n{g}4{0}:{r}c{0}\n{g}5{0}:{r}d{0} e\n{g}6{0}-f\n',
    ),
  },
  {
    name: 'a range that ends with the line feed belongs to its line only',
    options: COLORED,
    files: [file('b', [chunk('a «b\n»c\n')])],
    output: colors('{m}r/a:b{0}\n{g}1{0}:a {r}b{0}\n{g}2{0}-c\n'),
  },
  {
    name: 'a range of nothing but the line feed still makes a matching line',
    options: { ...PIPE, ...CONTEXT },
    files: [file('b', [chunk('a«\n»b\n')])],
    output: 'r/a:b:1:a\nr/a:b-2-b\n',
  },
  {
    name: 'no line feed at the end of the file; an empty context line',
    options: { ...PIPE, ...CONTEXT },
    files: [file('b', [chunk('\n«b»')])],
    output: 'r/a:b-1-\nr/a:b:2:b\n',
  },
  {
    name: 'pipe: CRLF stays as it is',
    options: { ...PIPE, ...CONTEXT },
    files: [file('b', [chunk('«a»\r\nb\r\n')])],
    output: 'r/a:b:1:a\r\nr/a:b-2-b\r\n',
  },
  {
    name: 'terminal: the carriage return of a line end is not shown, a matched or inner one is',
    options: TERMINAL,
    files: [file('b', [chunk('«a»\r\n«b\r»\nc\rd\r\n')])],
    output: 'r/a:b\n1:a\n2:b\\r\n3-c\\rd\n',
  },
  {
    name: 'terminal: control characters of contents and names are escaped, a tab is not',
    options: TERMINAL,
    files: [file('e\u001b]0;x\u0007\nf', [chunk('\t\u001b[2J«\u0000\u009b»\u202ex\n')])],
    output: 'r/a:e\\x1b]0;x\\x07\\nf\n1:\t\\x1b[2J\\x00\\x9b\\u202ex\n',
  },
  {
    name: 'terminal: an escaped character inside a range is marked as a whole',
    options: COLORED,
    files: [file('b', [chunk('a«\u001bz»b\n')])],
    output: colors('{m}r/a:b{0}\n{g}1{0}:a{r}\\x1bz{0}b\n'),
  },
  {
    name: 'pipe: control characters stay',
    options: PIPE,
    files: [file('b', [chunk('«a»\u001b[0m\n')])],
    output: 'r/a:b:1:a\u001b[0m\n',
  },
  {
    name: 'pipe: separators',
    options: { ...PIPE, ...CONTEXT },
    files: [
      file('b', [chunk('a\n«b»\n', 1), chunk('«c»\n', 8)]),
      file('d-1:x', [chunk('«e»\n', 2)], 'r/z'),
    ],
    output: 'r/a:b-1-a\nr/a:b:2:b\n--\nr/a:b:8:c\n--\nr/z:d-1:x:2:e\n',
  },
  {
    name: 'pipe with forced colours',
    options: { ...PIPE, hasColor: true },
    files: [file('b', [chunk('«a»\n')])],
    output: colors('{m}r/a:b{0}:{g}1{0}:{r}a{0}\n'),
  },
  {
    name: 'result by name: the heading alone, its ranges marked',
    options: COLORED,
    files: [file('src/«main».c'), file('«ü».c')],
    output: colors('{m}r/a:src/{0}{r}main{0}{m}.c{0}\n\n{m}r/a:{0}{r}ü{0}{m}.c{0}\n'),
  },
  {
    name: 'result by name in a pipe',
    options: PIPE,
    files: [file('src/«main».c')],
    output: 'r/a:src/main.c\n',
  },
  {
    name: 'files only',
    options: { ...PIPE, form: 'files' },
    files: [file('b', [chunk('«a»\n')]), file('«c»')],
    output: 'r/a:b\nr/a:c\n',
  },
  {
    name: 'counts: lines, or matches; files found by name have none',
    options: { ...PIPE, form: 'lineCounts' },
    files: [file('b', [chunk('«a» «a»\n'), chunk('«a»\n', 5)]), file('«c»/«c»')],
    output: 'r/a:b:2\n',
  },
  {
    name: 'counts of matches, the names ended by zero bytes',
    options: { ...PIPE, form: 'matchCounts', hasNull: true },
    files: [file('b', [chunk('«a» «a»\n'), chunk('«a»\n', 5)])],
    output: 'r/a:b\u00003\n',
  },
  {
    name: 'a line for each match, with its column in bytes; no files found by name',
    options: { ...PIPE, unit: 'match', hasColumn: true },
    files: [file('b', [chunk('ü«a» 😀«b»\n')]), file('«c»')],
    output: 'r/a:b:1:3:üa 😀b\nr/a:b:1:9:üa 😀b\n',
  },
  {
    name: 'a zero byte in place of the line feed of a heading',
    options: { ...PIPE, hasHeading: true, hasNull: true },
    files: [file('b', [chunk('«a»\n')]), file('c', [chunk('«a»\n')])],
    output: 'r/a:b\u00001:a\n\nr/a:c\u00001:a\n',
  },
  {
    name: 'only what matches',
    options: { ...PIPE, unit: 'text', hasLineNumber: false },
    files: [file('b', [chunk('x «a» «b\nc» y\n')])],
    output: 'r/a:b:a\nr/a:b:b\nr/a:b:c\n',
  },
  {
    name: 'a match over several lines is counted once',
    options: { ...PIPE, form: 'matchCounts' },
    files: SPANNING,
    output: 'r/a:b:4\n',
  },
  {
    name: 'lines are counted on which a match begins',
    options: { ...PIPE, form: 'lineCounts' },
    files: [file('b', [chunk('«x\ny»\n«x\ny»\n«z» «z»\n')])],
    output: 'r/a:b:3\n',
  },
  {
    name: 'a match over several lines is shown to its end, however few lines are asked for',
    options: { ...PIPE, lineCountMax: 1 },
    files: [file('b', [chunk('«x\ny»\n«z»\n')])],
    output: 'r/a:b:1:x\nr/a:b:2:y\n',
  },
  {
    name: 'a line for each match is the one on which it begins',
    options: { ...PIPE, unit: 'match', hasColumn: true },
    files: SPANNING,
    output: 'r/a:b:1:1:x\nr/a:b:2:3:y z\nr/a:b:3:1:x\nr/a:b:5:1:z\n',
  },
  {
    name: 'context before and behind differ, and lines of a file are limited',
    options: { ...PIPE, before: 2, after: 1, lineCountMax: 2 },
    files: [file('f', [chunk('a\nb\nc\n«d»\ne\nf\n«g»\nh\n«i»\n')])],
    output: 'r/a:f-2-b\nr/a:f-3-c\nr/a:f:4:d\nr/a:f-5-e\nr/a:f-6-f\nr/a:f:7:g\nr/a:f-8-h\n',
  },
  {
    name: 'long lines are left out, as ripgrep says it',
    options: { ...PIPE, ...CONTEXT, lineSizeMax: 5 },
    files: [file('f', [chunk('«a» üü\n12345\n«abcd»\n')])],
    output:
      'r/a:f:1:[Omitted long matching line]\nr/a:f-2-[Omitted long context line]\nr/a:f:3:abcd\n',
  },
  {
    name: 'without names and numbers',
    options: { ...PIPE, hasFileName: false, hasLineNumber: false },
    files: [file('f', [chunk('«a»\n')]), file('«g»'), file('h', [chunk('«b»\n')])],
    output: 'a\nb\n',
  },
  {
    name: 'sorted by repository, then path',
    options: { ...PIPE, form: 'files', sort: 'path' },
    files: [file('b', [], 'r/b'), file('z'), file('b/a'), file('B')],
    output: 'r/a:B\nr/a:b/a\nr/a:z\nr/b:b\n',
  },
  { name: 'nothing found', options: TERMINAL, files: [], output: '' },
];

for (const { name, options, files, output } of ROWS) {
  test(`output: ${name}`, () => {
    assert.equal(formatResponse(response(files), options), output);
  });
}

test('output: statistics are one line a field, durations also in ms', () => {
  assert.equal(
    formatStats({ fileCount: 2, duration: 1_500_000, wait: 0, flushReason: 'F' }),
    'fileCount   2\nduration    1500000 (1.500 ms)\nwait        0 (0.000 ms)\nflushReason F\n',
  );
});

test('output: an incomplete answer names the reasons and the matches found so far', () => {
  const answer = response([], {
    isSearchExhaustive: false,
    incompleteReasons: ['match_limit', 'deadline'],
  });
  assert.equal(
    formatIncomplete(answer, 9),
    'incomplete: match_limit, deadline (at least 7 matches found)\n',
  );
  assert.match(
    formatIncomplete({ ...answer, incompleteReasons: ['symbols_missing'] }, 9),
    /found\); a daemon finds symbols after .*: "trawl status" shows how far; without .*\n$/,
  );
  assert.equal(formatIncomplete(response([]), 9), '');
});

test('output: a limit is raised where it can be', () => {
  const answer = response([], { isSearchExhaustive: false, incompleteReasons: ['match_limit'] });
  const said = (actualMatchCount: number, asked: number): string => {
    const stats = { ...answer.stats, actualMatchCount, totalMatchCount: 200_000 };
    return formatIncomplete({ ...answer, stats }, asked);
  };
  const rest = 'at least 200000 exist';
  assert.equal(said(1, 1), `stopped at 1 match; ${rest}; raise --matches\n`);
  assert.match(said(100, 1000), /exist; narrow the query, or raise maxMatchCount\n$/);
  assert.match(said(100_000, 100_000), /exist; narrow the query\n$/);
  assert.match(said(100_000, 200_000), /exist; narrow the query\n$/);
});

test('output: hints name flags, but keep the values of filters', () => {
  const messages = [
    'Without regard to case (isCaseSensitivityEnabled) there is 1 match.',
    'Write regular expressions without slashes, and set isRegexEnabled.',
    'No file matches file:isRegexEnabled.',
  ];
  assert.equal(
    formatHints(messages.map((message) => ({ message }))),
    'hint: Without regard to case (--case-sensitive) there is 1 match.\n' +
      'hint: Write regular expressions without slashes, and set --regex.\n' +
      'hint: No file matches file:isRegexEnabled.\n',
  );
});

test('output: each hint is one line, whatever characters it has', () => {
  const hints = [
    { message: 'No.', query: 'file:a\n\u001bb' },
    { message: 'Words are literal.' },
    { message: 'No slashes.', query: 'fo+', isRegexEnabled: true as const },
  ];
  assert.equal(
    formatHints(hints),
    'hint: No. Try: file:a\\n\\x1bb\nhint: Words are literal.\nhint: No slashes. Try: --regex fo+\n',
  );
  assert.equal(formatHints(undefined), '');
});

test('output: many ranges on one very long line', () => {
  const fragment = '😀«x» ';
  const count = 20_000;
  const answer = response([file('min.js', [chunk(fragment.repeat(count))])]);
  const text = formatResponse(answer, { ...PIPE, hasColor: true });
  assert.equal(text.split(colors('😀{r}x{0}')).length, count + 1);
});

const EXPLAINED = `query:  and(text:"pear", lang:"go"), with rev:"HEAD" implied, as it names no revision
verify: 4,096 bytes estimated, 1 byte read
answer: incomplete: match_limit

plan
  AND
    text:"pear"  1 block, 2 docs
      AND
        "pea"
        "ear"
    regex:/x+/   3,000 docs
      SCAN
    lang:"Go"    1 doc

expressions
  regex:/x+/     DFA                          requires ALL    begins in "x"
  regex:/a.foo/  inner needles by line + DFA  requires "foo"  needles "foo"

best         repository  score   symbol  name  text   near   tier  path  leaves
src/pear.go  r/a         20,134  16,400     0  3,334  9,000   0.7     0     400
x.go         r/a            400

shard  repository  class           docs   totalMatchCount  filesSkipped  filesConsidered  reason
aa     r/a         scanned         1,000                2             0                2  candidate docs: 2
bb     r/a         skipped_filter  1,000                0             0                0  trigram "pea" absent
cc     r/a         skipped         1,000                0         1,000                0  limit reached
sum                                3,000                2         1,000                2

shardsEligible        3
shardsOutOfScope      1
docsInScope           3000
bytesInScope          90000
actualMatchCount      0
totalMatchCount       2
duration              0 (0.000 ms)
fileCount             0
filesSkipped          0
contentBytesLoaded    0
indexBytesLoaded      0
crashes               0
shardFilesConsidered  0
filesConsidered       0
filesLoaded           0
shardsScanned         0
shardsSkipped         0
shardsSkippedFilter   0
ngramMatches          0
ngramLookups          0
wait                  0 (0.000 ms)
matchTreeConstruction 0 (0.000 ms)
matchTreeSearch       0 (0.000 ms)
regexpsConsidered     0
`;

test('an explanation as text', () => {
  assert.equal(formatExplanation(explanation()), EXPLAINED);
});

test('control characters of queries and names are escaped, an exhaustive answer says so', () => {
  const one = explanation();
  const text = formatExplanation({
    ...one,
    query: { canonical: 'text:"\u001b[31m"' },
    isSearchExhaustive: true,
  });
  assert.match(
    text,
    /^query: {2}text:"\\x1b\[31m"\nverify: 4,096 bytes estimated, 1 byte read\nanswer: exhaustive\n/,
  );
});

const SUMMARY = `index:        /data
repositories: 6
shards:       4, 1 shared, 1 out of service
live docs:    36, and 4 in no revision (about 400 bytes of content)
content:      4,000 bytes
next merge:   none
levels:       1 below 1,000, 2 below 16,000 bytes of live content; 16 of a level and kind are merged, or as many as fill a shard

shard  bytes  content  live  dead  level  state           repositories
aa     1,500    1,000     6     4      1                  r/a, r/b, r/c and 2 more
bb     1,500    1,000    10     0  -                      r/a
cc     1,500    1,000    10     0      1  out of service  r/a
dd     1,500    1,000  ?     ?     -                      r/\\x1bf
`;

test('an index as text', () => {
  assert.equal(formatSummary(surveyed()), SUMMARY);
});

const NEXT = { shardIds: ['aa'], docCount: 6, contentSize: 600, droppedCount: 4 };

test('the next merge and its shards', () => {
  const [aa, ...others] = surveyed().shards;
  const shards = [{ ...aa!, isMergedNext: true }, ...others];
  const text = formatSummary(surveyed({ nextMerge: NEXT, shards }));
  assert.match(
    text,
    /^next merge: +1 shard into one of 6 docs, about 600 bytes of content; 4 docs left out$/m,
  );
  assert.match(text, /^aa .* merged next +r\/a/m);
});

test('a shard of an index', () => {
  const { shards } = surveyed();
  const fieldsOf = (index: number, nextMerge: typeof NEXT | null, isMergedNext = false) =>
    Object.fromEntries(shardFields({ ...shards[index]!, nextMerge, isMergedNext }));
  assert.deepEqual(fieldsOf(0, NEXT, true), {
    'held by': 'r/a, r/b, r/c and 2 more',
    'live docs': '6, and 4 in no revision (about 400 bytes of content)',
    level: '1',
    'next merge': '1 shard into one of 6 docs, about 600 bytes of content; 4 docs left out',
  });
  assert.deepEqual(fieldsOf(2, NEXT), {
    'held by': 'r/a',
    'live docs': '10',
    level: '1',
    'next merge': 'without it',
    'out of service': 'page 1 is damaged',
  });
  const unknown = fieldsOf(3, null);
  assert.equal(unknown['live docs'], 'unknown: a revision file is damaged');
  assert.equal(unknown['next merge'], 'none');
});

test('a shard that was checked', () => {
  const good = { path: 'b', problems: [], deadCount: 2, outOfService: 'page 1' };
  assert.equal(describeCheck(good), 'valid b: 2 docs in no revision; out of service: page 1');
});

const CARETS: readonly (readonly [query: string, position: number, displayed: string])[] = [
  ['foo or or bar', 7, '  foo or or bar\n         ^'],
  ['', 0, '  \n  ^'],
  ['foo file:', 9, '  foo file:\n           ^'],
  ['x', 99, '  x\n   ^'],
  ['äö𝒳 (', 4, '  äö𝒳 (\n      ^'],
  ['a\tb(', 3, '  a b(\n     ^'],
  ['one\ntwo (\nthree', 8, '  two (\n      ^'],
  ['a\u001b(', 2, '  a\\x1b(\n       ^'],
];

test('a caret points at the error', () => {
  for (const [query, position, displayed] of CARETS)
    assert.equal(pointAt(query, position), displayed, query);
});

test('a syntax error has a position, other refusals do not', () => {
  const syntax = new RequestError({
    statusCode: 400,
    errorCode: 'FAILED_TO_PARSE_QUERY',
    message: 'two operators at position 2',
  });
  assert.equal(describeError(syntax, 'a or'), 'error: two operators at position 2\n  a or\n    ^');
  assert.equal(describeError(syntax), 'error: two operators at position 2');
  const other = new RequestError({
    statusCode: 500,
    errorCode: 'UNEXPECTED_ERROR',
    message: 'failed at position 2',
  });
  assert.equal(describeError(other, 'a or'), 'error: failed at position 2');
});
