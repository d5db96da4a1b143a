// A range of lines in an address.

/** A position, 1-based; columns in code points. */
interface Point {
  readonly line: number;
  readonly column: number | undefined;
}

/** Lines of a file, 1-based, both inclusive. Columns are 1-based, in code points. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
  /** In the first line; undefined: from its start. */
  readonly fromColumn?: number | undefined;
  /** In the last line, after the last character; undefined: to its end. */
  readonly toColumn?: number | undefined;
}

function pointOf(line: string | undefined, column: string | undefined): Point | undefined {
  if (line === undefined) return undefined;
  return { line: Number(line), column: column === undefined ? undefined : Number(column) };
}

function isAfter(one: Point, other: Point): boolean {
  if (one.line !== other.line) return one.line > other.line;
  return (one.column ?? 0) > (other.column ?? Infinity);
}

/** Parses `highlightRange`: `12`, `12-20`, `12:5-12:14`. */
export function lineRangeOf(text: string | undefined): LineRange | undefined {
  const [, line, column, endLine, endColumn] =
    /^(\d+)(?::(\d+))?(?:-(\d+)(?::(\d+))?)?$/.exec(text ?? '') ?? [];
  const begin = pointOf(line, column);
  if (begin === undefined || begin.line < 1) return undefined;
  const end = pointOf(endLine, endColumn) ?? { line: begin.line, column: undefined };
  const [first, last] = isAfter(begin, end) ? [end, begin] : [begin, end];
  return { from: first.line, to: last.line, fromColumn: first.column, toColumn: last.column };
}

/** How a code host's file address names lines, by host type. Source: the pages of these hosts. */
const HOST_LINES: Readonly<Record<string, (from: number, to: number) => string>> = {
  github: (from, to) => (from === to ? `#L${from}` : `#L${from}-L${to}`),
  gitea: (from, to) => (from === to ? `#L${from}` : `#L${from}-L${to}`),
  gitlab: (from, to) => (from === to ? `#L${from}` : `#L${from}-${to}`),
  bitbucketCloud: (from, to) => `#lines-${from}:${to}`,
  bitbucketServer: (from, to) => `#${from}-${to}`,
  gerrit: (from) => `#${from}`,
  azuredevops: (from, to) =>
    `&line=${from}&lineEnd=${to + 1}&lineStartColumn=1&lineEndColumn=1&lineStyle=plain`,
};

/** The address of a file at its code host, with these lines if the host supports that. */
export function atLines(address: string, codeHostType: string, range?: LineRange): string {
  if (range === undefined) return address;
  return address + (HOST_LINES[codeHostType]?.(range.from, range.to) ?? '');
}

function pointText(line: number, column: number | undefined): string {
  return column === undefined ? String(line) : `${line}:${column}`;
}

export function rangeText({ from, to, fromColumn, toColumn }: LineRange): string {
  const begin = pointText(from, fromColumn);
  return from === to && toColumn === undefined ? begin : `${begin}-${pointText(to, toColumn)}`;
}
