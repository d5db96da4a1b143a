// Experiment X7: do the two engines of symbols find the same? Every file below the folders is read by both; for each
// language the table says how many places both give, how many only one of them, how often the kinds agree, and how
// fast each is with one process or thread. With `--show LANGUAGE` it lists what only one of them gives.
//   node build/bench/experiments/x7-symbols.js [--show LANGUAGE] FOLDER...

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { detectLanguage } from '../../daemon/sources/languages/languages.ts';
import {
  type EngineName,
  type Extractor,
  openExtractor,
} from '../../daemon/engine/symbols/extractor.ts';
import type { FoundSymbol } from '../../daemon/engine/symbols/found.ts';
import { SYMBOL_KINDS } from '../../daemon/engine/symbols/kinds.ts';
import { formatTable } from '../../daemon/cli/bench/statistics.ts';

const FILE_SIZE_MAX = 1 << 20;
const ROWS_MAX = 60;

interface Row {
  files: number;
  bytes: number;
  both: number;
  sameKind: number;
  sameParent: number;
  ctagsOnly: number;
  treeOnly: number;
  failures: number;
  ctagsMs: number;
  treeMs: number;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { show: { type: 'string' } },
});
const open = (engine: EngineName): Promise<Extractor> =>
  openExtractor({
    concurrency: 1,
    fileTimeoutMs: 60_000,
    fileMemoryMax: 1 << 30,
    engines: [engine],
  });
const ctags = await open('ctags');
const treeSitter = await open('tree-sitter');
const rows = new Map<string, Row>();
const displayed: string[] = [];

for (const folder of positionals) {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    await compare(path.join(folder, name));
  }
}
print();
await Promise.all([ctags.close(), treeSitter.close()]);

async function compare(file: string): Promise<void> {
  const content = readText(file);
  if (content === undefined) return;
  const language = detectLanguage(file, content);
  if (ctags.engineOf(language) === undefined || treeSitter.engineOf(language) === undefined) return;
  const row = rowOf(language);
  const [byCtags, ctagsMs] = await timed(ctags, language, content);
  const [byTree, treeMs] = await timed(treeSitter, language, content);
  row.files++;
  row.bytes += content.length;
  row.ctagsMs += ctagsMs;
  row.treeMs += treeMs;
  if (byCtags === undefined || byTree === undefined) row.failures++;
  count(row, byCtags ?? [], byTree ?? [], (symbol, isCtags) => {
    if (language !== values.show || displayed.length >= ROWS_MAX * 50) return;
    const line = content.subarray(0, symbol.start).toString('latin1').split('\n').length;
    const text = content.toString('utf8', symbol.start, symbol.start + symbol.size);
    displayed.push(
      `${isCtags ? 'ctags' : 'tree '} ${SYMBOL_KINDS[symbol.kind]} ${text}  ${file}:${line}`,
    );
  });
}

function readText(file: string): Buffer | undefined {
  try {
    const content = readFileSync(file);
    const isText = content.length <= FILE_SIZE_MAX && !content.subarray(0, 8192).includes(0);
    return isText && content.length > 0 ? content : undefined;
  } catch {
    // A folder, or a broken link.
    return undefined;
  }
}

function rowOf(language: string): Row {
  const existing = rows.get(language);
  if (existing !== undefined) return existing;
  const counts = { files: 0, bytes: 0, both: 0, sameKind: 0, sameParent: 0, failures: 0 };
  const row = { ...counts, ctagsOnly: 0, treeOnly: 0, ctagsMs: 0, treeMs: 0 };
  rows.set(language, row);
  return row;
}

async function timed(
  extractor: Extractor,
  language: string,
  content: Buffer,
): Promise<[readonly FoundSymbol[] | undefined, number]> {
  const startMs = performance.now();
  const extraction = await extractor.extract(language, content);
  const ms = performance.now() - startMs;
  return ['failure' in extraction ? undefined : extraction.symbols, ms];
}

function count(
  row: Row,
  byCtags: readonly FoundSymbol[],
  byTree: readonly FoundSymbol[],
  onOdd: (symbol: FoundSymbol, isCtags: boolean) => void,
): void {
  const trees = new Map(byTree.map((symbol) => [symbol.start, symbol]));
  for (const symbol of byCtags) {
    const same = trees.get(symbol.start);
    if (same === undefined || same.size !== symbol.size) {
      row.ctagsOnly++;
      onOdd(symbol, true);
      continue;
    }
    trees.delete(symbol.start);
    row.both++;
    if (same.kind === symbol.kind) row.sameKind++;
    if (same.parent?.name === symbol.parent?.name) row.sameParent++;
  }
  row.treeOnly += trees.size;
  for (const symbol of trees.values()) onOdd(symbol, false);
}

function print(): void {
  const table = [...rows]
    .sort(([, a], [, b]) => b.bytes - a.bytes)
    .map(([language, row]) => [
      language,
      String(row.files),
      String(row.failures),
      String(row.both),
      String(row.ctagsOnly),
      String(row.treeOnly),
      percent(row.sameKind, row.both),
      percent(row.sameParent, row.both),
      (row.bytes / row.ctagsMs / 1000).toFixed(1),
      (row.bytes / row.treeMs / 1000).toFixed(1),
    ]);
  const columns =
    'language,files,failed,both,ctags only,tree only,kinds,parents,ctags MB/s,tree MB/s';
  const titles = columns.split(',').map((title, i) => ({
    title,
    align: i === 0 ? ('left' as const) : ('right' as const),
  }));
  console.log(formatTable(titles, table));
  const step = Math.max(1, Math.ceil(displayed.length / ROWS_MAX));
  for (let i = 0; i < displayed.length; i += step) console.log(displayed[i]);
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)}%`;
}
