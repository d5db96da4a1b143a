// Finds surplus rows before one is added, where the number of rows is limited.

import type { SelectQueryBuilder } from 'kysely';

/** Rows removed per transaction. Bound: each adds one row, so there are more only after the maximum was lowered. */
const COUNT_MAX = 100;

/** Of rows ordered by priority, those beyond the first `keptMax` but one, which leaves a place for the new row. */
export function rowsBeyond<Tables, Table extends keyof Tables, Row>(
  ranked: SelectQueryBuilder<Tables, Table, Row>,
  keptMax: number,
): SelectQueryBuilder<Tables, Table, Row> {
  return ranked.offset(keptMax - 1).limit(COUNT_MAX);
}
