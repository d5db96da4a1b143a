// Formats the answer of a search as ripgrep does: lines with their file, names, or counts. Pure: response in, text out.

import type {
  Chunk,
  FileResult,
  Hint,
  MatchRange,
  SearchResponse,
} from '../api/search/search-schemas.ts';
import { DEFAULTS } from '../base/config/search-configuration.ts';
import { sumOf } from '../base/lists.ts';
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

/** `lines` shows matching lines; the others one line for each file: its name, or its name and a number: of lines on which a match begins, or of matches. */
export type OutputForm = 'lines' | 'files' | 'lineCounts' | 'matchCounts';

export interface OutputOptions {
  readonly form: OutputForm;
  /** Of `lines`, what one line of output stands for: a line, a match with its line, or the text of a match. */
  readonly unit: 'line' | 'match' | 'text';
  /** The file name once above its lines, with an empty line before the next; otherwise before each line. */
  readonly hasHeading: boolean;
  readonly hasFileName: boolean;
  readonly hasLineNumber: boolean;
  /** 1-based and in bytes, as editors and ripgrep count. */
  readonly hasColumn: boolean;
  /** A zero byte behind each file name instead of `:`, `-` or the line feed. */
  readonly hasNull: boolean;
  /** Lines of context; with any, `--` is between lines that are not adjacent. */
  readonly before: number;
  readonly after: number;
  /** Most matching lines of a file; those of one match count as one. */
  readonly lineCountMax: number;
  /** Bytes with the line feed; longer lines are replaced by a note. */
  readonly lineSizeMax: number;
  readonly hasColor: boolean;
  readonly isEscaped: boolean;
  /** `rank` keeps the order of the answer. */
  readonly sort: 'rank' | 'path';
}

/** How the path of a file begins when shown: `lead`, then the path in its repository without the first `cut` characters. */
export interface PathStart {
  readonly lead: string;
  readonly cut: number;
}

export type PathStarts = (file: FileResult) => PathStart;

/** `repository:path` */
export const byRepository: PathStarts = ({ repository }) => ({ lead: `${repository}:`, cut: 0 });

interface Style extends OutputOptions {
  readonly palette: Palette;
  readonly escape: (text: string) => string;
  /** Leave out the carriage return before a line feed. */
  readonly dropsReturn: boolean;
  readonly startOf: PathStarts;
}

export type NumberTable = Readonly<Record<string, number | string>>;

const DURATIONS = new Set(['duration', 'wait', 'matchTreeConstruction', 'matchTreeSearch']);

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function byPath(a: FileResult, b: FileResult): number {
  return compareText(a.repository, b.repository) || compareText(a.fileName.text, b.fileName.text);
}

/** The file name in the heading colour, matched stretches marked. */
function heading(file: FileResult, { palette, escape, hasNull, startOf }: Style): string {
  const { fileName } = file;
  const { lead, cut } = startOf(file);
  const escapeName = escape === keepControls && !hasNull ? escapeLineEnds : escape;
  const move = (index: number): number => Math.max(lead.length, index + lead.length - cut);
  const spans = spansInLine(fileName.text, 1, fileName.matchRanges).map(({ start, end }) => ({
    start: move(start),
    end: move(end),
  }));
  return markSpans(lead + fileName.text.slice(cut), spans, palette, palette.heading, escapeName);
}

interface ChunkLine {
  readonly lineNumber: number;
  readonly text: string;
  readonly isMatching: boolean;
  /** Matched parts, ascending; may be empty on a matching line (if only its line feed matches). */
  readonly spans: readonly Span[];
  /** The first span is the rest of a match that begins on a line before. */
  readonly isContinued: boolean;
  /** U+FFFD stands for a bad byte of the file. */
  readonly hasBadBytes: boolean;
}

/** Bytes of a part of the line in the file. */
function sizeOf(part: string, { hasBadBytes }: ChunkLine): number {
  return Buffer.byteLength(part) - (hasBadBytes ? 2 * (part.split('\ufffd').length - 1) : 0);
}

/** The matches that begin on a line. */
function spansBegun({ spans, isContinued }: ChunkLine): readonly Span[] {
  return isContinued ? spans.slice(1) : spans;
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

/** Whether U+FFFD is one byte of the file, not three; if both are there, it counts as one. @param texts  the lines */
function hasBadBytes({ content, contentStart, matchRanges }: Chunk, texts: readonly string[]) {
  const end = matchRanges.at(-1)?.end;
  if (end === undefined || !content.includes('\ufffd')) return false;
  const count = end.lineNumber - contentStart.lineNumber;
  const last = texts[count] ?? '';
  const before = [...texts.slice(0, count), last.slice(0, columnReader(last)(end.column))];
  return Buffer.byteLength(before.join('\n')) > end.byteOffset - contentStart.byteOffset;
}

/** Cost: linear in the content plus the ranges. */
function linesOfChunk(chunk: Chunk): ChunkLine[] {
  const texts = chunk.content.split('\n');
  if (texts.length > 1 && texts.at(-1) === '') texts.pop();
  const isBad = hasBadBytes(chunk, texts);
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
    const isContinued = (ranges?.[0]?.start.lineNumber ?? lineNumber) < lineNumber;
    const isMatching = ranges !== undefined;
    return { lineNumber, text, isMatching, spans, isContinued, hasBadBytes: isBad };
  });
}

/** The lines of a file to show, ascending: matching ones, and the asked context around them. */
function shownLines({ chunks }: FileResult, style: OutputOptions): ChunkLine[] {
  const lines = chunks
    .toSorted((a, b) => a.contentStart.byteOffset - b.contentStart.byteOffset)
    .flatMap(linesOfChunk);
  let count = 0;
  const matching = lines.filter(({ isMatching, isContinued }) => {
    // A match is shown to its end.
    if (isMatching && !isContinued) count++;
    return isMatching && count <= style.lineCountMax;
  });
  const shown: ChunkLine[] = [];
  let next = 0;
  for (const line of lines) {
    while (next < matching.length && matching[next]!.lineNumber < line.lineNumber) next++;
    const distance = (matching[next]?.lineNumber ?? Infinity) - line.lineNumber;
    const past = line.lineNumber - (matching[next - 1]?.lineNumber ?? -Infinity);
    if (distance <= style.before || distance === 0 || past <= style.after) shown.push(line);
  }
  return shown;
}

function lineBody(line: ChunkLine, style: Style): string {
  const { text, spans, isMatching } = line;
  const { palette, escape, dropsReturn, lineSizeMax, hasColor, hasColumn } = style;
  // ripgrep counts the line feed.
  if (sizeOf(text, line) + 1 > lineSizeMax) {
    if (!isMatching) return '[Omitted long context line]';
    return hasColor || hasColumn
      ? `[Omitted long line with ${spans.length} matches]`
      : '[Omitted long matching line]';
  }
  const isReturnMatched = spans.some(({ end }) => end === text.length);
  const isCut = dropsReturn && text.endsWith('\r') && !isReturnMatched;
  return markSpans(isCut ? text.slice(0, -1) : text, spans, palette, '', escape);
}

/** A matching line in the unit of the output; `lead` is what precedes the line number. */
function writtenLine(line: ChunkLine, lead: string, style: Style): string[] {
  const { palette, unit, hasLineNumber, hasColumn } = style;
  const separator = line.isMatching ? ':' : '-';
  const { lineNumber } = line;
  const number = hasLineNumber
    ? `${palette.lineNumber}${lineNumber}${palette.reset}${separator}`
    : '';
  const columnOf = (span: Span | undefined): string =>
    hasColumn && line.isMatching
      ? `${sizeOf(line.text.slice(0, span?.start ?? 0), line) + 1}:`
      : '';
  if (unit === 'line' || !line.isMatching)
    return [`${lead}${number}${columnOf(line.spans[0])}${lineBody(line, style)}`];
  if (unit === 'match')
    return spansBegun(line).map(
      (span) => `${lead}${number}${columnOf(span)}${lineBody(line, style)}`,
    );
  return line.spans
    .filter(({ start, end }) => end > start)
    .map((span) => {
      const text = line.text.slice(span.start, span.end);
      const own = { ...line, text, spans: [{ start: 0, end: text.length }] };
      return `${lead}${number}${columnOf(span)}${lineBody(own, style)}`;
    });
}

/** Lines without line feeds. */
function linesOfFile(file: FileResult, style: Style): string[] {
  const hasContext = style.before + style.after > 0;
  const name = style.hasFileName && !style.hasHeading ? heading(file, style) : undefined;
  const leadOf = ({ isMatching }: ChunkLine): string => {
    if (name === undefined) return '';
    if (style.hasNull) return `${name}\0`;
    return `${name}${isMatching ? ':' : '-'}`;
  };
  let last: number | undefined;
  return shownLines(file, style).flatMap((line) => {
    const isApart = last !== undefined && line.lineNumber > last + 1;
    last = line.lineNumber;
    const written = writtenLine(line, leadOf(line), style);
    return isApart && hasContext ? ['--', ...written] : written;
  });
}

function countIn(file: FileResult, style: Style): number {
  const lines = shownLines(file, { ...style, before: 0, after: 0 });
  const counts = lines.map((line) => spansBegun(line).length);
  return style.form === 'lineCounts' ? counts.filter(Boolean).length : sumOf(counts, Number);
}

/** The output for a file; undefined: it has nothing of what is shown. */
function formatFile(file: FileResult, style: Style): string | undefined {
  const { form, unit, hasNull, hasHeading, hasFileName, hasColumn } = style;
  if (form === 'files') return heading(file, style);
  if (form !== 'lines') {
    const count = countIn(file, style);
    if (count === 0) return undefined;
    return hasFileName ? `${heading(file, style)}${hasNull ? '\0' : ':'}${count}` : String(count);
  }
  // Found by its name. Programs that read columns want places alone.
  if (file.chunks.length === 0)
    return unit !== 'line' || hasColumn || !hasFileName ? undefined : heading(file, style);
  const lines = linesOfFile(file, style);
  const head = `${heading(file, style)}${hasNull ? '\0' : '\n'}`;
  return `${hasHeading && hasFileName ? head : ''}${lines.join('\n')}`;
}

export function formatResponse(
  response: SearchResponse,
  options: OutputOptions,
  startOf: PathStarts = byRepository,
): string {
  const files = options.sort === 'path' ? response.files.toSorted(byPath) : response.files;
  const style: Style = {
    ...options,
    palette: options.hasColor ? COLORS : PLAIN,
    escape: options.isEscaped ? escapeControls : keepControls,
    dropsReturn: options.isEscaped,
    startOf,
  };
  const texts = files.flatMap((file) => formatFile(file, style) ?? []);
  if (texts.length === 0) return '';
  if (options.form === 'files' && options.hasNull) return `${texts.join('\0')}\0`;
  const isOfLines = options.form === 'lines';
  const hasContext = options.before + options.after > 0;
  const withHeadings = options.hasHeading && options.hasFileName ? '\n\n' : '\n';
  const separator = hasContext && !options.hasHeading ? '\n--\n' : withHeadings;
  return `${texts.join(isOfLines ? separator : '\n')}\n`;
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

const countOfMatches = (count: number): string => countOf(count, 'match', 'matches');

/** A daemon may have a lower limit than asked for; none has a higher one than the default. */
function adviceOn(count: number, asked: number): string {
  if (count >= DEFAULTS.maxMatchCount) return 'narrow the query';
  return count < asked ? 'narrow the query, or raise maxMatchCount' : 'raise --matches';
}

/** @param matches  what was asked for at most */
export function formatIncomplete(
  response: Pick<SearchResponse, 'stats' | 'isSearchExhaustive' | 'incompleteReasons'>,
  matches: number,
): string {
  if (response.isSearchExhaustive) return '';
  const reasons = (response.incompleteReasons ?? ['unknown']).join(', ');
  const { actualMatchCount, totalMatchCount } = response.stats;
  if (reasons === 'match_limit')
    return `stopped at ${countOfMatches(actualMatchCount)}; at least ${totalMatchCount} exist; ${adviceOn(actualMatchCount, matches)}\n`;
  const advice = response.incompleteReasons?.includes('symbols_missing')
    ? '; a daemon finds symbols after it has indexed the files: "trawl status" shows how far; without one "trawl index" does'
    : '';
  return `incomplete: ${reasons} (at least ${countOfMatches(totalMatchCount)} found)${advice}\n`;
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
    .map(({ message, query, isRegexEnabled }) => {
      const words = message.replaceAll(REQUEST_FIELD, (field) => FLAGS[field] ?? field);
      if (query === undefined) return words;
      return `${words} Try: ${isRegexEnabled === true ? '--regex ' : ''}${query}`;
    })
    .map((text) => `hint: ${escapeControls(text)}\n`)
    .join('');
}
