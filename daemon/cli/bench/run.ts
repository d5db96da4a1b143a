// `trawl bench`: asks an instance the queries of its operator, checks that answers stay the same, and times them.

import { randomUUID } from 'node:crypto';
import type { Stats } from '../../api/search/search-schemas.ts';
import { UsageError } from '../errors.ts';
import { calibrated } from './calibration.ts';
import { type Ask, type Asker, closedLoop, openLoop, type Reply } from './load.ts';
import type { QueryList } from './queries.ts';
import { describeMachine, medianStats, type RecordedCase, type RunRecord } from './record.ts';

export interface RunOptions {
  readonly seconds: number;
  readonly connectionCount: number;
  /** Of the open loop, a second; undefined: half of what the closed loop reached. */
  readonly rate: number | undefined;
  readonly product: string;
  /** Empty: unknown. */
  readonly commit: string;
  readonly onPhase: (text: string) => void;
}

/** Of each query by one connection, however long the list is. */
const SAMPLES_MIN = 20;
/** But a slow query ends that after so many times the seconds. */
const PATIENCE = 10;

interface Seen {
  readonly samples: number[];
  readonly stats: Stats[];
  counts: Record<string, number> | undefined;
  problem: string | undefined;
}

/** Without parsing the files, which would keep this thread from seeing the next answer. */
function statsOf({ body }: Reply): Stats | undefined {
  // In a text of JSON a quote has a backslash before it: this is no part of a file.
  const start = body.indexOf('"stats":{') + '"stats":'.length;
  const end = body.indexOf('}', start) + 1;
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the daemon's own contract
    return JSON.parse(body.toString('utf8', start, end)) as Stats;
  } catch {
    return undefined;
  }
}

/** What must not change: of a cut answer only the number of its matches. */
function countsOf(stats: Stats, isWhole: boolean): Record<string, number> {
  const { fileCount, totalMatchCount, actualMatchCount } = stats;
  return isWhole ? { files: fileCount, matches: totalMatchCount } : { matches: actualMatchCount };
}

function take(seen: Seen, reply: Reply, ms: number): void {
  const stats = reply.status === 200 ? statsOf(reply) : undefined;
  if (stats === undefined) {
    seen.problem ??= `HTTP ${reply.status}: ${reply.body.toString('utf8', 0, 200)}`;
    return;
  }
  const isWhole = reply.body.includes('"isSearchExhaustive":true');
  const isCut = /"(?:match|size)_limit"/.test(
    reply.body.toString('latin1', reply.body.length - 500),
  );
  const counts = countsOf(stats, isWhole);
  seen.counts ??= counts;
  if (!isWhole && !isCut) seen.problem ??= 'an answer was incomplete';
  if (JSON.stringify(counts) !== JSON.stringify(seen.counts))
    seen.problem ??= `answers changed: ${JSON.stringify(seen.counts)}, then ${JSON.stringify(counts)}`;
  seen.samples.push(ms);
  seen.stats.push(stats);
}

function recorded(id: string, seen: Seen, calibration: RecordedCase['calibration']): RecordedCase {
  return {
    id,
    counts: seen.counts ?? {},
    stats: medianStats(seen.stats),
    starts: [seen.samples],
    calibration,
    ...(seen.problem !== undefined && { problem: seen.problem, starts: [] }),
  };
}

function nothingSeen(): Seen {
  return { samples: [], stats: [], counts: undefined, problem: undefined };
}

/** A loop over all queries: its latencies, and the first answer that is not 200. */
async function measureLoop(
  id: string,
  loop: (onReply: (index: number, reply: Reply, ms: number) => void) => Promise<void>,
): Promise<RecordedCase> {
  const seen = nothingSeen();
  let failedCount = 0;
  const { calibration } = await calibrated(() =>
    loop((_, { status }, ms) => {
      if (status === 200) seen.samples.push(ms);
      else failedCount++;
    }),
  );
  const all = failedCount + seen.samples.length;
  if (failedCount > 0) seen.problem = `${failedCount} of ${all} answers were not 200`;
  return recorded(id, seen, calibration);
}

async function measureQueries(
  { cases, order }: QueryList,
  ask: Ask,
  seconds: number,
): Promise<RecordedCase[]> {
  const all = cases.map(nothingSeen);
  const startMs = performance.now();
  const { calibration } = await calibrated(() =>
    closedLoop(
      ask,
      1,
      () => {
        const passedMs = performance.now() - startMs;
        const isSeen = all.every(
          ({ samples, problem }) => samples.length >= SAMPLES_MIN || problem !== undefined,
        );
        return passedMs > 1000 * seconds * (isSeen ? 1 : PATIENCE);
      },
      (index, reply, ms) => {
        take(all[order[index % order.length] ?? 0] ?? nothingSeen(), reply, ms);
      },
    ),
  );
  return cases.map(({ id }, index) => recorded(id, all[index] ?? nothingSeen(), calibration));
}

/** Errors: UsageError if the first query is not answered; those of the connection. */
export async function measureInstance(
  queries: QueryList,
  asker: Asker,
  { seconds, connectionCount, rate, product, commit, onPhase }: RunOptions,
): Promise<Omit<RunRecord, 'version'>> {
  const { cases, order, digest } = queries;
  const ask: Ask = (index) => asker.ask(cases[order[index % order.length] ?? 0]?.body ?? '');
  const startedAt = new Date().toISOString();
  const first = await ask(0);
  if (first.status !== 200 || statsOf(first) === undefined)
    throw new UsageError(
      `the first query was answered with HTTP ${first.status}: ${first.body.toString('utf8', 0, 500)}`,
    );
  // So that the first case meets the same instance as the last.
  onPhase('Warming up');
  await closedLoop(
    ask,
    1,
    (index) => index >= order.length,
    () => {},
  );
  onPhase('One connection, query by query');
  const single = await measureQueries(queries, ask, seconds);
  onPhase(`Closed loop, ${connectionCount} connections`);
  const startMs = performance.now();
  const isOver = (): boolean => performance.now() - startMs > 1000 * seconds;
  const closed = await measureLoop(`closed loop, ${connectionCount} connections`, (onReply) =>
    closedLoop(ask, connectionCount, isOver, onReply),
  );
  const perSecond = (closed.starts[0]?.length ?? 0) / seconds;
  const openRate = rate ?? Math.max(1, Math.round(perSecond / 2));
  onPhase(`Open loop, ${openRate} requests a second`);
  const open = await measureLoop(`open loop, ${openRate} a second`, (onReply) =>
    openLoop(ask, openRate, Math.ceil(openRate * seconds), onReply),
  );
  return {
    run: randomUUID(),
    startedAt,
    machine: describeMachine(),
    product,
    commit,
    corpus: { name: `${cases.length} queries`, version: digest },
    figures: { closedLoopPerSecond: perSecond, openLoopRate: openRate },
    cases: [...single, closed, open],
  };
}
