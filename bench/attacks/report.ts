// The results of attacks as tables for people.

import { type Column, formatMs, formatTable } from '../../daemon/cli/bench/statistics.ts';
import type { AttackResult, PhaseFigures } from './run.ts';

function megabytes(size: number): string {
  return Math.round(size / 1e6).toLocaleString('en-US');
}

function right(title: string): Column {
  return { title, align: 'right' };
}

const COLUMNS: readonly Column[] = [
  { title: 'attack', align: 'left' },
  { title: 'phase', align: 'left' },
  ...['health p50', 'p99', 'max', 'stop', 'word p50', 'p99', 'max', 'MB at most'].map(right),
];

function ms(value: number | undefined): string {
  return value === undefined ? '-' : formatMs(value);
}

function cellsOf(name: string, phase: string, figures: PhaseFigures): string[] {
  const { health, word, stopMs, memorySizeMax } = figures;
  return [
    name,
    phase,
    ...[health?.p50Ms, health?.p99Ms, health?.maxMs, stopMs].map(ms),
    ...[word?.p50Ms, word?.p99Ms, word?.maxMs].map(ms),
    megabytes(memorySizeMax),
  ];
}

function describeCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([name, count]) => `${name}: ${count}`);
  return parts.length > 0 ? parts.join(', ') : 'none';
}

/** The longest stops by cause, if several are known. */
function describeStops(stopsMs: Readonly<Record<string, number>>): string[] {
  const all = Object.entries(stopsMs).toSorted(([, a], [, b]) => b - a);
  if (all.length < 2) return [];
  const longest = all.slice(0, 20).map(([name, stopMs]) => `    ${ms(stopMs)} ${name}`);
  return ['  longest stops, ms:', ...longest];
}

function describeRest(result: AttackResult): string {
  const { name, why, attack, rest, memoryBeforeSize, memoryAfterSize, isMemoryBack } = result;
  const memory = `${megabytes(memoryBeforeSize)} MB before, ${megabytes(memoryAfterSize)} after`;
  return [
    `${name} (${why})`,
    `  answers: ${describeCounts(result.answers)}`,
    `  not served beside it: ${describeCounts(attack.faults)}; after it: ${describeCounts(rest.faults)}`,
    `  memory: ${memory}: ${isMemoryBack ? 'back' : 'NOT BACK'}`,
    ...describeStops(attack.stopsMs),
    ...(result.ended === undefined ? [] : [`  ENDED EARLY: ${result.ended}`]),
  ].join('\n');
}

/** Times in ms. */
export function formatAttacks(results: readonly AttackResult[]): string {
  const rows = results.flatMap(({ name, calm, attack, rest }) => [
    cellsOf(name, 'calm', calm),
    cellsOf('', 'attack', attack),
    cellsOf('', 'rest', rest),
  ]);
  return `${formatTable(COLUMNS, rows)}\n${results.map(describeRest).join('\n')}\n`;
}
