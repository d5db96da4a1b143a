// Fetches a clone by git alone: all branches and tags, nothing else.

import { access } from 'node:fs/promises';
import type { FetchClone } from './sync/connections/clones.ts';
import { runGit } from './sources/git/git.ts';

const REFSPECS = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];

export const fetchClone: FetchClone = async ({ folder, url, signal, timeoutMs }) => {
  const isThere = await access(folder).then(
    () => true,
    () => false,
  );
  const run = { signal, timeoutMs };
  if (!isThere) await runGit(['init', '--quiet', '--bare', '--template=', folder], run);
  const args = ['fetch', '--quiet', '--prune', '--no-tags', '--end-of-options', url, ...REFSPECS];
  await runGit(args, { ...run, repoPath: folder });
};
