// Brings the catalog and the store together when a data directory is opened by its owner: what the catalog has lost is
// made again of the store, and repos whose ids or names are not those of the store become what they are there. So the
// catalog may be damaged, lost, old or exchanged: it costs a build, and shows nobody more than before.

import path from 'node:path';
import type { StoredRepo } from '../../store/repos.ts';
import type { RepoRecord, RepoSource } from '../../repos/records.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { CatalogError } from '../catalog/catalog-files.ts';
import type { CatalogRepo } from '../catalog/catalog-records.ts';
import type { Log } from '../../base/log.ts';
import { recordOf } from './change-repo.ts';
import type { RepoRegister } from './register.ts';

/**
 * Loads the catalog, and mends it.
 *
 * @param isAlone  no other data directory shares the store: all of its repos are indexed here
 *
 * Errors: CatalogError if the catalog cannot be read and the store does not know who may see what; NOT_READY.
 */
export async function openCatalog(
  catalog: Catalog,
  register: RepoRegister,
  isAlone: boolean,
  log: Log,
): Promise<void> {
  await loadOrPutAway(catalog, register, log);
  if (catalog.damage !== undefined)
    log.error('the catalog before is used in place of a damaged one', { reason: catalog.damage });
  if (catalog.isMissing && isAlone) await fillAgain(catalog, register, log);
  if (register.all.length === 0 && catalog.repos.length > 0)
    log.warn(
      'the store is new, and knows nothing of the index beside it: who may see what is taken from the catalog; where there was a ' +
        'store before, its accounts, keys and connections come back with it alone, or with "trawl restore"',
    );
  await mendClones(catalog, register);
  const records = catalog.repos
    .map(({ record }) => record)
    .filter(({ repoId }) => register.byId(repoId)?.host === undefined);
  const adopted = await register.adopt(records);
  if (adopted.size === 0 && !catalog.isOutdated) return;
  const right = new Set(records.map(({ repoId }) => repoId).filter((id) => !adopted.has(id)));
  const put = catalog.repos.flatMap((repo): CatalogRepo[] => {
    const now = adopted.get(repo.record.repoId);
    if (now === undefined) return [];
    const isSame = now.repoId === repo.record.repoId && now.name === repo.record.name;
    if (isSame) return [{ ...repo, record: recordOf(now, repo.record) }];
    if (right.has(now.repoId)) return [];
    right.add(now.repoId);
    // Ids and names are in shards too.
    return [unbuilt(recordOf(now, repo.record))];
  });
  await catalog.commit(() => ({ put, removed: [...adopted.keys()] }));
}

/**
 * Repos of connections are where these say, or where their clones are, whatever the catalog says; what the store does not know
 * of them is left out until a connection lists it.
 */
async function mendClones(catalog: Catalog, register: RepoRegister): Promise<void> {
  await catalog.commit(() => {
    const put: CatalogRepo[] = [];
    const removed: number[] = [];
    for (const repo of catalog.repos) {
      const { repoId, source, name } = repo.record;
      const known = register.byId(repoId);
      if (known?.host === undefined) {
        if (catalog.isClone(source.path)) removed.push(repoId);
        continue;
      }
      const record = hostedRecord(catalog, register, known, repo.record);
      const isThere = source.path === record.source.path || hasMoved(catalog, repo.record, record);
      if (!isThere) put.push(unbuilt(record));
      else if (source.path !== record.source.path) put.push({ ...repo, record });
      else if (name !== known.name) put.push({ ...repo, record });
    }
    return { put, removed };
  });
}

/** Whether the clone of a repo is the one that it had, in a data directory that lay elsewhere. */
function hasMoved(
  catalog: Pick<Catalog, 'isClone'>,
  { name, source: before }: RepoRecord,
  { name: nameNow, source: now }: RepoRecord,
): boolean {
  const isSame = before.kind === now.kind && before.commit === now.commit && name === nameNow;
  return isSame && catalog.isClone(now.path) && placeInside(before.path) === placeInside(now.path);
}

/** Of a clone, the part of its path that no move of the data directory changes. */
function placeInside(clonePath: string): string {
  return clonePath.split(path.sep).slice(-2).join('/');
}

/** Where a repo lies that a connection lists, or a submodule; undefined: the repo that it is is gone. */
export function hostedSource(
  catalog: Pick<Catalog, 'clonePath'>,
  register: Pick<RepoRegister, 'byId'>,
  { repoId, host }: StoredRepo,
): RepoSource | undefined {
  if (host?.facts.source !== undefined) return host.facts.source;
  if (host?.facts.submodule === undefined)
    return { kind: 'commits', path: catalog.clonePath(repoId) };
  const { chain, commit } = host.facts.submodule;
  const inner = register.byId(chain.at(-1)!);
  if (inner?.host === undefined || inner.host.facts.submodule !== undefined) return undefined;
  const { path } = hostedSource(catalog, register, inner)!;
  return { kind: 'commits', path, commit };
}

/** The record of a repo that a connection lists, or of a submodule. */
export function hostedRecord(
  catalog: Pick<Catalog, 'clonePath'>,
  register: Pick<RepoRegister, 'byId'>,
  repo: StoredRepo,
  before?: RepoRecord,
): RepoRecord {
  const record = recordOf(repo, before);
  return { ...record, source: hostedSource(catalog, register, repo) ?? record.source };
}

async function loadOrPutAway(catalog: Catalog, register: RepoRegister, log: Log): Promise<void> {
  try {
    await catalog.load();
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    if (register.all.length === 0)
      throw new CatalogError(
        `${error.message}. It alone says who may see which repository, as it is of an earlier version: restore a ` +
          'backup ("trawl restore"), or remove it and index each source again ("trawl index PATH"), with ' +
          '--visibility and --enforce-permissions where not everybody may see it',
        { cause: error },
      );
    const putAway = await catalog.putAway();
    log.error('the index is built again: its catalog cannot be used', {
      reason: error.message,
      putAway,
    });
  }
}

/** Takes the repos of the store, to be built, into a catalog that is not there. */
async function fillAgain(catalog: Catalog, register: RepoRegister, log: Log): Promise<void> {
  const lost = register.all.filter(({ place }) => place !== undefined);
  if (lost.length === 0) return;
  log.warn('there is no catalog: the repositories that the store knows are to be built again', {
    repos: lost.length,
  });
  const repos = lost.map((repo) => unbuilt(recordOf(repo)));
  await catalog.commit(() => ({ put: repos }));
}

/** To be built. */
export function unbuilt(record: RepoRecord): CatalogRepo {
  const { indexedAt: _, revisions: __, ...rest } = record;
  return { record: rest, shards: [], skipped: {} };
}
