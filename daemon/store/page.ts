// Pages of long lists. The total is counted each time, as rows come and go.

export interface Window {
  readonly offset: number;
  readonly limit: number;
}

export interface Page<Row> {
  readonly total: number;
  readonly rows: readonly Row[];
}
