// Restores a backup into a data directory and its store. Everything is unpacked, verified and prepared in a staging
// folder, then replaces the old content in one step (index/catalog/data-dir.ts). A PostgreSQL store is filled in one
// transaction just before that step.

import { existsSync, readFileSync } from 'node:fs';
import { readFile, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { syncPath } from '../base/synced.ts';
import { CONTROL_FILES } from '../base/config/control-path.ts';
import { SECRET_FILE } from '../base/config/secrets.ts';
import { MIRROR_FOLDER } from '../index/catalog/catalog.ts';
import {
  type CatalogRepo,
  catalogSchema,
  type CatalogState,
} from '../index/catalog/catalog-schemas.ts';
import { restoreRows } from '../index/catalog/catalog-rows.ts';
import { isStampOf, readStamp, stampPath } from '../index/catalog/mirror-stamp.ts';
import {
  PLACING_FOLDERS,
  commitStaging,
  dropStaging,
  makeStaging,
  takeDataDir,
} from '../index/catalog/data-dir.ts';
import type { DumpPart } from '../store/dump.ts';
import { DumpError } from '../store/error.ts';
import type { StoredRepo } from '../store/repos.ts';
import { openStore } from '../store/store.ts';
import { messageOf } from '../base/caught.ts';
import type { Log } from '../base/log.ts';
import {
  BackupError,
  type BackupHeader,
  CATALOG_MEMBER,
  type Secrets,
  SEALED_MEMBER,
  STORE_FOLDER,
} from './format.ts';
import { type UnpackedBackup, unpackBackup } from './read.ts';
import { isRightSecret, unseal } from './seal.ts';

export interface RestoreOptions {
  /** Absolute path. */
  readonly dataDir: string;
  /** Undefined: the embedded store. */
  readonly databaseUrl: string | undefined;
  readonly file: string;
  /** Existing data may be replaced. */
  readonly isForced: boolean;
  readonly passphrase: string | undefined;
  /** A sealed backup may be restored without its instance secret. */
  readonly isSecretDropped: boolean;
  readonly secret: string | undefined;
  readonly log: Log;
}

export interface RestoreReport {
  /** ISO 8601, when the backup was made. */
  readonly createdAt: string;
  readonly repoCount: number;
  /** Of them those whose clones are not there: the daemon fetches them again. */
  readonly cloneCount: number;
  readonly userCount: number;
  readonly hasIndex: boolean;
  /** Names in the data directory that were replaced. */
  readonly replaced: readonly string[];
  /** The right instance secret is in place; otherwise all keys, tokens and sessions are void. */
  readonly hasSecret: boolean;
  /** The backup has secrets that were not decrypted. */
  readonly isSealed: boolean;
}

/** Names allowed in an empty data directory; the secret may be put there first. */
const NEUTRAL: readonly string[] = ['lock', '.gitignore', ...CONTROL_FILES, ...PLACING_FOLDERS];

/** Restores a backup. Errors: BackupError, LockedError, DumpError, NOT_READY; nothing is changed then. */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const { dataDir } = options;
  const isNew = !existsSync(dataDir);
  const unlock = await takeDataDir(dataDir, true);
  let isDone = false;
  try {
    const report = await restoreLocked(options);
    isDone = true;
    return report;
  } finally {
    await dropStaging(dataDir);
    if (isNew && !isDone) await rm(path.join(dataDir, '.gitignore'), { force: true });
    unlock();
    // It is not empty if another process was waiting for it.
    if (isNew && !isDone) await rmdir(dataDir).catch(() => {});
  }
}

async function restoreLocked(options: RestoreOptions): Promise<RestoreReport> {
  const { dataDir, file, isForced, databaseUrl } = options;
  const present = (await readdir(dataDir)).filter((name) => !NEUTRAL.includes(name));
  const occupied = present.filter((name) => name !== SECRET_FILE);
  if (occupied.length > 0 && !isForced)
    throw new BackupError(
      `${dataDir} is not empty: it contains ${occupied.join(', ')}; --force replaces its content`,
    );
  const staging = await makeStaging(dataDir);
  const unpacked = await unpackBackup(file, staging);
  const catalog = await readCatalog(staging, file);
  await restoreRows(staging, catalog);
  const secrets = await openSecrets(staging, unpacked, options);
  const hasSecret = await provideSecret(staging, unpacked.header, secrets, options);
  const isSealed = secrets === undefined && unpacked.names.includes(SEALED_MEMBER);
  if (isSealed && !hasSecret && !options.isSecretDropped)
    throw new BackupError(
      `${file} is sealed with a passphrase: without it all keys, tokens, sessions and links would be void; pass it ` +
        'with --passphrase-stdin or TRAWL_BACKUP_PASSPHRASE, or the instance secret with --secret-file; ' +
        '--without-passphrase restores the rest',
    );
  const { userCount, repos } = await fillStore(staging, unpacked, secrets, options);
  for (const name of ['backup.json', 'manifest.json', CATALOG_MEMBER, SEALED_MEMBER, STORE_FOLDER])
    await rm(path.join(staging, name), { recursive: true, force: true });
  const arriving = await readdir(staging);
  await commitStaging(dataDir);
  await removeForeignClones(dataDir, repos);
  return {
    createdAt: unpacked.header.createdAt,
    repoCount: catalog.repos.length,
    cloneCount: catalog.repos.filter((repo) => isHosted(repo) && !hasClone(dataDir, repo)).length,
    userCount,
    hasIndex: unpacked.header.hasIndex,
    replaced: [
      ...present.filter((name) => arriving.includes(name)),
      ...(isForced && databaseUrl !== undefined ? ['the PostgreSQL store'] : []),
    ],
    hasSecret,
    isSealed,
  };
}

async function readCatalog(staging: string, file: string): Promise<CatalogState> {
  const text = await readFile(path.join(staging, CATALOG_MEMBER), 'utf8');
  try {
    return catalogSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new BackupError(`${file} has a catalog that this version cannot read`, { cause: error });
  }
}

function isHosted({ record: { repoId, source } }: CatalogRepo): boolean {
  return source.path.endsWith(path.join(path.sep, MIRROR_FOLDER, `${repoId}.git`));
}

function hasClone(dataDir: string, { record: { repoId } }: CatalogRepo): boolean {
  return existsSync(path.join(dataDir, MIRROR_FOLDER, `${repoId}.git`));
}

/**
 * Removes clones that another instance left: until its next job a repo is read from the clone with its id. The others stay,
 * as their host may no longer have them.
 */
async function removeForeignClones(dataDir: string, repos: readonly StoredRepo[]): Promise<void> {
  const folder = path.join(dataDir, MIRROR_FOLDER);
  if (!existsSync(folder)) return;
  for (const { repoId, host } of repos) {
    if (host !== undefined && isStampOf(readStamp(folder, repoId), host)) continue;
    await rm(path.join(folder, `${repoId}.git`), { recursive: true, force: true });
    await rm(stampPath(folder, repoId), { force: true });
  }
}

/** Errors: BackupError for a wrong passphrase. */
async function openSecrets(
  staging: string,
  { names }: UnpackedBackup,
  { passphrase, file }: RestoreOptions,
): Promise<Secrets | undefined> {
  if (passphrase === undefined || !names.includes(SEALED_MEMBER)) return undefined;
  try {
    return await unseal(await readFile(path.join(staging, SEALED_MEMBER), 'utf8'), passphrase);
  } catch (error) {
    throw new BackupError(`${file}: ${messageOf(error)}`, { cause: error });
  }
}

/** Installs the instance secret if it is known, else returns false. Errors: BackupError if the given secret is wrong. */
async function provideSecret(
  staging: string,
  { secretCheck }: BackupHeader,
  secrets: Secrets | undefined,
  { dataDir, secret: newSecret, file }: RestoreOptions,
): Promise<boolean> {
  if (newSecret !== undefined && !(await isRightSecret(newSecret, secretCheck)))
    throw new BackupError(`${file} was made with a different instance secret`);
  const secret = newSecret ?? secrets?.secret ?? presentSecret(dataDir);
  if (secret === undefined || secret.length < 32) return false;
  if (!(await isRightSecret(secret, secretCheck))) return false;
  const target = path.join(staging, SECRET_FILE);
  await writeFile(target, `${secret}\n`, { mode: 0o600, flag: 'wx', flush: true });
  return true;
}

function presentSecret(dataDir: string): string | undefined {
  try {
    return readFileSync(path.join(dataDir, SECRET_FILE), 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Loads the rows into a new embedded store, or into PostgreSQL. Returns the number of users, and the repos. */
async function fillStore(
  staging: string,
  { names }: UnpackedBackup,
  secrets: Secrets | undefined,
  { databaseUrl, isForced, log, file }: RestoreOptions,
): Promise<{ readonly userCount: number; readonly repos: readonly StoredRepo[] }> {
  const store = await openStore({ dataDir: staging, databaseUrl, log });
  const members = names.filter((name) => name.startsWith(`${STORE_FOLDER}/`));
  const parts = readParts(
    file,
    members.map((name) => path.join(staging, name)),
    secrets,
  );
  let userCount: number;
  let repos: readonly StoredRepo[];
  try {
    await store.load(parts, { isReplacing: isForced });
    userCount = await store.users.count();
    ({ repos } = await store.repos.read());
  } catch (error) {
    if (error instanceof DumpError)
      throw new BackupError(`${file} is not restored: ${error.message}`);
    throw error;
  } finally {
    await store.close();
  }
  if (databaseUrl === undefined) await syncPath(path.join(staging, 'store.db'));
  return { userCount, repos };
}

const rowSchema = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));
const partSchema = z.object({ table: z.string(), rows: z.array(rowSchema) });

/** Why not readline: for it U+2028 ends a line too, from Node 24 on. @param file  for errors. Errors: BackupError. */
async function* readParts(
  file: string,
  members: readonly string[],
  secrets: Secrets | undefined,
): AsyncGenerator<DumpPart> {
  for (const member of members) {
    const text = await readFile(member, 'utf8');
    for (const line of text.split('\n')) if (line !== '') yield parsePart(line, file);
  }
  const settings = Object.entries(secrets?.settings ?? {});
  if (settings.length > 0)
    yield { table: 'settings', rows: settings.map(([name, value]) => ({ name, value })) };
}

function parsePart(line: string, file: string): DumpPart {
  try {
    return partSchema.parse(JSON.parse(line));
  } catch (error) {
    throw new BackupError(`${file} has rows that this version cannot read`, { cause: error });
  }
}
