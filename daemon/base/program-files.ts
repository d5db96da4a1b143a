// URLs of program files that are not imported: scripts of threads and child processes, WebAssembly, tables. All are
// resolved here because the bundle (scripts/bundle.mjs) moves this file and its importers: both locations are two folders
// below build/.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const BUILD = new URL('../../', import.meta.url);

/** Script of a thread or child process. @param name  below daemon/, for example `engine/host/search-worker.js` */
export function programFile(name: string): URL {
  return new URL(`daemon/${name}`, BUILD);
}

/** A build product that is not JavaScript. @param name  for example `languages.json` */
export function builtFile(name: string): URL {
  return new URL(name, BUILD);
}

/** A file of a dependency outside the bundle. @param name  as imported */
export function packageFile(name: string): URL {
  return pathToFileURL(createRequire(import.meta.url).resolve(name));
}
