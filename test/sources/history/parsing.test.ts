// Plain functions for reading history: quoted names, patches, dates in user formats, limits of expressions.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { parseCommitDate } from '../../../daemon/api/history/commit-dates.ts';
import { intervalCopies } from '../../../daemon/api/history/history-input.ts';
import { diffsOf, type FileDiff } from '../../../daemon/sources/history/diff.ts';
import { unquoteName } from '../../../daemon/sources/history/quoted.ts';

function parseDiff(text: string): FileDiff[] {
  return [...diffsOf(Buffer.from(text).toString('latin1'))];
}

test('quoted names', () => {
  for (const [written, name] of [
    ['a b', 'a b'],
    ['"a\\tb\\nc\\\\d\\"e"', 'a\tb\nc\\d"e'],
    ['"caf\\303\\251"', 'caf\u00E9'],
    ['"caf\\351"', 'caf\uFFFD'],
    ['"\\a\\b\\v\\f\\r\\001\\177"', '\u0007\b\v\f\r\u0001\u007F'],
    ['""', ''],
  ] as const)
    assert.equal(unquoteName(written), name);
});

test('content that looks like the head of a file or of a hunk is content', () => {
  const list = ':100644 100644 1 2 M\ta\n:100644 100644 1 2 M\tb\n\n';
  const first =
    '@@ -1,2 +1,3 @@ head\n-diff --git a/x b/x\n-@@ -1 +1 @@\n+diff --git a/y b/y\n+@@ -9 +9 @@\n++++ b/\u00E9\n';
  const text = `${list}diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n${first}diff --git a/b b/b\nindex 1..2\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n`;
  const [a, b] = parseDiff(text);
  assert.deepEqual(a?.hunks, [
    {
      oldRange: { start: 1, lines: 2 },
      newRange: { start: 1, lines: 3 },
      heading: 'head',
      body: '-diff --git a/x b/x\n-@@ -1 +1 @@\n+diff --git a/y b/y\n+@@ -9 +9 @@\n++++ b/\u00E9',
    },
  ]);
  const note = '\\ No newline at end of file';
  assert.equal(b?.hunks[0]?.body, `-x\n${note}\n+y\n${note}`);
  assert.throws(() => parseDiff(`${list}diff --git a/a b/a\n`), /fewer/);
  assert.throws(() => parseDiff(`${text}diff --git a/c b/c\n`), /more/);
});

const NOW = Date.parse('2024-03-31T12:00:00.900Z');
const seconds = (text: string): number => Date.parse(text) / 1000;

test('dates', () => {
  const cases: readonly [string, string, string][] = [
    ['2024-03-01', '2024-03-01T00:00:00Z', '2024-03-01T23:59:59Z'],
    ['2024-03-01T10:00', '2024-03-01T10:00:00Z', '2024-03-01T10:00:00Z'],
    ['2024-03-01T10:00:00.5+02:00', '2024-03-01T08:00:01Z', '2024-03-01T08:00:00Z'],
    ['1969-12-31', '1970-01-01T00:00:00Z', '1970-01-01T00:00:00Z'],
    ['0 seconds ago', '2024-03-31T12:00:00Z', '2024-03-31T12:00:00Z'],
    ['90 minutes ago', '2024-03-31T10:30:00Z', '2024-03-31T10:30:00Z'],
    ['1 hour ago', '2024-03-31T11:00:00Z', '2024-03-31T11:00:00Z'],
    ['2 days ago', '2024-03-29T12:00:00Z', '2024-03-29T12:00:00Z'],
    ['Yesterday', '2024-03-30T12:00:00Z', '2024-03-30T12:00:00Z'],
    ['last  week', '2024-03-24T12:00:00Z', '2024-03-24T12:00:00Z'],
    ['3 weeks ago', '2024-03-10T12:00:00Z', '2024-03-10T12:00:00Z'],
    // There is no 31 February: as for git, two days more.
    ['last month', '2024-03-02T12:00:00Z', '2024-03-02T12:00:00Z'],
    ['12 MONTHS AGO', '2023-03-31T12:00:00Z', '2023-03-31T12:00:00Z'],
    ['last year', '2023-03-31T12:00:00Z', '2023-03-31T12:00:00Z'],
    ['999999999 years ago', '1970-01-01T00:00:00Z', '1970-01-01T00:00:00Z'],
    ['999999999 weeks ago', '1970-01-01T00:00:00Z', '1970-01-01T00:00:00Z'],
  ];
  for (const [text, start, end] of cases) {
    assert.equal(parseCommitDate(text, 'start', NOW), seconds(start), text);
    assert.equal(parseCommitDate(text, 'end', NOW), seconds(end), text);
  }
  for (const text of [
    '',
    ' ',
    'today',
    'week',
    'last day',
    '1.5 days ago',
    '1 day',
    'ago',
    'toString',
    '2024-3-1',
    '2024-02-30T25:00',
    '20240301',
    '1e3 days ago',
  ])
    assert.equal(parseCommitDate(text, 'start', NOW), undefined, text);
});

test('any text is a date of whole seconds or none', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('start', 'end'), (text, end) => {
      const found = parseCommitDate(text, end, NOW);
      assert.ok(found === undefined || (Number.isInteger(found) && found >= 0));
    }),
  );
});

test('copies made by intervals', () => {
  assert.equal(intervalCopies('a*b\\(c\\)'), 1);
  assert.equal(intervalCopies('a\\{3\\}'), 3);
  assert.equal(intervalCopies('a\\{3,\\}b\\{0,5\\}'), 15);
  assert.equal(intervalCopies('\\(\\(a\\{1,255\\}\\)\\{1,255\\}\\)\\{1,255\\}'), 255 ** 3);
  assert.equal(intervalCopies('a{99999}'), 1);
});
