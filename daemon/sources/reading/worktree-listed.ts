// Whether git counts a path to a work tree: tracked, or untracked and not ignored. git is asked, which takes a
// process; a yes is kept until one of the files changes that git would look at for it: the index, the ignore rules on
// the way down, the configuration. A no is not kept, as it may only mean that the file is not there.

import { lstatSync, type BigIntStats } from 'node:fs';
import { LRUCache } from 'lru-cache';
import { entryBound } from '../../base/entry-bound.ts';
import { namedCache } from '../../base/metrics.ts';
import { isSettled } from '../disk/disk.ts';
import { withSlot } from '../git/git-slots.ts';
import { gitDirOf } from '../git/git.ts';
import { listWorktree } from '../git/objects.ts';
import type { RepoSource } from '../../repos/records.ts';

const KEPT_MAX = 20_000;

/** Root and path -> what the files looked like when git said yes. */
const kept = namedCache('files listed', new LRUCache<string, string>(entryBound(KEPT_MAX)));

/**
 * Whether a path is among what `listWorktree` gives.
 *
 * @param path       in UTF-8, without a slash at its end
 * @param settledMs  for tests: another age at which a file counts as settled; default: that of `isSettled`
 *
 * Errors: GitBusyError; GitError; the reason of the signal.
 * Cost: 0.05 ms if kept, else a git process.
 */
export async function isListedInWorktree(
  { path: root, noIgnore }: Pick<RepoSource, 'path' | 'noIgnore'>,
  path: string,
  signal: AbortSignal,
  settledMs?: number,
): Promise<boolean> {
  const key = `${root}\0${path}\0${noIgnore}`;
  const state = stateOf(root, path, settledMs);
  if (state !== undefined && kept.get(key) === state.text) return true;
  const wish = { signal, within: [path], noIgnore };
  const listed = await withSlot(root, signal, () => listWorktree(root, wish));
  const isListed = listed.some((named) => named.path === path);
  if (isListed && state?.isSettled === true) kept.set(key, state.text);
  else kept.delete(key);
  return isListed;
}

interface State {
  /** Equal texts: nothing has changed. */
  readonly text: string;
  readonly isSettled: boolean;
}

/** Undefined: the folder of git is elsewhere. */
function stateOf(root: string, path: string, settledMs: number | undefined): State | undefined {
  const gitDir = gitDirOf(root);
  if (statOf(gitDir)?.isDirectory() !== true) return undefined;
  const places = [`${gitDir}/index`, `${gitDir}/config`, `${gitDir}/info/exclude`];
  places.push(`${root}/.gitignore`);
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
    const folder = `${root}/${path.slice(0, slash)}`;
    places.push(`${folder}/.gitignore`, `${folder}/.git`);
  }
  let newestNs = 0n;
  const parts = places.map((place) => {
    const stat = statOf(place);
    if (stat === undefined) return '-';
    if (stat.ctimeNs > newestNs) newestNs = stat.ctimeNs;
    return `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
  });
  return { text: parts.join(','), isSettled: isSettled(newestNs, settledMs) };
}

function statOf(place: string): BigIntStats | undefined {
  try {
    return lstatSync(place, { bigint: true, throwIfNoEntry: false });
  } catch {
    // A file where a folder should be, or no permission: git says what that means.
    return undefined;
  }
}
