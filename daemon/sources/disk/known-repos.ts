// The folders of repositories that are sources of their own, whatever is in them now: a repository whose `.git` is missing
// for a while is not part of the folder around it, which may have other permissions and shows what git ignored.

import { seeFolder } from './identity.ts';

let known: () => readonly string[] = () => [];

/** Their absolute paths, from the register; in a thread that lists files from the main thread. */
export function setKnownRepos(paths: () => readonly string[]): void {
  known = paths;
}

export function knownRepos(): readonly string[] {
  return known();
}

/** Those below a folder, relative to it. */
export function knownReposBelow(folder: string): ReadonlySet<string> {
  const paths = known();
  const locations = new Set([folder, seeFolder(folder)?.realPath ?? folder]);
  const starts = [...locations].map((one) => (one.endsWith('/') ? one : `${one}/`));
  return new Set(
    starts.flatMap((start) =>
      paths.filter((one) => one.startsWith(start)).map((one) => one.slice(start.length)),
    ),
  );
}
