// The files of a catalog. `catalog.json` holds a full state; it is written to a temporary name, synced and renamed.
// `catalog.changes` holds the changes since, one per line, appended and synced. When the lines outgrow the state a new
// state is written; the previous state and its lines stay beside it. A power loss at any moment leaves the last
// published state.
//
// Each line has a checksum over that of the line before, the first one over that of the state. Lines of another state,
// or after a damaged line, are ignored.

import { hash } from 'node:crypto';
import { constants, link, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { FORMAT_VERSION } from '../../../core/shared/format.ts';
import { atPath, systemCodeOf } from '../../base/caught.ts';
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
/** The previous state; a damaged catalog is renamed after it. */
export const LAST_FILE = 'catalog.last.json';
export const DAMAGED_FILE = 'catalog.damaged.json';
/** Changes since the current state, and those between the previous state and it. */
export const CHANGES_FILE = 'catalog.changes';
export const LAST_CHANGES_FILE = 'catalog.last.changes';

/** Guess: a state of up to this size is rewritten with each change. */
const WHOLE_SIZE_MAX = 16 << 10;

const fileSchema = z.strictObject({
  checksum: z.string(),
  /** Absent: of an earlier version. */
  form: z.string().exactOptional(),
  state: catalogSchema,
});
const lineSchema = z.strictObject({ checksum: z.string(), change: changeSchema });

/** The catalog and its previous state are damaged. The message names the file and the damage. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError';
}

/** The content of the catalog files. */
export interface LoadedCatalog {
  readonly state: CatalogState;
  /** There was nothing to load. */
  readonly isMissing: boolean;
  /** Of another form, or from the copy: must be rewritten. */
  readonly isOutdated: boolean;
  /** Why the previous state was loaded instead. */
  readonly damage: string | undefined;
}

let form: string | undefined;

/**
 * Distinguishes this version's catalogs from other versions'. A file of this form with the right checksum is not
 * validated member by member: that took an eighth of a start with 5,000 repositories.
 */
function catalogForm(): string {
  const schemas = [catalogSchema, changeSchema].map((schema) => z.toJSONSchema(schema));
  return (form ??= hash('sha256', JSON.stringify(schemas), 'hex'));
}

/** The text of a catalog file. */
export function encodeCatalog(repos: readonly CatalogRepo[], formatVersion?: number): string {
  return encoded(repos, formatVersion).text;
}

/** The text of a catalog file, and its checksum. */
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

/** The valid lines after a state. */
interface Lines {
  readonly changes: readonly CatalogChange[];
  /** Of the last one, or of the state. */
  readonly checksum: string;
  /** Bytes of the valid lines, and of all. */
  readonly size: number;
  readonly fileSize: number;
  /** Damage of a line that others follow. */
  readonly damage: string | undefined;
}

export class CatalogFiles {
  readonly #file: string;
  readonly #lastFile: string;
  readonly #changesFile: string;
  readonly #lastChangesFile: string;
  /** Of the state on disk; 0: nothing may be appended to it. */
  #stateSize = 0;
  /** Of the last write. */
  #checksum = '';
  #linesSize = 0;
  /** The files on disk must not become the previous state. */
  #isUnsound = true;

  constructor(dataDir: string) {
    this.#file = path.join(dataDir, CATALOG_FILE);
    this.#lastFile = path.join(dataDir, LAST_FILE);
    this.#changesFile = path.join(dataDir, CHANGES_FILE);
    this.#lastChangesFile = path.join(dataDir, LAST_CHANGES_FILE);
  }

  /** Reads the catalog, or its previous state if it is damaged or missing. Errors: CatalogError. */
  async load(): Promise<LoadedCatalog> {
    for (;;) {
      const before = await stampOf(this.#file);
      const loaded = await this.#loadOnce();
      // A reader beside the owner may read a state, and lines that belong to the next one.
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

  /** The previous state with its lines equals the damaged state, so the lines of that one may follow. */
  async #laterState(last: StateFile): Promise<CatalogState> {
    const before = await readLines(this.#lastChangesFile, last.checksum, last.isOfForm);
    const state = withChanges(last.state, before.changes);
    const { changes } = await readLines(this.#changesFile, checksumOf(state), false);
    return withChanges(state, changes);
  }

  /** Moves an unreadable state aside, so that it counts as missing. Returns its new path. */
  async putAway(): Promise<string> {
    const file = path.join(path.dirname(this.#file), DAMAGED_FILE);
    await rm(file, { force: true, recursive: true });
    await rename(this.#file, file);
    for (const other of [this.#lastFile, this.#lastChangesFile, this.#changesFile])
      await rm(other, { force: true, recursive: true });
    return file;
  }

  /**
   * Writes a change; it is on disk when this resolves.
   *
   * @param after  all repos after the change
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
    // Why last: the previous state with its lines equals the new one. The change is on disk already, so an error here
    // is ignored.
    if (this.#linesSize > this.#stateSize) await this.#writeState(after()).catch(() => {});
  }

  async #append(line: Buffer): Promise<void> {
    const { O_WRONLY, O_CREAT, O_NOFOLLOW } = constants;
    const file = await open(this.#changesFile, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600);
    const end = this.#linesSize;
    try {
      // Why in a loop: a nearly full disk writes a part without an error.
      for (let done = 0; done < line.length;) {
        const { bytesWritten } = await file.write(line, done, line.length - done, end + done);
        done += bytesWritten;
      }
      await file.datasync();
      if (end === 0) await syncPath(path.dirname(this.#changesFile));
      this.#linesSize += line.length;
    } catch (error) {
      await file.truncate(end).catch(() => {
        // The next change writes a full state.
        this.#stateSize = 0;
      });
      throw atPath(error, this.#changesFile);
    } finally {
      await file.close();
    }
  }

  async #writeState(repos: readonly CatalogRepo[]): Promise<void> {
    const { text, checksum } = encoded(repos);
    const size = this.#stateSize;
    // If this fails half-way, the lines belong to a state that no longer exists.
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

  /** Keeps the current files as the previous ones, unless they were not loaded. */
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
    // Some file systems have no hard links.
    if (systemCodeOf(error) === 'ENOENT') throw error;
  });
}

/** Identifies one file among those that had its name. */
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
 * The valid lines after a state with this checksum.
 *
 * @param isOfForm  they have this version's form
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
      // Lines of another state are no damage, nor is an unfinished last line.
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

/** Undefined: not the line that follows this checksum. */
function parseLine(
  text: string,
  before: string,
  isOfForm: boolean,
): z.infer<typeof lineSchema> | undefined {
  const json = parseJson(text);
  if (!isOfForm && !lineSchema.safeParse(json).success) return undefined;
  // As written: the schema may have reordered members.
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
  /** Of this version's form. */
  readonly isOfForm: boolean;
}

/** The content of a catalog file; undefined: no file; a string: its damage. */
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
  if (json === undefined) return `${file} is damaged: it is not JSON`;
  // Source: files of earlier versions begin with the version of the format.
  const isOld = text.startsWith('{\n "formatVersion"') || text.startsWith('{"formatVersion"');
  const size = Buffer.byteLength(text);
  // As written: the schema may reorder members.
  const { checksum, form: foundForm, state }: Partial<z.infer<typeof fileSchema>> = Object(json);
  const isIntact = state !== undefined && checksumOf(state) === checksum;
  if (isIntact && foundForm === catalogForm()) return { state, checksum, size, isOfForm: true };
  const { success, error } = (isOld ? catalogSchema : fileSchema).safeParse(json);
  if (!success) return `${file} is damaged: ${issueOf(error)}`;
  if (isOld) return { state: Object(json), checksum: '', size, isOfForm: false };
  if (!isIntact) return `${file} is damaged: its checksum is wrong`;
  return { state, checksum, size, isOfForm: false };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The first problem, in words. */
function issueOf({ issues: [issue] }: z.ZodError): string {
  const field = issue?.path.join('.') ?? '';
  return `${field === '' ? '' : `${field}: `}${issue?.message ?? 'it is not a catalog'}`;
}
