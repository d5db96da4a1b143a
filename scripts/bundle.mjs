// Joins what the main thread of `trawl` runs into build/bundle/cli/main.js: our modules and the dependencies that come as
// hundreds of small files. Why: loading 950 files is more than half of a start (figures: daemon/DECISIONS.md). Two folders
// below build/, as daemon/base/program-files.ts has it; names are kept for stacks. Threads and tests run build/daemon.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Dependencies that are joined too; the others stay in node_modules. */
const JOINED = ['kysely', 'zod'];

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const { dependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
await build({
  absWorkingDir: root,
  entryPoints: ['build/daemon/cli/main.js'],
  outfile: 'build/bundle/cli/main.js',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  keepNames: true,
  external: Object.keys(dependencies).filter((name) => !JOINED.includes(name)),
  logLevel: 'warning',
});
