// Splits a chunk of a search result into lines with marked spans. Positions are lines and columns (code points); byte
// offsets would be wrong, as an invalid byte of the file is three bytes here.

import type { Chunk, MatchRange } from '../api/search/search-schemas.ts';
import type { Span } from './terminal-text.ts';

/** One line of a chunk, without its line feed. */
export interface ChunkLine {
  /** 1-based, in the file. */
  readonly lineNumber: number;
  readonly text: string;
  /** False: context. */
  readonly isMatching: boolean;
  /** Matched parts, ascending; may be empty on a matching line (if only its line feed matches). */
  readonly spans: readonly Span[];
}

/** UTF-16 index of 1-based code point columns of one text; columns must ascend. */
function columnReader(text: string): (column: number) => number {
  if (!/[\ud800-\udfff]/.test(text)) return (column) => Math.min(column - 1, text.length);
  let index = 0;
  let current = 1;
  return (column) => {
    for (; current < column && index < text.length; current++) {
      index += (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
    }
    return index;
  };
}

/** Number of the last line that `range` touches; a range that ends with a line feed ends on that line. */
function lastLine({ start, end }: MatchRange): number {
  return end.column === 1 && end.lineNumber > start.lineNumber
    ? end.lineNumber - 1
    : end.lineNumber;
}

/** The spans that `ranges` (all on one line, the path of a result) mark in `text`. */
export function spansInText(text: string, ranges: readonly MatchRange[]): Span[] {
  return spansInLine(text, 1, ranges);
}

function spansInLine(text: string, lineNumber: number, ranges: readonly MatchRange[]): Span[] {
  const indexOf = columnReader(text);
  return ranges.map(({ start, end }) => ({
    start: start.lineNumber < lineNumber ? 0 : indexOf(start.column),
    end: end.lineNumber > lineNumber ? text.length : indexOf(end.column),
  }));
}

/**
 * The lines of `chunk`, context included, in order.
 *
 * Cost: linear in the content plus the ranges.
 */
export function linesOfChunk(chunk: Chunk): ChunkLine[] {
  const texts = chunk.content.split('\n');
  if (texts.length > 1 && texts.at(-1) === '') texts.pop();
  const byLine = new Map<number, MatchRange[]>();
  for (const range of chunk.matchRanges) {
    for (let line = range.start.lineNumber; line <= lastLine(range); line++) {
      const ranges = byLine.get(line);
      if (ranges) ranges.push(range);
      else byLine.set(line, [range]);
    }
  }
  return texts.map((text, i) => {
    const lineNumber = chunk.contentStart.lineNumber + i;
    const ranges = byLine.get(lineNumber);
    const spans = ranges ? spansInLine(text, lineNumber, ranges) : [];
    return { lineNumber, text, isMatching: ranges !== undefined, spans };
  });
}
