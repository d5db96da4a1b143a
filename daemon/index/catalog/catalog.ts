// The catalog: which repos are indexed, and which shard files hold them, in memory and in `index.db` (catalog-rows.ts).
// Files are immutable and named by their content (base/file-hash.ts). The catalog may be lost: names, ids and
// permissions of repos are in the store; the copy here is for processes that open the index without it.

import { promises } from 'node:fs';
import path from 'node:path';
import { FORMAT_VERSION } from '../../../core/shared/format.ts';
import { atPath, errorOf, systemCodeOf } from '../../base/caught.ts';
import { readOwnSoon } from '../../base/own-file.ts';
import { sumOf } from '../../base/lists.ts';
import { Sequence } from '../../base/sequence.ts';
import { syncPath } from '../../base/synced.ts';
import type { ShardFile } from '../../engine/host/space.ts';
import { RevisionTable, revisionFileId } from '../../engine/shards/revisions.ts';
import { someNames } from '../../repos/some-names.ts';
import type { IndexWriter } from '../../store/index-tables.ts';
import { entryOf, loadRows, putAway, QUARANTINE_KEY } from './catalog-rows.ts';
import {
  type CatalogChange,
  type CatalogRepo,
  type CatalogShard,
  docCountOf,
  unbuilt,
} from './catalog-records.ts';

export const SHARD_FOLDER = 'shards';
export const MIRROR_FOLDER = 'clones';
const SHARD_ENDING = '.shard';
const SYMBOLS_ENDING = '.tags';
const REVISIONS_ENDING = '.revisions';

/** Notified after each change, with the replaced records and the new ones. */
type Follower = (former: readonly CatalogRepo[], put: readonly CatalogRepo[]) => void;

export interface RepoSizes {
  /** Docs of any revision, and dead docs. */
  readonly docCount: number;
  readonly deadCount: number;
  /** Bytes of contents, and of shards: its share of shared ones. */
  readonly contentSize: number;
  readonly shardSize: number;
}

/** File names of a repo in the shard folder. */
function namesOf({ shards, revisionFile }: CatalogRepo): string[] {
  return [
    ...shards.map(({ shardId }) => `${shardId}${SHARD_ENDING}`),
    ...shards.flatMap(({ symbols }) =>
      symbols === undefined ? [] : [`${symbols.symbolsId}${SYMBOLS_ENDING}`],
    ),
    ...(revisionFile === undefined ? [] : [`${revisionFile}${REVISIONS_ENDING}`]),
  ];
}

export class Catalog {
  readonly shardFolder: string;
  /** Mirrors of repos from code hosts. */
  readonly mirrorFolder: string;
  /** Repos whose index `load` could not use, and why; undefined: none. */
  unusable: { readonly count: number; readonly repos: string; readonly reason: string } | undefined;
  readonly #dataDir: string;
  /** Of the owner. */
  #writer: IndexWriter | undefined;
  /** Ids of repos whose entries `load` found damaged. */
  damaged: readonly number[] = [];
  /** Shards out of service, as text; undefined: none was noted. */
  quarantine: string | undefined;
  /** In order of arrival. */
  readonly #byId = new Map<number, CatalogRepo>();
  /** Created on first use. */
  #repos: readonly CatalogRepo[] | undefined;
  /** Repo ids by file name in the shard folder. */
  readonly #reposByName = new Map<string, Set<number>>();
  /** By repoId; ascends in order of arrival. */
  readonly #ordinals = new Map<number, number>();
  #lastOrdinal = 0;
  readonly #followers: Follower[] = [];
  #version = 0;
  /** Of files. */
  readonly #changes = new Sequence();
  /** Pins by file name in the shard folder: a pinned file stays, also while no repo names it. */
  readonly #pinCounts = new Map<string, number>();
  /** Whether searches may open a file of the shard folder. */
  isSearched: (file: string) => boolean = () => false;
  /** Names of files to be removed when no search needs them. */
  readonly #leaving = new Set<string>();
  /** Open revision files by id; an error: its damage. */
  readonly #tables = new Map<string, RevisionTable | Error>();

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.shardFolder = path.join(dataDir, SHARD_FOLDER);
    this.mirrorFolder = path.join(path.resolve(dataDir), MIRROR_FOLDER);
  }

  /** Different after each change. */
  get version(): number {
    return this.#version;
  }

  get repos(): readonly CatalogRepo[] {
    return (this.#repos ??= [...this.#byId.values()]);
  }

  repo(repoId: number): CatalogRepo | undefined {
    return this.#byId.get(repoId);
  }

  /** The position of a repo in the order of `repos`: unique, ascending. */
  ordinalOf(repoId: number): number {
    return this.#ordinals.get(repoId)!;
  }

  hasShard(shardId: string): boolean {
    return this.#reposByName.has(`${shardId}${SHARD_ENDING}`);
  }

  /** The repos with docs in a shard, in the order of `repos`. */
  reposOfShard(shardId: string): readonly CatalogRepo[] {
    const repoIds = [...(this.#reposByName.get(`${shardId}${SHARD_ENDING}`) ?? [])];
    repoIds.sort((a, b) => this.ordinalOf(a) - this.ordinalOf(b));
    return repoIds.map((repoId) => this.#byId.get(repoId)!);
  }

  follow(follower: Follower): void {
    this.#followers.push(follower);
  }

  shardPath(shardId: string): string {
    return this.filePath(`${shardId}${SHARD_ENDING}`);
  }

  symbolsPath(symbolsId: string): string {
    return this.filePath(`${symbolsId}${SYMBOLS_ENDING}`);
  }

  mirrorPath(repoId: number): string {
    return path.join(this.mirrorFolder, `${repoId}.git`);
  }

  isMirror(location: string): boolean {
    return path.dirname(location) === this.mirrorFolder;
  }

  /** A shard with its symbols, as the engine opens it. */
  shardFile({ shardId, size, symbols }: CatalogShard): ShardFile {
    const file = { shardId, path: this.shardPath(shardId), size };
    if (symbols === undefined) return file;
    const { symbolsId } = symbols;
    return { ...file, symbols: { path: this.symbolsPath(symbolsId), size: symbols.size } };
  }

  /** The files of all shards, without duplicates. */
  get shardFiles(): readonly ShardFile[] {
    const shards = this.repos.flatMap((repo) => repo.shards);
    const distinct = new Map(shards.map((shard) => [shard.shardId, shard]));
    return [...distinct.values()].map((shard) => this.shardFile(shard));
  }

  /** Names of all files in the shard folder at this moment, without duplicates. */
  get fileNames(): readonly string[] {
    return [...this.#reposByName.keys()];
  }

  filePath(name: string): string {
    return path.join(this.shardFolder, name);
  }

  /**
   * Reads the catalog; without a file it is empty. A repo with shards of another format version is built again. Missing
   * shard files are found when they are opened.
   * @param isOwner  of the data directory; others may only read
   * Errors: CatalogError; NOT_READY.
   */
  async load(isOwner = false): Promise<void> {
    const { repos: stored, damaged, quarantine, writer } = await loadRows(this.#dataDir, isOwner);
    this.damaged = damaged;
    this.quarantine = quarantine;
    this.#writer = writer;
    const lost: CatalogRepo[] = [];
    const repos = stored.map(({ repo, formatVersion }) => {
      if (formatVersion === FORMAT_VERSION) return repo;
      if (repo.shards.length > 0) lost.push(repo);
      return unbuilt(repo);
    });
    if (lost.length > 0) {
      const names = someNames(lost.map(({ record }) => record.name));
      const reason = `shards have another format than ${FORMAT_VERSION}, which this version reads`;
      this.unusable = { count: lost.length, repos: names, reason };
    }
    for (const repo of repos) await this.#openRevisions(repo);
    this.#apply({ put: repos });
  }

  /** Moves an unreadable catalog aside, so that `load` finds none. Returns the new paths. */
  putAway(): Promise<string> {
    return putAway(this.#dataDir);
  }

  /** Stores which shards are out of service; on disk when it resolves, unless the catalog was loaded for reading. */
  async putQuarantine(text: string): Promise<void> {
    this.quarantine = text;
    await this.#changes.run(async () => this.#writer?.change([[QUARANTINE_KEY, text]], []));
  }

  /** After running changes. */
  async close(): Promise<void> {
    await this.#changes.run(async () => this.#writer?.close());
    this.#writer = undefined;
  }

  async #openRevisions({ record, shards, revisionFile }: CatalogRepo): Promise<void> {
    if (revisionFile === undefined) return;
    try {
      const file = await readOwnSoon(this.revisionPath(revisionFile));
      if (revisionFileId(file) !== revisionFile) throw new Error('wrong checksum');
      const docCounts = shards.map(docCountOf);
      const table = RevisionTable.open(file, record.revisions?.length ?? 1, docCounts);
      this.#tables.set(revisionFile, table);
    } catch (error) {
      this.#tables.set(revisionFile, errorOf(error));
    }
  }

  /** A repo's docs by revision; undefined: one revision has all docs; an error: why they cannot be read. */
  revisionsOf({ revisionFile }: CatalogRepo): RevisionTable | Error | undefined {
    return revisionFile === undefined ? undefined : this.#tables.get(revisionFile);
  }

  /** If the revision file is damaged all docs count. */
  sizesOf(repo: CatalogRepo): RepoSizes {
    const { shards } = repo;
    const table = this.revisionsOf(repo);
    const stored = sumOf(shards, docCountOf);
    const docCount =
      table instanceof RevisionTable ? sumOf(table.shards, ({ liveCount }) => liveCount) : stored;
    const shareOf = (shard: CatalogShard): number =>
      shard.contentSize === 0 ? 0 : sizeOf(shard) / shard.contentSize;
    return {
      docCount,
      deadCount: stored - docCount,
      contentSize: sumOf(shards, sizeOf),
      shardSize: sumOf(shards, (shard) =>
        shard.part === undefined ? shard.size : Math.round(shard.size * shareOf(shard)),
      ),
    };
  }

  revisionPath(id: string): string {
    return this.filePath(`${id}${REVISIONS_ENDING}`);
  }

  /** Writes a revision file and returns its id. It is pinned until `unpin`. */
  async writeRevisions(file: Buffer): Promise<string> {
    const id = revisionFileId(file);
    const location = this.revisionPath(id);
    const next = `${location}.next`;
    await this.#changes.run(async () => {
      try {
        await promises.writeFile(next, file, { mode: 0o600, flush: true });
        await this.#moveInto(next, location);
      } catch (error) {
        await promises.rm(next, { force: true }).catch(() => {});
        throw atPath(error, location);
      }
    });
    // The damage was that of the replaced file.
    if (this.#tables.get(id) instanceof Error) this.#tables.delete(id);
    return id;
  }

  /** Removes shard folder files that no repo names. Only for the owner of the data directory. */
  async sweep(): Promise<void> {
    await promises.mkdir(this.shardFolder, { recursive: true, mode: 0o700 });
    await this.#remove(await promises.readdir(this.shardFolder));
  }

  /** Removes files of replaced repos, except those that another repo names, that were just added, or that searches need. */
  async removeFilesOf(former: readonly CatalogRepo[]): Promise<void> {
    await this.#changes.run(() => this.#remove(former.flatMap(namesOf)));
  }

  /** Ends one pin of each file. A file without pins is removed if no repo names it. */
  async unpin(files: readonly string[]): Promise<void> {
    const names = files.map((file) => path.basename(file));
    for (const name of names) {
      const count = (this.#pinCounts.get(name) ?? 1) - 1;
      if (count > 0) this.#pinCounts.set(name, count);
      else this.#pinCounts.delete(name);
    }
    await this.#changes.run(() => this.#remove(names));
  }

  /** Removes files that searches needed when they were to be removed. After `close` the next start does it. */
  async removeLeft(): Promise<void> {
    if (this.#writer === undefined) return;
    await this.#changes.run(() => this.#remove([...this.#leaving]));
  }

  async #remove(names: readonly string[]): Promise<void> {
    for (const name of names) {
      this.#leaving.delete(name);
      if (this.#reposByName.has(name) || this.#pinCounts.has(name)) continue;
      if (this.isSearched(this.filePath(name))) {
        this.#leaving.add(name);
        continue;
      }
      if (name.endsWith(REVISIONS_ENDING)) this.#tables.delete(path.parse(name).name);
      await removeOurs(this.filePath(name));
    }
  }

  /**
   * Changes repos, on disk first; returns the records that it replaced or removed. Calls run one after the other.
   * @param changeOf  returns the change when its turn comes
   */
  async commit(changeOf: () => CatalogChange): Promise<readonly CatalogRepo[]> {
    return this.#changes.run(async () => {
      const change = changeOf();
      const { put = [], removed = [] } = change;
      if (put.length === 0 && removed.length === 0) return [];
      for (const repo of put) {
        const { revisionFile } = repo;
        if (revisionFile !== undefined && !this.#tables.has(revisionFile))
          await this.#openRevisions(repo);
      }
      if (this.#writer === undefined) throw new Error('the catalog is open for reading only');
      const entries = put.map((repo) => entryOf({ repo, formatVersion: FORMAT_VERSION }));
      await this.#writer.change(entries, removed.map(String));
      return this.#apply(change);
    });
  }

  /** Applies a change that is on disk; returns the replaced records. */
  #apply({ put = [], removed = [] }: CatalogChange): CatalogRepo[] {
    const changed = new Set([...removed, ...put.map(({ record }) => record.repoId)]);
    const former = [...changed].flatMap((repoId) => this.#byId.get(repoId) ?? []);
    for (const repo of former) this.#noteNames(repo, false);
    for (const repoId of removed) {
      this.#byId.delete(repoId);
      this.#ordinals.delete(repoId);
    }
    for (const repo of put) {
      const { repoId } = repo.record;
      this.#byId.set(repoId, repo);
      this.#noteNames(repo, true);
      if (!this.#ordinals.has(repoId)) this.#ordinals.set(repoId, ++this.#lastOrdinal);
    }
    this.#repos = undefined;
    this.#version++;
    for (const notify of this.#followers) notify(former, put);
    return former;
  }

  #noteNames(repo: CatalogRepo, isPresent: boolean): void {
    const { repoId } = repo.record;
    for (const name of namesOf(repo)) {
      const repoIds = this.#reposByName.get(name) ?? new Set();
      if (isPresent) repoIds.add(repoId);
      else repoIds.delete(repoId);
      if (repoIds.size === 0) this.#reposByName.delete(name);
      else this.#reposByName.set(name, repoIds);
    }
  }

  /** Renames a finished, synced shard file to its final name. It is pinned until `unpin`. */
  async adoptShard(file: string, shardId: string): Promise<void> {
    await this.#changes.run(() => this.#moveInto(file, this.shardPath(shardId)));
  }

  async adoptSymbols(file: string, symbolsId: string): Promise<void> {
    await this.#changes.run(() => this.#moveInto(file, this.symbolsPath(symbolsId)));
  }

  /** Renames a finished file, replacing an existing one. */
  async #moveInto(file: string, location: string): Promise<void> {
    await promises.rename(file, location).catch(async (error: unknown) => {
      if (systemCodeOf(error) !== 'EISDIR') throw error;
      // A folder with the name of our file is damage.
      await promises.rm(location, { recursive: true });
      await promises.rename(file, location);
    });
    await syncPath(path.dirname(location));
    const name = path.basename(location);
    this.#pinCounts.set(name, (this.#pinCounts.get(name) ?? 0) + 1);
  }
}

/** Bytes of a repo's contents in a shard. */
function sizeOf({ part, contentSize }: CatalogShard): number {
  return part?.contentSize ?? contentSize;
}

/** Removes a file of the shard folder; a folder only if it has the name of one of our files (damage). */
async function removeOurs(file: string): Promise<void> {
  const endings = [SHARD_ENDING, SYMBOLS_ENDING, REVISIONS_ENDING];
  const recursive = endings.some((ending) => file.endsWith(ending));
  await promises.rm(file, { force: true, recursive }).catch((error: unknown) => {
    if (systemCodeOf(error) !== 'ERR_FS_EISDIR') throw error;
  });
}
