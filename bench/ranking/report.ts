// Mean reciprocal rank (MRR) and recall at 1 and 5 of each class, half and system. The worst class comes first.

import { type Column, formatTable } from '../../daemon/cli/bench/statistics.ts';
import { type Half, HALVES } from './draw.ts';
import type { RankedQuery } from './run.ts';

const ALL = 'all';

export interface RankingFigure {
  readonly half: Half;
  /** A class of queries, or `all`. */
  readonly class: string;
  readonly system: string;
  readonly queryCount: number;
  /** 0 to 1; a file that was not found counts 0. */
  readonly mrr: number;
  readonly recallAt1: number;
  readonly recallAt5: number;
}

export interface RankingReport {
  /** ISO 8601. */
  readonly startedAt: string;
  /** Of the queries: only equal ones can be compared. */
  readonly digest: string;
  readonly trees: readonly string[];
  readonly systems: readonly string[];
  readonly figures: readonly RankingFigure[];
  readonly queries: readonly RankedQuery[];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function recall(locations: readonly number[], locationMax: number): number {
  return mean(locations.map((rank) => (rank > 0 && rank <= locationMax ? 1 : 0)));
}

/** Those over all classes last in each half. */
export function figuresOf(
  queries: readonly RankedQuery[],
  systems: readonly string[],
): RankingFigure[] {
  const figures: RankingFigure[] = [];
  const classes = new Set(queries.map((one) => one.class));
  for (const half of HALVES) {
    for (const name of [...classes, ALL]) {
      const chosen = queries.filter((one) => one.half === half && [one.class, ALL].includes(name));
      for (const system of systems) {
        const locations = chosen.map((one) => one.locations[system] ?? 0);
        figures.push({
          half,
          class: name,
          system,
          queryCount: locations.length,
          mrr: mean(locations.map((rank) => (rank > 0 ? 1 / rank : 0))),
          recallAt1: recall(locations, 1),
          recallAt5: recall(locations, 5),
        });
      }
    }
  }
  return figures;
}

function percent(share: number): string {
  return String(Math.round(100 * share)).padStart(3);
}

/** `0.812  76  90`: MRR, recall at 1, at 5. */
function cellOf(figure: RankingFigure): string {
  return `${figure.mrr.toFixed(3)} ${percent(figure.recallAt1)} ${percent(figure.recallAt5)}`;
}

/** The class with the lowest MRR in the first system on top, all of them below. */
function formatHalf(figures: readonly RankingFigure[], systems: readonly string[]): string {
  const columns: Column[] = [
    { title: 'class', align: 'left' },
    { title: 'queries', align: 'right' },
    ...systems.map((title): Column => ({ title, align: 'right' })),
  ];
  const firsts = figures.filter(
    ({ system, queryCount }) => system === systems[0] && queryCount > 0,
  );
  const worstFirst = firsts.toSorted(
    (a, b) => Number(a.class === ALL) - Number(b.class === ALL) || a.mrr - b.mrr,
  );
  const rows = worstFirst.map(({ class: name, queryCount }) => [
    name,
    String(queryCount),
    ...figures.filter((one) => one.class === name).map(cellOf),
  ]);
  return formatTable(columns, rows);
}

export function formatRanking({ figures, systems, digest, trees }: RankingReport): string {
  const tables = HALVES.map((half) => {
    const own = figures.filter((figure) => figure.half === half);
    if (own.every(({ queryCount }) => queryCount === 0)) return '';
    return `${half}: MRR, recall@1, recall@5 (%)\n\n${formatHalf(own, systems)}\n`;
  });
  return `${tables.join('')}queries ${digest} over ${trees.join(', ')}\n`;
}

/** Queries whose first file is wrong, by system. */
export function formatMisses({ queries, systems }: RankingReport, half: Half): string {
  const tables = systems.map((system) => {
    const misses = queries.filter((one) => one.half === half && one.locations[system] !== 1);
    const lines = misses.map((one) => {
      const rank = one.locations[system] ?? 0;
      const found = rank === 0 ? 'not there' : `place ${String(rank)}`;
      const first = one.first[system]?.join(', ') ?? '';
      return `  ${one.class} | ${one.tree} | ${one.text}\n    meant ${one.expected.join(', ')}: ${found}; first ${first || 'nothing'}`;
    });
    return `\nnot first in ${half}, ${system}\n\n${lines.join('\n')}\n`;
  });
  return tables.join('');
}
