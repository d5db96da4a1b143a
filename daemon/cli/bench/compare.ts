// Compares two records of runs case by case: faster, slower or undecided, with an interval and what `stats` say about it.

import { UsageError } from '../errors.ts';
import { formatBytes, formatCount, formatDuration } from '../format.ts';
import type { Calibration, RecordedCase, RunRecord } from './record.ts';
import { type Column, formatMs, formatTable, median, summarizeLatency } from './statistics.ts';
import { compare, compareApart, type Comparison, type Pair, speedRange } from './verdict.ts';

export interface ComparedCase {
  readonly id: string;
  /** Without, `refusal` says why. */
  readonly comparison?: Comparison;
  readonly refusal?: string;
  /** What `stats` say: "contentBytesLoaded 1.20 MB, was 2.40 MB". */
  readonly reasons: readonly string[];
}

export interface ComparedRuns {
  readonly before: RunRecord;
  readonly after: RunRecord;
  /** Measured in turn: then the speed of the machine does not matter. */
  readonly isInTurn: boolean;
  /** The machine's time after over that before, for the processor and for memory. */
  readonly processorRatio: number;
  readonly memoryRatio: number;
  readonly cases: readonly ComparedCase[];
  /** In one record only. */
  readonly unmatched: readonly string[];
}

const right = (title: string): Column => ({ title, align: 'right' });
const left = (title: string): Column => ({ title, align: 'left' });

/** Beyond that factor, times of two runs say nothing about the builds. */
const SPEED_MAX = 1.5;
/** Samples that a block of them has its own p99 of. */
const P99_SAMPLES_MIN = 2000;
/** Members of `stats` that are times, in ns; the others are work. */
const TIMES = ['duration', 'wait', 'matchTreeConstruction', 'matchTreeSearch'];
/** A smaller change is no reason. */
const CHANGE_MIN = 0.02;
const REASONS_MAX = 4;

/** Errors: UsageError if the records are of different corpora. */
export function compareRuns(before: RunRecord, after: RunRecord): ComparedRuns {
  const [left, right] = [before, after].map(({ corpus }) => `${corpus.name} ${corpus.version}`);
  if (left !== right) throw new UsageError(`different corpora: ${left} and ${right}`);
  const isInTurn = before.run === after.run;
  const earlier = new Map(before.cases.map((one) => [one.id, one]));
  const later = new Set(after.cases.map(({ id }) => id));
  const machines = [before, after].map(({ machine }) => `${machine.cpu}, ${machine.coreCount}`);
  const isOther = machines[0] !== machines[1];
  const cases = after.cases.flatMap((one) => {
    const old = earlier.get(one.id);
    if (old === undefined) return [];
    const refusal = isOther ? 'undecided: different machines' : refusalOf(old, one, isInTurn);
    return refusal === undefined
      ? comparedCases(old, one, isInTurn)
      : [{ id: one.id, refusal, reasons: reasonsOf(old, one) }];
  });
  const ratios = ratiosOf(whole(after), whole(before));
  const unmatched = [
    ...after.cases.filter(({ id }) => !earlier.has(id)),
    ...before.cases.filter(({ id }) => !later.has(id)),
  ].map(({ id }) => id);
  return { before, after, isInTurn, ...ratios, cases, unmatched };
}

function whole({ cases }: RunRecord): Calibration {
  return {
    processorMs: cases.flatMap(({ calibration }) => calibration.processorMs),
    memoryMs: cases.flatMap(({ calibration }) => calibration.memoryMs),
  };
}

function ratiosOf(after: Calibration, before: Calibration) {
  const ratio = (name: keyof Calibration): number =>
    after[name].length === 0 || before[name].length === 0
      ? NaN
      : median(after[name]) / median(before[name]);
  return { processorRatio: ratio('processorMs'), memoryRatio: ratio('memoryMs') };
}

function refusalOf(old: RecordedCase, one: RecordedCase, isInTurn: boolean): string | undefined {
  if (old.problem !== undefined) return `WRONG before: ${old.problem}`;
  if (one.problem !== undefined) return `WRONG after: ${one.problem}`;
  const names = new Set([...Object.keys(old.counts), ...Object.keys(one.counts)]);
  const differing = [...names].filter((name) => old.counts[name] !== one.counts[name]);
  if (differing.length > 0)
    return `WRONG, or other data: ${differing
      .map((name) => `${one.counts[name] ?? 'no'} ${name}, before ${old.counts[name] ?? 'no'}`)
      .join('; ')}`;
  if ([old, one].some(({ starts }) => starts.flat().length === 0)) return 'undecided: no samples';
  if (isInTurn) return undefined;
  const { low, high } = speedRange(one.calibration, old.calibration);
  const isSteady = high <= SPEED_MAX && low >= 1 / SPEED_MAX;
  return isSteady
    ? undefined
    : `undecided: the machine took ${low.toFixed(2)} to ${high.toFixed(2)} times as long`;
}

function comparedCases(old: RecordedCase, one: RecordedCase, isInTurn: boolean): ComparedCase[] {
  if (isInTurn) {
    const starts = one.starts.map((samples, start) =>
      samples.map((ms, i): Pair => [ms, old.starts[start]?.[i] ?? NaN]),
    );
    const comparison = compare(starts);
    return [{ id: one.id, comparison, reasons: reasonsOf(old, one, comparison) }];
  }
  const speed = speedRange(one.calibration, old.calibration);
  const comparison = compareApart(one.starts, old.starts, speed);
  const row = { id: one.id, comparison, reasons: reasonsOf(old, one, comparison) };
  const isLarge = [one, old].every(({ starts }) =>
    starts.every(({ length }) => length >= P99_SAMPLES_MIN),
  );
  if (!isLarge) return [row];
  const slowest = compareApart(one.starts, old.starts, speed, 0.99);
  return [row, { id: `${one.id}: p99`, comparison: slowest, reasons: [] }];
}

/** Changes of work, largest first; of a decided case also of waiting and computing, if they explain some of it. */
function reasonsOf(old: RecordedCase, one: RecordedCase, comparison?: Comparison): string[] {
  const names = Object.keys(one.stats).filter((name) => old.stats[name] !== undefined);
  if (names.length === 0) return [];
  const changes = names.map((name) => ({
    name,
    now: one.stats[name] ?? 0,
    was: old.stats[name] ?? 0,
  }));
  const work = changes
    .filter(({ name }) => !TIMES.includes(name))
    .filter(({ now, was }) => Math.abs(now - was) > CHANGE_MIN * Math.max(now, was))
    .map((change) => ({ ...change, size: Math.abs(Math.log((change.now + 1) / (change.was + 1))) }))
    .toSorted((a, b) => b.size - a.size)
    .slice(0, REASONS_MAX);
  const isDecided = comparison !== undefined && comparison.verdict !== 'undecided';
  const changeNs = isDecided ? 1e6 * Math.abs(comparison.ownMs - comparison.otherMs) : Infinity;
  const times = changes.filter(
    ({ name, now, was }) => TIMES.includes(name) && Math.abs(now - was) > 0.1 * changeNs,
  );
  const same = isDecided && work.length === 0 ? ['same work'] : [];
  return [...same, ...[...work, ...times].map(describeChange)];
}

function describeChange({ name, now, was }: { name: string; now: number; was: number }): string {
  const format = TIMES.includes(name)
    ? (value: number): string => `${formatMs(value / 1e6)} ms`
    : /Bytes/.test(name)
      ? formatBytes
      : formatCount;
  return `${name} ${format(now)}, was ${format(was)}`;
}

/** Whether a case got slower, or is wrong. */
export function isWorse({ cases }: ComparedRuns): boolean {
  return cases.some(
    ({ comparison, refusal }) =>
      comparison?.verdict === 'slower' || refusal?.startsWith('WRONG') === true,
  );
}

export function describeRun({ startedAt, product, commit, corpus, machine }: RunRecord): string {
  const build = [product, commit].filter((text) => text !== '').join(' ');
  const { cpu, coreCount, node } = machine;
  return `${build}, ${startedAt.slice(0, 16)}, ${corpus.name} ${corpus.version}, ${cpu}, ${coreCount} cores, Node ${node}`;
}

/** What a reader must know to trust the verdicts: what was compared, and how. */
export function describeComparison(compared: ComparedRuns): string[] {
  const { before, after, isInTurn, processorRatio, memoryRatio } = compared;
  const method = isInTurn
    ? 'Both were measured in turn: intervals of 99 % of the ratio, of all starts.'
    : 'These runs were not measured in turn, and machines change speed. Fixed work took ' +
      `${processorRatio.toFixed(2)} (processor) and ${memoryRatio.toFixed(2)} (memory) times as long after as before; ` +
      'intervals are as much wider. "npm run bench -- --against REV" decides smaller differences.';
  return [`before: ${describeRun(before)}`, `after:  ${describeRun(after)}`, method];
}

function formatFigure(name: string, value: number): string {
  if (name.endsWith('Size')) return formatBytes(value);
  return name.endsWith('Ms') ? formatDuration(value) : formatCount(value);
}

export function figureRows({ before, after }: ComparedRuns): string[][] {
  return Object.entries(after.figures).flatMap(([name, value]) => {
    const old = before.figures[name];
    if (old === undefined || Math.abs(value - old) <= CHANGE_MIN * Math.max(value, old)) return [];
    return [[name, formatFigure(name, old), formatFigure(name, value), (value / old).toFixed(2)]];
  });
}

export function caseRows({ cases }: ComparedRuns): string[][] {
  return cases.map(({ id, comparison, refusal, reasons }) =>
    comparison === undefined
      ? [id, '', '', '', '', refusal ?? '', reasons.join('; ')]
      : [
          id,
          formatMs(comparison.otherMs),
          formatMs(comparison.ownMs),
          comparison.ratio.toFixed(2),
          `${comparison.low.toFixed(2)} to ${comparison.high.toFixed(2)}`,
          comparison.verdict,
          reasons.join('; '),
        ],
  );
}

export const CASE_COLUMNS = [
  left('case'),
  ...['before, ms', 'after, ms', 'ratio', 'interval'].map(right),
  ...['verdict', 'work'].map(left),
];

export const FIGURE_COLUMNS = [
  left('measured once: no verdict'),
  ...['before', 'after', 'ratio'].map(right),
];

export function formatComparison(compared: ComparedRuns): string {
  const { cases, unmatched } = compared;
  const figures = figureRows(compared);
  const count = (verdict: string): number =>
    cases.filter(({ comparison, refusal = '' }) =>
      (comparison?.verdict ?? refusal).startsWith(verdict),
    ).length;
  return [
    ...describeComparison(compared),
    '',
    formatTable(CASE_COLUMNS, caseRows(compared)),
    ...(figures.length > 0 ? [formatTable(FIGURE_COLUMNS, figures)] : []),
    ...(unmatched.length > 0 ? [`In one of them only: ${unmatched.join(', ')}`] : []),
    `${count('faster')} faster, ${count('slower')} slower, ${count('undecided')} undecided, ${count('WRONG')} wrong`,
    '',
  ].join('\n');
}

export const RUN_COLUMNS = [
  left('case'),
  ...['counts', 'samples', 'p50, ms', 'p95', 'p99'].map(right),
];

export function runRows({ cases }: RunRecord): string[][] {
  return cases.map(({ id, counts, starts, problem }) => {
    const samples = starts.flat();
    const found = Object.entries(counts).map(([name, count]) => `${formatCount(count)} ${name}`);
    if (problem !== undefined || samples.length === 0) return [id, `WRONG: ${problem ?? ''}`];
    const { sampleCount, p50Ms, p95Ms, p99Ms } = summarizeLatency(samples);
    return [id, found.join(', '), formatCount(sampleCount), ...[p50Ms, p95Ms, p99Ms].map(formatMs)];
  });
}

export function formatRun(record: RunRecord): string {
  return `${describeRun(record)}\n\n${formatTable(RUN_COLUMNS, runRows(record))}`;
}
