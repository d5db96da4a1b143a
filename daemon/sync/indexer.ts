// Keeps repos indexed: takes sources, skips those whose docs have not changed, builds the others one after
// the other, and publishes each as one change of the catalog. Searches see the old shards until then. A
// shard that fails is taken out of service and its repo built again.

import { setMaxListeners } from 'node:events';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { BuildProgress, BuildResult } from '../engine/build/build.ts';
import { buildRepo } from '../engine/build/build.ts';
import { DOC_RULES_VERSION, type FilterSettings } from '../engine/build/filters.ts';
import { totalOf } from '../sources/docs/ignored.ts';
import { openSource } from '../sources/docs/open-source.ts';
import { reviseShards } from '../engine/build/revise.ts';
import { defaultPartOf } from '../sources/docs/source-revisions.ts';
import type { SourceSpec } from '../sources/docs/source.ts';
import { FORMAT_VERSION } from '../../core/shared/format.ts';
import { GitPlaceError } from '../sources/git/git-place.ts';
import { Slots } from '../sources/git/git-slots.ts';
import { ProbeError, probeSource, type ProbedSource } from '../sources/git/probe.ts';
import type { RepoRecord, RepoSource } from '../repos/records.ts';
import type { Catalog, CatalogRepo, CatalogShard, CatalogSymbols } from './catalog.ts';
import type { ShardError, ShardFault } from '../engine/host/space.ts';
import type { LiveShard, Snapshot } from '../engine/search/snapshot.ts';
import type { StoredRepo } from '../accounts/store/repos.ts';
import { RevisionTable } from '../engine/shards/revisions.ts';
import type { Log } from '../base/log.ts';
import { messageOf } from '../base/caught.ts';
import { type RepoChange, recordOf } from './change-repo.ts';
import { FailedJobs } from './failed-jobs.ts';
import { warningsOf } from './job-warnings.ts';
import type { RepoRegister } from './register.ts';
import { countReposInside } from './repos-inside.ts';
import { Retries } from './retries.ts';
import { selectRevisions } from './select-revisions.ts';

export interface IndexerOptions {
  readonly module: WebAssembly.Module;
  readonly catalog: Catalog;
  /** False: nothing is built on this object's own initiative, the data directory is somebody else's. */
  readonly isOwner: boolean;
  /** Absent: the data directory is somebody else's, and who sees it sees all. */
  readonly register?: RepoRegister | undefined;
  /** As they are now; a job keeps those it began with. */
  readonly filters: FilterSettings;
  readonly workers?: number;
  readonly log: Log;
  /** Makes a snapshot visible to searches; returns the shards that could not be opened. */
  readonly publish: (snapshot: Snapshot) => readonly ShardError[];
  readonly onProgress?: (repo: string, progress: BuildProgress) => void;
  /** Told that shards may have come whose symbols are not known. */
  readonly onNewShards?: () => void;
}

/** Something wrong with a shard, by its id as searches know it. */
export interface ShardDamage {
  readonly shardId: string;
  readonly reason: string;
  readonly fault: ShardFault;
}

/** What one job did. */
export interface JobResult {
  readonly repo: string;
  readonly state: 'COMPLETED' | 'FAILED';
  /** Nothing had changed. */
  readonly isUnchanged: boolean;
  /** Indexed revisions. */
  readonly revisionCount: number;
  readonly docCount: number;
  readonly contentSize: number;
  readonly shardSize: number;
  readonly skipped: Readonly<Record<string, number>>;
  /** What rules leave out, by rule; an ignored folder counts as one. */
  readonly ignored: Readonly<Record<string, number>>;
  /** Paths that are no docs, by reason. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** What the user may not have meant, a sentence each. */
  readonly warnings: readonly string[];
  readonly durationMs: number;
  readonly error?: string;
}

/** What is known of a repo once its job is done. */
type IndexOutcome = Omit<JobResult, 'repo' | 'state' | 'durationMs' | 'warnings' | 'error'>;

/** Sources as they came in: the repos, and the jobs of those that failed before there was one. */
export interface AddedSources {
  readonly records: readonly RepoRecord[];
  readonly failed: readonly JobResult[];
}

/** Guess: between two attempts to ask a store that does not answer. */
const ASKING_PAUSE_MS = 1_000;
/** Guess: before shards that could not be mapped are tried again, at first and at most. */
const MAPPING_PAUSE_MS_MIN = 1_000;
const MAPPING_PAUSE_MS_MAX = 300_000;

export class Indexer {
  readonly #options: IndexerOptions;
  /** Repos that searches see; undefined: all of the catalog. */
  #served: ReadonlySet<number> | undefined;
  /** Why a shard is out of service, by shardId. */
  readonly #quarantined = new Map<string, string>();
  /** Those of them that are sound, but could not be mapped. */
  readonly #unmapped = new Set<string>();
  readonly #failCounts = new Map<string, number>();
  /** Shards whose symbols are out of service, until they are found again. */
  readonly #symbolless = new Set<string>();
  readonly #failedJobs = new FailedJobs();
  readonly #retries: Retries;
  /** Repos that are being built again, as they were damaged. */
  readonly #rebuilt = new Set<number>();
  #lastJob: Promise<unknown> = Promise.resolve();
  readonly #stop = new AbortController();
  #nextAsking: NodeJS.Timeout | undefined;
  #nextMapping: NodeJS.Timeout | undefined;
  #mappingPauseMs = MAPPING_PAUSE_MS_MIN;
  /** Nothing is shown now: what is damaged is being told, and none of it may be opened. */
  #isHeld = false;

  constructor(options: IndexerOptions) {
    this.#options = options;
    this.#retries = new Retries(options.log);
  }

  /** Repos that searches see. */
  get repos(): readonly RepoRecord[] {
    return this.#servedRepos().map(({ record }) => record);
  }

  get quarantinedCount(): number {
    return this.#quarantined.size;
  }

  /** Why the last job of a repo failed; undefined: it did not. */
  failureOf(repoName: string): string | undefined {
    return this.#failedJobs.reasonOf(repoName);
  }

  /** What does not work as it should, in words for the owner (API.md 18.2); empty: nothing. */
  get degradations(): readonly string[] {
    const unmapped = this.#unmapped.size;
    const unbuilt = this.#servedRepos().filter(
      ({ record }) => record.indexedAt === undefined,
    ).length;
    const stray = this.#servedRepos().filter(({ isStray }) => isStray).length;
    const symbolless = this.#symbolless.size;
    const served = new Set(this.#servedRepos());
    const hidden = new Set(
      this.#options.catalog.repos
        .filter((repo) => !served.has(repo))
        .map(({ record }) => record.name),
    );
    return [
      ...(unmapped === 0 ? [] : [`${unmapped} shards could not be mapped and are not searched`]),
      ...(unbuilt === 0 ? [] : [`${unbuilt} repositories are not indexed yet and not searched`]),
      ...this.#failedJobs.sentences((name) => !hidden.has(name)),
      ...(symbolless === 0 ? [] : [`the symbols of ${symbolless} shards are found again`]),
      ...(stray === 0 ? [] : [`${stray} repositories are hidden: their git leads elsewhere`]),
    ];
  }

  #servedRepos(): readonly CatalogRepo[] {
    const served = this.#served;
    return this.#options.catalog.repos.filter(
      ({ record }) => served === undefined || served.has(record.repoId),
    );
  }

  /** Shows what the catalog holds now. */
  publish(): void {
    if (this.#isHeld) return;
    const repos = this.#servedRepos().filter(({ isStray }) => !isStray);
    const blind = this.#findBlindShard(repos);
    if (blind !== undefined) {
      this.quarantine(blind.shardId, blind.reason);
      return;
    }
    const all = repos.flatMap((repo) =>
      repo.shards.map((shard, index) => this.#liveShard(repo, shard, index)),
    );
    const reasonOf = ({ shardId }: LiveShard): string | undefined =>
      this.#quarantined.get(shardIdOf(shardId));
    const refused = this.#options.publish({
      shards: all.filter((shard) => reasonOf(shard) === undefined),
      quarantined: all.flatMap((shard) => {
        const reason = reasonOf(shard);
        return reason === undefined ? [] : [{ ...shard, reason }];
      }),
      repos: repos.map(({ record }) => this.#options.register?.ruled(record) ?? record),
    });
    // All at once: they may be thousands.
    this.#setUnmapped(refused.filter(({ fault }) => fault === 'unmapped'));
    for (const { shardId, message, fault } of refused) this.#refuse(shardId, message, fault);
  }

  /**
   * A shard could not be opened, or failed a search.
   *
   * @param fault  absent: not known; without its symbols it may be sound
   */
  #refuse(liveId: string, reason: string, fault: ShardFault | undefined): void {
    const shardId = shardIdOf(liveId);
    if (fault === 'unmapped') {
      this.#setUnmapped([{ shardId: liveId, message: reason }]);
      return;
    }
    const symbols = this.#symbolsOf(shardId);
    const isOfSymbols = liveId !== shardId && fault !== 'damaged';
    if (!isOfSymbols) {
      this.quarantine(shardId, reason);
      return;
    }
    // Threads that had them open tell of what is out of service already.
    if (symbols === undefined || liveId !== liveIdOf(shardId, symbols)) return;
    this.#options.log.error('symbols taken out of service', { shardId, reason });
    this.#symbolless.add(shardId);
    this.#failCounts.delete(shardId);
    this.publish();
    this.#retries.run(symbolsKey(shardId), 'symbols are found again', { shardId }, () =>
      this.#options.onNewShards?.(),
    );
  }

  /** The symbols that searches have of a shard. */
  #symbolsOf(shardId: string): CatalogSymbols | undefined {
    if (this.#symbolless.has(shardId)) return undefined;
    const shards = this.#options.catalog.repos.flatMap((repo) => repo.shards);
    return shards.find((shard) => shard.shardId === shardId)?.symbols;
  }

  /** A shard in service although it is not known which revisions hold its docs. */
  #findBlindShard(repos: readonly CatalogRepo[]): { shardId: string; reason: string } | undefined {
    for (const repo of repos) {
      const table = this.#options.catalog.revisionsOf(repo);
      const shard = repo.shards.find(({ shardId }) => !this.#quarantined.has(shardId));
      if (table instanceof Error && shard !== undefined)
        return { shardId: shard.shardId, reason: `revision file: ${table.message}` };
    }
    return undefined;
  }

  #liveShard(repo: CatalogRepo, shard: CatalogShard, index: number): LiveShard {
    const { shardId, size, docCount } = shard;
    const symbols = this.#symbolless.has(shardId) ? undefined : shard.symbols;
    const table = this.#options.catalog.revisionsOf(repo);
    const revisions = table instanceof RevisionTable ? table.shards[index] : undefined;
    return {
      ...(revisions === undefined ? {} : { revisions }),
      ...(symbols === undefined
        ? {}
        : {
            symbols: {
              path: this.#options.catalog.symbolsPath(symbols.symbolsId),
              size: symbols.size,
            },
          }),
      shardId: liveIdOf(shardId, symbols),
      size,
      docCount,
      repoId: repo.record.repoId,
      path: this.#options.catalog.shardPath(shardId),
    };
  }

  /**
   * Finds or makes the repo of each path, each repo once, and changes it as told. From then on searches see just
   * these, and before only those that are known to be there. A path that cannot be read now keeps the repo that it
   * has, whose next job fails.
   *
   * Errors: ProbeError if no path is a source; NOT_READY; the reason of the signal.
   */
  async addSources(
    paths: readonly string[],
    mode: 'commits' | 'worktree' | undefined,
    change: RepoChange = {},
    signal = this.#stop.signal,
  ): Promise<AddedSources> {
    this.#served = this.#sureOf(paths, mode, change);
    const { probed, kept, failed } = await this.#probeAll(paths, mode, signal);
    const repos = await this.#register.admit(probed, change);
    const records = [...(await this.#note(repos, probed)), ...kept];
    for (const record of records) this.#warnOfFolder(record, change);
    this.#served = new Set(records.map(({ repoId }) => repoId));
    return { records, failed };
  }

  /** Notes the repos of sources in the catalog, instead of others that it has at their places. */
  async #note(
    repos: readonly StoredRepo[],
    probed: readonly ProbedSource[],
  ): Promise<RepoRecord[]> {
    const records = new Map<number, RepoRecord>();
    await this.#options.catalog.update((state) => {
      const known = new Map(state.repos.map((repo) => [repo.record.repoId, repo]));
      for (const [index, repo] of repos.entries()) {
        const before = known.get(repo.repoId);
        const record = recordOf(repo, before?.record ?? newRecord(repo, probed[index]!));
        records.set(record.repoId, record);
        known.set(record.repoId, { ...(before ?? { shards: [], skipped: {} }), record });
      }
      const taken = new Set([...records.values()].map(({ source }) => source.path));
      return {
        ...state,
        repos: [...known.values()].filter(
          ({ record: { repoId, source } }) => records.has(repoId) || !taken.has(source.path),
        ),
      };
    });
    return [...records.values()];
  }

  /** Repos of paths that need no look before they are served as before. */
  #sureOf(
    paths: readonly string[],
    mode: 'commits' | 'worktree' | undefined,
    change: RepoChange,
  ): ReadonlySet<number> {
    if (Object.keys(change).length > 0) return new Set();
    const known = paths.map((one) => this.#repoAt(path.resolve(one), mode));
    const sure = known.filter((one) => one !== undefined && this.#register.isWhereItWas(one));
    return new Set(sure.map((one) => one!.repoId));
  }

  /** Looks at each path; `kept` are the repos of paths that cannot be read now. */
  async #probeAll(
    paths: readonly string[],
    mode: 'commits' | 'worktree' | undefined,
    signal: AbortSignal,
  ): Promise<{ probed: ProbedSource[]; kept: RepoRecord[]; failed: JobResult[] }> {
    const probed: ProbedSource[] = [];
    const kept: RepoRecord[] = [];
    const failed: JobResult[] = [];
    let failure: unknown;
    const found = await probeTogether(
      paths.map((one) => () => probeForIndex(one, mode)),
      signal,
    );
    for (const [index, one] of paths.entries()) {
      try {
        probed.push(found[index]!());
        this.#failedJobs.clear(one);
      } catch (error) {
        failure = error;
        const known = this.#repoAt(path.resolve(one), mode);
        if (known === undefined) failed.push(this.#failedJob(one, error, 0));
        else kept.push(known);
        if (known !== undefined && leadsOut(error)) await this.#setStray(known, true);
      }
    }
    if (probed.length + kept.length === 0 && failure !== undefined) throw failure;
    return { probed, kept, failed };
  }

  #repoAt(place: string, mode: 'commits' | 'worktree' | undefined): RepoRecord | undefined {
    const known = this.#options.catalog.repos.find(({ record: { source } }) => {
      const isMeant = mode === undefined || (mode === 'commits') === (source.kind === 'commits');
      return source.path === place && isMeant;
    });
    return known?.record;
  }

  /** Errors: there is none: nothing may be changed here. */
  get #register(): RepoRegister {
    const { register } = this.#options;
    if (register === undefined) throw new Error('the data directory is opened for reading alone');
    return register;
  }

  /**
   * Looks whether the sources of the catalog are still what they were, where nobody names them: another repository may
   * lie at the path of one now, and is not to come under its rules. Searches see none of those meanwhile.
   *
   * Errors: NOT_READY; the reason of the signal.
   */
  async confirmSources(signal = this.#stop.signal): Promise<void> {
    const served = this.#served;
    const [sure, doubtful] = [new Set<number>(), [] as RepoRecord[]];
    for (const record of this.repos)
      if (this.#register.isWhereItWas(record)) sure.add(record.repoId);
      else doubtful.push(record);
    this.#served = sure;
    const probed: ProbedSource[] = [];
    const found = await probeTogether(
      doubtful.map(
        ({ source }) =>
          () =>
            probeForIndex(source.path, modeOf(source)),
      ),
      signal,
    );
    for (const result of found) {
      try {
        probed.push(result());
      } catch {
        // What cannot be a source now fails when it is indexed.
      }
    }
    if (probed.length > 0) await this.#note(await this.#register.admit(probed, {}), probed);
    this.#served = served;
  }

  /**
   * Changes the repos that searches see, or the one of this name.
   *
   * @returns  all repos that searches see
   */
  async changeRepos(change: RepoChange, repoName?: string): Promise<readonly RepoRecord[]> {
    if (Object.keys(change).length === 0) return this.repos;
    const changed = this.repos.filter(({ name }) => repoName === undefined || name === repoName);
    await this.#register.change(new Set(changed.map(({ repoId }) => repoId)), change);
    await this.#copyRules();
    return this.repos;
  }

  /** Changes who may see repos; holds once it is done. Errors: NOT_READY. */
  async changeRules(repoIds: ReadonlySet<number>, change: RepoChange): Promise<void> {
    await this.#register.change(repoIds, change);
    this.publish();
    await this.#copyRules();
  }

  /**
   * Obeys what the store says now of repos. Where it cannot be asked they are for owners alone, and it is asked again
   * until it can.
   */
  async obeyStore(): Promise<void> {
    clearTimeout(this.#nextAsking);
    const isRead = await this.#register.reload();
    if (this.#stop.signal.aborted) return;
    this.publish();
    if (isRead) await this.#copyRules();
    else this.#askStoreAgain();
  }

  #askStoreAgain(): void {
    const ask = (): void => {
      this.obeyStore().catch((error: unknown) =>
        this.#options.log.error('rules of repos were not taken over', { error }),
      );
    };
    this.#nextAsking = setTimeout(ask, ASKING_PAUSE_MS).unref();
  }

  /** Writes what the store says of repos into the catalog, for who opens that alone. */
  async #copyRules(): Promise<void> {
    const ruled = (repo: CatalogRepo): CatalogRepo => {
      const record = this.#register.ruled(repo.record);
      return isDeepStrictEqual(record, repo.record) ? repo : { ...repo, record };
    };
    const { catalog } = this.#options;
    if (catalog.repos.every((repo) => ruled(repo) === repo)) return;
    await catalog.update((state) => ({ ...state, repos: state.repos.map(ruled) }));
  }

  #warnOfFolder({ name, source }: RepoRecord, { branches = [], tags = [] }: RepoChange): void {
    if (source.kind !== 'folder') return;
    if (branches.length + tags.length > 0)
      this.#options.log.warn('a folder without git has no branches and tags', { repo: name });
    const count = countReposInside(source.path);
    if (count === 0) return;
    this.#options.log.warn(
      `${source.path} is no git repository but holds ${count}: their files become those of one folder, ` +
        'without branches and history; to have each as a repository name them all, for example ' +
        `"trawl serve ${source.path}/*/"`,
      { repo: name },
    );
  }

  /** Runs one job for each repo, in order. A failure is a result, not an error. */
  async indexAll(
    records: readonly RepoRecord[],
    isForced: boolean,
    signal?: AbortSignal,
  ): Promise<JobResult[]> {
    const results: JobResult[] = [];
    for (const record of records) {
      results.push(await this.#inTurn(() => this.#runJob(record, isForced, signal)));
    }
    return results;
  }

  /** Runs a job when those before it have ended: one at a time, whoever asked for them. */
  #inTurn(job: () => Promise<JobResult>): Promise<JobResult> {
    const turn = this.#lastJob.catch(() => {}).then(job);
    this.#lastJob = turn;
    return turn;
  }

  /** Resolves when no job is under way or waiting. */
  async whenIdle(): Promise<void> {
    for (let last = this.#lastJob; ; last = this.#lastJob) {
      await last.catch(() => {});
      if (last === this.#lastJob) return;
    }
  }

  async #runJob(
    record: RepoRecord,
    isForced: boolean,
    signal: AbortSignal | undefined,
  ): Promise<JobResult> {
    const { log } = this.#options;
    const start = Date.now();
    this.#stop.signal.throwIfAborted();
    signal?.throwIfAborted();
    try {
      const result = await this.#index(record, isForced, signal);
      const warnings = warningsOf(record.source.kind, result);
      const job = {
        ...result,
        warnings,
        repo: record.name,
        state: 'COMPLETED' as const,
        durationMs: Date.now() - start,
      };
      this.#failedJobs.clear(record.name);
      const { ignored, ...logged } = job;
      log.info('repo indexed', { ...logged, ignored: totalOf(ignored), warnings: warnings.length });
      for (const warning of warnings) log.warn(warning, { repo: record.name });
      return job;
    } catch (error) {
      signal?.throwIfAborted();
      if (leadsOut(error)) await this.#setStray(record, true);
      return this.#failedJob(record.name, error, Date.now() - start);
    }
  }

  /** Hides a repo whose git leads to that of somebody else, whatever was found in it before; or shows it again. */
  async #setStray({ repoId, name }: RepoRecord, isStray: boolean): Promise<void> {
    const { catalog, log } = this.#options;
    const known = catalog.repos.find(({ record }) => record.repoId === repoId);
    if (known === undefined || (known.isStray ?? false) === isStray) return;
    if (isStray) log.error('repo hidden: its git leads out of its source', { repo: name });
    else log.info('repo shown again: its git stays in its source', { repo: name });
    await catalog.update((state) => ({
      ...state,
      repos: state.repos.map((repo) => {
        if (repo.record.repoId !== repoId) return repo;
        const { isStray: _, ...rest } = repo;
        return isStray ? { ...rest, isStray } : rest;
      }),
    }));
    this.publish();
  }

  #failedJob(repo: string, cause: unknown, durationMs: number): JobResult {
    const error = messageOf(cause);
    this.#options.log.error('indexing failed', { repo, error });
    this.#failedJobs.note(repo, error);
    return {
      repo,
      state: 'FAILED',
      isUnchanged: false,
      revisionCount: 0,
      docCount: 0,
      contentSize: 0,
      shardSize: 0,
      skipped: {},
      ignored: {},
      leftOut: {},
      warnings: [],
      durationMs,
      error,
    };
  }

  async #index(
    record: RepoRecord,
    isForced: boolean,
    signal: AbortSignal | undefined,
  ): Promise<IndexOutcome> {
    const { catalog, filters, module, workers, onProgress, log } = this.#options;
    const probed = await probeSource(record.source.path, modeOf(record.source));
    if (!this.#register.isSourceOf(record.repoId, probed))
      throw new Error(
        `at ${record.source.path} lies another source than that of this repository; ` +
          `"trawl index ${record.source.path}" makes it a repository of its own`,
      );
    await this.#setStray(record, false);
    const base: SourceSpec = {
      ...record.source,
      ...(record.source.kind === 'commits' && probed.commit !== undefined
        ? { commit: probed.commit }
        : {}),
    };
    const revisions = await selectRevisions(record, probed, log);
    const spec: SourceSpec = revisions.length === 0 ? base : { ...base, revisions };
    const known = catalog.repos.find((repo) => repo.record.repoId === record.repoId);
    if (!isForced && known !== undefined) {
      const kept = await this.#keepShards({ ...known, record }, probed, spec, signal);
      if (kept !== undefined) return kept;
    }
    const built = await buildRepo({
      module,
      spec,
      filters,
      repoId: record.repoId,
      repoName: record.name,
      folder: catalog.shardFolder,
      ...(workers === undefined ? {} : { workers }),
      ...(signal === undefined ? {} : { signal }),
      ...(onProgress === undefined
        ? {}
        : { onProgress: (progress) => onProgress(record.name, progress) }),
    });
    this.#logLeftOut(record, built);
    const next = await this.#publishBuild(record, probed, spec, built, filters);
    return { isUnchanged: false, ...sizesOf(next) };
  }

  /** The result where the shards of a repo can stay as they are; undefined: they must be built. */
  async #keepShards(
    known: CatalogRepo,
    probed: ProbedSource,
    spec: SourceSpec,
    signal: AbortSignal | undefined,
  ): Promise<IndexOutcome | undefined> {
    const isSound = known.shards.every(({ shardId }) => !this.#quarantined.has(shardId));
    const isSameDefault = known.record.defaultRevision === probed.defaultRevision;
    // Why first: a listing costs a second for each 80,000 files.
    if (known.fingerprint === undefined || !isSound || !isSameDefault) return undefined;
    const source = await openSource(spec).fingerprint();
    const fingerprint = fingerprintOf(source, this.#options.filters);
    if (fingerprint === known.fingerprint) return { isUnchanged: true, ...sizesOf(known) };
    if (withoutRevisions(fingerprint) !== withoutRevisions(known.fingerprint)) return undefined;
    const file = await this.#revise(known, spec, signal);
    if (file === undefined) return undefined;
    const next: CatalogRepo = {
      ...known,
      record: publishedRecord(known.record, probed, revisionNames(probed, spec)),
      fingerprint,
      revisionFile: await this.#options.catalog.writeRevisions(file),
    };
    await this.#replaceRepo(next);
    return { isUnchanged: false, ...sizesOf(next) };
  }

  /** The new revision file of a repo whose default revision did not change, if its shards hold all docs. */
  async #revise(
    known: CatalogRepo,
    spec: SourceSpec,
    signal: AbortSignal | undefined,
  ): Promise<Buffer | undefined> {
    const { catalog, module } = this.#options;
    const table = catalog.revisionsOf(known);
    if (!(table instanceof RevisionTable)) return undefined;
    const shards = known.shards.map(({ shardId, size }) => ({
      shardId,
      size,
      path: catalog.shardPath(shardId),
    }));
    return reviseShards({
      module,
      spec,
      shards,
      table,
      ...(signal === undefined ? {} : { signal }),
    });
  }

  #logLeftOut(record: RepoRecord, built: BuildResult): void {
    for (const { path: file, reason } of built.leftOut.slice(0, 100)) {
      this.#options.log.warn('file left out', { repo: record.name, path: file, reason });
    }
  }

  async #publishBuild(
    record: RepoRecord,
    probed: ProbedSource,
    spec: SourceSpec,
    built: BuildResult,
    filters: FilterSettings,
  ): Promise<CatalogRepo> {
    const { catalog } = this.#options;
    const { revisions } = built;
    const names = revisions === undefined ? undefined : revisionNames(probed, spec);
    const files = built.shards.map(({ path: file }) => file);
    try {
      const shards = await this.#adoptShards(record, built, files);
      const revisionFile =
        revisions === undefined ? {} : { revisionFile: await catalog.writeRevisions(revisions) };
      const next: CatalogRepo = {
        record: publishedRecord(record, probed, names),
        ...revisionFile,
        fingerprint: fingerprintOf(built.fingerprint, filters),
        shards,
        skipped: built.skipped,
        ignored: built.ignored,
        leftOut: tallyReasons(built.leftOut),
      };
      await this.#replaceRepo(next);
      return next;
    } catch (error) {
      // What nobody names is of no use, and the disk may be full.
      await catalog.disown(files).catch(() => {});
      throw error;
    }
  }

  /** @param files  those of the shards; gets the places that they are put at */
  async #adoptShards(
    { repoId }: RepoRecord,
    { shards }: BuildResult,
    files: string[],
  ): Promise<CatalogShard[]> {
    const { catalog } = this.#options;
    const known = catalog.repos.find(({ record }) => record.repoId === repoId);
    const adopted: CatalogShard[] = [];
    for (const { path: file, size, docCount, contentSize } of shards) {
      const shardId = await catalog.adoptShard(file);
      files.push(catalog.shardPath(shardId));
      // A shard built again from the same docs has the same symbols.
      const symbols = known?.shards.find((shard) => shard.shardId === shardId)?.symbols;
      const shard = { shardId, size, docCount, contentSize };
      adopted.push(symbols === undefined ? shard : { ...shard, symbols });
    }
    return adopted;
  }

  /** Swaps a repo in the catalog, shows it, and removes the files that nothing names any more. */
  async #replaceRepo(next: CatalogRepo): Promise<void> {
    const { catalog } = this.#options;
    const { repoId } = next.record;
    const before = catalog.state;
    await catalog.update((state) => ({
      ...state,
      repos: state.repos.map((repo) => (repo.record.repoId === repoId ? next : repo)),
    }));
    const replaced = before.repos.find((repo) => repo.record.repoId === repoId);
    // A shard built again from the same docs has its old id, so the verdict on the old file goes with it.
    for (const { shardId } of replaced?.shards ?? []) {
      this.#quarantined.delete(shardId);
      this.#unmapped.delete(shardId);
      this.#failCounts.delete(shardId);
    }
    this.publish();
    // Mapped files stay readable for searches under way after they are unlinked.
    await catalog.removeFilesOf(before);
    this.#options.onNewShards?.();
  }

  /** Shards that the system gives no mapping for: they are sound, and building them again would not help. */
  #setUnmapped(failures: readonly Pick<ShardError, 'shardId' | 'message'>[]): void {
    const isNew = failures.filter(({ shardId }) => !this.#quarantined.has(shardIdOf(shardId)));
    for (const { shardId, message } of isNew) {
      this.#quarantined.set(shardIdOf(shardId), message);
      this.#unmapped.add(shardIdOf(shardId));
    }
    const [first] = isNew;
    if (first === undefined) return;
    const fields = { count: isNew.length, shardId: first.shardId, reason: first.message };
    this.#options.log.error('shards out of service: they could not be mapped', fields);
    this.publish();
    this.#mapLater();
  }

  /** Tries again after a while, a longer one each time, to put shards into service that could not be mapped. */
  #mapLater(): void {
    if (this.#nextMapping !== undefined || this.#stop.signal.aborted) return;
    this.#nextMapping = setTimeout(() => {
      this.#nextMapping = undefined;
      for (const shardId of this.#unmapped) this.#quarantined.delete(shardId);
      this.#unmapped.clear();
      this.publish();
      if (this.#unmapped.size > 0) return;
      this.#mappingPauseMs = MAPPING_PAUSE_MS_MIN;
      this.#options.log.info('all shards could be mapped again');
    }, this.#mappingPauseMs).unref();
    this.#mappingPauseMs = Math.min(2 * this.#mappingPauseMs, MAPPING_PAUSE_MS_MAX);
  }

  /** A search failed on a shard. Known damage takes it out of service at once, anything else the second time. */
  noteShardFailure(liveId: string, reason: string, fault?: ShardFault): void {
    const shardId = shardIdOf(liveId);
    if (fault !== undefined) {
      this.#refuse(liveId, reason, fault);
      return;
    }
    const count = (this.#failCounts.get(shardId) ?? 0) + 1;
    this.#failCounts.set(shardId, count);
    this.#options.log.error('shard failed a search', { shardId, reason, count });
    if (count >= 2) this.#refuse(liveId, reason, undefined);
  }

  /**
   * Takes the damaged ones of these shards out of service before anything is shown: a process that read them ended
   * without a word.
   *
   * @param check  returns what is wrong with shards
   */
  async quarantineNoted(
    shardIds: readonly string[],
    check: (shards: readonly LiveShard[]) => Promise<readonly ShardDamage[]>,
  ): Promise<void> {
    const noted = this.#options.catalog.repos.flatMap((repo) =>
      repo.shards.flatMap((shard, index) =>
        shardIds.includes(shard.shardId) ? [this.#liveShard(repo, shard, index)] : [],
      ),
    );
    if (noted.length === 0) return;
    const fields = { shardIds: noted.map(({ shardId }) => shardId) };
    this.#options.log.warn(
      'the last process did not end by itself; checking what it searched',
      fields,
    );
    const problems = await check(noted);
    this.#isHeld = true;
    for (const { shardId, reason, fault } of problems) this.#refuse(shardId, reason, fault);
    this.#isHeld = false;
  }

  /** The shards whose symbols are to be found, by these engines; each with the repo it belongs to. */
  shardsWithoutSymbols(foundBy: string): { repo: string; shardId: string; path: string }[] {
    return this.#servedRepos().flatMap(({ record, shards }) =>
      shards
        .filter(({ shardId, symbols }) => {
          const isKnown = symbols?.foundBy === foundBy && !this.#symbolless.has(shardId);
          const isLater = this.#retries.isWaiting(symbolsKey(shardId));
          return !isKnown && !isLater && !this.#quarantined.has(shardId);
        })
        .map(({ shardId }) => ({
          repo: record.name,
          shardId,
          path: this.#options.catalog.shardPath(shardId),
        })),
    );
  }

  /** Gives a shard the symbols in the finished file, and shows them; the file goes where the shard has gone. */
  async adoptSymbols(
    shardId: string,
    file: string,
    found: Omit<CatalogSymbols, 'symbolsId'>,
  ): Promise<void> {
    const { catalog } = this.#options;
    const symbols = { symbolsId: await catalog.adoptSymbols(file), ...found };
    const before = catalog.state;
    let isWanted = false;
    const change = (shard: CatalogShard): CatalogShard => {
      if (shard.shardId !== shardId) return shard;
      isWanted = true;
      return { ...shard, symbols };
    };
    await catalog.update((state) => ({
      ...state,
      repos: state.repos.map((repo) => ({ ...repo, shards: repo.shards.map(change) })),
    }));
    if (!isWanted) {
      await catalog.disown([catalog.symbolsPath(symbols.symbolsId)]);
      return;
    }
    this.#symbolless.delete(shardId);
    this.#failCounts.delete(shardId);
    this.publish();
    await catalog.removeFilesOf(before);
  }

  /** Takes a shard out of service and, if that is allowed here, has its repo built again. */
  quarantine(shardId: string, reason: string): void {
    if (this.#quarantined.has(shardId)) return;
    this.#quarantined.set(shardId, reason);
    const repo = this.#options.catalog.repos.find(({ shards }) =>
      shards.some((one) => one.shardId === shardId),
    );
    this.#options.log.error('shard quarantined', { shardId, reason, repo: repo?.record.name });
    this.publish();
    if (repo !== undefined && this.#options.isOwner) this.#buildAgain(repo.record);
  }

  /** Builds a repo again, as long as a shard of it is damaged. */
  #buildAgain({ repoId, name }: RepoRecord): void {
    if (this.#rebuilt.has(repoId)) return;
    this.#retries.run(`repo ${repoId}`, 'the repo is built again', { repo: name }, () => {
      const damaged = this.#damagedRepo(repoId);
      // It ends without a word when the index is closed.
      if (damaged !== undefined) this.#build(damaged).catch(() => {});
    });
  }

  async #build(damaged: RepoRecord): Promise<void> {
    this.#rebuilt.add(damaged.repoId);
    await this.indexAll([damaged], false, this.#stop.signal);
    this.#rebuilt.delete(damaged.repoId);
    if (this.#damagedRepo(damaged.repoId) !== undefined) this.#buildAgain(damaged);
  }

  /** The repo, if a shard of it is out of service and building it again may help. */
  #damagedRepo(repoId: number): RepoRecord | undefined {
    const repo = this.#options.catalog.repos.find(({ record }) => record.repoId === repoId);
    const isDamaged = repo?.shards.some(
      ({ shardId }) => this.#quarantined.has(shardId) && !this.#unmapped.has(shardId),
    );
    return isDamaged === true ? repo?.record : undefined;
  }

  /** Stops rebuilds of quarantined shards; resolves when no job is under way, and none begins any more. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('the index is being closed'));
    this.#retries.close();
    clearTimeout(this.#nextAsking);
    clearTimeout(this.#nextMapping);
    await this.whenIdle();
  }
}

/** What finding the symbols of a shard again is known by. */
function symbolsKey(shardId: string): string {
  return `symbols ${shardId}`;
}

/** Id of a shard as searches know it: a shard with other symbols is another one to them. */
function liveIdOf(shardId: string, symbols: CatalogSymbols | undefined): string {
  return symbols === undefined ? shardId : `${shardId}+${symbols.symbolsId}`;
}

/** The catalog's id of a live shard. */
function shardIdOf(liveId: string): string {
  return liveId.split('+', 1)[0]!;
}

/** For paths given on the command line: the files on disk where there is a work tree. */
async function probeForIndex(
  one: string,
  mode: 'commits' | 'worktree' | undefined,
): Promise<ProbedSource> {
  const probed = await probeSource(one, mode);
  const wantsFiles = mode === undefined && probed.layout === 'worktree';
  return wantsFiles ? probeSource(one, 'worktree') : probed;
}

/** Guess: looking waits for the disk about as long as it computes. */
const PROBES_AT_ONCE = 8;

/** Looks at sources beside each other. What comes out, in their order: the source, or its error, thrown. */
async function probeTogether(
  probes: readonly (() => Promise<ProbedSource>)[],
  signal: AbortSignal,
): Promise<(() => ProbedSource)[]> {
  const slots = new Slots({ runningMax: PROBES_AT_ONCE, waitingMax: Infinity });
  // Each source that waits listens; of more than ten Node warns.
  setMaxListeners(0, signal);
  const found = await Promise.allSettled(
    probes.map((probe, index) => slots.run(String(index), signal, probe)),
  );
  signal.throwIfAborted();
  return found.map((result) => () => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/** Whether an error says that the git of a source is that of another one. */
function leadsOut(error: unknown): boolean {
  const isOfProbe = error instanceof ProbeError && error.failure === 'not_its_own';
  return isOfProbe || error instanceof GitPlaceError;
}

function modeOf({ kind }: RepoSource): 'commits' | 'worktree' | undefined {
  return kind === 'folder' ? undefined : kind;
}

function newRecord(repo: StoredRepo, { defaultRevision, pushedAt }: ProbedSource): RepoRecord {
  return {
    ...recordOf(repo),
    defaultRevision,
    ...(pushedAt === undefined ? {} : { pushedAt }),
  };
}

/** Full names of all revisions, the default one first. */
function revisionNames({ defaultRevision }: ProbedSource, spec: SourceSpec): readonly string[] {
  return [defaultRevision, ...(spec.revisions ?? []).map(({ name }) => name)];
}

/** The record of a repo that is published now; `revisions` absent: the default one alone. */
function publishedRecord(
  record: RepoRecord,
  probed: ProbedSource,
  revisions: readonly string[] | undefined,
): RepoRecord {
  const { pushedAt: _, revisions: __, defaultBranch: ___, ...rest } = record;
  return {
    ...rest,
    defaultRevision: probed.defaultRevision,
    ...(probed.defaultBranch === undefined ? {} : { defaultBranch: probed.defaultBranch }),
    indexedAt: new Date().toISOString(),
    ...(probed.pushedAt === undefined ? {} : { pushedAt: probed.pushedAt }),
    ...(revisions === undefined ? {} : { revisions }),
  };
}

/** A fingerprint without what it says of further revisions. */
function withoutRevisions(fingerprint: string): string {
  const parts: unknown = JSON.parse(fingerprint);
  if (!Array.isArray(parts)) return fingerprint;
  return JSON.stringify([defaultPartOf(String(parts[0])), ...parts.slice(1)]);
}

/** Everything that makes docs come out differently: the source, the filters, the format. */
function fingerprintOf(source: string, filters: FilterSettings): string {
  const { maxFileSize, maxTrigramCount, alwaysIndexFilePatterns } = filters;
  const versions = [FORMAT_VERSION, DOC_RULES_VERSION];
  const parts = [source, versions, maxFileSize, maxTrigramCount, alwaysIndexFilePatterns];
  return JSON.stringify(parts);
}

function tallyReasons(leftOut: BuildResult['leftOut']): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason } of leftOut) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}

function sizesOf(repo: CatalogRepo): Omit<IndexOutcome, 'isUnchanged'> {
  const sum = (of: (shard: CatalogShard) => number): number =>
    repo.shards.reduce((total, shard) => total + of(shard), 0);
  return {
    revisionCount: repo.record.revisions?.length ?? 1,
    docCount: sum(({ docCount }) => docCount),
    contentSize: sum(({ contentSize }) => contentSize),
    shardSize: sum(({ size }) => size),
    skipped: repo.skipped,
    ignored: repo.ignored ?? {},
    leftOut: repo.leftOut ?? {},
  };
}
