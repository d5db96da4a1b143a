// The submodules of a commit: where each lies, which commit it pins, and the address that `.gitmodules` says. Nothing of that is
// followed here.

import { tryGit } from './git.ts';

export interface Gitlink {
  readonly path: string;
  /** As it is written, which may be anything. */
  readonly url: string;
  /** Object id. */
  readonly commit: string;
}

/** Bound: further ones are not looked at. */
const GITLINKS_MAX = 1_000;
const SETTING = /^submodule\.(.*)\.(path|url)\n(.*)$/s;
const ENTRY = /^160000 commit ([0-9a-f]+)\t(.*)$/s;

/**
 * Those that have a path and an address, the first 1,000.
 *
 * Errors: GitError. Cost: a process; two where there are any.
 */
export async function readGitlinks(repoPath: string, commit: string): Promise<readonly Gitlink[]> {
  const urls = await readModules(repoPath, commit);
  if (urls.size === 0) return [];
  const args = ['ls-tree', '-z', '--full-tree', '--end-of-options', commit, ...urls.keys()];
  const listed = (await tryGit(args, { repoPath })) ?? '';
  return listed.split('\0').flatMap((record) => {
    const [, id = '', path = ''] = ENTRY.exec(record) ?? [];
    const url = urls.get(path);
    return url === undefined ? [] : [{ path, url, commit: id }];
  });
}

/** What `.gitmodules` says: address by path. */
async function readModules(repoPath: string, commit: string): Promise<Map<string, string>> {
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
    if (key === '' || settings.size >= GITLINKS_MAX) continue;
    settings.set(name, { ...settings.get(name), [key]: value });
  }
  const urls = new Map<string, string>();
  for (const { path = '', url } of settings.values())
    if (url !== undefined && isInside(path)) urls.set(path, url);
  return urls;
}

function isInside(path: string): boolean {
  return path.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
}
