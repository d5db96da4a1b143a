// The catalog as entries of the index file: a repo each, as JSON with the version of its shards' format and the form of
// its members, and the shards out of service.

import { promises } from 'node:fs';
import path from 'node:path';
import { FORMAT_VERSION } from '../../../core/shared/format.ts';
import { INDEX_FILE } from '../../store/sqlite.ts';
import { IndexWriter, readIndex } from '../../store/index-tables.ts';
import type { CatalogRepo, CatalogState } from './catalog-records.ts';

/** Key of the shards out of service. */
export const QUARANTINE_KEY = 'quarantine';
/** Of a repo: its id. Others than these two are ignored. */
const REPO_KEY = /^\d+$/;

interface StoredRepo {
  readonly repo: CatalogRepo;
  /** Of its shards. */
  readonly formatVersion: number;
}

interface LoadedRows {
  readonly repos: readonly StoredRepo[];
  /** Shards out of service, as text. */
  readonly quarantine: string | undefined;
  /** Ids of repos with damaged entries, which stay until they are replaced. */
  readonly damaged: readonly number[];
  /** Of the owner. */
  readonly writer: IndexWriter | undefined;
}

/** Reads the index file. Errors: CatalogError; NOT_READY. */
export async function loadRows(dataDir: string, isOwner: boolean): Promise<LoadedRows> {
  const { texts, damaged } = readIndex(dataDir, isOwner);
  const broken = new Set(damaged);
  const repos: StoredRepo[] = [];
  for (const [key, text] of texts) {
    if (!REPO_KEY.test(key)) continue;
    const repo = await repoIn(text);
    if (repo !== undefined) repos.push(repo);
    else broken.add(key);
  }
  const writer = isOwner ? new IndexWriter(dataDir) : undefined;
  const ids = [...broken].filter((key) => REPO_KEY.test(key)).map(Number);
  return { repos, quarantine: texts.get(QUARANTINE_KEY), damaged: ids, writer };
}

/** The catalog in a backup. */
export function encodeCatalog(repos: CatalogState['repos']): string {
  return JSON.stringify({ formatVersion: FORMAT_VERSION, repos } satisfies CatalogState);
}

/** Writes the index file of a backup into an empty folder. */
export async function restoreRows(
  folder: string,
  { repos, formatVersion }: CatalogState,
): Promise<void> {
  readIndex(folder, true);
  const writer = new IndexWriter(folder);
  await writer.change(
    repos.map((repo) => entryOf({ repo, formatVersion })),
    [],
  );
  writer.close();
}

/** Moves the damaged file aside. Returns its new path. */
export async function putAway(dataDir: string): Promise<string> {
  const file = path.join(dataDir, INDEX_FILE);
  const location = `${file}.damaged`;
  await promises.rm(location, { force: true, recursive: true });
  // Safety: SQLite would apply a journal that is left behind to the next file.
  await promises.rm(`${file}-journal`, { force: true });
  await promises.rename(file, location);
  return location;
}

export function entryOf({ repo, formatVersion }: StoredRepo): [key: string, text: string] {
  const text = JSON.stringify({ form: FORM, formatVersion, repo });
  return [String(repo.record.repoId), text];
}

/**
 * Distinguishes this version's rows from those of other versions: made of their JSON schema, as a test has it. A row of this form
 * is not validated member by member: that took an eighth of a start with 5,000 repositories.
 */
export const FORM = 'f6c9dac8e82c0522';

/** Undefined: another version wrote it, and this one does not know all of its members. */
async function repoIn(text: string): Promise<StoredRepo | undefined> {
  const row: StoredRepo & { readonly form?: unknown } = JSON.parse(text);
  if (row.form === FORM) return row;
  const { rowSchema } = await import('./catalog-schemas.ts');
  return rowSchema.safeParse(row).data;
}
