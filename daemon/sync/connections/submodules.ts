// Submodules of repos whose connection wants them (API.md 19.4): each is a repo of its own, called as its outer one with the path
// behind it, read at the pinned commit from where the repo lies that `.gitmodules` names. That has to be one of a
// connection: nothing is asked of an address because a repository names it. Who sees the outer repo and the one that it names
// sees the submodule, and nobody else (accounts/sights.ts).

import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import type { RepoBook, RepoDecision, StoredRepo } from '../../accounts/store/repos.ts';
import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import { freeRepoName, repoNameFromUrl } from '../../repos/repo-name.ts';
import type { RepoSource } from '../../repos/records.ts';
import { type Gitlink, readGitlinks } from '../../sources/git/gitlinks.ts';
import { resolveCommit } from '../../sources/git/objects.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { hostedSource } from '../register/open-catalog.ts';
import type { RepoRegister } from '../register/register.ts';

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

/** All that are submodules have it in place of the address of a host. */
const ADDRESS = 'submodule';
/** Bounds: submodules in submodules, and submodules of one repo. */
const DEPTH_MAX = 4;
const COUNT_MAX = 1_000;
/** Commits of which the links are remembered, and reasons that were told. */
const KEPT_MAX = 10_000;
/** Guess: what changes together is looked at once. */
const PAUSE_MS = 1_000;

export class Submodules {
  readonly #options: SubmodulesOptions;
  /** By the id of the commit and the repo. */
  readonly #gitlinks = new LRUCache<string, readonly Gitlink[]>({ max: KEPT_MAX });
  readonly #told = new LRUCache<string, true>({ max: KEPT_MAX });
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: SubmodulesOptions) {
    this.#options = options;
  }

  /** Repos, or what a connection wants, may have changed: looks soon. */
  note(): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#looking = this.#looking
        .then(() => this.#look())
        .catch((error: unknown) => {
          this.#options.log.error('submodules could not be looked at', { error: messageOf(error) });
        });
    }, PAUSE_MS).unref();
  }

  async #look(): Promise<void> {
    const { register, has, areWanted, isWanted, obey, remove } = this.#options;
    const isNone = !register.all.some(({ host }) => host !== undefined && isSubmodule(host));
    if (isNone && !areWanted()) return;
    const outers = register.all.filter(
      ({ repoId, host }) => host !== undefined && !isSubmodule(host) && has(repoId),
    );
    const scope = scopeOf(outers);
    const wanted: Wanted[] = [];
    /** RepoIds of outer repos of which it is known what they have. */
    const known = new Set<number>();
    for (const outer of outers) {
      if (this.#isClosed) return;
      try {
        if (isWanted(outer.repoId)) wanted.push(...(await this.#submodulesOf(outer, scope)));
        known.add(outer.repoId);
      } catch (error) {
        this.#tell(outer, `they could not be read: ${messageOf(error)}`);
      }
    }
    const toGo = (book: RepoBook): ReadonlySet<number> => spent(book, wanted, known);
    const gone = [...toGo(register.book)];
    if (gone.length > 0) await remove(gone, toGo);
    // Why first without the store: mostly nothing has changed.
    if (admitted(register.book, wanted).result.size > 0)
      await obey(await register.decide((book) => admitted(book, wanted)));
  }

  /** Errors: GitError. */
  async #submodulesOf(
    outer: StoredRepo,
    scope: ReadonlyMap<string, StoredRepo>,
  ): Promise<Wanted[]> {
    const { catalog } = this.#options;
    const { record, commits = [] } = catalog.repo(outer.repoId) ?? {};
    const [commit] = commits;
    if (record?.source.kind !== 'commits' || typeof commit !== 'string') return [];
    const found: Wanted[] = [];
    const first = { source: record.source, commit, prefix: '', chain: [outer.repoId] };
    for (let level: Place[] = [first], depth = 1; level.length > 0; depth++) {
      if (depth > DEPTH_MAX) {
        this.#tell(outer, `those more than ${DEPTH_MAX} levels deep are left out`);
        break;
      }
      const next: Place[] = [];
      for (const place of level) next.push(...(await this.#below(outer, place, scope, found)));
      level = next;
    }
    return found;
  }

  /** @param found  gets what is in a place; what is in these is returned */
  async #below(
    outer: StoredRepo,
    { source, commit, prefix, chain }: Place,
    scope: ReadonlyMap<string, StoredRepo>,
    found: Wanted[],
  ): Promise<Place[]> {
    const { catalog, register } = this.#options;
    const places: Place[] = [];
    const base = addressOf(register.byId(chain.at(-1)!)!);
    for (const link of await this.#linksOf(source.path, commit)) {
      const path = `${prefix}${link.path}`;
      const inner = scope.get(nameOf(link.url, base) ?? '');
      const reason =
        inner === undefined ? `no connection has ${link.url}` : this.#refusal(inner, chain, found);
      const innerSource = inner && hostedSource(catalog, register, inner);
      if (inner === undefined || innerSource === undefined || reason !== undefined)
        this.#tell(outer, `${path} is left out: ${reason ?? 'it is not there'}`);
      else if ((await resolveCommit(innerSource.path, link.commit)) === undefined)
        this.#tell(outer, `${path} is left out: ${inner.name} has no commit ${link.commit}`);
      else {
        const inside = [...chain, inner.repoId];
        found.push({ outer, path, commit: link.commit, chain: inside });
        const below = { source: innerSource, prefix: `${path}/`, chain: inside };
        places.push({ ...below, commit: link.commit });
      }
    }
    return places;
  }

  #refusal(
    { repoId, name }: StoredRepo,
    chain: readonly number[],
    found: readonly Wanted[],
  ): string | undefined {
    if (chain.includes(repoId)) return `it is ${name}, which it is in`;
    if (found.length >= COUNT_MAX) return `there are more than ${COUNT_MAX}`;
    return this.#options.catalog.repo(repoId)?.record.indexedAt === undefined
      ? `${name} is not indexed yet`
      : undefined;
  }

  async #linksOf(repoPath: string, commit: string): Promise<readonly Gitlink[]> {
    const key = `${commit} ${repoPath}`;
    const known = this.#gitlinks.get(key);
    if (known !== undefined) return known;
    const links = await readGitlinks(repoPath, commit);
    this.#gitlinks.set(key, links);
    return links;
  }

  /** Once for each reason. */
  #tell({ name }: StoredRepo, reason: string): void {
    const told = `${name} ${reason}`;
    if (this.#told.has(told)) return;
    this.#told.set(told, true);
    this.#options.log.warn('submodules', { repo: name, reason });
  }

  /** Looks no more; resolves when no look is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  /** Resolves when nothing is to be looked at. */
  async whenIdle(): Promise<void> {
    for (; this.#timer !== undefined;) await new Promise((resolve) => setTimeout(resolve, 10));
    await this.#looking;
  }
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
  let nextRepoId = book.nextRepoId;
  const changed: StoredRepo[] = [];
  for (const one of wanted) {
    const known = before.get(hostIdOf(one));
    const name = `${one.outer.name}/${one.path}`.replace(/\p{Cc}/gu, '');
    const isNamed = known?.name === name || known?.name.startsWith(`${name}-`) === true;
    const repo: StoredRepo = {
      repoId: known?.repoId ?? nextRepoId++,
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
