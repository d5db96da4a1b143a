// Removes repos so that a removal that was killed can be finished. Repos of hosts go from searches and catalog first: the
// store still lists them for removal. Named sources go from the store first: the catalog still has them, and the operator
// removes them again. Mirrors go last; the next start sweeps those that remain.

import { publishing } from '../../index/served/publication.ts';
import type { Actor } from '../../store/audit.ts';
import type { StoredRepos, RepoDecision } from '../../store/repos.ts';
import type { Catalog } from '../../index/catalog/catalog.ts';
import type { CatalogRepo } from '../../index/catalog/catalog-records.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { RepoRegistry } from '../../index/register/registry.ts';
import type { Served } from '../../index/served/served.ts';
import { type Mirrors, removeMirror } from './mirrors.ts';
import { LinkIndex } from './link-index.ts';

export interface RepoRemoverOptions {
  readonly catalog: Catalog;
  readonly registry: RepoRegistry;
  readonly served: Served;
  readonly jobs: Pick<Jobs, 'cancel' | 'without'>;
  readonly mirrors: Pick<Mirrors, 'remove'>;
}

export class RepoRemover {
  readonly #options: RepoRemoverOptions;

  constructor(options: RepoRemoverOptions) {
    this.#options = options;
  }

  /** Cancels jobs; returns the removed repoIds. @param toGo  those that must go now; called twice. Errors: NOT_READY. */
  async remove(
    repoIds: readonly number[],
    toGo: (stored: StoredRepos) => ReadonlySet<number>,
    actor?: Actor,
  ): Promise<ReadonlySet<number>> {
    const { jobs, registry, mirrors } = this.#options;
    jobs.cancel(repoIds);
    return jobs.without(repoIds, async (free) => {
      const sure = toGo(registry.stored);
      const ids = [...free].filter((repoId) => sure.has(repoId));
      const hosted = ids.filter((repoId) => registry.byId(repoId)?.host !== undefined);
      await this.#hide(hosted);
      const removed = await registry.decide((stored) => decided(stored, ids, toGo), { actor });
      await this.#hide([...removed].filter((repoId) => !hosted.includes(repoId)));
      for (const repoId of removed) await mirrors.remove(repoId);
      return removed;
    });
  }

  async #hide(repoIds: readonly number[]): Promise<void> {
    const { catalog, served } = this.#options;
    if (repoIds.length === 0) return;
    await publishing(this.#options, [], (publication) =>
      publication.commit(
        () => ({ removed: repoIds.filter((repoId) => catalog.repo(repoId) !== undefined) }),
        (former) => served.forget(unnamedShards(catalog, former)),
      ),
    );
  }
}

function decided(
  stored: StoredRepos,
  repoIds: readonly number[],
  toGo: (stored: StoredRepos) => ReadonlySet<number>,
): RepoDecision<ReadonlySet<number>> {
  const now = toGo(stored);
  const removed = new Set(repoIds.filter((repoId) => now.has(repoId)));
  const links = new LinkIndex(stored);
  for (const repoId of removed) links.forget(repoId);
  const removedConnections = links.spentConnections;
  return { changed: [], removed: [...removed], removedConnections, result: removed };
}

export function unlistedOf(stored: StoredRepos, repoIds: Iterable<number>): ReadonlySet<number> {
  const links = new LinkIndex(stored);
  return new Set([...repoIds].filter((repoId) => links.isMissing(repoId)));
}

/** Removes unlisted repos while no daemon runs. Errors: NOT_READY; those of the disk. */
export async function removeOffline(
  { catalog, registry }: Pick<RepoRemoverOptions, 'catalog' | 'registry'>,
  repoIds: ReadonlySet<number>,
  actor: Actor,
): Promise<void> {
  const ids = [...unlistedOf(registry.stored, repoIds)];
  const toGo = (stored: StoredRepos): ReadonlySet<number> => unlistedOf(stored, ids);
  const removed = await registry.decide((stored) => decided(stored, ids, toGo), { actor });
  const former = await catalog.commit(() => ({
    removed: [...removed].filter((repoId) => catalog.repo(repoId) !== undefined),
  }));
  await catalog.removeFilesOf(former);
  for (const repoId of removed) await removeMirror(catalog, repoId);
}

/** Shards of removed repos without docs of other repos. */
function unnamedShards(catalog: Catalog, former: readonly CatalogRepo[]): string[] {
  return former
    .flatMap(({ shards }) => shards.map(({ shardId }) => shardId))
    .filter((shardId) => !catalog.hasShard(shardId));
}
