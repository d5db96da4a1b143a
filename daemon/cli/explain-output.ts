// Formats the explanation of a search. Pure: explanation in, text out.

import type { ConditionNode, GramNode } from '../engine/search/explain-plan.ts';
import type { Explanation, ShardRow } from '../api/search/explain-schemas.ts';
import { SHORT_ID_SIZE } from '../base/file-hash.ts';
import { sumOf } from '../base/lists.ts';
import { countOf, formatColumns, formatCount } from './format.ts';
import { formatStats, type NumberTable } from './search-output.ts';
import { escapeControls } from './terminal-text.ts';

interface TreeLine {
  readonly depth: number;
  readonly text: string;
  readonly counts: string;
}

function countsOf(counts: readonly (readonly [number | undefined, string])[]): string {
  return counts
    .flatMap(([count, unit]) => (count === undefined ? [] : [countOf(count, unit)]))
    .join(', ');
}

function gramLines(node: GramNode, depth: number): TreeLine[] {
  switch (node.kind) {
    case 'scan':
      return [{ depth, text: 'SCAN', counts: '' }];
    case 'gram':
      return [{ depth, text: JSON.stringify(node.gram), counts: '' }];
    default: {
      const head = { depth, text: node.kind.toUpperCase(), counts: '' };
      return [head, ...node.children.flatMap((child) => gramLines(child, depth + 1))];
    }
  }
}

function conditionLines(node: ConditionNode, depth: number): TreeLine[] {
  switch (node.kind) {
    case 'all':
    case 'none':
      return [{ depth, text: node.kind.toUpperCase(), counts: '' }];
    case 'filter':
      return [{ depth, text: node.condition, counts: countsOf([[node.docs, 'doc']]) }];
    case 'content': {
      const { condition, blocks, docs, shardsScanned = 0, grams } = node;
      const isMixed = shardsScanned > 0 && grams.kind !== 'scan';
      const counts = countsOf([
        [grams.kind === 'scan' ? undefined : blocks, 'block'],
        [docs, 'doc'],
      ]);
      const scanned = isMixed ? `; SCAN of ${countOf(shardsScanned, 'shard')}` : '';
      return [{ depth, text: condition, counts: counts + scanned }, ...gramLines(grams, depth + 1)];
    }
    default: {
      const head = { depth, text: node.kind.toUpperCase(), counts: '' };
      return [head, ...node.children.flatMap((child) => conditionLines(child, depth + 1))];
    }
  }
}

function formatTree(lines: readonly TreeLine[]): string {
  return formatColumns(
    lines.map(({ depth, text, counts }) => [
      `${'  '.repeat(depth)}${escapeControls(text)}`,
      ...(counts === '' ? [] : [counts]),
    ]),
  );
}

function formatRegexps(regexps: Explanation['plan']['regexps']): string {
  return formatColumns(
    regexps.map(({ expression, engine, requires, begins, needles }) => [
      `  ${escapeControls(expression)}`,
      engine,
      escapeControls(`requires ${requires}`),
      ...(begins === undefined ? [] : [escapeControls(`begins in ${begins}`)]),
      ...(needles === undefined
        ? []
        : [escapeControls(`needles ${needles.map((text) => JSON.stringify(text)).join(', ')}`)]),
    ]),
  );
}

/** Fields that some shard has a share of, in the order of `stats`. */
function sharedFields(shards: readonly ShardRow[]): string[] {
  const fields = new Set(shards.flatMap(({ stats }) => Object.keys(stats)));
  return [...fields].filter((field) => shards.some(({ stats }) => numberOf(stats, field) !== 0));
}

function numberOf(numbers: NumberTable, field: string): number {
  return Number(numbers[field] ?? 0);
}

function formatShards(shards: readonly ShardRow[]): string {
  const fields = sharedFields(shards).filter((field) => !CLASS_FIELDS.has(field));
  const rows = shards.map((row) => [
    row.id.slice(0, SHORT_ID_SIZE),
    escapeControls(row.repository),
    row.class,
    formatCount(row.docs),
    ...fields.map((field) => formatCount(numberOf(row.stats, field))),
    escapeControls(row.reason),
  ]);
  const docs = shards.reduce((sum, row) => sum + row.docs, 0);
  const sums = fields.map((field) =>
    formatCount(sumOf(shards, ({ stats }) => numberOf(stats, field))),
  );
  return formatColumns([
    ['shard', 'repository', 'class', 'docs', ...fields, 'reason'],
    ...rows,
    ['sum', '', '', formatCount(docs), ...sums],
  ]);
}

/** Shown by the column `class`. */
const CLASS_FIELDS = new Set(['shardsScanned', 'shardsSkipped', 'shardsSkippedFilter', 'crashes']);

function formatHead({
  query,
  plan,
  isSearchExhaustive,
  incompleteReasons = [],
}: Explanation): string {
  const { canonical, implicitRevision } = query;
  const rule =
    implicitRevision === undefined
      ? ''
      : `, with ${implicitRevision} implied, as it names no revision`;
  const end = isSearchExhaustive ? 'exhaustive' : `incomplete: ${incompleteReasons.join(', ')}`;
  const estimated = countOf(plan.estimatedBytes, 'byte');
  const verified = countOf(plan.verifiedBytes, 'byte');
  return (
    `query:  ${escapeControls(canonical)}${rule}\n` +
    `verify: ${estimated} estimated, ${verified} read\n` +
    `answer: ${end}\n`
  );
}

const PARTS = ['symbol', 'name', 'text', 'near', 'tier', 'path', 'leaves'] as const;

function formatBest(best: Explanation['best']): string {
  return formatColumns([
    ['best', 'repository', 'score', ...PARTS],
    ...best.map(({ repository, fileName, score, parts }) => [
      escapeControls(fileName),
      escapeControls(repository),
      formatCount(score),
      ...PARTS.map((part) => parts?.[part].toLocaleString('en-US') ?? ''),
    ]),
  ]);
}

export function formatExplanation(explained: Explanation): string {
  const { plan, best, shards = [], totals } = explained;
  const sections = [
    formatHead(explained),
    `plan\n${formatTree(conditionLines(plan.conditions, 1))}`,
    ...(plan.regexps.length === 0 ? [] : [`expressions\n${formatRegexps(plan.regexps)}`]),
    ...(best.length === 0 ? [] : [formatBest(best)]),
    ...(shards.length === 0 ? [] : [formatShards(shards)]),
    formatStats(totals),
  ];
  return sections.join('\n');
}
