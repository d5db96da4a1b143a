// The unchanged lines between the hunks of a file, before the first one and after the last one. Pure.

import type { FileDiff } from './history-queries.ts';

/** A changed file. It may show more unchanged lines than the daemon sent. */
export interface DisplayedFile extends FileDiff {
  /** Does the last hunk reach the end of the file? */
  readonly isEndVisible?: boolean;
}

/** Lines of the newer side, 1-based, both inclusive. `to` is Infinity if the length of the file is unknown. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** Unchanged lines around each change, as sent by the daemon. */
const CONTEXT = 3;

/** @param index  of the hunk below the gap; `hunks.length` for the lines after the last hunk */
export function gapOf({ hunks }: DisplayedFile, index: number): Gap {
  const before = hunks[index - 1]?.newRange;
  const from = before === undefined ? 1 : before.start + before.lines;
  return { from, to: (hunks[index]?.newRange.start ?? Infinity) - 1 };
}

/** May there be more lines after the last hunk? */
export function mayGoOn({ hunks, isEndVisible, status }: DisplayedFile): boolean {
  if (isEndVisible === true || (status !== 'modified' && status !== 'renamed')) return false;
  const last = hunks.at(-1)?.body.replace(/\n$/, '').split('\n').slice(-CONTEXT) ?? [];
  return last.length === CONTEXT && last.every((line) => line.startsWith(' '));
}
