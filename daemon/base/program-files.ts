// Files of the program that are not imported: what threads and child processes run, WebAssembly, tables. All are named from
// here, because the bundle (scripts/bundle.mjs) puts this file and its importers into another one: both lie two folders
// below build/.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const BUILD = new URL('../../', import.meta.url);

/** What a thread or a child process runs. @param name  below daemon/, for example `engine/host/search-worker.js` */
export function programFile(name: string): URL {
  return new URL(`daemon/${name}`, BUILD);
}

/** What the build made besides JavaScript. @param name  for example `languages.json` */
export function builtFile(name: string): URL {
  return new URL(name, BUILD);
}

/** A file of a dependency that stays outside of the bundle. @param name  as it is imported */
export function packageFile(name: string): URL {
  return pathToFileURL(createRequire(import.meta.url).resolve(name));
}
