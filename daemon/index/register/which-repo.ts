// Decides which repo a source is: one that was known under another path, mode or name keeps its id, and with it its
// grants, tokens and rules. Where the signs contradict each other the source is nobody that is known, so that it never
// comes under rules that were made for another one.

import { given } from '../../base/given.ts';
import type { RepoPlace, StoredRepo } from '../../store/repos.ts';

/** At the place of a repo lies a source that is not its own. The message is for the operator: it names the path. */
export class OtherSourceError extends Error {
  override readonly name = 'OtherSourceError';

  constructor(place: string) {
    super(
      `at ${place} lies another source than that of this repository; the next start, or ` +
        `"trawl index ${place}" while no daemon runs, makes it a repository of its own`,
    );
  }
}

/** A source as it is now; without the last two where its folder is gone since. */
export interface SeenSource {
  readonly kind: RepoPlace['kind'];
  /** Absolute, as it was given. */
  readonly path: string;
  /** Host and path of the remote. */
  readonly remote?: string | undefined;
  readonly realPath?: string;
  readonly fileId?: string;
}

/**
 * The repos that a source may be: one: it is that one; none or several: it is a new one.
 *
 * It is the repo that was at its path, if it is still that folder, has the same remote, or was never looked at, and the
 * repo whose folder it is, wherever that lies now. If there is no such repo, it is one with its remote whose own folder
 * is gone.
 *
 * @param isGone  whether nothing is at a path
 */
export function possibleRepos(
  repos: readonly StoredRepo[],
  seen: SeenSource,
  isGone: (path: string) => boolean,
): readonly StoredRepo[] {
  const here = repos.filter((repo) => isFolderOf(repo, seen) || isAtPathOf(repo, seen));
  if (here.length > 0 || seen.remote === undefined) return here;
  return repos.filter(
    ({ remote, place }) => remote === seen.remote && (place === undefined || isGone(place.path)),
  );
}

/** Is it the folder that the repo had, whatever is in it? */
export function isFolderOf({ place }: StoredRepo, { fileId }: Pick<SeenSource, 'fileId'>): boolean {
  return fileId !== undefined && place?.fileId === fileId;
}

function isAtPathOf({ place, remote }: StoredRepo, seen: SeenSource): boolean {
  if (place === undefined || !isSamePath(place, seen)) return false;
  return place.fileId === undefined || remote === seen.remote;
}

function isSamePath(place: RepoPlace, { path, realPath }: SeenSource): boolean {
  return place.path === path || (realPath !== undefined && place.realPath === realPath);
}

/** The repo with the source as its place. */
export function seenAt(repo: StoredRepo, seen: SeenSource): StoredRepo {
  const { remote: _, ...rest } = repo;
  const { remote, ...place } = seen;
  return { ...rest, place, ...given({ remote }) };
}

/** Equal texts for all by which a source and a repo may be told to be the same. */
function signsOf({ path, realPath, fileId, remote }: Partial<SeenSource>): string[] {
  return [
    ...(path === undefined ? [] : [`path ${path}`]),
    ...(realPath === undefined ? [] : [`path ${realPath}`]),
    ...(fileId === undefined ? [] : [`folder ${fileId}`]),
    ...(remote === undefined ? [] : [`remote ${remote}`]),
  ];
}

/** Repos by what they may be known by. Why: thousands are asked for one after the other. */
export class RepoSigns {
  readonly #repos = new Map<number, StoredRepo>();
  /** Ids of repos by sign; some may have lost it. */
  readonly #ids = new Map<string, Set<number>>();

  constructor(repos: readonly StoredRepo[]) {
    for (const repo of repos) this.put(repo);
  }

  /** Adds a repo, or what it is now. */
  put(repo: StoredRepo): void {
    this.#repos.set(repo.repoId, repo);
    for (const sign of signsOf({ ...repo.place, remote: repo.remote })) {
      const ids = this.#ids.get(sign) ?? new Set();
      this.#ids.set(sign, ids.add(repo.repoId));
    }
  }

  byId(repoId: number): StoredRepo | undefined {
    return this.#repos.get(repoId);
  }

  /** The repos that share something with a source by which it may be known. */
  near(seen: SeenSource): StoredRepo[] {
    const ids = new Set(signsOf(seen).flatMap((sign) => [...(this.#ids.get(sign) ?? [])]));
    return [...ids].map((repoId) => this.#repos.get(repoId)!);
  }
}

/** The other repos that were where the source is, without that place: what is there is not theirs any more. */
export function displaced(
  repos: readonly StoredRepo[],
  owner: StoredRepo,
  seen: SeenSource,
): readonly StoredRepo[] {
  return repos
    .filter((repo) => repo.repoId !== owner.repoId)
    .filter((repo) => isFolderOf(repo, seen) || (repo.place && isSamePath(repo.place, seen)))
    .map((repo) => {
      const { place: _, ...rest } = repo;
      return rest;
    });
}
