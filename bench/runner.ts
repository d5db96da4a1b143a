// Measures one case over HTTP: first a checked request per column, then timed ones. A wrong answer gets no time.

import type { SearchResponse } from '../daemon/api/search/search-schemas.ts';
import type { BenchCase } from './cases.ts';
import { MATCHES_MAX, MATCHES_PAGE, search, bodyOf } from './client.ts';
import type { SearchClient } from './client.ts';
import type { Reply } from '../daemon/cli/bench/load.ts';
import type { Counts } from './reference.ts';
import { calibrated } from '../daemon/cli/bench/calibration.ts';
import { type Calibration, medianStats } from '../daemon/cli/bench/record.ts';
import { summarizeLatency } from '../daemon/cli/bench/statistics.ts';
import type { Latency } from '../daemon/cli/bench/statistics.ts';

/** A series ends once both limits are reached. */
export interface Effort {
  readonly timeMs: number;
  readonly iterationCount: number;
  readonly warmupMs: number;
}

export const FULL_EFFORT: Effort = { timeMs: 2000, iterationCount: 20, warmupMs: 300 };
export const QUICK_EFFORT: Effort = { timeMs: 100, iterationCount: 5, warmupMs: 20 };

/** Whose `stats` are kept, as medians: waiting differs from one to the next. */
const STATS_ANSWER_COUNT = 3;

export interface ColumnFigure {
  readonly latency: Latency;
  readonly stats: Readonly<Record<string, number>>;
  readonly calibration: Calibration;
}

export type CaseFigure =
  | { readonly kind: 'measured'; readonly limited: ColumnFigure; readonly all: ColumnFigure }
  | { readonly kind: 'wrong'; readonly problem: string };

/** Distinct lines with the start of a range. */
function lineCountOf(response: SearchResponse): number {
  return response.files.reduce((sum, { chunks }) => {
    const lines = chunks.flatMap(({ matchRanges }) => matchRanges.map((r) => r.start.lineNumber));
    return sum + new Set(lines).size;
  }, 0);
}

function rangeCountOf(response: SearchResponse): number {
  return response.files.reduce(
    (sum, { fileName, chunks }) =>
      chunks.reduce(
        (count, { matchRanges }) => count + matchRanges.length,
        sum + fileName.matchRanges.length,
      ),
    0,
  );
}

/** Of what the answer holds, which may be cut. */
export function countsOf(response: SearchResponse): Counts {
  const lines = lineCountOf(response);
  return { files: response.files.length, lines, matches: rangeCountOf(response) };
}

/** Undefined: complete answers have the expected counts; cut ones have the requested number of ranges, and say so. */
export function findProblem(
  response: SearchResponse,
  expected: Counts,
  matches: number,
): string | undefined {
  const rangeCount = rangeCountOf(response);
  if (expected.matches > matches) {
    const isHonest = !response.isSearchExhaustive && rangeCount === matches;
    return isHonest
      ? undefined
      : `${String(rangeCount)} of ${String(expected.matches)} ranges for a limit of ${String(matches)}`;
  }
  const actual = countsOf(response);
  const differing = (['files', 'lines', 'matches'] as const).filter(
    (name) => actual[name] !== expected[name],
  );
  const list = differing.map(
    (name) => `${String(actual[name])} ${name} instead of ${String(expected[name])}`,
  );
  if (!response.isSearchExhaustive) list.push('not exhaustive');
  return list.length > 0 ? list.join(', ') : undefined;
}

/** Of some answers, with what is wrong in one of them. Rejects if an answer is not 200. */
export async function checkAnswers(
  client: SearchClient,
  body: string,
  expected: Counts,
  matches: number,
): Promise<{ readonly stats: Record<string, number>; readonly problem: string | undefined }> {
  const answers: SearchResponse['stats'][] = [];
  let problem: string | undefined;
  while (answers.length < STATS_ANSWER_COUNT && problem === undefined) {
    const response = await search(client, body);
    problem = findProblem(response, expected, matches);
    answers.push(response.stats);
  }
  return { stats: medianStats(answers), problem };
}

/** Rejects if an answer is not 200. */
export function measureLatency(
  client: SearchClient,
  body: string,
  effort: Effort,
): Promise<Latency> {
  return measureCalls(() => client.post(body), effort);
}

/** Rejects if an answer is not 200. */
export async function measureCalls(call: () => Promise<Reply>, effort: Effort): Promise<Latency> {
  const series = async (durationMs: number, count: number): Promise<number[]> => {
    const samples: number[] = [];
    const endMs = performance.now() + durationMs;
    while (samples.length < count || performance.now() < endMs) {
      const startMs = performance.now();
      const { status } = await call();
      samples.push(performance.now() - startMs);
      if (status !== 200) throw new Error(`HTTP ${String(status)}`);
    }
    return samples;
  };
  await series(effort.warmupMs, 2);
  return summarizeLatency(await series(effort.timeMs, effort.iterationCount));
}

/** With an ordinary number of matches; undefined: a stream has no result. Rejects if one has no end. */
export async function measureFirstResult(
  client: SearchClient,
  benchCase: BenchCase,
  effort: Effort,
): Promise<Latency | undefined> {
  // As ordinary clients request.
  const body = bodyOf(benchCase, 10_000);
  const samples: number[] = [];
  const endMs = performance.now() + effort.timeMs;
  await client.firstResult(body);
  while (samples.length < effort.iterationCount || performance.now() < endMs) {
    const firstMs = await client.firstResult(body);
    if (firstMs === undefined) return undefined;
    samples.push(firstMs);
  }
  return summarizeLatency(samples);
}

export async function measureCase(
  client: SearchClient,
  benchCase: BenchCase,
  expected: Counts,
  effort: Effort,
): Promise<CaseFigure> {
  const columns: ColumnFigure[] = [];
  for (const matches of [MATCHES_PAGE, MATCHES_MAX]) {
    const body = bodyOf(benchCase, matches);
    const { stats, problem } = await checkAnswers(client, body, expected, matches);
    if (problem !== undefined) return { kind: 'wrong', problem };
    const measured = await calibrated(() => measureLatency(client, body, effort));
    columns.push({ stats, latency: measured.result, calibration: measured.calibration });
  }
  const [limited, all] = columns;
  if (!limited || !all) throw new Error('a case has two columns');
  return { kind: 'measured', limited, all };
}
