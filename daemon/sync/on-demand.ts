// Revisions on demand (API.md 9.6): asks git for what a search names and no index has, builds their docs once for all who
// ask, and keeps them in a folder within a budget. All of it may be lost at any time; a new start begins without.

import { hash, randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, systemCodeOf } from '../base/caught.ts';
import type { Log } from '../base/log.ts';
import { SharedWork } from '../base/shared-work.ts';
import { Slots } from '../base/slots.ts';
import {
  buildExtraRevisions,
  type ExtraRevisions,
  TooManyDocsError,
} from '../engine/build/extra-revisions.ts';
import type { KnownIndex } from '../engine/build/delta.ts';
import type { FilterSettings } from '../engine/build/filters.ts';
import type { Snapshot, SnapshotKeeper } from '../engine/search/snapshot.ts';
import { RevisionTable } from '../engine/shards/revisions.ts';
import type { RepoRecord } from '../repos/records.ts';
import { GitError } from '../sources/git/git.ts';
import { checkRef, RefError } from '../sources/git/names.ts';
import { RepoGoneError, resolveRef } from '../sources/git/resolve.ts';
import type { Catalog } from './catalog.ts';
import type { CatalogRepo } from './catalog-records.ts';
import { type Demanded, type DemandedDocs, withDemandedDocs } from './demanded-docs.ts';
import { knownIndexOf } from './known-index.ts';

/** `settings.onDemandRevisions`. */
export interface OnDemandLimits {
  /** Repositories that a search may look for them in. */
  readonly repos: number;
  /** Docs that are built at once. */
  readonly docs: number;
  /** Of a search that waits for them, and of a build. */
  readonly timeoutMs: number;
  /** Bytes of all that is kept. */
  readonly diskBytes: number;
}

export interface OnDemandOptions {
  readonly module: WebAssembly.Module;
  readonly catalog: Catalog;
  readonly snapshots: SnapshotKeeper;
  /** Of its own: what it holds is removed. */
  readonly folder: string;
  /** Whether a shard is out of service. */
  readonly isOut: (shardId: string) => boolean;
  readonly filters: () => FilterSettings;
  readonly limits: () => OnDemandLimits;
  readonly workers?: number | undefined;
  readonly log: Log;
}

/** What is asked for is more than `settings.onDemandRevisions` allows. The message is for the caller. */
export class RevisionLimitError extends Error {
  override readonly name = 'RevisionLimitError';
  readonly errorCode = 'REVISION_TOO_LARGE';
}

/** Repositories are indexed again faster than revisions of theirs are built. The message is for the caller. */
class ChangingError extends Error {
  readonly errorCode = 'NOT_READY';

  constructor() {
    super('The repositories are being indexed.');
  }
}

/** The message is for the caller. */
class NoRoomError extends Error {
  readonly errorCode = 'NOT_READY';

  constructor(cause: unknown) {
    super('The revision is not indexed, and the disk is full: there is no room to build it.', {
      cause,
    });
  }
}

/** Guess: what one query names by hand. */
const NAMES_MAX = 20;
/** Guess: each takes all cores for moments. */
const BUILDS_MAX = 2;
/** Guess: up to so many docs starting more threads takes longer than they help. */
const DOCS_OF_ONE_THREAD = 300;
/** Snapshots that are kept open for the next search that asks for the same. */
const SNAPSHOTS_MAX = 32;
/** Guess: kept sets take some KB each. */
const KEPT_MAX = 1000;
const REFUSALS_MAX = 1000;
/** How long a build that took too long is not tried again. */
const TIMEOUT_KEPT_MS = 60_000;
const ATTEMPTS_MAX = 10;
const ATTEMPT_PAUSE_MS = 20;
/** What a name begins with that is too short to be taken for an id. */
const SHORT_ID = /^[0-9a-f]{4,6}(?=[~^]|$)/i;

interface Wanted {
  readonly record: RepoRecord;
  readonly revisions: Demanded['revisions'];
}

interface KeptSnapshot {
  readonly snapshot: Snapshot;
  readonly docs: readonly DemandedDocs[];
}

interface Refusal {
  readonly limits: OnDemandLimits;
  /** Of performance.now. */
  readonly untilMs: number;
  readonly message: string;
}

export class OnDemandRevisions {
  readonly #options: OnDemandOptions;
  /** By key, least recently used first. */
  readonly #kept = new Map<string, DemandedDocs>();
  /** No longer to be found, but a search may still look at it. */
  readonly #leaving = new Set<DemandedDocs>();
  /** By what they have, least recently used first; each is held. */
  readonly #snapshots = new Map<string, KeptSnapshot>();
  /** Those of them that are no longer given out, while searches hold them. */
  readonly #outgoing = new Set<KeptSnapshot>();
  readonly #refusals = new Map<string, Refusal>();
  readonly #builds = new SharedWork<string, DemandedDocs>();
  readonly #running = new Map<string, Promise<DemandedDocs>>();
  readonly #slots = new Slots({ runningMax: BUILDS_MAX });
  readonly #states = new WeakMap<CatalogRepo, string>();
  readonly #abort = new AbortController();

  private constructor(options: OnDemandOptions) {
    this.#options = options;
  }

  /** Empties the folder. Errors: of the file system. */
  static async open(options: OnDemandOptions): Promise<OnDemandRevisions> {
    await rm(options.folder, { recursive: true, force: true });
    await mkdir(options.folder, { recursive: true, mode: 0o700 });
    return new OnDemandRevisions(options);
  }

  /** Files and bytes that are kept. */
  get size(): { readonly count: number; readonly bytes: number } {
    const all = [...this.#kept.values(), ...this.#leaving];
    return { count: all.length, bytes: all.reduce((sum, { size }) => sum + size, 0) };
  }

  /**
   * What RevisionPort says. Every ref is looked up again: one that has moved names what it names now, and what no ref
   * reaches any more is found no more.
   */
  async snapshotWith(
    repos: readonly RepoRecord[],
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<Snapshot | undefined> {
    const limits = this.#options.limits();
    const askable = repos.filter(
      ({ source, indexedAt }) => source.kind !== 'folder' && indexedAt !== undefined,
    );
    checkCounts(askable.length, names, limits);
    const time = new TimeLimit(limits.timeoutMs, signal);
    try {
      const found = await Promise.all(
        askable.map((record) =>
          wantedOf(record, names, time.signal).catch(
            (error: unknown) =>
              this.#passOver(record, error, time.signal) ?? { record, revisions: [] },
          ),
        ),
      );
      const wanted = found.filter(({ revisions }) => revisions.length > 0);
      return wanted.length === 0 ? undefined : await this.#snapshotFor(wanted, limits, time.signal);
    } catch (error) {
      if (!time.isOver || error instanceof RevisionLimitError) throw error;
      throw new RevisionLimitError(timeMessage(limits));
    } finally {
      time.end();
    }
  }

  /** As snapshotWith. What is published meanwhile may have other shards. */
  async #snapshotFor(
    wanted: readonly Wanted[],
    limits: OnDemandLimits,
    signal: AbortSignal,
  ): Promise<Snapshot | undefined> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      if (attempt > 0) await sleep(ATTEMPT_PAUSE_MS, undefined, { signal });
      const asked = wanted.map((one) =>
        this.#docsFor(one, limits, signal).catch((error: unknown) =>
          this.#passOver(one.record, error, signal),
        ),
      );
      const docs = await Promise.all(asked).catch(ifChanging);
      if (docs === undefined) continue;
      const demanded = wanted.flatMap(({ revisions }, index) => {
        const found = docs[index];
        return found === undefined ? [] : [{ docs: found, revisions }];
      });
      if (demanded.length === 0) return undefined;
      const snapshot = this.#hold(demanded);
      if (snapshot !== undefined) return snapshot;
    }
    throw new ChangingError();
  }

  /** A repository that is gone, damaged or rewritten meanwhile has no such revision. Errors: others. */
  #passOver({ name }: RepoRecord, error: unknown, signal: AbortSignal): undefined {
    if (signal.aborted || !(error instanceof GitError)) throw error;
    const fields = { repo: name, error: error.message };
    this.#options.log.warn('a repository could not be asked for a revision', fields);
  }

  /** The held snapshot with these docs; undefined: they are no longer those of the repos. Errors: ShardError. */
  #hold(demanded: readonly Demanded[]): Snapshot | undefined {
    const { snapshots } = this.#options;
    if (!demanded.every(({ docs }) => this.#stateNow(docs.repoId) === docs.state)) return undefined;
    const key = JSON.stringify(demanded.map(({ docs, revisions }) => [docs.key, revisions]));
    const known = this.#snapshots.get(key);
    const snapshot = known?.snapshot ?? withDemandedDocs(snapshots.current, demanded);
    if (snapshot === undefined) return undefined;
    const [refused] = snapshots.hold(snapshot);
    if (refused !== undefined) {
      snapshots.release(snapshot);
      throw refused;
    }
    if (known === undefined) snapshots.hold(snapshot);
    const docs = demanded.map((one) => one.docs);
    this.#snapshots.delete(key);
    this.#snapshots.set(key, known ?? { snapshot, docs });
    const [oldest] = this.#snapshots.values();
    if (this.#snapshots.size > SNAPSHOTS_MAX) this.#letGo((kept) => kept === oldest);
    return snapshot;
  }

  /** What a repo's index is, in a text; undefined: there is none. */
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

  /** Undefined: the repo's index is not sound. */
  async #docsFor(
    { record, revisions }: Wanted,
    limits: OnDemandLimits,
    signal: AbortSignal,
  ): Promise<DemandedDocs | undefined> {
    const { catalog, isOut } = this.#options;
    const repo = catalog.repo(record.repoId);
    const state = this.#stateNow(record.repoId);
    if (repo === undefined || state === undefined) return undefined;
    if (repo.shards.some(({ shardId }) => isOut(shardId))) return undefined;
    const commits = [...new Set(revisions.map(({ commit }) => commit))].sort();
    const key = `${state} ${commits.join()}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return kept;
    }
    if (knownIndexOf(catalog, repo) === undefined) return undefined;
    this.#checkRefusal(key, limits);
    const wanted = { key, repoId: record.repoId, state, commits };
    return this.#builds.get(
      key,
      signal,
      (abandoned) =>
        // Why: who left while it was built may have come back.
        this.#running.get(key) ?? this.#slots.run('', abandoned, () => this.#start(wanted, limits)),
    );
  }

  #checkRefusal(key: string, limits: OnDemandLimits): void {
    const refusal = this.#refusals.get(key);
    if (refusal === undefined) return;
    const holds = refusal.limits === limits && performance.now() < refusal.untilMs;
    if (holds) throw new RevisionLimitError(refusal.message);
    this.#refusals.delete(key);
  }

  #refuse(key: string, message: string, limits: OnDemandLimits, untilMs: number): never {
    this.#refusals.set(key, { limits, untilMs, message });
    for (const oldest of this.#refusals.keys()) {
      if (this.#refusals.size <= REFUSALS_MAX) break;
      this.#refusals.delete(oldest);
    }
    throw new RevisionLimitError(message);
  }

  /** Builds even if nobody waits any more: who asks again finds it. */
  #start(wanted: WantedDocs, limits: OnDemandLimits): Promise<DemandedDocs> {
    const building = this.#build(wanted, limits).finally(() => this.#running.delete(wanted.key));
    this.#running.set(wanted.key, building);
    return building;
  }

  async #build(wanted: WantedDocs, limits: OnDemandLimits): Promise<DemandedDocs> {
    const { key } = wanted;
    const time = new TimeLimit(limits.timeoutMs, this.#abort.signal);
    try {
      const built = await this.#buildShards(wanted, limits, time.signal);
      return await this.#keep(wanted, built, limits);
    } catch (error) {
      if (error instanceof TooManyDocsError)
        this.#refuse(key, docsMessage(error.count, limits), limits, Infinity);
      if (time.isOver && !this.#abort.signal.aborted)
        this.#refuse(key, timeMessage(limits), limits, performance.now() + TIMEOUT_KEPT_MS);
      if (systemCodeOf(error) !== 'ENOSPC') throw error;
      this.#options.log.warn('revisions could not be built on demand', { error: messageOf(error) });
      throw new NoRoomError(error);
    } finally {
      time.end();
    }
  }

  async #buildShards(
    { repoId, state, commits }: WantedDocs,
    limits: OnDemandLimits,
    signal: AbortSignal,
  ): Promise<BuiltRevisions> {
    const { catalog, module, folder, filters, workers, log } = this.#options;
    const repo = catalog.repo(repoId);
    const known = repo === undefined ? undefined : knownIndexOf(catalog, repo);
    const isSame = this.#stateNow(repoId) === state;
    if (repo === undefined || known === undefined || !isSame) throw new ChangingError();
    const { record } = repo;
    const startMs = performance.now();
    const built = await buildExtraRevisions({
      module,
      folder,
      workersFor: (docCount) => (docCount <= DOCS_OF_ONE_THREAD ? 1 : workers),
      spec: record.source,
      filters: filters(),
      repoId,
      repoName: record.name,
      known,
      commits,
      docsMax: limits.docs,
      signal,
    });
    const docs = built.shards.reduce((sum, { docCount }) => sum + docCount, 0);
    const ms = Math.round(performance.now() - startMs);
    log.info('revisions built on demand', { repo: record.name, commits, docs, ms });
    return { ...built, known: known.shards };
  }

  /** Takes in what was built; what was used least makes room. */
  async #keep(
    wanted: WantedDocs,
    { shards, revisions, known }: BuiltRevisions,
    limits: OnDemandLimits,
  ): Promise<DemandedDocs> {
    const size = shards.reduce((sum, shard) => sum + shard.size, 0);
    const docCounts = [...shards, ...known].map(({ docCount }) => docCount);
    const table = RevisionTable.open(revisions, wanted.commits.length, docCounts);
    const docs: DemandedDocs = {
      ...wanted,
      size,
      // Why random: a number that counts would tell how many others have built.
      shards: shards.map(({ path, size }, index) => ({
        shardId: randomBytes(8).toString('hex'),
        path,
        size,
        revisions: table.shards[index]!,
      })),
      ofIndexed: new Map(
        known.map(({ shardId }, index) => [shardId, table.shards[shards.length + index]!]),
      ),
    };
    if (size > limits.diskBytes) {
      await this.#remove(docs);
      this.#refuse(wanted.key, diskMessage(size, limits), limits, Infinity);
    }
    if (this.#stateNow(wanted.repoId) === wanted.state) this.#kept.set(wanted.key, docs);
    else this.#leaving.add(docs);
    this.#makeRoom(docs, limits);
    return docs;
  }

  #makeRoom(newest: DemandedDocs, { diskBytes }: OnDemandLimits): void {
    for (const docs of this.#kept.values()) {
      if (this.size.bytes <= diskBytes && this.#kept.size <= KEPT_MAX) break;
      if (docs === newest) continue;
      this.#letGoOf(docs);
      if (!this.#isHeld(docs)) this.#leave(docs);
      this.#sweep();
    }
    this.#sweep();
  }

  #isHeld(docs: DemandedDocs): boolean {
    this.#forgetReleased();
    return [...this.#snapshots.values(), ...this.#outgoing].some((one) => one.docs.includes(docs));
  }

  /** From now on it is not found. */
  #leave(docs: DemandedDocs): void {
    this.#kept.delete(docs.key);
    this.#leaving.add(docs);
  }

  /** Gives no snapshot out any more that has these docs. */
  #letGoOf(docs: DemandedDocs): void {
    this.#letGo((kept) => kept.docs.includes(docs));
  }

  #letGo(isMeant: (kept: KeptSnapshot) => boolean): void {
    const gone = [...this.#snapshots].filter(([, kept]) => isMeant(kept));
    for (const [key, kept] of gone) {
      this.#snapshots.delete(key);
      this.#outgoing.add(kept);
    }
    this.#options.snapshots.releaseAll(gone.map(([, { snapshot }]) => snapshot));
  }

  #forgetReleased(): void {
    for (const kept of this.#outgoing)
      if (!this.#options.snapshots.isHeld(kept.snapshot)) this.#outgoing.delete(kept);
  }

  /** Removes the files that no search looks at any more. */
  #sweep(): void {
    for (const docs of this.#leaving) {
      if (this.#isHeld(docs)) continue;
      this.#leaving.delete(docs);
      void this.#remove(docs);
    }
  }

  async #remove({ shards }: DemandedDocs): Promise<void> {
    for (const { path } of shards)
      await rm(path, { force: true }).catch((error: unknown) =>
        this.#options.log.warn('a file could not be removed', { path, error: messageOf(error) }),
      );
  }

  /** Another snapshot is the current one: what does not fit it any more goes. */
  noteChange(): void {
    this.#letGo(() => true);
    for (const docs of this.#kept.values())
      if (this.#stateNow(docs.repoId) !== docs.state) this.#leave(docs);
    this.#sweep();
  }

  /** A shard failed a search: if it is one of these, it is built again when it is asked for. False: it is none. */
  noteShardFailure(shardId: string, reason: string): boolean {
    const isHolder = ({ shards }: DemandedDocs): boolean =>
      shards.some((shard) => shard.shardId === shardId);
    const holder = [...this.#kept.values(), ...this.#leaving].find(isHolder);
    if (holder === undefined) return false;
    this.#options.log.error('a shard that was built on demand failed a search', {
      shardId,
      reason,
    });
    this.#letGoOf(holder);
    this.#leave(holder);
    this.#sweep();
    return true;
  }

  /** Ends what is being built. */
  async close(): Promise<void> {
    this.#abort.abort(new Error('the daemon is stopping'));
    await Promise.allSettled(this.#running.values());
    this.#letGo(() => true);
  }
}

/** With the indexed shards that it was told from. */
interface BuiltRevisions extends ExtraRevisions {
  readonly known: KnownIndex['shards'];
}

/** Undefined for a ChangingError: it is worth another attempt. Errors: others. */
function ifChanging(error: unknown): undefined {
  if (!(error instanceof ChangingError)) throw error;
}

type WantedDocs = Pick<DemandedDocs, 'key' | 'repoId' | 'state' | 'commits'>;

/** Errors: RevisionLimitError. */
function checkCounts(repoCount: number, names: readonly string[], limits: OnDemandLimits): void {
  const shown = JSON.stringify(names[0]?.slice(0, 100));
  if (repoCount > limits.repos)
    throw new RevisionLimitError(
      `No revision with ${shown} in its name is indexed; it is looked for in ${limits.repos} repositories at most ` +
        `(onDemandRevisions.repos), the query is about ${repoCount}: say which by "repo:".`,
    );
  if (names.length > NAMES_MAX)
    throw new RevisionLimitError(
      `The query names ${names.length} revisions that are not indexed, limit ${NAMES_MAX}.`,
    );
}

function docsMessage(count: number, { docs }: OnDemandLimits): string {
  return `${count} files of the revision are in no indexed one, limit ${docs} (onDemandRevisions.docs); index its branch or tag.`;
}

function timeMessage({ timeoutMs }: OnDemandLimits): string {
  return `The revision is not indexed, and was not ready within ${timeoutMs} ms (onDemandRevisions.timeoutMs); index its branch or tag.`;
}

function diskMessage(size: number, { diskBytes }: OnDemandLimits): string {
  return `The revision takes ${size} bytes, limit ${diskBytes} (onDemandRevisions.diskBytes); index its branch or tag.`;
}

/** The names that the repo's git knows. Errors: those of resolveRef but those of names. */
async function wantedOf(
  record: RepoRecord,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Wanted> {
  const revisions: { name: string; commit: string }[] = [];
  for (const name of names) {
    const commit = await commitOf(record, name, signal);
    if (commit !== undefined) revisions.push({ name, commit });
  }
  return { record, revisions };
}

async function commitOf(
  record: RepoRecord,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    checkRef(name);
    const [short] = SHORT_ID.exec(name) ?? [];
    if (
      short !== undefined &&
      (await resolveRef(record, short, signal)).startsWith(short.toLowerCase())
    )
      return undefined;
    return await resolveRef(record, name, signal);
  } catch (error) {
    if (error instanceof RefError || error instanceof RepoGoneError) return undefined;
    throw error;
  }
}

/** Aborted when `outer` is, or when the time is over. */
class TimeLimit {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal;
  readonly #leave = (): void => this.#controller.abort(this.#outer.reason);
  isOver = false;

  constructor(timeoutMs: number, outer: AbortSignal) {
    this.#outer = outer;
    this.#timer = setTimeout(() => {
      this.isOver = true;
      this.#controller.abort(new DOMException('The time is over.', 'TimeoutError'));
    }, timeoutMs);
    if (outer.aborted) this.#leave();
    else outer.addEventListener('abort', this.#leave, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#leave);
  }
}
