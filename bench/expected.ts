// Expected counts of the cases, by `corpus@version` and case id. A corpus version that is not here is
// counted with ripgrep before the run; `--print-expected` prints such a table for this file. The counts
// leave out the files whose content the default settings leave out.

import type { Counts } from './reference.ts';

type CountTable = Readonly<
  Record<string, readonly [files: number, lines: number, matches: number]>
>;

const EXPECTED: Readonly<Record<string, CountTable>> = {};

/** The kept counts of a case; undefined if this corpus version or case is not kept. */
export function findExpected(corpus: string, caseId: string): Counts | undefined {
  const row = EXPECTED[corpus]?.[caseId];
  return row ? { files: row[0], lines: row[1], matches: row[2] } : undefined;
}

/** `corpus@version` of all kept tables. */
export function expectedCorpora(): string[] {
  return Object.keys(EXPECTED);
}

/** Case ids of a kept table. */
export function expectedCases(corpus: string): string[] {
  return Object.keys(EXPECTED[corpus] ?? {});
}
