// Decides which repo a repository is that a host lists. Its id at the host says it, whatever it is called now: a repo that was
// renamed or moved to another owner keeps its id, and with it grants, rules and clone; what has come to an old name is another
// repo. One that was removed gets its id back if its host has it again within a month. Names follow the host: who has the path
// now has the name.

import { isDeepStrictEqual } from 'node:util';
import type { StoredConnection, StoredLink } from '../../store/connections.ts';
import type { HostFacts, RepoBook, RepoDecision, StoredRepo } from '../../store/repos.ts';
import type { HostRepo } from '../../hosts/host.ts';
import type { CodeHostType } from '../../repos/records.ts';
import { freeRepoName } from '../../repos/repo-name.ts';
import { LinkBook } from './link-book.ts';
import { underRules } from './rules.ts';
import { newsOf } from './whose-fetch.ts';

/** Repositories that a listing came upon, each once, and where. */
export interface Listed {
  readonly connectionId: number;
  /** Number of the listing. */
  readonly listing: number;
  /** What names of its repositories begin with. */
  readonly nameHost: string;
  readonly codeHostType: CodeHostType;
  readonly repos: readonly HostRepo[];
  /** By the ids of the host, the targets that brought them. */
  readonly targets: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Guess: of one repo; one that more have brought is kept as long as any target of its connection cannot be listed. */
const TARGETS_MAX = 100;

/** What is to be kept of them. */
export interface Admitted {
  /** In the order of `repos`; those that stay as they were among them. */
  readonly repos: readonly StoredRepo[];
  /** RepoIds of those of which more than the number of the listing changed, and of new ones. */
  readonly changedIds: ReadonlySet<number>;
  /** Of those whose git may have something new. */
  readonly dueIds: ReadonlySet<number>;
  /** The targets that brought them are known to have done so. */
  readonly areTargetsSame: boolean;
}

/** No connection of this id: it went meanwhile, and nothing is kept. */
export function admitListed(book: RepoBook, listed: Listed): RepoDecision<Admitted> {
  const links = new LinkBook(book);
  const connection = links.connections.get(listed.connectionId);
  if (connection === undefined) return { changed: [], result: NOTHING };
  const known = knownAt(book, connection.address);
  const removed = removedAt(book, connection.address);
  let nextRepoId = book.nextRepoId;
  const seen = listed.repos.map((hostRepo) => {
    const before = known.get(hostRepo.hostId);
    const repoId = before?.repoId ?? removed.get(hostRepo.hostId) ?? nextRepoId++;
    const linked = links
      .linksOf(repoId)
      .find((one) => one.connectionId === listed.connectionId && one.missingSince === null);
    const link = linkOf(listed, repoId, hostRepo, linked);
    const isLinked = linked !== undefined;
    const isSame = isLinked && isDeepStrictEqual(linked.targets, link.targets);
    links.put(link);
    const repo = described(before, repoId, hostRepo, listed, connection);
    return { link, isLinked, isSame, repo };
  });
  const wanting = seen.map(({ repo }) => repo);
  const areNamed = listed.repos.some(({ name }) => name !== undefined);
  const named = areNamed
    ? withOwnNames(book, wanting)
    : withNames(book, wanting, listed, connection);
  const repos = named.map((repo) => underRules(repo, links.rulesOf(repo.repoId)));
  const changed = repos.filter((repo) => !isDeepStrictEqual(links.repo(repo.repoId), repo));
  const changedIds = new Set(changed.map(({ repoId }) => repoId));
  for (const { link, isLinked } of seen) if (!isLinked) changedIds.add(link.repoId);
  const own = repos.slice(0, seen.length);
  const due = seen.filter(
    ({ link, isLinked }, index) => !isLinked || hasNews(links.repo(link.repoId), own[index]!),
  );
  const dueIds = new Set(due.map(({ link }) => link.repoId));
  return {
    changed,
    links: seen.map(({ link }) => link),
    result: { repos: own, changedIds, dueIds, areTargetsSame: seen.every(({ isSame }) => isSame) },
  };
}

const NOTHING: Admitted = {
  repos: [],
  changedIds: new Set(),
  dueIds: new Set(),
  areTargetsSame: true,
};

/** Whether there may be something to fetch of a repo, or other revisions or files of it are wanted. */
function hasNews(before: StoredRepo | undefined, now: StoredRepo): boolean {
  const [was, is] = [before?.host?.facts, now.host?.facts];
  return (
    (was && newsOf(was)) !== (is && newsOf(is)) ||
    !isDeepStrictEqual(was?.source, is?.source) ||
    !isDeepStrictEqual(before?.selection, now.selection)
  );
}

function knownAt({ repos }: RepoBook, address: string): Map<string, StoredRepo> {
  return new Map(
    repos.flatMap((repo) =>
      repo.host?.address === address ? [[repo.host.hostId, repo] as const] : [],
    ),
  );
}

/** Ids of the repos of an address that were removed, by the ids that it gave them. */
export function removedAt({ removed }: RepoBook, address: string): ReadonlyMap<string, number> {
  return new Map(
    removed.flatMap((repo) =>
      repo.address === address ? [[repo.hostId, repo.repoId] as const] : [],
    ),
  );
}

/**
 * Targets that brought it in earlier listings stay with it: which of them has it no more, the end of the listing tells.
 *
 * @param linked  the link as it was; undefined: the connection did not have it
 */
function linkOf(
  { connectionId, listing, targets }: Listed,
  repoId: number,
  { hostId }: HostRepo,
  linked: StoredLink | undefined,
): StoredLink {
  const all = [...new Set([...(linked?.targets ?? []), ...(targets.get(hostId) ?? [])])];
  const link = { connectionId, repoId, listing, missingSince: null };
  return all.length > TARGETS_MAX ? link : { ...link, targets: all.sort() };
}

/** A repo as its host describes it, under the name that it had. */
function described(
  before: StoredRepo | undefined,
  repoId: number,
  repo: HostRepo,
  { codeHostType }: Listed,
  { address }: StoredConnection,
): StoredRepo {
  const known = before ?? { repoId, name: '', enforcement: 'none' };
  const { hostId } = repo;
  const visibility = visibilityOf(repo, before);
  const facts = factsOf(codeHostType, repo);
  const was = before?.host?.facts.source;
  // Why: where its git is gone, files that git ignored are not to be searched. Its job says so.
  const isLost = facts.source?.kind === 'folder' && was !== undefined && was.kind !== 'folder';
  const host = { address, hostId, facts: isLost ? { ...facts, source: was } : facts };
  return { ...known, visibility, host };
}

/** What may be public stays so if it was; else only those who sign in see it. */
function visibilityOf(
  { visibility }: HostRepo,
  before: StoredRepo | undefined,
): StoredRepo['visibility'] {
  if (visibility !== 'maybe-public') return visibility;
  return before?.visibility === 'public' ? 'public' : 'internal';
}

/** What is kept of what a host says; its id and who may see it are kept in columns of their own. */
function factsOf(codeHostType: CodeHostType, repo: HostRepo): HostFacts {
  const { hostId: _id, visibility: _sight, size: _size, defaultBranch: _branch, ...facts } = repo;
  return { codeHostType, ...facts, topics: [...repo.topics] };
}

/** The name that a path gives; no control characters in it. */
export function nameOf(nameHost: string, path: string): string {
  return `${nameHost}/${path}`.replace(/\p{Cc}/gu, '');
}

/**
 * The repos with the names that their paths give, and behind them others of the host that have lost theirs by that: what the
 * host said of those is older. Where something else has the name, a source of this machine or another host's repo, it is given
 * a number.
 */
function withNames(
  { repos: all }: RepoBook,
  repos: readonly StoredRepo[],
  { nameHost }: Listed,
  { address }: StoredConnection,
): StoredRepo[] {
  const own = new Set(repos.map(({ repoId }) => repoId));
  const others = all.filter(({ repoId }) => !own.has(repoId));
  const isOfHost = ({ host }: StoredRepo): boolean => host?.address === address;
  const fixed = new Set(others.filter((repo) => !isOfHost(repo)).map(({ name }) => name));
  // Where a host names one path twice, what it said last is newer.
  const wanted = new Map(
    repos.map(({ host, repoId }) => [nameOf(nameHost, host!.facts.path), repoId]),
  );
  const names = new Map<number, string>();
  for (const [name, repoId] of wanted) if (!fixed.has(name)) names.set(repoId, name);
  const taken = new Set([...fixed, ...names.values()]);
  const displaced = others.filter((repo) => isOfHost(repo) && taken.has(repo.name));
  for (const { name } of others) taken.add(name);
  const unnamed = [...repos.filter(({ repoId }) => !names.has(repoId)), ...displaced];
  for (const { repoId, name, host } of unnamed) {
    const numbered = keptOrFree(name, nameOf(nameHost, host!.facts.path), taken);
    taken.add(numbered);
    names.set(repoId, numbered);
  }
  return [...repos, ...displaced].map((repo) => ({ ...repo, name: names.get(repo.repoId)! }));
}

/** The repos with the names that were given to them, or numbers behind these: who has one keeps it. */
function withOwnNames({ repos: all }: RepoBook, repos: readonly StoredRepo[]): StoredRepo[] {
  const taken = new Set(all.map(({ name }) => name));
  return repos.map((repo) => {
    const wanted = repo.host!.facts.name!.replace(/\p{Cc}/gu, '');
    if (repo.name === wanted || isNumbered(repo.name, wanted)) return repo;
    const name = freeRepoName(wanted, taken);
    taken.add(name);
    return { ...repo, name };
  });
}

/** A name with a number: that which the repo has already, or the first that is free. */
function keptOrFree(before: string, wanted: string, taken: ReadonlySet<string>): string {
  const isKept = isNumbered(before, wanted) && !taken.has(before);
  return isKept ? before : freeRepoName(wanted, taken);
}

function isNumbered(name: string, wanted: string): boolean {
  return name.startsWith(`${wanted}-`) && /^\d+$/.test(name.slice(wanted.length + 1));
}
