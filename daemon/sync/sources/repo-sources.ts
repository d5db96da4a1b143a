// The sources of the daemon: probes named and known sources, finds or creates their repos, and sets which repos are
// served.

import { omitUndefined } from '../../base/omit-undefined.ts';
import { setMaxListeners } from 'node:events';
import path from 'node:path';
import type { StoredRepo } from '../../store/repos.ts';
import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { Slots } from '../../base/slots.ts';
import type { ProbedSource, SourceMode } from '../../sources/git/probe.ts';
import type { Catalog } from '../../index/catalog/catalog.ts';
import type { CatalogRepo } from '../../index/catalog/catalog-records.ts';
import { type RepoChange, recordOf } from '../../index/register/change-repo.ts';
import type { JobResult, Jobs } from '../jobs/jobs.ts';
import { reprobeSource, probeForIndex } from '../../index/register/probe-for-index.ts';
import type { RepoRegistry } from '../../index/register/registry.ts';
import { ProbeError } from '../../sources/git/path-kind.ts';
import { findRepos } from './find-repos.ts';
import {
  besideRepos,
  type RequestedSource,
  type RequestedSources,
  type SearchedFolder,
  requestedSources,
  logFound,
} from './requested-sources.ts';
import { warningsOfReposInside } from './repos-inside.ts';
import type { Served } from '../../index/served/served.ts';

/** Added sources: their repos, and the failed jobs of those without a repo. */
export interface AddedSources {
  readonly records: readonly RepoRecord[];
  readonly failed: readonly JobResult[];
}

/** Options for the repos of paths. */
interface SourceRules {
  readonly mode: SourceMode | undefined;
  readonly selection: Omit<RepoChange, 'visibility' | 'enforcement'>;
}

export interface RepoSourcesOptions {
  readonly catalog: Catalog;
  readonly registry: RepoRegistry;
  readonly served: Served;
  readonly jobs: Jobs;
  readonly log: Log;
}

export class RepoSources {
  readonly #options: RepoSourcesOptions;
  /** Named paths that are no sources yet, and why. */
  readonly #missing = new Map<string, string>();
  #unseenCount = 0;
  /** Options for their repos later. */
  #rules: SourceRules = { mode: undefined, selection: {} };
  /** Folders that may get further repositories. */
  #folders: readonly SearchedFolder[] = [];
  /** Absolute paths of sources, and of found folders that are none, with the reason. */
  readonly #sourcePaths = new Set<string>();
  readonly #odd = new Map<string, string>();
  #searchCount = 0;

  constructor(options: RepoSourcesOptions) {
    this.#options = options;
  }

  /**
   * Finds or creates the repo of each path, each repo once, and applies the change. From then on searches see only
   * these; before, only those known to be unchanged. A path that cannot be read keeps its repo, whose next job fails.
   *
   * Errors: ProbeError if no path is a source; NOT_READY; the reason of the signal.
   */
  async add(
    paths: readonly string[],
    mode: SourceMode | undefined,
    change: RepoChange = {},
    signal?: AbortSignal,
  ): Promise<AddedSources> {
    return this.#whileUnseen(paths.length, () => this.#add(paths, mode, change, signal));
  }

  async #add(
    paths: readonly string[],
    mode: SourceMode | undefined,
    change: RepoChange,
    signal: AbortSignal | undefined,
  ): Promise<AddedSources> {
    const { served } = this.#options;
    served.repoIds = this.#sureOf(
      paths.map((one) => ({ path: one, mode, isFound: false })),
      change,
    );
    const { sources, folders } = await this.#findRequested(paths, mode, change, signal);
    this.#unseenCount = Math.max(1, sources.length);
    const { probed, kept, failed } = await this.#probeAll(sources, signal);
    const repos = await this.#options.registry.admit(probed, change);
    const records = [...(await this.#note(repos, probed, folders)), ...kept];
    for (const record of records) this.#noteFolder(record, change);
    served.repoIds = new Set(records.map(({ repoId }) => repoId));
    this.#folders = folders;
    this.#sourcePaths.clear();
    for (const one of sources) this.#sourcePaths.add(path.resolve(one.path));
    const { visibility: _, enforcement: __, ...selection } = change;
    this.#rules = { mode, selection };
    this.#missing.clear();
    for (const { repo, error = '' } of failed) this.#missing.set(repo, error);
    return { records, failed };
  }

  /**
   * Repos that the user may have named: repos of connections are separate, even at the same path.
   */
  get #records(): readonly RepoRecord[] {
    const { catalog, registry } = this.#options;
    const records = catalog.repos.map(({ record }) => record);
    return records.filter(({ repoId }) => registry.byId(repoId)?.host === undefined);
  }

  /** The sources of the paths. Known ones are served meanwhile if a folder takes long to search. */
  async #findRequested(
    paths: readonly string[],
    mode: SourceMode | undefined,
    change: RepoChange,
    signal: AbortSignal | undefined,
  ): Promise<RequestedSources> {
    const { served, log } = this.#options;
    const records = this.#records;
    const quick = await requestedSources(paths, mode, { records, isDeep: false, log, signal });
    if (quick.folders.length === 0) return quick;
    served.repoIds = this.#sureOf(quick.sources, change);
    const isPartial = quick.folders.some(({ found }) => found.isPartial);
    const sources = isPartial
      ? await requestedSources(paths, mode, { records, isDeep: true, log, signal })
      : quick;
    for (const folder of sources.folders) logFound(folder, log);
    return sources;
  }

  /** Number of sources that are not probed yet; at least 1 until the repos of all are known. */
  get unseenCount(): number {
    return this.#unseenCount;
  }

  /** @param count  of the sources that `work` probes */
  async #whileUnseen<Result>(count: number, work: () => Promise<Result>): Promise<Result> {
    this.#unseenCount = count;
    try {
      return await work();
    } finally {
      this.#unseenCount = 0;
    }
  }

  /** Number of paths that are no sources. */
  get missingCount(): number {
    return this.#missing.size;
  }

  /**
   * Probes missing paths again. Returns the repos of those that exist now; searches see them from then on. They are new
   * repos with the rules of new ones: whoever can write to a missing path must not change the visibility or the path of
   * a repo. A source that may be a known repo waits for the next start.
   *
   * Errors: NOT_READY, if nothing was added; the reason of the signal.
   */
  async retryMissing(signal: AbortSignal): Promise<readonly RepoRecord[]> {
    const come: RepoRecord[] = [];
    for (const one of this.#missing.keys()) {
      const probed = await this.#probeMissing(one);
      signal.throwIfAborted();
      if (probed === undefined) continue;
      try {
        come.push(...(await this.#admitNew(one, probed)));
      } catch (error) {
        // The next search finds it again.
        if (come.length === 0) throw error;
      }
    }
    return come;
  }

  /** Number of folders that are searched for sources. */
  get folderCount(): number {
    return this.#folders.length;
  }

  /**
   * Searches the named folders for further repositories and adds them like missing ones.
   *
   * Errors: NOT_READY, if nothing was added; the reason of the signal.
   * Cost: a listing for each folder outside repositories; every eighth call also for those in work trees.
   */
  async searchAgain(signal: AbortSignal): Promise<readonly RepoRecord[]> {
    const come: RepoRecord[] = [];
    const isDeep = this.#searchCount++ % DEEP_EVERY === DEEP_EVERY - 1;
    for (const folder of this.#folders)
      for (const source of await this.#searchFolder(folder, isDeep, signal)) {
        const probed = await this.#probeFound(source);
        signal.throwIfAborted();
        if (probed === undefined) continue;
        try {
          come.push(...(await this.#admitNew(source.path, probed)));
          this.#sourcePaths.add(source.path);
        } catch (error) {
          if (come.length === 0) throw error;
        }
      }
    return come;
  }

  /** New sources in a folder. Errors: the reason of the signal. */
  async #searchFolder(
    { path: folder, mode }: SearchedFolder,
    isDeep: boolean,
    signal: AbortSignal,
  ): Promise<RequestedSource[]> {
    const isIndexed = (location: string): boolean => this.#sourcePaths.has(location);
    try {
      const { repos, fileCount } = await findRepos(folder, { isDeep, isIndexed, signal });
      const found = repos.map((repo) => ({ path: repo.path, mode, isFound: true, below: folder }));
      const isBeside = fileCount > 0 && mode === undefined;
      const all: RequestedSource[] = isBeside ? [...found, besideRepos(folder)] : found;
      this.#odd.delete(folder);
      return all.filter((one) => !isIndexed(one.path));
    } catch (error) {
      signal.throwIfAborted();
      this.#logPassedOver(folder, error);
      return [];
    }
  }

  /** Undefined: not a source. Errors: none. */
  async #probeFound(source: RequestedSource): Promise<ProbedSource | undefined> {
    try {
      const probed = await probeOne(this.#options.registry, source);
      this.#odd.delete(source.path);
      return probed;
    } catch (error) {
      if (!isNotThere(error)) this.#logPassedOver(source.path, error);
      return undefined;
    }
  }

  /** Once per reason. */
  #logPassedOver(location: string, error: unknown): void {
    const reason = messageOf(error);
    if (this.#odd.get(location) === reason) return;
    this.#odd.set(location, reason);
    this.#options.log.warn('skipped', { path: location, reason });
  }

  /** Undefined: still no source at the path. Errors: none. */
  async #probeMissing(one: string): Promise<ProbedSource | undefined> {
    const { registry, jobs } = this.#options;
    try {
      if (await this.#isSearched(one)) return undefined;
      return await probeForIndex(registry, one, this.#rules.mode);
    } catch (error) {
      // A partly existing source is reported once.
      if (this.#missing.get(one) !== messageOf(error)) jobs.fail(one, error, 0);
      this.#missing.set(one, messageOf(error));
      return undefined;
    }
  }

  /** Whether a missing path is now a folder of repositories: the next search adds them. */
  async #isSearched(one: string): Promise<boolean> {
    const { jobs } = this.#options;
    // Without a log: its problems are reported once.
    const options = { records: [], isDeep: false, log: undefined, signal: undefined };
    const { folders } = await requestedSources([one], this.#rules.mode, options);
    if (folders.length === 0) return false;
    this.#folders = [...this.#folders, ...folders];
    this.#missing.delete(one);
    jobs.failed.clear(one);
    return true;
  }

  /** The repo of a source that was missing, served from now on; none if it may be a known one. */
  async #admitNew(one: string, probed: ProbedSource): Promise<readonly RepoRecord[]> {
    const { registry, served, jobs, log } = this.#options;
    const { selection } = this.#rules;
    const existing = registry.mayBe(probed);
    if (existing.length > 0) {
      this.#missing.delete(one);
      log.warn('a source that was missing may be a known repository: the next start checks it', {
        path: one,
        mayBe: existing.map(({ name }) => name),
      });
      return [];
    }
    const repos = await registry.admit([probed], selection);
    const records = await this.#note(repos, [probed]);
    this.#missing.delete(one);
    jobs.failed.clear(one);
    for (const record of records) this.#noteFolder(record, selection);
    served.repoIds = new Set([...(served.repoIds ?? []), ...records.map(({ repoId }) => repoId)]);
    return records;
  }

  /**
   * Records the repos of sources in the catalog, in place of other repos at their paths.
   *
   * @param folders  those that are not sources as a whole
   */
  async #note(
    repos: readonly StoredRepo[],
    probed: readonly ProbedSource[],
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
        put.set(record.repoId, { ...(before ?? { shards: [], skipped: {} }), record });
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

  /** Repos that need no probing before they are served: unchanged folder and visibility. */
  #sureOf(
    sources: readonly RequestedSource[],
    { visibility, enforcement }: RepoChange,
  ): ReadonlySet<number> {
    const { registry } = this.#options;
    const isSure = (record: RepoRecord): boolean => {
      const repo = registry.byId(record.repoId);
      const isAsVisible =
        (visibility ?? repo?.visibility) === repo?.visibility &&
        (enforcement ?? repo?.enforcement) === repo?.enforcement;
      return isAsVisible && registry.isWhereItWas(record);
    };
    const byLocation = this.#byLocation();
    const existing = sources.flatMap((one) => byLocation(one) ?? []);
    return new Set(existing.filter(isSure).map(({ repoId }) => repoId));
  }

  /** Probes each path; `kept` are the repos of paths that cannot be read now. */
  async #probeAll(
    sources: readonly RequestedSource[],
    signal: AbortSignal | undefined,
  ): Promise<{ probed: ProbedSource[]; kept: RepoRecord[]; failed: JobResult[] }> {
    const probed: ProbedSource[] = [];
    const kept: RepoRecord[] = [];
    const failed: JobResult[] = [];
    let failure: unknown;
    const { registry } = this.#options;
    const probes = sources.map((one) => () => probeOne(registry, one));
    const found = await this.#probeTogether(probes, signal);
    const byLocation = this.#byLocation();
    for (const [index, one] of sources.entries()) {
      try {
        probed.push(found[index]!());
        this.#options.jobs.failed.clear(one.path);
      } catch (error) {
        const existing = byLocation(one);
        // It was removed a moment ago, and nobody has named it.
        if (one.isFound && existing === undefined && isNotThere(error)) continue;
        // If it is the only path the error goes to the caller.
        if (existing === undefined && sources.length === 1) throw error;
        failure = error;
        if (existing === undefined) failed.push(this.#options.jobs.fail(one.path, error, 0));
        else kept.push(existing);
        if (existing !== undefined) await this.#options.served.hideIfStray(existing, error);
      }
    }
    if (probed.length + kept.length === 0 && failure !== undefined) throw failure;
    return { probed, kept, failed };
  }

  /** Finds the repo of a source by its path. */
  #byLocation(): (source: RequestedSource) => RepoRecord | undefined {
    const records = new Map<string, RepoRecord[]>();
    for (const record of this.#records)
      records.set(record.source.path, [...(records.get(record.source.path) ?? []), record]);
    return ({ path: location, mode }) =>
      records
        .get(path.resolve(location))
        ?.find(
          ({ source: { kind } }) =>
            mode === undefined || (mode === 'commits') === (kind === 'commits'),
        );
  }

  /**
   * Checks that the sources of the catalog are unchanged if nobody names them: another repository may be at the path of
   * one, and must not get its permissions. Searches see none of those meanwhile.
   *
   * Errors: NOT_READY; the reason of the signal.
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
    for (const record of this.#options.served.records) this.#noteFolder(record);
  }

  async #confirmEach(
    doubtful: readonly RepoRecord[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { registry } = this.#options;
    const probed: ProbedSource[] = [];
    const probes = doubtful.map(
      ({ source }) =>
        () =>
          reprobeSource(registry, source),
    );
    const found = await this.#probeTogether(probes, signal);
    for (const result of found) {
      try {
        probed.push(result());
      } catch {
        // A source that cannot be probed now fails when it is indexed.
      }
    }
    if (probed.length > 0) await this.#note(await registry.admit(probed, {}), probed);
  }

  /** Probes sources in parallel. The results in order: the source, or its error, thrown. */
  async #probeTogether(
    probes: readonly (() => Promise<ProbedSource>)[],
    signal: AbortSignal = new AbortController().signal,
  ): Promise<(() => ProbedSource)[]> {
    const slots = new Slots({ runningMax: PROBES_AT_ONCE, waitingMax: Infinity });
    // Each waiting source adds a listener; Node warns above ten.
    setMaxListeners(0, signal);
    let done = 0;
    const telling = setInterval(
      () => this.#options.log.info('checking sources', { done, total: probes.length }),
      LOG_MS,
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
    return found.map((result) => () => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  }

  /** Records the warnings of each job of a plain folder. */
  #noteFolder({ repoId, source }: RepoRecord, { branches = [], tags = [] }: RepoChange = {}): void {
    const { oddities } = this.#options.jobs;
    oddities.delete(repoId);
    if (source.kind !== 'folder') return;
    const isWhole = source.reposApart !== true;
    const wantsRevisions = branches.length + tags.length > 0;
    const warnings = [
      ...(wantsRevisions ? ['a folder without git has no branches and tags'] : []),
      ...(isWhole ? warningsOfReposInside(source.path) : []),
    ];
    if (warnings.length > 0) oddities.set(repoId, warnings);
  }
}

/** Guess: probing waits for the disk about as long as it computes. */
const PROBES_AT_ONCE = 8;
/** Guess: new repositories are rarer in work trees than beside them. */
const DEEP_EVERY = 8;
/** How often progress is logged. */
const LOG_MS = 5_000;

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

function isNotThere(error: unknown): boolean {
  return error instanceof ProbeError && error.failure === 'not_found';
}

function newRecord(repo: StoredRepo, { defaultRevision, pushedAt }: ProbedSource): RepoRecord {
  return {
    ...recordOf(repo),
    defaultRevision,
    ...omitUndefined({ pushedAt }),
  };
}
