// Measures one case over HTTP: first a checked request per column, then timed ones. A wrong answer gets no time.

import { Bench } from 'tinybench';
import type { SearchResponse } from '../daemon/api/search/search-schemas.ts';
import type { BenchCase } from './cases.ts';
import { MATCHES_MAX, MATCHES_PAGE, search, bodyOf } from './client.ts';
import type { Answer, SearchClient } from './client.ts';
import type { Counts } from './reference.ts';
import { summarizeLatency } from './statistics.ts';
import type { Latency } from './statistics.ts';

/** Whichever limit comes first ends a series. */
export interface Effort {
  readonly timeMs: number;
  readonly iterationCount: number;
  readonly warmupMs: number;
}

export const FULL_EFFORT: Effort = { timeMs: 2000, iterationCount: 20, warmupMs: 300 };
export const QUICK_EFFORT: Effort = { timeMs: 100, iterationCount: 5, warmupMs: 20 };

const WORK_FIELDS = [
  'contentBytesLoaded',
  'indexBytesLoaded',
  'filesConsidered',
  'filesLoaded',
  'ngramLookups',
  'ngramMatches',
] as const;
export type Work = Readonly<Record<(typeof WORK_FIELDS)[number], number>>;

export interface ColumnFigure {
  readonly latency: Latency;
  readonly work: Work;
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
  const actual = {
    files: response.files.length,
    lines: lineCountOf(response),
    matches: rangeCount,
  };
  const differing = (['files', 'lines', 'matches'] as const).filter(
    (name) => actual[name] !== expected[name],
  );
  const list = differing.map(
    (name) => `${String(actual[name])} ${name} instead of ${String(expected[name])}`,
  );
  if (!response.isSearchExhaustive) list.push('not exhaustive');
  return list.length > 0 ? list.join(', ') : undefined;
}

function workOf({ stats }: SearchResponse): Work {
  return {
    contentBytesLoaded: stats.contentBytesLoaded,
    indexBytesLoaded: stats.indexBytesLoaded,
    filesConsidered: stats.filesConsidered,
    filesLoaded: stats.filesLoaded,
    ngramLookups: stats.ngramLookups,
    ngramMatches: stats.ngramMatches,
  };
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
export async function measureCalls(call: () => Promise<Answer>, effort: Effort): Promise<Latency> {
  const bench = new Bench({
    time: effort.timeMs,
    iterations: effort.iterationCount,
    warmupTime: effort.warmupMs,
    warmupIterations: 2,
    retainSamples: true,
    throws: true,
  });
  const task = async (): Promise<void> => {
    const { status } = await call();
    if (status !== 200) throw new Error(`HTTP ${String(status)}`);
  };
  bench.add('request', task, { async: true });
  const [measured] = await bench.run();
  if (measured?.result.state !== 'completed') throw new Error('the measurement was cut short');
  return summarizeLatency(measured.result.latency.samples ?? []);
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
    const response = await search(client, body);
    const problem = findProblem(response, expected, matches);
    if (problem !== undefined) return { kind: 'wrong', problem };
    columns.push({
      work: workOf(response),
      latency: await measureLatency(client, body, effort),
    });
  }
  const [limited, all] = columns;
  if (!limited || !all) throw new Error('a case has two columns');
  return { kind: 'measured', limited, all };
}
