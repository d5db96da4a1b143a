// Clones of repos that code hosts have: made and brought up to date before a job reads them, removed with their repos. Beside
// each lies a file that says whose clone it is, so that one that was left by another repo is never taken for it.

import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../base/caught.ts';
import { readOwn, replaceOwn } from '../../base/own-file.ts';
import type { Log } from '../../base/log.ts';
import type { RepoHost, StoredRepo } from '../../store/repos.ts';
import { type GitCredential, type Host, HostError } from '../../hosts/host.ts';
import { isGitExit } from '../../sources/git/git.ts';
import { isMisled } from '../../sources/git/git-place.ts';
import { ProbeError } from '../../sources/git/layout.ts';
import { endStrays } from '../../hosts/mirrors/strays.ts';
import type { RepoRecord } from '../../repos/records.ts';
import type { Catalog } from '../../index/catalog/catalog.ts';
import type { IndexContext } from '../jobs/index-repo.ts';
import type { FetchStep, HostNews } from '../jobs/job-step.ts';
import type { RepoRegister } from '../../index/register/register.ts';
import { checkWhose, newsOf, OtherRepositoryError } from './whose-fetch.ts';

/** Makes or updates a bare clone. Errors: why it cannot be; the clone that was there stays. */
export type FetchClone = (options: {
  readonly folder: string;
  /** http(s) or ssh, without credentials. */
  readonly url: string;
  readonly credential: GitCredential | undefined;
  /** Certificates besides those of the system. */
  readonly caFile?: string | undefined;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly onProgress: (step: FetchStep) => void;
  readonly onHost: (news: HostNews) => void;
  readonly log: Log;
  /** Something could not be read of it: it is checked, and made anew if it is damaged. */
  readonly isDoubted?: boolean;
  /** Asked once something was fetched, before anybody can read it. Errors: nobody is to; the clone stays as it was. */
  readonly confirm?: () => Promise<void>;
}) => Promise<unknown>;

/** Upkeep of a clone, where there is something to be done. Errors: why it cannot be; the clone stays as it was. */
export type MaintainClone = (options: {
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly log: Log;
}) => Promise<unknown>;

/** A connection through which a repo can be fetched. */
export interface CloneWay {
  readonly host: Pick<Host, 'gitCredential' | 'repository'>;
  readonly caFile?: string | undefined;
}

export interface ClonesOptions {
  readonly catalog: Pick<Catalog, 'cloneFolder' | 'clonePath'>;
  readonly register: Pick<RepoRegister, 'byId'>;
  readonly fetchClone: FetchClone;
  readonly maintainClone: MaintainClone;
  /** Of a repo, the connections that have it now, in the order in which they are tried. Errors: none of them can be used. */
  readonly waysOf: (repoId: number) => Promise<readonly CloneWay[]>;
  /** Of one fetch. */
  readonly timeoutMs: () => number;
  /** Told that a repo was fetched. */
  readonly onFetched: (repoId: number) => void;
  /** Told of a repo that is not what was fetched for it: no more may see it than are known to. @param isNews  the first time */
  readonly onOther: (repoId: number, error: OtherRepositoryError, isNews: boolean) => Promise<void>;
  /** Told the first time that nothing is where a repo was fetched from: it may have been renamed. */
  readonly onGone: (repoId: number) => void;
  readonly log: Log;
}

const stampSchema = z.strictObject({
  address: z.string(),
  hostId: z.string(),
  /** Milliseconds since the epoch; null: never. */
  fetchedAt: z.number().nullable(),
  /** `newsOf` of what its host had said of it when it was fetched. */
  news: z.string().optional(),
  /** Somebody was promised that it is fetched again. */
  isOwed: z.literal(true).optional(),
});
type Stamp = z.infer<typeof stampSchema>;

const STAMP_ENDING = '.json';

export class Clones {
  readonly #options: ClonesOptions;
  /** Repos that are to be fetched before they are read again. */
  readonly #stale = new Set<number>();
  /** Repos of which git could not read something. */
  readonly #doubted = new Set<number>();
  /** Repos at whose address something else was found. */
  readonly #others = new Set<number>();
  /** Repos at whose address nothing was found. */
  readonly #gone = new Set<number>();
  /** Repos that have a clone, as far as is known. */
  readonly #cloned = new Set<number>();

  constructor(options: ClonesOptions) {
    this.#options = options;
  }

  /** There may be something new at the host: the next job asks it. */
  markStale(repoId: number): void {
    this.#stale.add(repoId);
  }

  /**
   * As `markStale`, and whatever ends this process, the next one fetches it. Errors: none; where that is not kept, the log says
   * so.
   */
  owe(repoId: number): void {
    this.markStale(repoId);
    const repo = this.#options.register.byId(repoId);
    const stamp = this.#readStamp(repoId);
    // One that was never fetched is fetched in any case.
    if (!hasClone(repo) || !isOf(stamp, repo.host) || stamp.isOwed === true) return;
    try {
      this.#writeStamp(repoId, { ...stamp, isOwed: true });
    } catch (error) {
      const fields = { repo: repo.name, error: messageOf(error) };
      this.#options.log.warn('that a repository is to be fetched could not be kept', fields);
    }
  }

  /** Told why a job failed. What git could not read is to be checked before the next one. */
  noteFailure(repoId: number, error: unknown): void {
    if (!isGitExit(error) && !(error instanceof ProbeError) && !isMisled(error)) return;
    this.#doubted.add(repoId);
    this.#stale.add(repoId);
  }

  /** The host that the next job of a repo asks; undefined: none, as far as is known without reading. */
  hostToAsk(repoId: number): string | undefined {
    if (this.#cloned.has(repoId) && !this.#stale.has(repoId)) return undefined;
    const repo = this.#options.register.byId(repoId);
    return hasClone(repo) ? hostOf(repo.host) : undefined;
  }

  /** Upkeep of the clone of a repo, if it has one. Errors: none; the log says why it could not be. */
  async tidyUp({ repoId, name }: RepoRecord, signal: AbortSignal): Promise<void> {
    const { catalog, register, maintainClone, timeoutMs, log } = this.#options;
    if (!hasClone(register.byId(repoId))) return;
    const folder = catalog.clonePath(repoId);
    try {
      await maintainClone({ folder, signal, timeoutMs: timeoutMs(), log });
    } catch (error) {
      if (!signal.aborted)
        log.warn('a clone could not be tidied up', { repo: name, error: messageOf(error) });
    }
  }

  /**
   * When a repo was fetched last, milliseconds since the epoch; undefined: never. `isBehind`: since then its host has said that
   * there is something new, or somebody was promised that it is fetched.
   */
  lastFetch(repoId: number): {
    readonly fetchedAt: number | undefined;
    readonly isBehind: boolean;
  } {
    const host = this.#options.register.byId(repoId)?.host;
    const stamp = this.#readStamp(repoId);
    if (host === undefined || !isOf(stamp, host)) return { fetchedAt: undefined, isBehind: false };
    const { fetchedAt, news = newsOf(host.facts), isOwed = false } = stamp;
    return { fetchedAt: fetchedAt ?? undefined, isBehind: isOwed || news !== newsOf(host.facts) };
  }

  /**
   * Brings the clone of a repo up to date, if it has one that was marked, or is not there.
   *
   * Errors: why it could not be fetched; the reason of the signal.
   */
  async bringUp(
    { repoId, name }: RepoRecord,
    context: Pick<IndexContext, 'signal' | 'onFetch' | 'onHost'>,
  ): Promise<void> {
    const repo = this.#options.register.byId(repoId);
    if (!hasClone(repo)) return;
    const { host } = repo;
    const folder = this.#options.catalog.clonePath(repoId);
    await mkdir(this.#options.catalog.cloneFolder, { recursive: true, mode: 0o700 });
    // One that never became whole is begun anew.
    if (this.lastFetch(repoId).fetchedAt === undefined) {
      await rm(folder, { recursive: true, force: true });
      this.#writeStamp(repoId, { ...idOf(host), fetchedAt: null });
    }
    const isThere = existsSync(folder);
    if (isThere && !this.#stale.has(repoId)) return;
    const ways = await this.#options.waysOf(repoId);
    if (ways.length === 0) {
      if (isThere) return;
      throw new Error(`no connection has ${name} any more, and there is no clone of it`);
    }
    // Why before: what is pushed meanwhile marks it again.
    this.#stale.delete(repoId);
    try {
      await this.#fetch(repoId, host, ways, context);
      this.#gone.delete(repoId);
    } catch (error) {
      this.#stale.add(repoId);
      this.#noteGone(repoId, error);
      throw error;
    }
    const stamp = { ...idOf(host), fetchedAt: Date.now(), news: newsOf(host.facts) };
    this.#writeStamp(repoId, this.#stale.has(repoId) ? { ...stamp, isOwed: true } : stamp);
    this.#options.onFetched(repoId);
  }

  /** Why once: its connection is listed, which takes many requests, and it may be gone for good. */
  #noteGone(repoId: number, error: unknown): void {
    if (!(error instanceof HostError) || error.code !== 'NOT_FOUND' || this.#gone.has(repoId))
      return;
    this.#gone.add(repoId);
    this.#options.onGone(repoId);
  }

  /** By the first of the ways that works. Errors: of the last one. */
  async #fetch(
    repoId: number,
    repoHost: RepoHost,
    ways: readonly CloneWay[],
    { signal, onFetch, onHost }: Pick<IndexContext, 'signal' | 'onFetch' | 'onHost'>,
  ): Promise<void> {
    const { catalog, fetchClone, timeoutMs, log } = this.#options;
    const { facts } = repoHost;
    const note = (news: HostNews): void => onHost(hostOf(repoHost), news);
    for (const [index, { host, caFile }] of ways.entries()) {
      try {
        onFetch({ phase: 'asking', doneCount: 0, totalCount: 0 });
        note('asked');
        const credential = await host.gitCredential(facts, signal);
        // What anybody may fetch is nobody's secret.
        const isOpen = credential === undefined && /^https?:/i.test(facts.cloneUrl);
        const confirm = (): Promise<void> =>
          isOpen ? Promise.resolve() : this.#confirm(repoId, repoHost, host, signal);
        // Why before as well: it may be large, and would be fetched each time.
        if (this.#others.has(repoId)) await confirm();
        await fetchClone({
          folder: catalog.clonePath(repoId),
          url: facts.cloneUrl,
          isDoubted: this.#doubted.has(repoId),
          credential,
          caFile,
          signal,
          timeoutMs: timeoutMs(),
          onProgress: onFetch,
          onHost: note,
          confirm,
          log,
        });
        this.#doubted.delete(repoId);
        this.#cloned.add(repoId);
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (index === ways.length - 1 || error instanceof OtherRepositoryError) throw error;
        log.warn('a repository could not be fetched by one of its connections', {
          path: facts.path,
          error: messageOf(error),
        });
      }
    }
  }

  /** Errors: those of `checkWhose`. */
  async #confirm(
    repoId: number,
    repoHost: RepoHost,
    host: CloneWay['host'],
    signal: AbortSignal,
  ): Promise<void> {
    const { register, onOther } = this.#options;
    const visibility = register.byId(repoId)?.visibility ?? 'unknown';
    try {
      await checkWhose(repoHost, visibility, host, signal);
      this.#others.delete(repoId);
    } catch (error) {
      if (!(error instanceof OtherRepositoryError)) throw error;
      const isNews = !this.#others.has(repoId);
      this.#others.add(repoId);
      await onOther(repoId, error, isNews);
      throw error;
    }
  }

  /** Removes the clone of a repo that is gone. */
  async remove(repoId: number): Promise<void> {
    this.#stale.delete(repoId);
    this.#others.delete(repoId);
    this.#gone.delete(repoId);
    this.#cloned.delete(repoId);
    await removeClone(this.#options.catalog, repoId);
  }

  /**
   * Removes what is left of repos that the store does not know, what killed fetches left, and files that are made again when
   * they are needed. Where a clone is gone, what lies beside it stays for the next fetch: a kill may have come between two
   * renames.
   */
  async sweep(): Promise<void> {
    const { catalog, register } = this.#options;
    await endStrays(catalog.cloneFolder);
    const names = await readdir(catalog.cloneFolder).catch((): string[] => []);
    for (const name of names) {
      const [, id, beside] = /^(\d+)\.(?:json|git(\.(?:new|old)-.+)?)$/.exec(name) ?? [];
      const repoId = Number(id ?? 'NaN');
      const isClone = existsSync(catalog.clonePath(repoId));
      if (isClone) this.#cloned.add(repoId);
      const isLeft = beside !== undefined && isClone;
      if (isLeft || !hasClone(register.byId(repoId))) await this.#removeLeft(name);
    }
  }

  /** What cannot be removed costs disk alone: the next start tries again. */
  async #removeLeft(name: string): Promise<void> {
    const { catalog, log } = this.#options;
    try {
      await rm(path.join(catalog.cloneFolder, name), { recursive: true, force: true });
    } catch (error) {
      log.warn('what is left of a clone could not be removed', { name, error: messageOf(error) });
    }
  }

  #stampPath(repoId: number): string {
    return stampPath(this.#options.catalog, repoId);
  }

  /** Undefined: there is none that can be read. */
  #readStamp(repoId: number): Stamp | undefined {
    try {
      return stampSchema.parse(JSON.parse(readOwn(this.#stampPath(repoId)).toString()));
    } catch {
      return undefined;
    }
  }

  #writeStamp(repoId: number, stamp: Stamp): void {
    replaceOwn(this.#stampPath(repoId), `${JSON.stringify(stamp)}\n`);
  }
}

/** Removes the clone of a repo that is gone, and what is said of it. */
export async function removeClone(
  catalog: Pick<Catalog, 'cloneFolder' | 'clonePath'>,
  repoId: number,
): Promise<void> {
  await rm(catalog.clonePath(repoId), { recursive: true, force: true });
  await rm(stampPath(catalog, repoId), { force: true });
}

function stampPath({ cloneFolder }: Pick<Catalog, 'cloneFolder'>, repoId: number): string {
  return path.join(cloneFolder, `${repoId}${STAMP_ENDING}`);
}

/** Whether a repo is read from a clone of ours, and not where its connection says that it lies. */
function hasClone(repo: StoredRepo | undefined): repo is StoredRepo & { readonly host: RepoHost } {
  const { source, submodule } = repo?.host?.facts ?? {};
  return repo?.host !== undefined && source === undefined && submodule === undefined;
}

/** Hosts by what is kept of repos: all jobs that wait may be looked at when one ends. */
const hostNames = new WeakMap<RepoHost, string>();

/** Name and port. */
function hostOf(repoHost: RepoHost): string {
  const known = hostNames.get(repoHost);
  if (known !== undefined) return known;
  const name = new URL(repoHost.facts.cloneUrl).host;
  hostNames.set(repoHost, name);
  return name;
}

function idOf({ address, hostId }: RepoHost): Pick<Stamp, 'address' | 'hostId'> {
  return { address, hostId };
}

function isOf(stamp: Stamp | undefined, { address, hostId }: RepoHost): stamp is Stamp {
  return stamp?.address === address && stamp.hostId === hostId;
}
