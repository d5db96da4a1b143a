// Mirrors of repos from code hosts: created and updated before a job reads them, removed with their repos. A stamp
// beside each mirror names its repo (index/catalog/mirror-stamp.ts).

import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../../base/caught.ts';
import { unlessAborted } from '../../base/shared-work.ts';
import type { Log } from '../../base/log.ts';
import type { RepoHost, StoredRepo } from '../../store/repos.ts';
import { type Host, HostError } from '../../hosts/host.ts';
import { isGitExit } from '../../sources/git/git.ts';
import { isMisled } from '../../sources/git/git-paths.ts';
import { ProbeError } from '../../sources/git/path-kind.ts';
import type { MirrorOptions } from '../../hosts/mirrors/fetch-mirror.ts';
import { endOrphans } from '../../hosts/mirrors/orphans.ts';
import type { RepoRecord } from '../../repos/records.ts';
import type { Catalog } from '../../index/catalog/catalog.ts';
import {
  isStampOf,
  readStamp,
  type Stamp,
  stampPath,
  writeStamp,
} from '../../index/catalog/mirror-stamp.ts';
import type { IndexContext } from '../jobs/index-repo.ts';
import type { RepoRegistry } from '../../index/register/registry.ts';
import { confirmRepository, pushMarkOf, OtherRepositoryError } from './confirm-fetch.ts';

/** Creates or updates a bare mirror. Errors: why it failed; the old mirror stays. */
export type FetchMirror = (options: MirrorOptions) => Promise<unknown>;

export interface MirrorRemote {
  readonly host: Pick<Host, 'gitCredential' | 'repository'>;
  readonly caFile?: string | undefined;
}

export interface MirrorsOptions {
  readonly catalog: Pick<Catalog, 'mirrorFolder' | 'mirrorPath'>;
  readonly registry: Pick<RepoRegistry, 'byId'>;
  readonly fetchMirror: FetchMirror;
  /** The connections that list a repo now, in the order to try. Errors: none of them can be used. */
  readonly remotesOf: (repoId: number) => Promise<readonly MirrorRemote[]>;
  readonly timeoutMs: () => number;
  readonly onFetched: (repoId: number) => void;
  /** Called when the fetched repository is a different one: its visibility must not widen. */
  readonly onOther: (
    repoId: number,
    error: OtherRepositoryError,
    isFirst: boolean,
  ) => Promise<void>;
  /** Lists the connection again: the repo may have been renamed, or be visible again. */
  readonly relist: (repoId: number) => void;
  readonly log: Log;
}

const REFUSALS: ReadonlySet<string> = new Set(['NOT_FOUND', 'NOT_ALLOWED', 'NOT_AUTHENTICATED']);

export class Mirrors {
  readonly #options: MirrorsOptions;
  /** Repos to fetch before the next read. */
  readonly #stale = new Set<number>();
  /** Repos with something that git could not read. */
  readonly #doubted = new Set<number>();
  /** Repos whose address holds a different repository, or that the host refuses to give. */
  readonly #hidden = new Set<number>();
  readonly #gone = new Set<number>();
  #swept: Promise<void> | undefined;

  constructor(options: MirrorsOptions) {
    this.#options = options;
  }

  markStale(repoId: number): void {
    this.#stale.add(repoId);
  }

  /** Called with the error of a failed job: if git could not read something, the mirror is checked next time. */
  noteFailure(repoId: number, error: unknown): void {
    if (!isGitExit(error) && !(error instanceof ProbeError) && !isMisled(error)) return;
    this.#doubted.add(repoId);
    this.#stale.add(repoId);
  }

  /** The host that the next job of a repo contacts; undefined: none. */
  fetchHostOf(repoId: number): string | undefined {
    const repo = this.#options.registry.byId(repoId);
    if (!hasMirror(repo)) return undefined;
    const isComplete = this.lastFetch(repoId).fetchedAt !== undefined;
    const isThere = isComplete && existsSync(this.#options.catalog.mirrorPath(repoId));
    return isThere && !this.#stale.has(repoId) ? undefined : new URL(repo.host.facts.cloneUrl).host;
  }

  /** Maintains the mirror of a repo, if there is one. Errors: none; failures are logged. */
  async tidyUp({ repoId, name }: RepoRecord, signal: AbortSignal): Promise<void> {
    const { catalog, registry, timeoutMs, log } = this.#options;
    if (!hasMirror(registry.byId(repoId))) return;
    const folder = catalog.mirrorPath(repoId);
    try {
      // Loaded on demand: most daemons have no mirrors.
      const { maintainMirror } = await import('../../hosts/mirrors/maintain-mirror.ts');
      await maintainMirror({ folder, signal, timeoutMs: timeoutMs(), log });
    } catch (error) {
      if (!signal.aborted)
        log.warn('a mirror could not be tidied up', { repo: name, error: messageOf(error) });
    }
  }

  /** Time in ms since the epoch; undefined: never. `isBehind`: the host has reported news since. */
  lastFetch(repoId: number): {
    readonly fetchedAt: number | undefined;
    readonly isBehind: boolean;
  } {
    const host = this.#options.registry.byId(repoId)?.host;
    const stamp = readStamp(this.#options.catalog.mirrorFolder, repoId);
    if (host === undefined || !isStampOf(stamp, host))
      return { fetchedAt: undefined, isBehind: false };
    const mark = pushMarkOf(host.facts);
    const { fetchedAt, warnings: fetchedMark = mark } = stamp;
    return { fetchedAt: fetchedAt ?? undefined, isBehind: fetchedMark !== mark };
  }

  /** Updates the mirror if it is stale or missing. Errors: why the fetch failed; the reason of the signal. */
  async bringUp(
    { repoId, name }: RepoRecord,
    context: Pick<IndexContext, 'signal' | 'onFetch'>,
  ): Promise<void> {
    const repo = this.#options.registry.byId(repoId);
    if (!hasMirror(repo)) return;
    // Why first: what this fetch writes is no leftover.
    await unlessAborted(this.sweep(), context.signal);
    const { host } = repo;
    const folder = this.#options.catalog.mirrorPath(repoId);
    await mkdir(this.#options.catalog.mirrorFolder, { recursive: true, mode: 0o700 });
    // An incomplete mirror is started again.
    if (this.lastFetch(repoId).fetchedAt === undefined) {
      await rm(folder, { recursive: true, force: true });
      writeStamp(this.#options.catalog.mirrorFolder, repoId, { ...idOf(host), fetchedAt: null });
    }
    const isThere = existsSync(folder);
    if (isThere && !this.#stale.has(repoId)) return;
    const remotes = await this.#options.remotesOf(repoId);
    if (remotes.length === 0) {
      if (isThere) return;
      throw new Error(`no connection has ${name} any more, and there is no mirror of it`);
    }
    // Why before: a push during the fetch marks it again.
    this.#stale.delete(repoId);
    try {
      await this.#fetch(repoId, host, remotes, context);
      this.#gone.delete(repoId);
    } catch (error) {
      this.#stale.add(repoId);
      this.#noteGone(repoId, error);
      throw error;
    }
    const warnings = pushMarkOf(host.facts);
    writeStamp(this.#options.catalog.mirrorFolder, repoId, {
      ...idOf(host),
      fetchedAt: Date.now(),
      warnings,
    });
    this.#options.onFetched(repoId);
  }

  /** Why once: it lists the connection again, which takes many requests, and the repo may be gone for good. */
  #noteGone(repoId: number, error: unknown): void {
    if (!(error instanceof HostError) || error.code !== 'NOT_FOUND' || this.#gone.has(repoId))
      return;
    this.#gone.add(repoId);
    this.#options.relist(repoId);
  }

  /** Tries the connections in order. Errors: of the last one. */
  async #fetch(
    repoId: number,
    repoHost: RepoHost,
    remotes: readonly MirrorRemote[],
    { signal, onFetch }: Pick<IndexContext, 'signal' | 'onFetch'>,
  ): Promise<void> {
    const { catalog, fetchMirror, timeoutMs, log } = this.#options;
    const { facts } = repoHost;
    let isRefused = true;
    for (const [index, { host, caFile }] of remotes.entries()) {
      let isAnonymous: boolean | undefined;
      try {
        onFetch({ phase: 'asking', done: 0, total: 0, unit: 'objects' });
        const credential = await host.gitCredential(facts, signal);
        isAnonymous = credential === undefined;
        // A repository that can be fetched without credentials is no secret.
        const isOpen = isAnonymous && /^https?:/i.test(facts.cloneUrl);
        const confirm = (): Promise<void> =>
          isOpen ? Promise.resolve() : this.#confirm(repoId, repoHost, host, signal);
        // Why before as well: it may be large, and would be fetched each time.
        if (this.#hidden.has(repoId)) await confirm();
        await fetchMirror({
          folder: catalog.mirrorPath(repoId),
          url: facts.cloneUrl,
          isDoubted: this.#doubted.has(repoId),
          credential,
          caFile,
          signal,
          timeoutMs: timeoutMs(),
          onProgress: onFetch,
          confirm,
          log,
        });
        this.#doubted.delete(repoId);
        // What was hidden may be visible again.
        if (this.#hidden.delete(repoId)) this.#options.relist(repoId);
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof OtherRepositoryError) throw error;
        isRefused &&= isRefusal(error);
        if (index === remotes.length - 1) {
          // Without an answer to the request for a credential nothing says what git may fetch.
          if (isRefused && isAnonymous !== undefined)
            await this.#confirmRefused(repoId, repoHost, host, signal, isAnonymous);
          throw error;
        }
        log.warn('a repository could not be fetched by one of its connections', {
          path: facts.path,
          error: messageOf(error),
        });
      }
    }
  }

  /** What git may not fetch may no longer be public. Errors: OtherRepositoryError; the reason of the signal. */
  async #confirmRefused(
    repoId: number,
    repoHost: RepoHost,
    host: MirrorRemote['host'],
    signal: AbortSignal,
    isAnonymous: boolean,
  ): Promise<void> {
    try {
      await this.#confirm(repoId, repoHost, host, signal, isAnonymous);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
    }
  }

  /** @param isOpen  without a credential: then a host that asks for one does not give the repository to everybody */
  async #confirm(
    repoId: number,
    repoHost: RepoHost,
    host: MirrorRemote['host'],
    signal: AbortSignal,
    isOpen = false,
  ): Promise<void> {
    const { registry, onOther } = this.#options;
    const visibility = registry.byId(repoId)?.visibility ?? 'unknown';
    try {
      await confirmRepository(repoHost, visibility, host, signal, isOpen);
    } catch (error) {
      if (!(error instanceof OtherRepositoryError)) throw error;
      const isFirst = !this.#hidden.has(repoId);
      this.#hidden.add(repoId);
      await onOther(repoId, error, isFirst);
      throw error;
    }
  }

  async remove(repoId: number): Promise<void> {
    this.#stale.delete(repoId);
    this.#hidden.delete(repoId);
    this.#gone.delete(repoId);
    await removeMirror(this.#options.catalog, repoId);
  }

  /**
   * Removes mirrors of repos unknown to the store, remains of killed fetches, and files that are created again on
   * demand. The stamp of a missing mirror stays for the next fetch: a kill may have come between two renames. Once; all
   * fetches wait for it.
   */
  sweep(): Promise<void> {
    this.#swept ??= this.#sweep();
    return this.#swept;
  }

  async #sweep(): Promise<void> {
    const { catalog, registry } = this.#options;
    await endOrphans(catalog.mirrorFolder);
    const names = await readdir(catalog.mirrorFolder).catch((): string[] => []);
    for (const name of names) {
      const [, id, beside] = /^(\d+)\.(?:json|git(\.(?:new|old)-.+)?)$/.exec(name) ?? [];
      const repoId = Number(id ?? 'NaN');
      const isMirror = existsSync(catalog.mirrorPath(repoId));
      const isAbandoned = beside !== undefined && isMirror;
      if (isAbandoned || !hasMirror(registry.byId(repoId))) await this.#removeAbandoned(name);
    }
  }

  /** Leftovers only cost disk: the next start tries again. */
  async #removeAbandoned(name: string): Promise<void> {
    const { catalog, log } = this.#options;
    try {
      await rm(path.join(catalog.mirrorFolder, name), { recursive: true, force: true });
    } catch (error) {
      log.warn('a leftover of a mirror could not be removed', { name, error: messageOf(error) });
    }
  }
}

/** The host does not give the credential the repository, whatever the reason. */
function isRefusal(error: unknown): boolean {
  return error instanceof HostError && REFUSALS.has(error.code);
}

/** Removes the mirror of a removed repo, and its stamp. */
export async function removeMirror(
  catalog: Pick<Catalog, 'mirrorFolder' | 'mirrorPath'>,
  repoId: number,
): Promise<void> {
  await rm(catalog.mirrorPath(repoId), { recursive: true, force: true });
  await rm(stampPath(catalog.mirrorFolder, repoId), { force: true });
}

/** Whether a repo is read from our mirror, not from the path of its connection. */
function hasMirror(repo: StoredRepo | undefined): repo is StoredRepo & { readonly host: RepoHost } {
  const { source, submodule } = repo?.host?.facts ?? {};
  return repo?.host !== undefined && source === undefined && submodule === undefined;
}

function idOf({ address, hostId }: RepoHost): Pick<Stamp, 'address' | 'hostId'> {
  return { address, hostId };
}
