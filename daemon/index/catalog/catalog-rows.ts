// The catalog as entries of the index file: a repo each, as JSON with the version of its shards' format and the form of
// its members, and a few states by name.

import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { INDEX_FILE } from '../../store/embedded.ts';
import { IndexWriter, readIndex } from '../../store/index-tables.ts';
import { type CatalogRepo, repoSchema } from './catalog-records.ts';
import { CATALOG_FILE, readFormerCatalog, removeFormerCatalog } from './former-catalog.ts';

/** Shards out of service, and the progress of the check in the background. */
const STATE_NAMES = ['quarantine', 'integrity'] as const;
export type StateName = (typeof STATE_NAMES)[number];

interface StoredRepo {
  readonly repo: CatalogRepo;
  /** Of its shards. */
  readonly formatVersion: number;
}

interface LoadedRows {
  readonly repos: readonly StoredRepo[];
  readonly states: Map<StateName, string>;
  /** Ids of repos with damaged entries, which stay until they are replaced. */
  readonly damaged: readonly number[];
  /** Of the owner. */
  readonly writer: IndexWriter | undefined;
}

/** Reads the index file, or the files of an earlier version, which the owner migrates. Errors: CatalogError; NOT_READY. */
export async function loadRows(dataDir: string, isOwner: boolean): Promise<LoadedRows> {
  const { texts, damaged } = readIndex(dataDir, isOwner);
  const broken = new Set(damaged);
  const repos: StoredRepo[] = [];
  const states = new Map<StateName, string>();
  for (const [key, text] of texts) {
    const repo = repoIn(text);
    if (isState(key)) states.set(key, text);
    else if (repo !== undefined) repos.push(repo);
    else broken.add(key);
  }
  const isEmpty = repos.length === 0 && broken.size === 0;
  const former = isEmpty ? await readFormerCatalog(dataDir) : undefined;
  for (const repo of former?.repos ?? [])
    repos.push({ repo, formatVersion: former!.formatVersion });
  const writer = isOwner ? new IndexWriter(dataDir) : undefined;
  if (former !== undefined) await writer?.change(repos.map(entryOf), []);
  if (isOwner) await removeFormerCatalog(dataDir);
  const ids = [...broken].filter((key) => !isState(key)).map(Number);
  return { repos, states, damaged: ids, writer };
}

/** Moves the files aside: one of them is damaged. Returns their new paths. */
export async function putAway(dataDir: string): Promise<string[]> {
  const locations: string[] = [];
  for (const name of [INDEX_FILE, CATALOG_FILE]) {
    const file = path.join(dataDir, name);
    if (!existsSync(file)) continue;
    const location = `${file}.damaged`;
    await rm(location, { force: true, recursive: true });
    // Safety: SQLite would apply a journal that is left behind to the next file.
    await rm(`${file}-journal`, { force: true });
    await rename(file, location);
    locations.push(location);
  }
  return locations;
}

function isState(key: string): key is StateName {
  const names: readonly string[] = STATE_NAMES;
  return names.includes(key);
}

export function entryOf({ repo, formatVersion }: StoredRepo): [key: string, text: string] {
  const text = JSON.stringify({ form: repoForm(), formatVersion, repo });
  return [String(repo.record.repoId), text];
}

let form: string | undefined;

/**
 * Distinguishes this version's rows from those of other versions. A row of this form is not validated member by member:
 * that took an eighth of a start with 5,000 repositories.
 */
function repoForm(): string {
  return (form ??= hash('sha256', JSON.stringify(z.toJSONSchema(repoSchema)), 'hex').slice(0, 16));
}

const rowSchema = z.strictObject({
  form: z.string(),
  formatVersion: z.number(),
  repo: repoSchema,
});

/** Undefined: another version wrote it, and this one does not know all of its members. */
function repoIn(text: string): StoredRepo | undefined {
  const row: z.infer<typeof rowSchema> = JSON.parse(text);
  return row.form === repoForm() ? row : rowSchema.safeParse(row).data;
}
