// The matches of a result as places in its file: columns in code points of the lines as the file has them.

import type { FileMatch } from '../code/match-marks.ts';
import type { ResultFile, ResultLine } from './rows.ts';

function columnAt(line: string, units: number): number {
  return Array.from(line.slice(0, units)).length + 1;
}

function matchesOn({ number, marks, cut }: ResultLine, line: string): FileMatch[] {
  const before = cut?.from ?? 0;
  return marks.map(({ from, to }) => ({
    start: { lineNumber: number, column: columnAt(line, before + from) },
    end: { lineNumber: number, column: columnAt(line, before + to) },
  }));
}

/** In the order of the file. @param lines  those of the file */
export function matchesIn(file: ResultFile, lines: readonly string[]): FileMatch[] {
  return file.lines.flatMap((line) => matchesOn(line, lines[line.number - 1] ?? ''));
}
