// `--against REV`: serves the corpus with this build and another one, and compares their times by class.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchCase } from './cases.ts';
import { MATCHES_MAX, MATCHES_PAGE, search, bodyOf, createClient } from './client.ts';
import type { SearchClient } from './client.ts';
import type { Corpus } from './corpora.ts';
import { buildIndex, findSymbols, privateMemorySize, startDaemon } from './daemon.ts';
import type { RunningDaemon } from './daemon.ts';
import { measureLoad } from './load.ts';
import type { Counts } from './reference.ts';
import { findProblem } from './runner.ts';
import { formatMs, formatTable } from './statistics.ts';
import { type Comparison, compare, type Pair } from './verdict.ts';

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
  /** Why there is no verdict. */
  readonly problem?: string;
  readonly comparison?: Comparison;
}

export interface PairedReport {
  readonly other: string;
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
  const builds = [{ name: 'this build', folder: undefined }, other];
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
    return { other: other.name, privateMemory, rows: [...rows.values()].map(withVerdict) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function withVerdict(row: PairedRow): PairedRow {
  return row.problem === undefined ? { ...row, comparison: compare(row.starts) } : row;
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
  const add = (name: string, pairs: Pair[], problem?: string): void => {
    const starts = [...(rows.get(name)?.starts ?? []), pairs];
    rows.set(name, problem === undefined ? { name, starts } : { name, starts: [], problem });
  };
  for (const [benchCase, expected] of counts) {
    process.stderr.write(`  ${benchCase.id}\n`);
    for (const matches of [MATCHES_PAGE, MATCHES_MAX]) {
      const name = `${benchCase.id} ${matches === MATCHES_PAGE ? 'first 100' : 'all'}`;
      const body = bodyOf(benchCase, matches);
      const problem = rows.get(name)?.problem ?? (await problemOf(sides, body, expected, matches));
      if (problem !== undefined) add(name, [], problem);
      else add(name, await pairsOf(sides, effort, ({ client }) => timed(client, body)));
    }
  }
  const rare = [...counts]
    .filter(([{ isRegex }, { lines }]) => isRegex !== true && lines < 1000)
    .map(([benchCase]) => bodyOf(benchCase, MATCHES_PAGE));
  if (rare.length === 0) return;
  const loadEffort = { roundCount: 7, timeMs: Infinity };
  for (const connectionCount of LOAD_CONNECTION_COUNTS)
    add(
      `rare words, ${connectionCount} connections: ms for each`,
      await pairsOf(sides, loadEffort, async ({ daemon }) => {
        const figure = await measureLoad(daemon, rare, connectionCount, effort.loadMs);
        return 1000 / figure.requestsPerSecond;
      }),
    );
}

async function problemOf(
  sides: readonly Side[],
  body: string,
  expected: Counts,
  matches: number,
): Promise<string | undefined> {
  for (const [index, { client }] of sides.entries()) {
    const problem = findProblem(await search(client, body), expected, matches);
    if (problem !== undefined) return `${index === 0 ? 'this build' : 'the other'}: ${problem}`;
  }
  return undefined;
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

export function formatAgainst({ other, rows, privateMemory }: PairedReport): string {
  const columns = [
    { title: 'class', align: 'left' } as const,
    ...['ms', `ms of ${other}`, 'ratio', 'interval'].map((title) => ({
      title,
      align: 'right' as const,
    })),
    { title: 'verdict', align: 'left' } as const,
  ];
  const cells = rows.map(({ name, problem, comparison }) =>
    comparison === undefined
      ? [name, '', '', '', '', `WRONG: ${problem ?? ''}`]
      : [
          name,
          formatMs(comparison.ownMs),
          formatMs(comparison.otherMs),
          comparison.ratio.toFixed(2),
          `${comparison.low.toFixed(2)} to ${comparison.high.toFixed(2)}`,
          comparison.verdict,
        ],
  );
  const memory = privateMemory
    .map((sizes) => sizes.map((size) => Math.round(size / 2 ** 20)).join(' and '))
    .join('; ');
  return `${formatTable(columns, cells)}\nPrivate memory of both at the end of each start: ${memory} MiB\n`;
}
