// The sets of queries: trees, rules, and numbers of matches.

import { drawQueries } from './queries.ts';
import { drawRealQueries } from './real-queries.ts';
import type { RankingQuery } from './draw.ts';
import type { Source } from './source.ts';
import { DRAWN_TREES, REAL_TREES, UNSEEN_TREES } from './trees.ts';
import type { PinnedTree } from './fetch.ts';
import { drawUnseenQueries } from './unseen-queries.ts';

export interface QuerySet {
  readonly trees: readonly PinnedTree[];
  readonly matches: readonly number[];
  readonly draw: (source: Source) => RankingQuery[];
}

export const QUERY_SETS = {
  drawn: { trees: DRAWN_TREES, matches: [100, 1000, 10_000, 100_000], draw: drawQueries },
  real: { trees: REAL_TREES, matches: [100, 100_000], draw: drawRealQueries },
  unseen: { trees: UNSEEN_TREES, matches: [100, 100_000], draw: drawUnseenQueries },
} as const satisfies Readonly<Record<string, QuerySet>>;
