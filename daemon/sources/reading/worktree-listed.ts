// Whether git lists a path in a work tree: tracked, or untracked and not ignored. Asking git takes a process. A yes is
// cached until a file changes that git would read for it: the index, the ignore rules on the way down, the configuration. A
// no is not cached, as the file may only not exist yet.

import { lstatSync, type BigIntStats } from 'node:fs';
import { LRUCache } from 'lru-cache';
import { entryBound } from '../../base/entry-bound.ts';
import { measuredCache } from '../../base/metrics.ts';
import { isSettled } from '../disk/disk.ts';
import { withSlot } from '../git/git-slots.ts';
import { gitDirOf } from '../git/git.ts';
import { listWorktree } from '../git/objects.ts';
import type { RepoSource } from '../../repos/records.ts';

const KEPT_MAX = 20_000;

/** Root and path -> state of those files when git said yes. */
const kept = measuredCache('files listed', new LRUCache<string, string>(entryBound(KEPT_MAX)));

/**
 * Whether `listWorktree` contains a path.
 *
 * @param path       in UTF-8, without trailing slash
 * @param settledMs  for tests: another age at which a file counts as settled; default: that of `isSettled`
 *
 * Errors: GitBusyError; GitError; the reason of the signal.
 * Cost: 0.05 ms if cached, else a git process.
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
  const options = { signal, within: [path], noIgnore };
  const listed = await withSlot(root, signal, () => listWorktree(root, options));
  const isListed = listed.some((treePath) => treePath.path === path);
  if (isListed && state?.isSettled === true) kept.set(key, state.text);
  else kept.delete(key);
  return isListed;
}

interface State {
  /** Equal texts: nothing has changed. */
  readonly text: string;
  readonly isSettled: boolean;
}

/** Undefined: the git directory is elsewhere. */
function stateOf(root: string, path: string, settledMs: number | undefined): State | undefined {
  const gitDir = gitDirOf(root);
  if (statOf(gitDir)?.isDirectory() !== true) return undefined;
  const locations = [`${gitDir}/index`, `${gitDir}/config`, `${gitDir}/info/exclude`];
  locations.push(`${root}/.gitignore`);
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
    const folder = `${root}/${path.slice(0, slash)}`;
    locations.push(`${folder}/.gitignore`, `${folder}/.git`);
  }
  let newestNs = 0n;
  const parts = locations.map((location) => {
    const stat = statOf(location);
    if (stat === undefined) return '-';
    if (stat.ctimeNs > newestNs) newestNs = stat.ctimeNs;
    return `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
  });
  return { text: parts.join(','), isSettled: isSettled(newestNs, settledMs) };
}

function statOf(location: string): BigIntStats | undefined {
  try {
    return lstatSync(location, { bigint: true, throwIfNoEntry: false });
  } catch {
    // A file where a folder should be, or no permission: git decides.
    return undefined;
  }
}
