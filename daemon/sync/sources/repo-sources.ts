// The sources of the daemon: probes named and known sources, finds or creates their repos, and sets which repos are
// served. A source that a connection lists belongs to the connection: it gets no second repo.

import { omitUndefined } from '../../base/omit-undefined.ts';
import { setMaxListeners } from 'node:events';
import path from 'node:path';
import type { StoredRepo } from '../../store/repos.ts';
import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import type { RepoRecord, SourceKind } from '../../repos/records.ts';
import { Slots } from '../../base/slots.ts';
import type { ProbedSource } from '../../sources/git/probe.ts';
import type { Catalog } from '../../index/catalog/catalog.ts';
import type { CatalogRepo } from '../../index/catalog/catalog-records.ts';
import { type RepoChange, recordOf } from '../../index/register/change-repo.ts';
import type { JobResult, Jobs } from '../jobs/jobs.ts';
import { reprobeSource, probeForIndex } from '../../index/register/probe-for-index.ts';
import type { AdmittedSource, RepoRegistry } from '../../index/register/registry.ts';
import { hasMoreSettings } from '../../sources/git/git-paths.ts';
import { RefPoller } from '../../sources/git/ref-poller.ts';
import { ProbeError } from '../../sources/git/path-kind.ts';
import { seeFolderId } from '../../sources/disk/identity.ts';
import {
  logFound,
  type RequestedSource,
  type RequestedSources,
  requestedSources,
  type SearchedFolder,
} from './requested-sources.ts';
import type { Served } from '../../index/served/served.ts';

/** Added sources: their repos, and the failed jobs of those without a repo. */
export interface AddedSources {
  readonly records: readonly RepoRecord[];
  readonly failed: readonly JobResult[];
}

/** Options of the named paths, for sources that are found later. */
interface LaterSourceRules {
  readonly mode: SourceKind | undefined;
  readonly selection: Omit<RepoChange, 'visibility' | 'enforcement'>;
}

export interface RepoSourcesOptions {
  readonly catalog: Catalog;
  readonly registry: RepoRegistry;
  readonly served: Served;
  readonly jobs: Jobs;
  readonly isListed: (repo: StoredRepo) => boolean;
  readonly log: Log;
}

interface FoundSource extends AdmittedSource, Pick<ProbedSource, 'defaultRevision' | 'pushedAt'> {
  /** Of refs and settings, before it was probed; absent: unknown, or not of all settings. */
  readonly state?: string;
}

export class RepoSources {
  readonly #options: RepoSourcesOptions;
  #unseenCount = 0;
  #rules: LaterSourceRules = { mode: undefined, selection: {} };
  /** Named paths that may bring further sources: folders of repositories, missing ones, those of connections. */
  #open: readonly string[] = [];
  /** Absolute paths of sources with a repo. */
  readonly #sourcePaths = new Set<string>();
  /** Named paths that are no sources now, and why. */
  readonly #missing = new Map<string, string>();
  /** Skipped folders and sources of the current search and of the last one, as text. */
  #skipped = new Set<string>();
  #skippedBefore: ReadonlySet<string> = new Set();

  constructor(options: RepoSourcesOptions) {
    this.#options = options;
  }

  /**
   * Finds or creates the repo of each path, each repo once, and applies the change. From then on searches see only these;
   * before, only those known to be unchanged. A path that cannot be read keeps its repo, whose next job fails. Errors:
   * ProbeError if no path is a source; NOT_READY; the reason of the signal.
   */
  async add(
    paths: readonly string[],
    mode: SourceKind | undefined,
    change: RepoChange = {},
    signal?: AbortSignal,
  ): Promise<AddedSources> {
    return this.#whileUnseen(paths.length, () => this.#add(paths, mode, change, signal));
  }

  async #add(
    paths: readonly string[],
    mode: SourceKind | undefined,
    change: RepoChange,
    signal: AbortSignal | undefined,
  ): Promise<AddedSources> {
    const { served, registry, jobs, log } = this.#options;
    this.#missing.clear();
    const sure = this.#sureOf(paths, mode, change);
    served.repoIds = sure;
    const { sources, folders } = await this.#search(paths, mode, signal);
    for (const folder of folders) logFound(folder, log);
    const { own, listed } = this.#withoutListed(sources);
    this.#unseenCount = Math.max(1, own.length);
    const { probed, kept, errors } = await this.#probeAll(own, sure, signal);
    await registry.noteRequested(new Set(listed.map(({ repoId }) => repoId)));
    const repos = await registry.admit(probed, change);
    const records = [...(await this.#note(repos, probed, folders)), ...kept, ...listed];
    this.#warnOfRevisions(records, change);
    served.repoIds = new Set(records.map(({ repoId }) => repoId));
    const { visibility: _, enforcement: __, ...selection } = change;
    this.#rules = { mode, selection };
    this.#sourcePaths.clear();
    for (const one of own) if (!errors.has(one.path)) this.#sourcePaths.add(path.resolve(one.path));
    this.#noteOpen(paths, folders);
    const failed = [...errors].map(([one, error]) => {
      this.#missing.set(one, messageOf(error));
      return jobs.fail(one, error, 0);
    });
    return { records, failed };
  }

  #search(
    paths: readonly string[],
    mode: SourceKind | undefined,
    signal: AbortSignal | undefined,
  ): Promise<RequestedSources> {
    this.#skippedBefore = this.#skipped;
    this.#skipped = new Set();
    const onSkipped = (...skipped: [string, string]): void => this.#noteSkipped(...skipped);
    return requestedSources(paths, mode, { records: this.#records, onSkipped, signal });
  }

  /** Sources without those of connections, and the repos of those. */
  #withoutListed(sources: readonly RequestedSource[]): {
    readonly own: readonly RequestedSource[];
    readonly listed: readonly RepoRecord[];
  } {
    const { registry, catalog, isListed } = this.#options;
    const repos = new Map<string, StoredRepo>();
    for (const repo of registry.all) {
      const listedPath = repo.host?.facts.source?.path;
      if (listedPath !== undefined && isListed(repo)) repos.set(folderKeyOf(listedPath), repo);
    }
    if (repos.size === 0) return { own: sources, listed: [] };
    const listed = new Map<number, RepoRecord>();
    const own = sources.filter((source) => {
      const repo = repos.get(folderKeyOf(source.path));
      if (repo === undefined) return true;
      const record = catalog.repo(repo.repoId)?.record;
      if (record !== undefined) listed.set(repo.repoId, record);
      if (!source.isFound)
        this.#noteSkipped(source.path, 'a connection lists it, and the settings of that apply');
      return false;
    });
    return { own, listed: [...listed.values()] };
  }

  #noteOpen(paths: readonly string[], folders: readonly SearchedFolder[]): void {
    const searched = new Set(folders.map((folder) => folder.path));
    const isOpen = (one: string): boolean => searched.has(one) || !this.#sourcePaths.has(one);
    this.#open = paths.filter((one) => isOpen(path.resolve(one)));
  }

  get #records(): readonly RepoRecord[] {
    const { catalog, registry } = this.#options;
    const records = catalog.repos.map(({ record }) => record);
    return records.filter(({ repoId }) => registry.byId(repoId)?.host === undefined);
  }

  /** Number of sources that are not probed yet; at least 1 until the repos of all are known. */
  get unseenCount(): number {
    return this.#unseenCount;
  }

  async #whileUnseen<Result>(count: number, work: () => Promise<Result>): Promise<Result> {
    this.#unseenCount = count;
    try {
      return await work();
    } finally {
      this.#unseenCount = 0;
    }
  }

  get openCount(): number {
    return this.#open.length;
  }

  /**
   * Searches the named paths again: for missing sources, and for new repositories in folders. Returns the repos of new ones;
   * searches see them from then on. They have the rules of new ones: whoever can write to a missing path must not change the
   * visibility or the path of a repo. A source that may be a known repo waits for the next start. Errors: NOT_READY, if
   * nothing was added; the reason of the signal.
   */
  async findNew(signal: AbortSignal): Promise<readonly RepoRecord[]> {
    const come: RepoRecord[] = [];
    const found = await this.#search(this.#open, this.#rules.mode, signal);
    const isNew = (one: RequestedSource): boolean => !this.#sourcePaths.has(path.resolve(one.path));
    for (const source of this.#withoutListed(found.sources.filter(isNew)).own) {
      const probed = await this.#probeNew(source);
      signal.throwIfAborted();
      if (probed === undefined) continue;
      try {
        come.push(...(await this.#admitNew(source.path, probed)));
      } catch (error) {
        // The next search finds it again.
        if (come.length === 0) throw error;
      }
    }
    this.#noteOpen(this.#open, found.folders);
    return come;
  }

  /** Undefined: not a source. Errors: none. */
  async #probeNew(source: RequestedSource): Promise<ProbedSource | undefined> {
    const { registry, jobs } = this.#options;
    try {
      return await probeOne(registry, source);
    } catch (error) {
      const reason = messageOf(error);
      if (source.isFound) {
        if (!isNotThere(error)) this.#noteSkipped(source.path, reason);
      } else if (this.#missing.get(source.path) !== reason) {
        this.#missing.set(source.path, reason);
        jobs.fail(source.path, error, 0);
      }
      return undefined;
    }
  }

  /** Logs it, if the last search did not skip it for the same reason. */
  #noteSkipped(location: string, reason: string): void {
    const skipped = `${location}: ${reason}`;
    this.#skipped.add(skipped);
    if (!this.#skippedBefore.has(skipped))
      this.#options.log.warn('skipped', { path: location, reason });
  }

  /** The repo of a new source, served from now on; none if it may be a known one. */
  async #admitNew(one: string, probed: ProbedSource): Promise<readonly RepoRecord[]> {
    const { registry, served, jobs, log } = this.#options;
    const { selection } = this.#rules;
    const existing = registry.mayBe(probed);
    if (existing.length > 0) {
      this.#noteSource(one);
      log.warn('a source that was missing may be a known repository: the next start checks it', {
        path: one,
        mayBe: existing.map(({ name }) => name),
      });
      return [];
    }
    const repos = await registry.admit([probed], selection);
    const records = await this.#note(repos, [probed]);
    this.#noteSource(one);
    jobs.failed.clear(one);
    this.#warnOfRevisions(records, selection);
    served.repoIds = new Set([...(served.repoIds ?? []), ...records.map(({ repoId }) => repoId)]);
    return records;
  }

  #noteSource(one: string): void {
    this.#sourcePaths.add(path.resolve(one));
    this.#missing.delete(one);
  }

  /** Records the repos in the catalog, in place of others at their paths. @param folders  of repositories */
  async #note(
    repos: readonly StoredRepo[],
    probed: readonly FoundSource[],
    folders: readonly SearchedFolder[] = [],
  ): Promise<RepoRecord[]> {
    const records = new Map<number, RepoRecord>();
    const { catalog, jobs } = this.#options;
    let removed: number[] = [];
    await catalog.commit(() => {
      const put = new Map<number, CatalogRepo>();
      for (const [index, repo] of repos.entries()) {
        const before = put.get(repo.repoId) ?? catalog.repo(repo.repoId);
        const record = recordOf(repo, before?.record ?? newRecord(repo, probed[index]!));
        records.set(record.repoId, record);
        const { probed: _, ...rest } = before ?? { shards: [], skipped: {} };
        const state = probed[index]?.state;
        put.set(record.repoId, { ...rest, record, ...omitUndefined({ probed: state }) });
      }
      const taken = new Set([...records.values()].map(({ source }) => source.path));
      // Files that were indexed as one folder are in the repositories now.
      for (const folder of folders) taken.add(folder.path);
      removed = this.#records
        .filter(({ repoId, source }) => !records.has(repoId) && taken.has(source.path))
        .map(({ repoId }) => repoId);
      return { put: [...put.values()], removed };
    });
    jobs.cancel(removed);
    return [...records.values()];
  }

  /** Repos at or below the paths that need no probing before they are served: unchanged folder and visibility. */
  #sureOf(
    paths: readonly string[],
    mode: SourceKind | undefined,
    { visibility, enforcement }: RepoChange,
  ): ReadonlySet<number> {
    const { registry } = this.#options;
    const isSure = (record: RepoRecord): boolean => {
      const repo = registry.byId(record.repoId);
      const isAsVisible =
        (visibility ?? repo?.visibility) === repo?.visibility &&
        (enforcement ?? repo?.enforcement) === repo?.enforcement;
      return isAsVisible && isOfMode(record, mode) && registry.isWhereItWas(record);
    };
    const requested = new Set(paths.map((one) => path.resolve(one)));
    const existing = this.#records.filter(({ source }) => isAtOrBelow(source.path, requested));
    return new Set(existing.filter(isSure).map(({ repoId }) => repoId));
  }

  /**
   * Probes each path, unless a repo is as it was at the last probe; `kept` are the repos of paths that cannot be read now.
   * @param sure  repos whose folders are the same as then
   */
  async #probeAll(
    sources: readonly RequestedSource[],
    sure: ReadonlySet<number>,
    signal: AbortSignal | undefined,
  ): Promise<{ probed: FoundSource[]; kept: RepoRecord[]; errors: Map<string, unknown> }> {
    const probed: FoundSource[] = [];
    const kept: RepoRecord[] = [];
    const errors = new Map<string, unknown>();
    let failure: unknown;
    const { registry } = this.#options;
    const byLocation = this.#byLocation();
    const states = await statesOf(sources);
    const probes = sources.map((one, index) => async (): Promise<FoundSource> => {
      const state = states[index];
      const record = byLocation(one);
      const known =
        record !== undefined && sure.has(record.repoId) && this.#known(one, record, state);
      if (known) return known;
      const found = await probeOne(registry, one);
      // Changes of included settings are not in the state: such a repository is always probed.
      return state === undefined || hasMoreSettings(one.path) ? found : { ...found, state };
    });
    const found = await this.#probeTogether(probes, signal);
    for (const [index, one] of sources.entries()) {
      const result = found[index]!;
      if (result.status === 'fulfilled') {
        probed.push(result.value);
        this.#options.jobs.failed.clear(one.path);
        continue;
      }
      const error: unknown = result.reason;
      const existing = byLocation(one);
      // It was removed a moment ago, and nobody has named it.
      if (one.isFound && existing === undefined && isNotThere(error)) continue;
      failure = error;
      if (existing === undefined) errors.set(one.path, error);
      else {
        kept.push(existing);
        await this.#options.served.hideIfDetached(existing, error);
      }
    }
    if (probed.length + kept.length === 0 && failure !== undefined) throw failure;
    return { probed, kept, errors };
  }

  /** The source of a repo as it was at the last probe; false: something has changed since. */
  #known(
    { reposApart }: RequestedSource,
    record: RepoRecord,
    state: string | undefined,
  ): FoundSource | false {
    const { catalog, registry } = this.#options;
    const { repoId, name, source, defaultRevision } = record;
    const repo = catalog.repo(repoId);
    if (state === undefined || repo?.probed !== state || repo.isStray === true) return false;
    const { kind, path: location } = source;
    const { remote } = registry.byId(repoId) ?? {};
    return {
      source: { kind, path: location },
      name,
      ...omitUndefined({ remote, reposApart }),
      defaultRevision,
      state,
    };
  }

  #byLocation(): (source: RequestedSource) => RepoRecord | undefined {
    const records = new Map<string, RepoRecord[]>();
    for (const record of this.#records)
      records.set(record.source.path, [...(records.get(record.source.path) ?? []), record]);
    return ({ path: location, mode }) =>
      records.get(path.resolve(location))?.find((record) => isOfMode(record, mode));
  }

  /**
   * Checks that the sources of the catalog are unchanged if nobody names them: another repository may be at the path of one,
   * and must not get its permissions. Searches see none of those meanwhile. Errors: NOT_READY; the reason of the signal.
   */
  async confirm(signal?: AbortSignal): Promise<void> {
    const before = this.#options.served.repoIds;
    const [sure, doubtful] = [new Set<number>(), [] as RepoRecord[]];
    for (const record of this.#options.served.records)
      if (this.#options.registry.isWhereItWas(record)) sure.add(record.repoId);
      else doubtful.push(record);
    this.#options.served.repoIds = sure;
    await this.#whileUnseen(doubtful.length, () => this.#confirmEach(doubtful, signal));
    this.#options.served.repoIds = before;
  }

  async #confirmEach(
    doubtful: readonly RepoRecord[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { registry } = this.#options;
    const probes = doubtful.map((record) => () => reprobeSource(registry, record.source));
    // A source that cannot be probed now fails when it is indexed.
    const probed = (await this.#probeTogether(probes, signal)).flatMap((result) =>
      result.status === 'fulfilled' ? [result.value] : [],
    );
    if (probed.length > 0) await this.#note(await registry.admit(probed, {}), probed);
  }

  async #probeTogether<Found>(
    probes: readonly (() => Promise<Found>)[],
    signal: AbortSignal = new AbortController().signal,
  ): Promise<PromiseSettledResult<Found>[]> {
    // Guess: probing waits for the disk about as long as it computes.
    const slots = new Slots({ runningMax: 8, waitingMax: Infinity });
    // Each waiting source adds a listener; Node warns above ten.
    setMaxListeners(0, signal);
    let done = 0;
    const telling = setInterval(
      () => this.#options.log.info('checking sources', { done, total: probes.length }),
      5_000,
    ).unref();
    const noteDone = (): void => {
      done++;
      this.#unseenCount = Math.max(1, this.#unseenCount - 1);
    };
    const found = await Promise.allSettled(
      probes.map((probe, index) => slots.run(String(index), signal, probe).finally(noteDone)),
    );
    clearInterval(telling);
    signal.throwIfAborted();
    return found;
  }

  #warnOfRevisions(records: readonly RepoRecord[], { branches = [], tags = [] }: RepoChange): void {
    if (branches.length + tags.length === 0) return;
    for (const { name, source } of records)
      if (source.kind === 'folder')
        this.#options.log.warn('a folder without git has no branches and tags', { repo: name });
  }
}

/** Measured 2026-11-29: starting a thread takes 59 ms of processor time; a probe 1.9 ms of the main thread, and a git process. */
const POLLED_MIN = 16;
/** Of a state; other texts tell why there is none. */
const STATE = /^[0-9a-f]{40}$/;

/** The state of the refs and settings of each source, with its mode; undefined: unknown. */
async function statesOf(
  sources: readonly RequestedSource[],
): Promise<readonly (string | undefined)[]> {
  if (sources.length < POLLED_MIN) return [];
  const poller = new RefPoller();
  const states = await poller.poll(sources.map((one) => path.resolve(one.path)));
  poller.close();
  return sources.map(({ mode }, index) => {
    const state = states[index];
    return state !== undefined && STATE.test(state) ? `${mode ?? ''} ${state}` : undefined;
  });
}

async function probeOne(
  registry: RepoRegistry,
  { path: location, mode, reposApart, below }: RequestedSource,
): Promise<ProbedSource> {
  const probed = await probeForIndex(registry, location, mode);
  const name = below === undefined ? probed.name : localNameBelow(below, location, probed.name);
  return { ...probed, name, ...omitUndefined({ reposApart }) };
}

/** The name of a repo without a remote, with the folders below the named one: `local/a/web`. */
function localNameBelow(folder: string, location: string, name: string): string {
  const above = path.dirname(path.relative(folder, location));
  if (!name.startsWith(LOCAL) || above === '.' || above.startsWith('..')) return name;
  const folders = above
    .split(path.sep)
    .join('/')
    .replace(/\p{Cc}/gu, '');
  return `${LOCAL}${folders}/${name.slice(LOCAL.length)}`;
}

const LOCAL = 'local/';

function isOfMode({ source: { kind } }: RepoRecord, mode: SourceKind | undefined): boolean {
  return mode === undefined || (mode === 'commits') === (kind === 'commits');
}

function isAtOrBelow(location: string, folders: ReadonlySet<string>): boolean {
  const above = path.dirname(location);
  return folders.has(location) || (above !== location && isAtOrBelow(above, folders));
}

/** The same for all paths of a folder; of a missing one its path. */
function folderKeyOf(location: string): string {
  return seeFolderId(location) ?? path.resolve(location);
}

function isNotThere(error: unknown): boolean {
  return error instanceof ProbeError && error.failure === 'not_found';
}

function newRecord(repo: StoredRepo, { defaultRevision, pushedAt }: FoundSource): RepoRecord {
  return { ...recordOf(repo), defaultRevision, ...omitUndefined({ pushedAt }) };
}
