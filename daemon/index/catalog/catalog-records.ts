// What the catalog keeps of repos and their shards, as it is written and checked when it is read.

import { z } from 'zod';
import { FILE_ID } from '../../base/file-hash.ts';
import { CODE_HOST_TYPES, ENFORCEMENTS, SOURCE_KINDS, VISIBILITIES } from '../../repos/records.ts';

const fileId = z.string().regex(new RegExp(`^${FILE_ID.source}$`));

const symbolsSchema = z.strictObject({
  symbolsId: fileId,
  size: z.number().int().positive(),
  symbolCount: z.number().int().nonnegative(),
  /** Files that symbols were looked for in, and those where that failed. */
  fileCount: z.number().int().nonnegative(),
  failedCount: z.number().int().nonnegative(),
  /** What found them: they are looked for again when that changes. */
  foundBy: z.string(),
});

const shardSchema = z.strictObject({
  shardId: fileId,
  size: z.number().int().positive(),
  docCount: z.number().int().nonnegative(),
  contentSize: z.number().int().nonnegative(),
  /** Bytes of the ids of its contents; absent: in older catalogs. */
  hashSize: z.number().int().positive().exactOptional(),
  /** The docs of the repo, and the bytes of their contents; absent: all are of this repo. */
  part: z
    .strictObject({
      docStart: z.number().int().nonnegative(),
      docEnd: z.number().int().nonnegative(),
      contentSize: z.number().int().nonnegative(),
    })
    .exactOptional(),
  /** The file with its symbols; absent: they are not known. */
  symbols: symbolsSchema.exactOptional(),
});

const recordSchema = z.strictObject({
  repoId: z.number().int().positive(),
  name: z.string(),
  codeHostType: z.enum(CODE_HOST_TYPES),
  displayName: z.string().exactOptional(),
  webUrl: z.string().exactOptional(),
  imageUrl: z.string().exactOptional(),
  topics: z.array(z.string()).readonly().exactOptional(),
  isFork: z.boolean(),
  isArchived: z.boolean(),
  visibility: z.enum(VISIBILITIES),
  enforcement: z.enum(ENFORCEMENTS).exclude(['none']).exactOptional(),
  within: z.array(z.number().int().positive()).readonly().exactOptional(),
  source: z.strictObject({
    kind: z.enum(SOURCE_KINDS),
    path: z.string(),
    commit: z.string().exactOptional(),
    noIgnore: z.literal(true).exactOptional(),
    ignore: z.array(z.string()).readonly().exactOptional(),
    reposApart: z.literal(true).exactOptional(),
  }),
  defaultRevision: z.string(),
  defaultBranch: z.string().exactOptional(),
  selection: z
    .strictObject({
      branches: z.array(z.string()).readonly(),
      tags: z.array(z.string()).readonly(),
    })
    .exactOptional(),
  revisions: z.array(z.string()).min(1).readonly().exactOptional(),
  indexedAt: z.string().exactOptional(),
  pushedAt: z.string().exactOptional(),
});

const repoSchema = z.strictObject({
  record: recordSchema,
  /** Says when the docs must be built again: source, settings and format in one text. */
  fingerprint: z.string().exactOptional(),
  /** What its refs and settings looked like then: while they do, a job asks no git. Absent: it has to. */
  look: z.string().exactOptional(),
  shards: z.array(shardSchema),
  /** The commits of its revisions, the default one first; null: files on disk, or nothing. */
  commits: z.array(z.string().nullable()).readonly().exactOptional(),
  /** The revision file; absent: one revision, which holds all docs. */
  revisionFile: fileId.exactOptional(),
  skipped: z.record(z.string(), z.number()),
  /** What rules leave out, by rule, and paths that are no docs, by reason. */
  ignored: z.record(z.string(), z.number()).exactOptional(),
  leftOut: z.record(z.string(), z.number()).exactOptional(),
  /** Its git, or what lies at its path, is of another source: nothing of it is shown until that is over. */
  isStray: z.literal(true).exactOptional(),
});

export const catalogSchema = z.strictObject({
  formatVersion: z.number(),
  /** Older catalogs gave out ids. */
  nextRepoId: z.number().int().positive().exactOptional(),
  repos: z.array(repoSchema),
});

export const changeSchema = z.strictObject({
  put: z.array(repoSchema).readonly().exactOptional(),
  removed: z.array(z.number().int()).readonly().exactOptional(),
});

export type CatalogSymbols = z.infer<typeof symbolsSchema>;
export type CatalogShard = z.infer<typeof shardSchema>;
export type CatalogRepo = z.infer<typeof repoSchema>;
export type CatalogState = z.infer<typeof catalogSchema>;

/** What becomes of repos. Those that are put are new, or take the place of what is known by their ids; ids that go. */
export type CatalogChange = z.infer<typeof changeSchema>;

/** A repo of which nothing says any more that its docs are up to date. */
export function withoutFingerprint(repo: CatalogRepo): CatalogRepo {
  const { fingerprint: _, look: __, ...rest } = repo;
  return rest;
}

/** Those of a shard's docs that are of the repo: from `docStart` to before `docEnd`. */
export function docsOfRepo({ docCount, part }: CatalogShard): { docStart: number; docEnd: number } {
  return { docStart: part?.docStart ?? 0, docEnd: part?.docEnd ?? docCount };
}

export function docCountOf(shard: CatalogShard): number {
  const { docStart, docEnd } = docsOfRepo(shard);
  return docEnd - docStart;
}

/** Which of a repo's shards has this id; -1: none. */
export function indexIn({ shards }: CatalogRepo, shardId: string): number {
  return shards.findIndex((one) => one.shardId === shardId);
}

/** Bytes of the contents of a repo in a shard, and of the file for them: a share, where others have docs in it. */
export function sizesOfRepo({ size, contentSize, part }: CatalogShard): {
  contentSize: number;
  shardSize: number;
} {
  if (part === undefined) return { contentSize, shardSize: size };
  const share = contentSize === 0 ? 0 : part.contentSize / contentSize;
  return { contentSize: part.contentSize, shardSize: Math.round(size * share) };
}

/**
 * The shards with the symbols that a repo has for those of the same id: symbols are found while a job or a merge goes on, and a
 * shard that is built again from the same docs has the same.
 */
export function withSymbolsOf(repo: CatalogRepo, shards: readonly CatalogShard[]): CatalogShard[] {
  const known = new Map(repo.shards.map(({ shardId, symbols }) => [shardId, symbols]));
  return shards.map((shard) => {
    const symbols = known.get(shard.shardId);
    return symbols === undefined ? shard : { ...shard, symbols };
  });
}

/** Does to repos by id what a change says. */
export function applyChange(
  repos: Map<number, CatalogRepo>,
  { put = [], removed = [] }: CatalogChange,
): void {
  for (const repoId of removed) repos.delete(repoId);
  for (const repo of put) repos.set(repo.record.repoId, repo);
}
