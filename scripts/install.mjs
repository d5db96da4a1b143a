// Installs the npm dependencies when node_modules is missing or was made from another lock file.

import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import path from 'node:path';

/** Runs `npm ci` in `root` if the installed packages do not fit the lock file. Exits on failure. */
export function ensureInstalled(root) {
  const modules = path.join(root, 'node_modules');
  // A linked folder belongs to another checkout: installing would empty it.
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  const stamp = path.join(modules, '.trawl-lock');
  const lock = readFileSync(path.join(root, 'package-lock.json'));
  const wanted = createHash('sha256').update(lock).digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  console.error('Installing dependencies (npm ci) ...');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const result = spawnSync(
    npm,
    ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'],
    {
      cwd: root,
      stdio: ['ignore', 2, 2],
    },
  );
  if (result.status !== 0) {
    console.error('npm ci failed; see its messages above.');
    process.exit(result.status ?? 1);
  }
  writeFileSync(stamp, wanted);
}
