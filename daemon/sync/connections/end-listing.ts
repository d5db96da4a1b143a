// Ends a complete listing: repos that it lacks are missing from now on, unless one of their targets could not be read
// fully. Nothing counts as gone from a target with gaps, or from one that is empty and was not before. Pages shift
// while they are read, so a repo must be missing in two listings in a row.

import type { StoredLink } from '../../store/connections.ts';
import type { StoredRepos, RepoDecision, StoredRepo } from '../../store/repos.ts';
import { LinkIndex } from './link-index.ts';
import {
  inBoth,
  retainingTarget,
  SOLE_TARGET,
  stateOf,
  type TargetStates,
} from './target-states.ts';

export interface EndedListing {
  readonly connectionId: number;
  readonly listing: number;
  readonly targets: TargetStates;
  /** The targets that listed each host id. */
  readonly found: ReadonlyMap<string, ReadonlySet<string>>;
  /** The previous listing, which also missed something; absent: nothing was missing. */
  readonly before?: Pick<EndedListing, 'listing' | 'targets'>;
  readonly now: number;
}

/** A connection or target that lists nothing now and had repositories before; they stay. */
export interface Emptied {
  /** Undefined: the whole connection. */
  readonly target: string | undefined;
  readonly count: number;
}

export interface ListingEnd {
  readonly missing: readonly StoredRepo[];
  readonly emptied: readonly Emptied[];
}

/** The result is undefined if the connection must be listed again. */
export function endListing(
  stored: StoredRepos,
  ended: EndedListing,
): RepoDecision<ListingEnd | undefined> {
  const links = new LinkIndex(stored);
  const connection = links.connections.get(ended.connectionId);
  if (connection === undefined) return { changed: [], result: { missing: [], emptied: [] } };
  const { now, before } = ended;
  const states = before === undefined ? ended.targets : inBoth(ended.targets, before.targets);
  const present = links
    .linksOfConnection(connection.connectionId)
    .filter(({ missingSince }) => missingSince === null);
  const { gone, emptied } = splitMissing(present, ended.listing, states);
  if (gone.length > 0 && before === undefined) return { changed: [], result: undefined };
  const missing = gone.filter(({ listing }) => listing < (before ?? ended).listing);
  for (const link of missing) links.put({ ...link, missingSince: now });
  const repos = missing.flatMap(({ repoId }) => withoutHost(links, repoId));
  const left = present.flatMap((link) => withoutLeft(link, links, ended));
  // A refusal is permanent; an open target may hold repos that other connections have lost.
  const isSettled = emptied.length === 0 && !Object.values(ended.targets).includes('open');
  return {
    changed: repos,
    connections: [{ ...connection, syncedAt: now, wholeAt: isSettled ? now : connection.wholeAt }],
    removedConnections: links.spentConnections,
    links: [...left, ...missing.map((link): StoredLink => ({ ...link, missingSince: now }))],
    result: { missing: repos, emptied },
  };
}

/** The link of a listed repo, if it has targets that were read and no longer list it: the repo has moved. */
function withoutLeft(
  link: StoredLink,
  links: LinkIndex,
  { found, targets: states }: EndedListing,
): StoredLink[] {
  const listing = found.get(links.repo(link.repoId)?.host?.hostId ?? '');
  if (listing === undefined || link.targets === undefined) return [];
  const isUnread = (name: string): boolean => {
    const state = stateOf(name, states);
    return state === 'open' || state === 'refused';
  };
  const targets = link.targets.filter((name) => listing.has(name) || isUnread(name));
  return targets.length === link.targets.length ? [] : [{ ...link, targets }];
}

function splitMissing(
  present: readonly StoredLink[],
  listing: number,
  states: TargetStates,
): { readonly gone: readonly StoredLink[]; readonly emptied: readonly Emptied[] } {
  const missed = present.filter((link) => link.listing < listing);
  const gone = missed.filter((link) => retainingTarget(link, states) === undefined);
  // If all are missing, none counts as gone: a credential without rights sees no repository.
  if (gone.length > 0 && missed.length === present.length)
    return { gone: [], emptied: [{ target: undefined, count: missed.length }] };
  const counts = new Map<string, number>();
  for (const link of missed) {
    const retaining = retainingTarget(link, states);
    if (retaining === undefined || stateOf(retaining, states) !== 'empty') continue;
    counts.set(retaining, (counts.get(retaining) ?? 0) + 1);
  }
  const emptied = [...counts].map(([name, count]) => ({
    target: name === SOLE_TARGET ? undefined : name,
    count,
  }));
  return { gone, emptied };
}

/** A repo that no connection lists has unknown visibility; a kept one is archived; a named one is a source again. */
export function withoutHost(links: LinkIndex, repoId: number): StoredRepo[] {
  const repo = links.repo(repoId);
  if (repo?.host === undefined || !links.isMissing(repoId)) return [];
  const { host, ...fields } = repo;
  if (repo.location !== undefined) return [{ ...fields, visibility: 'unknown' }];
  const facts = { ...host.facts, isArchived: links.isKept(repoId) || host.facts.isArchived };
  return [{ ...repo, visibility: 'unknown', host: { ...host, facts } }];
}
