// What a run says: for each class of queries and each half, and each system, the mean of 1/place (MRR) and how many of a
// hundred queries have a file that was meant in place 1, or among the first 5 (recall).

import { formatTable } from '../statistics.ts';
import type { Column } from '../statistics.ts';
import { HALVES, QUERY_CLASSES } from './queries.ts';
import type { Half, QueryClass } from './queries.ts';
import type { RankedQuery } from './run.ts';

const ALL = 'all';

export interface RankingFigure {
  readonly half: Half;
  readonly class: QueryClass | typeof ALL;
  readonly system: string;
  readonly queryCount: number;
  /** From 0 to 1; 0 for a query whose file was not found. */
  readonly mrr: number;
  /** Shares of the queries. */
  readonly recallAt1: number;
  readonly recallAt5: number;
}

export interface RankingReport {
  /** ISO 8601. */
  readonly startedAt: string;
  /** Of the queries: figures of different ones are not to be compared. */
  readonly digest: string;
  readonly trees: readonly string[];
  readonly systems: readonly string[];
  readonly figures: readonly RankingFigure[];
  readonly queries: readonly RankedQuery[];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function recall(places: readonly number[], placeMax: number): number {
  return mean(places.map((place) => (place > 0 && place <= placeMax ? 1 : 0)));
}

/** All figures, those over all classes last in each half. */
export function figuresOf(
  queries: readonly RankedQuery[],
  systems: readonly string[],
): RankingFigure[] {
  const figures: RankingFigure[] = [];
  for (const half of HALVES) {
    for (const name of [...QUERY_CLASSES, ALL] as const) {
      const chosen = queries.filter((one) => one.half === half && [one.class, ALL].includes(name));
      for (const system of systems) {
        const places = chosen.map((one) => one.places[system] ?? 0);
        figures.push({
          half,
          class: name,
          system,
          queryCount: places.length,
          mrr: mean(places.map((place) => (place > 0 ? 1 / place : 0))),
          recallAt1: recall(places, 1),
          recallAt5: recall(places, 5),
        });
      }
    }
  }
  return figures;
}

function percent(share: number): string {
  return String(Math.round(100 * share)).padStart(3);
}

/** `0.812  76  90`: MRR, recall in place 1, among the first 5. */
function cellOf(figure: RankingFigure | undefined): string {
  if (figure === undefined || figure.queryCount === 0) return '';
  return `${figure.mrr.toFixed(3)} ${percent(figure.recallAt1)} ${percent(figure.recallAt5)}`;
}

/** A table for each half. */
export function formatRanking({ figures, systems, digest, trees }: RankingReport): string {
  const columns: Column[] = [
    { title: 'class', align: 'left' },
    { title: 'queries', align: 'right' },
    ...systems.map((title): Column => ({ title, align: 'right' })),
  ];
  const tables = HALVES.map((half) => {
    const own = figures.filter((figure) => figure.half === half);
    const rows = [...QUERY_CLASSES, ALL].map((name) => {
      const cells = own.filter((figure) => figure.class === name);
      return [name, String(cells[0]?.queryCount ?? 0), ...cells.map(cellOf)];
    });
    return `${half}: MRR, recall@1, recall@5 (%)\n\n${formatTable(columns, rows)}`;
  });
  return `${tables.join('\n')}\nqueries ${digest} over ${trees.join(', ')}\n`;
}
