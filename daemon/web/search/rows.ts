// Converts API results to rows of text with marks: lines in file order, columns in UTF-16 units. Pure; runs in the
// worker.

import { unitsIn } from '../code/columns.ts';
import { cutLine, type CutText } from '../code/cut-line.ts';
import type { Mark } from '../code/marks.ts';
import type { Chunk, FileResult, MatchRange } from '../../api/search/search-schemas.ts';

/** Without its line end; of a long line only the part around its first match. */
export interface ResultLine extends CutText {
  /** 1-based. */
  readonly number: number;
  /** Column of the first match that begins on the line, 1-based, in code points; 0: none. */
  readonly column: number;
  /** Number of matches that begin on the line. */
  readonly begins: number;
  /** Kinds of the matched symbols that are defined on the line. */
  readonly kinds: readonly string[];
}

export interface ResultFile {
  /** Identifies the file among all results. */
  readonly key: string;
  /** Position among the files of its search, in order of arrival. */
  readonly order: number;
  /** The daemon's score; 0: none. */
  readonly score: number;
  readonly repository: string;
  readonly repositoryId: number;
  readonly path: string;
  readonly pathMarks: readonly Mark[];
  readonly language: string;
  /** The file's kind, such as test; '': unknown. */
  readonly kind: string;
  /** Full refs of the revisions that contain the file, and the number of further ones. */
  readonly revisions: readonly string[];
  readonly revisionsOmitted: number;
  readonly webUrl: string;
  readonly externalUrl: string | undefined;
  readonly skipReason: string | undefined;
  /** Ascending. */
  readonly lines: readonly ResultLine[];
  readonly matchCount: number;
}

/** Marks of the ranges that touch a line. Ranges are ascending. */
function marksOn(text: string, number: number, ranges: readonly MatchRange[]): Mark[] {
  const units = unitsIn(text);
  return ranges.flatMap(({ start, end }) => {
    const from = start.lineNumber === number ? units(start.column) : 0;
    const to = end.lineNumber === number ? units(end.column) : text.length;
    return from < to ? [{ from, to }] : [];
  });
}

type Symbols = NonNullable<Chunk['symbols']>;

/** Shared by most lines. */
const NO_KINDS: readonly string[] = [];

/** The kinds without duplicates. A match that is not a symbol has the kind ''. */
function kindsOf(symbols: Symbols): readonly string[] {
  const kinds = new Set(symbols.map(({ kind }) => kind).filter((kind) => kind !== ''));
  return kinds.size === 0 ? NO_KINDS : [...kinds];
}

/** @param ranges  those that touch the line; `symbols` belong to them, or are empty */
function toLine(
  raw: string,
  number: number,
  ranges: readonly MatchRange[],
  symbols: Symbols,
): ResultLine {
  const text = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
  const starting = ranges.filter(({ start }) => start.lineNumber === number);
  return {
    number,
    column: starting[0]?.start.column ?? 0,
    begins: starting.length,
    kinds: kindsOf(symbols),
    ...cutLine(text, marksOn(text, number, ranges)),
  };
}

function linesOf({ content, contentStart, matchRanges, symbols = [] }: Chunk): ResultLine[] {
  const texts = content.split('\n');
  if (texts.at(-1) === '') texts.pop();
  let first = 0;
  return texts.map((raw, index) => {
    const number = contentStart.lineNumber + index;
    while ((matchRanges[first]?.end.lineNumber ?? number) < number) first++;
    let behind = first;
    while ((matchRanges[behind]?.start.lineNumber ?? Infinity) <= number) behind++;
    const ranges = matchRanges.slice(first, behind);
    return toLine(raw, number, ranges, symbols.slice(first, behind));
  });
}

/** Converts a file of the API. @param order  its position among all files of the search, in order of arrival */
export function toResultFile(file: FileResult, order: number): ResultFile {
  const {
    fileName,
    chunks,
    repository,
    repositoryId,
    language,
    branches = [],
    branchesOmitted = 0,
  } = file;
  const inPath = fileName.matchRanges;
  return {
    key: `${repositoryId}:${branches[0] ?? ''}:${fileName.text}`,
    order,
    score: file.score ?? 0,
    repository,
    repositoryId,
    path: fileName.text,
    pathMarks: marksOn(fileName.text, 1, inPath),
    language,
    kind: file.fileKind ?? '',
    revisions: branches,
    revisionsOmitted: branchesOmitted,
    webUrl: file.webUrl,
    externalUrl: file.externalWebUrl,
    skipReason: file.skipReason,
    lines: chunks
      .toSorted((a, b) => a.contentStart.lineNumber - b.contentStart.lineNumber)
      .flatMap(linesOf),
    matchCount: inPath.length + chunks.reduce((sum, chunk) => sum + chunk.matchRanges.length, 0),
  };
}
