// By which hash a repository names its objects, so that files on disk get the ids that git would give them.

import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { gitDirsOf } from './git-place.ts';
import { CONFIG_SIZE_MAX } from './layout.ts';

export type ObjectFormat = 'sha1' | 'sha256';

const SECTION = /^\s*\[extensions\]/i;
const SETTING = /^(?:\s*\[extensions\])?\s*objectformat\s*=\s*"?sha256"?\s*(?:[#;]|$)/im;

/**
 * That of the repository at a path; of a folder without git SHA-1.
 *
 * Source: git reads this setting of the repository's own file alone, without what it includes.
 * Errors: as gitDirsOf; of the file system. Cost: some calls of the system.
 */
export function objectFormatOf(repoPath: string): ObjectFormat {
  // Safety: there is one at least.
  const file = path.join(gitDirsOf(repoPath).at(-1)!, 'config');
  const status = statSync(file, { throwIfNoEntry: false });
  if (status?.isFile() !== true || status.size > CONFIG_SIZE_MAX) return 'sha1';
  const sections = readFileSync(file, 'utf8').split(/^(?=[ \t]*\[)/m);
  const isSet = sections.some((one) => SECTION.test(one) && SETTING.test(one));
  return isSet ? 'sha256' : 'sha1';
}
