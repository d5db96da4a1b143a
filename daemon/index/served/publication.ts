// Puts finished files into service in a fixed order, so that nothing published is lost and no unnamed file stays:
// 1. The files get their final names, synced, and are protected from removal.
// 2. One catalog change names them, on disk first. After a kill before it the next start removes them.
// 3. Failures of replaced files are cleared: a shard rebuilt from the same docs has its old id.
// 4. Searches see the new catalog.
// 5. The old files are removed, those of running searches when these end.
// 6. In any case the protection ends, and unnamed files are removed.

import type { FinishedShard } from '../../engine/build/shard-file.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type {
  CatalogChange,
  CatalogRepo,
  CatalogShard,
  CatalogSymbols,
} from '../catalog/catalog-records.ts';
import type { Served } from './served.ts';

interface Parts {
  readonly catalog: Catalog;
  readonly served: Served;
}

type MadeShard = Pick<FinishedShard, 'fileId' | 'size' | 'docCount' | 'contentSize' | 'hashSize'>;

/**
 * Runs work that publishes files; afterwards removes those that the catalog does not name.
 * @param made  finished files in the shard folder
 * Errors: those of the work.
 */
export async function publishing<Result>(
  options: Parts,
  made: readonly string[],
  work: (publication: Publication) => Promise<Result>,
): Promise<Result> {
  const files = [...made];
  try {
    return await work(new Publication(options, files));
  } finally {
    await options.catalog.unpin(files).catch(() => {});
  }
}

/** Files being published. Errors of all methods: of the disk. */
export class Publication {
  readonly #options: Parts;
  /** Their temporary and final paths. */
  readonly #files: string[];

  /** @param files  collects the paths of added files */
  constructor(options: Parts, files: string[]) {
    this.#options = options;
    this.#files = files;
  }

  async addShard(
    file: string,
    { fileId: shardId, size, docCount, contentSize, hashSize }: MadeShard,
  ): Promise<CatalogShard> {
    const { catalog } = this.#options;
    await catalog.adoptShard(file, shardId);
    this.#files.push(catalog.shardPath(shardId));
    return { shardId, size, docCount, contentSize, hashSize };
  }

  async addSymbols(file: string, { symbolsId }: CatalogSymbols): Promise<void> {
    const { catalog } = this.#options;
    await catalog.adoptSymbols(file, symbolsId);
    this.#files.push(catalog.symbolsPath(symbolsId));
  }

  /** Returns the id of the file. */
  async addRevisions(bytes: Buffer): Promise<string> {
    const { catalog } = this.#options;
    const revisionFile = await catalog.writeRevisions(bytes);
    this.#files.push(catalog.revisionPath(revisionFile));
    return revisionFile;
  }

  /**
   * Changes the catalog, makes it visible, and removes files that are no longer named.
   * @param changeOf  returns the change when its turn comes
   * @param forget  clears failures of replaced files; not called without a change
   */
  async commit(
    changeOf: () => CatalogChange,
    forget: (former: readonly CatalogRepo[]) => void,
  ): Promise<void> {
    const { catalog, served } = this.#options;
    const former = await catalog.commit(changeOf);
    if (former.length === 0) return;
    forget(former);
    served.publishChanges();
    await catalog.removeFilesOf(former);
  }
}
