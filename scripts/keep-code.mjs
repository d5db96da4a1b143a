// Starts the bundle in the folder that is given, over a folder with one file, until a search is answered, and writes
// what V8 made of its text meanwhile: trawl.code (scripts/run-bundle.mjs).

import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import v8 from 'node:v8';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

const NAME_SIZE = 16;
const WORD = 'needle';

const folder = process.argv[2];
const filename = path.join(folder, 'trawl.cjs');
const work = mkdtempSync(path.join(tmpdir(), 'trawl-code-'));
mkdirSync(path.join(work, 'source'));
writeFileSync(path.join(work, 'source', 'file.txt'), `${WORD}\n`);

for (const name of Object.keys(process.env))
  if (name.startsWith('TRAWL_')) delete process.env[name];
const flags = ['--anonymous', '--port', '0', '--data-dir', path.join(work, 'data')];
process.argv.splice(2, 1, 'serve', ...flags, path.join(work, 'source'));
// Why: V8 takes code only under the flags it was made with, those of the beginning. Threads may set this one.
const { setFlagsFromString } = v8;
v8.setFlagsFromString = () => {};
const takeFlagsBack = () => setFlagsFromString('--no-expose-gc');
const listening = listenedFor();
const text = readFileSync(filename, 'latin1');
const script = new Script(text, { filename });
script.runInThisContext()(createRequire(filename), pathToFileURL(filename).href);
process.on('exit', () => rmSync(work, { recursive: true, force: true }));

const url = await listening;
while (!(await isFound(url))) await sleep(20);
const kept = path.join(folder, 'trawl.code');
takeFlagsBack();
const code = script.createCachedData();
const head = text.slice(2, 2 + NAME_SIZE) + crc32(code).toString(16).padStart(8, '0');
writeFileSync(`${kept}.new`, Buffer.concat([Buffer.from(head), code]));
renameSync(`${kept}.new`, kept);
process.kill(process.pid, 'SIGTERM');

/** The address that the daemon prints. */
function listenedFor() {
  return new Promise((resolve) => {
    const write = process.stderr.write.bind(process.stderr);
    process.stderr.write = (line, ...rest) => {
      const found = /^Serving on (\S+)$/m.exec(String(line));
      if (found) resolve(found[1]);
      return write(line, ...rest);
    };
  });
}

async function isFound(url) {
  const answer = await fetch(new URL('/api/search', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: WORD, matches: 1 }),
  });
  const { files } = await answer.json();
  return files.length > 0;
}
