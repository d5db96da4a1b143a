// The format of a backup: a compressed tar of named members. The first describes it, the last lists the others with their
// checksums, so that a truncated or changed file is detected before anything of it is used.
//
//   backup.json           content, time and version; verifies the instance secret
//   store/000001.ndjson   rows of the store, in parts: the dump of daemon/store/, the same for both engines
//   catalog.json          the catalog; without the index its repos have no shards
//   sealed.json           instance secret and licence key, encrypted; only with a passphrase
//   shards/ID.shard       shards, revision files, symbols; only with the index
//   manifest.json         size and SHA-256 of all members before

import { z } from 'zod';
import { FILE_ID } from '../base/file-hash.ts';

export const FORMAT_KIND = 'trawl-backup';
export const BACKUP_FORMAT_VERSION = 1;

export const HEADER_MEMBER = 'backup.json';
export const CATALOG_MEMBER = 'catalog.json';
export const SEALED_MEMBER = 'sealed.json';
export const MANIFEST_MEMBER = 'manifest.json';
export const STORE_FOLDER = 'store';

/** Names that a member may have. */
export const MEMBER_NAME = new RegExp(
  String.raw`^(?:(?:backup|catalog|sealed|manifest)\.json|store/[0-9]{6}\.ndjson|` +
    String.raw`shards/${FILE_ID.source}\.(?:shard|revisions|tags))$`,
);

const base64 = z.base64();

export const headerSchema = z.object({
  kind: z.literal(FORMAT_KIND),
  formatVersion: z.int(),
  productVersion: z.string(),
  /** ISO 8601. */
  createdAt: z.iso.datetime(),
  hasIndex: z.boolean(),
  /** Verifies the instance secret without revealing it. */
  secretCheck: z.object({ salt: base64, hash: base64 }),
});

export type BackupHeader = z.infer<typeof headerSchema>;

export const manifestSchema = z.object({
  members: z.array(
    z.object({
      name: z.string(),
      size: z.int().min(0),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
});

export type Manifest = z.infer<typeof manifestSchema>;

/** The content of `sealed.json`. */
export const secretsSchema = z.object({
  secret: z.string(),
  /** Secret settings, by name. */
  settings: z.record(z.string(), z.string()),
});

export type Secrets = z.infer<typeof secretsSchema>;

/** A backup cannot be created or used; the message says why, and what was not changed. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
  readonly errorCode = 'INVALID_REQUEST_BODY';
}
