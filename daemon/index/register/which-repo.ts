// Decides which repo a source is. A source that was known under another path, mode or name keeps its repo id, and with
// it grants, tokens and permissions. If the signs contradict each other it becomes a new repo, so that it never gets
// permissions meant for another one.

import { omitUndefined } from '../../base/omit-undefined.ts';
import type { RepoLocation, StoredRepo } from '../../store/repos.ts';

/** The path of a repo holds another source. The message is for the operator: it names the path. */
export class OtherSourceError extends Error {
  override readonly name = 'OtherSourceError';

  constructor(location: string) {
    super(
      `${location} holds a different source than this repository; the next start, or ` +
        `"trawl index ${location}" while no daemon runs, makes it a separate repository`,
    );
  }
}

/** The current state of a source; without the last two if its folder is gone. */
export interface SourceLocation {
  readonly kind: RepoLocation['kind'];
  /** Absolute, as given. */
  readonly path: string;
  /** Host and path of the remote. */
  readonly remote?: string | undefined;
  readonly realPath?: string;
  readonly fileId?: string;
}

/**
 * Repos that a source may be: exactly one means that one; otherwise it is new.
 *
 * Candidates: the repo at its path, if it has the same folder or remote or was never probed, and the repo that had this
 * folder elsewhere. Without these: a repo with its remote whose own folder is gone.
 * @param isGone  whether a path does not exist
 */
export function possibleRepos(
  repos: readonly StoredRepo[],
  location: SourceLocation,
  isGone: (path: string) => boolean,
): readonly StoredRepo[] {
  const here = repos.filter((repo) => isFolderOf(repo, location) || isAtPathOf(repo, location));
  if (here.length > 0 || location.remote === undefined) return here;
  return repos.filter(
    ({ remote, location: last, host }) =>
      host === undefined && remote === location.remote && (last === undefined || isGone(last.path)),
  );
}

/** Whether it is the repo's folder, with any content. */
export function isFolderOf(
  { location }: StoredRepo,
  { fileId }: Pick<SourceLocation, 'fileId'>,
): boolean {
  return fileId !== undefined && location?.fileId === fileId;
}

function isAtPathOf(repo: StoredRepo, location: SourceLocation): boolean {
  if (repo.location === undefined || !isSamePath(repo.location, location)) return false;
  return repo.location.fileId === undefined || repo.remote === location.remote;
}

function isSamePath(location: RepoLocation, { path, realPath }: SourceLocation): boolean {
  return location.path === path || (realPath !== undefined && location.realPath === realPath);
}

/** The repo with the source as its location, of no connection. */
export function movedTo(repo: StoredRepo, location: SourceLocation): StoredRepo {
  const { remote: _, host: __, ...rest } = repo;
  const { remote, ...current } = location;
  return { ...rest, location: current, ...omitUndefined({ remote }) };
}

/** Signs by which a source and a repo may be the same: equal texts. */
function signsOf({ path, realPath, fileId, remote }: Partial<SourceLocation>): string[] {
  return [
    ...(path === undefined ? [] : [`path ${path}`]),
    ...(realPath === undefined ? [] : [`path ${realPath}`]),
    ...(fileId === undefined ? [] : [`folder ${fileId}`]),
    ...(remote === undefined ? [] : [`remote ${remote}`]),
  ];
}

/** An index of repos by sign. Why: thousands are looked up one after the other. */
export class RepoSigns {
  readonly #repos = new Map<number, StoredRepo>();
  /** Repo ids by sign; some may be outdated. */
  readonly #ids = new Map<string, Set<number>>();

  constructor(repos: readonly StoredRepo[]) {
    for (const repo of repos) this.put(repo);
  }

  put(repo: StoredRepo): void {
    this.#repos.set(repo.repoId, repo);
    for (const sign of signsOf({ ...repo.location, remote: repo.remote })) {
      const ids = this.#ids.get(sign) ?? new Set();
      this.#ids.set(sign, ids.add(repo.repoId));
    }
  }

  byId(repoId: number): StoredRepo | undefined {
    return this.#repos.get(repoId);
  }

  /** Repos that share a sign with a source. */
  near(location: SourceLocation): StoredRepo[] {
    const ids = new Set(signsOf(location).flatMap((sign) => [...(this.#ids.get(sign) ?? [])]));
    return [...ids].map((repoId) => this.#repos.get(repoId)!);
  }
}

/** Other repos that had this location, without it: it is no longer theirs. */
export function displaced(
  repos: readonly StoredRepo[],
  owner: StoredRepo,
  location: SourceLocation,
): readonly StoredRepo[] {
  return repos
    .filter((repo) => repo.repoId !== owner.repoId)
    .filter(
      (repo) =>
        isFolderOf(repo, location) || (repo.location && isSamePath(repo.location, location)),
    )
    .map((repo) => {
      const { location: _, ...rest } = repo;
      return rest;
    });
}
