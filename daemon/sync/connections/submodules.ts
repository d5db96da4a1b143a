// Submodules of repos whose connection wants them (API.md 19.4): each is a repo of its own, called as its outer one with the
// path behind it, read at the pinned commit from where the repo lies that `.gitmodules` names. That has to be one of a
// connection: nothing is asked of an address because a repository names it. Who sees the outer repo and the one that it names
// sees the submodule, and nobody else (accounts/sights.ts).

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
  /** Whether any connection wants submodules. */
  readonly areWanted: () => boolean;
  /** Whether a connection of a repo wants its submodules. */
  readonly isWanted: (repoId: number) => boolean;
  /** Has it hold that repos changed, or that they are to go. */
  readonly obey: (changedIds: ReadonlySet<number>) => Promise<void>;
  readonly remove: (
    repoIds: readonly number[],
    toGo: (book: RepoBook) => ReadonlySet<number>,
  ) => Promise<unknown>;
  readonly log: Log;
}

/** A submodule as it is to be. */
interface Wanted {
  /** The outermost repo. */
  readonly outer: StoredRepo;
  readonly path: string;
  readonly commit: string;
  /** RepoIds of whom it is in, the outermost first, and at the end of the repo that it is. */
  readonly chain: readonly number[];
}

/** A commit whose submodules are looked for. */
interface Place {
  readonly source: RepoSource;
  readonly commit: string;
  readonly prefix: string;
  readonly chain: readonly number[];
}

/** The look for all submodules of a repo. */
interface Walk {
  readonly outer: StoredRepo;
  /** Repos by what addresses of theirs come to. */
  readonly scope: ReadonlyMap<string, StoredRepo>;
  readonly found: Wanted[];
  /** Links that were looked at. */
  count: number;
  /** Not all could be looked at: what is not found may be there. */
  isInPart: boolean;
  /** Why some are left out. */
  readonly reasons: string[];
}

/** What a look leaves for the next one. */
class Memory {
  /** By the id of the commit and the repo. */
  readonly gitlinks = new Map<string, readonly Gitlink[]>();
  /** By repoId, what was left out. */
  readonly told = new Map<number, string>();
}

/** All that are submodules have it in place of the address of a host. */
const ADDRESS = 'submodule';
/** Bounds: submodules in submodules, and links of one repo that are looked at: each may take a process. */
const DEPTH_MAX = 4;
const COUNT_MAX = 1_000;
/** Of those that are left out of one repo. */
const REASONS_MAX = 10;
/** Guess: what changes together is looked at once. */
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

  /** Repos, or what a connection wants, may have changed: looks soon. */
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
        this.#options.log.error('submodules could not be looked at', { error: messageOf(error) });
      });
  }

  async #look(): Promise<void> {
    const { register, has, areWanted, isWanted, obey, remove } = this.#options;
    const isNone = !register.all.some(({ host }) => host !== undefined && isSubmodule(host));
    if (isNone && !areWanted()) return;
    const outers = register.all.filter(
      ({ repoId, host }) => host !== undefined && !isSubmodule(host) && has(repoId),
    );
    // Why no bound: what is looked at again each time must not push out what comes next.
    [this.#before, this.#memory] = [this.#memory, new Memory()];
    const scope = scopeOf(outers);
    const wanted: Wanted[] = [];
    /** RepoIds of outer repos of which it is known what they have. */
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
        walk.reasons.push(`those more than ${DEPTH_MAX} levels deep are left out`);
        return;
      }
      const next: Place[] = [];
      for (const place of level) next.push(...(await this.#below(walk, place)));
      level = next;
    }
  }

  /** Finds what is in a place; what may be in these is returned. */
  async #below(walk: Walk, { source, commit, prefix, chain }: Place): Promise<Place[]> {
    const places: Place[] = [];
    const base = addressOf(this.#options.register.byId(chain.at(-1)!)!);
    for (const link of await this.#linksOf(source.path, commit)) {
      if (walk.count++ >= COUNT_MAX) {
        if (walk.count === COUNT_MAX + 1)
          walk.reasons.push(`those after the first ${COUNT_MAX} are left out`);
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

  /** Where the commit of a link is; a text: why the submodule is left out. Errors: GitError. */
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
    if (source === undefined) return 'it is not there';
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

  /** Once, until something else is left out. */
  #tell({ outer, reasons }: Walk): void {
    const { length } = reasons;
    const more = length > REASONS_MAX ? `; and ${length - REASONS_MAX} more` : '';
    const reason = `${reasons.slice(0, REASONS_MAX).join('; ')}${more}`;
    this.#memory.told.set(outer.repoId, reason);
    if (this.#before.told.get(outer.repoId) !== reason)
      this.#options.log.warn('submodules', { repo: outer.name, reason });
  }

  /** Looks no more; resolves when no look is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  /** Resolves when nothing is to be looked at; what would be looked at soon is now. */
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

/** Repos by what addresses of theirs come to. */
function scopeOf(repos: readonly StoredRepo[]): Map<string, StoredRepo> {
  const scope = new Map<string, StoredRepo>();
  for (const repo of repos) {
    const name = nameOf(addressOf(repo) ?? '', undefined);
    if (name !== undefined && !scope.has(name)) scope.set(name, repo);
  }
  return scope;
}

/** What relative addresses in a repo are relative to. */
function addressOf({ host }: StoredRepo): string | undefined {
  const { source, name = '', cloneUrl } = host!.facts;
  if (source === undefined) return cloneUrl;
  return name.startsWith('local/') ? undefined : `https://${name}`;
}

/** What an address in `.gitmodules` comes to; undefined: nothing that a connection could have. */
function nameOf(url: string, base: string | undefined): string | undefined {
  if (!/^\.\.?\//.test(url)) return repoNameFromUrl(url);
  const start = `${base}/`;
  return URL.canParse(url, start) ? repoNameFromUrl(new URL(url, start).href) : undefined;
}

function hostIdOf({ outer, path }: Wanted): string {
  return `${outer.repoId} ${path}`;
}

/** The result: repoIds of those that are not as they were. */
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
      // Whoever does not know of submodules shows none.
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

/** Those that are in none of these repos any more, or in one that is gone. */
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
