// The shards of the catalog with the repos that have docs in them: the live docs of each, and the next merge.

import { containsDoc } from '../../engine/shards/bits.ts';
import type { Catalog } from '../catalog/catalog.ts';
import {
  type CatalogRepo,
  type CatalogShard,
  docCountOf,
  docsOfRepo,
  indexIn,
} from '../catalog/catalog-records.ts';
import { type MergeCandidate, type MergeLimits, planMerge } from './merge-plan.ts';

/** A shard and the repos that have docs in it. */
export interface Holding {
  readonly shard: CatalogShard;
  readonly repos: readonly CatalogRepo[];
}

interface Kept {
  readonly holding: Holding;
  /** Sort key: the ordinal of its first repo, then that repo's shard order. */
  readonly ordinal: number;
  readonly index: number;
  /** Undefined: not computed yet, or unknown. */
  living: Living | undefined;
}

interface Living extends Omit<MergeCandidate, 'restMs'> {
  /** When a job last changed its repo, in ms; undefined: several repos. */
  readonly changedAt: number | undefined;
}

/** All shards of a catalog, updated with it: finding the next merge costs only what changed. */
export class Holdings {
  readonly #catalog: Catalog;
  readonly #kept = new Map<string, Kept>();
  /** ShardIds that must be recomputed. */
  readonly #changed = new Set<string>();

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
    this.#note(catalog.repos);
    catalog.follow((former, put) => {
      this.#note(former);
      this.#note(put);
    });
  }

  #note(repos: readonly CatalogRepo[]): void {
    for (const { shards } of repos) for (const { shardId } of shards) this.#changed.add(shardId);
  }

  /** In the order of the repos. */
  get all(): Holding[] {
    return this.#current().map(({ holding }) => holding);
  }

  /** Undefined: no such shard. */
  byId(shardId: string): Holding | undefined {
    return this.#kept.get(shardId)?.holding;
  }

  #current(): Kept[] {
    for (const shardId of this.#changed) this.#recount(shardId);
    this.#changed.clear();
    return [...this.#kept.values()].sort((a, b) => a.ordinal - b.ordinal || a.index - b.index);
  }

  #recount(shardId: string): void {
    const repos = this.#catalog.reposOfShard(shardId);
    const [first] = repos;
    if (first === undefined) {
      this.#kept.delete(shardId);
      return;
    }
    const index = indexIn(first, shardId);
    const ordinal = this.#catalog.ordinalOf(first.record.repoId);
    const holding = { shard: first.shards[index]!, repos };
    this.#kept.set(shardId, { holding, ordinal, index, living: undefined });
  }

  /** The shard as a merge candidate; undefined: a revision file is damaged, so the live docs are unknown. */
  candidateOf({ shard: { shardId } }: Holding): MergeCandidate | undefined {
    const kept = this.#kept.get(shardId)!;
    const living = (kept.living ??= livingOf(this.#catalog, kept.holding));
    if (living === undefined) return undefined;
    const { changedAt, ...rest } = living;
    // Absolute: a clock that was ahead delays a merge no longer than it was ahead.
    return { ...rest, restMs: changedAt === undefined ? 0 : Math.abs(Date.now() - changedAt) };
  }

  /** The shards to merge now; undefined: none. @param isMergeable  by shardId: false excludes a shard */
  nextMerge(
    isMergeable: (shardId: string) => boolean,
    limits: MergeLimits,
  ): readonly MergeCandidate[] | undefined {
    const candidates = this.all
      .filter(({ shard }) => isMergeable(shard.shardId))
      .flatMap((holding) => this.candidateOf(holding) ?? []);
    return planMerge(candidates, limits);
  }
}

function livingOf(catalog: Catalog, { shard, repos }: Holding): Living | undefined {
  const { shardId, size, docCount, contentSize, symbols, hashSize } = shard;
  let liveCount = 0;
  for (const repo of repos) {
    const table = catalog.revisionsOf(repo);
    if (table instanceof Error) return undefined;
    const index = indexIn(repo, shardId);
    liveCount += table?.shards[index]!.liveCount ?? docCountOf(repo.shards[index]!);
  }
  const isOpen = repos.every(({ record }) => record.enforcement === undefined);
  const kind = [isOpen ? 'open' : 'closed', hashSize, symbols?.foundBy ?? ''].join(' ');
  const liveSize = docCount === 0 ? 0 : (contentSize * liveCount) / docCount;
  const only = repos.length === 1 ? repos[0]!.record : undefined;
  const changedAt = only?.indexedAt === undefined ? undefined : Date.parse(only.indexedAt);
  const fileSize = size + (symbols?.size ?? 0);
  const repoId = only?.repoId;
  return { shardId, kind, fileSize, docCount, liveCount, liveSize, repoId, changedAt };
}

/** A repo's docs in the shard that some revision has. */
export function liveDocsOf(catalog: Catalog, repo: CatalogRepo, shardId: string): Uint32Array {
  const index = indexIn(repo, shardId);
  const { docStart, docEnd } = docsOfRepo(repo.shards[index]!);
  const all = Uint32Array.from({ length: docEnd - docStart }, (_, i) => docStart + i);
  const table = catalog.revisionsOf(repo);
  if (table === undefined || table instanceof Error) return all;
  const live = table.shards[index]!.liveDocs;
  return all.filter((docId) => containsDoc(live, docId - docStart));
}
