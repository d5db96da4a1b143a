// Applies the store's data about repos, above all who may see them: to searches, and to the catalog for processes that
// open only that.

import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '../../store/audit.ts';
import type { Log } from '../../base/log.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogRepo } from '../catalog/catalog-records.ts';
import type { RepoChange } from '../register/change-repo.ts';
import type { RepoRegistry } from '../register/registry.ts';
import type { Served } from './served.ts';

export interface StoreRulesOptions {
  readonly catalog: Catalog;
  readonly registry: RepoRegistry;
  readonly served: Served;
  readonly log: Log;
}

export class StoreRules {
  readonly #options: StoreRulesOptions;
  #nextRead: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: StoreRulesOptions) {
    this.#options = options;
    options.registry.onStale = () => this.#applyLater();
  }

  /** Applies flags to all served repos, or to the one with this name. Errors: NOT_READY. */
  async changeServed(change: RepoChange, repoName?: string): Promise<void> {
    if (Object.keys(change).length === 0) return;
    const changed = this.#options.served.records.filter(
      ({ name }) => repoName === undefined || name === repoName,
    );
    const repoIds = new Set(changed.map(({ repoId }) => repoId));
    await this.#options.registry.change(repoIds, change, { flags: change });
    await this.#copyRules();
  }

  /** Changes who may see repos; in effect when it resolves. Errors: NOT_READY. */
  async change(repoIds: ReadonlySet<number>, change: RepoChange, actor?: Actor): Promise<void> {
    await this.#options.registry.change(repoIds, change, { actor });
    this.#options.served.publish();
    await this.#copyRules();
  }

  /**
   * Applies the current data of the store. If the store cannot be read the repos are visible only to owners, and it is
   * read again until it works.
   */
  async apply(): Promise<void> {
    clearTimeout(this.#nextRead);
    const isRead = await this.#options.registry.reload();
    if (this.#isClosed) return;
    this.#options.served.publish();
    if (isRead) await this.#copyRules();
  }

  /** Called after any failed read, also one after a decision that changed nothing, which no notification follows. */
  #applyLater(): void {
    clearTimeout(this.#nextRead);
    if (this.#isClosed) return;
    const apply = (): Promise<void> =>
      this.apply().catch((error: unknown) =>
        this.#options.log.error('permissions of repositories could not be applied', { error }),
      );
    this.#nextRead = setTimeout(() => void apply(), 1_000).unref();
  }

  /** Copies the store's data about repos into the catalog, for processes that open only that. */
  async #copyRules(): Promise<void> {
    const { catalog, registry } = this.#options;
    await catalog.commit(() => ({
      put: catalog.repos.flatMap((repo): CatalogRepo[] => {
        const record = registry.ruled(repo.record);
        return isDeepStrictEqual(record, repo.record) ? [] : [{ ...repo, record }];
      }),
    }));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#nextRead);
  }
}
