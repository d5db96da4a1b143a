// The lines of a file between its hunks, before the first and after the last. Pure.

import type { FileDiff } from './history-reading.ts';

/** A file, perhaps with more lines around its changes than the daemon gave. */
export interface DisplayedFile extends FileDiff {
  /** Does the last hunk reach the end of the file? */
  readonly isEndVisible?: boolean;
}

/** Lines of the newer side, 1-based, both inclusive; `to` is Infinity where nobody said how long the file is. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** Lines around each change, as the daemon gives them. */
const CONTEXT = 3;

/** @param index  of the hunk below the gap; behind the last one: of the lines below it */
export function gapOf({ hunks }: DisplayedFile, index: number): Gap {
  const before = hunks[index - 1]?.newRange;
  const from = before === undefined ? 1 : before.start + before.lines;
  return { from, to: (hunks[index]?.newRange.start ?? Infinity) - 1 };
}

/** Are there lines below the last change, as far as one can tell? */
export function mayGoOn({ hunks, isEndVisible, status }: DisplayedFile): boolean {
  if (isEndVisible === true || (status !== 'modified' && status !== 'renamed')) return false;
  const last = hunks.at(-1)?.body.replace(/\n$/, '').split('\n').slice(-CONTEXT) ?? [];
  return last.length === CONTEXT && last.every((line) => line.startsWith(' '));
}
