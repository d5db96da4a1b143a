// Which of a file's matches comes next.

import type { FileMatch } from '../code/match-marks.ts';

/** Index of the match on the address's line, or of the last one before it; -1: none. */
function indexAt(matches: readonly FileMatch[], line: number | undefined): number {
  if (line === undefined) return -1;
  const there = matches.findIndex(({ start }) => start.lineNumber === line);
  return there < 0 ? matches.findLastIndex(({ start }) => start.lineNumber < line) : there;
}

interface Place {
  /** Index of the current match; undefined: none. */
  readonly current: number | undefined;
  /** The line of the address. */
  readonly line: number | undefined;
  /** Are there more matches than these? If so, the last is not followed by the first. */
  readonly isLimited: boolean;
}

/** @returns  undefined: no match is there */
export function nextIndex(
  matches: readonly FileMatch[],
  by: 1 | -1,
  { current, line, isLimited }: Place,
): number | undefined {
  const { length } = matches;
  const from = current ?? indexAt(matches, line);
  const next = Math.max(from, by === 1 ? -1 : 0) + by;
  if (length === 0 || (isLimited && (next < 0 || next >= length))) return undefined;
  return (next + length) % length;
}
