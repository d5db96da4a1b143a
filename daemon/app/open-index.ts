// Opens and reconciles catalog and store for the owner of a data directory; for others only the catalog.

import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { systemCodeOf } from '../base/caught.ts';
import { readOwn, writeOwn } from '../base/own-file.ts';
import { Catalog } from '../index/catalog/catalog.ts';
import { CatalogError } from '../store/index-tables.ts';
import { ANSWER_MS_MAX, openStore, type Store } from '../store/store.ts';
import { openCatalog } from '../index/register/open-catalog.ts';
import { RepoRegistry } from '../index/register/registry.ts';
import type { Log } from '../base/log.ts';
import { ruleChanges } from './rule-changes.ts';

export interface Index {
  readonly catalog: Catalog;
  readonly store: Store;
  readonly registry: RepoRegistry;
  /** Identifies this data directory among those that share the store: each has its own jobs. */
  readonly instanceId: string;
  readonly close: () => Promise<void>;
}

/** File of a data directory. */
const INSTANCE_FILE = 'instance';

/**
 * The data directory must exist and be locked.
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
  const catalog = new Catalog(dataDir);
  const close = async (): Promise<void> => {
    await catalog.close();
    await store.close();
  };
  try {
    const registry = await RepoRegistry.open(store.repos, log, ruleChanges(log));
    await openCatalog(catalog, registry, store.kind === 'embedded', log);
    const instanceId = store.kind === 'embedded' ? 'embedded' : instanceIdOf(dataDir);
    return { catalog, store, registry, instanceId, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Created on first use. */
function instanceIdOf(dataDir: string): string {
  const file = path.join(dataDir, INSTANCE_FILE);
  try {
    return readOwn(file).toString().trim();
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
    const id = randomUUID();
    writeOwn(file, `${id}\n`, { mode: 0o600 });
    return id;
  }
}

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
