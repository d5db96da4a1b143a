// The catalog: which repos are indexed and which shard files hold them. One JSON file in the data directory,
// replaced as a whole: written to a temporary name, synced, renamed, so that power loss at any moment
// leaves the last published state; the one before stays beside it. Shard files and revision files (engine/shards/revisions.ts) are
// immutable and named by their checksum.
//
// It may be lost: names, ids and rules of repos are in the store, and what is here of them is a copy for who opens the
// index without it.

import { hash } from 'node:crypto';
import { link, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { syncPath } from '../base/synced.ts';
import { FORMAT_VERSION, HEADER_CHECKSUM_OFFSET } from '../../core/shared/format.ts';
import { SYMBOLS_CHECKSUM_OFFSET } from '../../core/shared/symbols.ts';
import { NoFileError, readOwnSoon } from '../base/own-file.ts';
import { CODE_HOST_TYPES } from '../repos/records.ts';
import { errorOf, systemCodeOf } from '../base/caught.ts';
import { RevisionTable, revisionFileId } from '../engine/shards/revisions.ts';

export const CATALOG_FILE = 'catalog.json';
/** The state before; what a damaged catalog is put away as. */
export const LAST_FILE = 'catalog.last.json';
export const DAMAGED_FILE = 'catalog.damaged.json';
const SHARD_FOLDER = 'shards';
/** How names of files end there. */
const SHARD_ENDING = '.shard';
const SYMBOLS_ENDING = '.tags';
const REVISIONS_ENDING = '.revisions';

const fileId = z.string().regex(/^[0-9a-f]{16}$/);

const symbolsSchema = z.strictObject({
  symbolsId: fileId,
  size: z.number().int().positive(),
  symbolCount: z.number().int().nonnegative(),
  /** Files that symbols were looked for in, and those where that failed. */
  fileCount: z.number().int().nonnegative(),
  failedCount: z.number().int().nonnegative(),
  /** What found them: they are looked for again when that changes. */
  foundBy: z.string(),
});

const shardSchema = z.strictObject({
  shardId: fileId,
  size: z.number().int().positive(),
  docCount: z.number().int().nonnegative(),
  contentSize: z.number().int().nonnegative(),
  /** The file with its symbols; absent: they are not known. */
  symbols: symbolsSchema.exactOptional(),
});

const recordSchema = z.strictObject({
  repoId: z.number().int().positive(),
  name: z.string(),
  codeHostType: z.enum(CODE_HOST_TYPES),
  displayName: z.string().exactOptional(),
  webUrl: z.string().exactOptional(),
  isFork: z.boolean(),
  isArchived: z.boolean(),
  visibility: z.enum(['public', 'internal', 'private', 'unknown']),
  enforcement: z.enum(['restricted', 'all']).exactOptional(),
  source: z.strictObject({ kind: z.enum(['commits', 'worktree', 'folder']), path: z.string() }),
  defaultRevision: z.string(),
  defaultBranch: z.string().exactOptional(),
  selection: z
    .strictObject({
      branches: z.array(z.string()).readonly(),
      tags: z.array(z.string()).readonly(),
    })
    .exactOptional(),
  revisions: z.array(z.string()).min(1).readonly().exactOptional(),
  indexedAt: z.string().exactOptional(),
  pushedAt: z.string().exactOptional(),
});

const repoSchema = z.strictObject({
  record: recordSchema,
  /** Says when the docs must be built again: source, settings and format in one text. */
  fingerprint: z.string().exactOptional(),
  shards: z.array(shardSchema),
  /** The commits of its revisions, the default one first; null: files on disk, or nothing. */
  commits: z.array(z.string().nullable()).readonly().exactOptional(),
  /** The revision file; absent: one revision, which holds all docs. */
  revisionFile: fileId.exactOptional(),
  skipped: z.record(z.string(), z.number()),
  /** What rules leave out, by rule, and paths that are no docs, by reason. */
  ignored: z.record(z.string(), z.number()).exactOptional(),
  leftOut: z.record(z.string(), z.number()).exactOptional(),
  /** Its git leads out of its source: nothing of it is shown until it does so no more. */
  isStray: z.literal(true).exactOptional(),
});

const catalogSchema = z.strictObject({
  formatVersion: z.number(),
  /** Older catalogs gave out ids. */
  nextRepoId: z.number().int().positive().exactOptional(),
  repos: z.array(repoSchema),
});

const fileSchema = z.strictObject({ checksum: z.string(), state: catalogSchema });

export type CatalogSymbols = z.infer<typeof symbolsSchema>;
export type CatalogShard = z.infer<typeof shardSchema>;
export type CatalogRepo = z.infer<typeof repoSchema>;
type CatalogState = z.infer<typeof catalogSchema>;

const EMPTY: CatalogState = { formatVersion: FORMAT_VERSION, repos: [] };

/** The catalog is damaged, and so is the one before. The message names the file, and what is wrong with it. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError';
}

/** Names in the shard folder of the files of a repo. */
function namesOf({ shards, revisionFile }: CatalogRepo): string[] {
  return [
    ...shards.map(({ shardId }) => `${shardId}${SHARD_ENDING}`),
    ...shards.flatMap(({ symbols }) =>
      symbols === undefined ? [] : [`${symbols.symbolsId}${SYMBOLS_ENDING}`],
    ),
    ...(revisionFile === undefined ? [] : [`${revisionFile}${REVISIONS_ENDING}`]),
  ];
}

/** The text of a catalog file. */
export function encodeCatalog(
  repos: readonly CatalogRepo[],
  formatVersion: number = FORMAT_VERSION,
): string {
  const kept = { formatVersion, repos };
  return `${JSON.stringify({ checksum: checksumOf(kept), state: kept }, null, 1)}\n`;
}

function checksumOf(state: unknown): string {
  return hash('sha256', JSON.stringify(state), 'hex');
}

/** What becomes of repos. Those that are put are new, or take the place of what is known by their ids. */
export interface CatalogChange {
  readonly put?: readonly CatalogRepo[];
  /** Ids of those that go. */
  readonly removed?: readonly number[];
}

export class Catalog {
  readonly shardFolder: string;
  /** Repos whose index `load` could not use, and why. */
  readonly unusable: { readonly repo: string; readonly reason: string }[] = [];
  readonly #file: string;
  readonly #lastFile: string;
  #isMissing = false;
  #isOutdated = false;
  #damage: string | undefined;
  /** In the order in which they came. */
  #repos: readonly CatalogRepo[] = [];
  #byId: ReadonlyMap<number, CatalogRepo> = new Map();
  #names: ReadonlySet<string> = new Set();
  #version = 0;
  /** The last change of a file. */
  #lastChange: Promise<unknown> = Promise.resolve();
  /** Names of files that were put into the shard folder and wait for the state to name them. */
  readonly #arrived = new Set<string>();
  /** Open revision files by id; an error: what is wrong with it. */
  readonly #tables = new Map<string, RevisionTable | Error>();

  constructor(dataDir: string) {
    this.#file = path.join(dataDir, CATALOG_FILE);
    this.#lastFile = path.join(dataDir, LAST_FILE);
    this.shardFolder = path.join(dataDir, SHARD_FOLDER);
  }

  /** Another number after each change. */
  get version(): number {
    return this.#version;
  }

  /** There was no file to load. */
  get isMissing(): boolean {
    return this.#isMissing;
  }

  /** It was loaded from a file of an older form, or from the copy, and is to be written anew. */
  get isOutdated(): boolean {
    return this.#isOutdated;
  }

  /** What is wrong with the file in whose place the one before was loaded. */
  get damage(): string | undefined {
    return this.#damage;
  }

  get repos(): readonly CatalogRepo[] {
    return this.#repos;
  }

  repo(repoId: number): CatalogRepo | undefined {
    return this.#byId.get(repoId);
  }

  /** The repos that a shard holds docs of. */
  reposOfShard(shardId: string): readonly CatalogRepo[] {
    return this.#repos.filter(({ shards }) => shards.some((shard) => shard.shardId === shardId));
  }

  shardPath(shardId: string): string {
    return this.filePath(`${shardId}${SHARD_ENDING}`);
  }

  symbolsPath(symbolsId: string): string {
    return this.filePath(`${symbolsId}${SYMBOLS_ENDING}`);
  }

  /** Names in the shard folder of all files, each once. */
  get fileNames(): ReadonlySet<string> {
    return this.#names;
  }

  filePath(name: string): string {
    return path.join(this.shardFolder, name);
  }

  /**
   * Reads the catalog; the one before, if it is damaged or missing; no file is an empty one. Shards of another format
   * version leave their repo to be built again; files that are gone are damage like any other, which shows when they are
   * opened.
   *
   * Errors: CatalogError.
   */
  async load(): Promise<void> {
    const state = await this.#readState();
    const isReadable = state.formatVersion === FORMAT_VERSION;
    const reason = `shards are of format ${state.formatVersion}, this version reads ${FORMAT_VERSION}`;
    const repos = isReadable ? state.repos : state.repos.map(unindexed);
    if (!isReadable)
      for (const { record, shards } of state.repos)
        if (shards.length > 0) this.unusable.push({ repo: record.name, reason });
    this.#setRepos(repos);
    for (const repo of repos) await this.#openRevisions(repo);
  }

  async #readState(): Promise<CatalogState> {
    const found = await readCatalogFile(this.#file);
    if (typeof found === 'object') {
      this.#isOutdated = found.isOld;
      return found.state;
    }
    const last = await readCatalogFile(this.#lastFile);
    if (typeof last === 'object') {
      this.#damage = found ?? `${this.#file} is missing`;
      this.#isOutdated = true;
      return last.state;
    }
    if (found !== undefined) throw new CatalogError(found);
    this.#isMissing = true;
    return EMPTY;
  }

  /** Puts a catalog away that cannot be loaded: it is missing then. */
  async putAway(): Promise<string> {
    const file = path.join(path.dirname(this.#file), DAMAGED_FILE);
    await rm(file, { force: true, recursive: true });
    await rename(this.#file, file);
    await rm(this.#lastFile, { force: true, recursive: true });
    this.#isMissing = true;
    return file;
  }

  async #openRevisions({ record, shards, revisionFile }: CatalogRepo): Promise<void> {
    if (revisionFile === undefined) return;
    try {
      const file = await readOwnSoon(this.#revisionPath(revisionFile));
      if (revisionFileId(file) !== revisionFile) throw new Error('wrong checksum');
      const docCounts = shards.map(({ docCount }) => docCount);
      const table = RevisionTable.open(file, record.revisions?.length ?? 1, docCounts);
      this.#tables.set(revisionFile, table);
    } catch (error) {
      this.#tables.set(revisionFile, errorOf(error));
    }
  }

  /** Docs of a repo by revision; undefined: its revision holds all; an error: why they are not known. */
  revisionsOf({ revisionFile }: CatalogRepo): RevisionTable | Error | undefined {
    return revisionFile === undefined ? undefined : this.#tables.get(revisionFile);
  }

  #revisionPath(id: string): string {
    return this.filePath(`${id}${REVISIONS_ENDING}`);
  }

  /** Writes a revision file; returns its id. It takes part once the state names it. */
  async writeRevisions(file: Buffer): Promise<string> {
    const id = revisionFileId(file);
    await this.#inTurn(async () => {
      await replaceFile(this.#revisionPath(id), file);
      this.#arrived.add(path.basename(this.#revisionPath(id)));
    });
    // What was found wrong with the file before is so no more.
    if (this.#tables.get(id) instanceof Error) this.#tables.delete(id);
    return id;
  }

  /** Removes files of the shard folder that no repo names. Only for the owner of the data directory. */
  async sweep(): Promise<void> {
    await mkdir(this.shardFolder, { recursive: true, mode: 0o700 });
    await this.#remove(await readdir(this.shardFolder));
  }

  /**
   * Removes the files of repos as they were, which are in use no more: not those which another repo names too (they have
   * the names of their content), nor those that have come since and are to be named.
   */
  async removeFilesOf(former: readonly CatalogRepo[]): Promise<void> {
    await this.#inTurn(() => this.#remove(former.flatMap(namesOf)));
  }

  /** Removes files that were put into the folder and are not going to be named, unless somebody else names them. */
  async disown(files: readonly string[]): Promise<void> {
    const names = files.map((file) => path.basename(file));
    for (const name of names) this.#arrived.delete(name);
    await this.#inTurn(() => this.#remove(names));
  }

  async #remove(names: readonly string[]): Promise<void> {
    for (const name of names) {
      if (this.#names.has(name) || this.#arrived.has(name)) continue;
      if (name.endsWith(REVISIONS_ENDING)) this.#tables.delete(path.parse(name).name);
      await removeOurs(this.filePath(name));
    }
  }

  /** Runs changes of files one after the other. */
  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#lastChange.catch(() => {}).then(work);
    this.#lastChange = turn;
    return turn;
  }

  /**
   * Changes repos, on disk first; returns what those were that it replaced or removed. Calls run one after the other.
   *
   * @param changeOf  says what to change, when it is its turn
   */
  async commit(changeOf: () => CatalogChange): Promise<readonly CatalogRepo[]> {
    return this.#inTurn(async () => {
      const { put = [], removed = [] } = changeOf();
      if (put.length === 0 && removed.length === 0 && !this.#isOutdated) return [];
      const next = new Map(this.#byId);
      for (const repoId of removed) next.delete(repoId);
      for (const repo of put) {
        next.set(repo.record.repoId, repo);
        const { revisionFile } = repo;
        if (revisionFile !== undefined && !this.#tables.has(revisionFile))
          await this.#openRevisions(repo);
      }
      await this.#keepLast();
      const repos = [...next.values()];
      await replaceFile(this.#file, encodeCatalog(repos));
      this.#isOutdated = false;
      const changed = [...removed, ...put.map(({ record }) => record.repoId)];
      const former = changed.flatMap((repoId) => this.#byId.get(repoId) ?? []);
      this.#setRepos(repos);
      for (const name of put.flatMap(namesOf)) this.#arrived.delete(name);
      return former;
    });
  }

  #setRepos(repos: readonly CatalogRepo[]): void {
    this.#repos = repos;
    this.#byId = new Map(repos.map((repo) => [repo.record.repoId, repo]));
    this.#names = new Set(repos.flatMap(namesOf));
    this.#version++;
  }

  /** Keeps the file as the one before, unless it is one that was not loaded. */
  async #keepLast(): Promise<void> {
    if (this.#damage !== undefined || this.#isMissing) {
      this.#damage = undefined;
      this.#isMissing = false;
      return;
    }
    await rm(this.#lastFile, { force: true, recursive: true });
    await link(this.#file, this.#lastFile).catch((error: unknown) => {
      // Some file systems have no second names.
      if (systemCodeOf(error) === 'ENOENT') throw error;
    });
  }

  /** Gives a finished shard file its name; returns its id. The file is synced. It stays once the state names it. */
  async adoptShard(file: string): Promise<string> {
    const shardId = await readId(file, HEADER_CHECKSUM_OFFSET);
    await this.#adopt(file, this.shardPath(shardId));
    return shardId;
  }

  /** Gives a finished file of symbols its name; returns its id. The file is synced. It stays once the state names it. */
  async adoptSymbols(file: string): Promise<string> {
    const symbolsId = await readId(file, SYMBOLS_CHECKSUM_OFFSET);
    await this.#adopt(file, this.symbolsPath(symbolsId));
    return symbolsId;
  }

  async #adopt(file: string, place: string): Promise<void> {
    await this.#inTurn(async () => {
      await putAt(file, place);
      this.#arrived.add(path.basename(place));
    });
  }
}

interface CatalogFile {
  readonly state: CatalogState;
  /** Without a checksum. */
  readonly isOld: boolean;
}

/** What a catalog file holds; undefined: there is none; a text: what is wrong with it. */
async function readCatalogFile(file: string): Promise<CatalogFile | string | undefined> {
  let text: string;
  try {
    text = (await readOwnSoon(file)).toString();
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    if (error instanceof NoFileError) return error.message;
    throw error;
  }
  const json = parseJson(text);
  if (json === undefined) return `${file} is damaged: it is no JSON`;
  // Source: files of earlier versions begin with the version of the format.
  const isOld = text.startsWith('{\n "formatVersion"') || text.startsWith('{"formatVersion"');
  const { success, data, error } = (isOld ? catalogSchema : fileSchema).safeParse(json);
  if (!success) return `${file} is damaged: ${issueOf(error)}`;
  if (!('checksum' in data)) return { state: data, isOld };
  // As it was written: the schema may have put members in another order.
  const raw: unknown = Object(json)['state'];
  if (checksumOf(raw) !== data.checksum) return `${file} is damaged: its checksum is wrong`;
  return { state: data.state, isOld };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The first thing that is wrong, in words. */
function issueOf({ issues: [issue] }: z.ZodError): string {
  const place = issue?.path.join('.') ?? '';
  return `${place === '' ? '' : `${place}: `}${issue?.message ?? 'it is no catalog'}`;
}

/** A repo whose shards cannot be used. */
function unindexed({ record, skipped, isStray }: CatalogRepo): CatalogRepo {
  const { indexedAt: _, revisions: __, ...rest } = record;
  return { record: rest, shards: [], skipped, ...(isStray === undefined ? {} : { isStray }) };
}

/** Removes a file of the shard folder; a folder only if it has the name of one of our files, which is damage. */
async function removeOurs(file: string): Promise<void> {
  const endings = [SHARD_ENDING, SYMBOLS_ENDING, REVISIONS_ENDING];
  const recursive = endings.some((ending) => file.endsWith(ending));
  await rm(file, { force: true, recursive }).catch((error: unknown) => {
    if (systemCodeOf(error) !== 'ERR_FS_EISDIR') throw error;
  });
}

/** The checksum of the file's header, at `offset`. */
async function readId(file: string, offset: number): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const field = Buffer.alloc(8);
    await handle.read(field, 0, field.length, offset);
    return field.readBigUInt64LE().toString(16).padStart(16, '0');
  } finally {
    await handle.close();
  }
}

async function replaceFile(file: string, content: string | Uint8Array): Promise<void> {
  const next = `${file}.next`;
  try {
    const handle = await open(next, 'w', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await putAt(next, file);
  } catch (error) {
    await rm(next, { force: true }).catch(() => {});
    throw error;
  }
}

/** Gives a finished file its name, whatever had that before. */
async function putAt(file: string, place: string): Promise<void> {
  await rename(file, place).catch(async (error: unknown) => {
    if (systemCodeOf(error) !== 'EISDIR') throw error;
    // A folder in place of a file of ours is damage like any other.
    await rm(place, { recursive: true });
    await rename(file, place);
  });
  await syncPath(path.dirname(place));
}
