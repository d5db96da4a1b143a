// The size of a repo's index: docs and bytes.

import { sumOf } from '../../base/lists.ts';
import { RevisionTable } from '../../engine/shards/revisions.ts';
import type { Catalog } from './catalog.ts';
import { type CatalogRepo, docCountOf, sizesOfRepo } from './catalog-records.ts';

export interface RepoSizes {
  /** Docs of any revision, and dead docs. */
  readonly docCount: number;
  readonly deadCount: number;
  /** Bytes of contents and of shards; its share of shared shards. */
  readonly contentSize: number;
  readonly shardSize: number;
}

/** Errors: none; if the revision file is damaged all docs count. */
export function repoSizes(catalog: Catalog, repo: CatalogRepo): RepoSizes {
  const { shards } = repo;
  const table = catalog.revisionsOf(repo);
  const storedCount = sumOf(shards, docCountOf);
  const docCount =
    table instanceof RevisionTable
      ? sumOf(table.shards, ({ liveCount }) => liveCount)
      : storedCount;
  return {
    docCount,
    deadCount: storedCount - docCount,
    contentSize: sumOf(shards, (shard) => sizesOfRepo(shard).contentSize),
    shardSize: sumOf(shards, (shard) => sizesOfRepo(shard).shardSize),
  };
}
