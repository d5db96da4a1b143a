// The shards of the catalog with the repos that have docs in them: what of each lives, and which are merged next. For the
// merger, and for people who want to know what it would do.

import { holdsDoc } from '../../engine/shards/bits.ts';
import type { Catalog } from '../catalog/catalog.ts';
import {
  type CatalogRepo,
  type CatalogShard,
  docCountOf,
  docsOfRepo,
} from '../catalog/catalog-records.ts';
import { type MergeCandidate, type MergeLimits, planMerge } from './merge-plan.ts';

/** A shard and the repos that have docs in it. */
export interface Holding {
  readonly shard: CatalogShard;
  readonly repos: readonly CatalogRepo[];
}

/** All shards by shardId, in the order of the repos. */
export function holdingsOf(catalog: Catalog): Map<string, Holding> {
  const holdings = new Map<string, { shard: CatalogShard; repos: CatalogRepo[] }>();
  for (const repo of catalog.repos)
    for (const shard of repo.shards) {
      const known = holdings.get(shard.shardId);
      if (known === undefined) holdings.set(shard.shardId, { shard, repos: [repo] });
      else known.repos.push(repo);
    }
  return holdings;
}

/** What merging a shard would be; undefined: as a revision file is damaged, it is not known which docs live. */
export function candidateOf(
  catalog: Catalog,
  { shard, repos }: Holding,
): MergeCandidate | undefined {
  const { shardId, size, docCount, contentSize, symbols, hashSize = hashSizeOf(repos) } = shard;
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
  // Without its sign: a clock that was ahead holds nothing up for longer than it was.
  const restMs =
    only?.indexedAt === undefined ? 0 : Math.abs(Date.now() - Date.parse(only.indexedAt));
  const fileSize = size + (symbols?.size ?? 0);
  return { shardId, kind, fileSize, docCount, liveCount, liveSize, repoId: only?.repoId, restMs };
}

/**
 * The shards to merge now; undefined: none.
 *
 * @param isMergeable  by shardId: others stay as they are
 */
export function nextMerge(
  catalog: Catalog,
  holdings: ReadonlyMap<string, Holding>,
  isMergeable: (shardId: string) => boolean,
  limits: MergeLimits,
): readonly MergeCandidate[] | undefined {
  const candidates = [...holdings.values()]
    .filter(({ shard }) => isMergeable(shard.shardId))
    .flatMap((holding) => candidateOf(catalog, holding) ?? []);
  return planMerge(candidates, limits);
}

/** Ids in the shard of the docs of a repo that any revision holds. */
export function liveDocsOf(catalog: Catalog, repo: CatalogRepo, shardId: string): Uint32Array {
  const index = indexIn(repo, shardId);
  const { docStart, docEnd } = docsOfRepo(repo.shards[index]!);
  const all = Uint32Array.from({ length: docEnd - docStart }, (_, i) => docStart + i);
  const table = catalog.revisionsOf(repo);
  if (table === undefined || table instanceof Error) return all;
  const live = table.shards[index]!.liveDocs;
  return all.filter((docId) => holdsDoc(live, docId - docStart));
}

function indexIn({ shards }: CatalogRepo, shardId: string): number {
  return shards.findIndex((one) => one.shardId === shardId);
}

/** Bytes of the blob ids of repos, as far as their commits tell. */
function hashSizeOf(repos: readonly CatalogRepo[]): number {
  const [commit] = repos.flatMap(({ commits = [] }) => commits.flatMap((one) => one ?? []));
  return (commit?.length ?? 40) / 2;
}
