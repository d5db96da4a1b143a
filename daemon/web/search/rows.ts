// From the results of the API to rows of text with marks: lines in the order of the file, columns in UTF-16 units, as the page
// draws them. Pure, and run in the worker.

import { unitsIn } from '../code/columns.ts';
import { cutLine } from '../code/cut-line.ts';
import type { CutText } from '../code/cut-line.ts';
import type { Mark } from '../code/marks.ts';
import type { Chunk, FileResult, MatchRange } from '../../api/search/search-schemas.ts';

/** Without its end of line; of a long line the part around its first match. */
export interface ResultLine extends CutText {
  /** 1-based. */
  readonly number: number;
  /** 1-based, in code points: of the first match on the line; 0 where none begins. */
  readonly column: number;
  /** Matches that begin on it. */
  readonly begins: number;
  /** Kinds of the symbols that were looked for and are defined on it. */
  readonly kinds: readonly string[];
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
  /** Full refs of the revisions that hold the file, and how many further ones do. */
  readonly revisions: readonly string[];
  readonly revisionsOmitted: number;
  readonly webUrl: string;
  readonly externalUrl: string | undefined;
  readonly skipReason: string | undefined;
  /** Ascending. */
  readonly lines: readonly ResultLine[];
  readonly matchCount: number;
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

type Symbols = NonNullable<Chunk['symbols']>;

/** What most lines have. */
const NO_KINDS: readonly string[] = [];

/** Each kind once; that of a match which did not come from a symbol is ''. */
function kindsOf(symbols: Symbols): readonly string[] {
  const kinds = new Set(symbols.map(({ kind }) => kind).filter((kind) => kind !== ''));
  return kinds.size === 0 ? NO_KINDS : [...kinds];
}

/** @param ranges  those that touch the line; `symbols` are theirs, or none */
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

/** A file of the API as rows. @param order  its place among all files of the search, as they came */
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
