// Matching lines by file, as tools show them.

import { type BoundedText, displayName } from './bounded-text.ts';

export interface FoundLine {
  readonly number: number;
  readonly text: string;
  /** False: a context line. */
  readonly isMatch: boolean;
}

export interface FoundLines {
  readonly repository: string;
  readonly path: string;
  /** In order, each line number once. */
  readonly lines: readonly FoundLine[];
}

interface Position {
  readonly lineNumber: number;
  readonly column: number;
}

interface Range {
  readonly start: Position;
  readonly end: Position;
}

function lastLineOf({ start, end }: Range): number {
  const isAtStart = end.column === 1 && end.lineNumber > start.lineNumber;
  return isAtStart ? end.lineNumber - 1 : end.lineNumber;
}

/** More lines never fit into a text, however short. */
const LINES_MAX = 10_000;

/** The lines of a text that starts at line `first`, marked if a range touches them. */
export function linesWith(text: string, first: number, ranges: readonly Range[]): FoundLine[] {
  const texts = text.replace(/\n$/, '').split('\n', LINES_MAX);
  const end = first + texts.length;
  const matched = new Set<number>();
  for (const range of ranges)
    for (let line = range.start.lineNumber; line < end && line <= lastLineOf(range); line++)
      matched.add(line);
  return texts.map((line, index) => {
    const number = first + index;
    return { number, text: line.replace(/\r$/, ''), isMatch: matched.has(number) };
  });
}

/** In order, each number once. */
export function inOrder(lines: readonly FoundLine[]): FoundLine[] {
  const byNumber = new Map<number, FoundLine>();
  for (const line of lines)
    if (byNumber.get(line.number)?.isMatch !== true) byNumber.set(line.number, line);
  return [...byNumber.values()].sort((a, b) => a.number - b.number);
}

/** The first files with this many matching lines in total; the last file may lose some. */
export function firstLines(files: readonly FoundLines[], countMax: number): FoundLines[] {
  const first: FoundLines[] = [];
  let remaining = countMax;
  for (const file of files) {
    if (remaining === 0) break;
    const lines = file.lines.slice(0, remaining);
    first.push({ ...file, lines });
    remaining -= lines.length;
  }
  return first;
}

/** Characters shown of a line. */
const LINE_SIZE_MAX = 2000;

/** Returns the number of complete files; `linesOf` is called only for added ones. */
export function addFiles<File>(
  text: BoundedText,
  files: readonly File[],
  linesOf: (file: File) => FoundLines,
): number {
  for (const [index, file] of files.entries())
    for (const line of writeFile(linesOf(file))) if (!text.add(line)) return index;
  return files.length;
}

function writeFile({ repository, path, lines }: FoundLines): string[] {
  const hasContext = lines.some(({ isMatch }) => !isMatch);
  const written = lines.flatMap(({ number, text, isMatch }, index) => {
    const shortened = text.length > LINE_SIZE_MAX ? `${text.slice(0, LINE_SIZE_MAX)}…` : text;
    const line = `  ${number}${isMatch ? ':' : '-'} ${shortened}`;
    const before = lines[index - 1];
    const isGap = hasContext && before !== undefined && before.number < number - 1;
    return isGap ? ['  --', line] : [line];
  });
  return [`[${repository}] ${displayName(path)}:`, ...written];
}
