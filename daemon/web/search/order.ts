// The order of the files on the page. The "water line" is below the last file that was ever in or near the window.
// Files above it never move, appear or disappear; those below it are sorted.

import type { ResultFile } from './rows.ts';

export const SORT_ORDERS = ['score', 'repo', 'path'] as const;
export type SortOrder = (typeof SORT_ORDERS)[number];

export function isSortOrder(text: string | null): text is SortOrder {
  return SORT_ORDERS.some((order) => order === text);
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

type Compare = (a: ResultFile, b: ResultFile) => number;

const byScore: Compare = (a, b) => b.score - a.score || a.order - b.order;
const byRepository: Compare = (a, b) => compareTexts(a.repository, b.repository);
const byPath: Compare = (a, b) => compareTexts(a.path, b.path);

const COMPARE: Readonly<Record<SortOrder, Compare>> = {
  score: byScore,
  repo: (a, b) => byRepository(a, b) || byPath(a, b) || byScore(a, b),
  path: (a, b) => byPath(a, b) || byRepository(a, b) || byScore(a, b),
};

/** Sorts all files, at the user's request. */
export function sortFiles(files: readonly ResultFile[], sort: SortOrder): ResultFile[] {
  return files.toSorted(COMPARE[sort]);
}

/** Number of files, from the top, that must not move. */
export function waterLine(files: readonly ResultFile[], seen: ReadonlySet<string>): number {
  return files.findLastIndex(({ key }) => seen.has(key)) + 1;
}

/**
 * Merges new files into those on the page. A file that arrives again, because the user asked for more, is replaced
 * above the water line only if its match count changed: the last file of a limited answer was cut.
 */
export function addFiles(
  files: readonly ResultFile[],
  incoming: readonly ResultFile[],
  seen: ReadonlySet<string>,
  sort: SortOrder,
): ResultFile[] {
  const fresh = new Map(incoming.map((file) => [file.key, file]));
  const line = waterLine(files, seen);
  const kept = files.map((file, index) => {
    const again = fresh.get(file.key);
    if (again === undefined) return file;
    fresh.delete(file.key);
    return index < line && again.matchCount === file.matchCount ? file : again;
  });
  const below = [...kept.slice(line), ...fresh.values()].toSorted(COMPARE[sort]);
  return [...kept.slice(0, line), ...below];
}

/** Number of files below the water line that sort before one above it. */
export function countBetter(
  files: readonly ResultFile[],
  seen: ReadonlySet<string>,
  sort: SortOrder,
): number {
  const above = files.slice(0, waterLine(files, seen));
  const last = above.toSorted(COMPARE[sort]).at(-1);
  if (last === undefined) return 0;
  return files.slice(above.length).filter((file) => COMPARE[sort](file, last) < 0).length;
}
