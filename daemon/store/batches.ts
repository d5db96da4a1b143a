// Long work in small steps: reads some hundred rows at a time by key, and yields to the event loop after each step, as the
// embedded engine is synchronous.

import { setImmediate } from 'node:timers/promises';
import { type DeleteResult, type SelectQueryBuilder, sql, type SqlBool } from 'kysely';

/** Rows of a step; measured on the embedded engine, 250 users take 1 ms. */
const BATCH_ROW_COUNT = 250;
/** Rows of a step that reads two numbers, or a number and a short text, each. */
export const SHORT_ROW_COUNT = 2_000;

/**
 * The rows of `query` in the order of `key`, in batches of `size`.
 *
 * @param key  selected columns that together identify one row, and that an index has in this order
 */
export async function* selectBatches<Tables, Table extends keyof Tables, Row extends object>(
  query: SelectQueryBuilder<Tables, Table, Row>,
  key: readonly (keyof Row & string)[],
  size = BATCH_ROW_COUNT,
): AsyncGenerator<Row[]> {
  const ordered = key.reduce((query, column) => query.orderBy(sql.ref(column)), query).limit(size);
  const columns = sql.join(key.map((column) => sql.ref(column)));
  let next = ordered;
  for (;;) {
    const rows = await next.execute();
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    if (rows.length < size) return;
    await setImmediate();
    const values = sql.join(key.map((column) => last[column]));
    next = ordered.where(sql<SqlBool>`(${columns}) > (${values})`);
  }
}

/** The items in parts of at most `size`; yields to the event loop before each but the first. */
export async function* inBatches<Item>(
  items: readonly Item[],
  size = BATCH_ROW_COUNT,
): AsyncGenerator<readonly Item[]> {
  for (let start = 0; start < items.length; start += size) {
    if (start > 0) await setImmediate();
    yield items.slice(start, start + size);
  }
}

/**
 * Of rows ordered by priority, those beyond the first `keptMax` but one: they make room for a new row where the number of
 * rows is limited. Each call adds one row, so there are more than 100 only after the maximum was lowered.
 */
export function rowsBeyond<Tables, Table extends keyof Tables, Row>(
  ranked: SelectQueryBuilder<Tables, Table, Row>,
  keptMax: number,
): SelectQueryBuilder<Tables, Table, Row> {
  return ranked.offset(keptMax - 1).limit(100);
}

/** Number of the rows of a query. */
export async function countOf<Tables, Table extends keyof Tables>(
  query: SelectQueryBuilder<Tables, Table, object>,
): Promise<number> {
  const counting = query.clearOrderBy().select((is) => is.fn.countAll<number>().as('count'));
  return (await counting.$castTo<{ count: number }>().executeTakeFirstOrThrow()).count;
}

/** Runs a deletion; returns the number of removed rows. */
export async function deleted(query: {
  executeTakeFirstOrThrow(): Promise<DeleteResult>;
}): Promise<number> {
  return Number((await query.executeTakeFirstOrThrow()).numDeletedRows);
}
