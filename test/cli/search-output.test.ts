// The output forms of `trawl search` as tables: marked chunks in, exact text out.

import assert from 'node:assert/strict';
import test from 'node:test';
import {
  formatHints,
  formatIncomplete,
  formatResponse,
  formatStats,
} from '../../daemon/cli/search-output.ts';
import type { OutputOptions } from '../../daemon/cli/search-output.ts';
import type { FileResult } from '../../daemon/api/search/search-schemas.ts';
import { chunk, file, response } from './responses.ts';

const TERMINAL: OutputOptions = {
  form: 'terminal',
  hasColor: false,
  isEscaped: true,
  sort: 'rank',
};
const COLORED: OutputOptions = { ...TERMINAL, hasColor: true };
const PIPE: OutputOptions = { form: 'pipe', hasColor: false, isEscaped: false, sort: 'rank' };

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
    options: PIPE,
    files: [file('b', [chunk('a«\n»b\n')])],
    output: 'r/a:b:1:a\nr/a:b-2-b\n',
  },
  {
    name: 'no line feed at the end of the file; an empty context line',
    options: PIPE,
    files: [file('b', [chunk('\n«b»')])],
    output: 'r/a:b-1-\nr/a:b:2:b\n',
  },
  {
    name: 'pipe: CRLF stays as it is',
    options: PIPE,
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
    name: 'pipe: separators, chunks of one file parted, files not',
    options: PIPE,
    files: [
      file('b', [chunk('a\n«b»\n', 1), chunk('«c»\n', 8)]),
      file('d-1:x', [chunk('«e»\n', 2)], 'r/z'),
    ],
    output: 'r/a:b-1-a\nr/a:b:2:b\n--\nr/a:b:8:c\nr/z:d-1:x:2:e\n',
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
    name: 'counts are ranges, of content and path alike',
    options: { ...PIPE, form: 'count' },
    files: [file('b', [chunk('«a» «a»\n'), chunk('«a»\n', 5)]), file('«c»/«c»')],
    output: 'r/a:b:3\nr/a:c/c:2\n',
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
  void test(`output: ${name}`, () => {
    assert.equal(formatResponse(response(files), options), output);
  });
}

void test('output: statistics are one line a field, durations also in ms', () => {
  assert.equal(
    formatStats({ fileCount: 2, duration: 1_500_000, wait: 0, flushReason: 'F' }),
    'fileCount   2\nduration    1500000 (1.500 ms)\nwait        0 (0.000 ms)\nflushReason F\n',
  );
});

void test('output: an incomplete answer names the reasons and the matches found so far', () => {
  const answer = response([], {
    isSearchExhaustive: false,
    incompleteReasons: ['match_limit', 'deadline'],
  });
  assert.equal(
    formatIncomplete(answer),
    'incomplete: match_limit, deadline (at least 7 matches exist)\n',
  );
  assert.equal(formatIncomplete(response([])), '');
});

void test('output: hints are a line each, whatever characters they have', () => {
  const hints = [{ message: 'No.', query: 'file:a\n\u001bb' }, { message: 'Words are literal.' }];
  assert.equal(formatHints(hints), 'hint: No. Try: file:a\\n\\x1bb\nhint: Words are literal.\n');
  assert.equal(formatHints(undefined), '');
});

void test('output: many ranges on one very long line', () => {
  const piece = '😀«x» ';
  const count = 20_000;
  const answer = response([file('min.js', [chunk(piece.repeat(count))])]);
  const text = formatResponse(answer, { ...PIPE, hasColor: true });
  assert.equal(text.split(colors('😀{r}x{0}')).length, count + 1);
});
