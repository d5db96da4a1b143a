// From the results of the API to rows of text with marks: lines in the order of the file, columns in UTF-16 units, as the page
// draws them. Pure, and run in the worker.

import type { Mark } from '../code/marks.ts';
import type { Chunk, FileResult, MatchRange } from '../../http/api/search/search-schemas.ts';

export interface ResultLine {
  /** 1-based. */
  readonly number: number;
  /** Without its end of line; of a long line the part around its first match. */
  readonly text: string;
  readonly marks: readonly Mark[];
  /** 1-based, in code points: of the first match on the line; 0 where none begins. */
  readonly column: number;
  /** Matches that begin on it. */
  readonly begins: number;
  /** Where `text` lies in a line that is too long to be shown, in UTF-16 units; undefined: it is all of it. */
  readonly cut: { readonly from: number; readonly lineLength: number } | undefined;
}

export interface ResultFile {
  /** Names the file among all results. */
  readonly key: string;
  /** When it came, among all files of its search. */
  readonly order: number;
  /** How good the daemon calls it; 0 where it does not say. */
  readonly score: number;
  readonly repository: string;
  readonly repositoryId: number;
  readonly path: string;
  readonly pathMarks: readonly Mark[];
  readonly language: string;
  /** What it is for; '' where the daemon does not say. */
  readonly kind: string;
  /** Full refs of the revisions that hold the file. */
  readonly revisions: readonly string[];
  readonly webUrl: string;
  readonly externalUrl: string | undefined;
  readonly skipReason: string | undefined;
  /** Ascending. */
  readonly lines: readonly ResultLine[];
  readonly matchCount: number;
}

/**
 * Longer lines are cut around their first match; what is shown before that match: so little that the match is to be seen on a
 * phone. In UTF-16 units.
 */
const LINE_LENGTH_MAX = 500;
const LEAD_LENGTH = 24;

const SURROGATE = /[\uD800-\uDFFF]/;

/** From columns of a text, in code points, to UTF-16 units. Columns that ascend are counted on from the last one. */
function unitsIn(text: string): (column: number) => number {
  if (!SURROGATE.test(text)) return (column) => Math.min(column - 1, text.length);
  let known = { column: 1, units: 0 };
  return (column) => {
    let { column: at, units } = column < known.column ? { column: 1, units: 0 } : known;
    for (; at < column && units < text.length; at++)
      units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
    known = { column: at, units };
    return units;
  };
}

/** The marks of ranges, ascending, that touch a line. */
function marksOn(text: string, number: number, ranges: readonly MatchRange[]): Mark[] {
  const units = unitsIn(text);
  return ranges.flatMap(({ start, end }) => {
    const from = start.lineNumber === number ? units(start.column) : 0;
    const to = end.lineNumber === number ? units(end.column) : text.length;
    return from < to ? [{ from, to }] : [];
  });
}

/** Moved by one unit where a character of two units would be cut. */
function wholeCharacter(text: string, at: number): number {
  return /[\uDC00-\uDFFF]/.test(text[at] ?? '') ? at + 1 : at;
}

type CutText = Pick<ResultLine, 'text' | 'marks' | 'cut'>;

/** A line as it is shown, the part around its first match if it is long. */
export function cutLine(text: string, marks: readonly Mark[]): CutText {
  if (text.length <= LINE_LENGTH_MAX) return { text, marks, cut: undefined };
  const lead = Math.max(0, (marks[0]?.from ?? 0) - LEAD_LENGTH);
  const from = wholeCharacter(text, Math.min(lead, text.length - LINE_LENGTH_MAX));
  const to = wholeCharacter(text, from + LINE_LENGTH_MAX);
  return {
    text: text.slice(from, to),
    marks: marks.flatMap((mark) =>
      mark.to > from && mark.from < to
        ? [{ from: Math.max(mark.from, from) - from, to: Math.min(mark.to, to) - from }]
        : [],
    ),
    cut: { from, lineLength: text.length },
  };
}

/** @param ranges  those that touch the line */
function toLine(raw: string, number: number, ranges: readonly MatchRange[]): ResultLine {
  const text = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
  const begun = ranges.filter(({ start }) => start.lineNumber === number);
  return {
    number,
    column: begun[0]?.start.column ?? 0,
    begins: begun.length,
    ...cutLine(text, marksOn(text, number, ranges)),
  };
}

function linesOf({ content, contentStart, matchRanges }: Chunk): ResultLine[] {
  const texts = content.split('\n');
  if (texts.at(-1) === '') texts.pop();
  let first = 0;
  return texts.map((raw, index) => {
    const number = contentStart.lineNumber + index;
    while ((matchRanges[first]?.end.lineNumber ?? number) < number) first++;
    let behind = first;
    while ((matchRanges[behind]?.start.lineNumber ?? Infinity) <= number) behind++;
    return toLine(raw, number, matchRanges.slice(first, behind));
  });
}

/** The daemon's score, where it gives one. */
function scoreOf(file: FileResult): number {
  return 'score' in file && typeof file.score === 'number' ? file.score : 0;
}

/** A file of the API as rows. @param order  its place among all files of the search, as they came */
export function toResultFile(file: FileResult, order: number): ResultFile {
  const { fileName, chunks, repository, repositoryId, language, branches = [] } = file;
  const inPath = fileName.matchRanges;
  return {
    key: `${repositoryId}:${branches[0] ?? ''}:${fileName.text}`,
    order,
    score: scoreOf(file),
    repository,
    repositoryId,
    path: fileName.text,
    pathMarks: marksOn(fileName.text, 1, inPath),
    language,
    kind: file.fileKind ?? '',
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
