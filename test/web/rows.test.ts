// What the page makes of results before it paints them: rows, their order, more lines of a file, tables to keep.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ageOf } from '../../daemon/web/code/age.ts';
import {
  NEW_CARD,
  gapSpan,
  isSameFile,
  rowsOf,
  spansAround,
} from '../../daemon/web/search/card-rows.ts';
import { csvOf } from '../../daemon/web/search/csv.ts';
import { addFiles, countBetter, sortFiles } from '../../daemon/web/search/order.ts';
import { filteredRows } from '../../daemon/web/browse/tree-rows.ts';
import { pointCount, unitsIn } from '../../daemon/web/code/columns.ts';
import { visibleLine, visibleName } from '../../daemon/web/parts/hidden-characters.ts';
import { toResultFile, type ResultFile } from '../../daemon/web/search/rows.ts';
import type { FileResult } from '../../daemon/api/search/search-schemas.ts';

test('short relative times', () => {
  const now = Date.parse('2026-11-25T12:00:00Z');
  for (const [date, age] of [
    ['2026-11-25T00:00:00Z', 'today'],
    ['2026-11-24T11:00:00Z', '1 d'],
    ['2026-11-01T12:00:00Z', '24 d'],
    ['2026-05-01T12:00:00Z', '6 mo'],
    ['2025-12-01T00:00:00Z', '11 mo'],
    ['2014-06-01T12:00:00Z', '12 y'],
  ] as const)
    assert.equal(ageOf(date, now), age);
});

/** A file whose line holds one match, from a column to another one. */
function found(path: string, text: string, from: number, to: number, lineNumber = 1): FileResult {
  const at = (column: number) => ({ byteOffset: 0, lineNumber, column });
  return {
    fileName: { text: path, matchRanges: [] },
    webUrl: `http://127.0.0.1/browse/local/a@HEAD/-/blob/${path}`,
    repository: 'local/a',
    repositoryId: 1,
    language: '',
    branches: ['HEAD'],
    chunks: [
      {
        content: `${text}\n`,
        contentStart: at(1),
        matchRanges: [{ start: at(from), end: at(to) }],
      },
    ],
  };
}

function file(path: string, score: number, order: number): ResultFile {
  return { ...toResultFile(found(path, 'plum', 1, 5), order), score };
}

test('columns are code points, marks are UTF-16 units', () => {
  const { lines } = toResultFile(found('a', '😀😀plum😀', 3, 7), 0);
  assert.deepEqual(lines[0]?.marks, [{ from: 4, to: 8 }]);
  assert.equal(lines[0].begins, 1);
});

test('a line shows the kind of the symbol it defines, where symbols were searched', () => {
  const answer = found('a', 'function plum() {}', 10, 14);
  const [chunk] = answer.chunks;
  assert.ok(chunk !== undefined);
  const kindsOf = (kinds: readonly string[]) => {
    const [range] = chunk.matchRanges;
    assert.ok(range !== undefined);
    const matchRanges = kinds.map(() => range);
    const symbols = kinds.map((kind) => ({ symbol: kind === '' ? '' : 'plum', kind }));
    const { lines } = toResultFile({ ...answer, chunks: [{ ...chunk, matchRanges, symbols }] }, 0);
    return lines[0]?.kinds;
  };
  assert.deepEqual(kindsOf(['function']), ['function']);
  assert.deepEqual(kindsOf(['class', '', 'constructor', 'class']), ['class', 'constructor']);
  assert.deepEqual(kindsOf(['']), []);
  assert.deepEqual(toResultFile(answer, 0).lines[0]?.kinds, []);
});

test('a long line is cut around its first match, between characters', () => {
  const text = `${'😀'.repeat(1000)}plum${'😀'.repeat(1000)}`;
  const [line] = toResultFile(found('a', text, 1001, 1005), 0).lines;
  assert.ok(line?.cut !== undefined);
  const [mark] = line.marks;
  assert.equal(line.text.slice(mark?.from, mark?.to), 'plum');
  assert.ok(line.text.length <= 502);
  assert.equal(line.cut.lineLength, text.length);
  assert.ok(!/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/.test(line.text));
  assert.ok(isSameFile([line], [text]));
  assert.ok(!isSameFile([line], [`x${text}`]));
});

test('above the water line nothing appears, disappears or moves; below it the best come first', () => {
  const first = addFiles([], [file('b', 2, 0), file('a', 1, 1)], new Set(), 'score');
  const seenKeys = new Set(first.slice(0, 2).map(({ key }) => key));
  const second = addFiles(first, [file('c', 9, 2), file('d', 3, 3)], seenKeys, 'score');
  const third = addFiles(second, [file('e', 5, 4), file('b', 2, 5)], seenKeys, 'score');
  assert.deepEqual(
    third.map(({ path }) => path),
    ['b', 'a', 'c', 'e', 'd'],
  );
  assert.equal(third[0], first[0]);
  assert.deepEqual(
    sortFiles(third, 'path').map(({ path }) => path),
    ['a', 'b', 'c', 'd', 'e'],
  );
});

test('late files that would precede the water line are counted', () => {
  const files = addFiles([], [file('b', 4, 0), file('a', 2, 1)], new Set(), 'score');
  const seenKeys = new Set(files.map(({ key }) => key));
  assert.equal(countBetter(files, seenKeys, 'score'), 0);
  const more = addFiles(
    files,
    [file('c', 9, 2), file('d', 3, 3), file('e', 1, 4)],
    seenKeys,
    'score',
  );
  assert.equal(countBetter(more, seenKeys, 'score'), 2);
  assert.equal(countBetter(more, new Set(), 'score'), 0, 'nothing was looked at');
  assert.equal(countBetter(sortFiles(more, 'score'), seenKeys, 'score'), 0);
});

test('a file that arrives again with more matches replaces the cut one', () => {
  const cut = file('a', 1, 0);
  const whole = { ...file('a', 1, 1), matchCount: 2 };
  assert.deepEqual(addFiles([cut], [whole], new Set([cut.key]), 'score'), [whole]);
});

/** Lines of a file; those with a match are named. */
function lined(numbers: readonly number[], matched: readonly number[]): ResultFile {
  const one = toResultFile(found('a', 'plum', 1, 5), 0);
  const [line] = one.lines;
  const lines = numbers.map((number) => ({
    ...line!,
    number,
    marks: matched.includes(number) ? line!.marks : [],
  }));
  return { ...one, lines };
}

test('lines around a match that is not shown yet come with it', () => {
  const numbersOf = (numbers: readonly number[], matched: readonly number[]) =>
    rowsOf(lined(numbers, matched), { ...NEW_CARD, matchedMax: 1 }, undefined).map((row) =>
      row.kind === 'gap' ? [row.from, row.to] : row.line.number,
    );
  assert.deepEqual(numbersOf([1, 2, 3, 7, 8, 9], [2, 8]), [1, 2, 3]);
  assert.deepEqual(numbersOf([1, 2, 8, 9], [2, 9]), [1, 2]);
  assert.deepEqual(numbersOf([2, 7, 8], [2, 8]), [2]);
  // One that is close.
  assert.deepEqual(numbersOf([1, 2, 3, 4, 5], [2, 4]), [1, 2, 3]);
  assert.deepEqual(numbersOf([1, 2, 3, 9], [2]), [1, 2, 3, [4, 8], 9]);
});

test('lines of a gap are shown from either side, or all', () => {
  const one = { ...toResultFile(found('a', 'plum', 1, 5, 1), 0) };
  const two = toResultFile(found('a', 'plum', 1, 5, 60), 0);
  const both: ResultFile = { ...one, lines: [...one.lines, ...two.lines] };
  const source = Array.from({ length: 60 }, (_, index) =>
    [0, 59].includes(index) ? 'plum' : `${index}`,
  );
  const kinds = (opened: readonly { from: number; to: number }[]) =>
    rowsOf(both, { ...NEW_CARD, opened }, source).map((row) =>
      row.kind === 'gap' ? [row.from, row.to] : row.line.number,
    );
  assert.deepEqual(kinds([]), [1, [2, 59], 60]);
  const gap = { from: 2, to: 59 };
  assert.equal(kinds([gapSpan(gap, 'below')]).length, 23);
  assert.deepEqual(kinds([gapSpan(gap, 'above')]).slice(0, 3), [1, [2, 39], 40]);
  assert.equal(kinds([gapSpan(gap, 'all')]).length, 60);
  assert.deepEqual(spansAround(both, NEW_CARD, 60), [
    { from: 40, to: 59 },
    { from: 61, to: 80 },
  ]);
  assert.deepEqual(rowsOf(both, { ...NEW_CARD, isFolded: true }, source), []);
});

test('cells of a table are text, for any content', () => {
  for (const [text, cell] of [
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@a', "'@a"],
    ['\ta', "'\ta"],
    ['a,"b"', '"a,""b"""'],
    ['plain', 'plain'],
  ] as const)
    assert.equal(
      csvOf([found('a.txt', text, 1, 2)])[1],
      `local/a,HEAD,a.txt,1,1,1,2,${cell},http://127.0.0.1/browse/local/a@HEAD/-/blob/a.txt?highlightRange=1\r\n`,
    );
});

test('characters are counted as in a list of them', () => {
  for (const text of ['', 'plain', 'a😀b', '😀😀', 'x\uD83D', '\uDE00y', 'é日本'.repeat(9)]) {
    const points = Array.from(text);
    assert.equal(pointCount(text), points.length, text);
    const units = unitsIn(text);
    for (const [index] of [...points, ''].entries())
      assert.equal(units(index + 1), points.slice(0, index).join('').length, text);
    assert.equal(units(Infinity), text.length, text);
  }
});

test('a name shows invisible characters, on one line', () => {
  assert.equal(visibleName('a\u202Eb\tc\nd\u200B\u001B'), 'aU+202EbU+0009cU+000AdU+200BU+001B');
  assert.equal(visibleName('שלום é 日本 😀.ts'), 'שלום é 日本 😀.ts');
  assert.equal(visibleLine('\ta\t= b\u202E;\n'), 'a = bU+202E;');
});

test('a filtered tree: closed folders hide their children, and occur once', () => {
  const paths = ['a/b/x.ts', 'a/b/y.ts', 'a/z.ts', 'b/x.ts'];
  const visible = (closed: string[]) =>
    filteredRows(paths, 'X', new Set(closed)).map((row) =>
      row.kind === 'item' ? `${row.item.path} ${row.isOpen ?? ''}`.trim() : row.text,
    );
  assert.deepEqual(visible([]), ['a true', 'a/b true', 'a/b/x.ts', 'b true', 'b/x.ts']);
  assert.deepEqual(visible(['a/b']), ['a true', 'a/b false', 'b true', 'b/x.ts']);
  assert.deepEqual(visible(['a', 'b']), ['a false', 'b false']);
});
