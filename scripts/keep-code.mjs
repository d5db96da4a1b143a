// Runs the bundle that is named by its text file, with the command that follows, and writes what V8 made of the text meanwhile
// beside it: serve.code, search.code or help.code, by the command. A daemon ends when it has answered a search.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import v8 from 'node:v8';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

const NAME_SIZE = 16;

const [, , filename, word, command] = process.argv;
process.argv.splice(2, 2);
for (const name of Object.keys(process.env))
  if (name.startsWith('TRAWL_')) delete process.env[name];
// Why: V8 takes code only under the flags it was made with, those of the beginning. Threads may set this one.
const { setFlagsFromString } = v8;
v8.setFlagsFromString = () => {};
const listening = command === 'serve' ? listenedFor() : undefined;
const text = readFileSync(filename, 'latin1');
const script = new Script(text, { filename });
process.on('exit', keepCode);
script.runInThisContext()(createRequire(filename), pathToFileURL(filename).href);
if (listening !== undefined) {
  const url = await listening;
  while (!(await isFound(url))) await sleep(20);
  process.kill(process.pid, 'SIGTERM');
}

function keepCode() {
  const kept = path.join(path.dirname(filename), `${command.replace(/^-+/, '')}.code`);
  setFlagsFromString('--no-expose-gc');
  const code = script.createCachedData();
  const head = text.slice(2, 2 + NAME_SIZE) + crc32(code).toString(16).padStart(8, '0');
  writeFileSync(`${kept}.new`, Buffer.concat([Buffer.from(head), code]));
  renameSync(`${kept}.new`, kept);
}

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
    body: JSON.stringify({ query: word, matches: 1 }),
  });
  const { files } = await answer.json();
  return files.length > 0;
}
