// Catalog and store of a data directory, opened and brought together; for its owner, and the catalog alone for others.

import { Catalog } from './sync/catalog.ts';
import { CatalogError } from './sync/catalog-files.ts';
import { ANSWER_MS_MAX, openStore, type Store } from './accounts/store/store.ts';
import { openCatalog } from './sync/open-catalog.ts';
import { RepoRegister } from './sync/register.ts';
import type { Log } from './base/log.ts';

export interface Index {
  readonly catalog: Catalog;
  readonly store: Store;
  readonly register: RepoRegister;
}

/**
 * The data directory must be there, and locked.
 *
 * @param databaseUrl  undefined: the embedded store
 *
 * Errors: NOT_READY; CatalogError.
 */
export async function openIndex(
  dataDir: string,
  databaseUrl: string | undefined,
  log: Log,
): Promise<Index> {
  const store = await openStore({ dataDir, databaseUrl, log, answerMsMax: ANSWER_MS_MAX });
  try {
    const catalog = new Catalog(dataDir);
    const register = await RepoRegister.open(store.repos, log);
    await openCatalog(catalog, register, store.kind === 'embedded', log);
    return { catalog, store, register };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The catalog of a data directory that somebody else may own. Errors: CatalogError. */
export async function readCatalog(dataDir: string): Promise<Catalog> {
  const catalog = new Catalog(dataDir);
  try {
    await catalog.load();
    return catalog;
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    const message = `${error.message}; "trawl index --data-dir ${dataDir}" builds the index again`;
    throw new CatalogError(message, { cause: error });
  }
}
