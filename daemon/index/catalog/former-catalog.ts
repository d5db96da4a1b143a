// The catalog as a JSON file: in backups, and in data directories of earlier versions. Those appended changes to
// `catalog.changes`, a line each, with a checksum over that of the line before, the first one over that of the file.

import { hash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { z } from 'zod';
import { FORMAT_VERSION } from '../../../core/shared/format.ts';
import { systemCodeOf } from '../../base/caught.ts';
import { NoFileError, readOwnSoon } from '../../base/own-file.ts';
import { CatalogError } from '../../store/index-tables.ts';
import {
  applyChange,
  type CatalogRepo,
  catalogSchema,
  type CatalogState,
  changeSchema,
} from './catalog-records.ts';

export const CATALOG_FILE = 'catalog.json';
const CHANGES_FILE = 'catalog.changes';

/** Files of earlier versions that the tables replace, and those that nothing reads any more. */
const FORMER_FILES: readonly string[] = [
  CHANGES_FILE,
  'catalog.last.changes',
  'catalog.last.json',
  'quarantine.json',
  'integrity.json',
  'store.db.sealed',
  CATALOG_FILE,
];

export function encodeCatalog(repos: readonly CatalogRepo[]): string {
  return `${JSON.stringify({ formatVersion: FORMAT_VERSION, repos }, null, 1)}\n`;
}

/** Undefined: there is no such file. Changes after a damaged one are ignored. Errors: CatalogError. */
export async function readFormerCatalog(dataDir: string): Promise<CatalogState | undefined> {
  const file = path.join(dataDir, CATALOG_FILE);
  const text = await textOf(file);
  if (text === undefined) return undefined;
  const json: Record<string, unknown> = Object(parseJson(text) ?? { isJson: false });
  if (json['isJson'] === false) throw new CatalogError(`${file} is damaged: it is not JSON`);
  const { checksum, state = json } = json;
  const { data, error } = catalogSchema.safeParse(state);
  if (data === undefined) throw new CatalogError(`${file} is damaged: ${issueOf(error)}`);
  if (checksum === undefined) return data;
  if (checksum !== sha256(JSON.stringify(state)))
    throw new CatalogError(`${file} is damaged: its checksum is wrong`);
  const lines = (await textOf(path.join(dataDir, CHANGES_FILE))) ?? '';
  return withChanges(data, checksum, lines.split('\n'));
}

function withChanges(state: CatalogState, checksum: string, lines: readonly string[]) {
  const repos = new Map(state.repos.map((repo) => [repo.record.repoId, repo]));
  let before = checksum;
  for (const line of lines) {
    const { checksum: own, change }: Record<string, unknown> = Object(parseJson(line));
    const { data } = changeSchema.safeParse(change);
    if (data === undefined || own !== sha256(`${before}\n${JSON.stringify(change)}`)) break;
    applyChange(repos, data);
    before = own;
  }
  return { ...state, repos: [...repos.values()] };
}

/** The catalog itself last: while it is there, the rest belongs to it. */
export async function removeFormerFiles(dataDir: string): Promise<void> {
  for (const name of FORMER_FILES)
    await rm(path.join(dataDir, name), { force: true, recursive: true });
}

/** Undefined: no such file. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    return (await readOwnSoon(file)).toString();
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    if (error instanceof NoFileError) throw new CatalogError(error.message, error);
    throw error;
  }
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The first problem, in words. */
function issueOf({ issues: [issue] }: z.ZodError): string {
  const field = issue?.path.join('.') ?? '';
  return `${field === '' ? '' : `${field}: `}${issue?.message ?? 'it is not a catalog'}`;
}
