// Finds the sources of a connection to this machine (API.md 19.4): `file:///srv/git/*/*.git`. They are read in place. A folder
// that is not accepted becomes an issue with its reason; links that lead outside are not followed.

import type { Dirent } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../../base/caught.ts';
import { globTest } from '../../base/glob-test.ts';
import { compareText, REPLACEMENT } from '../../base/paths.ts';
import type { ListingIssue } from '../../hosts/host.ts';
import { errorCodeOf, isGone } from '../../sources/disk/disk.ts';
import { isInOwnFolder } from '../../sources/disk/own-folder.ts';
import { checkGitPaths, GitPathError } from '../../sources/git/git-paths.ts';
import { layoutOf, ProbeError, type SourceLayout } from '../../sources/git/path-kind.ts';
import type { SourceKind } from '../../repos/records.ts';
import { isNameTooLong, NAME_SIZE_MAX } from '../../repos/repo-name.ts';
import { FIND_DEPTH_MAX, FOLDERS_MAX, PASSED_OVER, REPOS_MAX } from './find-repos.ts';

export interface LocalSource {
  readonly path: string;
  readonly kind: SourceKind;
  /** Globs of excluded paths; none for `commits`. */
  readonly ignore: readonly string[];
}

export interface LocalSources {
  /** By path; each folder once, whatever links lead to it. */
  readonly sources: readonly LocalSource[];
  readonly issues: readonly ListingIssue[];
}

export interface LocalSourcesOptions {
  /** Default: commits; for a plain folder its files. */
  readonly mode?: 'commits' | 'worktree' | undefined;
  readonly ignore?: readonly string[] | undefined;
  readonly signal?: AbortSignal;
}

/** A segment of the address: a name, a glob, or any number of folders. */
type Part = string | ((name: string) => boolean) | typeof ANY_FOLDERS;
const ANY_FOLDERS = Symbol('**');

/** Kinds of issues, and whether they keep missing repos from being removed. */
const EFFECTS = {
  BAD_ADDRESS: 'TARGET_SKIPPED',
  LINK_LEADS_OUT: 'TARGET_SKIPPED',
  MODE_NOT_POSSIBLE: 'TARGET_SKIPPED',
  NOT_A_FOLDER: 'TARGET_SKIPPED',
  NOT_ITS_OWN: 'TARGET_SKIPPED',
  NOTHING_FOUND: 'TARGET_SKIPPED',
  OWN_FOLDER: 'TARGET_SKIPPED',
  NOT_A_REPOSITORY: 'DISCOVERY_INCOMPLETE',
  NOT_FOUND: 'DISCOVERY_INCOMPLETE',
  NOT_READABLE: 'DISCOVERY_INCOMPLETE',
  PATH_TOO_LONG: 'DISCOVERY_INCOMPLETE',
  TOO_MANY: 'DISCOVERY_INCOMPLETE',
} as const;

class AddressError extends Error {}

/**
 * Globs have `*`, `?`, `[...]`, `{a,b}` within a name, and `**` for any number of folders, of which only those with
 * repositories count. Errors: the reason of the signal; anything else is an issue.
 */
export async function findLocalSources(
  url: string,
  options: LocalSourcesOptions = {},
): Promise<LocalSources> {
  return new Search(url, options).run();
}

class Search {
  readonly #url: string;
  readonly #options: LocalSourcesOptions;
  /** By the path without links. */
  readonly #sources = new Map<string, LocalSource>();
  readonly #issues: ListingIssue[] = [];
  /** Folders already searched for the same segment of the address. */
  readonly #searched = new Set<string>();
  /** Links that lead outside of it are not followed. */
  #base = '/';
  #listedCount = 0;
  #isFull = false;

  constructor(url: string, options: LocalSourcesOptions) {
    this.#url = url;
    this.#options = options;
  }

  async run(): Promise<LocalSources> {
    try {
      await this.#searchAll();
    } catch (error) {
      this.#options.signal?.throwIfAborted();
      if (error instanceof AddressError) this.#note('BAD_ADDRESS', this.#url, error.message);
      else this.#noteUnread(this.#url, error);
    }
    const sources = [...this.#sources.values()];
    sources.sort((one, other) => compareText(one.path, other.path));
    return { sources, issues: this.#issues };
  }

  async #searchAll(): Promise<void> {
    const parts = partsOf(this.#url);
    const names = parts.slice(0, parts.findIndex((part) => !isName(part)) >>> 0);
    const base = `/${names.join('/')}`;
    const rest = parts.slice(names.length);
    if (rest.length === 0) return await this.#take(base, false);
    this.#base = await realpath(base);
    await this.#follow(base, rest, 0);
    if (this.#sources.size + this.#issues.length === 0)
      this.#note('NOTHING_FOUND', this.#url, 'no folder matches the address');
  }

  #note(code: keyof typeof EFFECTS, location: string, message: string): void {
    if (this.#issues.length >= 100) return;
    const target = location === this.#url ? location : pathToFileURL(location).href;
    this.#issues.push({ code, target, effect: EFFECTS[code], message: `${location}: ${message}` });
  }

  #noteUnread(location: string, error: unknown): void {
    if (isGone(error)) this.#note('NOT_FOUND', location, 'it does not exist; is its disk mounted?');
    else
      this.#note(
        'NOT_READABLE',
        location,
        `cannot be read (${errorCodeOf(error)}); give the user of the daemon access`,
      );
  }

  async #follow(folder: string, parts: readonly Part[], depth: number): Promise<void> {
    this.#options.signal?.throwIfAborted();
    const key = `${parts.length} ${folder}`;
    if (this.#isFull || this.#searched.has(key)) return;
    this.#searched.add(key);
    const [part, ...rest] = parts;
    if (part === undefined) return this.#take(folder, true);
    if (part === ANY_FOLDERS) return this.#followAll(folder, rest, depth);
    if (isName(part)) return this.#step(path.join(folder, part), rest, depth);
    for (const entry of await this.#list(folder)) {
      if (!part(entry.name) || PASSED_OVER.has(entry.name)) continue;
      await this.#step(path.join(folder, entry.name), rest, depth, entry);
    }
  }

  /** `**`: the folder itself, and all folders below it outside repositories. */
  async #followAll(folder: string, rest: readonly Part[], depth: number): Promise<void> {
    const layout = await layoutOf(folder).catch(() => undefined);
    const isRepo = layout === 'bare' || layout === 'worktree';
    // At the end it matches only repositories.
    if (rest.length > 0) await this.#follow(folder, rest, depth);
    else if (isRepo || layout === undefined) await this.#take(folder, true);
    if (isRepo || layout === undefined) return;
    if (depth >= FIND_DEPTH_MAX) {
      this.#note('TOO_MANY', folder, `is more than ${FIND_DEPTH_MAX} levels deep; name it`);
      return;
    }
    for (const entry of await this.#list(folder)) {
      const isPassed = PASSED_OVER.has(entry.name) || entry.name.startsWith('.');
      if (!entry.isDirectory() || isPassed) continue;
      await this.#follow(path.join(folder, entry.name), [ANY_FOLDERS, ...rest], depth + 1);
    }
  }

  /** @param entry  undefined: the name comes from the address */
  async #step(
    location: string,
    rest: readonly Part[],
    depth: number,
    entry?: Dirent,
  ): Promise<void> {
    if (location.includes(REPLACEMENT)) {
      this.#note('NOT_READABLE', location, 'its name is not UTF-8; rename it');
      return;
    }
    const isFolder = entry?.isDirectory() === true;
    if (!isFolder && !(await this.#leadsToFolder(location, rest.length === 0, entry))) return;
    await this.#follow(location, rest, depth);
  }

  /** Whether a name or link leads to a folder inside the base. */
  async #leadsToFolder(
    location: string,
    isLast: boolean,
    entry: Dirent | undefined,
  ): Promise<boolean> {
    if (entry !== undefined && !entry.isSymbolicLink()) {
      if (isLast)
        this.#note('NOT_A_FOLDER', location, 'it is not a folder; exclude it from the address');
      return false;
    }
    try {
      const real = await realpath(location);
      if (real === this.#base || real.startsWith(`${this.#base}/`.replace('//', '/'))) return true;
      this.#note('LINK_LEADS_OUT', location, `is a link to ${real}; give that its own address`);
    } catch (error) {
      // Of the folders that a glob matches only some contain the rest.
      if (entry !== undefined || !isGone(error)) this.#noteUnread(location, error);
    }
    return false;
  }

  async #list(folder: string): Promise<Dirent[]> {
    if (this.#listedCount++ >= FOLDERS_MAX) {
      this.#stop(`${FOLDERS_MAX} folders`);
      return [];
    }
    try {
      return await readdir(folder, { withFileTypes: true });
    } catch (error) {
      // A file does not match, and a folder may have been removed meanwhile.
      if (!isGone(error)) this.#noteUnread(folder, error);
      return [];
    }
  }

  #stop(bound: string): void {
    if (!this.#isFull)
      this.#note('TOO_MANY', this.#url, `matches more than ${bound}; split the connection`);
    this.#isFull = true;
  }

  /** @param isFound  by a glob: if it was removed meanwhile, that is no issue */
  async #take(location: string, isFound: boolean): Promise<void> {
    if (this.#sources.size >= REPOS_MAX) {
      this.#stop(`${REPOS_MAX} sources`);
      return;
    }
    try {
      const real = await realpath(location);
      if (this.#sources.has(real)) return;
      if (isInOwnFolder(location))
        this.#note('OWN_FOLDER', location, 'is the data directory, or inside it');
      else if (isNameTooLong(location))
        this.#note('PATH_TOO_LONG', location, `its path has more than ${NAME_SIZE_MAX} bytes`);
      else this.#accept(location, real, await layoutOf(location));
    } catch (error) {
      if (error instanceof ProbeError) this.#noteProbe(location, error, isFound);
      else if (error instanceof GitPathError) this.#note('NOT_ITS_OWN', location, error.message);
      else if (!isFound || !isGone(error)) this.#noteUnread(location, error);
    }
  }

  /** Errors: GitPathError; why it cannot be a repository. */
  #accept(location: string, real: string, layout: SourceLayout): void {
    const { mode, ignore = [] } = this.#options;
    if (layout === 'folder' && mode === 'commits')
      this.#note('MODE_NOT_POSSIBLE', location, 'a folder without git has no commits; omit mode');
    else if (layout === 'bare' && mode === 'worktree')
      this.#note('MODE_NOT_POSSIBLE', location, 'a bare repository has no files; omit mode');
    else {
      if (layout !== 'folder') checkGitPaths(location);
      const kind = layout === 'folder' ? layout : (mode ?? 'commits');
      this.#sources.set(real, { path: location, kind, ignore: kind === 'commits' ? [] : ignore });
    }
  }

  #noteProbe(location: string, error: ProbeError, isFound: boolean): void {
    const reason = messageOf(error).replace(`${location}: `, '');
    if (error.failure === 'not_found') {
      if (!isFound) this.#note('NOT_FOUND', location, 'it does not exist; is its disk mounted?');
    } else if (error.failure === 'not_a_directory') this.#note('NOT_A_FOLDER', location, reason);
    else if (error.failure === 'not_readable') this.#note('NOT_READABLE', location, reason);
    else this.#note('NOT_A_REPOSITORY', location, reason);
  }
}

function isName(part: Part): part is string {
  return typeof part === 'string';
}

/** Source: RFC 8089; `?` and `#` have no special meaning in a file address, and `?` is a glob here. */
function partsOf(url: string): Part[] {
  const found = /^file:\/\/([^/]*)(\/.*)$/is.exec(url);
  if (found === null) throw new AddressError('write it as file:///folder');
  if (found[1] !== '' && found[1]?.toLowerCase() !== 'localhost')
    throw new AddressError(`the host ${found[1]} is not this machine; write it as file:///folder`);
  if (/\{[^}]*\/[^}]*\}/.test(url))
    throw new AddressError('braces cannot contain a slash; give each folder its own connection');
  const segments = found[2]!.split('/').filter((segment) => segment !== '' && segment !== '.');
  return segments.map(partOf);
}

function partOf(segment: string): Part {
  const name = decoded(segment, (text) => text);
  if (name === '..' || name.includes('/') || name.includes('\0'))
    throw new AddressError(`"${segment}" is not a folder name`);
  if (segment === '**') return ANY_FOLDERS;
  if (!/[*?[\]{}]/.test(segment)) return name;
  // Encoded characters are literal.
  const glob = decoded(segment, (text) => text.replace(/[\\*?[\]{}()!+@|]/g, String.raw`\$&`));
  return globTest([glob], { matchesDot: false });
}

function decoded(text: string, change: (escaped: string) => string): string {
  try {
    return text.replace(/(?:%[0-9a-f]{2})+/gi, (escaped) => change(decodeURIComponent(escaped)));
  } catch {
    throw new AddressError(`"${text}" is not percent-encoded correctly; write % as %25`);
  }
}
