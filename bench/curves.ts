// `node build/bench/curves.js RECORDS [FOLDER [COUNT]]`: indexes, serves and searches FOLDER, or COUNT of its entries as
// a source each, and stores that in the folder RECORDS as a point. Prints the curves of all points that are stored there.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { readProductVersion } from '../daemon/base/config/version.ts';
import { describeMachine, writeRecord } from '../daemon/cli/bench/record.ts';
import { LINUX_CASES } from './cases.ts';
import type { BenchCase } from './cases.ts';
import { bodyOf, createClient, MATCHES_MAX, search } from './client.ts';
import type { SearchClient } from './client.ts';
import { CURVE_CASES, curvesOf, formatCurves } from './curve-table.ts';
import { hashOf } from './cut.ts';
import { buildIndex, findSymbols, privateMemorySize, procSize, startDaemon } from './daemon.ts';
import type { BuildFigures, SymbolFigures } from './daemon.ts';
import { processorMs } from './load.ts';
import { commitOf, recordOf } from './recorded.ts';
import { hasWrongCase } from './report.ts';
import type { CaseReport, RunReport } from './report.ts';
import { countsOf, measureCase } from './runner.ts';

const EFFORT = { timeMs: 1000, iterationCount: 10, warmupMs: 300 };
/** Used processor time of a second below which a daemon has nothing left to do. */
const CALM_MS = 30;

/** What earlier runs with `--step` have measured of a point. */
interface Done {
  readonly sources: readonly string[];
  readonly build?: BuildFigures;
  readonly symbols?: SymbolFigures;
}

/** In the order of a hash of their names: any number of them is a fair sample. */
function sourcesOf(folder: string, count: number | undefined): string[] {
  if (count === undefined) return [path.resolve(folder)];
  const names = readdirSync(folder).toSorted((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1));
  if (names.length < count)
    throw new Error(`${folder} has ${String(names.length)} entries, not ${String(count)}`);
  return names.slice(0, count).map((name) => path.resolve(folder, name));
}

/** Of no time and size if there were some before, or no engine finds any. */
async function symbolsOf(sources: readonly string[], dataDir: string): Promise<SymbolFigures> {
  const names = readdirSync(dataDir, { recursive: true }).map(String);
  const figures = await findSymbols(sources, dataDir);
  const isWhole = figures.dataSize > 0 && !names.some((name) => name.endsWith('.tags'));
  return isWhole ? figures : { ...figures, durationMs: 0, dataSize: 0 };
}

async function untilCalm(pid: number): Promise<void> {
  for (let before = -Infinity, now = 0; now - before > CALM_MS; await sleep(1000)) {
    before = now === 0 ? -Infinity : now;
    now = processorMs(pid) ?? 0;
  }
}

/** Counts are the daemon's own: the first page must agree with the whole answer. */
async function measureOne(client: SearchClient, benchCase: BenchCase): Promise<CaseReport> {
  const response = await search(client, bodyOf(benchCase, MATCHES_MAX));
  const counts = countsOf(response);
  const expected = response.isSearchExhaustive ? counts : { ...counts, matches: MATCHES_MAX + 1 };
  const figure = await measureCase(client, benchCase, expected, EFFORT);
  return {
    id: benchCase.id,
    class: benchCase.class,
    expected,
    excludedLineCount: 0,
    figure,
    peers: {},
  };
}

type Served = Pick<RunReport, 'cases' | 'openMs' | 'firstAnswerMs' | 'privateMemorySize'>;

async function serve(dataDir: string): Promise<Served & { sharedMemorySize: number }> {
  const startMs = performance.now();
  const daemon = await startDaemon([], dataDir);
  const client = createClient(daemon.url, 2);
  try {
    await search(client, JSON.stringify({ query: 'PM_RESUME', matches: 1 }));
    const firstAnswerMs = performance.now() - startMs;
    await untilCalm(daemon.pid);
    const cases: CaseReport[] = [];
    for (const id of CURVE_CASES)
      cases.push(
        await measureOne(
          client,
          LINUX_CASES.find((one) => one.id === id)!,
        ),
      );
    return {
      cases,
      openMs: daemon.startMs,
      firstAnswerMs,
      privateMemorySize: privateMemorySize(daemon.pid),
      sharedMemorySize: procSize(daemon.pid, 'smaps_rollup', 'Pss_File'),
    };
  } finally {
    client.close();
    await daemon.stop();
  }
}

async function store(
  file: string,
  name: string,
  dataDir: string,
  done: Required<Done>,
): Promise<void> {
  const { sources, build, symbols } = done;
  const startedAt = new Date().toISOString();
  const { sharedMemorySize, ...served } = await serve(dataDir);
  const nothing = { processorMs: [], memoryMs: [] };
  const report: RunReport = {
    startedAt,
    corpus: name,
    corpusVersion: `${String(sources.length)} sources`,
    product: readProductVersion(),
    machine: describeMachine(),
    isQuick: false,
    build,
    symbols: { ...symbols, cases: [], calibration: nothing },
    load: [],
    peers: [],
    ...served,
  };
  if (hasWrongCase(report)) throw new Error(`a wrong answer: ${JSON.stringify(report.cases)}`);
  const record = recordOf(report, commitOf());
  const figures = { ...record.figures, sharedMemorySize, repoCount: sources.length };
  writeRecord(file, { ...record, figures });
}

/** True: there is more to do. */
async function measurePoint(records: string, folder: string, count?: number): Promise<boolean> {
  const sources = sourcesOf(folder, count);
  const work = path.join(records, 'work');
  const dataDir = path.join(work, 'data');
  const doneFile = path.join(work, 'done.json');
  mkdirSync(work, { recursive: true });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own file
  const done = (
    existsSync(doneFile) ? JSON.parse(readFileSync(doneFile, 'utf8')) : { sources }
  ) as Done;
  if (done.sources.join('\n') !== sources.join('\n'))
    throw new Error(`${work} is of other sources: remove it`);
  const keep = (more: Partial<Done>): true => {
    writeFileSync(doneFile, JSON.stringify({ ...done, ...more }));
    return true;
  };
  const { build, symbols } = done;
  if (build === undefined) return keep({ build: await buildIndex(sources, dataDir) });
  if (symbols === undefined) return keep({ symbols: await symbolsOf(sources, dataDir) });
  const name =
    count === undefined ? `size-${String(build.contentSize)}` : `number-${String(count)}`;
  await store(path.join(records, `${name}.json`), name, dataDir, { sources, build, symbols });
  rmSync(work, { recursive: true });
  return false;
}

await new Command('curves')
  .description(
    'Measures how build, disk, memory, start and latency grow, and projects that to 1 TB.',
  )
  .argument('<records>', 'folder of the stored points, a record of a run each')
  .argument('[folder]', 'what to index as a further point')
  .argument('[count]', 'so many entries of the folder, as a source each', Number)
  .option('--step', 'only what is next of: build, symbols, searches')
  .action(
    async (records: string, folder?: string, count?: number, { step }: { step?: true } = {}) => {
      let isMore = folder !== undefined;
      while (isMore) isMore = (await measurePoint(records, folder ?? '', count)) && step !== true;
      if (readdirSync(records).some((name) => name.endsWith('.json')))
        process.stdout.write(formatCurves(curvesOf(records)));
    },
  )
  .parseAsync();
