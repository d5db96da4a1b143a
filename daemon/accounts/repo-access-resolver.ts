// Which repos each user may access (API.md 4.7), cached until repos, licence, grants or the configuration change. A repo is
// open unless its permissions are enforced. Then owners have access, and users with a grant: of the store, of the
// configuration, or from its host's list of readers. Unless permissions are enforced for public repos too, a public repo is
// visible to all, and an internal one to members.

import type { RepoDirectory } from '../repos/directory.ts';
import type { RepoRecord } from '../repos/records.ts';
import { compactIds, type RepoIds } from '../repos/repo-id-set.ts';
import { narrowed, NO_REPOS, SEES_ALL, type RepoAccess } from '../repos/repo-access.ts';
import type { ConfiguredGrant } from './configured-grants.ts';
import type { Person } from './caller.ts';
import type { CountingLists } from './host-lists.ts';

export interface RepoAccessSources {
  readonly directory: RepoDirectory;
  /** A new array after each change. */
  readonly configuredGrants: () => readonly ConfiguredGrant[];
  /** Reader lists that count now; a new object after each change. */
  readonly countingLists: () => CountingLists;
  /** Whether the entitlement `permissions` is in force. Without it grants have no effect. */
  readonly hasGrants: () => boolean;
  /** False: changes may have been missed for so long that no repo is open any more. */
  readonly areRulesLoaded: () => boolean;
}

interface Directory {
  readonly repos: readonly RepoRecord[];
  readonly areRulesLoaded: boolean;
  readonly grants: readonly ConfiguredGrant[];
  /** Their visibility follows only from the repos around them. */
  readonly submodules: readonly RepoRecord[];
  /** Repos with enforced permissions; none: everybody sees everything. */
  readonly enforced: readonly RepoRecord[];
  readonly members: ReadonlySet<number>;
  readonly guests: ReadonlySet<number>;
  readonly configured: readonly ReadonlySet<number>[];
}

/** A user's grants in the store: a new object after a change of them or of the user. */
export interface Granted {
  readonly repoIds: RepoIds;
  /** Repos whose reader lists contain the user's address. */
  readonly hosted: readonly { readonly connection: string; readonly repoIds: RepoIds }[];
}

interface CachedRepoAccess {
  readonly directory: Directory;
  readonly hasGrants: boolean;
  /** Undefined: not relevant. */
  readonly lists: CountingLists | undefined;
  readonly repoAccess: RepoAccess;
}

export class RepoAccessResolver {
  readonly #sources: RepoAccessSources;
  readonly #kept = new WeakMap<Granted, CachedRepoAccess>();
  readonly #narrowed = new WeakMap<
    readonly number[],
    { readonly of: RepoAccess; readonly repoAccess: RepoAccess }
  >();
  #directory: Directory | undefined;
  #guest: CachedRepoAccess | undefined;

  constructor(sources: RepoAccessSources) {
    this.#sources = sources;
  }

  /** Whether anybody sees less than everything. */
  get isEnforced(): boolean {
    return this.#currentDirectory().enforced.length > 0;
  }

  /** Access of anonymous users, and of local users before there are accounts. */
  ofGuest(): RepoAccess {
    if (!this.isEnforced) return SEES_ALL;
    const directory = this.#currentDirectory();
    const hasGrants = this.#sources.hasGrants();
    if (this.#guest?.directory === directory && this.#guest.hasGrants === hasGrants)
      return this.#guest.repoAccess;
    const extra = hasGrants
      ? extraIds(this.#configuredFor(undefined, directory), directory.guests, directory)
      : NO_REPOS;
    const repoAccess = { base: directory.guests, extra };
    this.#guest = { directory, hasGrants, lists: undefined, repoAccess };
    return repoAccess;
  }

  ofPerson(person: Person, granted: Granted): RepoAccess {
    if (person.role === 'OWNER' || !this.isEnforced) return SEES_ALL;
    const directory = this.#currentDirectory();
    const hasGrants = this.#sources.hasGrants();
    const lists = granted.hosted.length > 0 ? this.#sources.countingLists() : undefined;
    const kept = this.#kept.get(granted);
    if (kept?.directory === directory && kept.hasGrants === hasGrants && kept.lists === lists)
      return kept.repoAccess;
    const extra = hasGrants ? this.#extraOf(person, granted, lists, directory) : NO_REPOS;
    const repoAccess = { base: directory.members, extra };
    this.#kept.set(granted, { directory, hasGrants, lists, repoAccess });
    return repoAccess;
  }

  /** Access of a token for these repos, whose user has access to `repoAccess`. */
  ofToken(repoAccess: RepoAccess, repoIds: readonly number[]): RepoAccess {
    const kept = this.#narrowed.get(repoIds);
    if (kept?.of === repoAccess) return kept.repoAccess;
    const narrow = narrowed(repoAccess, repoIds);
    this.#narrowed.set(repoIds, { of: repoAccess, repoAccess: narrow });
    return narrow;
  }

  #extraOf(
    person: Person,
    { repoIds, hosted }: Granted,
    lists: CountingLists | undefined,
    directory: Directory,
  ): RepoIds {
    const extra = this.#configuredFor(person, directory);
    for (const repoId of repoIds) if (!directory.members.has(repoId)) extra.push(repoId);
    for (const { connection, repoIds: read } of hosted) {
      const counting = lists?.get(connection);
      if (counting === undefined) continue;
      for (const repoId of read)
        if (counting.has(repoId) && !directory.members.has(repoId)) extra.push(repoId);
    }
    return extraIds(extra, directory.members, directory);
  }

  /** RepoIds that the configuration grants in addition to the base, possibly with repeats; undefined: to everyone. */
  #configuredFor(person: Person | undefined, directory: Directory): number[] {
    const base = person === undefined ? directory.guests : directory.members;
    const found: number[] = [];
    for (const [index, grant] of directory.grants.entries()) {
      const isCounted =
        grant.isForEveryone || (person !== undefined && grant.emails.has(person.email));
      if (!isCounted) continue;
      for (const repoId of directory.configured[index]!) if (!base.has(repoId)) found.push(repoId);
    }
    return found;
  }

  #currentDirectory(): Directory {
    const { directory } = this.#sources;
    const configuredGrants = this.#sources.configuredGrants();
    const { all } = directory;
    const areRulesLoaded = this.#sources.areRulesLoaded();
    const kept = this.#directory;
    const isSame = kept?.repos === all && kept.grants === configuredGrants;
    if (isSame && kept.areRulesLoaded === areRulesLoaded) return kept;
    const submodules = all.filter(({ within }) => within !== undefined);
    const plain = submodules.length === 0 ? all : all.filter(({ within }) => within === undefined);
    const repos = areRulesLoaded
      ? plain
      : plain.map((repo): RepoRecord => ({ ...repo, enforcement: 'all' }));
    const idsOf = (isIn: (repo: RepoRecord) => boolean): ReadonlySet<number> =>
      new Set(repos.filter(isIn).map(({ repoId }) => repoId));
    const withSubmodules = (ids: ReadonlySet<number>): ReadonlySet<number> =>
      new Set([...ids, ...visibleOf(submodules, (repoId) => ids.has(repoId))]);
    this.#directory = {
      repos: all,
      areRulesLoaded,
      grants: configuredGrants,
      enforced: repos.filter(({ enforcement }) => enforcement !== undefined),
      submodules,
      members: withSubmodules(idsOf((repo) => isOpen(repo, ['public', 'internal']))),
      guests: withSubmodules(idsOf((repo) => isOpen(repo, ['public']))),
      configured: configuredGrants.map(({ covers }) => idsOf(({ name }) => covers(name))),
    };
    return this.#directory;
  }
}

/** Ids in addition to a base, without submodules among them, but with those that they make visible. */
function extraIds(
  ids: readonly number[],
  base: ReadonlySet<number>,
  { submodules }: Directory,
): RepoIds {
  if (submodules.length === 0) return compactIds(ids);
  const own = new Set(submodules.map(({ repoId }) => repoId));
  const visible = new Set(ids.filter((repoId) => !own.has(repoId)));
  const more = visibleOf(submodules, (repoId) => base.has(repoId) || visible.has(repoId));
  return compactIds([...visible, ...more.filter((repoId) => !base.has(repoId))]);
}

/** Submodules of which all outer repos, and the repo that they are a commit of, are visible. */
function visibleOf(
  submodules: readonly RepoRecord[],
  canSee: (repoId: number) => boolean,
): number[] {
  return submodules
    .filter(({ within = [] }) => within.length > 0 && within.every(canSee))
    .map(({ repoId }) => repoId);
}

/** Rules b and c of API.md 4.7. */
function isOpen(
  { enforcement, visibility }: RepoRecord,
  openKinds: readonly RepoRecord['visibility'][],
): boolean {
  if (enforcement === undefined) return true;
  return enforcement === 'restricted' && openKinds.includes(visibility);
}
