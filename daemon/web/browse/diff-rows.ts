// From the files that differ to the items that are drawn one below the other: a head for each file, then its lines with their
// numbers, in one column or in two. Pure.

import type { Lines } from '../code/line-colours.ts';
import type { FileDiff } from './history-reading.ts';

type Hunk = FileDiff['hunks'][number];

export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'same' | 'note';
  /** 1-based; undefined: not on that side. */
  readonly oldNumber: number | undefined;
  readonly newNumber: number | undefined;
  /** Without its marker. */
  readonly text: string;
  /** Which line of those it is coloured with. */
  readonly row?: number | undefined;
  /** Text of the line that it takes the place of, or that takes its place. */
  readonly partner?: string | undefined;
}

export type DiffItem = { readonly key: string } & (
  | { readonly kind: 'file'; readonly file: FileDiff; readonly isOpen: boolean }
  | { readonly kind: 'fold'; readonly file: FileDiff; readonly lineCount: number }
  | { readonly kind: 'silent'; readonly file: FileDiff }
  | {
      readonly kind: 'gap';
      readonly file: FileDiff;
      /** Lines that are not shown, and the last of them in the head. */
      readonly count: number;
      readonly end: number;
      readonly heading: string | undefined;
    }
  | { readonly kind: 'line'; readonly lines: Lines; readonly line: DiffLine }
  | {
      readonly kind: 'pair';
      readonly lines: Lines;
      readonly left: DiffLine | undefined;
      readonly right: DiffLine | undefined;
    }
);

const KINDS: Readonly<Record<string, DiffLine['kind']>> = {
  '+': 'added',
  '-': 'removed',
  '\\': 'note',
};

/** A file whose changes have more lines is folded until it is asked for. */
const OPEN_LINES_MAX = 400;

export function keyOf({ oldPath, newPath }: FileDiff): string {
  return `${oldPath ?? ''}\0${newPath ?? ''}`;
}

export function pathOf({ oldPath, newPath }: FileDiff): string {
  return newPath ?? oldPath ?? '';
}

/** Lines of a hunk, in order. */
function linesOf({ oldRange, newRange, body }: Hunk): DiffLine[] {
  let oldNumber = oldRange.start;
  let newNumber = newRange.start;
  const rows = body.split('\n');
  if (rows.at(-1) === '') rows.pop();
  const lines = rows.map((line): DiffLine => {
    const kind = KINDS[line[0] ?? ''] ?? 'same';
    const isOld = kind === 'removed' || kind === 'same';
    const isNew = kind === 'added' || kind === 'same';
    return {
      kind,
      oldNumber: isOld ? oldNumber++ : undefined,
      newNumber: isNew ? newNumber++ : undefined,
      text: line.slice(1),
    };
  });
  const rowOf = new Map(
    sidesOf(lines)
      .flat()
      .map((line, row) => [line, row]),
  );
  return lines.map((line) => ({ ...line, row: rowOf.get(line) }));
}

/** Lines of the base, and those of the head: each side is coloured for itself. */
function sidesOf(lines: readonly DiffLine[]): readonly [DiffLine[], DiffLine[]] {
  return [
    lines.filter(({ oldNumber }) => oldNumber !== undefined),
    lines.filter(({ newNumber }) => newNumber !== undefined),
  ];
}

const hunkIds = new WeakMap<Hunk, number>();
let hunkCount = 0;

/** Says which hunk it is, of all that the page has seen. */
function idOf(hunk: Hunk): number {
  const id = hunkIds.get(hunk) ?? ++hunkCount;
  hunkIds.set(hunk, id);
  return id;
}

/** What stands beside each other; undefined: nothing. */
type Pair = readonly [left: DiffLine | undefined, right: DiffLine | undefined];

/** Lines that stand beside each other: each removed one with the added one that takes its place. */
function pairsOf(lines: readonly DiffLine[]): Pair[] {
  const pairs: Pair[] = [];
  let [removed, added]: [DiffLine[], DiffLine[]] = [[], []];
  const flush = (): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index++) {
      const [left, right] = [removed[index], added[index]];
      pairs.push([
        left && { ...left, partner: right?.text },
        right && { ...right, partner: left?.text },
      ]);
    }
    [removed, added] = [[], []];
  };
  for (const line of lines) {
    if (line.kind === 'removed' && added.length > 0) flush();
    if (line.kind === 'removed') removed.push(line);
    else if (line.kind === 'added') added.push(line);
    else if (line.kind === 'same') {
      flush();
      pairs.push([line, line]);
    } else {
      // Says something of the line before it.
      const side = added.length > 0 ? added : removed;
      side.push(line);
    }
  }
  flush();
  return pairs;
}

function hunkItems(file: FileDiff, hunk: Hunk, key: string, isSplit: boolean): DiffItem[] {
  const all = linesOf(hunk);
  const lines: Lines = {
    key: `hunk ${idOf(hunk)}`,
    language: file.language,
    runs: () => sidesOf(all).map((side) => side.map(({ text }) => text)),
  };
  const pairs = pairsOf(all);
  if (isSplit)
    return pairs.map(([left, right], index) => ({
      key: `${key}:${index}`,
      kind: 'pair',
      lines,
      left,
      right,
    }));
  return inOneColumn(pairs).map((line, index) => ({
    key: `${key}:${index}`,
    kind: 'line',
    lines,
    line,
  }));
}

/** Of each run of changes first what was removed, then what was added. */
function inOneColumn(pairs: readonly Pair[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let added: DiffLine[] = [];
  for (const [left, right] of pairs) {
    if (left?.kind === 'same') {
      lines.push(...added, left);
      added = [];
      continue;
    }
    if (left !== undefined) lines.push(left);
    if (right !== undefined) added.push(right);
  }
  return [...lines, ...added];
}

/** Line numbers of a range begin there; git names the line before one without lines. */
const startOf = ({ start, lines }: Hunk['oldRange']): number => (lines === 0 ? start + 1 : start);

/** Lines between two hunks that are the same, or before the first one. */
function gapBefore(hunk: Hunk, before: Hunk | undefined): number {
  const end = before === undefined ? 1 : startOf(before.newRange) + before.newRange.lines;
  return Math.max(0, startOf(hunk.newRange) - end);
}

/** Lines before a hunk that were asked for: the last of the gap. */
function shownItems(
  file: FileDiff,
  hunk: Hunk,
  texts: readonly string[],
  isSplit: boolean,
): DiffItem[] {
  const [oldStart, newStart] = [startOf(hunk.oldRange), startOf(hunk.newRange)];
  const lines: Lines = {
    key: `gap ${idOf(hunk)} ${texts.length}`,
    language: file.language,
    runs: () => [texts],
  };
  return texts.map((text, row): DiffItem => {
    const [oldNumber, newNumber] = [oldStart, newStart].map((one) => one - texts.length + row);
    const line = { kind: 'same', oldNumber, newNumber, text, row } as const;
    const key = `${keyOf(file)}\0same ${newNumber}`;
    return isSplit
      ? { key, kind: 'pair', lines, left: line, right: line }
      : { key, kind: 'line', lines, line };
  });
}

export interface DiffView {
  readonly isSplit: boolean;
  /** Files that were opened or closed by hand, by key. */
  readonly opened: ReadonlyMap<string, boolean>;
  /** Unchanged lines that were asked for, by the key of their gap: the last of it. */
  readonly shown: ReadonlyMap<string, readonly string[]>;
}

/** Whether the lines of a file are drawn. */
export function isOpen(file: FileDiff, { opened }: Pick<DiffView, 'opened'>): boolean {
  return opened.get(keyOf(file)) ?? file.additions + file.deletions <= OPEN_LINES_MAX;
}

/** What is new, or gone, would leave one of two columns empty. */
function hasTwoSides({ status }: FileDiff): boolean {
  return status === 'modified' || status === 'renamed';
}

function fileItems(file: FileDiff, view: DiffView): DiffItem[] {
  const key = keyOf(file);
  const head = { key, kind: 'file', file, isOpen: isOpen(file, view) } as const;
  const lineCount = file.additions + file.deletions;
  if (!head.isOpen)
    return view.opened.has(key)
      ? [head]
      : [head, { key: `${key}\0fold`, kind: 'fold', file, lineCount }];
  if (file.hunks.length === 0) return [head, { key: `${key}\0silent`, kind: 'silent', file }];
  return [head, ...file.hunks.flatMap((hunk, index) => stretchItems(file, hunk, index, view))];
}

/** A hunk, below what is left out before it. */
function stretchItems(file: FileDiff, hunk: Hunk, index: number, view: DiffView): DiffItem[] {
  const isSplit = view.isSplit && hasTwoSides(file);
  const key = `${keyOf(file)}\0${index}`;
  const gapKey = `${key}:gap`;
  const texts = view.shown.get(gapKey) ?? [];
  const count = gapBefore(hunk, file.hunks[index - 1]) - texts.length;
  const end = startOf(hunk.newRange) - texts.length - 1;
  const { heading } = hunk;
  const gap = { key: gapKey, kind: 'gap', file, count, end, heading } as const;
  const isSilent = count === 0 && (heading === undefined || texts.length > 0);
  return [
    ...(isSilent ? [] : [gap]),
    ...shownItems(file, hunk, texts, isSplit),
    ...hunkItems(file, hunk, key, isSplit),
  ];
}

/** All that is drawn of these files, from top to bottom. */
export function itemsOf(files: readonly FileDiff[], view: DiffView): DiffItem[] {
  return files.flatMap((file) => fileItems(file, view));
}
