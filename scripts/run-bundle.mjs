// Runs the bundle beside it, with the code that V8 made of it at the build; as build/bundle/cli/run.js.
// V8 refuses code of another version or of other flags, and the bundle is compiled as usual then. It believes all else that the
// code says, and a flipped bit ends the process: hence the checksum.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

/** Of the name of a text, in hexadecimal digits; a comment at its beginning, and the head of the code made of it. */
const NAME_SIZE = 16;
/** Behind it, the checksum of the code, in hexadecimal digits. */
const HEAD_SIZE = NAME_SIZE + 8;

const filename = fileURLToPath(new URL('trawl.cjs', import.meta.url));
const text = readFileSync(filename, 'latin1');
const script = new Script(text, { filename, cachedData: codeOf(text) });
script.runInThisContext()(createRequire(filename), import.meta.url);

/** What was kept of a start with this very text: V8 compares lengths alone. */
function codeOf(text) {
  try {
    const kept = readFileSync(new URL('trawl.code', import.meta.url));
    const code = kept.subarray(HEAD_SIZE);
    const head = text.slice(2, 2 + NAME_SIZE) + crc32(code).toString(16).padStart(8, '0');
    return kept.latin1Slice(0, HEAD_SIZE) === head ? code : undefined;
  } catch {
    return undefined;
  }
}
