// Rows that are too many where one more comes: of what may be made again and again only so many stay.

/** A query for ids, those that stay first. */
interface Ranked {
  offset(count: number): Ranked;
  limit(count: number): Ranked;
  execute(): Promise<{ readonly id: string }[]>;
}

/** What one transaction removes. Bound: each adds one row, so that more are there only where the maximum was another one. */
const COUNT_MAX = 100;

/** Ids behind the first `keptMax` but one, whose place is for the one that comes. */
export async function surplusIds(ranked: Ranked, keptMax: number): Promise<string[]> {
  const rows = await ranked
    .offset(keptMax - 1)
    .limit(COUNT_MAX)
    .execute();
  return rows.map(({ id }) => id);
}
