// Keeps lists of who may read the repositories of connections with `syncPermissions` (API.md 4.13), fetched on a schedule and
// on request. After a failure the last list stays until it expires (accounts/host-lists.ts). Times are in the store, so a
// restart resumes. A connection is a text of `listingConnection`; callers and messages name it as the configuration does.

import { messageOf } from '../../base/caught.ts';
import { DAY_MS } from '../../base/durations.ts';
import type { Log } from '../../base/log.ts';
import { backOffMs } from '../../base/retries.ts';
import type { NewAuditRecord } from '../../store/audit.ts';
import {
  nameOfListing,
  type ReaderChanges,
  type ReaderCounts,
  type ReaderSet,
} from '../../store/host-readers.ts';
import { StoreError } from '../../store/error.ts';
import type { Store } from '../../store/store.ts';
import { type Host, HostError } from '../../hosts/host.ts';
import { someNames } from '../../repos/some-names.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { type MemberQuery, readMembers } from './read-members.ts';

export interface MemberRepo extends MemberQuery {
  readonly repoId: number;
  readonly name: string;
  readonly visibility: RepoRecord['visibility'];
}

export type MemberHost = Pick<Host, 'members' | 'nameHost'>;

export interface MemberSyncOptions {
  readonly store: Pick<Store, 'hostReaders' | 'settings'>;
  readonly lists: {
    readonly connections: readonly string[];
    readonly repoIdsOf: (connection: string) => readonly number[];
    readonly takenAt: (repoId: number, connection: string) => number | undefined;
  };
  readonly rules: {
    readonly connections: () => ReadonlySet<string>;
    readonly ageMsMax: () => number;
    readonly intervalMs: () => number;
  };
  /** All repos that a connection lists now; other repos have left it. Undefined: the repos are not known yet. */
  readonly reposOf: (connection: string) => readonly MemberRepo[] | undefined;
  /** Errors: any; they count as failures of the host. */
  readonly hostOf: (connection: string) => Promise<MemberHost>;
  /** Lists the connections of a repo again. */
  readonly relist: (repoId: number) => void;
  /** How many accounts the lists of a connection contain, and how many are known users. Errors: NOT_READY. */
  readonly countsOf: (connection: string) => Promise<ReaderCounts>;
  readonly recordsOf: (
    repoId: number,
    connectionName: string,
    changes: ReaderChanges,
  ) => readonly NewAuditRecord[];
  readonly now: () => number;
  readonly log: Log;
}

export interface MemberResult {
  readonly taken: number;
  /** Lists of repos that left or are public. */
  readonly removed: number;
  readonly failed: number;
}

interface Failure {
  readonly name: string;
  readonly message: string;
  readonly count: number;
  /** Of performance.now. */
  readonly retryMs: number;
}

interface State {
  readonly failures: Map<number, Failure>;
  /** A failure of the whole host; no requests are sent until its pause is over. */
  hostFailure: Failure | undefined;
  running: Promise<MemberResult> | undefined;
  /** RepoIds of the running pass, without repos that left the connection since. */
  requested: ReadonlySet<number>;
  readonly writing: Map<number, Promise<unknown>>;
  /** Consecutive failures that are not of one repository. */
  failedInRow: number;
  counts: ReaderCounts | undefined;
  /** Earliest time of the next count, by performance.now. */
  countMs: number;
}

/** Bound: delay of a due list. */
const CHECK_MS = 60_000;
/** Delay after a page of a listing. Bound: one check in this time while pages come. */
const SOON_MS = 2_000;
/** Repositories of a connection fetched at a time. */
const QUERIES_MAX = 4;
/** Failures of the whole host: the next repository would fail too. */
const OF_THE_HOST: ReadonlySet<string> = new Set([
  'CERTIFICATE_REFUSED',
  'NOT_AUTHENTICATED',
  'NOT_SUPPORTED',
  'NO_SECRET',
  'RATE_LIMITED',
]);
/** Answers about one repository. */
const OF_A_REPO: ReadonlySet<string> = new Set([
  'NOT_ALLOWED',
  'NOT_FOUND',
  'OTHER_REPOSITORY',
  'TOO_MANY_READERS',
]);
/** Consecutive repositories without such an answer, after which the whole host counts as failed. Bound: useless requests. */
const FAILED_IN_ROW_MAX = 8;
/** Counting takes at most one part in this many of the time. */
const COUNT_SHARE = 20;
/** After the first failure; each further one doubles it. Bound: load of a host that fails. */
const PAUSE_MS_MIN = 60_000;
const NOTHING: MemberResult = { taken: 0, removed: 0, failed: 0 };

export class MemberSync {
  readonly #options: MemberSyncOptions;
  readonly #states = new Map<string, State>();
  readonly #abort = new AbortController();
  #isStarted = false;
  #timer: NodeJS.Timeout | undefined;
  /** Of performance.now. */
  #nextMs = Infinity;

  constructor(options: MemberSyncOptions) {
    this.#options = options;
  }

  start(): void {
    this.#isStarted = true;
    this.#checkIn(0);
  }

  /** What connections list may have changed: lists of repos that left go at once, new ones are fetched soon. */
  noteListed(): void {
    void this.dropRemoved();
    this.#checkIn(SOON_MS);
  }

  #checkIn(ms: number): void {
    const atMs = performance.now() + ms;
    if (!this.#isStarted || this.#abort.signal.aborted || this.#nextMs <= atMs) return;
    clearTimeout(this.#timer);
    this.#nextMs = atMs;
    this.#timer = setTimeout(() => {
      this.#nextMs = Infinity;
      void this.check().finally(() => this.#checkIn(CHECK_MS));
    }, ms).unref();
  }

  async close(): Promise<void> {
    this.#abort.abort(new Error('the daemon is stopping'));
    clearTimeout(this.#timer);
    await Promise.allSettled([...this.#states.values()].flatMap(({ running }) => running ?? []));
  }

  get degradations(): readonly string[] {
    const { rules } = this.#options;
    return [...this.#states].flatMap(([connection, state]) => {
      if (!rules.connections().has(connection)) return [];
      const { count = 0, known = 0 } = state.counts ?? {};
      const unknown =
        count > 0 && known === 0
          ? `connection ${nameOfListing(connection)}: 0 of ${count} readers known; users are matched by verified e-mail address, ` +
            'or by the account that they sign in with (identityProviders)'
          : undefined;
      return [this.#wordsOf(connection, state), unknown].filter((words) => words !== undefined);
    });
  }

  /** Accounts in the lists of a connection; undefined: it does not sync, or is not counted yet. */
  countsOf(name: string): ReaderCounts | undefined {
    return this.#states.get(this.#syncing(name) ?? '')?.counts;
  }

  /** Fetches the due lists of all connections. Errors: none. */
  async check(): Promise<void> {
    const names = [...this.#options.rules.connections()];
    await Promise.all(names.map((connection) => this.#pass(connection)));
    await this.#removeEnded();
  }

  /** Fetches all lists of a connection now, or after a restart. Errors: NOT_READY; those of the host are counted. */
  async run(name: string): Promise<MemberResult> {
    const { store, now } = this.#options;
    const connection = this.#syncing(name);
    if (connection === undefined) return NOTHING;
    await store.settings.set(lastQuerySetting(connection), String(now()));
    const state = this.#stateOf(connection);
    await state.running;
    for (const [repoId, failure] of state.failures)
      state.failures.set(repoId, { ...failure, retryMs: -Infinity });
    if (state.hostFailure !== undefined)
      state.hostFailure = { ...state.hostFailure, retryMs: -Infinity };
    return this.#pass(connection);
  }

  /** As `run`, without waiting. Errors: none. */
  request(name: string): void {
    this.run(name).catch((error: unknown) =>
      this.#options.log.warn('readers of repositories could not be fetched from their host', {
        connection: name,
        error: messageOf(error),
      }),
    );
  }

  /** The connection of this name that syncs now. */
  #syncing(name: string): string | undefined {
    return [...this.#options.rules.connections()].find((one) => nameOfListing(one) === name);
  }

  /** Repos of connections have changed: lists of repos that left or became public go at once. Errors: none. */
  async dropRemoved(): Promise<void> {
    const { rules, log } = this.#options;
    try {
      for (const connection of rules.connections())
        await this.#drop(connection, this.#removedOf(connection));
    } catch (error) {
      log.warn('lists of readers of removed repositories could not be removed yet', {
        error: messageOf(error),
      });
    }
  }

  /** RepoIds of lists to remove from a connection; a running pass skips them from here on. */
  #removedOf(connection: string): readonly number[] {
    const { lists, reposOf } = this.#options;
    const repos = reposOf(connection);
    if (repos === undefined) return [];
    const requested = new Set(reposToQuery(repos).map(({ repoId }) => repoId));
    const state = this.#stateOf(connection);
    const existing = new Set([...lists.repoIdsOf(connection), ...state.writing.keys()]);
    state.requested = requested;
    return [...existing].filter((repoId) => !requested.has(repoId));
  }

  async #drop(connection: string, repoIds: readonly number[]): Promise<number> {
    const { store, recordsOf } = this.#options;
    const state = this.#stateOf(connection);
    let removed = 0;
    for (const repoId of repoIds) {
      state.failures.delete(repoId);
      await state.writing.get(repoId)?.catch(() => {});
      await store.hostReaders.remove({ repoId, connection }, (changes) =>
        recordsOf(repoId, nameOfListing(connection), changes),
      );
      removed++;
    }
    return removed;
  }

  #stateOf(connection: string): State {
    const existing = this.#states.get(connection);
    if (existing !== undefined) return existing;
    const state: State = {
      failures: new Map(),
      hostFailure: undefined,
      running: undefined,
      requested: new Set(),
      writing: new Map(),
      failedInRow: 0,
      counts: undefined,
      countMs: -Infinity,
    };
    this.#states.set(connection, state);
    return state;
  }

  /** One pass at a time per connection; further callers get its result. */
  #pass(connection: string): Promise<MemberResult> {
    const state = this.#stateOf(connection);
    state.running ??= this.#passOnce(connection, state).finally(() => {
      state.running = undefined;
    });
    return state.running;
  }

  async #passOnce(connection: string, state: State): Promise<MemberResult> {
    const repos = this.#options.reposOf(connection);
    if (repos === undefined || this.#abort.signal.aborted) return NOTHING;
    try {
      const removed = await this.#drop(connection, this.#removedOf(connection));
      if (isPausing(state.hostFailure)) return { ...NOTHING, removed };
      const result = { ...(await this.#take(connection, state, reposToQuery(repos))), removed };
      if (this.#abort.signal.aborted) return result;
      this.#report(connection, state, result);
      await this.#count(connection, state);
      return result;
    } catch (error) {
      if (this.#abort.signal.aborted) return NOTHING;
      state.hostFailure = this.#failureOf(connection, state.hostFailure, error);
      this.#report(connection, state, NOTHING);
      return NOTHING;
    }
  }

  /** Errors: those of the whole host, and of the store. */
  async #take(
    connection: string,
    state: State,
    repos: readonly MemberRepo[],
  ): Promise<Omit<MemberResult, 'removed'>> {
    const { store, hostOf } = this.#options;
    for (const repoId of state.failures.keys())
      if (!state.requested.has(repoId)) state.failures.delete(repoId);
    const lastQueryText = await store.settings.get(lastQuerySetting(connection));
    const due = repos.filter((repo) =>
      this.#isDue(repo, connection, state, Number(lastQueryText ?? 0)),
    );
    let [taken, failed] = [0, 0];
    state.failedInRow = 0;
    const host = due.length === 0 ? undefined : await hostOf(connection);
    await this.#inParallel(due, async (repo) => {
      const isTaken = await this.#takeOne(connection, state, host!, repo);
      if (isTaken) taken++;
      else if (state.failures.has(repo.repoId)) failed++;
    });
    if (this.#abort.signal.aborted) return { taken, failed };
    state.hostFailure = undefined;
    // A request during the pass needs another pass.
    if (
      lastQueryText !== undefined &&
      (await store.settings.get(lastQuerySetting(connection))) === lastQueryText
    )
      await store.settings.remove(lastQuerySetting(connection));
    return { taken, failed };
  }

  /** Counts after each pass, as users link accounts at any time; less often if that takes long. Errors: NOT_READY. */
  async #count(connection: string, state: State): Promise<void> {
    const startMs = performance.now();
    if (startMs < state.countMs) return;
    state.counts = await this.#options.countsOf(connection);
    state.countMs = performance.now() + COUNT_SHARE * (performance.now() - startMs);
  }

  #isDue({ repoId }: MemberRepo, connection: string, state: State, requestedAt: number): boolean {
    const { lists, now } = this.#options;
    if (isPausing(state.failures.get(repoId))) return false;
    const takenAt = lists.takenAt(repoId, connection);
    // A list from the future comes from a wrong clock.
    if (takenAt === undefined || takenAt > now() || takenAt <= requestedAt) return true;
    // Spread over the last quarter of the interval, so that thousands of lists do not stay in step.
    const spread = (Math.imul(repoId, 0x9e3779b1) >>> 0) / 2 ** 32;
    return now() - takenAt >= this.#intervalMs * (0.75 + 0.25 * spread);
  }

  /** Why at most half the maximum age: else a list expires before the next fetch, or after one failure. */
  get #intervalMs(): number {
    const { rules } = this.#options;
    return Math.min(rules.intervalMs(), rules.ageMsMax() / 2);
  }

  /** Calls `run` for each, some at a time. Errors: the first one; no further call starts then. */
  async #inParallel(
    repos: readonly MemberRepo[],
    run: (repo: MemberRepo) => Promise<void>,
  ): Promise<void> {
    const waiting = repos.values();
    let isEnding = false;
    const runSome = async (): Promise<void> => {
      for (const repo of waiting) {
        if (isEnding || this.#abort.signal.aborted) return;
        try {
          await run(repo);
        } catch (error) {
          isEnding = true;
          throw error;
        }
      }
    };
    const runs = await Promise.allSettled(Array.from({ length: QUERIES_MAX }, runSome));
    for (const one of runs) if (one.status === 'rejected') throw one.reason;
  }

  /** False: it failed, which is recorded, or the repo has left. Errors: those of the whole host, and of the store. */
  async #takeOne(
    connection: string,
    state: State,
    host: MemberHost,
    repo: MemberRepo,
  ): Promise<boolean> {
    const takenAt = this.#options.now();
    let readers: ReaderSet;
    try {
      readers = await readMembers(host, repo, this.#abort.signal);
    } catch (error) {
      this.#noteFailure(state, repo, error);
      return false;
    }
    state.failedInRow = 0;
    if (!state.requested.has(repo.repoId)) return false;
    state.failures.delete(repo.repoId);
    return this.#replace(connection, state, repo, readers, takenAt);
  }

  /** Errors: rethrows it if the whole host cannot be asked. */
  #noteFailure(state: State, { repoId, name }: MemberRepo, error: unknown): void {
    this.#abort.signal.throwIfAborted();
    if (error instanceof HostError && OF_THE_HOST.has(error.code)) throw error;
    if (error instanceof HostError && error.code === 'OTHER_REPOSITORY')
      this.#options.relist(repoId);
    state.failures.set(repoId, this.#failureOf(name, state.failures.get(repoId), error));
    const isOfRepo = error instanceof HostError && OF_A_REPO.has(error.code);
    state.failedInRow = isOfRepo ? 0 : state.failedInRow + 1;
    if (state.failedInRow >= FAILED_IN_ROW_MAX) throw error;
  }

  /** False: the repo is gone. Errors: NOT_READY. */
  async #replace(
    connection: string,
    { writing }: State,
    { repoId }: MemberRepo,
    readers: ReaderSet,
    takenAt: number,
  ): Promise<boolean> {
    const { store, recordsOf } = this.#options;
    const replacing = store.hostReaders.replace(
      { repoId, connection },
      readers,
      takenAt,
      (changes) => recordsOf(repoId, nameOfListing(connection), changes),
    );
    writing.set(repoId, replacing);
    try {
      await replacing;
      return true;
    } catch (error) {
      if (error instanceof StoreError && error.errorCode === 'NOT_FOUND') return false;
      throw error;
    } finally {
      writing.delete(repoId);
    }
  }

  #failureOf(name: string, before: Failure | undefined, error: unknown): Failure {
    const count = (before?.count ?? 0) + 1;
    const retryAt = error instanceof HostError ? error.retryAt : undefined;
    const saidMs = retryAt === undefined ? 0 : Date.parse(retryAt) - this.#options.now();
    const grownMs = backOffMs(count, { min: PAUSE_MS_MIN, max: this.#intervalMs });
    const pauseMs = Math.min(Math.max(grownMs, saidMs || 0), this.#intervalMs);
    return { name, message: messageOf(error), count, retryMs: performance.now() + pauseMs };
  }

  #report(connection: string, state: State, { taken, removed, failed }: MemberResult): void {
    const { log } = this.#options;
    const name = nameOfListing(connection);
    if (state.hostFailure !== undefined || failed > 0) {
      const words = this.#wordsOf(connection, state);
      if (words !== undefined) log.warn(words, { connection: name, taken, removed, failed });
    } else if (taken + removed > 0)
      log.info('readers of a repository fetched from its host', {
        connection: name,
        taken,
        removed,
      });
  }

  #wordsOf(connection: string, { failures, hostFailure }: State): string | undefined {
    const first = hostFailure ?? [...failures.values()][0];
    if (first === undefined) return undefined;
    const { lists } = this.#options;
    const connectionName = nameOfListing(connection);
    const repoIds = hostFailure === undefined ? [...failures.keys()] : lists.repoIdsOf(connection);
    const what =
      hostFailure === undefined
        ? `of ${someNames([...failures.values()].map(({ name }) => name))} (connection ${connectionName})`
        : `of the repositories of connection ${connectionName}`;
    const end = this.#endOf(connection, repoIds);
    return `the readers ${what} could not be fetched: ${first.message}; ${end}`;
  }

  /** When access by the lists of these repos ends, in words. */
  #endOf(connection: string, repoIds: readonly number[]): string {
    const { lists, rules, now } = this.#options;
    let firstEnd = Infinity;
    for (const repoId of repoIds) {
      const takenAt = lists.takenAt(repoId, connection);
      if (takenAt !== undefined) firstEnd = Math.min(firstEnd, takenAt + rules.ageMsMax());
    }
    if (firstEnd === Infinity) return 'nobody sees them through their host';
    const time = new Date(firstEnd).toISOString();
    return firstEnd > now()
      ? `the host's last answer counts until ${time}`
      : `the host's last answer expired at ${time}`;
  }

  /** Removes expired lists of connections that are gone or no longer sync. Errors: none. */
  async #removeEnded(): Promise<void> {
    const { lists, rules, now, log } = this.#options;
    // Another daemon on the store may use them; no setting allows a greater age.
    const ended = (repoId: number, connection: string): boolean =>
      (lists.takenAt(repoId, connection) ?? Infinity) + DAY_MS <= now();
    try {
      for (const connection of lists.connections) {
        if (rules.connections().has(connection) || this.#abort.signal.aborted) continue;
        const repoIds = lists.repoIdsOf(connection);
        await this.#drop(
          connection,
          repoIds.filter((repoId) => ended(repoId, connection)),
        );
      }
    } catch (error) {
      log.warn('expired lists of readers could not be removed', { error: messageOf(error) });
    }
  }
}

/** Repos whose readers are fetched: everybody sees the others. */
function reposToQuery(repos: readonly MemberRepo[]): readonly MemberRepo[] {
  return repos.filter(({ visibility }) => visibility !== 'public');
}

/** Setting with the time at which all lists of a connection were requested, until they are fetched. */
function lastQuerySetting(connection: string): string {
  return `members.asked.${connection}`;
}

function isPausing(failure: Failure | undefined): boolean {
  return failure !== undefined && performance.now() < failure.retryMs;
}
