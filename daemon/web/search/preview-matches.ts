// Converts the marks of a result to positions in its file: 1-based lines, columns in code points.

import { pointCount } from '../code/columns.ts';
import type { FileMatch } from '../code/match-marks.ts';
import type { ResultFile, ResultLine } from './rows.ts';

function matchesOn({ number, marks, cut }: ResultLine, line: string): FileMatch[] {
  const start = cut?.from ?? 0;
  const before = pointCount(line.slice(0, start));
  const positionAt = (units: number) => ({
    lineNumber: number,
    column: before + pointCount(line.slice(start, start + units)) + 1,
  });
  return marks.map(({ from, to }) => ({ start: positionAt(from), end: positionAt(to) }));
}

/** In file order. @param lines  of the file */
export function matchesIn(file: ResultFile, lines: readonly string[]): FileMatch[] {
  return file.lines.flatMap((line) => matchesOn(line, lines[line.number - 1] ?? ''));
}
