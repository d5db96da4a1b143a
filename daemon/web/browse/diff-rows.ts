// Turns changed files into rows: a head for each file, then its numbered lines, in one column or two. Pure.

import { type DisplayedFile, gapOf, mayGoOn } from './diff-gaps.ts';
import type { FileDiff } from './history-queries.ts';

type Hunk = FileDiff['hunks'][number];

export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'same' | 'note';
  /** 1-based; undefined: the line is not on that side. */
  readonly oldNumber: number | undefined;
  readonly newNumber: number | undefined;
  /** Without the leading `+`, `-` or space. */
  readonly text: string;
  /** Text of the line on the other side that this line replaces or is replaced by. */
  readonly partner?: string | undefined;
}

export type DiffItem = { readonly key: string; readonly file: DisplayedFile } & (
  | { readonly kind: 'file'; readonly isOpen: boolean }
  | { readonly kind: 'fold'; readonly lineCount: number }
  | { readonly kind: 'silent' }
  | {
      readonly kind: 'gap';
      /** Of the hunk below the gap. */
      readonly index: number;
      /** Infinity: unknown. */
      readonly count: number;
      readonly heading: string | undefined;
    }
  | { readonly kind: 'line'; readonly line: DiffLine }
  | {
      readonly kind: 'pair';
      readonly left: DiffLine | undefined;
      readonly right: DiffLine | undefined;
    }
);

const KINDS: Readonly<Record<string, DiffLine['kind']>> = {
  '+': 'added',
  '-': 'removed',
  '\\': 'note',
};

/** A file with more changed lines starts folded. */
const OPEN_LINES_MAX = 400;

export function keyOf({ oldPath, newPath }: FileDiff): string {
  return `${oldPath ?? ''}\0${newPath ?? ''}`;
}

export function pathOf({ oldPath, newPath }: FileDiff): string {
  return newPath ?? oldPath ?? '';
}

/** The lines of a hunk, in order. */
export function linesOf({ oldRange, newRange, body }: Hunk): DiffLine[] {
  let oldNumber = oldRange.start;
  let newNumber = newRange.start;
  const lines = body.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => {
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
}

/** Lines that are side by side; undefined: none on that side. */
type Pair = readonly [left: DiffLine | undefined, right: DiffLine | undefined];

/** Pairs each removed line with the added line that replaces it. */
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
      // A note such as "No newline at end of file" belongs to the line before it.
      const side = added.length > 0 ? added : removed;
      side.push(line);
    }
  }
  flush();
  return pairs;
}

function hunkItems(file: DisplayedFile, hunk: Hunk, key: string, isSplit: boolean): DiffItem[] {
  const pairs = pairsOf(linesOf(hunk));
  if (isSplit)
    return pairs.map(([left, right], index) => ({
      key: `${key}:${index}`,
      file,
      kind: 'pair',
      left,
      right,
    }));
  return inOneColumn(pairs).map((line, index) => ({
    key: `${key}:${index}`,
    file,
    kind: 'line',
    line,
  }));
}

/** In each run of changes, removed lines come before added ones. */
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

/** The gap above hunk `index`, or the one after the last hunk. Empty if the gap has neither lines nor a heading. */
function gapItems(file: DisplayedFile, index: number): DiffItem[] {
  const { from, to } = gapOf(file, index);
  const count = Math.max(0, to - from + 1);
  const heading = count === 0 && from > 1 ? undefined : file.hunks[index]?.heading;
  const key = `${keyOf(file)}\0${index}:gap`;
  return count === 0 && heading === undefined
    ? []
    : [{ key, file, kind: 'gap', index, count, heading }];
}

export interface DiffView {
  readonly isSplit: boolean;
  /** Files that the user opened or closed, by key. */
  readonly opened: ReadonlyMap<string, boolean>;
}

/** Are the lines of the file drawn? */
export function isOpen(file: FileDiff, { opened }: DiffView): boolean {
  return opened.get(keyOf(file)) ?? file.additions + file.deletions <= OPEN_LINES_MAX;
}

/** Why: an added or deleted file would leave one of two columns empty. */
function hasTwoSides({ status }: FileDiff): boolean {
  return status === 'modified' || status === 'renamed';
}

function fileItems(file: DisplayedFile, view: DiffView): DiffItem[] {
  const key = keyOf(file);
  const head = { key, kind: 'file', file, isOpen: isOpen(file, view) } as const;
  const lineCount = file.additions + file.deletions;
  if (!head.isOpen)
    return view.opened.has(key)
      ? [head]
      : [head, { key: `${key}\0fold`, kind: 'fold', file, lineCount }];
  if (file.hunks.length === 0) return [head, { key: `${key}\0silent`, kind: 'silent', file }];
  const isSplit = view.isSplit && hasTwoSides(file);
  return [
    head,
    ...file.hunks.flatMap((hunk, index) => [
      ...gapItems(file, index),
      ...hunkItems(file, hunk, `${key}\0${index}`, isSplit),
    ]),
    ...(mayGoOn(file) ? gapItems(file, file.hunks.length) : []),
  ];
}

/** All rows of these files, from top to bottom. */
export function itemsOf(files: readonly DisplayedFile[], view: DiffView): DiffItem[] {
  return files.flatMap((file) => fileItems(file, view));
}
