// The rows of a result card: matched lines with their context, lines that the user opened, and gaps. Pure.

import { cutLine } from '../code/cut-line.ts';
import type { ResultFile, ResultLine } from './rows.ts';

/** Lines of a file, 1-based, both inclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** What the user changed on a card. */
export interface CardState {
  readonly isFolded: boolean;
  /** Maximum number of matched lines. */
  readonly matchedMax: number;
  /** Additional lines, from the file's current text. */
  readonly opened: readonly Span[];
}

/** Matched lines at first, and added per step. */
export const MATCHED_FIRST = 8;
const MATCHED_STEP = 200;
/** Lines that a gap opens per step, and at most. */
export const GAP_STEP = 20;
const GAP_MAX = 2000;

export const NEW_CARD: CardState = { isFolded: false, matchedMax: MATCHED_FIRST, opened: [] };

export type CardRow =
  { readonly kind: 'line'; readonly line: ResultLine } | ({ readonly kind: 'gap' } & Span);

/** The first lines: up to `matchedMax` matched ones, with their context. */
export function headOf(lines: readonly ResultLine[], matchedMax: number): readonly ResultLine[] {
  let matched = 0;
  let end = lines.findIndex((line) => line.marks.length > 0 && ++matched > matchedMax);
  if (end < 0) return lines;
  const last = lines.slice(0, end).findLastIndex((line) => line.marks.length > 0);
  // Excludes context that belongs only to the next match.
  const outlier = lines.findIndex(
    ({ number }, index) => index > last && number > (lines[index - 1]?.number ?? number) + 1,
  );
  if (outlier >= 0 && outlier < end) end = outlier;
  return lines.slice(0, end);
}

/** Heights of the parts of a card in px, as in the styles at the default text size. */
const HEAD_HEIGHT = 37;
const ROW_HEIGHT = 20;
const MORE_HEIGHT = 28;
/** Files included in the mean. */
const MEAN_MAX = 20;

/** Estimated initial height of a card in px, until real cards are measured. */
export function meanHeight(files: readonly ResultFile[]): number {
  const some = files.slice(0, MEAN_MAX);
  const heights = some.map((file) => {
    const isLong = headOf(file.lines, MATCHED_FIRST).length < file.lines.length;
    const rows = rowsOf(file, NEW_CARD, undefined).length;
    return HEAD_HEIGHT + rows * ROW_HEIGHT + (isLong ? MORE_HEIGHT : 0);
  });
  const sum = heights.reduce((total, height) => total + height, 0);
  return some.length === 0 ? HEAD_HEIGHT : Math.round(sum / some.length);
}

/** Matches that are not on display, and `matchedMax` after the next step. */
export function hiddenOf(
  lines: readonly ResultLine[],
  matchedMax: number,
): { readonly matches: number; readonly nextMax: number; readonly isAll: boolean } {
  const hidden = lines
    .slice(headOf(lines, matchedMax).length)
    .filter((line) => line.marks.length > 0);
  return {
    matches: hidden.reduce((sum, { begins }) => sum + begins, 0),
    nextMax: matchedMax + MATCHED_STEP,
    isAll: hidden.length <= MATCHED_STEP,
  };
}

/** The lines of a text, without line ends. */
export function linesOfText(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}

/** Are these lines still in the file's current text? */
export function isSameFile(lines: readonly ResultLine[], source: readonly string[]): boolean {
  return lines.every(({ number, text, cut }) => {
    const now = source[number - 1];
    if (now === undefined) return false;
    if (cut === undefined) return now === text;
    return now.length === cut.lineLength && now.startsWith(text, cut.from);
  });
}

function numbersOf({ from, to }: Span): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

/** The rows from top to bottom. @param source  lines of the file; undefined: not loaded, so no additional lines */
export function rowsOf(
  { lines }: ResultFile,
  { isFolded, matchedMax, opened }: CardState,
  source: readonly string[] | undefined,
): CardRow[] {
  if (isFolded) return [];
  const visible = new Map(headOf(lines, matchedMax).map((line) => [line.number, line]));
  if (source !== undefined) addOpened(visible, lines, opened, source);
  const rows: CardRow[] = [];
  let last: number | undefined;
  for (const line of [...visible.values()].toSorted((a, b) => a.number - b.number)) {
    if (last !== undefined && line.number > last + 1)
      rows.push({ kind: 'gap', from: last + 1, to: line.number - 1 });
    rows.push({ kind: 'line', line });
    last = line.number;
  }
  return rows;
}

/** Adds the opened lines. Lines of the answer keep their marks. */
function addOpened(
  visible: Map<number, ResultLine>,
  lines: readonly ResultLine[],
  opened: readonly Span[],
  source: readonly string[],
): void {
  const matched = new Map(lines.map((line) => [line.number, line]));
  for (const number of opened.flatMap(numbersOf)) {
    const text = source[number - 1];
    if (visible.has(number) || text === undefined || number < 1) continue;
    const plain = { number, column: 0, begins: 0, kinds: [], ...cutLine(text, []) };
    visible.set(number, matched.get(number) ?? plain);
  }
}

/** The lines that a click opens in a gap: the next ones below the upper part, above the lower part, or all. */
export function gapSpan({ from, to }: Span, side: 'below' | 'above' | 'all'): Span {
  if (side === 'all') return { from, to: Math.min(to, from + GAP_MAX - 1) };
  if (side === 'below') return { from, to: Math.min(to, from + GAP_STEP - 1) };
  return { from: Math.max(from, to - GAP_STEP + 1), to };
}

/** More lines above and below the block of lines around a line. */
export function spansAround({ lines }: ResultFile, card: CardState, number: number): Span[] {
  const visible = new Set([
    ...headOf(lines, card.matchedMax).map((line) => line.number),
    ...card.opened.flatMap(numbersOf),
  ]);
  let first = number;
  while (visible.has(first - 1)) first--;
  let last = number;
  while (visible.has(last + 1)) last++;
  return [
    { from: Math.max(1, first - GAP_STEP), to: first - 1 },
    { from: last + 1, to: last + GAP_STEP },
  ];
}
