// What is stored of a run (daemon/cli/bench/record.ts): of one build, or of two that were measured in turn.

import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Calibration, RecordedCase, RunRecord } from '../daemon/cli/bench/record.ts';
import { describeMachine } from '../daemon/cli/bench/record.ts';
import type { PairedReport } from './against.ts';
import type { CaseReport, RunReport } from './report.ts';
import type { ColumnFigure } from './runner.ts';
import type { Latency } from '../daemon/cli/bench/statistics.ts';

type Unversioned = Omit<RunRecord, 'version'>;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** With `+` if tracked files were changed; empty if `folder` is no checkout. */
export function commitOf(folder: string = ROOT): string {
  const git = (...args: string[]): string =>
    spawnSync('git', args, { cwd: folder }).stdout.toString().trim();
  const commit = git('rev-parse', '--short=12', 'HEAD');
  return git('status', '--porcelain', '--untracked-files=no') === '' ? commit : `${commit}+`;
}

/** One start of a search or of something else that was timed. */
function timed(id: string, { samplesMs }: Latency, calibration: Calibration): RecordedCase {
  return { id, counts: {}, stats: {}, starts: [[...samplesMs]], calibration };
}

function casesOf({ id, class: caseClass, expected, peers, ...one }: CaseReport): RecordedCase[] {
  const head = { class: caseClass, counts: { ...expected } };
  const { figure, firstResult } = one;
  if (figure.kind === 'wrong') {
    const calibration = { processorMs: [], memoryMs: [] };
    const nothing = { stats: {}, starts: [], calibration };
    return [{ id: `${id} first 100`, ...head, ...nothing, problem: figure.problem }];
  }
  const column = (name: string, { latency, stats, calibration }: ColumnFigure): RecordedCase => ({
    ...timed(`${id} ${name}`, latency, calibration),
    ...head,
    stats: { ...stats },
  });
  const streamed =
    firstResult && timed(`${id} streamed`, firstResult.result, firstResult.calibration);
  return [
    column('first 100', figure.limited),
    { ...column('all', figure.all), ...(Object.keys(peers).length > 0 && { peers }) },
    ...(streamed === undefined ? [] : [{ ...streamed, ...head }]),
  ];
}

export function recordOf(report: RunReport, commit: string): Unversioned {
  const { startedAt, machine, product, build, openMs, firstAnswerMs, privateMemorySize } = report;
  const { cases, calibration } = report.symbols;
  const symbolCases = cases.flatMap(({ id, count, limited, all }) => [
    { ...timed(`${id} first 100`, limited, calibration), counts: { matches: count } },
    { ...timed(`${id} all`, all, calibration), counts: { matches: count } },
  ]);
  const loads = report.load.map(({ result: { connectionCount, latency }, ...around }) =>
    timed(`rare words, ${connectionCount} connections`, latency, around.calibration),
  );
  return {
    run: randomUUID(),
    startedAt,
    machine,
    product,
    commit,
    corpus: { name: report.corpus, version: report.corpusVersion },
    figures: {
      buildMs: build.durationMs,
      buildCpuMs: build.cpuMs,
      buildMemorySize: build.memoryPeakSize,
      dataSize: build.dataSize,
      contentSize: build.contentSize,
      docCount: build.docCount,
      symbolsMs: report.symbols.durationMs,
      symbolsMemorySize: report.symbols.memoryPeakSize,
      symbolsSize: report.symbols.dataSize,
      openMs,
      firstAnswerMs,
      privateMemorySize,
    },
    cases: [...report.cases.flatMap(casesOf), ...symbolCases, ...loads],
  };
}

/** Of this build, and of the other. */
export function recordsOf(
  { startedAt, corpus, builds, rows, privateMemory }: PairedReport,
  product: string,
): [own: Unversioned, other: Unversioned] {
  const common = { run: randomUUID(), startedAt, machine: describeMachine(), corpus };
  const sideOf = (side: 0 | 1): Unversioned => ({
    ...common,
    product: side === 0 ? product : '',
    commit: commitOf(builds[side]?.folder),
    figures: { privateMemorySize: privateMemory.at(-1)?.[side] ?? 0 },
    cases: rows.map(({ name, counts, stats, starts, calibration, problem }) => ({
      id: name,
      counts: { ...counts },
      stats: { ...stats[side] },
      starts: starts.map((pairs) => pairs.map((pair) => pair[side])),
      calibration,
      ...(problem !== undefined && { problem }),
    })),
  });
  return [sideOf(0), sideOf(1)];
}
