// Parts of long lists, as callers ask for them.
// How many rows there are in all is counted each time, for the rows come and go.

export interface Window {
  readonly offset: number;
  readonly limit: number;
}

export interface Page<Row> {
  /** Rows that there are in all. */
  readonly total: number;
  readonly rows: readonly Row[];
}
