// Files whose content no search finds, as they are too large: said where nothing was found, since it may be in one of them.

import { useQuery } from '@tanstack/react-query';
import { textOfWord, wordsOf } from '../../engine/query/words.ts';
import type { listRepos } from '../../http/api/sources/repo-endpoints.ts';
import { callPage } from '../data/api.ts';
import type { AnswerOf } from '../data/api.ts';
import type { Search } from './messages.ts';

type Repo = AnswerOf<typeof listRepos>[number];

/** More repositories are not looked at. */
const REPOS_MAX = 100;

export interface Unsearched {
  readonly count: number;
  /** The repository with most of them. */
  readonly repo: string;
}

function isNamed(pattern: string, name: string): boolean {
  try {
    return new RegExp(pattern, 'i').test(name);
  } catch {
    return false;
  }
}

/** Does the query leave the repository in, as far as its filters by name say? */
function isMeant({ query, isRegexEnabled }: Search, { repoName }: Repo): boolean {
  const words = wordsOf(query, isRegexEnabled);
  return words.every((word, index) => {
    const { kind, prefix } = word;
    if (kind !== 'value' || prefix?.kind !== 'pattern' || prefix.name !== 'repo') return true;
    const isNegated = textOfWord(query, words[index - 2] ?? { start: 0, end: 0 }) === '-';
    const value = textOfWord(query, word).replace(/^"(.*)"$/, '$1');
    return isNamed(value, repoName) !== isNegated;
  });
}

function tooLargeCount({ skipped = {} }: Repo): number {
  return skipped['too_large'] ?? 0;
}

/**
 * @param considered  files that the answer is about. Where those of the repositories are others in number, which ones were
 *     searched is not known, and nothing is said.
 */
function unsearchedOf(search: Search, repos: readonly Repo[], considered: number) {
  const meant = repos.filter((repo) => isMeant(search, repo));
  const docs = meant.reduce((sum, one) => sum + (one.docs ?? 0), 0);
  const count = meant.reduce((sum, one) => sum + tooLargeCount(one), 0);
  const [first] = meant.toSorted((a, b) => tooLargeCount(b) - tooLargeCount(a));
  if (docs !== considered || count === 0 || first === undefined) return undefined;
  return { count, repo: first.repoName } satisfies Unsearched;
}

/** @param search  what found nothing; undefined: nothing is to be said */
export function useUnsearched(
  search: Search | undefined,
  considered: number,
): { readonly unsearched: Unsearched | undefined; readonly isKnown: boolean } {
  const { data, isPending } = useQuery({
    queryKey: ['repos', 'skipped'],
    queryFn: ({ signal }) =>
      callPage<typeof listRepos>('/api/repos', { query: { perPage: REPOS_MAX }, signal }),
    enabled: search !== undefined,
    retry: false,
  });
  const unsearched =
    search === undefined || data === undefined
      ? undefined
      : unsearchedOf(search, data.items, considered);
  return { unsearched, isKnown: search === undefined || !isPending };
}
