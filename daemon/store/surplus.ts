// Rows that are too many where one more comes: of what may be made again and again only so many stay.

import type { SelectQueryBuilder } from 'kysely';

/** What one transaction removes. Bound: each adds one row, so that more are there only where the maximum was another one. */
const COUNT_MAX = 100;

/** Of rows in the order in which they stay those behind the first `keptMax` but one, whose place is for the one that comes. */
export function surplus<Tables, Table extends keyof Tables, Row>(
  ranked: SelectQueryBuilder<Tables, Table, Row>,
  keptMax: number,
): SelectQueryBuilder<Tables, Table, Row> {
  return ranked.offset(keptMax - 1).limit(COUNT_MAX);
}
