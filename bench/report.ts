// The result of a run as tables. What is stored of it: recorded.ts.

import { formatBytes, formatDuration } from '../daemon/cli/format.ts';
import type { CaseClass } from './cases.ts';
import type { BuildFigures, SymbolFigures } from './daemon.ts';
import type { SymbolRow } from './symbols.ts';
import type { LoadFigure } from './load.ts';
import type { PeerFigure } from './peers.ts';
import type { Counts } from './reference.ts';
import type { CaseFigure } from './runner.ts';
import type { Calibrated } from '../daemon/cli/bench/calibration.ts';
import type { Calibration, RunRecord } from '../daemon/cli/bench/record.ts';
import { formatMs, formatTable } from '../daemon/cli/bench/statistics.ts';
import type { Column, Latency } from '../daemon/cli/bench/statistics.ts';

/** A count of a peer may differ by this share, or by the omitted files; its time is then marked `~`. */
const PEER_TOLERANCE = 0.005;

export interface CaseReport {
  readonly id: string;
  readonly class: CaseClass;
  readonly expected: Counts;
  /** Lines in files known by name only; 0 without peers. */
  readonly excludedLineCount: number;
  readonly figure: CaseFigure;
  /** For some cases. */
  readonly firstResult?: Calibrated<Latency>;
  readonly peers: Readonly<Record<string, PeerFigure>>;
  readonly explanation?: string;
}

export interface PeerReport {
  readonly name: string;
  readonly version: string;
  readonly indexSize?: number;
  readonly indexMs?: number;
}

export interface RunReport {
  /** ISO 8601. */
  readonly startedAt: string;
  readonly corpus: string;
  readonly corpusVersion: string;
  readonly product: string;
  readonly machine: RunRecord['machine'];
  readonly isQuick: boolean;
  readonly build: BuildFigures;
  readonly openMs: number;
  readonly firstAnswerMs: number;
  readonly privateMemorySize: number;
  /** Empty without rare literals. */
  readonly load: readonly Calibrated<LoadFigure>[];
  readonly symbols: SymbolFigures & {
    readonly cases: readonly SymbolRow[];
    readonly calibration: Calibration;
  };
  readonly peers: readonly PeerReport[];
  readonly cases: readonly CaseReport[];
}

function peerCell(
  figure: PeerFigure | undefined,
  { expected, excludedLineCount }: CaseReport,
): string {
  if (!figure) return '-';
  const difference = Math.abs(figure.lineCount - expected.lines);
  if (difference === 0) return formatMs(figure.medianMs);
  const isClose =
    difference <= expected.lines * PEER_TOLERANCE ||
    figure.lineCount === expected.lines + excludedLineCount;
  return isClose
    ? `~${formatMs(figure.medianMs)}`
    : `${figure.lineCount.toLocaleString('en-US')} lines`;
}

function figureCells(figure: CaseFigure): string[] {
  if (figure.kind === 'wrong') return [`WRONG: ${figure.problem}`, '', '', '', '', ''];
  const { limited, all } = figure;
  return [
    formatMs(limited.latency.p50Ms),
    formatMs(limited.latency.p99Ms),
    formatMs(all.latency.p50Ms),
    formatMs(all.latency.p95Ms),
    formatMs(all.latency.p99Ms),
    formatBytes(all.stats['contentBytesLoaded'] ?? 0),
  ];
}

function right(title: string): Column {
  return { title, align: 'right' };
}

/** Times in ms; streamed: to the first result. `~`: line count within 0.5% of ours, or with the omitted files. */
export function formatCases(report: RunReport): string {
  const columns: Column[] = [
    { title: 'case', align: 'left' },
    { title: 'class', align: 'left' },
    ...['lines', 'limited p50', 'p99', 'all p50', 'p95', 'p99', 'read', 'streamed p50'].map(right),
    ...report.peers.map(({ name }) => right(name)),
  ];
  const rows = report.cases.map((entry) => [
    entry.id,
    entry.class,
    entry.expected.lines.toLocaleString('en-US'),
    ...figureCells(entry.figure),
    entry.firstResult === undefined ? '' : formatMs(entry.firstResult.result.p50Ms),
    ...report.peers.map(({ name }) => peerCell(entry.peers[name], entry)),
  ]);
  const [head = '', rule = '', ...lines] = formatTable(columns, rows).trimEnd().split('\n');
  const explained = lines.flatMap((line, index) => [line, ...explanationOf(report.cases[index])]);
  return `${[head, rule, ...explained].join('\n')}\n`;
}

function explanationOf({ explanation }: Partial<CaseReport> = {}): string[] {
  if (explanation === undefined) return [];
  const lines = explanation.trimEnd().split('\n');
  return ['', ...lines.map((line) => (line === '' ? '' : `    ${line}`)), ''];
}

function ratio(size: number, contentSize: number): string {
  return contentSize > 0 ? `${(size / contentSize).toFixed(3)} x content` : '-';
}

export function formatSummary(report: RunReport): string {
  const { build, machine, corpus, corpusVersion } = report;
  const speed = build.contentSize / (build.durationMs / 1000);
  const indexOnly = Math.max(0, build.dataSize - build.contentSize);
  const lines = [
    `corpus         ${corpus} ${corpusVersion}: ${build.docCount.toLocaleString('en-US')} docs, ${formatBytes(build.contentSize)}`,
    `machine        ${machine.cpu}, ${String(machine.coreCount)} cores, ${machine.kernel}, Node ${machine.node}`,
    `build          ${formatDuration(build.durationMs)}, ${formatBytes(speed)}/s, peak memory ${formatBytes(build.memoryPeakSize)}`,
    `data directory ${formatBytes(build.dataSize)}, ${ratio(build.dataSize, build.contentSize)}; without content ${ratio(indexOnly, build.contentSize)}`,
    `symbols        ${formatDuration(report.symbols.durationMs)}, ${formatBytes(report.symbols.dataSize)}, peak memory ${formatBytes(report.symbols.memoryPeakSize)}`,
    `serve          listens after ${formatMs(report.openMs)} ms, first answer after ${formatMs(report.firstAnswerMs)} ms, private memory ${formatBytes(report.privateMemorySize)}`,
    ...report.peers.map(({ name, version, indexSize, indexMs }) => {
      const built = indexMs === undefined ? '' : ` built in ${formatDuration(indexMs)}`;
      const index = indexSize === undefined ? '' : `, index ${formatBytes(indexSize)}${built}`;
      return `${name.padEnd(14)} ${version}${index}`;
    }),
  ];
  return `${lines.join('\n')}\n`;
}

/** Latencies in ms, a row per number of connections. */
export function formatLoad({ load }: RunReport): string {
  if (load.length === 0) return '';
  const columns: Column[] = [
    { title: 'rare literals', align: 'left' },
    ...['requests/s', 'p50', 'p95', 'p99', 'generator'].map(right),
  ];
  const rows = load.map(
    ({ result: { connectionCount, requestsPerSecond, latency, generatorShare } }) => [
      `${String(connectionCount)} connections`,
      Math.round(requestsPerSecond).toLocaleString('en-US'),
      ...[latency.p50Ms, latency.p95Ms, latency.p99Ms].map(formatMs),
      generatorShare === undefined ? '-' : `${(100 * generatorShare).toFixed(0)}%`,
    ],
  );
  return formatTable(columns, rows);
}

export function hasWrongCase(report: RunReport): boolean {
  return report.cases.some(({ figure }) => figure.kind === 'wrong');
}
