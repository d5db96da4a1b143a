// Times symbol searches, definitions and references. Every symbol of an answer is checked against the expression.

import { MATCHES_MAX, MATCHES_PAGE } from './client.ts';
import { type Reply, send } from '../daemon/cli/bench/load.ts';
import { type Effort, measureCalls } from './runner.ts';
import {
  type Column,
  formatMs,
  formatTable,
  type Latency,
} from '../daemon/cli/bench/statistics.ts';

interface SymbolCase {
  readonly id: string;
  readonly path: string;
  readonly expression?: RegExp;
  readonly body: (matches: number) => object;
}

export interface SymbolRow {
  readonly id: string;
  readonly count: number;
  readonly limited: Latency;
  readonly all: Latency;
}

function searchCase(pattern: string): SymbolCase {
  return {
    id: `sym:${pattern}`,
    path: '/api/search',
    expression: new RegExp(pattern, 'i'),
    body: (matches) => ({ query: `sym:"${pattern}"`, matches }),
  };
}

function navigationCase(kind: 'definitions' | 'references', symbolName: string): SymbolCase {
  return {
    id: `${kind} of ${symbolName}`,
    path: `/api/find_${kind}`,
    body: () => ({ symbolName }),
  };
}

const CASES: readonly SymbolCase[] = [
  searchCase('^pm_resume$'),
  searchCase('^mutex_lock_interruptible$'),
  searchCase('^init$'),
  searchCase('^pm_'),
  searchCase('\\bmain\\b'),
  searchCase('resume'),
  searchCase('^pm_.*resume$'),
  searchCase('alloc_.*page'),
  searchCase('[a-z]+_probe$'),
  searchCase('^[a-z]{3}$'),
  navigationCase('definitions', 'pm_resume'),
  navigationCase('references', 'pm_resume'),
  navigationCase('definitions', 'kmalloc'),
  navigationCase('references', 'kmalloc'),
];

interface SymbolAnswer {
  readonly stats: { readonly actualMatchCount?: number; readonly matchCount?: number };
  readonly files: readonly {
    readonly chunks?: readonly { readonly symbols: readonly { readonly symbol: string }[] }[];
  }[];
}

/** Throws for a symbol that the expression does not match. */
function countOf(answer: Reply, { id, expression }: SymbolCase): number {
  const text = answer.body.toString();
  if (answer.status !== 200) throw new Error(`${id}: HTTP ${String(answer.status)}: ${text}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the daemon's own contract
  const { stats, files } = JSON.parse(text) as SymbolAnswer;
  for (const { symbol } of files.flatMap(
    (file) => file.chunks?.flatMap((one) => one.symbols) ?? [],
  ))
    if (expression?.test(symbol) === false) throw new Error(`${id}: ${symbol} does not match`);
  return stats.actualMatchCount ?? stats.matchCount ?? 0;
}

/** Errors: an answer that is wrong, or not 200. */
export async function measureSymbols(url: string, effort: Effort): Promise<SymbolRow[]> {
  const rows: SymbolRow[] = [];
  for (const one of CASES) {
    const address = new URL(url + one.path);
    const options = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const call = (matches: number) => (): Promise<Reply> =>
      send(address, options, JSON.stringify(one.body(matches)));
    const count = countOf(await call(MATCHES_MAX)(), one);
    const limited = await measureCalls(call(MATCHES_PAGE), effort);
    const all = await measureCalls(call(MATCHES_MAX), effort);
    rows.push({ id: one.id, count, limited, all });
  }
  return rows;
}

function right(title: string): Column {
  return { title, align: 'right' };
}

export function formatSymbols(rows: readonly SymbolRow[]): string {
  return formatTable(
    [
      { title: 'symbols', align: 'left' },
      ...['found', 'first 100: p50', 'p99', 'all: p50', 'p99'].map(right),
    ],
    rows.map(({ id, count, limited, all }) => [
      id,
      count.toLocaleString('en-US'),
      ...[limited.p50Ms, limited.p99Ms, all.p50Ms, all.p99Ms].map(formatMs),
    ]),
  );
}
