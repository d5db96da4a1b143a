// Installs the npm dependencies when node_modules is missing or was made from another lock file, by whomever.

import { spawnSync } from 'node:child_process';
import { isInstalled } from './installed.mjs';
import { alone } from './lock.mjs';

/** Runs `npm ci` in `root` if the installed packages do not fit the lock file. Exits on failure. */
export function ensureInstalled(root) {
  if (isInstalled(root)) return;
  alone(root, () => {
    // Another process may have done it meanwhile.
    if (!isInstalled(root)) install(root);
  });
}

function install(root) {
  console.error('Installing dependencies (npm ci, which prints only when it is done) ...');
  const result = spawnSync(
    'npm',
    ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'],
    {
      cwd: root,
      stdio: ['ignore', 2, 2],
    },
  );
  if (result.status === 0) return;
  console.error('npm ci failed; see its messages above.');
  process.exit(result.status ?? 1);
}
