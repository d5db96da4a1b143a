// Keeps the number of shards low in the background: merges small shards of one or several repos, and rewrites those
// with a quarter of dead docs. Searches use the old shards until one catalog change replaces them. Jobs run meanwhile;
// a repo that was rebuilt during the merge keeps its new shards.

import { omitUndefined } from '../../base/omit-undefined.ts';
import path from 'node:path';
import { messageOf } from '../../base/caught.ts';
import { LoopYielder } from '../../base/next-time-slice.ts';
import type { Log } from '../../base/log.ts';
import { sumOf } from '../../base/lists.ts';
import {
  type MergedRepo,
  type MergeOrder,
  MergeOverflow,
  type MergeRepo,
  type MergeResult,
} from '../../engine/build/merge.ts';
import { MergeThread } from '../../engine/build/merge-thread.ts';
import { ShardError } from '../../engine/host/space.ts';
import { bitmapSizeOf, containsDoc, setBit } from '../../engine/shards/bits.ts';
import { type RevisionTable, RevisionWriter } from '../../engine/shards/revisions.ts';
import { encodeSet } from '../../engine/shards/set-code.ts';
import type { Catalog } from '../catalog/catalog.ts';
import {
  type CatalogChange,
  type CatalogRepo,
  type CatalogShard,
  type CatalogSymbols,
  docCountOf,
  docsOfRepo,
  indexIn,
  withSymbolsOf,
} from '../catalog/catalog-records.ts';
import { type Holding, Holdings, liveDocsOf } from './holdings.ts';
import type { MergeLimits } from './merge-plan.ts';
import { type Publication, publishing } from '../served/publication.ts';
import { Retries } from '../../base/retries.ts';
import type { Served } from '../served/served.ts';

export interface MergerOptions {
  readonly module: WebAssembly.Module;
  readonly catalog: Catalog;
  readonly served: Served;
  readonly limits: MergeLimits;
  readonly log: Log;
  /** Runs work with those of the repos that no job is working on; no job starts on them meanwhile. */
  readonly without: <Result>(
    repoIds: readonly number[],
    work: (free: ReadonlySet<number>) => Promise<Result>,
  ) => Promise<Result>;
}

let mergeCount = 0;

export class Merger {
  readonly #options: MergerOptions;
  readonly #holdings: Holdings;
  readonly #thread: MergeThread;
  readonly #stop = new AbortController();
  readonly #retries: Retries;
  readonly #checks: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #isWoken = false;
  /** A merge was requested since a purge began. */
  #isRequested = false;
  /** Ids of shards that are too large together: they stay apart until the next start. */
  readonly #apart = new Set<string>();
  /** Ids of shards that could not be rewritten since a purge began. */
  readonly #unpurged = new Set<string>();
  /** Jobs since the last check that may have created shards. */
  #jobCount = 0;

  constructor(options: MergerOptions) {
    this.#options = options;
    this.#holdings = new Holdings(options.catalog);
    this.#thread = new MergeThread(options.module);
    this.#retries = new Retries(options.log);
    // Repos may have come to rest.
    this.#checks = setInterval(() => void this.run(), 600_000).unref();
  }

  /** Call after each job. Plans merges after every `shardCount` jobs: with fewer new shards a merge is rarely due. */
  noteShards(): void {
    this.#jobCount++;
    if (this.#jobCount >= this.#options.limits.shardCount) void this.run();
  }

  /**
   * Rewrites all shards with docs of removed or rebuilt repos. Resolves when it is done, or failed.
   * Why no pause after a failure: a caller waits.
   */
  async purge(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    this.#isRequested = false;
    this.#unpurged.clear();
    this.#running = this.#work(() => this.#nextHole())
      .then(() => (this.#isRequested ? this.#work(() => this.#next()) : undefined))
      .finally(() => (this.#running = undefined));
    await this.#running;
  }

  async whenIdle(): Promise<void> {
    await this.#running;
  }

  /** Runs all merges that are due; resolves when they are done, or failed. Errors: none. */
  run(): Promise<void> {
    this.#isWoken = true;
    this.#isRequested = true;
    this.#running ??= this.#work(() => this.#next()).finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #work(next: () => Holding[] | undefined): Promise<void> {
    this.#isWoken = true;
    while (this.#isWoken && !this.#stop.signal.aborted) {
      this.#isWoken = false;
      this.#jobCount = 0;
      let holdings: Holding[] | undefined;
      try {
        holdings = next();
        if (holdings === undefined) return;
        if (await this.#merge(holdings)) this.#isWoken = true;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        if (holdings === undefined) return this.#note(error);
        this.#isWoken = true;
        // A file was replaced and removed while it was read: no fault.
        if (!holdings.every((one) => this.#isAsBefore(one))) continue;
        for (const { shard } of holdings) this.#unpurged.add(shard.shardId);
        if (error instanceof MergeOverflow) this.#keepApart(holdings);
        else this.#note(error);
      }
    }
  }

  #keepApart(holdings: readonly Holding[]): void {
    for (const { shard } of holdings) this.#apart.add(shard.shardId);
    this.#options.log.info('shards stay apart: together they are too large for one', {
      shards: holdings.length,
    });
  }

  /** Whether the shard still has the same files. */
  #isAsBefore({ shard: { shardId, symbols } }: Holding): boolean {
    const [repo] = this.#options.catalog.reposOfShard(shardId);
    const shard = repo?.shards[indexIn(repo, shardId)];
    return shard !== undefined && shard.symbols?.symbolsId === symbols?.symbolsId;
  }

  #note(error: unknown): void {
    const { log, served } = this.#options;
    // The shard goes out of service and its repos are rebuilt. Not if the merge ran out of mappings: searches may still
    // have it open.
    if (error instanceof ShardError && error.fault !== 'unmapped')
      served.noteShardFailure(error.shardId, error.reason, error.fault);
    log.warn('shards could not be merged', { error: messageOf(error) });
    this.#retries.run('merge', 'shards merged', {}, () => void this.run());
  }

  /** A shard with docs of no repo. */
  #nextHole(): Holding[] | undefined {
    const hole = this.#holdings.all.find((holding) => {
      const { shardId, docCount } = holding.shard;
      const count = sumOf(holding.repos, (repo) =>
        docCountOf(repo.shards[indexIn(repo, shardId)]!),
      );
      const isTried = !this.#isInService(shardId) || this.#unpurged.has(shardId);
      return count < docCount && !isTried && this.#holdings.candidateOf(holding) !== undefined;
    });
    return hole && [hole];
  }

  /** The shards to merge now; none during the pause after a failure. */
  #next(): Holding[] | undefined {
    if (this.#retries.isWaiting('merge')) return undefined;
    const isMergeable = (shardId: string): boolean =>
      this.#isInService(shardId) && !this.#apart.has(shardId);
    const some = this.#holdings.nextMerge(isMergeable, this.#options.limits);
    return some?.map(({ shardId }) => this.#holdings.byId(shardId)!);
  }

  #isInService(shardId: string): boolean {
    const { served } = this.#options;
    return !served.isOut(shardId) && !served.isSymbolless(shardId);
  }

  /** False: jobs are running for all the repos, and nothing was changed. */
  async #merge(holdings: readonly Holding[]): Promise<boolean> {
    const { log } = this.#options;
    const start = Date.now();
    const order = this.#orderOf(holdings);
    const result = await this.#thread.run(order, this.#stop.signal);
    const made = [order.path, ...(result.symbols === undefined ? [] : [order.symbolsPath])];
    const repoIds = order.repos.map(({ repoId }) => repoId);
    const isDone = await publishing(this.#options, made, (publication) =>
      this.#options.without(repoIds, async (free) => {
        if (free.size === 0) return false;
        const repos = order.repos.filter(({ repoId }) => free.has(repoId));
        await this.#publish(publication, holdings, { ...order, repos }, result);
        return true;
      }),
    );
    if (!isDone) return false;
    log.info('shards merged', {
      shards: holdings.length,
      repos: result.repos.length,
      docs: result.docCount,
      size: result.size,
      durationMs: Date.now() - start,
    });
    return true;
  }

  #orderOf(holdings: readonly Holding[]): MergeOrder {
    const { catalog } = this.#options;
    const repos = new Map<number, { repo: CatalogRepo; docs: MergeRepo['docs'][number][] }>();
    for (const [source, { shard, repos: shardRepos }] of holdings.entries())
      for (const repo of shardRepos) {
        const { repoId } = repo.record;
        const existing = repos.get(repoId) ?? { repo, docs: [] };
        existing.docs.push({ source, docIds: liveDocsOf(catalog, repo, shard.shardId) });
        repos.set(repoId, existing);
      }
    const file = path.join(catalog.shardFolder, `merge-${process.pid}-${mergeCount++}.tmp`);
    return {
      sources: holdings.map(({ shard }) => catalog.shardFile(shard)),
      repos: [...repos.values()]
        .sort((a, b) => a.repo.record.repoId - b.repo.record.repoId)
        .map(({ repo: { record }, docs }) => ({ repoId: record.repoId, name: record.name, docs })),
      path: file,
      symbolsPath: `${file}.tags`,
    };
  }

  /** Replaces the old shards by the new one for the given repos; other repos keep theirs. */
  async #publish(
    publication: Publication,
    holdings: readonly Holding[],
    order: MergeOrder,
    result: MergeResult,
  ): Promise<void> {
    const { catalog, served } = this.#options;
    const shard = await publication.addShard(order.path, result);
    const symbols = symbolsOf(holdings, result);
    if (symbols !== undefined) await publication.addSymbols(order.symbolsPath, symbols);
    const merged: CatalogShard = symbols === undefined ? shard : { ...shard, symbols };
    const replacing = new Map<number, Replaced>();
    for (const repo of order.repos) {
      const replaced = await this.#replace(holdings, merged, repo, result.repos);
      if (replaced !== undefined) replacing.set(repo.repoId, replaced);
    }
    const revisionFiles = new Map<number, string>();
    for (const [repoId, { revisions }] of replacing)
      if (revisions !== undefined)
        revisionFiles.set(repoId, await publication.addRevisions(revisions));
    const change = (): CatalogChange => ({
      put: [...replacing].flatMap(([repoId, { shards }]) => {
        const repo = catalog.repo(repoId);
        // Damage found meanwhile would go unnoticed.
        if (repo === undefined || holdings.some(({ shard: { shardId } }) => served.isOut(shardId)))
          return [];
        const revisionFile = revisionFiles.get(repoId);
        const own = { ...repo, shards: withSymbolsOf(repo, shards) };
        return [{ ...own, ...omitUndefined({ revisionFile }) }];
      }),
    });
    const gone = holdings.map(({ shard: { shardId } }) => shardId);
    await publication.commit(change, () =>
      served.forget(gone.filter((id) => !catalog.hasShard(id))),
    );
  }

  /** The new record of a repo; undefined: its docs have moved. Yields to other work. */
  async #replace(
    holdings: readonly Holding[],
    merged: CatalogShard,
    { repoId, name }: MergeRepo,
    parts: readonly MergedRepo[],
  ): Promise<Replaced | undefined> {
    const { catalog } = this.#options;
    const repo = catalog.repo(repoId);
    const table = repo === undefined ? undefined : catalog.revisionsOf(repo);
    if (repo === undefined || repo.record.name !== name || table instanceof Error) return undefined;
    const sources = holdings.map(({ shard, repos }) =>
      repos.some(({ record }) => record.repoId === repoId) ? shard.shardId : undefined,
    );
    const isThere = (shardId: string | undefined): boolean =>
      shardId === undefined || repo.shards.some((shard) => shard.shardId === shardId);
    if (!sources.every(isThere)) return undefined;
    // Absent: no live docs.
    const own = parts.find((part) => part.repoId === repoId);
    const made = own === undefined ? [] : [parts.length === 1 ? merged : partOf(merged, own)];
    const kept = [...repo.shards.entries()].filter(([, { shardId }]) => !sources.includes(shardId));
    const position = repo.shards.findIndex(({ shardId }) => sources.includes(shardId));
    const before = kept.filter(([index]) => index < position);
    const behind = kept.filter(([index]) => index > position);
    if (made.length + kept.length === 0) return undefined;
    if (!isWhole(table, repo.shards, sources, own)) return undefined;
    return {
      shards: [...before.map(([, shard]) => shard), ...made, ...behind.map(([, shard]) => shard)],
      revisions:
        table === undefined
          ? undefined
          : await revisionsOf(table, repo.shards, sources, own, before, behind),
    };
  }

  /** Cancels the current merge; resolves when nothing runs. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('the index is being closed'));
    this.#retries.close();
    clearInterval(this.#checks);
    await this.#running;
    await this.#thread.close();
  }
}

function partOf(merged: CatalogShard, { docStart, docEnd, contentSize }: MergedRepo): CatalogShard {
  return { ...merged, part: { docStart, docEnd, contentSize } };
}

/** The catalog record of a merged shard's symbols; undefined: it has none. */
function symbolsOf(
  holdings: readonly Holding[],
  { symbols }: MergeResult,
): CatalogSymbols | undefined {
  if (symbols === undefined) return undefined;
  const existing = holdings.map(({ shard }) => shard.symbols!);
  return {
    symbolsId: symbols.fileId,
    size: symbols.size,
    symbolCount: symbols.symbolCount,
    fileCount: sumOf(existing, ({ fileCount }) => fileCount),
    failedCount: sumOf(existing, ({ failedCount }) => failedCount),
    foundBy: existing[0]!.foundBy,
  };
}

interface Replaced {
  readonly shards: CatalogShard[];
  readonly revisions: Buffer | undefined;
}

/**
 * Whether every live doc of the merged shards was merged. A dead doc stays dead, unless its repo was rebuilt meanwhile
 * and a shard came out the same.
 */
function isWhole(
  table: RevisionTable | undefined,
  shards: readonly CatalogShard[],
  sources: readonly (string | undefined)[],
  made: MergedRepo | undefined,
): boolean {
  const counts = sources.map(() => 0);
  const lives = sources.map((id) => {
    const index = shards.findIndex(({ shardId }) => shardId === id);
    if (index < 0) return { count: 0, has: () => false };
    const { docStart, docEnd } = docsOfRepo(shards[index]!);
    const live = table?.shards[index]!.liveDocs ?? 'all';
    const count = table?.shards[index]!.liveCount ?? docEnd - docStart;
    return { count, has: (docId: number) => containsDoc(live, docId - docStart) };
  });
  for (const [doc, source] of (made?.sources ?? []).entries())
    if (lives[source]!.has(made!.docIds[doc]!)) counts[source]!++;
  return lives.every(({ count }, source) => count === counts[source]);
}

/** The revision file of a repo with docs of some shards in a new shard, between those that stay. */
async function revisionsOf(
  table: RevisionTable,
  shards: readonly CatalogShard[],
  sources: readonly (string | undefined)[],
  made: MergedRepo | undefined,
  before: readonly (readonly [number, CatalogShard])[],
  behind: readonly (readonly [number, CatalogShard])[],
): Promise<Buffer> {
  const docIds = made?.docIds ?? new Uint32Array();
  const docCount = docIds.length;
  const indexes = sources.map((id) => shards.findIndex(({ shardId }) => shardId === id));
  const starts = indexes.map((index) => (index < 0 ? 0 : docsOfRepo(shards[index]!).docStart));
  const tableOf = (doc: number) => table.shards[indexes[made!.sources[doc]!]!]!;
  const formerId = (doc: number): number => docIds[doc]! - starts[made!.sources[doc]!]!;
  const unstored = Array.from({ length: docCount }, (_, docId) => ({
    docId,
    oid: tableOf(docId).unstoredOid(formerId(docId)),
  })).filter((row): row is { docId: number; oid: string } => row.oid !== undefined);
  const kept = ([index, shard]: readonly [number, CatalogShard]) => ({
    docCount: docCountOf(shard),
    unstored: table.shards[index]!.unstoredDocs(),
  });
  const writer = new RevisionWriter([
    ...before.map(kept),
    ...(made === undefined ? [] : [{ docCount, unstored }]),
    ...behind.map(kept),
  ]);
  const yielder = new LoopYielder();
  for (let revision = 0; revision < table.revisionCount; revision++) {
    const liveSets = indexes.map((index) =>
      index < 0 ? 'none' : table.shards[index]!.docsIn([revision]),
    );
    const bitmap = new Uint8Array(bitmapSizeOf(docCount));
    for (let doc = 0; doc < docCount; doc++) {
      await yielder.pause();
      if (containsDoc(liveSets[made!.sources[doc]!]!, formerId(doc))) setBit(bitmap, doc);
    }
    const coded = ([index]: readonly [number, CatalogShard]) =>
      table.shards[index]!.sets[revision]!;
    const own = made === undefined ? [] : [encodeSet(bitmap, docCount)];
    writer.addCoded([...before.map(coded), ...own, ...behind.map(coded)]);
  }
  return writer.bytes();
}
