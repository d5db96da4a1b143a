// The catalog as a JSON file: in backups, and in data directories of earlier versions.

import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { z } from 'zod';
import { FORMAT_VERSION } from '../../../core/shared/format.ts';
import { systemCodeOf } from '../../base/caught.ts';
import { NoFileError, readOwnSoon } from '../../base/own-file.ts';
import { CatalogError } from '../../store/index-tables.ts';
import { type CatalogRepo, catalogSchema, type CatalogState } from './catalog-records.ts';

export const CATALOG_FILE = 'catalog.json';

export function encodeCatalog(repos: readonly CatalogRepo[]): string {
  return `${JSON.stringify({ formatVersion: FORMAT_VERSION, repos }, null, 1)}\n`;
}

/** Undefined: there is no such file. Errors: CatalogError. */
export async function readFormerCatalog(dataDir: string): Promise<CatalogState | undefined> {
  const file = path.join(dataDir, CATALOG_FILE);
  const text = await textOf(file);
  if (text === undefined) return undefined;
  const { data, error } = catalogSchema.safeParse(parseJson(text, file));
  if (data === undefined) throw new CatalogError(`${file} is damaged: ${issueOf(error)}`);
  return data;
}

export async function removeFormerCatalog(dataDir: string): Promise<void> {
  await rm(path.join(dataDir, CATALOG_FILE), { force: true });
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

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CatalogError(`${file} is damaged: it is not JSON`);
  }
}

/** The first problem, in words. */
function issueOf({ issues: [issue] }: z.ZodError): string {
  const field = issue?.path.join('.') ?? '';
  return `${field === '' ? '' : `${field}: `}${issue?.message ?? 'it is not a catalog'}`;
}
