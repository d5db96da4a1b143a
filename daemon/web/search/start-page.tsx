// The start page: the query box, example queries from the index, recent searches, and the state of the index.

import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { listRepos } from '../../api/sources/repo-endpoints.ts';
import { callPage } from '../data/api.ts';
import { tracesOf, useRemembered } from '../data/remembered.ts';
import { useAccount } from '../data/session.ts';
import { useRepoCounts } from '../jobs/index-health.ts';
import { visibleName } from '../parts/hidden-characters.ts';
import { useTitle } from '../parts/title.ts';
import { Name, VisibleText } from '../parts/visible-text.tsx';
import { MATCHES_DEFAULT, parametersOf } from './address.ts';
import { writtenValue } from './completion.ts';
import { QueryBox } from './query-box.tsx';
import { suggestionsQuery } from './suggesting.ts';
import { count, counted } from '../parts/number-format.ts';

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

const RECENT_MAX = 5;

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
            <Link href={addressOf(query)} className="query-link" title={visibleName(query)}>
              <code>
                <VisibleText text={query} />
              </code>
              <span className="faint">{what}</span>
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

type Example = readonly [query: string, what: string];

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
function useExamples(): readonly Example[] {
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
  const examples: Example[] = [];
  if (symbol !== undefined)
    examples.push(
      [`sym:${writtenValue('sym', symbol)}`, 'a definition by name'],
      [/^\w+$/.test(symbol) ? symbol : JSON.stringify(symbol), 'a word, in every file'],
    );
  if (file !== undefined) examples.push([`file:${writtenValue('file', file)}`, 'a file by path']);
  return examples;
}

/** Fixed examples for users who may not search, and so may not see names from the index. */
const FORMS: readonly Example[] = [
  ['parse config', 'both words, in any order'],
  ['"not found" lang:go', 'the exact phrase, in Go'],
  ['sym:^main$', 'a definition by name'],
  ['TODO -file:test', 'not in test files'],
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
        <QueryList title="Recent searches" rows={recent.map((query) => [query, ''] as const)} />
        <RecentRepos />
      </div>
    </>
  );
}

export function StartPage() {
  useTitle('');
  const { data: account } = useAccount();
  const mayNot = account?.source === 'none' && !account.anonymousAccess;
  return (
    <div className="start">
      <h1 className="start-name">Trawl</h1>
      <QueryBox isLarge />
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
