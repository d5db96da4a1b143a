// `npm run bench`: indexes and serves a corpus, checks and times the cases and the peers, or compares with ripgrep.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError, Option } from 'commander';
import { readSettings } from '../daemon/base/config/settings.ts';
import { readProductVersion } from '../daemon/base/config/version.ts';
import { type Calibrated, calibrated } from '../daemon/cli/bench/calibration.ts';
import { compareRuns, formatComparison } from '../daemon/cli/bench/compare.ts';
import { describeMachine, withVersion, writeRecord } from '../daemon/cli/bench/record.ts';
import { formatExplanation } from '../daemon/cli/explain-output.ts';
import { daemonAt, openRemoteSearch } from '../daemon/cli/remote-search.ts';
import { STREAM_CASE_IDS } from './cases.ts';
import type { BenchCase } from './cases.ts';
import { buildOf, FULL_PAIRS, QUICK_PAIRS, runAgainst } from './against.ts';
import type { PairedReport } from './against.ts';
import { bodyOf, callOf, createClient, listDocs, searchAllThrough } from './client.ts';
import { MATCHES_MAX, MATCHES_PAGE, search } from './client.ts';
import type { SearchClient } from './client.ts';
import { ATTACKS } from './attacks/attacks.ts';
import { formatAttacks } from './attacks/report.ts';
import { runAttacks } from './attacks/run.ts';
import { FULL_SCALE, TINY_SCALE } from './attacks/world.ts';
import { cacheFolder, openCorpus } from './corpora.ts';
import type { Corpus } from './corpora.ts';
import { buildIndex, findSymbols, privateMemorySize, startDaemon } from './daemon.ts';
import type { BuildFigures, RunningDaemon, SymbolFigures } from './daemon.ts';
import { describeReport, runDifferential } from './differential.ts';
import { findExpected } from './expected.ts';
import { readLinks } from './links.ts';
import { formatDefinitions, measureDefinitions } from './ranking/definitions.ts';
import { measureRanking } from './ranking/measure.ts';
import { HALVES } from './ranking/draw.ts';
import type { Half } from './ranking/draw.ts';
import { formatMisses, formatRanking } from './ranking/report.ts';
import { QUERY_SETS } from './ranking/sets.ts';
import { openGoSource, openTrees } from './ranking/trees.ts';
import { formatReading, measureReading } from './reading.ts';
import { measureLoad } from './load.ts';
import type { LoadFigure } from './load.ts';
import { findPeers, measurePeers } from './peers.ts';
import type { Peer } from './peers.ts';
import { countExcluded, referenceCounts } from './reference.ts';
import type { CorpusFiles, Counts } from './reference.ts';
import { formatCases, formatLoad, formatSummary, hasWrongCase } from './report.ts';
import type { CaseReport, RunReport } from './report.ts';
import { commitOf, recordOf, recordsOf } from './recorded.ts';
import { ripgrepFiles } from './ripgrep.ts';
import { formatSymbols, measureSymbols } from './symbols.ts';
import { FULL_EFFORT, QUICK_EFFORT, measureCase, measureFirstResult } from './runner.ts';

const QUICK_CORPUS = fileURLToPath(new URL('../../node_modules/prettier', import.meta.url));
const RANKING_SETS = ['drawn', 'real', 'unseen', 'definitions'] as const;
type RankingSet = (typeof RANKING_SETS)[number];
const LOAD_CONNECTION_COUNTS = [8, 64];

interface Flags {
  readonly corpus?: string;
  readonly path?: string;
  readonly cache?: string;
  readonly out?: string;
  readonly only?: string;
  readonly quick?: true;
  readonly peers: boolean;
  readonly differential?: true;
  readonly printExpected?: true;
  readonly explain?: true;
  readonly reading?: true;
  readonly attacks?: true;
  readonly against?: string;
  readonly ranking?: RankingSet;
  readonly url?: string;
  readonly names?: string;
  readonly except?: string;
  readonly full?: true;
  readonly misses?: Half;
  readonly build?: string;
  readonly data?: string;
  readonly zoekt?: string;
  readonly samples: number;
  readonly patterns: number;
  readonly seed: number;
}

interface Setup {
  readonly corpus: Corpus;
  readonly build: BuildFigures;
  readonly symbols: SymbolFigures;
  readonly daemon: RunningDaemon;
  readonly client: SearchClient;
  readonly firstAnswerMs: number;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** Prints where ripgrep sees other files. */
async function corpusFiles({
  corpus,
  client,
}: Pick<Setup, 'corpus' | 'client'>): Promise<CorpusFiles> {
  const { paths, skipped } = await listDocs(client);
  const links = readLinks(corpus.root);
  const files = new Set([...(await ripgrepFiles(corpus.root)), ...links.keys()]);
  const missing = [...files].filter((file) => !paths.has(file));
  const extra = [...paths].filter((file) => !files.has(file));
  if (missing.length > 0) say(`not indexed: ${String(missing.length)}, first ${missing[0] ?? ''}`);
  if (extra.length > 0) say(`only in the index: ${String(extra.length)}, first ${extra[0] ?? ''}`);
  const excluded = new Set(skipped.keys());
  const searched = new Set([...paths].filter((file) => !excluded.has(file) && !links.has(file)));
  return { root: corpus.root, searched, excluded, links };
}

/** Kept counts, else computed with ripgrep. */
async function expectedCounts(
  setup: Pick<Setup, 'corpus' | 'client'>,
  cases: readonly BenchCase[],
  isFresh: boolean,
): Promise<Map<string, Counts>> {
  const { name, version } = setup.corpus;
  const counts = new Map<string, Counts>();
  let files: CorpusFiles | undefined;
  for (const benchCase of cases) {
    const kept = isFresh ? undefined : findExpected(`${name}@${version}`, benchCase.id);
    files ??= kept ? undefined : await corpusFiles(setup);
    if (kept) counts.set(benchCase.id, kept);
    else if (files) counts.set(benchCase.id, await referenceCounts(benchCase, files));
  }
  return counts;
}

interface PeerScope {
  readonly all: readonly Peer[];
  readonly excluded: ReadonlySet<string>;
}

async function runCase(
  setup: Setup,
  benchCase: BenchCase,
  expected: Counts,
  peers: PeerScope,
  isQuick: boolean,
): Promise<CaseReport> {
  const { id, class: caseClass } = benchCase;
  say(`  ${id}`);
  const effort = isQuick ? QUICK_EFFORT : FULL_EFFORT;
  const figure = await measureCase(setup.client, benchCase, expected, effort);
  const runCount = isQuick ? 1 : 5;
  const { root } = setup.corpus;
  const figures = await measurePeers(peers.all, benchCase, root, runCount);
  const excludedLineCount = await countExcluded(benchCase, root, peers.excluded);
  const head = { id, class: caseClass, expected, excludedLineCount };
  const row = { ...head, figure, peers: Object.fromEntries(figures) };
  if (!STREAM_CASE_IDS.has(id)) return row;
  const { result, calibration } = await calibrated(() =>
    measureFirstResult(setup.client, benchCase, effort),
  );
  if (result !== undefined) return { ...row, firstResult: { result, calibration } };
  const isWrong = expected.matches > 0 && figure.kind !== 'wrong';
  return isWrong ? { ...row, figure: { kind: 'wrong', problem: 'no streamed result' } } : row;
}

async function explainCase({ daemon }: Setup, benchCase: BenchCase): Promise<string> {
  const call = { ...callOf(benchCase, MATCHES_PAGE), contextLines: 0, whole: false };
  const source = openRemoteSearch(daemonAt(daemon.url, undefined));
  return formatExplanation(await source.explain(call, new AbortController().signal));
}

function rareBodies(cases: readonly CaseReport[], corpus: Corpus): string[] {
  const ids = new Set(
    cases
      .filter(({ figure, expected }) => figure.kind === 'measured' && expected.lines < 1000)
      .map(({ id }) => id),
  );
  return corpus.cases
    .filter(({ id, isRegex }) => ids.has(id) && !isRegex)
    .map((entry) => bodyOf(entry, MATCHES_PAGE));
}

async function measureMix(
  { daemon, corpus }: Setup,
  cases: readonly CaseReport[],
  timeMs: number,
): Promise<Calibrated<LoadFigure>[]> {
  const bodies = rareBodies(cases, corpus);
  const figures: Calibrated<LoadFigure>[] = [];
  for (const connectionCount of bodies.length > 0 ? LOAD_CONNECTION_COUNTS : []) {
    figures.push(await calibrated(() => measureLoad(daemon, bodies, connectionCount, timeMs)));
  }
  return figures;
}

/** So that the first case meets the same daemon as the last. */
async function warmUp({ daemon }: Setup, cases: readonly BenchCase[], timeMs: number) {
  const bodies = cases.map((entry) => bodyOf(entry, MATCHES_PAGE));
  if (bodies.length > 0) await measureLoad(daemon, bodies, 1, timeMs);
}

async function runBenchmark(setup: Setup, flags: Flags): Promise<RunReport> {
  const { corpus, build, symbols, daemon, firstAnswerMs } = setup;
  const startedAt = new Date().toISOString();
  const isQuick = flags.quick === true;
  const peers = flags.peers ? findPeers(corpus, cacheFolder(flags.cache)) : [];
  const chosen = corpus.cases.filter(({ id }) => id.includes(flags.only ?? ''));
  const counts = await expectedCounts(setup, chosen, false);
  await warmUp(setup, isQuick ? chosen : corpus.cases, isQuick ? 100 : 3000);
  const excluded = new Set(peers.length > 0 ? (await listDocs(setup.client)).skipped.keys() : []);
  const scope: PeerScope = { all: peers, excluded };
  const cases: CaseReport[] = [];
  for (const benchCase of chosen) {
    const expected = counts.get(benchCase.id);
    if (!expected) continue;
    const entry = await runCase(setup, benchCase, expected, scope, isQuick);
    const explanation = flags.explain ? await explainCase(setup, benchCase) : undefined;
    cases.push(explanation === undefined ? entry : { ...entry, explanation });
  }
  const load = await measureMix(setup, cases, isQuick ? 300 : 5000);
  const symbolCases = await calibrated(() =>
    flags.only === undefined
      ? measureSymbols(daemon.url, isQuick ? QUICK_EFFORT : FULL_EFFORT)
      : Promise.resolve([]),
  );
  return {
    startedAt,
    corpus: corpus.name,
    corpusVersion: corpus.version,
    product: readProductVersion(),
    machine: describeMachine(),
    isQuick,
    build,
    openMs: daemon.startMs,
    firstAnswerMs,
    privateMemorySize: privateMemorySize(daemon.pid),
    load,
    symbols: {
      ...symbols,
      cases: symbolCases.result,
      calibration: symbolCases.calibration,
    },
    peers: peers.map(({ name, version, index }) => ({
      name,
      version,
      ...(index ? { indexSize: index.size } : {}),
      ...(index?.durationMs === undefined ? {} : { indexMs: index.durationMs }),
    })),
    cases,
  };
}

/** Exit code 1 for a wrong answer. */
async function benchmark(setup: Setup, flags: Flags): Promise<void> {
  const report = await runBenchmark(setup, flags);
  process.stdout.write(
    [
      formatCases(report),
      formatLoad(report),
      formatSymbols(report.symbols.cases),
      formatSummary(report),
    ]
      .filter(Boolean)
      .join('\n'),
  );
  if (flags.out !== undefined) writeRecord(flags.out, recordOf(report, commitOf()));
  if (hasWrongCase(report)) process.exitCode = 1;
}

async function differential(setup: Setup, { samples, patterns, seed }: Flags): Promise<void> {
  const { excluded } = await corpusFiles(setup);
  const report = await runDifferential({
    root: setup.corpus.root,
    sampleCount: samples,
    patternCount: patterns,
    seed,
    rangeCountMax: MATCHES_MAX,
    fileSizeMax: readSettings().maxFileSize,
    searchAll: searchAllThrough(setup.client),
    excludedPaths: excluded,
  });
  process.stdout.write(describeReport(report));
  if (report.differences.length > 0) process.exitCode = 1;
}

async function printExpected(setup: Setup, only = ''): Promise<void> {
  const chosen = setup.corpus.cases.filter(({ id }) => id.includes(only));
  const counts = await expectedCounts(setup, chosen, true);
  const rows = [...counts].map(([id, c]): [string, number[]] => [
    id,
    [c.files, c.lines, c.matches],
  ]);
  const key = `${setup.corpus.name}@${setup.corpus.version}`;
  process.stdout.write(`${JSON.stringify({ [key]: Object.fromEntries(rows) }, undefined, 2)}\n`);
}

async function withDaemon(corpus: Corpus, use: (setup: Setup) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'trawl-bench-'));
  const dataDir = path.join(folder, 'data');
  try {
    say(`Indexing ${corpus.name} ...`);
    const build = await buildIndex([corpus.root], dataDir);
    say('Finding symbols ...');
    const symbols = await findSymbols([corpus.root], dataDir);
    const startMs = performance.now();
    const daemon = await startDaemon([corpus.root], dataDir);
    const client = createClient(daemon.url, 2);
    try {
      await search(client, JSON.stringify({ query: 'PM_RESUME', matches: 1 }));
      const firstAnswerMs = performance.now() - startMs;
      await use({ corpus, build, symbols, daemon, client, firstAnswerMs });
    } finally {
      client.close();
      await daemon.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function attack(flags: Flags): Promise<void> {
  const cache = cacheFolder(flags.cache);
  const isSmall = flags.quick === true && flags.corpus === undefined && flags.path === undefined;
  const corpus = isSmall ? undefined : await openCorpus(flags.corpus ?? 'linux', cache, flags.path);
  const results = await runAttacks({
    attacks: ATTACKS.filter(({ name }) => name.includes(flags.only ?? '')),
    scale: flags.quick ? TINY_SCALE : FULL_SCALE,
    corpus: corpus?.root,
    build: flags.build,
    keep: flags.cache === undefined ? undefined : path.join(cache, 'attacks'),
    onResult: (result) => say(formatAttacks([result])),
  });
  process.stdout.write(formatAttacks(results));
  if (flags.out !== undefined)
    writeFileSync(flags.out, `${JSON.stringify(results, undefined, 2)}\n`);
}

/** Beside each other, by default in the cache folder: what was measured is never lost. */
function storePair(report: PairedReport, { out, cache }: Flags): string {
  const [own, other] = recordsOf(report, readProductVersion());
  const file = out ?? path.join(cacheFolder(cache), 'runs', `${own.startedAt}.json`);
  const otherFile = path.join(path.dirname(file), `${path.parse(file).name}.against.json`);
  mkdirSync(path.dirname(file), { recursive: true });
  writeRecord(file, own);
  writeRecord(otherFile, other);
  say(`Stored. npm run bench:compare -- ${otherFile} ${file}`);
  return formatComparison(compareRuns(withVersion(other), withVersion(own)));
}

/** Exit code 1 for a wrong answer. */
async function compareBuilds(corpus: Corpus, rev: string, flags: Flags): Promise<void> {
  const other = buildOf(rev, cacheFolder(flags.cache));
  const chosen = corpus.cases.filter(({ id }) => id.includes(flags.only ?? ''));
  const effort = flags.quick ? QUICK_PAIRS : FULL_PAIRS;
  const report = await runAgainst(corpus, other, effort, async (client) => {
    const counts = await expectedCounts({ corpus, client }, chosen, false);
    return new Map(chosen.map((one) => [one, counts.get(one.id)!]));
  });
  process.stdout.write(storePair(report, flags));
  if (report.rows.some(({ problem }) => problem !== undefined)) process.exitCode = 1;
}

async function rankDefinitions({ path: root, full, out, ...flags }: Flags) {
  if (root === undefined) throw new Error('--ranking definitions needs --path, an unpacked C tree');
  const options = { ...flags, root, count: 200, isFull: full === true };
  const figures = await measureDefinitions(options);
  process.stdout.write(formatDefinitions(figures));
  if (out !== undefined) writeFileSync(out, `${JSON.stringify(figures, undefined, 2)}\n`);
}

async function rank(name: keyof typeof QUERY_SETS, flags: Flags) {
  const { only = '', path: linux, misses, out } = flags;
  const set = QUERY_SETS[name];
  const cache = cacheFolder(flags.cache);
  const trees = await openTrees(set.trees, cache, only, linux);
  if (name === 'unseen' && 'go'.includes(only)) trees.push(await openGoSource(cache));
  if (trees.length === 0)
    throw new Error(`--only ${only}: no tree of the set ${name} has that in its name`);
  const report = await measureRanking(set, trees, flags);
  process.stdout.write(formatRanking(report));
  if (misses !== undefined) process.stdout.write(formatMisses(report, misses));
  if (out !== undefined) writeFileSync(out, `${JSON.stringify(report, undefined, 2)}\n`);
}

async function main(flags: Flags): Promise<void> {
  if (flags.ranking) {
    if (flags.ranking === 'definitions') await rankDefinitions(flags);
    else await rank(flags.ranking, flags);
    return;
  }
  if (flags.attacks) {
    await attack(flags);
    return;
  }
  if (flags.reading) {
    const rows = await measureReading(flags.quick ? QUICK_EFFORT : FULL_EFFORT);
    process.stdout.write(formatReading(rows));
    return;
  }
  const isSmall = flags.quick === true && flags.path === undefined;
  const name = flags.corpus ?? (isSmall ? QUICK_CORPUS : 'linux');
  const corpus = await openCorpus(name, cacheFolder(flags.cache), flags.path);
  if (flags.against !== undefined) {
    await compareBuilds(corpus, flags.against, flags);
    return;
  }
  await withDaemon(corpus, async (setup) => {
    if (flags.differential) await differential(setup, flags);
    else if (flags.printExpected) await printExpected(setup, flags.only);
    else await benchmark(setup, flags);
  });
}

await new Command('bench')
  .description('Benchmarks the daemon over HTTP, with checked answers, beside ripgrep and others.')
  .option('--corpus <name>', 'linux (default), or the path of a folder')
  .option('--path <dir>', 'an unpacked tree of the linux corpus, instead of a download')
  .option('--cache <dir>', 'folder for downloads and indexes of peers (default: XDG cache)')
  .option('--out <file>', 'write the results as JSON; of a run, its record (with --against, two)')
  .option('--only <text>', 'only the cases whose name holds this text')
  .option('--quick', 'a smoke run: few repetitions, and a small corpus unless one is given')
  .option('--no-peers', 'leave out ripgrep, git grep, csearch')
  .option('--differential', 'compare random searches with ripgrep instead of timing')
  .option('--reading', 'time the endpoints that read repositories instead, on one made for it')
  .option('--against <rev>', 'time this build and that of a commit in turn: faster or slower')
  .option('--attacks', 'attack the daemon instead, and see how it serves others meanwhile')
  .addOption(
    new Option('--ranking [set]', 'see where the files that are meant stand in answers instead')
      .choices(RANKING_SETS)
      .preset('drawn'),
  )
  .option('--url <address>', 'server to ask by --ranking, instead of starting one')
  .addOption(
    new Option('--misses [half]', 'list the queries whose file is not first')
      .choices(HALVES)
      .preset('tune'),
  )
  .option('--names <file>', 'names of --ranking definitions: read if it is there, else written')
  .option('--except <file>', 'names that --ranking definitions does not draw')
  .option('--full', 'ask --ranking definitions for 100,000 matches and a stream of 1,000 too')
  .option(
    '--build <dir>',
    'folder of another build to attack or rank, such as that of an older commit',
  )
  .option('--data <dir>', 'data directory of --ranking, kept for the next run')
  .option('--zoekt <url>', "address of Zoekt's webserver, to be asked beside --ranking")
  .option('--explain', 'show under each row how the daemon answers its first page')
  .option('--print-expected', 'work out the expected counts with ripgrep and print them')
  .option('--samples <count>', 'literals of the differential test', wholeNumber, 1000)
  .option('--patterns <count>', 'regular expressions of the differential test', wholeNumber, 200)
  .option(
    '--seed <number>',
    'seed of the differential test, or of the names of --ranking definitions',
    wholeNumber,
    1,
  )
  .action(main)
  .parseAsync();
