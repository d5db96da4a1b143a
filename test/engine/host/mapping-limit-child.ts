// Uses up the mappings allowed for a process, then tries to map a file, and prints the result.

import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { statSync } from 'node:fs';
import { mapFile } from '../../../daemon/engine/host/mapping.ts';

const FILE = fileURLToPath(import.meta.url);
const PAGE = 4096;
const PROT_NONE = 0;
const MAP_PRIVATE_ANONYMOUS = 0x22;

const memory = new WebAssembly.Memory({ initial: 4, maximum: 4 });
const koffi: typeof import('koffi') = createRequire(import.meta.url)('koffi');
const libc = koffi.load(null);
const mmap = libc.func(
  'intptr_t mmap(intptr_t address, size_t size, int protection, int flags, int file, int64_t offset)',
);
const mprotect = libc.func('int mprotect(intptr_t address, size_t size, int protection)');
const munmap = libc.func('int munmap(intptr_t address, size_t size)');
// One call before the limit: what it needs is loaded then.
mapFile(memory, 65_536, FILE, statSync(FILE).size, false);

const count = 600_000;
const start = Number(mmap(0, count * PAGE, PROT_NONE, MAP_PRIVATE_ANONYMOUS, -1, 0));
let next = 0;
// Every second page with other rights: a mapping each.
while (next < count && mprotect(start + next * PAGE, PAGE, 1) === 0) next += 2;
let answer = 'placed';
try {
  mapFile(memory, 131_072, FILE, statSync(FILE).size, false);
} catch (error) {
  answer = String(error);
}
munmap(start, count * PAGE);
process.stdout.write(`${answer}\n`);
