// The start page: the query box, example queries from the index, recent searches, and the state of the index.

import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { listRepos } from '../../api/sources/repo-endpoints.ts';
import { callPage } from '../data/api.ts';
import { type RecentQuery, tracesOf, useRemembered } from '../data/remembered.ts';
import { useAccount } from '../data/session.ts';
import { useRepoCounts } from '../jobs/index-health.ts';
import { visibleName } from '../parts/hidden-characters.ts';
import { Notice } from '../parts/notice.tsx';
import { useTitle } from '../parts/title.ts';
import { Name, VisibleText } from '../parts/visible-text.tsx';
import { MATCHES_DEFAULT, parametersOf } from './address.ts';
import { writtenValue } from './completion.ts';
import { QueryBox } from './query-box.tsx';
import { suggestionsQuery } from './suggesting.ts';
import { count, counted } from '../parts/number-format.ts';

/** A query to follow; both switches are off by default. */
interface QueryRow extends Partial<RecentQuery> {
  readonly query: string;
  readonly what?: string;
}

function addressOf({
  query,
  isRegexEnabled = false,
  isCaseSensitivityEnabled = false,
}: QueryRow): string {
  const switches = { isRegexEnabled, isCaseSensitivityEnabled };
  const search = { query, matches: MATCHES_DEFAULT, contextLines: 0, ...switches };
  return `/search?${parametersOf(search, new URLSearchParams()).toString()}`;
}

const RECENT_MAX = 5;

function QueryList({
  title,
  rows,
}: {
  readonly title: string;
  readonly rows: readonly QueryRow[];
}) {
  if (rows.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul className="plain-list">
        {rows.map((row) => (
          <li key={row.query}>
            <Link href={addressOf(row)} className="query-link" title={visibleName(row.query)}>
              <code>
                <VisibleText text={row.query} />
              </code>
              <span className="faint">{row.what}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

const REPOS_MAX = 3;

/** Repositories of recently viewed files. */
function RecentRepos() {
  const { files } = useRemembered(tracesOf);
  const repos = [...new Set(files.map(({ repo }) => repo))].slice(0, REPOS_MAX);
  if (repos.length === 0) return null;
  return (
    <section>
      <h2>Recently viewed</h2>
      <ul className="plain-list">
        {repos.map((repo) => (
          <li key={repo}>
            <Link
              href={`/browse/${repo.split('/').map(encodeURIComponent).join('/')}/-/tree/`}
              className="query-link"
            >
              <Name>{repo}</Name>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The number of repositories, and the progress of their first indexing. */
function IndexLine({ isOwner }: { readonly isOwner: boolean }) {
  const { data, error } = useQuery({
    queryKey: ['repos', 'count'],
    queryFn: ({ signal }) =>
      callPage<typeof listRepos>('/api/repos', { query: { perPage: 1 }, signal }),
  });
  const due = useRepoCounts(isOwner).data?.firstTimeIndexingCount ?? 0;
  if (error !== null) return <p className="start-line faint">{error.message}</p>;
  if (data?.total === undefined) return <p className="start-line">&nbsp;</p>;
  if (data.total === 0)
    return (
      <p className="start-line faint">
        Nothing is indexed yet. Start Trawl with a folder, or add a connection.
      </p>
    );
  const repositories = counted(data.total, 'repository', 'repositories');
  return (
    <p className="start-line faint" role="status">
      {due === 0 ? (
        <>
          <Link href="/repos">{repositories}</Link> to search.
        </>
      ) : (
        <>
          Indexing {count(due)} of <Link href="/repos">{repositories}</Link> for the first time. You
          can search what is ready.
        </>
      )}
    </p>
  );
}

/** Number of suggested names among which to find a good example. */
const NAME_CHOICES = 50;

/** A single word rather than a heading; a very short one may be anything. */
function tellingName(names: readonly string[]): string | undefined {
  return names.find((name) => /^\w{5,}$/.test(name)) ?? names[0];
}

/** Prefers a path without hidden folders, such as those of tools. */
function tellingPath(paths: readonly string[]): string | undefined {
  return paths.find((path) => !/(?:^|\/)\./.test(path)) ?? paths[0];
}

/** ms between polls while there are no suggestions: nothing is indexed, or the daemon was busy. */
const POLL_MS = 2000;

/** Example queries from this index: a definition, its name as a word, and a file. */
function useExamples(): readonly QueryRow[] {
  const [symbols, files] = useQueries({
    queries: (['sym', 'file'] as const).map((kind) => ({
      ...suggestionsQuery(kind, '', undefined, NAME_CHOICES),
      refetchInterval: (query: {
        readonly state: { readonly data: readonly unknown[] | undefined };
      }) => query.state.data?.length === 0 && POLL_MS,
    })),
  });
  const symbol = tellingName(symbols?.data?.map(({ value }) => value) ?? []);
  const file = tellingPath(files?.data?.map(({ value }) => value) ?? []);
  const examples: QueryRow[] = [];
  if (symbol !== undefined)
    examples.push(
      { query: `sym:${writtenValue('sym', symbol)}`, what: 'a definition by name' },
      {
        query: /^\w+$/.test(symbol) ? symbol : JSON.stringify(symbol),
        what: 'a word, in every file',
      },
    );
  if (file !== undefined)
    examples.push({ query: `file:${writtenValue('file', file)}`, what: 'a file by path' });
  return examples;
}

/** Fixed examples for users who may not search, and so may not see names from the index. */
const FORMS: readonly QueryRow[] = [
  { query: 'parse config', what: 'both words, in any order' },
  { query: '"not found" lang:go', what: 'the exact phrase, in Go' },
  { query: 'sym:^main$', what: 'a definition by name' },
  { query: 'TODO -file:test', what: 'not in test files' },
];

/** For users who may search. */
function GettingStarted({ isOwner }: { readonly isOwner: boolean }) {
  const recent = useRemembered(tracesOf).queries.slice(0, RECENT_MAX);
  const examples = useExamples();
  return (
    <>
      <IndexLine isOwner={isOwner} />
      <div className="start-lists">
        <QueryList title="Try" rows={examples} />
        <QueryList title="Recent searches" rows={recent} />
        <RecentRepos />
      </div>
    </>
  );
}

export function StartPage() {
  useTitle('');
  const { data: account, error } = useAccount();
  const mayNot = account?.source === 'none' && !account.anonymousAccess;
  return (
    <div className="start">
      <h1 className="start-name">Trawl</h1>
      <QueryBox isLarge />
      {account === undefined && error !== null && <Notice kind="danger" title={error.message} />}
      {mayNot && (
        <>
          <p className="start-line">
            <Link href="/login">Sign in</Link> to search.
          </p>
          <QueryList title="Example queries" rows={FORMS} />
        </>
      )}
      {account !== undefined && !mayNot && (
        <GettingStarted isOwner={account.user?.role === 'OWNER'} />
      )}
    </div>
  );
}
