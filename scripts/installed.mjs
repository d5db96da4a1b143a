// Whether the npm dependencies of a checkout are installed, as its lock file has them.

import { lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';

export function isInstalled(root) {
  const modules = path.join(root, 'node_modules');
  // A linked folder belongs to another checkout: installing would empty it.
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) return true;
  return fits(packagesOf(modules, '.package-lock.json'), packagesOf(root, 'package-lock.json'));
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
