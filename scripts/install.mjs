// Installs the npm dependencies when node_modules is missing or was made from another lock file, by whomever.

import { spawnSync } from 'node:child_process';
import { lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { alone } from './lock.mjs';

/** Runs `npm ci` in `root` if the installed packages do not fit the lock file. Exits on failure. */
export function ensureInstalled(root) {
  const modules = path.join(root, 'node_modules');
  // A linked folder belongs to another checkout: installing would empty it.
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  if (isInstalled(root, modules)) return;
  alone(root, () => {
    // Another process may have done it meanwhile.
    if (!isInstalled(root, modules)) install(root);
  });
}

function isInstalled(root, modules) {
  return fits(packagesOf(modules, '.package-lock.json'), packagesOf(root, 'package-lock.json'));
}

function install(root) {
  console.error('Installing dependencies (npm ci, which prints only when it is done) ...');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const result = spawnSync(
    npm,
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

/** Packages by their place; npm writes down what it has installed when it is done. */
function packagesOf(folder, name) {
  try {
    return JSON.parse(readFileSync(path.join(folder, name), 'utf8')).packages ?? {};
  } catch {
    return {};
  }
}

/** Optional ones that are for other machines are not installed. */
function fits(installed, wanted) {
  const isThere = ([place, { version, optional, devOptional }]) =>
    place === '' ||
    (installed[place] === undefined
      ? optional === true || devOptional === true
      : installed[place].version === version);
  return Object.entries(wanted).every(isThere);
}
