// The schemas of the catalog's records. Only records that another version wrote are validated: a search loads none of this.

import { z } from 'zod';
import { FILE_ID } from '../../base/file-hash.ts';
import { CODE_HOST_TYPES, ENFORCEMENTS, SOURCE_KINDS, VISIBILITIES } from '../../repos/records.ts';

const fileId = z.string().regex(new RegExp(`^${FILE_ID.source}$`));

const symbolsSchema = z.strictObject({
  symbolsId: fileId,
  size: z.number().int().positive(),
  symbolCount: z.number().int().nonnegative(),
  /** Files searched for symbols, and those where that failed. */
  fileCount: z.number().int().nonnegative(),
  failedCount: z.number().int().nonnegative(),
  /** The symbol engine: a change of it makes symbols be found again. */
  foundBy: z.string(),
});

const shardSchema = z.strictObject({
  shardId: fileId,
  size: z.number().int().positive(),
  docCount: z.number().int().nonnegative(),
  contentSize: z.number().int().nonnegative(),
  /** Bytes of a content id. */
  hashSize: z.number().int().positive(),
  /** The repo's docs in the shard, and the bytes of their contents; absent: all docs are of this repo. */
  part: z
    .strictObject({
      docStart: z.number().int().nonnegative(),
      docEnd: z.number().int().nonnegative(),
      contentSize: z.number().int().nonnegative(),
    })
    .exactOptional(),
  /** The file with its symbols; absent: not found yet. */
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

export const repoSchema = z.strictObject({
  record: recordSchema,
  /** Source, settings and format in one text: the docs are built again when it changes. */
  fingerprint: z.string().exactOptional(),
  /** The refs and settings at the last build. While they are the same a job runs no git. Absent: it must. */
  look: z.string().exactOptional(),
  /** The refs and settings at the last probe, and its mode. While they are the same a start runs no git. Absent: it must. */
  probed: z.string().exactOptional(),
  shards: z.array(shardSchema),
  /** The commits of its revisions, the default one first; null: files on disk, or no commit. */
  commits: z.array(z.string().nullable()).readonly().exactOptional(),
  /** The revision file; absent: one revision, which has all docs. */
  revisionFile: fileId.exactOptional(),
  skipped: z.record(z.string(), z.number()),
  /** Files excluded by rules, per rule, and paths that are no docs, per reason. */
  ignored: z.record(z.string(), z.number()).exactOptional(),
  leftOut: z.record(z.string(), z.number()).exactOptional(),
  /** Its git or its path belongs to another source: the repo is hidden until that is fixed. */
  isStray: z.literal(true).exactOptional(),
});

/** The catalog in a backup. */
export const catalogSchema = z.strictObject({
  formatVersion: z.number(),
  repos: z.array(repoSchema).readonly(),
});

export type CatalogSymbols = z.infer<typeof symbolsSchema>;
export type CatalogShard = z.infer<typeof shardSchema>;
export type CatalogRepo = z.infer<typeof repoSchema>;
export type CatalogState = z.infer<typeof catalogSchema>;

export const rowSchema = z.strictObject({
  form: z.string(),
  formatVersion: z.number(),
  repo: repoSchema,
});
