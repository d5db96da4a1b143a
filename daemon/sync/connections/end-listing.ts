// What follows from a listing that came to its end: what it did not have is missing from then on, unless it says less than the
// host has. From a listing with gaps nothing is taken for gone, nor from one that is empty where the one before was not; and
// since pages shift while they are read, what is missing has to be missing in two listings, one after the other.

import type { StoredLink } from '../../accounts/store/connections.ts';
import type { RepoBook, RepoDecision, StoredRepo } from '../../accounts/store/repos.ts';
import { LinkBook } from './link-book.ts';

export interface EndedListing {
  readonly connectionId: number;
  /** Number of the listing. */
  readonly listing: number;
  /** Nothing that was asked for is unknown. */
  readonly isWhole: boolean;
  /** The listing before, with this number, missed something too; undefined: none did. */
  readonly secondOf: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type ListingEnd =
  | { readonly kind: 'done'; readonly missing: readonly StoredRepo[] }
  /** The listing is to be made again. */
  | { readonly kind: 'again' }
  /** It was empty. @property count  repos that the connection had before */
  | { readonly kind: 'empty'; readonly count: number };

export function endListing(book: RepoBook, ended: EndedListing): RepoDecision<ListingEnd> {
  const links = new LinkBook(book);
  const connection = links.connections.get(ended.connectionId);
  if (connection === undefined) return { changed: [], result: { kind: 'done', missing: [] } };
  const { isWhole, now, secondOf } = ended;
  const noted = (wholeAt: number | null, result: ListingEnd): RepoDecision<ListingEnd> => ({
    changed: [],
    connections: [{ ...connection, syncedAt: now, wholeAt }],
    result,
  });
  if (!isWhole) return noted(connection.wholeAt, { kind: 'done', missing: [] });
  const present = links
    .linksOfConnection(connection.connectionId)
    .filter(({ missingSince }) => missingSince === null);
  const missed = present.filter(({ listing }) => listing < ended.listing);
  if (missed.length === present.length && present.length > 0)
    return noted(connection.wholeAt, { kind: 'empty', count: present.length });
  if (missed.length > 0 && secondOf === undefined)
    return { changed: [], result: { kind: 'again' } };
  const missing = missed.filter(({ listing }) => listing < (secondOf ?? ended.listing));
  for (const link of missing) links.put({ ...link, missingSince: now });
  const gone = missing.flatMap(({ repoId }) => withoutHost(links, repoId));
  return {
    ...noted(now, { kind: 'done', missing: gone }),
    changed: gone,
    removedConnections: links.spentConnections,
    links: missing.map((link): StoredLink => ({ ...link, missingSince: now })),
  };
}

/** A repo that no connection has any more. Who may see it nobody says then; one that stays is archived. */
export function withoutHost(links: LinkBook, repoId: number): StoredRepo[] {
  const repo = links.repo(repoId);
  if (repo?.host === undefined || !links.isMissing(repoId)) return [];
  const { host } = repo;
  const facts = { ...host.facts, isArchived: links.isKept(repoId) || host.facts.isArchived };
  return [{ ...repo, visibility: 'unknown', host: { ...host, facts } }];
}
