// `node build/bench/figures.js [RECORD] [RECORDS]`: keeps what documents show of a stored run (figures.json) and of the folder
// of points that curves.ts stored (curves.json), and writes their tables.
// test/structure/figures.test.ts fails when a table is not that of the run, or the run is of another version.

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { formatBytes, formatDuration } from '../daemon/cli/format.ts';
import { readRecord, type RecordedCase } from '../daemon/cli/bench/record.ts';
import { formatMs, quantile } from '../daemon/cli/bench/statistics.ts';
import { LINUX_CASES } from './cases.ts';
import { type Curves, curvesOf, curvesSchema, curveTables } from './curve-table.ts';

const FIGURES_FILE = 'bench/figures.json';
const CURVES_FILE = 'bench/curves.json';
/** Of README.md. */
const CHOSEN = ['PM_RESUME', 'kmalloc', 'return', String.raw`err(no)?\s*=\s*-E[A-Z]+;`];
/** Of the curves, in bench/README.md; curves.json has all. */
const CURVE_ROWS = /^[^`]|^`(zqjxkv|PM_RESUME|return|err.*)` .* p50|^`return` first 100 p99/;
/** Of bench/README.md: the first two of each class. */
const SHOWN: ReadonlySet<string> = new Set(
  LINUX_CASES.filter(({ id, class: one }) => {
    const sameClass = LINUX_CASES.filter((other) => other.class === one);
    return one !== "ripgrep's suite" && sameClass.findIndex((other) => other.id === id) < 2;
  }).map(({ id }) => id),
);
const PEERS = ['rg', 'git grep', 'csearch'] as const;

const times = z.object({ p50Ms: z.number(), p99Ms: z.number() });
const figures = z.object({
  startedAt: z.string(),
  commit: z.string(),
  product: z.string(),
  node: z.string(),
  corpus: z.string(),
  numbers: z.record(z.string(), z.number()),
  searches: z.array(
    z.object({
      query: z.string(),
      lines: z.number(),
      limited: times,
      all: times,
      peersMs: z.record(z.string(), z.number()),
    }),
  ),
  loads: z.array(z.object({ name: z.string(), ...times.shape })),
});
export type Figures = z.infer<typeof figures>;

function timesOf({ starts }: RecordedCase): z.infer<typeof times> {
  const sorted = starts.flat().toSorted((a, b) => a - b);
  return { p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) };
}

/** Errors: UsageError if the file is no record; Error if an answer was wrong. */
function figuresOf(file: string): Figures {
  const record = readRecord(file);
  const wrong = record.cases.find(({ problem }) => problem !== undefined);
  if (wrong !== undefined) throw new Error(`${wrong.id}: ${wrong.problem}`);
  const byId = new Map(record.cases.map((one) => [one.id, one]));
  const searches = record.cases.flatMap((limited) => {
    const query = limited.id.replace(/ first 100$/, '');
    const all = byId.get(`${query} all`);
    if (query === limited.id || all === undefined || limited.class === undefined) return [];
    const peersMs = Object.fromEntries(
      Object.entries(all.peers ?? {}).map(([name, { medianMs }]) => [name, medianMs]),
    );
    const { lines = 0 } = limited.counts;
    return [{ query, lines, limited: timesOf(limited), all: timesOf(all), peersMs }];
  });
  const loads = record.cases.flatMap((one) =>
    one.id.startsWith('rare words, ') ? [{ name: one.id, ...timesOf(one) }] : [],
  );
  const { startedAt, commit, product, machine, corpus, figures: numbers } = record;
  const from = { startedAt, commit, product, node: machine.node };
  return { ...from, corpus: `${corpus.name} ${corpus.version}`, numbers, searches, loads };
}

export function readFigures(): Figures {
  return figures.parse(JSON.parse(readFileSync(FIGURES_FILE, 'utf8')));
}

export function readCurves(): Curves {
  return curvesSchema.parse(JSON.parse(readFileSync(CURVES_FILE, 'utf8')));
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function queryCell({ query, lines }: Figures['searches'][number]): string {
  return `\`${query.replaceAll('|', String.raw`\|`)}\`, ${lines.toLocaleString('en-US')} lines`;
}

function originOf({ startedAt, commit, node, corpus }: Figures): string {
  return `Made by \`bench/figures.ts\` from a run of ${commit}, ${startedAt.slice(0, 10)}, Node.js ${node.slice(1)}, ${corpus}.\n`;
}

/** For README.md. */
function shortTable(run: Figures): string {
  const { numbers } = run;
  const ofRun = (name: string): number => numbers[name] ?? NaN;
  const searches = CHOSEN.flatMap((query) => run.searches.filter((one) => one.query === query));
  const rows = searches.map((one) => [
    queryCell(one),
    formatMs(one.limited.p50Ms),
    formatMs(one.all.p50Ms),
    formatMs(one.peersMs['rg'] ?? NaN),
  ]);
  const memory = formatBytes(ofRun('buildMemorySize'));
  const share = (ofRun('dataSize') / ofRun('contentSize')).toFixed(3);
  return `${originOf(run)}\n${tableOf(
    ['What', 'First 100', 'All', 'ripgrep'],
    [
      ...rows,
      ['first index', `${formatDuration(ofRun('buildMs'))}; ${memory} of memory`, '', ''],
      ['index and stored content, of the content', `${share} times`, '', ''],
      ['start to first answer', formatDuration(ofRun('firstAnswerMs')), '', ''],
      ['private memory after all cases', formatBytes(ofRun('privateMemorySize')), '', ''],
    ],
  )}`;
}

function pairOf({ p50Ms, p99Ms }: z.infer<typeof times>): string {
  return `${formatMs(p50Ms)} / ${formatMs(p99Ms)}`;
}

function cellOf(ms: number | undefined): string {
  return ms === undefined ? '-' : formatMs(ms);
}

/** For bench/README.md. */
function longTable(run: Figures): string {
  const peers = PEERS.filter((name) => run.searches.some(({ peersMs }) => name in peersMs));
  const rows = run.searches
    .filter(({ query }) => SHOWN.has(query))
    .map((one) => [
      queryCell(one),
      pairOf(one.limited),
      pairOf(one.all),
      ...peers.map((name) => cellOf(one.peersMs[name])),
    ]);
  const loads = run.loads.map((one) => [one.name, pairOf(one), '', ...peers.map(() => '')]);
  const head = ['Query', 'first 100: p50 / p99', 'all: p50 / p99', ...peers];
  return `${originOf(run)}\n${tableOf(head, [...rows, ...loads])}`;
}

/** For bench/README.md. */
function curvesText(curves: Curves): string {
  const { startedAt, commit, node, cpu } = curves;
  const from = `Made from points of ${commit}, ${startedAt.slice(0, 10)}, Node.js ${node.slice(1)}, ${cpu}.\n`;
  const tables = curveTables(curves, false).map(({ head, rows }) =>
    tableOf(
      head,
      rows.filter(([name = '']) => CURVE_ROWS.test(name)),
    ),
  );
  return [from, ...tables].join('\n');
}

/** Documents with their tables, each between comments with its name. */
export const FIGURE_TABLES: readonly {
  readonly file: string;
  readonly name: string;
  readonly make: () => string;
}[] = [
  { file: 'README.md', name: 'figures', make: () => shortTable(readFigures()) },
  { file: 'bench/README.md', name: 'figures', make: () => longTable(readFigures()) },
  { file: 'bench/README.md', name: 'curves', make: () => curvesText(readCurves()) },
];

/** The text with the table in its place. Errors: it has no place. */
export function withTable(text: string, name: string, table: string): string {
  const begin = `<!-- ${name}: node build/bench/figures.js RECORD${name === 'curves' ? 'S' : ''} -->\n\n`;
  const start = text.indexOf(begin) + begin.length;
  const end = text.indexOf(`\n<!-- ${name} end -->`, start - 1);
  if (start < begin.length || end < 0) throw new Error(`no comments around the ${name}`);
  return text.slice(0, start) + table + text.slice(end);
}

function main(files: readonly string[]): void {
  for (const file of files) {
    const isFolder = statSync(file).isDirectory();
    const kept = isFolder ? curvesOf(file) : figuresOf(file);
    writeFileSync(isFolder ? CURVES_FILE : FIGURES_FILE, `${JSON.stringify(kept, undefined, 1)}\n`);
  }
  for (const { file, name, make } of FIGURE_TABLES)
    writeFileSync(file, withTable(readFileSync(file, 'utf8'), name, make()));
}

if (import.meta.filename === process.argv[1]) main(process.argv.slice(2));
