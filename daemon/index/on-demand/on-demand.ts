// Revisions on demand (API.md 9.6): looks up revisions that a search names and no index has, builds their docs once for
// all searches, and keeps them in a folder within a byte budget. Everything may be lost at any time; each start begins
// empty.

import { hash, randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDiskFull, messageOf } from '../../base/caught.ts';
import { sumOf } from '../../base/lists.ts';
import type { Log } from '../../base/log.ts';
import { SharedWork } from '../../base/shared-work.ts';
import { Slots } from '../../base/slots.ts';
import { TimeLimit } from '../../base/time-limit.ts';
import {
  buildExtraRevisions,
  type ExtraRevisions,
  TooManyDocsError,
} from '../../engine/build/extra-revisions.ts';
import type { BuildThreads } from '../../engine/build/build-threads.ts';
import type { IndexedState } from '../../engine/build/indexed-docs.ts';
import type { FilterSettings } from '../../engine/build/filters.ts';
import type { Snapshot, SnapshotManager, UnreadRevision } from '../../engine/search/snapshot.ts';
import { RevisionTable } from '../../engine/shards/revisions.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { GitError, isGitExit } from '../../sources/git/git.ts';
import { checkRef, RefError, shortIdOf } from '../../sources/git/names.ts';
import { RepoGoneError, resolveRef } from '../../sources/git/resolve.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogRepo } from '../catalog/catalog-records.ts';
import type { OnDemandRepo, OnDemandDocs } from './on-demand-docs.ts';
import { KeptDocs, OnDemandSymbols } from './kept-docs.ts';
import { indexedStateOf } from '../served/indexed-state.ts';
import {
  checkCounts,
  diskMessage,
  docsMessage,
  type OnDemandLimits,
  Refusals,
  RevisionLimitError,
  sumMessage,
  timeMessage,
} from './on-demand-limits.ts';

export interface OnDemandOptions {
  readonly module: WebAssembly.Module;
  readonly catalog: Catalog;
  readonly snapshots: SnapshotManager;
  /** Its own folder; existing files are removed. */
  readonly folder: string;
  readonly isOut: (shardId: string) => boolean;
  readonly filters: () => FilterSettings;
  readonly limits: () => OnDemandLimits;
  /** Used only here. */
  readonly threads: BuildThreads;
  /** Files whose symbols are found at the same time; 0: no symbols. */
  readonly symbolWorkers: number;
  readonly log: Log;
}

/** The message is for the caller. */
class NotReadyError extends Error {
  readonly errorCode = 'NOT_READY';
}

/** Repositories are indexed more often than their revisions can be built. */
class ChangingError extends NotReadyError {
  constructor() {
    super('The repositories are being indexed.');
  }
}

/** A build that timed out is not tried again for this long. */
const TIMEOUT_KEPT_MS = 60_000;
const ATTEMPTS_MAX = 10;

export class OnDemandRevisions {
  readonly #options: OnDemandOptions;
  readonly #kept: KeptDocs;
  readonly #symbols: OnDemandSymbols | undefined;
  readonly #refusals = new Refusals();
  readonly #builds = new SharedWork<string, OnDemandDocs>();
  readonly #running = new Map<string, Promise<OnDemandDocs>>();
  /** Bound: processor time; each build uses all cores for moments. */
  readonly #slots = new Slots({ runningMax: 2 });
  readonly #states = new WeakMap<CatalogRepo, string>();
  readonly #abort = new AbortController();

  private constructor(options: OnDemandOptions) {
    this.#options = options;
    this.#kept = new KeptDocs(options.snapshots, options.log, () => options.limits().diskBytes);
    const { module, log, symbolWorkers: workers } = options;
    if (workers > 0) this.#symbols = new OnDemandSymbols(module, this.#kept, log, workers);
  }

  /** Empties the folder. Errors: of the file system. */
  static async open(options: OnDemandOptions): Promise<OnDemandRevisions> {
    await rm(options.folder, { recursive: true, force: true });
    await mkdir(options.folder, { recursive: true, mode: 0o700 });
    return new OnDemandRevisions(options);
  }

  get size(): { readonly count: number; readonly bytes: number } {
    return this.#kept.size;
  }

  /**
   * Implements RevisionPort. Every ref is resolved again: a moved one gives its new commit, and a commit that no ref
   * reaches is no longer found.
   */
  async snapshotWith(
    repos: readonly RepoRecord[],
    names: readonly string[],
    clientKey: string,
    signal: AbortSignal,
  ): Promise<Snapshot | undefined> {
    const limits = this.#options.limits();
    const askable = repos.filter(
      ({ source, indexedAt }) => source.kind !== 'folder' && indexedAt !== undefined,
    );
    checkCounts(askable.length, names, limits);
    const time = new TimeLimit(limits.timeoutMs, signal);
    try {
      const unread: UnreadRevision[] = [];
      const found = await Promise.all(
        askable.map((record) =>
          requestedRevisionsOf(record, names, time.signal, (name, error) => {
            unread.push(...this.#passOver(record, [name], error, time.signal));
            return undefined;
          }),
        ),
      );
      const requested = found.filter(({ revisions }) => revisions.length > 0);
      return requested.length + unread.length === 0
        ? undefined
        : await this.#snapshotFor({ requested, unread, clientKey, limits, signal: time.signal });
    } catch (error) {
      if (!time.isOver || error instanceof RevisionLimitError) throw error;
      throw new RevisionLimitError(timeMessage(limits));
    } finally {
      time.end();
    }
  }

  /** As snapshotWith. A publish meanwhile may change the shards. */
  async #snapshotFor(search: WaitingSearch): Promise<Snapshot | undefined> {
    const claim = new Set<string>();
    this.#kept.claim(claim);
    try {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        if (attempt > 0) await sleep(20, undefined, { signal: search.signal });
        const found = await this.#onDemandOf(search, claim).catch(ifChanging);
        if (found === undefined) continue;
        const { onDemand, unread } = found;
        if (onDemand.length + unread.length === 0) return undefined;
        // The docs may be outdated.
        const areCurrent = onDemand.every((one) => this.#isCurrent(one.docs));
        const snapshot = areCurrent ? this.#kept.retain(onDemand, unread) : undefined;
        if (snapshot !== undefined) return snapshot;
      }
    } finally {
      this.#kept.endClaim(claim);
    }
    throw new ChangingError();
  }

  /** The docs of all indexed repos, and what could not be read. Their keys are added to the claim. */
  async #onDemandOf(search: WaitingSearch, claim: Set<string>) {
    const { requested, limits, signal } = search;
    const keyed = requested.flatMap((one) => this.#keyedOf(one) ?? []);
    for (const { key } of keyed) claim.add(key);
    const together = hash('sha256', keyed.map(({ key }) => key).join());
    this.#refusals.check(together, limits);
    const unread = [...search.unread];
    let size = 0;
    const get = async (request: KeyedRequest): Promise<OnDemandRepo | undefined> => {
      const { record, revisions, ...one } = request;
      const names = revisions.map(({ name }) => name);
      const docs = await this.#docsFor(one, search).catch((error: unknown) => {
        unread.push(...this.#passOver(record, names, error, signal));
        return undefined;
      });
      if (docs?.unread !== undefined) unread.push(...unreadOf(record, names, docs.unread));
      size += docs?.size ?? 0;
      if (size > limits.diskBytes)
        this.#refusals.refuse(together, sumMessage(size, keyed.length, limits), limits);
      return docs && { docs, revisions };
    };
    const found = await Promise.all(keyed.map(get));
    return { onDemand: found.filter((one) => one !== undefined), unread };
  }

  /** Skips revisions of a repository that was removed, damaged or rewritten meanwhile. Errors: others. */
  #passOver(
    record: RepoRecord,
    names: readonly string[],
    error: unknown,
    signal: AbortSignal,
  ): UnreadRevision[] {
    const isUnread = error instanceof GitError || error instanceof RepoGoneError;
    if (this.#abort.signal.aborted) throw new ChangingError();
    if (signal.aborted || !(isUnread || isGitExit(error))) throw error;
    const message = messageOf(error);
    const fields = { repo: record.name, revisions: names, error: message };
    this.#options.log.warn('revisions could not be read', fields);
    // git's own message may hold paths of this machine.
    const isForCallers = error instanceof Error && 'errorCode' in error;
    return unreadOf(record, names, isForCallers ? message : 'git failed; see the log.');
  }

  /** Whether docs were computed from the repo's current index. */
  #isCurrent({ repoId, state }: OnDemandDocs): boolean {
    return this.#stateNow(repoId) === state;
  }

  /** The state of a repo's index as a text; undefined: none. */
  #stateNow(repoId: number): string | undefined {
    const repo = this.#options.catalog.repo(repoId);
    if (repo === undefined) return undefined;
    let state = this.#states.get(repo);
    if (state === undefined) {
      const { fingerprint, revisionFile, shards, record } = repo;
      const { source, revisions } = record;
      const shardIds = shards.map(({ shardId, part }) => [shardId, part?.docStart]);
      const parts = [repoId, source, fingerprint, revisionFile, revisions, shardIds];
      state = hash('sha256', JSON.stringify(parts), 'hex');
      this.#states.set(repo, state);
    }
    return state;
  }

  /** Undefined: the repo's index is damaged. */
  #keyedOf({ record, revisions }: RequestedRevisions): KeyedRequest | undefined {
    const { repoId } = record;
    const repo = this.#options.catalog.repo(repoId);
    const state = this.#stateNow(repoId);
    if (repo === undefined || state === undefined) return undefined;
    if (repo.shards.some(({ shardId }) => this.#options.isOut(shardId))) return undefined;
    const commits = [...new Set(revisions.map(({ commit }) => commit))].sort();
    return { record, revisions, key: `${state} ${commits.join()}`, repoId, state, commits };
  }

  /** Undefined: the repo's index is damaged. */
  async #docsFor(
    requested: RequestedDocs,
    { clientKey, limits, signal }: WaitingSearch,
  ): Promise<OnDemandDocs | undefined> {
    const { key, repoId } = requested;
    const kept = this.#kept.find(key);
    if (kept !== undefined) return kept;
    const { catalog } = this.#options;
    const repo = catalog.repo(repoId);
    if (repo === undefined || indexedStateOf(catalog, repo) === undefined) return undefined;
    this.#refusals.check(key, limits);
    // Why twice: another search may have started or finished the build while this one waited.
    const running = (): Promise<OnDemandDocs> | undefined => this.#running.get(key);
    // Why by client: clients do not wait in each other's queues.
    return this.#builds.get(
      `${clientKey} ${key}`,
      signal,
      (abandoned) =>
        running() ??
        this.#slots.run(clientKey, abandoned, async () => {
          abandoned.throwIfAborted();
          return this.#kept.find(key) ?? running() ?? this.#start(requested, limits);
        }),
    );
  }

  /** Builds even if no search waits any more: the next one finds the result. */
  #start(requested: RequestedDocs, limits: OnDemandLimits): Promise<OnDemandDocs> {
    const building = this.#build(requested, limits).finally(() =>
      this.#running.delete(requested.key),
    );
    this.#running.set(requested.key, building);
    return building;
  }

  async #build(requested: RequestedDocs, limits: OnDemandLimits): Promise<OnDemandDocs> {
    const { key } = requested;
    const time = new TimeLimit(limits.timeoutMs, this.#abort.signal);
    try {
      const built = await this.#buildShards(requested, limits, time.signal);
      return await this.#keep(requested, built, limits);
    } catch (error) {
      if (error instanceof TooManyDocsError)
        this.#refusals.refuse(key, docsMessage(error.count, limits), limits);
      if (time.isOver && !this.#abort.signal.aborted)
        this.#refusals.refuse(key, timeMessage(limits), limits, TIMEOUT_KEPT_MS);
      if (!isDiskFull(error)) throw error;
      this.#options.log.warn('revisions could not be built on demand', { error: messageOf(error) });
      const message = 'The revision is not indexed and cannot be built: the disk is full.';
      throw new NotReadyError(message, { cause: error });
    } finally {
      time.end();
    }
  }

  async #buildShards(
    { repoId, state, commits }: RequestedDocs,
    limits: OnDemandLimits,
    signal: AbortSignal,
  ): Promise<BuiltRevisions> {
    const { catalog, module, folder, filters, threads, log } = this.#options;
    const repo = catalog.repo(repoId);
    const indexed = repo === undefined ? undefined : indexedStateOf(catalog, repo);
    const isSame = this.#stateNow(repoId) === state;
    if (repo === undefined || indexed === undefined || !isSame) throw new ChangingError();
    const { record } = repo;
    const startMs = performance.now();
    // Somebody may have removed it as rubbish.
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const built = await buildExtraRevisions({
      module,
      folder,
      threads,
      spec: record.source,
      filters: filters(),
      repoId,
      repoName: record.name,
      indexed,
      commits,
      docsMax: limits.docs,
      signal,
    });
    const docs = sumOf(built.shards, ({ docCount }) => docCount);
    const ms = Math.round(performance.now() - startMs);
    log.info('revisions built on demand', { repo: record.name, commits, docs, ms });
    return { ...built, indexed: indexed.shards };
  }

  async #keep(
    requested: RequestedDocs,
    { shards, revisions, indexed, unread }: BuiltRevisions,
    limits: OnDemandLimits,
  ): Promise<OnDemandDocs> {
    const size = sumOf(shards, (shard) => shard.size);
    const docCounts = [...shards, ...indexed].map(({ docCount }) => docCount);
    const table = RevisionTable.open(revisions, requested.commits.length, docCounts);
    const docs: OnDemandDocs = {
      ...requested,
      size,
      unread,
      // Why random: a counter would reveal how much others have built.
      shards: shards.map(({ path, size }, index) => ({
        shardId: randomBytes(8).toString('hex'),
        path,
        size,
        revisions: table.shards[index]!,
      })),
      ofIndexed: new Map(
        indexed.map(({ shardId }, index) => [shardId, table.shards[shards.length + index]!]),
      ),
    };
    if (size > limits.diskBytes) {
      await this.#kept.remove(docs);
      this.#refusals.refuse(requested.key, diskMessage(size, limits), limits);
    }
    this.#kept.add(docs, this.#isCurrent(docs));
    this.#symbols?.find(docs);
    return docs;
  }

  /** The limits changed: drops what no longer fits. */
  noteLimits(): void {
    this.#kept.shrink();
  }

  /** The current snapshot changed: drops what no longer fits it. */
  noteChange(): void {
    this.#kept.restrict((docs) => this.#isCurrent(docs));
  }

  /** A shard failed a search: one of ours is dropped and built again on request. False: not ours. */
  noteShardFailure(shardId: string, reason: string): boolean {
    if (!this.#kept.drop(shardId)) return false;
    const fields = { shardId, reason };
    this.#options.log.error('a shard that was built on demand failed a search', fields);
    return true;
  }

  async close(): Promise<void> {
    this.#abort.abort(new Error('the daemon is stopping'));
    await Promise.allSettled(this.#running.values());
    await this.#symbols?.close();
    await this.#options.threads.close();
    this.#kept.close();
  }
}

interface RequestedRevisions {
  readonly record: RepoRecord;
  readonly revisions: OnDemandRepo['revisions'];
}

/**
 * The names that the repo's git can resolve and read.
 * @param onError  called with the reason if a name cannot be looked up; may throw
 */
async function requestedRevisionsOf(
  record: RepoRecord,
  names: readonly string[],
  signal: AbortSignal,
  onError: (name: string, error: unknown) => undefined,
): Promise<RequestedRevisions> {
  const revisions: { name: string; commit: string }[] = [];
  for (const name of names) {
    const commit = await commitOf(record, name, signal).catch((error: unknown) =>
      error instanceof RefError ? undefined : onError(name, error),
    );
    if (commit !== undefined) revisions.push({ name, commit });
  }
  return { record, revisions };
}

/** Undefined: the name is an id of fewer than seven digits. Errors: those of resolveRef. */
async function commitOf(
  record: RepoRecord,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  checkRef(name);
  const short = shortIdOf(name);
  const found = short === undefined ? undefined : await resolveRef(record, short, signal);
  if (found?.startsWith(short!.toLowerCase()) === true) return undefined;
  return await resolveRef(record, name, signal);
}

/** With the indexed shards that it was computed from. */
interface BuiltRevisions extends ExtraRevisions {
  readonly indexed: IndexedState['shards'];
}

function unreadOf(
  { name: repoName }: RepoRecord,
  names: readonly string[],
  detail: string,
): UnreadRevision[] {
  return names.map((name) => ({ name, repoName, detail }));
}

/** Undefined for a ChangingError, which is worth another attempt. Errors: others. */
function ifChanging(error: unknown): undefined {
  if (!(error instanceof ChangingError)) throw error;
}

type RequestedDocs = Pick<OnDemandDocs, 'key' | 'repoId' | 'state' | 'commits'>;
type KeyedRequest = RequestedDocs & RequestedRevisions;

interface WaitingSearch {
  readonly requested: readonly RequestedRevisions[];
  /** Names that git could not look up. */
  readonly unread: readonly UnreadRevision[];
  readonly clientKey: string;
  readonly limits: OnDemandLimits;
  readonly signal: AbortSignal;
}
