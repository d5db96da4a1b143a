// The existing index of a repo from the catalog, for builds that add to it.

import type { IndexedState } from '../../engine/build/indexed-docs.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { type CatalogRepo, docCountOf, docsOfRepo } from '../catalog/catalog-records.ts';

/** Undefined: the docs of its revisions are unknown. */
export function indexedStateOf(catalog: Catalog, repo: CatalogRepo): IndexedState | undefined {
  const { record, shards, commits, ignored = {}, leftOut: excluded = {} } = repo;
  const table = catalog.revisionsOf(repo);
  if (commits === undefined || table instanceof Error) return undefined;
  const names = record.revisions ?? [record.defaultRevision];
  return {
    shards: shards.map((shard) => ({
      shardId: shard.shardId,
      size: shard.size,
      path: catalog.shardPath(shard.shardId),
      docStart: docsOfRepo(shard).docStart,
      docCount: docCountOf(shard),
      isShared: shard.part !== undefined,
    })),
    table,
    revisions: names.map((name, index) => ({ name, commit: commits[index] ?? undefined })),
    ignored,
    excluded,
  };
}
