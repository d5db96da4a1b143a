// Reconciles the catalog with the store when the owner opens a data directory: missing entries are created from the
// store, and repos with other ids or names get those of the store. So the catalog may be damaged, lost, old or
// exchanged: that costs a build, and never shows a repo to anybody who may not see it.

import path from 'node:path';
import type { StoredRepo } from '../../store/repos.ts';
import type { RepoRecord, RepoSource } from '../../repos/records.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { type CatalogRepo, unbuilt } from '../catalog/catalog-records.ts';
import type { Log } from '../../base/log.ts';
import { CatalogError } from '../../store/index-tables.ts';
import { recordOf } from './change-repo.ts';
import type { RepoRegistry } from './registry.ts';

/**
 * Loads and repairs the catalog.
 * @param isAlone  no other data directory shares the store: all of its repos are indexed here
 * Errors: CatalogError if the catalog cannot be read and the store has no permissions; NOT_READY.
 */
export async function openCatalog(
  catalog: Catalog,
  registry: RepoRegistry,
  isAlone: boolean,
  log: Log,
): Promise<void> {
  await loadOrPutAway(catalog, registry, log);
  const { damaged } = catalog;
  if (damaged.length > 0)
    log.error('entries of index.db are damaged; their repositories are built again', {
      entries: damaged.length,
    });
  if (catalog.repos.length === 0 || damaged.length > 0)
    await fillAgain(catalog, isAlone ? registry.all : [], log);
  if (registry.all.length === 0 && catalog.repos.length > 0)
    log.warn(
      'the store is new and has no data for the existing index: permissions are taken from the catalog; if there was a ' +
        'store before, only it or "trawl restore" brings back its accounts, keys and connections',
    );
  await mendMirrors(catalog, registry);
  const records = catalog.repos
    .map(({ record }) => record)
    .filter(({ repoId }) => registry.byId(repoId)?.host === undefined);
  const adopted = await registry.adopt(records);
  if (adopted.size === 0) return;
  const right = new Set(records.map(({ repoId }) => repoId).filter((id) => !adopted.has(id)));
  const put = catalog.repos.flatMap((repo): CatalogRepo[] => {
    const now = adopted.get(repo.record.repoId);
    if (now === undefined) return [];
    const isSame = now.repoId === repo.record.repoId && now.name === repo.record.name;
    if (isSame) return [{ ...repo, record: recordOf(now, repo.record) }];
    if (right.has(now.repoId)) return [];
    right.add(now.repoId);
    // Ids and names are also in shards.
    return [unbuilt({ record: recordOf(now, repo.record) })];
  });
  await catalog.commit(() => ({ put, removed: [...adopted.keys()] }));
}

/**
 * Gives repos of connections the path that the connection or the mirror has, whatever the catalog says. Repos unknown to
 * the store are excluded until a connection lists them.
 */
async function mendMirrors(catalog: Catalog, registry: RepoRegistry): Promise<void> {
  await catalog.commit(() => {
    const put: CatalogRepo[] = [];
    const removed: number[] = [];
    for (const repo of catalog.repos) {
      const { repoId, source, name } = repo.record;
      const existing = registry.byId(repoId);
      if (existing?.host === undefined) {
        if (catalog.isMirror(source.path)) removed.push(repoId);
        continue;
      }
      const record = hostedRecord(catalog, registry, existing, repo.record);
      const isSame = source.path === record.source.path;
      if (!isSame && !hasMoved(catalog, repo.record, record)) put.push(unbuilt({ record }));
      else if (!isSame || name !== existing.name) put.push({ ...repo, record });
    }
    return { put, removed };
  });
}

/** Whether a repo's mirror moved with its data directory. */
function hasMoved(
  catalog: Pick<Catalog, 'isMirror'>,
  { name, source: before }: RepoRecord,
  { name: nameNow, source: now }: RepoRecord,
): boolean {
  const isSame = before.kind === now.kind && before.commit === now.commit && name === nameNow;
  return isSame && catalog.isMirror(now.path) && pathInside(before.path) === pathInside(now.path);
}

/** The part of a mirror's path that is the same wherever the data directory is. */
function pathInside(mirrorPath: string): string {
  return mirrorPath.split(path.sep).slice(-2).join('/');
}

/** Location of a repo that a connection lists, or of a submodule; undefined: its parent is gone. */
export function hostedSource(
  catalog: Pick<Catalog, 'mirrorPath'>,
  registry: Pick<RepoRegistry, 'byId'>,
  { repoId, host }: StoredRepo,
): RepoSource | undefined {
  if (host?.facts.source !== undefined) return host.facts.source;
  if (host?.facts.submodule === undefined)
    return { kind: 'commits', path: catalog.mirrorPath(repoId) };
  const { chain, commit } = host.facts.submodule;
  const inner = registry.byId(chain.at(-1)!);
  if (inner?.host === undefined || inner.host.facts.submodule !== undefined) return undefined;
  const { path } = hostedSource(catalog, registry, inner)!;
  return { kind: 'commits', path, commit };
}

/** The record of a repo that a connection lists, or of a submodule. */
export function hostedRecord(
  catalog: Pick<Catalog, 'mirrorPath'>,
  registry: Pick<RepoRegistry, 'byId'>,
  repo: StoredRepo,
  before?: RepoRecord,
): RepoRecord {
  const record = recordOf(repo, before);
  return { ...record, source: hostedSource(catalog, registry, repo) ?? record.source };
}

async function loadOrPutAway(catalog: Catalog, registry: RepoRegistry, log: Log): Promise<void> {
  try {
    await catalog.load(true);
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    if (registry.all.length === 0)
      throw new CatalogError(
        `${error.message}. The store is new, so nothing else says who may see which repository: restore a ` +
          'backup ("trawl restore"), or remove it and index each source again ("trawl index PATH"), with ' +
          '--visibility and --enforce-permissions for repositories that not everybody may see',
        error,
      );
    const putAway = await catalog.putAway();
    log.error('the catalog cannot be used; the index is built again', {
      reason: error.message,
      putAway,
    });
    await catalog.load(true);
  }
}

/** Replaces damaged entries, and adds the repos of the store that the catalog lacks, to be built. */
async function fillAgain(catalog: Catalog, stored: readonly StoredRepo[], log: Log): Promise<void> {
  const lost = stored.filter(
    ({ location, repoId }) => location !== undefined && catalog.repo(repoId) === undefined,
  );
  if (lost.length > 0)
    log.warn('repositories of the store that the catalog lacks will be built again', {
      repos: lost.length,
    });
  const repos = lost.map((repo) => unbuilt({ record: recordOf(repo) }));
  await catalog.commit(() => ({ put: repos, removed: catalog.damaged }));
}
