// Reads the catalog without owning the data directory.

import { Catalog } from '../index/catalog/catalog.ts';
import { CatalogError } from '../store/index-tables.ts';

/** The catalog of a data directory that another process may own. Errors: CatalogError. */
export async function readCatalog(dataDir: string): Promise<Catalog> {
  const catalog = new Catalog(dataDir);
  try {
    await catalog.load();
    return catalog;
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    const message = `${error.message}; "trawl index --data-dir ${dataDir}" builds the index again`;
    throw new CatalogError(message, error);
  }
}
