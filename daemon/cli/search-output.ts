// Formats the answer of a search: for a terminal, for a pipe, only names, or counts. Pure: response in, text out.

import type {
  Chunk,
  FileResult,
  Hint,
  MatchRange,
  SearchResponse,
} from '../api/search/search-schemas.ts';
import { countOf } from './format.ts';
import {
  COLORS,
  PLAIN,
  escapeControls,
  escapeLineEnds,
  keepControls,
  markSpans,
} from './terminal-text.ts';
import type { Palette, Span } from './terminal-text.ts';

/** `terminal` and `pipe` show lines, `files` and `count` one line per file. */
export type OutputForm = 'terminal' | 'pipe' | 'files' | 'count';

export interface OutputOptions {
  readonly form: OutputForm;
  readonly hasColor: boolean;
  readonly isEscaped: boolean;
  /** Context lines were requested: `--` is between lines that are not adjacent. */
  readonly hasContext: boolean;
  /** `rank` keeps the order of the answer. */
  readonly sort: 'rank' | 'path';
}

interface Style extends Pick<OutputOptions, 'hasContext'> {
  readonly palette: Palette;
  readonly escape: (text: string) => string;
  /** Leave out the carriage return before a line feed. */
  readonly dropsReturn: boolean;
}

export type NumberTable = Readonly<Record<string, number | string>>;

const DURATIONS = new Set(['duration', 'wait', 'matchTreeConstruction', 'matchTreeSearch']);

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function byPath(a: FileResult, b: FileResult): number {
  return compareText(a.repository, b.repository) || compareText(a.fileName.text, b.fileName.text);
}

/** `repository:path` in the heading colour, matched stretches of the path marked. */
function heading({ repository, fileName }: FileResult, { palette, escape }: Style): string {
  const lead = `${repository}:`;
  const escapeName = escape === keepControls ? escapeLineEnds : escape;
  const spans = spansInLine(fileName.text, 1, fileName.matchRanges).map(({ start, end }) => ({
    start: start + lead.length,
    end: end + lead.length,
  }));
  return markSpans(lead + fileName.text, spans, palette, palette.heading, escapeName);
}

interface ChunkLine {
  readonly lineNumber: number;
  readonly text: string;
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

/** Positions are columns (code points); byte offsets would be wrong, as an invalid byte of the file is three bytes here. */
function spansInLine(text: string, lineNumber: number, ranges: readonly MatchRange[]): Span[] {
  const indexOf = columnReader(text);
  return ranges.map(({ start, end }) => ({
    start: start.lineNumber < lineNumber ? 0 : indexOf(start.column),
    end: end.lineNumber > lineNumber ? text.length : indexOf(end.column),
  }));
}

/** Cost: linear in the content plus the ranges. */
function linesOfChunk(chunk: Chunk): ChunkLine[] {
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

function lineBody({ text, spans }: ChunkLine, { palette, escape, dropsReturn }: Style): string {
  const isReturnMatched = spans.some(({ end }) => end === text.length);
  const isCut = dropsReturn && text.endsWith('\r') && !isReturnMatched;
  return markSpans(isCut ? text.slice(0, -1) : text, spans, palette, '', escape);
}

/** The chunks of one file in line order, as lines without line feeds. */
function chunkLines(file: FileResult, lead: (separator: string) => string, style: Style): string[] {
  const { lineNumber, reset } = style.palette;
  const chunks = file.chunks.toSorted(
    (a, b) => a.contentStart.byteOffset - b.contentStart.byteOffset,
  );
  let last: number | undefined;
  return chunks.map(linesOfChunk).flatMap((own) => {
    const lines = own.map((line) => {
      const separator = line.isMatching ? ':' : '-';
      const number = `${lineNumber}${String(line.lineNumber)}${reset}`;
      return `${lead(separator)}${number}${separator}${lineBody(line, style)}`;
    });
    const isApart = last !== undefined && own[0]?.lineNumber !== last + 1;
    last = own.at(-1)?.lineNumber;
    return isApart && style.hasContext ? ['--', ...lines] : lines;
  });
}

function pipeFile(file: FileResult, style: Style): string {
  const head = heading(file, style);
  if (file.chunks.length === 0) return head;
  return chunkLines(file, (separator) => head + separator, style).join('\n');
}

/** Ranges of one file, in content and path. */
export function countRanges(file: FileResult): number {
  return file.chunks.reduce(
    (sum, chunk) => sum + chunk.matchRanges.length,
    file.fileName.matchRanges.length,
  );
}

export function formatResponse(response: SearchResponse, options: OutputOptions): string {
  const files = options.sort === 'path' ? response.files.toSorted(byPath) : response.files;
  const style: Style = {
    palette: options.hasColor ? COLORS : PLAIN,
    escape: options.isEscaped ? escapeControls : keepControls,
    dropsReturn: options.isEscaped,
    hasContext: options.hasContext,
  };
  const form = {
    terminal: (file: FileResult) =>
      [heading(file, style), ...chunkLines(file, () => '', style)].join('\n'),
    pipe: (file: FileResult) => pipeFile(file, style),
    files: (file: FileResult) => heading(file, style),
    count: (file: FileResult) => `${heading(file, style)}:${countRanges(file)}`,
  }[options.form];
  const pipe = options.hasContext ? '\n--\n' : '\n';
  const separator = { terminal: '\n\n', pipe, files: '\n', count: '\n' }[options.form];
  const text = files.map(form).join(separator);
  return text === '' ? '' : `${text}\n`;
}

/** One line for each field: name and value; durations, which are nanoseconds, also in ms. */
export function formatStats(stats: NumberTable): string {
  const names = Object.keys(stats);
  const width = Math.max(0, ...names.map((name) => name.length));
  const lines = names.map((name) => {
    const value = stats[name] ?? '';
    const ms = DURATIONS.has(name) ? ` (${(Number(value) / 1e6).toFixed(3)} ms)` : '';
    return `${name.padEnd(width)} ${String(value)}${ms}\n`;
  });
  return lines.join('');
}

const matches = (count: number): string => countOf(count, 'match', 'matches');

export function formatIncomplete(
  response: Pick<SearchResponse, 'stats' | 'isSearchExhaustive' | 'incompleteReasons'>,
): string {
  if (response.isSearchExhaustive) return '';
  const reasons = (response.incompleteReasons ?? ['unknown']).join(', ');
  const { actualMatchCount, totalMatchCount } = response.stats;
  if (reasons === 'match_limit')
    return `stopped at ${matches(actualMatchCount)}; at least ${totalMatchCount} exist; raise -n\n`;
  const advice = response.incompleteReasons?.includes('symbols_missing')
    ? '; a daemon finds symbols after it has indexed the files: "trawl status" shows how far; without one "trawl index" does'
    : '';
  return `incomplete: ${reasons} (at least ${matches(totalMatchCount)} found)${advice}\n`;
}

/** Hints name fields of a request; here these are flags. */
const FLAGS: Readonly<Record<string, string>> = {
  isRegexEnabled: '--regex',
  isCaseSensitivityEnabled: '--case-sensitive',
};
/** Not in the value of a filter that the message repeats. */
const REQUEST_FIELD = /(?<![:\w])(?:isRegexEnabled|isCaseSensitivityEnabled)\b/g;

export function formatHints(hints: readonly Hint[] = []): string {
  return hints
    .map(({ message, query }) => {
      const words = message.replaceAll(REQUEST_FIELD, (field) => FLAGS[field] ?? field);
      return query === undefined ? words : `${words} Try: ${query}`;
    })
    .map((text) => `hint: ${escapeControls(text)}\n`)
    .join('');
}
