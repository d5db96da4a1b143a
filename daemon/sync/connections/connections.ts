// The connections of the configuration: lists their repositories (sync-jobs.ts), applies permissions, maintains mirrors
// (mirrors.ts), and removes what no connection lists any more (cleanup-jobs.ts).

import type { ConnectionRows, StoredConnection } from '../../store/connections.ts';
import type { StoredRepo, StoredRepos } from '../../store/repos.ts';
import { messageOf } from '../../base/caught.ts';
import type { ConnectionSettings } from '../../base/config/connections.ts';
import type { SecretText } from '../../base/config/secret-text.ts';
import type { Log } from '../../base/log.ts';
import { Sequence } from '../../base/sequence.ts';
import type { JobCounts } from '../../repos/jobs.ts';
import {
  awaitedAnswers,
  awaitedByGit,
  awaitedOf,
  awaitedSentence,
} from '../../hosts/awaited-answers.ts';
import type { Host } from '../../hosts/host.ts';
import { hostPauses } from '../../hosts/rate-limit.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Catalog } from '../../index/catalog/catalog.ts';
import {
  type CatalogRepo,
  unbuilt,
  withoutFingerprint,
} from '../../index/catalog/catalog-records.ts';
import type { JobRows } from '../../store/jobs.ts';
import type { ConnectionLimits } from '../jobs/job-limits.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { recordOf } from '../../index/register/change-repo.ts';
import { hostedRecord } from '../../index/register/open-catalog.ts';
import type { RepoRegistry } from '../../index/register/registry.ts';
import type { Served } from '../../index/served/served.ts';
import { CleanupJobs } from './cleanup-jobs.ts';
import { type MirrorRemote, Mirrors, type FetchMirror } from './mirrors.ts';
import { configure } from './configure.ts';
import { DueTimes } from './due-times.ts';
import {
  isRestricted,
  isStricter,
  LatestVisibility,
  restrictedTo,
  type OtherRepositoryError,
} from './confirm-fetch.ts';
import { Pushes } from './pushes.ts';
import { RepoRemover } from './remove-repos.ts';
import { addressOf } from './rules.ts';
import { Submodules } from './submodules.ts';
import { SyncJobs, type SyncTarget } from './sync-jobs.ts';
import type { Admitted } from './which-listed.ts';

export interface HostAccess {
  /** Errors: the configuration is incomplete. */
  readonly openHost: (name: string, settings: ConnectionSettings) => Promise<Host>;
  readonly fetchMirror: FetchMirror;
  /** The current `settings.webhooks` secret; undefined: webhooks are off. Errors: ConfigError. */
  readonly webhookSecret: () => SecretText | undefined;
}

export interface ConnectionsOptions extends HostAccess {
  readonly catalog: Catalog;
  readonly registry: RepoRegistry;
  readonly served: Served;
  readonly jobs: Jobs;
  readonly jobRows: JobRows;
  readonly rows: ConnectionRows;
  readonly instance: string;
  readonly isAlone: boolean;
  readonly limits: () => ConnectionLimits;
  readonly log: Log;
}

interface Configured {
  readonly settings: ConnectionSettings;
  /** Undefined: not opened yet, or it failed. */
  host?: Promise<Host> | undefined;
}

/** What follows once the configuration is applied. */
interface Unapplied {
  /** Names of connections to list again. */
  readonly changed: Set<string>;
  /** Their hosts are to be closed. */
  readonly closed: Set<Configured>;
  /** Why it could not be applied; absent: that was not tried yet. */
  error?: unknown;
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly mirrors: Mirrors;
  readonly sync: SyncJobs;
  readonly cleanup: CleanupJobs;
  readonly remover: RepoRemover;
  readonly pushes: Pushes;
  readonly submodules: Submodules;
  /** By name. */
  #configured = new Map<string, Configured>();
  /** A configuration was applied: without one nothing is removed. */
  #isConfigured = false;
  #isStarted = false;
  readonly #syncTimes: DueTimes;
  readonly #fetchTimes: DueTimes;
  readonly #latestVisibility = new LatestVisibility();
  /** Decisions about repos that could not be stored yet. */
  readonly #pending = { changedIds: new Set<number>(), dueIds: new Set<number>() };
  #ticking: NodeJS.Timeout | undefined;
  #onListed: () => void = () => {};
  /** So that the last configuration wins. */
  readonly #configuring = new Sequence();
  /** Undefined: the configuration is applied. */
  #unapplied: Unapplied | undefined;
  #isApplyingAgain = false;
  #recalled: Promise<void> | undefined;

  constructor(options: ConnectionsOptions) {
    const { limits } = options;
    this.#options = options;
    this.#syncTimes = new DueTimes(() => limits().resyncConnectionIntervalMs);
    this.#fetchTimes = new DueTimes(() => limits().reindexIntervalMs);
    const parts = {
      ...options,
      latestVisibility: this.#latestVisibility,
      has: (repoId: number) => this.has(repoId) === true,
      hostOf: (name: string) => this.hostOf(name),
      targetOf: (connectionId: number) => this.#targetOf(connectionId),
      requestFetch: (repoId: number, ...rest: [number, number | undefined]) =>
        this.requestFetch(repoId, ...rest),
      relist: (repoId: number) => this.relist(repoId),
      apply: (changes: AppliedChanges) => this.#apply(changes),
    };
    this.mirrors = new Mirrors({
      ...parts,
      timeoutMs: () => limits().fetchTimeoutMs,
      remotesOf: (repoId) => this.#remotesOf(repoId),
      onFetched: (repoId) => this.#fetchTimes.restart(repoId),
      onOther: (...args) => this.#noteOther(...args),
    });
    this.pushes = new Pushes({ ...parts, restrict: (...args) => this.#applyWebhook(...args) });
    this.remover = new RepoRemover({ ...options, mirrors: this.mirrors });
    this.submodules = new Submodules({
      ...parts,
      remover: this.remover,
      areSubmodulesEnabled: () =>
        [...this.#configured.values()].some(({ settings }) => settings.submodules),
      hasSubmodulesEnabled: (repoId) => this.#includesSubmodules(repoId),
    });
    this.sync = new SyncJobs({
      ...parts,
      hostOf: async (name) => {
        await this.#applied();
        return this.hostOf(name);
      },
      comesBefore: (connectionId, { name }) => {
        const names = [...this.#configured.keys()];
        const other = this.#targetOf(connectionId)?.name ?? name;
        return names.indexOf(other) < names.indexOf(name);
      },
      limits: () => limits().syncJobs,
      onEnd: () => {
        this.#onListed();
        this.#cleanUp();
      },
    });
    this.cleanup = new CleanupJobs({
      ...parts,
      remover: this.remover,
      limits: () => limits().cleanupJobs,
      graceMs: () => limits().repoGarbageCollectionGracePeriodMs,
    });
  }

  get all(): readonly StoredConnection[] {
    const { registry, instance } = this.#options;
    return registry.connections.filter(
      (one) => one.instance === instance && this.#configured.has(one.name),
    );
  }

  /** Connections of the configuration, by name. A new Map after each configuration change. */
  get configured(): ReadonlyMap<string, unknown> {
    return this.#configured;
  }

  /** Whether a connection lists a repo, or listed a repo that stays; undefined: the repo is not of a code host. */
  has(repoId: number): boolean | undefined {
    const host = this.#options.registry.byId(repoId)?.host;
    if (host === undefined) return undefined;
    const chain = host.facts.submodule?.chain;
    if (chain !== undefined)
      return this.#includesSubmodules(chain[0]!) && chain.every((one) => this.has(one) === true);
    return this.#linkedTo(repoId, true).length > 0;
  }

  #includesSubmodules(repoId: number): boolean {
    const linked = this.#linkedTo(repoId, true);
    return linked.some(({ name }) => this.#configured.get(name)?.settings.submodules === true);
  }

  /** Connections of the configuration that list a repo. @param includesMissing  or listed it before */
  #linkedTo(repoId: number, includesMissing = false): StoredConnection[] {
    const { registry } = this.#options;
    if (registry.byId(repoId)?.host === undefined) return [];
    const links = registry.linksOf(repoId);
    const ids = new Set(
      links
        .filter(({ missingSince }) => includesMissing || missingSince === null)
        .map(({ connectionId }) => connectionId),
    );
    return ids.size === 0 ? [] : this.all.filter(({ connectionId }) => ids.has(connectionId));
  }

  /** Undefined: not in the configuration. */
  settingsOf(name: string): ConnectionSettings | undefined {
    return this.#configured.get(name)?.settings;
  }

  /** Undefined: not known yet. */
  reposOf(name: string): readonly StoredRepo[] | undefined {
    const { registry, instance } = this.#options;
    const settings = this.settingsOf(name);
    const stored = this.all.find((one) => one.name === name);
    if (settings === undefined || stored?.address !== addressOf(settings, instance))
      return undefined;
    const { connectionId } = stored;
    return registry.stored.links
      .filter((link) => link.connectionId === connectionId && link.missingSince === null)
      .flatMap(({ repoId }) => registry.byId(repoId) ?? []);
  }

  onListed(listener: () => void): void {
    this.#onListed = listener;
  }

  /** Ids of the connections that list a repo, or listed it and it stays. */
  idsOf(repoId: number): number[] {
    return this.#linkedTo(repoId, true).map(({ connectionId }) => connectionId);
  }

  namesOf(repoId: number): string[] {
    return this.#linkedTo(repoId, true).map(({ name }) => name);
  }

  /**
   * Applies permissions before any host is contacted. What cannot be stored is tried again; meanwhile owners alone see
   * the repos that it restricts. @param areReopened  opens hosts again. Errors: NOT_READY.
   */
  async configure(
    connections: Readonly<Record<string, ConnectionSettings>>,
    areReopened = false,
  ): Promise<void> {
    return this.#configuring.run(() => this.#configure(connections, areReopened));
  }

  /** Resolves when the configuration is applied. Errors: NOT_READY. */
  #applied(): Promise<void> {
    return this.#configuring.run(() => this.#applyConfiguration());
  }

  async #configure(
    connections: Readonly<Record<string, ConnectionSettings>>,
    areReopened: boolean,
  ): Promise<void> {
    const before = this.#configured;
    this.#isConfigured = true;
    const { changed, closed } = (this.#unapplied ??= { changed: new Set(), closed: new Set() });
    this.#configured = new Map(
      Object.entries(connections).map(([name, settings]) => {
        const former = before.get(name);
        const isSame = isDeepStrictEqual(former?.settings, settings);
        if (former !== undefined && isSame)
          return [name, areReopened ? { settings: former.settings } : former];
        changed.add(name);
        return [name, { settings }];
      }),
    );
    // A host that is only opened again is not closed: running listings still use the old one.
    for (const [name, one] of before)
      if (this.#configured.get(name)?.settings !== one.settings) closed.add(one);
    await this.#applyConfiguration();
  }

  async #applyConfiguration(): Promise<void> {
    const unapplied = this.#unapplied;
    if (unapplied === undefined) return;
    const { registry, instance, isAlone } = this.#options;
    const connections = Object.fromEntries(
      [...this.#configured].map(([name, { settings }]) => [name, settings]),
    );
    const configured = { instance, isAlone, connections, now: Date.now() };
    const decide = (stored: StoredRepos) => configure(stored, configured);
    try {
      const { changedIds, dueIds } = await registry.decide(decide);
      const released = [...registry.withhold([]), ...this.#unlisted()];
      await this.#apply({ changedIds: new Set([...changedIds, ...released]), dueIds });
    } catch (error) {
      unapplied.error = error;
      this.#withhold(decide(registry.stored).changed);
      throw error;
    }
    this.#unapplied = undefined;
    await closeHosts([...unapplied.closed]);
    await this.#recall();
    if (!this.#isStarted) return;
    this.#resume(unapplied.changed);
    this.#cleanUp();
  }

  /** Restricts repos to owners until the configuration is applied, if fewer may see them then. */
  #withhold(changed: readonly StoredRepo[]): void {
    const { registry, served } = this.#options;
    const restricted = changed.filter((repo) => isRestricted(repo, registry.byId(repo.repoId)));
    const repoIds = new Set(restricted.map(({ repoId }) => repoId));
    if (!isDeepStrictEqual(registry.withhold(repoIds), repoIds)) served.publish();
  }

  #unlisted(): number[] {
    const { registry, catalog } = this.#options;
    return registry.all
      .map(({ repoId }) => repoId)
      .filter((repoId) => this.has(repoId) === true && catalog.repo(repoId) === undefined);
  }

  /** Takes over the jobs of the previous process, once the connections are known: no request is stored before. */
  #recall(): Promise<void> {
    const { registry } = this.#options;
    this.#recalled ??= this.sync
      .recall((id) => this.#targetOf(id)?.name)
      .then(() => this.cleanup.recall((repoId) => registry.byId(repoId)?.name));
    return this.#recalled;
  }

  /** Starts scheduled listings, fetches and removals, and resumes unfinished ones. */
  async start(): Promise<void> {
    const { served, jobs } = this.#options;
    await this.#recall();
    await this.mirrors.sweep();
    this.#isStarted = true;
    // Webhooks sent while the daemon was down are lost, so everything is listed.
    const isAwaiting = this.pushes.isAwaiting;
    this.#resume(new Set(isAwaiting ? this.all.map(({ name }) => name) : []));
    this.sync.failUnrequested();
    const records = served.records.filter(({ repoId }) => this.has(repoId) !== undefined);
    for (const { repoId } of records) {
      const { fetchedAt, isBehind } = this.mirrors.lastFetch(repoId);
      this.#fetchTimes.resume(repoId, fetchedAt);
      // The previous process may have owed a fetch.
      const isPending = jobs.unfinished.has(repoId) || jobs.failed.reasonOf(repoId) !== undefined;
      if (isBehind || isPending) this.mirrors.markStale(repoId);
    }
    // Why all: the last fetch may not have been indexed.
    await jobs.requestAll(records, false);
    this.#cleanUp();
    this.cleanup.failUnrequested();
    this.tick();
    this.#ticking = setInterval(() => this.tick(), 2_000).unref();
  }

  #resume(changed: ReadonlySet<string>): void {
    for (const connection of this.all) {
      const { connectionId, name, wholeAt, syncedAt } = connection;
      if (!this.#syncTimes.has(connectionId))
        this.#syncTimes.resume(connectionId, syncedAt ?? undefined);
      if (changed.has(name) || wholeAt === null || this.sync.unfinished.has(connectionId))
        this.#list(connection);
    }
  }

  #list({ connectionId, name }: SyncTarget): void {
    this.#syncTimes.restart(connectionId);
    this.sync.request({ connectionId, name });
  }

  tick(): void {
    if (this.sync.signal.aborted) return;
    if (this.#unapplied?.error !== undefined && !this.#isApplyingAgain) void this.#applyAgain();
    for (const connectionId of this.#syncTimes.take()) {
      const target = this.#targetOf(connectionId);
      if (target === undefined) this.#syncTimes.forget(connectionId);
      else this.#list(target);
    }
    for (const repoId of this.#fetchTimes.take())
      if (this.#linkedTo(repoId).length === 0) this.#fetchTimes.forget(repoId);
      else this.requestFetch(repoId);
  }

  /** Errors: none; `degradations` has them. */
  async #applyAgain(): Promise<void> {
    this.#isApplyingAgain = true;
    await this.#applied().catch(() => {});
    this.#isApplyingAgain = false;
  }

  /**
   * Fetches and indexes a repo that may have news.
   * @param dueAt  default: now
   * @param pushedAt  when the host says that it got them; default: what it said in the last listing
   */
  requestFetch(repoId: number, dueAt?: number, pushedAt = this.#listedPush(repoId)): void {
    this.mirrors.markStale(repoId);
    this.#fetchTimes.restart(repoId);
    // Why: a host may report any time. A push from before the last fetch is already there; the job ignores a time in the future.
    const { fetchedAt = Infinity } = pushedAt === undefined ? {} : this.mirrors.lastFetch(repoId);
    this.#index(repoId, dueAt, (pushedAt ?? 0) > fetchedAt ? pushedAt : undefined);
  }

  #listedPush(repoId: number): number | undefined {
    const text = this.#options.registry.byId(repoId)?.host?.facts.pushedAt;
    return text === undefined ? undefined : Date.parse(text);
  }

  /** Hides a repo, and requests new listings. */
  async #noteOther(
    repoId: number,
    { visibility }: OtherRepositoryError,
    isFirst: boolean,
  ): Promise<void> {
    await this.#restrict(repoId, visibility);
    if (isFirst) this.relist(repoId);
  }

  relist(repoId: number): void {
    for (const connection of this.#linkedTo(repoId)) this.#list(connection);
  }

  /** Errors: none. */
  async #applyWebhook(repoId: number, visibility: StoredRepo['visibility']): Promise<void> {
    try {
      await this.#restrict(repoId, visibility);
    } catch (error) {
      const repo = this.#options.registry.byId(repoId)?.name;
      this.#options.log.warn('a repository is hidden, but that could not be stored', {
        repo,
        error: messageOf(error),
      });
    }
  }

  /** Restricts the visibility of a repo at once. Errors: those of the catalog. */
  async #restrict(repoId: number, visibility: StoredRepo['visibility']): Promise<void> {
    const { registry, log } = this.#options;
    const before = registry.byId(repoId);
    if (before?.host !== undefined) this.#latestVisibility.restrict(before.host, visibility);
    let hasChanged = true;
    try {
      const isStored = await registry.decide((stored) => restrictedTo(stored, repoId, visibility));
      // A listing may have stored it first, without publishing it yet.
      hasChanged = isStored || (before !== undefined && isStricter(visibility, before.visibility));
    } catch (error) {
      log.warn(
        'permissions of a repository could not be stored: it is visible only to owners until they are',
        { repo: registry.byId(repoId)?.name, error: messageOf(error) },
      );
      registry.hide([repoId]);
    }
    if (hasChanged) await this.#apply({ changedIds: new Set([repoId]), dueIds: new Set() });
  }

  #index(repoId: number, dueAt?: number, pushedAt?: number): void {
    const record = this.#options.served.record(repoId);
    if (record !== undefined) this.#options.jobs.request(record, { dueAt, pushedAt });
  }

  /** Lists a connection for a user; returns the job id. Undefined: unknown. Errors: the index is closing. */
  async requestSync(connectionId: number): Promise<string | undefined> {
    const target = this.#targetOf(connectionId);
    return target && this.sync.requestPersisted(target);
  }

  /** Applies decisions about repos, visibility first, together with those that could not be stored before. */
  async #apply(decided: AppliedChanges): Promise<void> {
    const { served, catalog } = this.#options;
    const pending = this.#pending;
    for (const id of decided.changedIds) pending.changedIds.add(id);
    for (const id of decided.dueIds) pending.dueIds.add(id);
    const [changedIds, dueIds] = [new Set(pending.changedIds), new Set(pending.dueIds)];
    if (changedIds.size > 0) {
      served.publish();
      this.#onListed();
      await catalog.commit(() => ({ put: [...changedIds].flatMap((id) => this.#putOf(id)) }));
      served.publish();
    }
    for (const id of changedIds) pending.changedIds.delete(id);
    for (const id of dueIds) pending.dueIds.delete(id);
    if (!this.#isStarted) return;
    for (const repoId of dueIds) this.requestFetch(repoId);
    for (const repoId of changedIds)
      if (!dueIds.has(repoId) && catalog.repo(repoId)?.fingerprint === undefined)
        this.#index(repoId);
  }

  #putOf(repoId: number): CatalogRepo[] {
    const { registry, catalog, jobs } = this.#options;
    const repo = registry.byId(repoId);
    if (repo === undefined) return [];
    const indexed = catalog.repo(repoId);
    if (indexed === undefined)
      return this.has(repoId) === true
        ? [unbuilt({ record: hostedRecord(catalog, registry, repo) })]
        : [];
    const record =
      repo.host === undefined
        ? recordOf(repo, indexed.record)
        : hostedRecord(catalog, registry, repo, indexed.record);
    if (record.name !== indexed.record.name) jobs.failed.clear(repoId);
    if (isDeepStrictEqual(record, indexed.record)) return [];
    // A fingerprint of files on disk says nothing about commits.
    const isOther = record.source.kind !== indexed.record.source.kind;
    return [{ ...(isOther ? withoutFingerprint(indexed) : indexed), record }];
  }

  #targetOf(connectionId: number): StoredConnection | undefined {
    return this.all.find((one) => one.connectionId === connectionId);
  }

  /** Errors: not configured; those of opening the host. */
  async hostOf(name: string): Promise<Host> {
    const configured = this.#configured.get(name);
    if (configured === undefined)
      throw new Error('the connection is no longer in the configuration');
    configured.host ??= this.#options
      .openHost(name, configured.settings)
      .catch((error: unknown) => {
        configured.host = undefined;
        throw error;
      });
    return configured.host;
  }

  /** Hosts from which a mirror can be fetched. Errors: that of the first host, if none can be opened. */
  async #remotesOf(repoId: number): Promise<MirrorRemote[]> {
    const remotes: MirrorRemote[] = [];
    let failure: unknown;
    for (const { name } of this.#linkedTo(repoId)) {
      try {
        const host = await this.hostOf(name);
        const { caFile } = this.#configured.get(name)!.settings.tls;
        remotes.push({ host, caFile });
      } catch (error) {
        failure ??= error;
        this.#options.log.warn('a connection cannot be used', {
          connection: name,
          error: messageOf(error),
        });
      }
    }
    if (remotes.length === 0 && failure !== undefined) throw failure;
    return remotes;
  }

  #cleanUp(): void {
    if (!this.#isConfigured || !this.#isStarted) return;
    this.cleanup.consider();
    this.submodules.note();
  }

  noteIndexed(repoId: number): void {
    const host = this.#options.registry.byId(repoId)?.host;
    if (this.#isStarted && host !== undefined && host.facts.submodule === undefined)
      this.submodules.note();
  }

  /** Connections that are not listed yet, failed, or were listed in part. */
  get counts(): JobCounts {
    const { failed, warned } = this.sync;
    const hasFailed = ({ connectionId }: StoredConnection): boolean =>
      failed.reasonOf(connectionId) !== undefined;
    const count = (is: (one: StoredConnection) => boolean): number => this.all.filter(is).length;
    return {
      firstTime: count((one) => one.syncedAt === null && !hasFailed(one)),
      failed: count(hasFailed),
      warned: count(({ connectionId }) => warned.has(connectionId)),
    };
  }

  /** Why a connection cannot be listed or fetched, for the owner; undefined: it can, or was not tried yet. */
  lastErrorOf({ connectionId, name }: StoredConnection): string | undefined {
    const cloneUrls = (): string[] =>
      (this.reposOf(name) ?? []).flatMap(({ host }) => host?.facts.cloneUrl || []);
    const awaited = awaitedOf(name) ?? awaitedByGit(cloneUrls);
    if (awaited !== undefined) return awaitedSentence(awaited);
    return this.sync.failed.reasonOf(connectionId);
  }

  /** Problems, as sentences for the owner; empty: none. */
  get degradations(): readonly string[] {
    const awaited = new Map(
      awaitedAnswers()
        .toReversed()
        .map((one) => [one.host, one]),
    );
    const isConfigured = (name: string): boolean => this.#configured.has(name);
    const error = this.#unapplied?.error;
    return [
      ...(error === undefined
        ? []
        : [`the connections of the configuration are not applied yet: ${messageOf(error)}`]),
      ...this.sync.failed.sentences(isConfigured).map((one) => `connection ${one}`),
      ...[...awaited.values()].map(awaitedSentence),
      ...hostPauses().map(
        ({ host, until }) =>
          `${host} has reached its rate limit until ${new Date(until).toISOString()}; pending requests continue then`,
      ),
      ...this.pushes.degradations,
    ];
  }

  /** Starts nothing any more; resolves when nothing is running. */
  async close(): Promise<void> {
    clearInterval(this.#ticking);
    await this.submodules.close();
    await Promise.all([this.sync.close(), this.cleanup.close()]);
    await closeHosts([...this.#configured.values()]);
  }
}

async function closeHosts(configured: readonly Configured[]): Promise<void> {
  for (const { host } of configured) {
    const open = await host?.catch(() => undefined);
    await open?.close();
  }
}

type AppliedChanges = Pick<Admitted, 'changedIds' | 'dueIds'>;
