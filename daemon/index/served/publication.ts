// Puts finished files into service, in one order for whoever made them, so that nothing published is lost and no file stays
// that nobody names:
//
// 1. The files get their names, synced. From here on they are kept for this publication, whoever removes the same ones.
// 2. One change of the catalog names them, on disk first. Killed before, the next start sweeps what nobody names; killed
//    behind, all that is named is there.
// 3. What was wrong with replaced files is forgotten. Why before 4: a shard built again from the same docs has its old id,
//    and would stay out of service.
// 4. Searches see what the catalog names.
// 5. The former files are removed. Why behind 4: a search that begins opens what it sees; those under way have them mapped.
// 6. Whatever happened, the files are let go: those that nobody names are removed, as the disk may be full. That this fails
//    is no failure of what was published.

import type { FinishedShard } from '../../engine/build/shard-file.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type {
  CatalogChange,
  CatalogRepo,
  CatalogShard,
  CatalogSymbols,
} from '../catalog/catalog-records.ts';
import type { Served } from './served.ts';

export interface PublicationOptions {
  readonly catalog: Catalog;
  readonly served: Served;
}

type MadeShard = Pick<FinishedShard, 'fileId' | 'size' | 'docCount' | 'contentSize' | 'hashSize'>;

/**
 * Runs work that publishes files; afterwards removes those that the catalog does not name.
 *
 * @param made  finished files in the shard folder
 *
 * Errors: those of the work.
 */
export async function publishing<Result>(
  options: PublicationOptions,
  made: readonly string[],
  work: (publication: Publication) => Promise<Result>,
): Promise<Result> {
  const files = [...made];
  try {
    return await work(new Publication(options, files));
  } finally {
    await options.catalog.disown(files).catch(() => {});
  }
}

/** Files being published. Errors of all methods: of the disk. */
export class Publication {
  readonly #options: PublicationOptions;
  /** Their temporary and final paths. */
  readonly #files: string[];

  /** @param files  collects the paths of added files */
  constructor(options: PublicationOptions, files: string[]) {
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
   *
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
