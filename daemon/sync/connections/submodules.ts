// Submodules of repos whose connection requests them (API.md 19.4). Each becomes a repo named after its outer repo plus
// its path, read at the pinned commit from the repo that `.gitmodules` names. That must be a repo of a connection: no
// address is contacted because a repository names it. Only callers who see both the outer repo and the named one see
// the submodule (accounts/sights.ts).

import { isDeepStrictEqual } from 'node:util';
import type { RepoBook, RepoDecision, StoredRepo } from '../../store/repos.ts';
import { messageOf } from '../../base/caught.ts';
import { shownValue } from '../../base/config/address.ts';
import type { Log } from '../../base/log.ts';
import { freeRepoName, repoNameFromUrl } from '../../repos/repo-name.ts';
import type { RepoSource } from '../../repos/records.ts';
import { type Gitlink, readGitlinks } from '../../sources/git/gitlinks.ts';
import { findObjects } from '../../sources/git/objects.ts';
import type { Catalog } from '../../index/catalog/catalog.ts';
import { hostedSource } from '../../index/register/open-catalog.ts';
import type { RepoRegister } from '../../index/register/register.ts';
import { removedAt } from './which-listed.ts';

export interface SubmodulesOptions {
  readonly catalog: Pick<Catalog, 'repo' | 'clonePath'>;
  readonly register: Pick<RepoRegister, 'all' | 'book' | 'byId' | 'decide'>;
  /** Whether a connection has a repo. */
  readonly has: (repoId: number) => boolean;
  /** Whether any connection requests submodules. */
  readonly areWanted: () => boolean;
  /** Whether a connection of a repo requests its submodules. */
  readonly isWanted: (repoId: number) => boolean;
  /** Applies that repos changed, or are to be removed. */
  readonly obey: (changedIds: ReadonlySet<number>) => Promise<void>;
  readonly remove: (
    repoIds: readonly number[],
    toGo: (book: RepoBook) => ReadonlySet<number>,
  ) => Promise<unknown>;
  readonly log: Log;
}

/** A submodule to be created. */
interface Wanted {
  /** The outermost repo. */
  readonly outer: StoredRepo;
  readonly path: string;
  readonly commit: string;
  /** RepoIds of the repos around it, outermost first, then the repo that it names. */
  readonly chain: readonly number[];
}

/** A commit to search for submodules. */
interface Place {
  readonly source: RepoSource;
  readonly commit: string;
  readonly prefix: string;
  readonly chain: readonly number[];
}

/** The search for all submodules of a repo. */
interface Walk {
  readonly outer: StoredRepo;
  /** Repos by normalized address. */
  readonly scope: ReadonlyMap<string, StoredRepo>;
  readonly found: Wanted[];
  /** Number of checked links. */
  count: number;
  /** The search was incomplete: missing ones may exist. */
  isInPart: boolean;
  /** Why some are left out. */
  readonly reasons: string[];
}

/** Results of one round for the next one. */
class Memory {
  /** By commit id and repo. */
  readonly gitlinks = new Map<string, readonly Gitlink[]>();
  /** Reported omissions, by repoId. */
  readonly told = new Map<number, string>();
}

/** All submodules have this in place of a host address. */
const ADDRESS = 'submodule';
/** Bounds: nested submodules, and checked links of one repo, which may take a process each. */
const DEPTH_MAX = 4;
const COUNT_MAX = 1_000;
/** Reported omissions of one repo. */
const REASONS_MAX = 10;
/** Guess: changes within this time are handled together. */
const PAUSE_MS = 1_000;

export class Submodules {
  readonly #options: SubmodulesOptions;
  #memory = new Memory();
  #before = this.#memory;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: SubmodulesOptions) {
    this.#options = options;
  }

  /** Repos, or the settings of connections, may have changed: checks soon. */
  note(): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#begin(), PAUSE_MS).unref();
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#looking = this.#looking
      .then(() => this.#look())
      .catch((error: unknown) => {
        this.#options.log.error('submodules could not be checked', { error: messageOf(error) });
      });
  }

  async #look(): Promise<void> {
    const { register, has, areWanted, isWanted, obey, remove } = this.#options;
    const isNone = !register.all.some(({ host }) => host !== undefined && isSubmodule(host));
    if (isNone && !areWanted()) return;
    const outers = register.all.filter(
      ({ repoId, host }) => host !== undefined && !isSubmodule(host) && has(repoId),
    );
    // Why no bound: entries that are used each round must not evict each other.
    [this.#before, this.#memory] = [this.#memory, new Memory()];
    const scope = scopeOf(outers);
    const wanted: Wanted[] = [];
    /** RepoIds of outer repos that were searched completely. */
    const known = new Set<number>();
    for (const outer of outers) {
      if (this.#isClosed) return;
      const walk = newWalk(outer, scope);
      if (isWanted(outer.repoId)) await this.#walk(walk);
      wanted.push(...walk.found);
      if (!walk.isInPart) known.add(outer.repoId);
    }
    const toGo = (book: RepoBook): ReadonlySet<number> => spent(book, wanted, known);
    const gone = [...toGo(register.book)];
    if (gone.length > 0) await remove(gone, toGo);
    // Why first without the store: mostly nothing has changed.
    if (admitted(register.book, wanted).result.size > 0)
      await obey(await register.decide((book) => admitted(book, wanted)));
  }

  /** Errors: none. */
  async #walk(walk: Walk): Promise<void> {
    const { reasons } = walk;
    try {
      await this.#findAll(walk);
    } catch (error) {
      walk.isInPart = true;
      reasons.push(`they could not be read: ${messageOf(error)}`);
    }
    if (reasons.length > 0) this.#tell(walk);
  }

  /** Errors: GitError. */
  async #findAll(walk: Walk): Promise<void> {
    const { repoId } = walk.outer;
    const { record, commits = [] } = this.#options.catalog.repo(repoId) ?? {};
    walk.isInPart = record?.indexedAt === undefined;
    const [commit] = commits;
    if (record?.source.kind !== 'commits' || typeof commit !== 'string') return;
    const first = { source: record.source, commit, prefix: '', chain: [repoId] };
    for (let level: Place[] = [first], depth = 1; level.length > 0; depth++) {
      if (depth > DEPTH_MAX) {
        walk.reasons.push(`submodules more than ${DEPTH_MAX} levels deep are left out`);
        return;
      }
      const next: Place[] = [];
      for (const place of level) next.push(...(await this.#below(walk, place)));
      level = next;
    }
  }

  /** Finds the submodules at one place; returns the places inside them. */
  async #below(walk: Walk, { source, commit, prefix, chain }: Place): Promise<Place[]> {
    const places: Place[] = [];
    const base = addressOf(this.#options.register.byId(chain.at(-1)!)!);
    for (const link of await this.#linksOf(source.path, commit)) {
      if (walk.count++ >= COUNT_MAX) {
        if (walk.count === COUNT_MAX + 1)
          walk.reasons.push(`submodules after the first ${COUNT_MAX} are left out`);
        break;
      }
      const path = `${prefix}${link.path}`;
      const inner = walk.scope.get(nameOf(link.url, base) ?? '');
      const innerSource = await this.#sourceOf(walk, inner, link, chain);
      if (typeof innerSource === 'string') walk.reasons.push(`${path} is left out: ${innerSource}`);
      else {
        const inside = [...chain, inner!.repoId];
        walk.found.push({ outer: walk.outer, path, commit: link.commit, chain: inside });
        const below = { source: innerSource, prefix: `${path}/`, chain: inside };
        places.push({ ...below, commit: link.commit });
      }
    }
    return places;
  }

  /** The location of a link's commit; a text: why the submodule is left out. Errors: GitError. */
  async #sourceOf(
    walk: Walk,
    inner: StoredRepo | undefined,
    { url, commit }: Gitlink,
    chain: readonly number[],
  ): Promise<RepoSource | string> {
    const { catalog, register } = this.#options;
    if (inner === undefined) return `no connection has ${shownValue(url)}`;
    const { repoId, name } = inner;
    if (chain.includes(repoId)) return `it is ${name}, which it is in`;
    if (catalog.repo(repoId)?.record.indexedAt === undefined) {
      walk.isInPart = true;
      return `${name} is not indexed yet`;
    }
    const source = hostedSource(catalog, register, inner);
    if (source === undefined) return 'it does not exist';
    const [object] = await findObjects(source.path, [commit]);
    return object?.type === 'commit' ? source : `${name} has no commit ${commit}`;
  }

  async #linksOf(repoPath: string, commit: string): Promise<readonly Gitlink[]> {
    const key = `${commit} ${repoPath}`;
    const links =
      this.#memory.gitlinks.get(key) ??
      this.#before.gitlinks.get(key) ??
      (await readGitlinks(repoPath, commit));
    this.#memory.gitlinks.set(key, links);
    return links;
  }

  /** Once, until the omissions change. */
  #tell({ outer, reasons }: Walk): void {
    const { length } = reasons;
    const more = length > REASONS_MAX ? `; and ${length - REASONS_MAX} more` : '';
    const reason = `${reasons.slice(0, REASONS_MAX).join('; ')}${more}`;
    this.#memory.told.set(outer.repoId, reason);
    if (this.#before.told.get(outer.repoId) !== reason)
      this.#options.log.warn('submodules', { repo: outer.name, reason });
  }

  /** Stops; resolves when no check runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  /** Resolves when nothing is left to check; a scheduled check runs now. */
  async whenIdle(): Promise<void> {
    if (this.#timer !== undefined) this.#begin();
    await this.#looking;
  }
}

function newWalk(outer: StoredRepo, scope: ReadonlyMap<string, StoredRepo>): Walk {
  return { outer, scope, found: [], count: 0, isInPart: false, reasons: [] };
}

function isSubmodule({ facts }: NonNullable<StoredRepo['host']>): boolean {
  return facts.submodule !== undefined;
}

/** Repos by normalized address. */
function scopeOf(repos: readonly StoredRepo[]): Map<string, StoredRepo> {
  const scope = new Map<string, StoredRepo>();
  for (const repo of repos) {
    const name = nameOf(addressOf(repo) ?? '', undefined);
    if (name !== undefined && !scope.has(name)) scope.set(name, repo);
  }
  return scope;
}

/** Base for relative addresses in a repo. */
function addressOf({ host }: StoredRepo): string | undefined {
  const { source, name = '', cloneUrl } = host!.facts;
  if (source === undefined) return cloneUrl;
  return name.startsWith('local/') ? undefined : `https://${name}`;
}

/** Normalized address of a `.gitmodules` entry; undefined: no connection can have it. */
function nameOf(url: string, base: string | undefined): string | undefined {
  if (!/^\.\.?\//.test(url)) return repoNameFromUrl(url);
  const start = `${base}/`;
  return URL.canParse(url, start) ? repoNameFromUrl(new URL(url, start).href) : undefined;
}

function hostIdOf({ outer, path }: Wanted): string {
  return `${outer.repoId} ${path}`;
}

/** The result: repoIds that changed. */
function admitted(book: RepoBook, wanted: readonly Wanted[]): RepoDecision<ReadonlySet<number>> {
  const before = new Map(
    book.repos.flatMap((repo) =>
      repo.host?.address === ADDRESS ? [[repo.host.hostId, repo] as const] : [],
    ),
  );
  const taken = new Set(book.repos.map(({ name }) => name));
  const removed = removedAt(book, ADDRESS);
  let nextRepoId = book.nextRepoId;
  const changed: StoredRepo[] = [];
  for (const one of wanted) {
    const known = before.get(hostIdOf(one));
    const name = `${one.outer.name}/${one.path}`.replace(/\p{Cc}/gu, '');
    const isNamed = known?.name === name || known?.name.startsWith(`${name}-`) === true;
    const repo: StoredRepo = {
      repoId: known?.repoId ?? removed.get(hostIdOf(one)) ?? nextRepoId++,
      name: isNamed ? known.name : freeRepoName(name, taken),
      // A version that does not know submodules shows none.
      visibility: 'private',
      enforcement: 'all',
      host: { address: ADDRESS, hostId: hostIdOf(one), facts: factsOf(one) },
    };
    taken.add(repo.name);
    if (!isDeepStrictEqual(repo, known)) changed.push(repo);
  }
  return { changed, result: new Set(changed.map(({ repoId }) => repoId)) };
}

function factsOf({ outer, path, commit, chain }: Wanted) {
  const { codeHostType } = outer.host!.facts;
  return {
    codeHostType,
    path,
    cloneUrl: '',
    isFork: false,
    isArchived: false,
    topics: [],
    submodule: { commit, chain: [...chain] },
  };
}

/** Submodules that are no longer in any of these repos, or whose repo is gone. */
function spent(
  { repos }: RepoBook,
  wanted: readonly Wanted[],
  known: ReadonlySet<number>,
): ReadonlySet<number> {
  const stays = new Set(wanted.map(hostIdOf));
  const ids = new Set(repos.map(({ repoId }) => repoId));
  const isSpent = ({ host }: StoredRepo): boolean => {
    const outerId = host?.facts.submodule?.chain[0];
    if (outerId === undefined || stays.has(host!.hostId)) return false;
    return known.has(outerId) || !ids.has(outerId);
  };
  return new Set(repos.filter(isSpent).map(({ repoId }) => repoId));
}
