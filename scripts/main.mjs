// What `trawl` runs, as build/bundle/cli/main.js: the bundle (scripts/run-bundle.mjs). The versions alone are a text that the
// build has kept: loading the program for them takes twice as long as starting Node.js.

import { readFileSync, writeSync } from 'node:fs';

const [, , word, ...more] = process.argv;
const isOfVersions = more.length === 0 && ['--version', '-V', 'version'].includes(word);
if (!isOfVersions || !areVersionsWritten()) await import(new URL('run.js', import.meta.url).href);

/** False: there is no such text, or nobody reads it; the program knows what to do. */
function areVersionsWritten() {
  try {
    writeSync(1, readFileSync(new URL('versions.txt', import.meta.url)));
    return true;
  } catch {
    return false;
  }
}
