// Maps listed repositories to repos by their id at the host, whatever their name: a renamed or moved repo keeps its id,
// and with it grants, permissions and mirror; a repository that takes an old name is another repo. A removed repo gets
// its id back if its host lists it again within a month. Names follow the host: the repo at a path has its name.

import { isDeepStrictEqual } from 'node:util';
import type { StoredConnection, StoredLink } from '../../store/connections.ts';
import type { HostFacts, StoredRepos, RepoDecision, StoredRepo } from '../../store/repos.ts';
import type { HostRepo } from '../../hosts/host.ts';
import type { CodeHostType, RepoSource } from '../../repos/records.ts';
import { freeRepoName } from '../../repos/repo-name.ts';
import { LinkIndex } from './link-index.ts';
import { underRules } from './rules.ts';
import { pushMarkOf } from './confirm-fetch.ts';

/** What a listing of a connection returned: each repository once, with the targets that listed it. */
export interface Listed {
  readonly connectionId: number;
  readonly listing: number;
  /** Prefix of their repo names. */
  readonly nameHost: string;
  readonly codeHostType: CodeHostType;
  readonly repos: readonly HostRepo[];
  /** The targets that listed each host id, in this part or before. */
  readonly targets: ReadonlyMap<string, ReadonlySet<string>>;
  /** Whether another connection comes first in the configuration: its mode, ignore and name apply to a source of both. */
  readonly comesFirst: (connectionId: number) => boolean;
}

/** Targets stored per repo; a repo with more is kept while any target of its connection cannot be listed. Bound: rows. */
const TARGETS_MAX = 100;

export interface Admitted {
  /** In the order of `repos`, unchanged ones included. */
  readonly repos: readonly StoredRepo[];
  /** RepoIds of new repos, and of those where more than the listing number changed. */
  readonly changedIds: ReadonlySet<number>;
  /** RepoIds that need a job: their host may have new commits, or their selected revisions or files changed. */
  readonly dueIds: ReadonlySet<number>;
  /** The store already has the targets that listed each repo. */
  readonly areTargetsSame: boolean;
}

/** The connection was removed meanwhile: nothing is stored. */
export function admitListed(stored: StoredRepos, listed: Listed): RepoDecision<Admitted> {
  const links = new LinkIndex(stored);
  const connection = links.connections.get(listed.connectionId);
  if (connection === undefined) return { changed: [], result: NOTHING };
  const existing = reposByIdAt(stored, connection.address);
  const byName = reposByName(stored);
  const removed = removedAt(stored, connection.address);
  let nextRepoId = stored.nextRepoId;
  const listedRepos = listed.repos.map((hostRepo) => {
    const before = existing.get(hostRepo.hostId) ?? byName.get(hostRepo.fileId ?? '');
    const repoId = before?.repoId ?? removed.get(hostRepo.hostId) ?? nextRepoId++;
    const present = links.linksOf(repoId).filter(({ missingSince }) => missingSince === null);
    const linked = present.find((one) => one.connectionId === listed.connectionId);
    const link = linkOf(listed, repoId, hostRepo, linked);
    const isLinked = linked !== undefined;
    const isSame = isLinked && isDeepStrictEqual(linked.targets, link.targets);
    links.put(link);
    const isOther = present.some((one) => listed.comesFirst(one.connectionId));
    const under = isOther ? withSettingsOf(before, hostRepo) : hostRepo;
    const repo = described(before, repoId, under, listed, connection);
    return { link, isLinked, isSame, repo };
  });
  const wanting = listedRepos.map(({ repo }) => repo);
  const haveNames = listed.repos.some(({ name }) => name !== undefined);
  const withName = haveNames
    ? withOwnNames(stored, wanting)
    : withNames(stored, wanting, listed, connection);
  const repos = withName.map((repo) => underRules(repo, links.rulesOf(repo.repoId)));
  const changed = repos.filter((repo) => !isDeepStrictEqual(links.repo(repo.repoId), repo));
  const changedIds = new Set(changed.map(({ repoId }) => repoId));
  for (const { link, isLinked } of listedRepos) if (!isLinked) changedIds.add(link.repoId);
  const own = repos.slice(0, listedRepos.length);
  const due = listedRepos.filter(
    ({ link, isLinked }, index) => !isLinked || hasChanged(links.repo(link.repoId), own[index]!),
  );
  const dueIds = new Set(due.map(({ link }) => link.repoId));
  return {
    changed,
    links: listedRepos.map(({ link }) => link),
    result: {
      repos: own,
      changedIds,
      dueIds,
      areTargetsSame: listedRepos.every(({ isSame }) => isSame),
    },
  };
}

const NOTHING: Admitted = {
  repos: [],
  changedIds: new Set(),
  dueIds: new Set(),
  areTargetsSame: true,
};

/** Whether a repo is one of `dueIds`. */
function hasChanged(before: StoredRepo | undefined, now: StoredRepo): boolean {
  const [was, is] = [before?.host?.facts, now.host?.facts];
  return (
    (was && pushMarkOf(was)) !== (is && pushMarkOf(is)) ||
    !isDeepStrictEqual(was?.source, is?.source) ||
    !isDeepStrictEqual(before?.selection, now.selection)
  );
}

function reposByIdAt({ repos }: StoredRepos, address: string): Map<string, StoredRepo> {
  return new Map(
    repos.flatMap((repo) =>
      repo.host?.address === address ? [[repo.host.hostId, repo] as const] : [],
    ),
  );
}

/** Named sources, by the identity of their folder: a connection that lists one takes over its id and grants. */
function reposByName({ repos }: StoredRepos): Map<string, StoredRepo> {
  return new Map(
    repos.flatMap((repo) =>
      repo.host === undefined && repo.location?.fileId !== undefined
        ? [[repo.location.fileId, repo] as const]
        : [],
    ),
  );
}

export function removedAt({ removed }: StoredRepos, address: string): ReadonlyMap<string, number> {
  return new Map(
    removed.flatMap((repo) =>
      repo.address === address ? [[repo.hostId, repo.repoId] as const] : [],
    ),
  );
}

/** Targets of earlier listings stay until the end of the listing, which knows what was read (end-listing.ts). */
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

/** A listed source under the settings that its repo has already. */
function withSettingsOf(before: StoredRepo | undefined, listed: HostRepo): HostRepo {
  const { name, source } = before?.host?.facts ?? {};
  return name === undefined || source === undefined ? listed : { ...listed, name, source };
}

/** A repo as its host describes it, under its existing name. */
function described(
  before: StoredRepo | undefined,
  repoId: number,
  repo: HostRepo,
  { codeHostType }: Listed,
  { address }: StoredConnection,
): StoredRepo {
  const existing = before ?? { repoId, name: '', enforcement: 'none' };
  const { hostId } = repo;
  const visibility = visibilityOf(repo, before);
  const facts = factsOf(codeHostType, repo);
  const was = before && sourceOf(before);
  // Why: files that git ignored must not become searchable because the .git is missing. Its job reports that.
  const isLost = facts.source?.kind === 'folder' && was !== undefined && was.kind !== 'folder';
  const host = { address, hostId, facts: isLost ? { ...facts, source: was } : facts };
  return { ...existing, visibility, host };
}

function sourceOf({ host, location }: StoredRepo): RepoSource | undefined {
  return host?.facts.source ?? (location && { kind: location.kind, path: location.path });
}

/** "Maybe public" stays public if it was; else only signed-in users see it. */
function visibilityOf(
  { visibility }: HostRepo,
  before: StoredRepo | undefined,
): StoredRepo['visibility'] {
  if (visibility !== 'maybe-public') return visibility;
  return before?.visibility === 'public' ? 'public' : 'internal';
}

/** Host facts to store; the id and the visibility have their own columns. */
function factsOf(codeHostType: CodeHostType, repo: HostRepo): HostFacts {
  const { hostId: _id, visibility: _visibility, size: _size, fileId: _fileId, ...facts } = repo;
  return { codeHostType, ...facts, topics: [...repo.topics] };
}

/** The name for a path, without control characters. */
export function nameOf(nameHost: string, path: string): string {
  return `${nameHost}/${path}`.replace(/\p{Cc}/gu, '');
}

/** The name of each listed path, and new names of repos that had one of these; a name of another host or a source gets a number. */
function withNames(
  { repos: all }: StoredRepos,
  repos: readonly StoredRepo[],
  { nameHost }: Listed,
  { address }: StoredConnection,
): StoredRepo[] {
  const own = new Set(repos.map(({ repoId }) => repoId));
  const others = all.filter(({ repoId }) => !own.has(repoId));
  const isOfHost = ({ host }: StoredRepo): boolean => host?.address === address;
  const fixed = new Set(others.filter((repo) => !isOfHost(repo)).map(({ name }) => name));
  // If a host lists a path twice, the later entry is newer.
  const preferred = new Map(
    repos.map(({ host, repoId }) => [nameOf(nameHost, host!.facts.path), repoId]),
  );
  const names = new Map<number, string>();
  for (const [name, repoId] of preferred) if (!fixed.has(name)) names.set(repoId, name);
  const taken = new Set([...fixed, ...names.values()]);
  const displaced = others.filter((repo) => isOfHost(repo) && taken.has(repo.name));
  for (const { name } of others) taken.add(name);
  const unnamed = [...repos.filter(({ repoId }) => !names.has(repoId)), ...displaced];
  for (const { repoId, name, host } of unnamed) {
    const preferred = nameOf(nameHost, host!.facts.path);
    const isKept = isNumbered(name, preferred) && !taken.has(name);
    const numbered = isKept ? name : freeRepoName(preferred, taken);
    taken.add(numbered);
    names.set(repoId, numbered);
  }
  return [...repos, ...displaced].map((repo) => ({ ...repo, name: names.get(repo.repoId)! }));
}

/** The repos with the names given to them, numbered if taken: existing holders keep theirs. */
function withOwnNames({ repos: all }: StoredRepos, repos: readonly StoredRepo[]): StoredRepo[] {
  const taken = new Set(all.map(({ name }) => name));
  return repos.map((repo) => {
    const preferred = repo.host!.facts.name!.replace(/\p{Cc}/gu, '');
    if (repo.name === preferred || isNumbered(repo.name, preferred)) return repo;
    const name = freeRepoName(preferred, taken);
    taken.add(name);
    return { ...repo, name };
  });
}

function isNumbered(name: string, preferred: string): boolean {
  return name.startsWith(`${preferred}-`) && /^\d+$/.test(name.slice(preferred.length + 1));
}
