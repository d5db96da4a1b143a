// Keeps what was built below build/: the commit, and the text that `trawl --version` prints (scripts/main.cjs adds what is
// known only there). Called at the end of a build of the bundle, and for a package.

import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** With `+` after it if tracked files were changed; empty if `root` is no checkout. */
function commitOf(root) {
  const git = (...args) => spawnSync('git', args, { cwd: root });
  const { status, stdout } = git('rev-parse', '--short=12', 'HEAD');
  if (status !== 0) return '';
  const isChanged = git('status', '--porcelain', '--untracked-files=no').stdout.length > 0;
  return `${String(stdout).trim()}${isChanged ? '+' : ''}`;
}

export function writeVersions(root) {
  const folder = path.join(root, 'build', 'bundle', 'cli');
  const kept = path.join(folder, 'versions.txt');
  writeFileSync(path.join(root, 'build', 'commit.txt'), commitOf(root));
  // Without it the program itself answers.
  rmSync(kept, { force: true });
  const { status, stdout, stderr } = spawnSync(process.execPath, [
    path.join(folder, 'main.js'),
    '--version',
  ]);
  const text = String(stdout);
  const end = text.lastIndexOf(NODE_LINE);
  if (status === 0 && end > 0) writeFileSync(kept, text.slice(0, end));
  else process.stderr.write(`the versions were not kept: ${String(stderr)}\n`);
}

const NODE_LINE = '\nnode ';
