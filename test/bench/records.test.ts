// Records of runs: a real small run is written, read and compared; a wrong count gets no time; `stats` explain a change.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { compareRuns, formatComparison, isWorse } from '../../daemon/cli/bench/compare.ts';
import { type RecordedCase, readRecord, type RunRecord } from '../../daemon/cli/bench/record.ts';
import { writeRecord } from '../../daemon/cli/bench/record.ts';
import { temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { statsOf } from '../http/answers.ts';

const hasRipgrep = spawnSync('rg', ['--version']).status === 0;
const skip = hasRipgrep ? false : 'needs the Debian package ripgrep';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

function makeCase(ms: number, more: Partial<RecordedCase> = {}): RecordedCase {
  const { flushReason: _, ...stats } = statsOf({ contentBytesLoaded: 1_000_000 });
  const calibration = { processorMs: [4], memoryMs: [4] };
  const starts = [Array.from({ length: 40 }, (__, i) => ms + (i % 5) / 100)];
  return { id: 'a', counts: { files: 1 }, stats, starts, calibration, ...more };
}

function makeRun(cases: readonly RecordedCase[], more: Partial<RunRecord> = {}): RunRecord {
  const machine = { cpu: 'c', coreCount: 2, memorySize: 1, kernel: 'k', node: 'v20' };
  const head = { version: 1, startedAt: '2026-11-29T00:00:00Z', product: '0.1.0' } as const;
  const corpus = { name: 'tree', version: '1' };
  const run = String(Math.random());
  return { ...head, run, machine, commit: 'x', corpus, figures: {}, cases: [...cases], ...more };
}

function verdictOf(before: RecordedCase, after: RecordedCase) {
  const [one] = compareRuns(makeRun([before]), makeRun([after])).cases;
  return { verdict: one?.comparison?.verdict ?? one?.refusal, reasons: one?.reasons.join('; ') };
}

void test('a change is explained by the fields of stats', () => {
  const { stats } = makeCase(1);
  const more = { stats: { ...stats, contentBytesLoaded: 2_000_000, wait: 3e6, ngramLookups: 9 } };
  const { verdict, reasons } = verdictOf(makeCase(1), makeCase(2, more));
  assert.equal(verdict, 'slower');
  assert.equal(
    reasons,
    'ngramLookups 9, was 0; contentBytesLoaded 2.00 MB, was 1.00 MB; wait 3.00 ms, was 0.00 ms',
  );
  assert.equal(verdictOf(makeCase(2), makeCase(1)).reasons, 'same work');
  assert.equal(verdictOf(makeCase(1), makeCase(1)).reasons, '');
});

void test('a wrong or different count, and a machine that changed, get no verdict', () => {
  const calibration = { processorMs: [8], memoryMs: [4] };
  const cases: readonly [Partial<RecordedCase>, string][] = [
    [{ counts: { files: 2 } }, 'WRONG, or other data: 2 files, before 1'],
    [{ counts: {} }, 'WRONG, or other data: no files, before 1'],
    [{ problem: '3 lines instead of 2', starts: [] }, 'WRONG after: 3 lines instead of 2'],
    [{ starts: [] }, 'undecided: no samples'],
    [{ calibration }, 'undecided: the machine took 1.00 to 2.00 times as long'],
  ];
  for (const [more, refusal] of cases)
    assert.equal(verdictOf(makeCase(1), makeCase(2, more)).verdict, refusal);
  const wrong = makeRun([makeCase(1, { counts: { files: 2 } })]);
  assert.ok(isWorse(compareRuns(makeRun([makeCase(1)]), wrong)));
  const machine = { ...wrong.machine, cpu: 'other' };
  const [other] = compareRuns(wrong, makeRun(wrong.cases, { machine })).cases;
  assert.equal(other?.refusal, 'undecided: different machines');
  const corpus = { name: 'tree', version: '2' };
  assert.throws(() => compareRuns(wrong, makeRun([], { corpus })), /different corpora/);
});

void test('many samples have a p99, and a case of one run only is named', () => {
  const many = (ms: number): RecordedCase =>
    makeCase(ms, { starts: [Array.from({ length: 2000 }, (_, i) => (i % 50 === 0 ? ms : 1))] });
  const compared = compareRuns(
    makeRun([many(2), makeCase(1, { id: 'b' })]),
    makeRun([many(4), makeCase(1, { id: 'c' })]),
  );
  const verdicts = compared.cases.map(({ id, comparison }) => [id, comparison?.verdict]);
  assert.deepEqual(verdicts, [
    ['a', 'undecided'],
    ['a: p99', 'slower'],
  ]);
  assert.deepEqual(compared.unmatched, ['c', 'b']);
});

void test('what is no record, or one of another version, is refused', () => {
  const file = path.join(temporaryFolder(), 'a.json');
  writeRecord(file, makeRun([makeCase(1)]));
  assert.equal(readRecord(file).cases[0]?.starts[0]?.length, 40);
  for (const text of ['{', '[]', JSON.stringify({ ...readRecord(file), version: 2 })]) {
    writeFileSync(file, text);
    assert.throws(() => readRecord(file), /a\.json/);
  }
});

void test('a real run is stored and compared; two builds in turn are stored both', { skip }, () => {
  const folder = temporaryFolder();
  writeFiles(folder, {
    'tree/a.ts': 'export function first() {}\n',
    'tree/b.ts': 'import { first } from "./a";\nreturn first();\n',
  });
  const node = (script: string, ...args: string[]) =>
    execFileSync(process.execPath, [path.join(ROOT, 'build/bench', script), ...args], {
      stdio: 'ignore',
    });
  const quick = ['--quick', '--no-peers', '--only', 'function', '--cache', folder];
  const tree = ['--corpus', path.join(folder, 'tree')];
  node('main.js', ...quick, ...tree, '--out', path.join(folder, '1.json'));
  node('main.js', ...quick, ...tree, '--against', ROOT, '--out', path.join(folder, 'p.json'));
  const files = ['1.json', 'p.json', 'p.against.json'].map((name) => path.join(folder, name));
  const [first, own, other] = files.map(readRecord) as [RunRecord, RunRecord, RunRecord];
  for (const record of [first, own, other]) {
    assert.match(record.commit, /^[0-9a-f]{12}\+?$/);
    const one = record.cases.find(({ id }) => id === 'function first 100');
    assert.ok(one !== undefined && one.starts.flat().length >= 5, JSON.stringify(record));
    assert.equal(one.counts['files'], 1);
    assert.equal(one.stats['fileCount'], 1);
    assert.equal(Object.keys(one.stats).length, Object.keys(statsOf()).length - 1);
  }
  assert.equal(own.run, other.run);
  assert.ok(compareRuns(other, own).isInTurn);
  assert.match(formatComparison(compareRuns(other, own)), /measured in turn: /);
  const apart = compareRuns(first, own);
  assert.ok(!apart.isInTurn && apart.processorRatio > 0 && apart.memoryRatio > 0);
  assert.match(formatComparison(apart), /Fixed work took \d/);
});
