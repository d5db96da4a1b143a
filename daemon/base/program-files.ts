// URLs of program files that are not imported: scripts of threads and child processes, WebAssembly, tables. All are
// resolved here because the bundle (scripts/bundle.mjs) moves this file and its importers: both locations are two folders
// below build/.

const BUILD = new URL('../../', import.meta.url);

/** The script of a thread or process, joined into one file by scripts/bundle.mjs. @param name  of its source, for example `search-worker` */
export function threadFile(name: string): URL {
  return new URL(`bundle/threads/${name}.cjs`, BUILD);
}

/** A file that is built below daemon/. @param name  for example `api/instance/openapi.json` */
export function programFile(name: string): URL {
  return new URL(`daemon/${name}`, BUILD);
}

/** A build product that is not JavaScript. @param name  for example `languages.json` */
export function builtFile(name: string): URL {
  return new URL(name, BUILD);
}
