// The records of the catalog: repos and their shards. Written as JSON; catalog-schemas.ts has their form.

import { omitUndefined } from '../../base/omit-undefined.ts';
import type { CatalogRepo, CatalogShard, CatalogState, CatalogSymbols } from './catalog-schemas.ts';

export type { CatalogRepo, CatalogShard, CatalogState, CatalogSymbols };

/** A change of repos: new or replaced records by id, and removed ids. */
export interface CatalogChange {
  readonly put?: readonly CatalogRepo[];
  readonly removed?: readonly number[];
}

/** A copy whose docs count as out of date. */
export function withoutFingerprint(repo: CatalogRepo): CatalogRepo {
  const { fingerprint: _, look: __, ...rest } = repo;
  return rest;
}

/** The repo's docs in a shard: from `docStart` to before `docEnd`. */
export function docsOfRepo({ docCount, part }: CatalogShard): { docStart: number; docEnd: number } {
  return { docStart: part?.docStart ?? 0, docEnd: part?.docEnd ?? docCount };
}

export function docCountOf(shard: CatalogShard): number {
  const { docStart, docEnd } = docsOfRepo(shard);
  return docEnd - docStart;
}

/** Index of the repo's shard with this id; -1: none. */
export function indexIn({ shards }: CatalogRepo, shardId: string): number {
  return shards.findIndex((one) => one.shardId === shardId);
}

/** A repo without shards, to be built. */
export function unbuilt({ record, isStray }: Pick<CatalogRepo, 'record' | 'isStray'>): CatalogRepo {
  const { indexedAt: _, revisions: __, ...rest } = record;
  return { record: rest, shards: [], skipped: {}, ...omitUndefined({ isStray }) };
}

/** Shards with the symbols that the repo has for the same shard ids: some may be found while a job or a merge runs. */
export function withSymbolsOf(repo: CatalogRepo, shards: readonly CatalogShard[]): CatalogShard[] {
  const existing = new Map(repo.shards.map(({ shardId, symbols }) => [shardId, symbols]));
  return shards.map((shard) => {
    const symbols = existing.get(shard.shardId);
    return symbols === undefined ? shard : { ...shard, symbols };
  });
}
