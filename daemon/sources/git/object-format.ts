// The hash by which a repository names its objects, so that files on disk get the ids that git would give them.

import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { gitDirsOf } from './git-paths.ts';
import { CONFIG_SIZE_MAX } from './path-kind.ts';

export type ObjectFormat = 'sha1' | 'sha256';

const SECTION = /^\s*\[extensions\]/i;
const SETTING = /^(?:\s*\[extensions\])?\s*objectformat\s*=\s*"?sha256"?\s*(?:[#;]|$)/im;

/**
 * Hash of the repository at a path; SHA-1 for a folder without git. Source: git reads this setting only from the
 * repository's own file, without includes. Errors: as gitDirsOf; of the file system. Cost: some system calls.
 */
export function objectFormatOf(repoPath: string): ObjectFormat {
  // Safety: there is at least one.
  const file = path.join(gitDirsOf(repoPath).at(-1)!, 'config');
  const status = statSync(file, { throwIfNoEntry: false });
  if (status?.isFile() !== true || status.size > CONFIG_SIZE_MAX) return 'sha1';
  const sections = readFileSync(file, 'utf8').split(/^(?=[ \t]*\[)/m);
  const isSet = sections.some((one) => SECTION.test(one) && SETTING.test(one));
  return isSet ? 'sha256' : 'sha1';
}
