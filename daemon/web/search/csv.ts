// Results as comma-separated values (RFC 4180), a row per match. Pure; runs in the worker.

import type { FileResult, MatchRange } from '../../api/search/search-schemas.ts';

const HEAD = [
  'repository',
  'revision',
  'path',
  'line',
  'column',
  'end line',
  'end column',
  'text',
  'link',
];

/** Spreadsheets treat cells that begin like this as formulas; a leading quote makes them text. */
const FORMULA = /^[=+\-@\t\r]/;

function cell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function row(cells: readonly (string | number)[]): string {
  return `${cells.map(cell).join(',')}\r\n`;
}

/** The lines that contain a match, without the last line end. */
function textOf(content: readonly string[], first: number, { start, end }: MatchRange): string {
  const behind =
    end.column === 1 && end.lineNumber > start.lineNumber ? end.lineNumber - 1 : end.lineNumber;
  return content.slice(start.lineNumber - first, behind - first + 1).join('\n');
}

function rowsOf(file: FileResult): string[] {
  const head = [file.repository, file.branches?.[0] ?? '', file.fileName.text];
  const inPath = file.fileName.matchRanges.map(() =>
    row([...head, '', '', '', '', file.fileName.text, file.webUrl]),
  );
  const inContent = file.chunks
    .toSorted((a, b) => a.contentStart.lineNumber - b.contentStart.lineNumber)
    .flatMap(({ content, contentStart, matchRanges }) => {
      const lines = content.split('\n').map((line) => line.replace(/\r$/, ''));
      return matchRanges.map((range) => {
        const { start, end } = range;
        const text = textOf(lines, contentStart.lineNumber, range);
        const link = `${file.webUrl}?highlightRange=${start.lineNumber}`;
        return row([
          ...head,
          start.lineNumber,
          start.column,
          end.lineNumber,
          end.column,
          text,
          link,
        ]);
      });
    });
  return [...inPath, ...inContent];
}

/** The whole file, in pieces. */
export function csvOf(files: readonly FileResult[]): string[] {
  return [row(HEAD), ...files.flatMap(rowsOf)];
}
