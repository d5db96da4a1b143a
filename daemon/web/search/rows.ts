// From the results of the API to rows of text with marks: lines in the order of the file, columns in UTF-16 units, as the page
// draws them. Pure, and run in the worker.

import type { Mark } from '../code/marks.ts';
import type { Chunk, FileResult, MatchRange } from '../../http/api/search/search-schemas.ts';

export interface ResultLine {
  /** 1-based. */
  readonly number: number;
  /** Without its end of line. */
  readonly text: string;
  readonly marks: readonly Mark[];
  /** 1-based, in code points: of the first match on the line; 0 where none begins. */
  readonly column: number;
}

export interface ResultFile {
  /** Names the file among all results. */
  readonly key: string;
  readonly repository: string;
  readonly repositoryId: number;
  readonly path: string;
  readonly pathMarks: readonly Mark[];
  readonly language: string;
  /** Full refs of the revisions that hold the file. */
  readonly revisions: readonly string[];
  readonly webUrl: string;
  readonly externalUrl: string | undefined;
  readonly skipReason: string | undefined;
  /** Ascending. */
  readonly lines: readonly ResultLine[];
  readonly matchCount: number;
}

/** UTF-16 units of the first `count` code points of a text. */
function unitsOf(text: string, count: number): number {
  let units = 0;
  for (let left = count; left > 0 && units < text.length; left--) {
    const code = text.codePointAt(units) ?? 0;
    units += code > 0xffff ? 2 : 1;
  }
  return units;
}

/** The marks of the ranges that touch a line. */
function marksOn(text: string, number: number, ranges: readonly MatchRange[]): Mark[] {
  return ranges.flatMap(({ start, end }) => {
    if (start.lineNumber > number || end.lineNumber < number) return [];
    const from = start.lineNumber === number ? unitsOf(text, start.column - 1) : 0;
    const to = end.lineNumber === number ? unitsOf(text, end.column - 1) : text.length;
    return from < to ? [{ from, to }] : [];
  });
}

function linesOf({ content, contentStart, matchRanges }: Chunk): ResultLine[] {
  const texts = content.split('\n');
  if (texts.at(-1) === '') texts.pop();
  return texts.map((raw, index) => {
    const number = contentStart.lineNumber + index;
    const text = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    const begins = matchRanges.find(({ start }) => start.lineNumber === number);
    return {
      number,
      text,
      marks: marksOn(text, number, matchRanges),
      column: begins?.start.column ?? 0,
    };
  });
}

/** A file of the API as rows. */
export function toResultFile(file: FileResult): ResultFile {
  const { fileName, chunks, repository, repositoryId, language, branches = [] } = file;
  const inPath = fileName.matchRanges;
  return {
    key: `${repositoryId}:${branches[0] ?? ''}:${fileName.text}`,
    repository,
    repositoryId,
    path: fileName.text,
    pathMarks: marksOn(fileName.text, 1, inPath),
    language,
    revisions: branches,
    webUrl: file.webUrl,
    externalUrl: file.externalWebUrl,
    skipReason: file.skipReason,
    lines: chunks
      .toSorted((a, b) => a.contentStart.lineNumber - b.contentStart.lineNumber)
      .flatMap(linesOf),
    matchCount: inPath.length + chunks.reduce((sum, chunk) => sum + chunk.matchRanges.length, 0),
  };
}
