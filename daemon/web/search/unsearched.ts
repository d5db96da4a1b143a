// Files whose content no search finds, as they are too large: said where nothing was found, since it may be in one of them. Pure.

import { textOfWord, wordsOf } from '../../engine/query/words.ts';
import type { Search } from './messages.ts';

/** The members of a repository (API.md 13.1) that are looked at. */
export interface Repo {
  readonly repoName: string;
  readonly docs?: number | undefined;
  readonly skipped?: Readonly<Record<string, number>> | undefined;
}

interface Page {
  readonly items: readonly Repo[];
  readonly total: number | undefined;
}

export interface Unsearched {
  readonly count: number;
  /** The repository with most of them. */
  readonly repo: string;
}

export interface Known {
  /** Undefined: there are none, or it is not known. */
  readonly unsearched: Unsearched | undefined;
  /** It is known that there are none. */
  readonly isAll: boolean;
}

export const UNKNOWN: Known = { unsearched: undefined, isAll: false };

interface NameFilter {
  readonly pattern: string;
  readonly isNegated: boolean;
}

function nameFilters({ query, isRegexEnabled }: Search): NameFilter[] {
  const words = wordsOf(query, isRegexEnabled);
  return words.flatMap((word, index) => {
    const { kind, prefix } = word;
    if (kind !== 'value' || prefix?.kind !== 'pattern' || prefix.name !== 'repo') return [];
    const isNegated = textOfWord(query, words[index - 2] ?? { start: 0, end: 0 }) === '-';
    return [{ pattern: textOfWord(query, word).replace(/^"(.*)"$/, '$1'), isNegated }];
  });
}

/** What stands in the name of each repository that the query leaves in; empty: it is not known. */
export function partOfNames(search: Search): string {
  const wanted = nameFilters(search).find(({ isNegated }) => !isNegated);
  const pattern = wanted?.pattern.replaceAll(/^\^|\$$/g, '') ?? '';
  // A dot is meant as one: where it stands for others, the files differ in number from those that were searched.
  const isPlain = !/[\\^$*+?()[\]{}|]/.test(pattern.replaceAll(/\\\W/g, ''));
  return isPlain ? pattern.replaceAll(/\\(\W)/g, '$1') : '';
}

function isNamed(pattern: string, name: string): boolean {
  try {
    return new RegExp(pattern, 'i').test(name);
  } catch {
    return false;
  }
}

function tooLargeCount({ skipped = {} }: Repo): number {
  return skipped['too_large'] ?? 0;
}

/**
 * @param page  the repositories that `partOfNames` leaves in, or some of them
 * @param considered  files that the answer is about. Where those of the repositories are others in number, which ones were
 *     searched is not known.
 */
export function unsearchedOf(
  search: Search,
  { items, total = Infinity }: Page,
  considered: number,
): Known {
  if (total > items.length) return UNKNOWN;
  const isAnySkipped = items.some((one) => tooLargeCount(one) > 0);
  if (!isAnySkipped && partOfNames(search) === '') return { unsearched: undefined, isAll: true };
  const filters = nameFilters(search);
  const meant = items.filter(({ repoName }) =>
    filters.every(({ pattern, isNegated }) => isNamed(pattern, repoName) !== isNegated),
  );
  const docs = meant.reduce((sum, one) => sum + (one.docs ?? 0), 0);
  const count = meant.reduce((sum, one) => sum + tooLargeCount(one), 0);
  const [first] = meant.toSorted((a, b) => tooLargeCount(b) - tooLargeCount(a));
  if (docs !== considered) return UNKNOWN;
  if (count === 0 || first === undefined) return { unsearched: undefined, isAll: true };
  return { unsearched: { count, repo: first.repoName }, isAll: false };
}
