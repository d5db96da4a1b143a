// How one repo is indexed: looks at its source, keeps the shards that it has where its docs are the same, else builds
// them, and publishes the outcome as one change of the catalog. Searches see the old shards until then.

import { FORMAT_VERSION } from '../../core/shared/format.ts';
import type { Log } from '../base/log.ts';
import { buildRepo, type BuildProgress, type BuildResult } from '../engine/build/build.ts';
import { DOC_RULES_VERSION, type FilterSettings } from '../engine/build/filters.ts';
import { reviseShards } from '../engine/build/revise.ts';
import { RevisionTable } from '../engine/shards/revisions.ts';
import type { RepoRecord } from '../repos/records.ts';
import { openSource } from '../sources/docs/open-source.ts';
import { defaultPartOf } from '../sources/docs/source-revisions.ts';
import type { SourceSpec } from '../sources/docs/source.ts';
import { modeOf, probeSource, type ProbedSource } from '../sources/git/probe.ts';
import type { Catalog, CatalogRepo, CatalogShard } from './catalog.ts';
import type { RepoRegister } from './register.ts';
import { selectRevisions } from './select-revisions.ts';
import type { Served } from './served.ts';

export interface RepoIndexerOptions {
  readonly module: WebAssembly.Module;
  readonly catalog: Catalog;
  readonly register: RepoRegister;
  readonly served: Served;
  /** As they are now; a job keeps those it began with. */
  readonly filters: () => FilterSettings;
  readonly workers?: number | undefined;
  readonly log: Log;
  readonly onProgress?: ((repo: string, progress: BuildProgress) => void) | undefined;
  /** Told that shards may have come whose symbols are not known. */
  readonly onNewShards: () => void;
}

/** What is known of a repo once it is indexed. */
export interface IndexOutcome {
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
}

export class RepoIndexer {
  readonly #options: RepoIndexerOptions;

  constructor(options: RepoIndexerOptions) {
    this.#options = options;
  }

  /** Errors: those of looking at the source, of the build and of the catalog; the reason of the signal. */
  async index(
    record: RepoRecord,
    isForced: boolean,
    signal: AbortSignal | undefined,
  ): Promise<IndexOutcome> {
    const { catalog, module, workers, onProgress, log } = this.#options;
    const filters = this.#options.filters();
    const probed = await probeSource(record.source.path, modeOf(record.source));
    if (!this.#options.register.isSourceOf(record.repoId, probed))
      throw new Error(
        `at ${record.source.path} lies another source than that of this repository; ` +
          `"trawl index ${record.source.path}" makes it a repository of its own`,
      );
    await this.#options.served.setStray(record, false);
    const base: SourceSpec = {
      ...record.source,
      ...(record.source.kind === 'commits' && probed.commit !== undefined
        ? { commit: probed.commit }
        : {}),
    };
    const revisions = await selectRevisions(record, probed, log);
    const spec: SourceSpec = revisions.length === 0 ? base : { ...base, revisions };
    const known = catalog.repo(record.repoId);
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
    const isSound = known.shards.every(({ shardId }) => !this.#options.served.isOut(shardId));
    const isSameDefault = known.record.defaultRevision === probed.defaultRevision;
    // Why first: a listing costs a second for each 80,000 files.
    if (known.fingerprint === undefined || !isSound || !isSameDefault) return undefined;
    const source = await openSource(spec).fingerprint();
    const fingerprint = fingerprintOf(source, this.#options.filters());
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
    const known = catalog.repo(repoId);
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
    const { catalog, served, onNewShards } = this.#options;
    const { repoId } = next.record;
    // What was forgotten meanwhile does not come back.
    const former = await catalog.commit(() => ({
      put: catalog.repo(repoId) === undefined ? [] : [next],
    }));
    // A shard built again from the same docs has its old id, so the verdict on the old file goes with it.
    served.forget(former.flatMap(({ shards }) => shards.map(({ shardId }) => shardId)));
    served.publish();
    // Mapped files stay readable for searches under way after they are unlinked.
    await catalog.removeFilesOf(former);
    onNewShards();
  }
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
