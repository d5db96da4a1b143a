// Submodules of repos whose connection requests them (API.md 19.4): repos named after the outer one plus their path, read at
// the pinned commit from the repo that `.gitmodules` names, which must be of a connection: no other address is contacted.
// Only callers who see both the outer repo and the named one see them (accounts/repo-access-resolver.ts).

import { isDeepStrictEqual } from 'node:util';
import type { StoredRepos, RepoDecision, StoredRepo } from '../../store/repos.ts';
import { messageOf } from '../../base/caught.ts';
import { displayValue } from '../../base/config/address.ts';
import type { Log } from '../../base/log.ts';
import {
  freeRepoName,
  isNameTooLong,
  NAME_SIZE_MAX,
  repoNameFromUrl,
} from '../../repos/repo-name.ts';
import type { RepoSource } from '../../repos/records.ts';
import { type Gitlink, readGitlinks } from '../../sources/git/gitlinks.ts';
import { findObjects } from '../../sources/git/objects.ts';
import type { Catalog } from '../../index/catalog/catalog.ts';
import { hostedSource } from '../../index/register/open-catalog.ts';
import type { RepoRegistry } from '../../index/register/registry.ts';
import type { RepoRemover } from './remove-repos.ts';
import { type Admitted, removedAt } from './which-listed.ts';

export interface SubmodulesOptions {
  readonly catalog: Pick<Catalog, 'repo' | 'mirrorPath'>;
  readonly registry: Pick<RepoRegistry, 'all' | 'stored' | 'byId' | 'decide'>;
  readonly has: (repoId: number) => boolean;
  readonly areSubmodulesEnabled: () => boolean;
  readonly hasSubmodulesEnabled: (repoId: number) => boolean;
  readonly apply: (changes: Pick<Admitted, 'changedIds' | 'dueIds'>) => Promise<void>;
  readonly remover: Pick<RepoRemover, 'remove'>;
  readonly log: Log;
}

interface ExpectedSubmodule {
  readonly outer: StoredRepo;
  readonly path: string;
  readonly commit: string;
  /** RepoIds of the repos around it, outermost first, then the repo that it names. */
  readonly chain: readonly number[];
}

interface ScanTarget {
  readonly source: RepoSource;
  readonly commit: string;
  readonly prefix: string;
  readonly chain: readonly number[];
}

interface Walk {
  readonly outer: StoredRepo;
  /** Repos by normalized address. */
  readonly scope: ReadonlyMap<string, StoredRepo>;
  readonly found: ExpectedSubmodule[];
  count: number;
  /** The search was incomplete: missing ones may exist. */
  isInPart: boolean;
  readonly reasons: string[];
}

/** Results of one round for the next one. */
class Memory {
  /** By commit id and repo. */
  readonly gitlinks = new Map<string, readonly Gitlink[]>();
  /** Reported omissions, by repoId. */
  readonly reported = new Map<number, string>();
}

/** All submodules have this in place of a host address. */
const ADDRESS = 'submodule';
/** Bounds: nested submodules, and checked links of one repo, which may take a process each. */
const DEPTH_MAX = 4;
const COUNT_MAX = 1_000;
/** Reported omissions of one repo. */
const REASONS_MAX = 10;
/** Changes within this time are handled together. Bound: one check a second. */
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
      .then(() => this.#update())
      .catch((error: unknown) => {
        this.#options.log.error('submodules could not be checked', { error: messageOf(error) });
      });
  }

  async #update(): Promise<void> {
    const { registry, has, areSubmodulesEnabled, hasSubmodulesEnabled, apply, remover } =
      this.#options;
    const isNone = !registry.all.some(({ host }) => host !== undefined && isSubmodule(host));
    if (isNone && !areSubmodulesEnabled()) return;
    const outers = registry.all.filter(
      ({ repoId, host }) => host !== undefined && !isSubmodule(host) && has(repoId),
    );
    // Why no bound: entries that are used each round must not evict each other.
    [this.#before, this.#memory] = [this.#memory, new Memory()];
    const scope = scopeOf(outers);
    const expected: ExpectedSubmodule[] = [];
    /** RepoIds of outer repos that were searched completely. */
    const existing = new Set<number>();
    for (const outer of outers) {
      if (this.#isClosed) return;
      const walk: Walk = { outer, scope, found: [], count: 0, isInPart: false, reasons: [] };
      if (hasSubmodulesEnabled(outer.repoId)) await this.#walk(walk);
      expected.push(...walk.found);
      if (!walk.isInPart) existing.add(outer.repoId);
    }
    const toGo = (stored: StoredRepos): ReadonlySet<number> => spent(stored, expected, existing);
    const gone = [...toGo(registry.stored)];
    if (gone.length > 0) await remover.remove(gone, toGo);
    // Why first without the store: mostly nothing has changed.
    if (admitted(registry.stored, expected).result.size === 0) return;
    const changedIds = await registry.decide((stored) => admitted(stored, expected));
    await apply({ changedIds, dueIds: changedIds });
  }

  async #walk(walk: Walk): Promise<void> {
    const { reasons } = walk;
    try {
      await this.#findAll(walk);
    } catch (error) {
      walk.isInPart = true;
      reasons.push(`they could not be read: ${messageOf(error)}`);
    }
    if (reasons.length > 0) this.#report(walk);
  }

  async #findAll(walk: Walk): Promise<void> {
    const { repoId } = walk.outer;
    const { record, commits = [] } = this.#options.catalog.repo(repoId) ?? {};
    walk.isInPart = record?.indexedAt === undefined;
    const [commit] = commits;
    if (record?.source.kind !== 'commits' || typeof commit !== 'string') return;
    const first = { source: record.source, commit, prefix: '', chain: [repoId] };
    for (let level: ScanTarget[] = [first], depth = 1; level.length > 0; depth++) {
      if (depth > DEPTH_MAX) {
        walk.reasons.push(`submodules more than ${DEPTH_MAX} levels deep are left out`);
        return;
      }
      const next: ScanTarget[] = [];
      for (const target of level) next.push(...(await this.#below(walk, target)));
      level = next;
    }
  }

  /** Finds the submodules at one place; returns the places inside them. */
  async #below(walk: Walk, { source, commit, prefix, chain }: ScanTarget): Promise<ScanTarget[]> {
    const targets: ScanTarget[] = [];
    const base = baseOf(this.#options.registry.byId(chain.at(-1)!)!);
    for (const link of await this.#linksOf(source.path, commit)) {
      if (walk.count++ >= COUNT_MAX) {
        if (walk.count === COUNT_MAX + 1)
          walk.reasons.push(`submodules after the first ${COUNT_MAX} are left out`);
        break;
      }
      const path = `${prefix}${link.path}`;
      const inner = innerOf(walk, link, base);
      const innerSource = isNameTooLong(`${walk.outer.name}/${path}`)
        ? `its name has more than ${NAME_SIZE_MAX} bytes`
        : await this.#sourceOf(walk, inner, link, chain);
      if (typeof innerSource === 'string') walk.reasons.push(`${path} is left out: ${innerSource}`);
      else {
        const inside = [...chain, inner!.repoId];
        walk.found.push({ outer: walk.outer, path, commit: link.commit, chain: inside });
        const below = { source: innerSource, prefix: `${path}/`, chain: inside };
        targets.push({ ...below, commit: link.commit });
      }
    }
    return targets;
  }

  /** The location of a link's commit; a text: why the submodule is left out. Errors: GitError. */
  async #sourceOf(
    walk: Walk,
    inner: StoredRepo | undefined,
    { url, commit }: Gitlink,
    chain: readonly number[],
  ): Promise<RepoSource | string> {
    const { catalog, registry } = this.#options;
    if (inner === undefined) return `no connection has ${displayValue(url)}`;
    const { repoId, name } = inner;
    if (chain.includes(repoId)) return `it is ${name}, which it is in`;
    if (catalog.repo(repoId)?.record.indexedAt === undefined) {
      walk.isInPart = true;
      return `${name} is not indexed yet`;
    }
    const source = hostedSource(catalog, registry, inner);
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
  #report({ outer, reasons }: Walk): void {
    const { length } = reasons;
    const more = length > REASONS_MAX ? `; and ${length - REASONS_MAX} more` : '';
    const reason = `${reasons.slice(0, REASONS_MAX).join('; ')}${more}`;
    this.#memory.reported.set(outer.repoId, reason);
    if (this.#before.reported.get(outer.repoId) !== reason)
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

function isSubmodule({ facts }: NonNullable<StoredRepo['host']>): boolean {
  return facts.submodule !== undefined;
}

function scopeOf(repos: readonly StoredRepo[]): Map<string, StoredRepo> {
  const scope = new Map<string, StoredRepo>();
  for (const repo of repos)
    for (const address of addressesOf(repo)) {
      const name = normalizedOf(address, undefined);
      if (name !== undefined && !scope.has(name)) scope.set(name, repo);
    }
  return scope;
}

/** Bitbucket Data Center has another path over ssh. */
function addressesOf(repo: StoredRepo): string[] {
  const { codeHostType, cloneUrl, path } = repo.host!.facts;
  if (codeHostType !== 'bitbucketServer') return [baseOf(repo) ?? ''];
  return [cloneUrl, `ssh://${new URL(cloneUrl).hostname}/${path.toLowerCase()}`];
}

/** The repo that a link names. Why without the port as well: over ssh it is another one than over https. */
function innerOf(
  { scope }: Walk,
  { url }: Gitlink,
  base: string | undefined,
): StoredRepo | undefined {
  const withoutPort = url.replace(/^(ssh:\/\/[^/]*):\d+\//i, '$1/');
  return [url, withoutPort]
    .map((one) => scope.get(normalizedOf(one, base) ?? ''))
    .find((repo) => repo !== undefined);
}

/** Base for relative addresses in a repo. */
function baseOf({ host }: StoredRepo): string | undefined {
  const { source, name = '', cloneUrl } = host!.facts;
  if (source === undefined) return cloneUrl;
  return name.startsWith('local/') ? undefined : `https://${name}`;
}

/** Normalized address of a `.gitmodules` entry; undefined: no connection can have it. */
function normalizedOf(url: string, base: string | undefined): string | undefined {
  if (!/^\.\.?\//.test(url)) return repoNameFromUrl(url);
  const start = `${base}/`;
  return URL.canParse(url, start) ? repoNameFromUrl(new URL(url, start).href) : undefined;
}

function hostIdOf({ outer, path }: ExpectedSubmodule): string {
  return `${outer.repoId} ${path}`;
}

/** The result: repoIds that changed. */
function admitted(
  stored: StoredRepos,
  expected: readonly ExpectedSubmodule[],
): RepoDecision<ReadonlySet<number>> {
  const before = new Map(
    stored.repos.flatMap((repo) =>
      repo.host?.address === ADDRESS ? [[repo.host.hostId, repo] as const] : [],
    ),
  );
  const taken = new Set(stored.repos.map(({ name }) => name));
  const removed = removedAt(stored, ADDRESS);
  let nextRepoId = stored.nextRepoId;
  const changed: StoredRepo[] = [];
  for (const one of expected) {
    const existing = before.get(hostIdOf(one));
    const name = `${one.outer.name}/${one.path}`.replace(/\p{Cc}/gu, '');
    const hasName = existing?.name === name || existing?.name.startsWith(`${name}-`) === true;
    const repo: StoredRepo = {
      repoId: existing?.repoId ?? removed.get(hostIdOf(one)) ?? nextRepoId++,
      name: hasName ? existing.name : freeRepoName(name, taken),
      // A version that does not know submodules shows none.
      visibility: 'private',
      enforcement: 'all',
      host: { address: ADDRESS, hostId: hostIdOf(one), facts: factsOf(one) },
    };
    taken.add(repo.name);
    if (!isDeepStrictEqual(repo, existing)) changed.push(repo);
  }
  return { changed, result: new Set(changed.map(({ repoId }) => repoId)) };
}

function factsOf({ outer, path, commit, chain }: ExpectedSubmodule) {
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
  { repos }: StoredRepos,
  expected: readonly ExpectedSubmodule[],
  existing: ReadonlySet<number>,
): ReadonlySet<number> {
  const stays = new Set(expected.map(hostIdOf));
  const ids = new Set(repos.map(({ repoId }) => repoId));
  const isSpent = ({ host }: StoredRepo): boolean => {
    const outerId = host?.facts.submodule?.chain[0];
    if (outerId === undefined || stays.has(host!.hostId)) return false;
    return existing.has(outerId) || !ids.has(outerId);
  };
  return new Set(repos.filter(isSpent).map(({ repoId }) => repoId));
}
