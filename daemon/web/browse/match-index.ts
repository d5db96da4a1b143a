// Finds the next or previous match of a file from a position.

import type { FileMatch } from '../code/match-marks.ts';

/** Index of the match on the address's line; between two matches, of the one that a step leaves behind. */
function indexAt(matches: readonly FileMatch[], line: number, by: 1 | -1): number {
  const there = matches.findIndex(({ start }) => start.lineNumber === line);
  if (there >= 0) return there;
  const before = matches.findLastIndex(({ start }) => start.lineNumber < line);
  return by === 1 ? before : before + 1;
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
  { current, line = 0, isLimited }: Place,
): number | undefined {
  const { length } = matches;
  const next = (current ?? indexAt(matches, line, by)) + by;
  if (length === 0 || (isLimited && (next < 0 || next >= length))) return undefined;
  return (next + length) % length;
}
