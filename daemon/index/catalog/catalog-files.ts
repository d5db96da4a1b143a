// The files that keep a catalog. `catalog.json` is a state, written to a temporary name, synced, renamed; `catalog.changes`
// is what has changed since, a line each, appended and synced, so that a change writes what it changes. When the lines are
// more than the state, a new state is written; the one before stays beside it with its lines. Power loss at any moment
// leaves the last published state.
//
// Each line has a checksum over that of the line before, the first one over that of the state: lines of another state, and
// what stands behind a damaged line, are no part of it.

import { hash } from 'node:crypto';
import { constants, link, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { FORMAT_VERSION } from '../../../core/shared/format.ts';
import { named, systemCodeOf } from '../../base/caught.ts';
import { NoFileError, readOwnSoon } from '../../base/own-file.ts';
import { syncPath } from '../../base/synced.ts';
import {
  applyChange,
  type CatalogChange,
  type CatalogRepo,
  catalogSchema,
  type CatalogState,
  changeSchema,
} from './catalog-records.ts';
import { replaceFile } from './replace-file.ts';

export const CATALOG_FILE = 'catalog.json';
/** The state before; what a damaged catalog is put away as. */
export const LAST_FILE = 'catalog.last.json';
export const DAMAGED_FILE = 'catalog.damaged.json';
/** What has changed since a state, and since the one before up to that. */
export const CHANGES_FILE = 'catalog.changes';
export const LAST_CHANGES_FILE = 'catalog.last.changes';

/** Guess: a state of up to so many bytes is written anew with each change. */
const WHOLE_SIZE_MAX = 16 << 10;

const fileSchema = z.strictObject({
  checksum: z.string(),
  /** Absent: of an earlier version. */
  form: z.string().exactOptional(),
  state: catalogSchema,
});
const lineSchema = z.strictObject({ checksum: z.string(), change: changeSchema });

/** The catalog is damaged, and so is the one before. The message names the file, and what is wrong with it. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError';
}

/** What the files of a catalog say. */
export interface LoadedCatalog {
  readonly state: CatalogState;
  /** There was nothing to load. */
  readonly isMissing: boolean;
  /** Of another form, or from the copy: to be written anew. */
  readonly isOutdated: boolean;
  /** What is wrong with the files in whose place the state before was loaded. */
  readonly damage: string | undefined;
}

let form: string | undefined;

/**
 * Tells what a catalog may hold from what other versions of Trawl write into theirs. What is of this form and has the right
 * checksum is not checked member by member: that took an eighth of a start with 5,000 repositories.
 */
function catalogForm(): string {
  const schemas = [catalogSchema, changeSchema].map((schema) => z.toJSONSchema(schema));
  return (form ??= hash('sha256', JSON.stringify(schemas), 'hex'));
}

/** The text of a catalog file. */
export function encodeCatalog(repos: readonly CatalogRepo[], formatVersion?: number): string {
  return encoded(repos, formatVersion).text;
}

/** The text of a catalog file, and the checksum in it. */
function encoded(
  repos: readonly CatalogRepo[],
  formatVersion: number = FORMAT_VERSION,
): { text: string; checksum: string } {
  const state = { formatVersion, repos };
  const checksum = checksumOf(state);
  const file = { checksum, form: catalogForm(), state };
  return { text: `${JSON.stringify(file, null, 1)}\n`, checksum };
}

function checksumOf(state: unknown): string {
  return hash('sha256', JSON.stringify(state), 'hex');
}

/** The lines behind a state, as far as they are sound. */
interface Lines {
  readonly changes: readonly CatalogChange[];
  /** Of the last one, or of the state. */
  readonly checksum: string;
  /** Bytes of the sound ones, and of all. */
  readonly size: number;
  readonly fileSize: number;
  /** What is wrong with a line that others follow. */
  readonly damage: string | undefined;
}

export class CatalogFiles {
  readonly #file: string;
  readonly #lastFile: string;
  readonly #changesFile: string;
  readonly #lastChangesFile: string;
  /** Of the state on disk; 0: nothing may be appended to it. */
  #stateSize = 0;
  /** Of what was written last. */
  #checksum = '';
  #linesSize = 0;
  /** The files on disk are not to be kept as those before. */
  #isUnsound = true;

  constructor(dataDir: string) {
    this.#file = path.join(dataDir, CATALOG_FILE);
    this.#lastFile = path.join(dataDir, LAST_FILE);
    this.#changesFile = path.join(dataDir, CHANGES_FILE);
    this.#lastChangesFile = path.join(dataDir, LAST_CHANGES_FILE);
  }

  /** Reads the catalog; the one before, if it is damaged or missing. Errors: CatalogError. */
  async load(): Promise<LoadedCatalog> {
    for (;;) {
      const before = await stampOf(this.#file);
      const loaded = await this.#loadOnce();
      // Who does not own the directory may read a state, and lines that belong to the next one.
      if ((await stampOf(this.#file)) === before) return loaded;
    }
  }

  async #loadOnce(): Promise<LoadedCatalog> {
    const found = await readState(this.#file);
    if (typeof found === 'object') {
      const lines = await readLines(this.#changesFile, found.checksum, found.isOfForm);
      const isWhole = lines.size === lines.fileSize;
      // Lines have the form of their state.
      this.#stateSize = isWhole && found.isOfForm ? found.size : 0;
      this.#checksum = lines.checksum;
      this.#linesSize = lines.size;
      this.#isUnsound = false;
      const state = withChanges(found.state, lines.changes);
      const isOutdated = !found.isOfForm || lines.damage !== undefined;
      return { state, isMissing: false, isOutdated, damage: lines.damage };
    }
    const last = await readState(this.#lastFile);
    if (typeof last === 'object') {
      const damage = found ?? `${this.#file} is missing`;
      return { state: await this.#laterState(last), isMissing: false, isOutdated: true, damage };
    }
    if (found !== undefined) throw new CatalogError(found);
    return { state: EMPTY, isMissing: true, isOutdated: false, damage: undefined };
  }

  /** The state before with its lines is what the damaged one was, so the lines of that may follow. */
  async #laterState(last: StateFile): Promise<CatalogState> {
    const before = await readLines(this.#lastChangesFile, last.checksum, last.isOfForm);
    const state = withChanges(last.state, before.changes);
    const { changes } = await readLines(this.#changesFile, checksumOf(state), false);
    return withChanges(state, changes);
  }

  /** Puts a state away that cannot be loaded: it is missing then. Returns its place. */
  async putAway(): Promise<string> {
    const file = path.join(path.dirname(this.#file), DAMAGED_FILE);
    await rm(file, { force: true, recursive: true });
    await rename(this.#file, file);
    for (const other of [this.#lastFile, this.#lastChangesFile, this.#changesFile])
      await rm(other, { force: true, recursive: true });
    return file;
  }

  /**
   * Keeps a change; it is on disk when that resolves.
   *
   * @param after  all repos as the change leaves them
   */
  async keep(change: CatalogChange, after: () => readonly CatalogRepo[]): Promise<void> {
    const text = JSON.stringify(change);
    const checksum = hash('sha256', `${this.#checksum}\n${text}`, 'hex');
    const line = Buffer.from(`{"checksum":"${checksum}","change":${text}}\n`);
    if (this.#stateSize <= WHOLE_SIZE_MAX) {
      await this.#writeState(after());
      return;
    }
    await this.#append(line);
    this.#checksum = checksum;
    // Why behind that: the state before with its lines is what the new one is. It is kept already, so what fails here is
    // no failure.
    if (this.#linesSize > this.#stateSize) await this.#writeState(after()).catch(() => {});
  }

  async #append(line: Buffer): Promise<void> {
    const { O_WRONLY, O_CREAT, O_NOFOLLOW } = constants;
    const file = await open(this.#changesFile, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600);
    const end = this.#linesSize;
    try {
      // Why in a loop: a disk that gets full takes a part without an error.
      for (let done = 0; done < line.length;) {
        const { bytesWritten } = await file.write(line, done, line.length - done, end + done);
        done += bytesWritten;
      }
      await file.datasync();
      if (end === 0) await syncPath(path.dirname(this.#changesFile));
      this.#linesSize += line.length;
    } catch (error) {
      await file.truncate(end).catch(() => {
        // The next change writes a state.
        this.#stateSize = 0;
      });
      throw named(error, this.#changesFile);
    } finally {
      await file.close();
    }
  }

  async #writeState(repos: readonly CatalogRepo[]): Promise<void> {
    const { text, checksum } = encoded(repos);
    const size = this.#stateSize;
    // If this fails half-way, the lines belong to a state that is no more.
    this.#stateSize = 0;
    await replaceFile(this.#file, text, () => this.#keepLast()).catch((error: unknown) => {
      this.#stateSize = size;
      throw error;
    });
    await rm(this.#changesFile, { force: true, recursive: true });
    this.#stateSize = Buffer.byteLength(text);
    this.#checksum = checksum;
    this.#linesSize = 0;
    this.#isUnsound = false;
  }

  /** Keeps the files as those before, unless they were not loaded. */
  async #keepLast(): Promise<void> {
    if (this.#isUnsound) return;
    await rm(this.#lastFile, { force: true, recursive: true });
    await rm(this.#lastChangesFile, { force: true, recursive: true });
    await secondName(this.#file, this.#lastFile);
    if (this.#linesSize > 0) await secondName(this.#changesFile, this.#lastChangesFile);
  }
}

async function secondName(file: string, name: string): Promise<void> {
  await link(file, name).catch((error: unknown) => {
    // Some file systems have no second names.
    if (systemCodeOf(error) === 'ENOENT') throw error;
  });
}

/** Tells one file of a name from the next. */
async function stampOf(file: string): Promise<string> {
  try {
    const { ino, mtimeMs, size } = await stat(file);
    return `${ino} ${mtimeMs} ${size}`;
  } catch {
    return '';
  }
}

function withChanges(state: CatalogState, changes: readonly CatalogChange[]): CatalogState {
  if (changes.length === 0) return state;
  const repos = new Map(state.repos.map((repo) => [repo.record.repoId, repo]));
  for (const change of changes) applyChange(repos, change);
  return { formatVersion: state.formatVersion, repos: [...repos.values()] };
}

/**
 * What lines behind a state of this checksum say.
 *
 * @param isOfForm  they are of this version's form
 */
async function readLines(file: string, stateChecksum: string, isOfForm: boolean): Promise<Lines> {
  const changes: CatalogChange[] = [];
  let checksum = stateChecksum;
  let start = 0;
  let damage: string | undefined;
  const bytes = await readOwnSoon(file).catch((error: unknown) => {
    if (systemCodeOf(error) === 'ENOENT') return Buffer.alloc(0);
    if (!(error instanceof NoFileError)) throw error;
    damage = error.message;
    return Buffer.alloc(0);
  });
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    const line = parseLine(bytes.toString('utf8', start, end), checksum, isOfForm);
    if (line === undefined) {
      // Lines of another state are no damage, nor is the one that was being written.
      if (changes.length > 0 && bytes.includes(10, end + 1))
        damage = `${file} is damaged: line ${changes.length + 1}`;
      break;
    }
    changes.push(line.change);
    checksum = line.checksum;
    start = end + 1;
  }
  return { changes, checksum, size: start, fileSize: bytes.length, damage };
}

/** Undefined: it is not the line that follows one of this checksum. */
function parseLine(
  text: string,
  before: string,
  isOfForm: boolean,
): z.infer<typeof lineSchema> | undefined {
  const json = parseJson(text);
  if (!isOfForm && !lineSchema.safeParse(json).success) return undefined;
  // As it was written: the schema may have put members in another order.
  const line: Partial<z.infer<typeof lineSchema>> = Object(json);
  const { checksum, change } = line;
  if (checksum === undefined || change === undefined) return undefined;
  const isNext = checksum === hash('sha256', `${before}\n${JSON.stringify(change)}`, 'hex');
  return isNext ? { checksum, change } : undefined;
}

const EMPTY: CatalogState = { formatVersion: FORMAT_VERSION, repos: [] };

interface StateFile {
  readonly state: CatalogState;
  readonly checksum: string;
  /** Bytes. */
  readonly size: number;
  /** Of the form that this version writes. */
  readonly isOfForm: boolean;
}

/** What a catalog file holds; undefined: there is none; a text: what is wrong with it. */
async function readState(file: string): Promise<StateFile | string | undefined> {
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
  const size = Buffer.byteLength(text);
  // As it was written: the schema may put members in another order.
  const { checksum, form: foundForm, state }: Partial<z.infer<typeof fileSchema>> = Object(json);
  const isSound = state !== undefined && checksumOf(state) === checksum;
  if (isSound && foundForm === catalogForm()) return { state, checksum, size, isOfForm: true };
  const { success, error } = (isOld ? catalogSchema : fileSchema).safeParse(json);
  if (!success) return `${file} is damaged: ${issueOf(error)}`;
  if (isOld) return { state: Object(json), checksum: '', size, isOfForm: false };
  if (!isSound) return `${file} is damaged: its checksum is wrong`;
  return { state, checksum, size, isOfForm: false };
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
