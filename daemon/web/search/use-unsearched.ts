// Asks which files no search finds by their content (unsearched.ts), where nothing was found.

import { useQuery } from '@tanstack/react-query';
import type { listRepos } from '../../http/api/sources/repo-endpoints.ts';
import { callPage } from '../data/api.ts';
import type { Search } from './messages.ts';
import { partOfNames, UNKNOWN, unsearchedOf } from './unsearched.ts';
import type { Known } from './unsearched.ts';

/** More repositories are not looked at. */
const REPOS_MAX = 100;

/** @param search  what found nothing; undefined: nothing is to be said */
export function useUnsearched(search: Search | undefined, considered: number): Known {
  const query = search === undefined ? '' : partOfNames(search);
  const { data } = useQuery({
    queryKey: ['repos', 'skipped', query],
    queryFn: ({ signal }) =>
      callPage<typeof listRepos>('/api/repos', { query: { perPage: REPOS_MAX, query }, signal }),
    enabled: search !== undefined,
    retry: false,
  });
  return search === undefined || data === undefined
    ? UNKNOWN
    : unsearchedOf(search, data, considered);
}
