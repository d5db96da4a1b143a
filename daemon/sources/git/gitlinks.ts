// The submodules of a commit: path, pinned commit, and the address in `.gitmodules`. Addresses are not followed here.

import { runGit, tryGit } from './git.ts';
import { isFilePath } from './names.ts';

export interface Gitlink {
  readonly path: string;
  /** As written, unchecked. */
  readonly url: string;
  /** Object id. */
  readonly commit: string;
}

/** Bound: further ones are ignored. */
const GITLINKS_MAX = 1_000;
/** Limit of file systems. */
const PATH_SIZE_MAX = 4_096;
const SETTING = /^submodule\.(.*)\.(path|url)\n(.*)$/s;
const ENTRY = /^160000 commit ([0-9a-f]+)\t(.*)$/s;

/**
 * Submodules with a path and an address, the first 1,000. Errors: GitError, also if the commit cannot be read. Cost: a
 * process; three if there are any.
 */
export async function readGitlinks(repoPath: string, commit: string): Promise<readonly Gitlink[]> {
  const urls = await readModules(repoPath, commit);
  if (urls.size === 0) return [];
  return (await listed(repoPath, commit, [...urls.keys()])).flatMap((record) => {
    const [, id = '', path = ''] = ENTRY.exec(record) ?? [];
    const url = urls.get(path);
    return url === undefined ? [] : [{ path, url, commit: id }];
  });
}

/** Existing paths as ls-tree lists them. Errors: GitError. */
async function listed(
  repoPath: string,
  commit: string,
  paths: readonly string[],
): Promise<string[]> {
  const args = ['ls-tree', '-z', '--full-tree', '--end-of-options', commit, ...paths];
  return (await runGit(args, { repoPath })).toString('utf8').split('\0').slice(0, -1);
}

/** Addresses in `.gitmodules` by path. Errors: GitError. */
async function readModules(repoPath: string, commit: string): Promise<Map<string, string>> {
  // Why: git config fails alike for a missing file and an unreadable repository.
  if ((await listed(repoPath, commit, ['.gitmodules'])).length === 0) return new Map();
  const args = [
    'config',
    `--blob=${commit}:.gitmodules`,
    '--no-includes',
    '-z',
    '--get-regexp',
    String.raw`^submodule\..*\.(path|url)$`,
  ];
  const settings = new Map<string, { path?: string; url?: string }>();
  for (const setting of ((await tryGit(args, { repoPath })) ?? '').split('\0')) {
    const [, name = '', key = '', value = ''] = SETTING.exec(setting) ?? [];
    if (key === '' || (settings.size >= GITLINKS_MAX && !settings.has(name))) continue;
    settings.set(name, { ...settings.get(name), [key]: value });
  }
  const urls = new Map<string, string>();
  for (const { path = '', url } of settings.values())
    if (url !== undefined && path.length <= PATH_SIZE_MAX && isFilePath(path)) urls.set(path, url);
  return urls;
}
