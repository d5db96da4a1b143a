// Indexes one repo: probes its source, keeps the shards whose docs are unchanged, builds the rest, and publishes the
// result in one catalog change. Searches use the old shards until then.

import { omitUndefined } from '../../base/omit-undefined.ts';
import { access } from 'node:fs/promises';
import { messageOf } from '../../base/caught.ts';
import type { Log, LogFields } from '../../base/log.ts';
import {
  type BuildOptions,
  type BuildProgress,
  buildRepo,
  type BuildResult,
} from '../../engine/build/build.ts';
import type { BuildThreads } from '../../engine/build/build-threads.ts';
import { buildDelta, type DeltaResult } from '../../engine/build/delta.ts';
import type { DiskScan } from '../../engine/build/disk-diff.ts';
import type { FilterSettings } from '../../engine/build/filters.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { OBJECT_MISSING } from '../../sources/disk/excluded-path.ts';
import { scanDisk } from '../../sources/docs/scan-thread.ts';
import { GitError } from '../../sources/git/git.ts';
import type { FileStates } from '../../sources/docs/file-states.ts';
import type { SourceSpec } from '../../sources/docs/source.ts';
import type { ProbedSource } from '../../sources/git/probe.ts';
import type { Catalog, RepoSizes } from '../../index/catalog/catalog.ts';
import { recordOf } from '../../index/register/change-repo.ts';
import {
  type CatalogChange,
  type CatalogRepo,
  type CatalogShard,
  withoutFingerprint,
  withSymbolsOf,
} from '../../index/catalog/catalog-records.ts';
import {
  fingerprintNow,
  fingerprintOf,
  hasRules,
  refFingerprintOf,
} from '../../index/served/fingerprint.ts';
import type { RepoRegistry } from '../../index/register/registry.ts';
import { indexedStateOf } from '../../index/served/indexed-state.ts';
import { type Publication, publishing } from '../../index/served/publication.ts';
import { reprobeSource } from '../../index/register/probe-for-index.ts';
import type { FetchStep } from '../../hosts/mirrors/git-progress.ts';
import { layoutOf } from '../../sources/git/path-kind.ts';
import { warningsOf } from './job-warnings.ts';
import { selectRevisions } from './select-revisions.ts';
import type { Served } from '../../index/served/served.ts';
import type { FileTracker } from '../watch/file-tracker.ts';
import { OtherSourceError } from '../../index/register/which-repo.ts';

export interface RepoIndexerOptions {
  readonly module: WebAssembly.Module;
  readonly catalog: Catalog;
  readonly registry: RepoRegistry;
  readonly served: Served;
  readonly filters: () => FilterSettings;
  readonly threads: BuildThreads;
  readonly onNewShards: () => void;
  readonly fileTracker: FileTracker;
  /** The host that the next job of a repo contacts; undefined: none. */
  readonly fetchHostOf?: (record: RepoRecord) => string | undefined;
  /** Updates the mirror of a repo from a code host. Errors: why it failed. */
  readonly bringUp?: (record: RepoRecord, context: IndexContext) => Promise<void>;
  /** Notified of the error of a failed job: the mirror may be damaged. */
  readonly onFailure?: (repoId: number, error: unknown) => void;
  readonly tidyUp?: (record: RepoRecord, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
}

export interface IndexContext {
  readonly signal: AbortSignal;
  /** Only for the log. */
  readonly warn: (message: string, fields: LogFields) => void;
  /** A sentence about something that the user may not have intended; each job reports all of them. */
  readonly onWarning: (sentence: string) => void;
  /** Something must be built, which takes time and changes the index. */
  readonly onWork: () => void;
  readonly onFetch: (step: FetchStep) => void;
  /** No further host contact. Resolves when the job may compute. Errors: the reason of the signal. */
  readonly onFetched: () => Promise<void>;
  readonly onProgress: (progress: BuildProgress) => void;
}

export interface IndexOutcome extends RepoSizes {
  readonly isUnchanged: boolean;
  /** Only changes, or everything; absent: nothing was built. */
  readonly built?: 'delta' | 'whole';
  /** Why everything was built although the repo had shards. */
  readonly reason?: string;
  readonly revisionCount: number;
  readonly shardCount: number;
  readonly skipped: Readonly<Record<string, number>>;
  /** Files excluded by rules, per rule; an ignored folder counts as one. */
  readonly ignored: Readonly<Record<string, number>>;
  /** Paths that are not docs, per reason. */
  readonly excluded: Readonly<Record<string, number>>;
}

export class RepoIndexer {
  readonly #options: RepoIndexerOptions;

  constructor(options: RepoIndexerOptions) {
    this.#options = options;
  }

  /** What a job would find, if that is what is indexed; contacts no host. Undefined: a job must find out. */
  async unchanged(record: RepoRecord): Promise<IndexOutcome | undefined> {
    const { catalog, fetchHostOf } = this.#options;
    const now = catalog.repo(record.repoId)?.record ?? record;
    if (fetchHostOf?.(now) !== undefined) return undefined;
    await access(now.source.path).catch(() => {});
    const unchanged = this.#unchangedRepo(now, refFingerprintOf(now), this.#options.filters());
    return unchanged && { isUnchanged: true, ...this.#sizesOf(unchanged) };
  }

  /** Errors: those of probing, building and the catalog; the reason of the signal. */
  async index(record: RepoRecord, isForced: boolean, context: IndexContext): Promise<IndexOutcome> {
    const { catalog, fileTracker } = this.#options;
    const { repoId } = record;
    const changedPaths = fileTracker.take(repoId);
    // Why read again: another job may have ended since the request, or rules may have changed.
    const now = catalog.repo(repoId)?.record ?? record;
    try {
      await this.#options.bringUp?.(now, context);
      await context.onFetched();
      const outcome = await this.#index(now, isForced ? 'all' : changedPaths, context);
      await this.#noteLost(repoId, outcome);
      await this.#options.tidyUp?.(now, context.signal);
      return outcome;
    } catch (error) {
      this.#options.onFailure?.(repoId, error);
      fileTracker.lose(repoId);
      // An earlier job may have published.
      if (isForced) await this.markRebuildDue([repoId]);
      throw error;
    }
  }

  /** A mirror without some objects is checked before its next job, which then builds everything. */
  async #noteLost(repoId: number, { built, excluded }: IndexOutcome): Promise<void> {
    const isHosted = this.#options.registry.byId(repoId)?.host !== undefined;
    if (!isHosted || built === undefined || excluded[OBJECT_MISSING] === undefined) return;
    const error = new GitError('cat-file', 'exit', undefined, 'objects are missing');
    this.#options.onFailure?.(repoId, error);
    await this.markRebuildDue([repoId]);
  }

  /** Warnings of a finished job for users who may miss files. Errors: none. */
  async warningsOf({ repoId, source }: RepoRecord, outcome: IndexOutcome): Promise<string[]> {
    const { kind, path } = source;
    const layout = await layoutOf(path).catch(() => undefined);
    const isListed = this.#options.registry.byId(repoId)?.host !== undefined;
    return warningsOf({ kind, isListed, hasWorkTree: layout === 'worktree' }, outcome);
  }

  /** Makes the next job of these repos build everything. Errors: none; logged. */
  async markRebuildDue(repoIds: readonly number[]): Promise<void> {
    const { catalog, log } = this.#options;
    const indexed = (): CatalogRepo[] =>
      repoIds
        .flatMap((repoId) => catalog.repo(repoId) ?? [])
        .filter(({ fingerprint }) => fingerprint !== undefined);
    try {
      await catalog.commit(() => ({ put: indexed().map(withoutFingerprint) }));
    } catch (error) {
      log.error('a requested rebuild of repos could not be stored', {
        repos: indexed().map(({ record }) => record.name),
        error: messageOf(error),
      });
    }
  }

  /** @param changed  paths on disk that may have changed; undefined: any; 'all': build everything */
  async #index(
    record: RepoRecord,
    changed: readonly string[] | 'all' | undefined,
    context: IndexContext,
  ): Promise<IndexOutcome> {
    const { catalog } = this.#options;
    const filters = this.#options.filters();
    // Why: if a file system hangs, only this job waits.
    await access(record.source.path).catch(() => {});
    // Taken first, so that a ref that moves later is noticed by the next job.
    const refFingerprint = refFingerprintOf(record);
    const unchanged =
      changed === 'all' ? undefined : this.#unchangedRepo(record, refFingerprint, filters);
    if (unchanged !== undefined) return { isUnchanged: true, ...this.#sizesOf(unchanged) };
    const { registry, served } = this.#options;
    const probed = await reprobeSource(registry, record.source);
    if (!registry.isSourceOf(record.repoId, probed)) throw new OtherSourceError(record.source.path);
    if (record.source.kind === 'folder' && probed.layout !== 'folder')
      return this.#index(await this.#asRepository(record, probed), undefined, context);
    await served.setDetached(record, false);
    const base: SourceSpec = {
      ...record.source,
      ...(record.source.kind === 'commits' && probed.commit !== undefined
        ? { commit: probed.commit }
        : {}),
    };
    const warnings: string[] = [];
    const revisions = await selectRevisions(record, probed, warnings);
    for (const warning of warnings) context.onWarning(warning);
    const spec: SourceSpec = revisions.length === 0 ? base : { ...base, revisions };
    const source: JobSource = {
      probed,
      spec,
      refFingerprint: warnings.length === 0 ? refFingerprint : undefined,
    };
    const indexed = catalog.repo(record.repoId);
    const job = indexed && { ...source, indexed, filters, context };
    const updated = changed === 'all' ? 'requested' : job && (await this.#update(job, changed));
    if (typeof updated === 'object') return updated;
    context.onWork();
    const built = await buildRepo(this.#buildOptions(record, spec, filters, context));
    logExcluded(record, built, context);
    const next = await this.#publish(record, source, built, {
      kept: [],
      revisions: built.revisions,
      fingerprint: fingerprintOf(built.fingerprint, filters, spec),
      excluded: countReasons(built.excluded),
    });
    this.#remember(next, built.states, built.excluded);
    const isFirst = indexed === undefined || indexed.shards.length === 0;
    const reason = updated === undefined || isFirst ? {} : { reason: updated };
    return { isUnchanged: false, built: 'whole', ...reason, ...this.#sizesOf(next) };
  }

  /** The record of a folder that has become a repository; its permissions stay. Errors: OtherSourceError. */
  async #asRepository(
    { repoId, name, source }: RepoRecord,
    probed: ProbedSource,
  ): Promise<RepoRecord> {
    const { registry, catalog, log } = this.#options;
    if (registry.byId(repoId)?.host !== undefined)
      throw new Error(
        `${source.path} has become a git repository; the next listing of its connection treats it as one`,
      );
    const [repo] = await registry.admit([probed], {});
    const indexed = catalog.repo(repoId);
    if (repo?.repoId !== repoId || indexed === undefined) throw new OtherSourceError(source.path);
    const record = recordOf(repo, indexed.record);
    // The folder's fingerprint says nothing about the repository.
    await this.#change(repoId, (now) =>
      withoutFingerprint({ ...now, record: recordOf(repo, now.record) }),
    );
    log.info('a folder has become a git repository', { repo: name, kind: record.source.kind });
    return record;
  }

  /** The repo, if nothing indicates work for a job. */
  #unchangedRepo(
    record: RepoRecord,
    refFingerprint: string | undefined,
    filters: FilterSettings,
  ): CatalogRepo | undefined {
    const { catalog, registry } = this.#options;
    const indexed = catalog.repo(record.repoId);
    if (indexed === undefined || refFingerprint === undefined || indexed.look !== refFingerprint)
      return undefined;
    const isSame =
      indexed.isStray === undefined &&
      this.#isIntact(indexed) &&
      hasRules(indexed, filters) &&
      registry.isWhereItWas(record);
    return isSame ? indexed : undefined;
  }

  #isIntact({ shards }: CatalogRepo): boolean {
    return shards.every(({ shardId }) => !this.#options.served.isOut(shardId));
  }

  #buildOptions(
    record: RepoRecord,
    spec: SourceSpec,
    filters: FilterSettings,
    { signal, onProgress }: IndexContext,
  ): BuildOptions {
    const { catalog, module, threads } = this.#options;
    return {
      module,
      spec,
      filters,
      repoId: record.repoId,
      repoName: record.name,
      folder: catalog.shardFolder,
      threads,
      signal,
      onProgress,
    };
  }

  /** The result if shards can stay; a text: why everything must be built. */
  async #update(
    job: UpdateJob,
    changedPaths: readonly string[] | undefined,
  ): Promise<IndexOutcome | string> {
    const { indexed, probed, spec, filters } = job;
    // Why first: a listing costs a second for each 80,000 files.
    if (!this.#isIntact(indexed)) return 'a shard is out of service';
    if (indexed.fingerprint === undefined) return 'requested, and not finished';
    if (!hasRules(indexed, filters)) return 'settings or the format of the index changed';
    const disk = spec.kind === 'commits' ? undefined : await this.#scanDisk(job, changedPaths);
    const source = await fingerprintNow(spec, disk);
    const isSameDefault = indexed.record.defaultRevision === probed.defaultRevision;
    if (isSameDefault && indexed.fingerprint === fingerprintOf(source, filters, spec)) {
      if (disk !== undefined) this.#remember(indexed, disk.listing.states, disk.listing.excluded);
      await this.#noteRefState(job);
      return { isUnchanged: true, ...this.#sizesOf(indexed) };
    }
    if (disk !== undefined && !isSameDefault) return 'the default revision changed';
    return this.#addDelta(job, source, disk);
  }

  /** Stores a new state of the refs that names the same commits. */
  async #noteRefState({
    indexed: { record, look: before },
    refFingerprint,
  }: UpdateJob): Promise<void> {
    if (refFingerprint === undefined || refFingerprint === before) return;
    await this.#change(record.repoId, (now) => ({ ...now, look: refFingerprint }));
  }

  /** Changes a repo in the catalog, if it is still there. */
  async #change(repoId: number, nextOf: (now: CatalogRepo) => CatalogRepo): Promise<void> {
    const { catalog } = this.#options;
    await catalog.commit(() => ({ put: [catalog.repo(repoId) ?? []].flat().map(nextOf) }));
  }

  /** The files on disk: only the reported changes, if that is enough. */
  async #scanDisk(
    { indexed, probed, spec, context }: UpdateJob,
    changedPaths: readonly string[] | undefined,
  ): Promise<DiskScan> {
    const { fileTracker } = this.#options;
    const { repoId } = indexed.record;
    const states = fileTracker.statesOf(repoId, indexed.fingerprint);
    const areCommitsSame = commitsOf(probed, spec).join() === indexed.commits?.join();
    const isPartial = changedPaths !== undefined && states !== undefined && areCommitsSame;
    if (isPartial && fileTracker.areEnough(repoId, changedPaths)) {
      const listing = await scanDisk(spec, changedPaths, context.signal);
      if (listing.excluded.length === 0) return { listing, within: changedPaths, indexed: states };
    }
    const listing = await scanDisk(spec, undefined, context.signal);
    return { listing, within: undefined, indexed: states };
  }

  /** Builds and publishes the changes; a text: why everything must be built. */
  async #addDelta(
    job: UpdateJob,
    source: string,
    disk: DiskScan | undefined,
  ): Promise<IndexOutcome | string> {
    const { indexed, probed, spec, filters, context } = job;
    const { catalog } = this.#options;
    const { record } = indexed;
    const indexedState = indexedStateOf(catalog, indexed);
    if (indexedState === undefined) return 'the docs of its revisions are unknown';
    // For files on disk it is unknown yet whether anything must be built.
    if (disk === undefined) context.onWork();
    const built = await buildDelta({
      ...this.#buildOptions(record, spec, filters, context),
      defaultRevision: probed.defaultRevision,
      disk,
      indexed: indexedState,
    });
    if (typeof built === 'string') return built;
    const isListed = disk !== undefined && disk.within === undefined;
    const delta = isListed ? { ...built, ignored: await disk.listing.ignored() } : built;
    logExcluded(record, { excluded: delta.newlyExcluded }, context);
    const fingerprint = fingerprintOf(source, filters, spec);
    if (disk !== undefined && delta.isSame) return this.#keep(job, disk, delta, fingerprint);
    context.onWork();
    const next = await this.#publish(record, job, delta, {
      kept: delta.kept.map((index) => indexed.shards[index]!),
      revisions: delta.revisions,
      fingerprint,
      excluded: delta.excluded,
    });
    if (disk !== undefined) this.#rememberScan(next, disk, delta);
    return { isUnchanged: false, built: 'delta', ...this.#sizesOf(next) };
  }

  async #keep(
    { indexed, probed, spec }: UpdateJob,
    disk: DiskScan,
    delta: DeltaResult,
    fingerprint: string,
  ): Promise<IndexOutcome> {
    const { ignored, excluded } = delta;
    const kept = (now: CatalogRepo): CatalogRepo => {
      const { indexedAt: _, ...record } = publishedRecord(now.record, probed, spec);
      const said = { commits: commitsOf(probed, spec), fingerprint, ignored, leftOut: excluded };
      return { ...now, record: { ...now.record, ...record }, ...said } satisfies CatalogRepo;
    };
    // Changes of single files say nothing about the state of all files.
    const next = disk.within === undefined ? kept(indexed) : indexed;
    if (next !== indexed) {
      await this.#change(indexed.record.repoId, kept);
      this.#options.served.publishChanges();
    }
    this.#rememberScan(next, disk, delta);
    return { isUnchanged: true, ...this.#sizesOf(next) };
  }

  #rememberScan(
    repo: CatalogRepo,
    { listing, within }: DiskScan,
    { newlyExcluded }: DeltaResult,
  ): void {
    const excluded = [...listing.excluded, ...newlyExcluded];
    const { repoId } = repo.record;
    if (within === undefined) this.#remember(repo, listing.states, excluded);
    else if (repo.fingerprint !== undefined)
      this.#options.fileTracker.rememberSome(
        repoId,
        repo.fingerprint,
        within,
        listing.states,
        excluded,
      );
  }

  #remember(
    { record, fingerprint }: CatalogRepo,
    states: FileStates | undefined,
    excluded: BuildResult['excluded'],
  ): void {
    if (states !== undefined && fingerprint !== undefined)
      this.#options.fileTracker.remember(record.repoId, fingerprint, states, excluded);
  }

  async #publish(
    record: RepoRecord,
    { probed, spec, refFingerprint }: JobSource,
    { shards, skipped, ignored }: Pick<BuildResult, 'shards' | 'skipped' | 'ignored'>,
    { kept, revisions, fingerprint, excluded }: PublishedState,
  ): Promise<CatalogRepo> {
    const made = shards.map(({ path: file }) => file);
    return publishing(this.#options, made, async (publication) => {
      const adopted: CatalogShard[] = [];
      for (const shard of shards) adopted.push(await publication.addShard(shard.path, shard));
      const revisionFile =
        revisions === undefined ? undefined : await publication.addRevisions(revisions);
      const next = (now: RepoRecord): CatalogRepo => ({
        record: publishedRecord(now, probed, spec),
        ...omitUndefined({ revisionFile }),
        commits: commitsOf(probed, spec),
        fingerprint,
        ...omitUndefined({ look: refFingerprint }),
        // Why first: a search that stops at its limit finds the latest changes.
        shards: [...adopted, ...kept],
        skipped,
        ignored,
        leftOut: excluded,
      });
      return this.#replaceRepo(publication, record, next, kept);
    });
  }

  #sizesOf(repo: CatalogRepo): Omit<IndexOutcome, 'isUnchanged' | 'built' | 'reason'> {
    const { shards, record, skipped, ignored = {}, leftOut: excluded = {} } = repo;
    return {
      revisionCount: record.revisions?.length ?? 1,
      ...this.#options.catalog.sizesOf(repo),
      shardCount: shards.length,
      skipped,
      ignored,
      excluded,
    };
  }

  /** Replaces a repo in the catalog. @param nextOf  returns the new version from the current record */
  async #replaceRepo(
    publication: Publication,
    record: RepoRecord,
    nextOf: (now: RepoRecord) => CatalogRepo,
    kept: readonly CatalogShard[],
  ): Promise<CatalogRepo> {
    const { catalog, served, onNewShards } = this.#options;
    let next = nextOf(record);
    const change = (): CatalogChange => {
      const now = catalog.repo(record.repoId);
      if (now === undefined) return {};
      const draft = nextOf(now.record);
      const { probed } = now;
      next = { ...draft, ...omitUndefined({ probed }), shards: withSymbolsOf(now, draft.shards) };
      return { put: [next] };
    };
    const stays = new Set(kept.map(({ shardId }) => shardId));
    await publication.commit(change, (former) => {
      const isMade = new Set(next.shards.map(({ shardId }) => shardId));
      // Other repos with docs in a damaged shard are rebuilt as well.
      const isOver = (shardId: string): boolean =>
        isMade.has(shardId) || !catalog.hasShard(shardId);
      const replaced = former.flatMap(({ shards }) => shards.map(({ shardId }) => shardId));
      served.forget(replaced.filter((shardId) => !stays.has(shardId) && isOver(shardId)));
    });
    onNewShards();
    return next;
  }
}

function logExcluded(
  { name }: RepoRecord,
  { excluded }: Pick<BuildResult, 'excluded'>,
  { warn }: IndexContext,
): void {
  for (const { path: file, reason } of excluded.slice(0, 100))
    warn('file left out', { repo: name, path: file, reason });
}

interface JobSource {
  readonly probed: ProbedSource;
  readonly spec: SourceSpec;
  /** Compared by later jobs; undefined: not comparable. */
  readonly refFingerprint: string | undefined;
}

interface UpdateJob extends JobSource {
  readonly indexed: CatalogRepo;
  readonly filters: FilterSettings;
  readonly context: IndexContext;
}

interface PublishedState {
  readonly kept: readonly CatalogShard[];
  /** The revision file; absent: one revision, which has all docs. */
  readonly revisions: Buffer | undefined;
  readonly fingerprint: string;
  readonly excluded: Readonly<Record<string, number>>;
}

/** The commits of all revisions, the default one first; null: files on disk, or no commit. */
function commitsOf(
  { commit }: ProbedSource,
  { kind, revisions = [] }: SourceSpec,
): (string | null)[] {
  const own = kind === 'commits' ? (commit ?? null) : null;
  return [own, ...revisions.map((revision) => revision.commit)];
}

function publishedRecord(
  record: RepoRecord,
  { defaultRevision, defaultBranch, pushedAt }: ProbedSource,
  { revisions }: SourceSpec,
): RepoRecord {
  const { pushedAt: _, revisions: __, defaultBranch: ___, ...rest } = record;
  return {
    ...rest,
    defaultRevision,
    ...omitUndefined({ defaultBranch }),
    indexedAt: new Date().toISOString(),
    ...omitUndefined({ pushedAt }),
    ...(revisions === undefined
      ? {}
      : { revisions: [defaultRevision, ...revisions.map(({ name }) => name)] }),
  };
}

function countReasons(excluded: BuildResult['excluded']): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason } of excluded) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}
