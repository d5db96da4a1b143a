// `--against REV`: serves the corpus with this build and another one, and compares their times by class.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchCase } from './cases.ts';
import { MATCHES_MAX, MATCHES_PAGE, bodyOf, createClient } from './client.ts';
import type { SearchClient } from './client.ts';
import type { Corpus } from './corpora.ts';
import { buildIndex, findSymbols, privateMemorySize, startDaemon } from './daemon.ts';
import type { RunningDaemon } from './daemon.ts';
import { calibrated, joinCalibrations } from '../daemon/cli/bench/calibration.ts';
import type { Calibration } from '../daemon/cli/bench/record.ts';
import { measureLoad } from './load.ts';
import type { Counts } from './reference.ts';
import { checkAnswers } from './runner.ts';
import type { Pair } from '../daemon/cli/bench/verdict.ts';

export interface Build {
  readonly name: string;
  /** Undefined: our own. */
  readonly folder: string | undefined;
}

interface Side {
  readonly daemon: RunningDaemon;
  readonly client: SearchClient;
}

export type CaseCounts = ReadonlyMap<BenchCase, Counts>;

export interface PairedEffort {
  /** Starts of both servers. */
  readonly startCount: number;
  /** Of a class in a start; fewer when `timeMs` is over, but at least ROUNDS_MIN. */
  readonly roundCount: number;
  readonly timeMs: number;
  /** Untimed requests after a start. */
  readonly warmUpCount: number;
  /** Of one measurement of many connections. */
  readonly loadMs: number;
}

export const FULL_PAIRS: PairedEffort = {
  startCount: 3,
  roundCount: 60,
  timeMs: 4000,
  warmUpCount: 1500,
  loadMs: 2000,
};
export const QUICK_PAIRS: PairedEffort = {
  startCount: 1,
  roundCount: 7,
  timeMs: 200,
  warmUpCount: 20,
  loadMs: 200,
};
const ROUNDS_MIN = 7;
const LOAD_CONNECTION_COUNTS = [8, 64];

interface PairedRow {
  readonly name: string;
  readonly starts: Pair[][];
  readonly counts: Readonly<Record<string, number>>;
  /** Of this build and of the other; empty for what is not one search. */
  readonly stats: readonly Readonly<Record<string, number>>[];
  readonly calibration: Calibration;
  /** Then there is no verdict. */
  readonly problem?: string;
}

export interface PairedReport {
  /** ISO 8601. */
  readonly startedAt: string;
  readonly corpus: Pick<Corpus, 'name' | 'version'>;
  readonly builds: readonly Build[];
  readonly rows: readonly PairedRow[];
  /** Bytes of this build and of the other after the last class, by start. */
  readonly privateMemory: readonly (readonly number[])[];
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout } = spawnSync(command, args, { cwd, stdio: ['ignore', 'pipe', 2] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed in ${cwd}`);
  return stdout.toString().trim();
}

/**
 * `rev`: a revision, or the folder of a checkout. The build is kept in `cache`. Errors: no such revision; it does not
 * build.
 */
export function buildOf(rev: string, cache: string): Build {
  const own = path.resolve(rev, 'build');
  if (existsSync(own)) return { name: rev, folder: own };
  const commit = run('git', ['rev-parse', '--verify', '--end-of-options', `${rev}^{commit}`], ROOT);
  const checkout = path.join(cache, 'builds', commit);
  if (!existsSync(checkout)) {
    mkdirSync(path.dirname(checkout), { recursive: true });
    run('git', ['worktree', 'add', '--detach', checkout, commit], ROOT);
    run('npm', ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'], checkout);
  }
  run(process.execPath, ['scripts/build.mjs'], checkout);
  return { name: commit.slice(0, 8), folder: path.join(checkout, 'build') };
}

/**
 * `countsOf` gives the expected counts. Rejects if a build cannot index or serve the corpus, or an answer is not 200.
 */
export async function runAgainst(
  corpus: Corpus,
  other: Build,
  effort: PairedEffort,
  countsOf: (client: SearchClient) => Promise<CaseCounts>,
): Promise<PairedReport> {
  const folder = mkdtempSync(path.join(tmpdir(), 'trawl-against-'));
  const startedAt = new Date().toISOString();
  const builds: Build[] = [{ name: 'this build', folder: undefined }, other];
  const dataDirOf = ({ name }: Build): string => path.join(folder, String(name === other.name));
  try {
    for (const build of builds) {
      process.stderr.write(`Indexing with ${build.name} ...\n`);
      await buildIndex([corpus.root], dataDirOf(build), build.folder);
      await findSymbols([corpus.root], dataDirOf(build), build.folder);
    }
    const rows = new Map<string, PairedRow>();
    const privateMemory: number[][] = [];
    let counts: CaseCounts | undefined;
    for (let start = 1; start <= effort.startCount; start++) {
      process.stderr.write(`Start ${start} of ${effort.startCount} ...\n`);
      await withSides(corpus, builds, dataDirOf, async (sides) => {
        counts ??= await countsOf(sides[0]!.client);
        await measureStart(sides, counts, effort, rows);
        privateMemory.push(sides.map(({ daemon }) => privateMemorySize(daemon.pid)));
      });
    }
    const { name, version } = corpus;
    const head = { startedAt, corpus: { name, version }, builds };
    return { ...head, privateMemory, rows: [...rows.values()] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function withSides(
  corpus: Corpus,
  builds: readonly Build[],
  dataDirOf: (build: Build) => string,
  use: (sides: readonly Side[]) => Promise<void>,
): Promise<void> {
  const sides: Side[] = [];
  try {
    for (const build of builds) {
      const options = { build: build.folder };
      const daemon = await startDaemon([corpus.root], dataDirOf(build), options);
      sides.push({ daemon, client: createClient(daemon.url, 1) });
    }
    await use(sides);
  } finally {
    for (const { client, daemon } of sides) {
      client.close();
      await daemon.stop();
    }
  }
}

async function measureStart(
  sides: readonly Side[],
  counts: CaseCounts,
  effort: PairedEffort,
  rows: Map<string, PairedRow>,
): Promise<void> {
  const pages = [...counts.keys()].map((one) => bodyOf(one, MATCHES_PAGE));
  for (let i = 0; i < effort.warmUpCount; i++)
    for (const { client } of sides) await client.post(pages[i % pages.length]!);
  for (const [benchCase, expected] of counts) {
    process.stderr.write(`  ${benchCase.id}\n`);
    for (const matches of [MATCHES_PAGE, MATCHES_MAX]) {
      const name = `${benchCase.id} ${matches === MATCHES_PAGE ? 'first 100' : 'all'}`;
      const body = bodyOf(benchCase, matches);
      const row = rows.get(name) ?? (await checkedRow(sides, { name, body, expected, matches }));
      const measure = ({ client }: Side): Promise<number> => timed(client, body);
      rows.set(name, row.problem ? row : await withStart(row, sides, effort, measure));
    }
  }
  const rare = [...counts]
    .filter(([{ isRegex }, { lines }]) => isRegex !== true && lines < 1000)
    .map(([benchCase]) => bodyOf(benchCase, MATCHES_PAGE));
  if (rare.length === 0) return;
  const loadEffort = { roundCount: 7, timeMs: Infinity };
  for (const connectionCount of LOAD_CONNECTION_COUNTS) {
    const name = `rare words, ${connectionCount} connections: ms for each`;
    const row = rows.get(name) ?? emptyRow(name);
    const measure = async ({ daemon }: Side): Promise<number> => {
      const figure = await measureLoad(daemon, rare, connectionCount, effort.loadMs);
      return 1000 / figure.requestsPerSecond;
    };
    rows.set(name, await withStart(row, sides, loadEffort, measure));
  }
}

function emptyRow(name: string): PairedRow {
  const calibration = { processorMs: [], memoryMs: [] };
  return { name, starts: [], counts: {}, stats: [], calibration };
}

interface CheckedCase {
  readonly name: string;
  readonly body: string;
  readonly expected: Counts;
  readonly matches: number;
}

/** Without times, with what is wrong on a side. */
async function checkedRow(
  sides: readonly Side[],
  { name, body, expected, matches }: CheckedCase,
): Promise<PairedRow> {
  const row = { ...emptyRow(name), counts: { ...expected } };
  const stats: Record<string, number>[] = [];
  for (const [index, { client }] of sides.entries()) {
    const checked = await checkAnswers(client, body, expected, matches);
    const side = index === 0 ? 'this build' : 'the other';
    if (checked.problem !== undefined) return { ...row, problem: `${side}: ${checked.problem}` };
    stats.push(checked.stats);
  }
  return { ...row, stats };
}

async function withStart(
  row: PairedRow,
  sides: readonly Side[],
  effort: Pick<PairedEffort, 'roundCount' | 'timeMs'>,
  measure: (side: Side) => Promise<number>,
): Promise<PairedRow> {
  const { result, calibration } = await calibrated(() => pairsOf(sides, effort, measure));
  return {
    ...row,
    starts: [...row.starts, result],
    calibration: joinCalibrations([row.calibration, calibration]),
  };
}

/** Measures both sides in turn; each is first in every other round. */
async function pairsOf(
  sides: readonly Side[],
  { roundCount, timeMs }: Pick<PairedEffort, 'roundCount' | 'timeMs'>,
  measure: (side: Side) => Promise<number>,
): Promise<Pair[]> {
  const [own, other] = sides;
  const endMs = performance.now() + timeMs;
  const pairs: Pair[] = [];
  while (pairs.length < ROUNDS_MIN || (pairs.length < roundCount && performance.now() < endMs)) {
    const isOwnFirst = pairs.length % 2 === 0;
    const first = await measure(isOwnFirst ? own! : other!);
    const second = await measure(isOwnFirst ? other! : own!);
    pairs.push(isOwnFirst ? [first, second] : [second, first]);
  }
  return pairs;
}

async function timed(client: SearchClient, body: string): Promise<number> {
  const startMs = performance.now();
  const { status } = await client.post(body);
  if (status !== 200) throw new Error(`HTTP ${String(status)}`);
  return performance.now() - startMs;
}
