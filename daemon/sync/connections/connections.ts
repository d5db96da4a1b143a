// The connections of the configuration, kept in step with their hosts: which repositories each lists (sync-jobs.ts), who may
// see them, their clones (clones.ts), and the removal of those that no connection has any more (cleanup-jobs.ts). What is
// cloned is indexed by the jobs of its repo.

import type { Connections as ConnectionRows, StoredConnection } from '../../store/connections.ts';
import type { StoredRepo } from '../../store/repos.ts';
import { messageOf } from '../../base/caught.ts';
import type { ConnectionSettings } from '../../base/config/connections.ts';
import type { SecretText } from '../../base/config/secret-text.ts';
import type { Log } from '../../base/log.ts';
import type { JobCounts } from '../../repos/jobs.ts';
import {
  awaitedAnswers,
  awaitedByGit,
  awaitedOf,
  awaitedSentence,
} from '../../hosts/awaited-answers.ts';
import type { Host } from '../../hosts/host.ts';
import { type HostPause, hostPauses } from '../../hosts/host-pauses.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Catalog } from '../../index/catalog/catalog.ts';
import { type CatalogRepo, withoutFingerprint } from '../../index/catalog/catalog-records.ts';
import type { JobBook } from '../jobs/job-book.ts';
import type { JobLimits } from '../jobs/job-limits.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { hostedRecord, unbuilt } from '../../index/register/open-catalog.ts';
import type { RepoRegister } from '../../index/register/register.ts';
import type { Served } from '../../index/served/served.ts';
import { CleanupJobs } from './cleanup-jobs.ts';
import { type CloneWay, Clones, type FetchClone, type MaintainClone } from './clones.ts';
import { configure } from './configure.ts';
import { DueTimes } from './due-times.ts';
import { HeardVisibility } from './heard-visibility.ts';
import { Pushes } from './pushes.ts';
import { RepoRemover } from './remove-repos.ts';
import { Submodules } from './submodules.ts';
import { SyncJobs, type SyncTarget } from './sync-jobs.ts';
import type { Admitted } from './which-listed.ts';
import { narrowed, type OtherRepositoryError } from './whose-fetch.ts';

/** As they are now. Times in ms. */
export interface ConnectionLimits {
  readonly reindexIntervalMs: number;
  readonly resyncConnectionIntervalMs: number;
  readonly repoGarbageCollectionGracePeriodMs: number;
  readonly syncJobs: JobLimits;
  readonly cleanupJobs: JobLimits;
  /** Of one fetch. */
  readonly fetchTimeoutMs: number;
}

/** How hosts are reached. */
export interface HostAccess {
  /** Errors: what is configured is not enough. */
  readonly openHost: (name: string, settings: ConnectionSettings) => Promise<Host>;
  readonly fetchClone: FetchClone;
  /** Of `settings.webhooks`, as it is now; undefined: no webhook is taken. Errors: ConfigError. */
  readonly webhookSecret: () => SecretText | undefined;
  readonly maintainClone: MaintainClone;
}

export interface ConnectionsOptions extends HostAccess {
  readonly catalog: Catalog;
  readonly register: RepoRegister;
  readonly served: Served;
  readonly jobs: Jobs;
  readonly book: JobBook;
  readonly rows: ConnectionRows;
  /** The daemon whose configuration it is. */
  readonly instance: string;
  /** No other daemon has its store. */
  readonly isAlone: boolean;
  readonly limits: () => ConnectionLimits;
  readonly log: Log;
}

/** A connection of the configuration. */
interface Configured {
  readonly settings: ConnectionSettings;
  /** Undefined: it was not asked yet, or could not be opened. */
  host?: Promise<Host> | undefined;
}

/** Guess: how soon what is due begins. */
const TICK_MS = 2_000;

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly clones: Clones;
  readonly sync: SyncJobs;
  readonly cleanup: CleanupJobs;
  readonly remover: RepoRemover;
  readonly pushes: Pushes;
  readonly submodules: Submodules;
  /** By name. */
  #configured = new Map<string, Configured>();
  /** There is a configuration to be obeyed: without one nothing is removed. */
  #isConfigured = false;
  #isStarted = false;
  readonly #syncTimes: DueTimes;
  readonly #fetchTimes: DueTimes;
  readonly #heard = new HeardVisibility();
  /** What was decided on repos and could not be kept yet. */
  readonly #owed = { changedIds: new Set<number>(), dueIds: new Set<number>() };
  #ticking: NodeJS.Timeout | undefined;
  #onListed: () => void = () => {};
  /** One after the other, so that what was said later counts. */
  #configuring: Promise<void> = Promise.resolve();

  constructor(options: ConnectionsOptions) {
    const { catalog, register, book, rows, log, limits, fetchClone, maintainClone } = options;
    this.#options = options;
    this.#syncTimes = new DueTimes(() => limits().resyncConnectionIntervalMs);
    this.#fetchTimes = new DueTimes(() => limits().reindexIntervalMs);
    this.clones = new Clones({
      catalog,
      register,
      fetchClone,
      maintainClone,
      waysOf: (repoId) => this.#waysOf(repoId),
      timeoutMs: () => limits().fetchTimeoutMs,
      onFetched: (repoId) => this.#fetchTimes.restart(repoId),
      onOther: (...told) => this.#noteOther(...told),
      onGone: (repoId) => this.#relist(repoId),
      log,
    });
    const { webhookSecret: secret } = options;
    this.pushes = new Pushes({
      register,
      has: (repoId) => this.has(repoId) === true,
      owe: (repoId) => this.clones.owe(repoId),
      askHost: (repoId) => this.askHost(repoId),
      narrow: (...told) => this.#obeyWebhook(...told),
      relist: (repoId) => this.#relist(repoId),
      secret,
      log,
    });
    this.remover = new RepoRemover({ ...options, clones: this.clones });
    const obey = (changes: Obeyed): Promise<void> => this.#obey(changes);
    this.submodules = new Submodules({
      catalog,
      register,
      has: (repoId) => this.has(repoId) === true,
      areWanted: () => [...this.#configured.values()].some(({ settings }) => settings.submodules),
      isWanted: (repoId) => this.#wantsSubmodules(repoId),
      obey: (changedIds) => this.#obey({ changedIds, dueIds: changedIds }),
      remove: (...call) => this.remover.remove(...call),
      log,
    });
    this.sync = new SyncJobs({
      register,
      rows,
      book,
      log,
      limits: () => limits().syncJobs,
      hostOf: (connectionId) => this.#hostOf(connectionId),
      digestOf: (connectionId) => this.#targetOf(connectionId)?.rules.digest,
      targetOf: (connectionId) => this.#targetOf(connectionId),
      obey,
      heard: this.#heard,
      onEnd: () => {
        this.#onListed();
        this.#cleanUp();
      },
    });
    this.cleanup = new CleanupJobs({
      register,
      remover: this.remover,
      book,
      log,
      limits: () => limits().cleanupJobs,
      graceMs: () => limits().repoGarbageCollectionGracePeriodMs,
      restore: (repoIds) => obey({ changedIds: repoIds, dueIds: repoIds }),
    });
  }

  /** Those of the configuration, by name. */
  get all(): readonly StoredConnection[] {
    const { register, instance } = this.#options;
    return register.connections.filter(
      (one) => one.instance === instance && this.#configured.has(one.name),
    );
  }

  /** Connections of the configuration, by name: another map once that says something else. */
  get configured(): ReadonlyMap<string, unknown> {
    return this.#configured;
  }

  /** Whether a connection of the configuration has a repo, or had it and it stays; undefined: it is not one of a code host. */
  has(repoId: number): boolean | undefined {
    const host = this.#options.register.byId(repoId)?.host;
    if (host === undefined) return undefined;
    const chain = host.facts.submodule?.chain;
    if (chain !== undefined)
      return this.#wantsSubmodules(chain[0]!) && chain.every((one) => this.has(one) === true);
    return this.#linkedTo(repoId, true).length > 0;
  }

  #wantsSubmodules(repoId: number): boolean {
    const linked = this.#linkedTo(repoId, true);
    return linked.some(({ name }) => this.#configured.get(name)?.settings.submodules === true);
  }

  /** Those of the configuration that have a repo. @param areMissingMeant  or had it */
  #linkedTo(repoId: number, areMissingMeant = false): StoredConnection[] {
    const links = this.#options.register.linksOf(repoId);
    const ids = new Set(
      links
        .filter(({ missingSince }) => areMissingMeant || missingSince === null)
        .map(({ connectionId }) => connectionId),
    );
    return ids.size === 0 ? [] : this.all.filter(({ connectionId }) => ids.has(connectionId));
  }

  /** Those that a connection has; undefined: it is not in the configuration. */
  reposOf(name: string): readonly StoredRepo[] | undefined {
    const { register } = this.#options;
    const connectionId = this.all.find((one) => one.name === name)?.connectionId;
    if (connectionId === undefined) return undefined;
    return register.book.links
      .filter((link) => link.connectionId === connectionId && link.missingSince === null)
      .flatMap(({ repoId }) => register.byId(repoId) ?? []);
  }

  /** Errors: those of opening the host. */
  async hostOf(name: string): Promise<Host> {
    return this.#hostOf(this.all.find((one) => one.name === name)?.connectionId ?? 0);
  }

  /** Calls `listener` when what a connection has may have changed. */
  onListed(listener: () => void): void {
    this.#onListed = listener;
  }

  /** Ids of the connections that have a repo, or had it and it stays. */
  idsOf(repoId: number): number[] {
    return this.#linkedTo(repoId, true).map(({ connectionId }) => connectionId);
  }

  /** Their names. */
  namesOf(repoId: number): string[] {
    return this.#linkedTo(repoId, true).map(({ name }) => name);
  }

  /**
   * Obeys what the configuration says now: who may see repos holds at once, before any host is asked.
   *
   * @param areReopened  hosts are opened anew: what they need besides the settings has changed
   *
   * Errors: NOT_READY; those of the catalog.
   */
  async configure(
    connections: Readonly<Record<string, ConnectionSettings>>,
    areReopened = false,
  ): Promise<void> {
    const turn = this.#configuring
      .catch(() => {})
      .then(() => this.#configure(connections, areReopened));
    this.#configuring = turn;
    return turn;
  }

  async #configure(
    connections: Readonly<Record<string, ConnectionSettings>>,
    areReopened: boolean,
  ): Promise<void> {
    const { register, instance, isAlone } = this.#options;
    const before = this.#configured;
    this.#isConfigured = true;
    const changed = new Set<string>();
    this.#configured = new Map(
      Object.entries(connections).map(([name, settings]) => {
        const known = before.get(name);
        const isSame = isDeepStrictEqual(known?.settings, settings);
        if (known !== undefined && isSame && !areReopened) return [name, known];
        if (!isSame) changed.add(name);
        return [name, { settings }];
      }),
    );
    const configured = { instance, isAlone, connections, now: Date.now() };
    const { changedIds, dueIds } = await register.decide((book) => configure(book, configured));
    await this.#obey({ changedIds: new Set([...changedIds, ...this.#unlisted()]), dueIds });
    const closed = [...before].filter(([name, one]) => this.#configured.get(name) !== one);
    await closeHosts(closed.map(([, one]) => one));
    if (!this.#isStarted) return;
    this.#resume(changed);
    this.#cleanUp();
  }

  /** RepoIds that are served and not in the catalog. */
  #unlisted(): number[] {
    const { register, catalog } = this.#options;
    return register.all
      .map(({ repoId }) => repoId)
      .filter((repoId) => this.has(repoId) === true && catalog.repo(repoId) === undefined);
  }

  /** Lists, fetches and removes from now on, when each is due. What the process before has left undone is taken up. */
  async start(): Promise<void> {
    const { book, register, served } = this.#options;
    const left = await book.read();
    const nameOf = (id: number): string | undefined => this.#targetOf(id)?.name;
    this.sync.runner.recall(left, nameOf);
    this.cleanup.runner.recall(left, (repoId) => register.byId(repoId)?.name);
    await this.clones.sweep();
    this.#isStarted = true;
    // What hosts told while nobody listened is lost: they list it.
    const isAwaiting = this.pushes.isAwaiting;
    this.#resume(new Set(isAwaiting ? this.all.map(({ name }) => name) : []));
    this.sync.runner.forgetLeft();
    // Why all: what was fetched may not have been indexed any more; a job that finds nothing new takes 0.2 ms.
    for (const { repoId } of served.records) {
      if (this.has(repoId) === undefined) continue;
      const { fetchedAt, isBehind } = this.clones.lastFetch(repoId);
      this.#fetchTimes.resume(repoId, fetchedAt);
      if (isBehind) this.clones.markStale(repoId);
      this.#index(repoId);
    }
    this.#cleanUp();
    this.cleanup.runner.forgetLeft();
    this.tick();
    this.#ticking = setInterval(() => this.tick(), TICK_MS).unref();
  }

  /** Has those listed that are new or changed, or that were interrupted. */
  #resume(changed: ReadonlySet<string>): void {
    const { runner } = this.sync;
    const left = new Set(runner.left.map(({ targetId }) => targetId));
    for (const connection of this.all) {
      const { connectionId, name, wholeAt, syncedAt } = connection;
      if (!this.#syncTimes.has(connectionId))
        this.#syncTimes.resume(connectionId, syncedAt ?? undefined);
      if (changed.has(name) || wholeAt === null || left.has(connectionId)) this.#list(connection);
    }
  }

  #list({ connectionId, name }: SyncTarget): void {
    this.#syncTimes.restart(connectionId);
    this.sync.runner.ask({ connectionId, name });
  }

  /** Begins what is due. */
  tick(): void {
    if (this.sync.runner.signal.aborted) return;
    for (const connectionId of this.#syncTimes.take()) {
      const target = this.#targetOf(connectionId);
      if (target === undefined) this.#syncTimes.forget(connectionId);
      else this.#list(target);
    }
    for (const repoId of this.#fetchTimes.take())
      if (this.#linkedTo(repoId).length === 0) this.#fetchTimes.forget(repoId);
      else this.askHost(repoId);
  }

  /** Has a repo fetched and indexed, as its host may have something new. */
  askHost(repoId: number): void {
    this.clones.markStale(repoId);
    this.#fetchTimes.restart(repoId);
    this.#index(repoId);
  }

  /** Hides a repo, and asks for listings that say more. */
  async #noteOther(
    repoId: number,
    { visibility }: OtherRepositoryError,
    isNews: boolean,
  ): Promise<void> {
    await this.#narrow(repoId, visibility);
    if (isNews) this.#relist(repoId);
  }

  /** Has the connections listed that have a repo. */
  #relist(repoId: number): void {
    for (const connection of this.#linkedTo(repoId)) this.#list(connection);
  }

  /** Errors: none. */
  async #obeyWebhook(repoId: number, visibility: StoredRepo['visibility']): Promise<void> {
    try {
      await this.#narrow(repoId, visibility);
    } catch (error) {
      // What is owed is obeyed with what is decided next.
      const repo = this.#options.register.byId(repoId)?.name;
      this.#options.log.warn('a repository is hidden, which could not be kept', {
        repo,
        error: messageOf(error),
      });
    }
  }

  /** Hides a repo at once from whom it may be kept. Errors: those of the catalog. */
  async #narrow(repoId: number, visibility: StoredRepo['visibility']): Promise<void> {
    const { register, log } = this.#options;
    const host = register.byId(repoId)?.host;
    if (host !== undefined) this.#heard.note(host, visibility);
    let isNarrowed = true;
    try {
      isNarrowed = await register.decide((book) => narrowed(book, repoId, visibility));
    } catch (error) {
      // The next listing has it known.
      log.warn('who may see a repository could not be kept: it is for owners alone until it can', {
        repo: register.byId(repoId)?.name,
        error: messageOf(error),
      });
      register.hide([repoId]);
    }
    if (isNarrowed) await this.#obey({ changedIds: new Set([repoId]), dueIds: new Set() });
  }

  #index(repoId: number): void {
    const record = this.#options.served.record(repoId);
    if (record !== undefined) this.#options.jobs.ask(record);
  }

  /**
   * Has a connection listed, for a user; the id of the job. Undefined: there is none of this id. Errors: it is being closed.
   */
  async askSync(connectionId: number): Promise<string | undefined> {
    const target = this.#targetOf(connectionId);
    return target && this.sync.runner.askKept(target);
  }

  /** Has what was decided on repos hold: who may see them first; and what could not be kept when it was decided. */
  async #obey(decided: Obeyed): Promise<void> {
    const { served, catalog } = this.#options;
    const { changedIds, dueIds } = owing(this.#owed, decided);
    if (changedIds.size > 0) {
      served.publish();
      this.#onListed();
      await catalog.commit(() => ({ put: [...changedIds].flatMap((id) => this.#putOf(id)) }));
      served.publish();
    }
    for (const id of changedIds) this.#owed.changedIds.delete(id);
    for (const id of dueIds) this.#owed.dueIds.delete(id);
    if (!this.#isStarted) return;
    for (const repoId of dueIds) this.askHost(repoId);
    for (const repoId of changedIds)
      if (!dueIds.has(repoId) && served.record(repoId)?.indexedAt === undefined)
        this.#index(repoId);
  }

  /** What becomes of a repo in the catalog. */
  #putOf(repoId: number): CatalogRepo[] {
    const { register, catalog, jobs } = this.#options;
    const repo = register.byId(repoId);
    if (repo?.host === undefined) return [];
    const known = catalog.repo(repoId);
    if (known === undefined)
      return this.has(repoId) === true ? [unbuilt(hostedRecord(catalog, register, repo))] : [];
    const record = hostedRecord(catalog, register, repo, known.record);
    if (record.name !== known.record.name) jobs.failed.clear(repoId);
    if (isDeepStrictEqual(record, known.record)) return [];
    // What the files on disk were says nothing of what is committed.
    const isOther = record.source.kind !== known.record.source.kind;
    return [{ ...(isOther ? withoutFingerprint(known) : known), record }];
  }

  #targetOf(connectionId: number): StoredConnection | undefined {
    return this.all.find((one) => one.connectionId === connectionId);
  }

  /** Errors: those of opening the host. */
  async #hostOf(connectionId: number): Promise<Host> {
    const name = this.#targetOf(connectionId)?.name;
    const configured = name === undefined ? undefined : this.#configured.get(name);
    if (name === undefined || configured === undefined)
      throw new Error('the connection is not in the configuration any more');
    configured.host ??= this.#options
      .openHost(name, configured.settings)
      .catch((error: unknown) => {
        configured.host = undefined;
        throw error;
      });
    return configured.host;
  }

  /** Errors: that of the first, if none can be opened. */
  async #waysOf(repoId: number): Promise<CloneWay[]> {
    const ways: CloneWay[] = [];
    let failure: unknown;
    for (const { connectionId, name } of this.#linkedTo(repoId)) {
      try {
        const host = await this.#hostOf(connectionId);
        const { caFile } = this.#configured.get(name)!.settings.tls;
        ways.push({ host, caFile });
      } catch (error) {
        failure ??= error;
        this.#options.log.warn('a connection cannot be used', {
          connection: name,
          error: messageOf(error),
        });
      }
    }
    if (ways.length === 0 && failure !== undefined) throw failure;
    return ways;
  }

  #cleanUp(): void {
    if (!this.#isConfigured || !this.#isStarted) return;
    this.cleanup.consider();
    this.submodules.note();
  }

  /** A repo was indexed. */
  noteIndexed(repoId: number): void {
    const host = this.#options.register.byId(repoId)?.host;
    if (this.#isStarted && host !== undefined && host.facts.submodule === undefined)
      this.submodules.note();
  }

  /** What becomes of the connections: not listed yet, failed, or listed with gaps. */
  get counts(): JobCounts {
    const { runner, warned } = this.sync;
    const hasFailed = ({ connectionId }: StoredConnection): boolean =>
      runner.failed.reasonOf(connectionId) !== undefined;
    const count = (is: (one: StoredConnection) => boolean): number => this.all.filter(is).length;
    return {
      firstTime: count((one) => one.syncedAt === null && !hasFailed(one)),
      failed: count(hasFailed),
      warned: count(({ connectionId }) => warned.has(connectionId)),
    };
  }

  /** Why a connection is not listed or fetched, in words for the owner; undefined: it is, or has not been asked for. */
  troubleOf({ connectionId, name }: StoredConnection): string | undefined {
    const cloneUrls = (): string[] =>
      (this.reposOf(name) ?? []).flatMap(({ host }) => host?.facts.cloneUrl || []);
    const awaited = awaitedOf(name) ?? awaitedByGit(cloneUrls);
    if (awaited !== undefined) return awaitedSentence(awaited);
    return this.sync.runner.failed.reasonOf(connectionId);
  }

  /** What does not work as it should, in words for the owner; empty: nothing. */
  get degradations(): readonly string[] {
    const awaited = new Map(
      awaitedAnswers()
        .toReversed()
        .map((one) => [one.host, one]),
    );
    const wanted = (name: string): boolean => this.#configured.has(name);
    return [
      ...this.sync.runner.failed.sentences(wanted).map((one) => `connection ${one}`),
      ...[...awaited.values()].map(awaitedSentence),
      ...hostPauses().map(pauseSentence),
      ...this.pushes.degradations,
    ];
  }

  /** Nothing begins any more; resolves when nothing is under way. */
  async close(): Promise<void> {
    clearInterval(this.#ticking);
    this.pushes.close();
    await this.submodules.close();
    await Promise.all([this.sync.runner.close(), this.cleanup.close()]);
    await closeHosts([...this.#configured.values()]);
  }
}

function pauseSentence({ host, until }: HostPause): string {
  const time = new Date(until).toISOString();
  return `${host} asks to be left alone until ${time}, by its limit of requests; what waits for it goes on then`;
}

async function closeHosts(configured: readonly Configured[]): Promise<void> {
  for (const { host } of configured) {
    // What could not be opened needs no closing.
    const open = await host?.catch(() => undefined);
    await open?.close();
  }
}

type Obeyed = Pick<Admitted, 'changedIds' | 'dueIds'>;

/** What is owed now, with what was decided. */
function owing(
  owed: Readonly<Record<keyof Obeyed, Set<number>>>,
  decided: Obeyed,
): Readonly<Record<keyof Obeyed, Set<number>>> {
  for (const id of decided.changedIds) owed.changedIds.add(id);
  for (const id of decided.dueIds) owed.dueIds.add(id);
  return { changedIds: new Set(owed.changedIds), dueIds: new Set(owed.dueIds) };
}
