// The first page: the box, queries made of what is indexed, what was asked before, and how far the index is.

import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { listRepos } from '../../http/api/sources/repo-endpoints.ts';
import { callPage } from '../data/api.ts';
import { BASE_PATH } from '../data/place.ts';
import { useRemembered } from '../data/remembered.ts';
import { useAccount } from '../data/session.ts';
import { useTitle } from '../parts/title.ts';
import { MATCHES_DEFAULT, parametersOf } from './address.ts';
import { QueryBox } from './query-box.tsx';
import { counted } from '../parts/words.ts';

function addressOf(query: string): string {
  const search = {
    query,
    matches: MATCHES_DEFAULT,
    contextLines: 0,
    isRegexEnabled: false,
    isCaseSensitivityEnabled: false,
  };
  return `/search?${parametersOf(search, new URLSearchParams()).toString()}`;
}

const EXAMPLES: readonly (readonly [query: string, what: string])[] = [
  ['TODO', 'a word, in every file'],
  ['sym:main', 'a definition by its name'],
  ['file:README "how to"', 'text in files of a name'],
];

const RECENT_SHOWN = 5;

function QueryList({
  title,
  rows,
}: {
  readonly title: string;
  readonly rows: readonly (readonly [string, string])[];
}) {
  if (rows.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul className="plain-list">
        {rows.map(([query, what]) => (
          <li key={query}>
            <Link href={addressOf(query)} className="query-link">
              <code>{query}</code>
              <span className="faint">{what}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** How many repositories there are to search. */
function IndexLine() {
  const { data, error } = useQuery({
    queryKey: ['repos', 'count'],
    queryFn: ({ signal }) =>
      callPage<typeof listRepos>('/api/repos', { base: BASE_PATH, query: { perPage: 1 }, signal }),
  });
  if (error !== null) return <p className="faint">{error.message}</p>;
  if (data?.total === undefined) return <p className="faint">&nbsp;</p>;
  if (data.total === 0)
    return (
      <p className="faint">
        Nothing is indexed yet. Start Trawl with a folder, or add a connection.
      </p>
    );
  return (
    <p className="faint">
      <Link href="/repos">{counted(data.total, 'repository', 'repositories')}</Link> to search.
    </p>
  );
}

export function StartPage() {
  useTitle('');
  const recent = useRemembered((state) => state.queries).slice(0, RECENT_SHOWN);
  const { data: account } = useAccount();
  return (
    <div className="start">
      <h1 className="start-name">Trawl</h1>
      <QueryBox isLarge />
      <IndexLine />
      {account?.source === 'none' && !account.anonymousAccess && (
        <p>
          <Link href="/login">Sign in</Link> to search.
        </p>
      )}
      <div className="start-lists">
        <QueryList title="Try" rows={EXAMPLES} />
        <QueryList title="Asked before" rows={recent.map((query) => [query, ''] as const)} />
      </div>
    </div>
  );
}
