// Joins what the main thread of `trawl` runs into build/bundle/cli/main.js: our modules and the dependencies that are plain
// JavaScript. Why: finding and loading 950 files is half of a start (figures: daemon/DECISIONS.md). Two folders below
// build/, as daemon/base/program-files.ts has it; names are kept for stacks. Threads and tests run build/daemon.

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/**
 * What stays in node_modules: it has native parts, data files or threads of its own, or is loaded by `import()` alone, when a
 * connection needs it. What is imported otherwise has to be joined: the bundle would import it at its start.
 */
const APART = [
  '@gitbeaker/core',
  '@gitbeaker/requester-utils',
  '@node-rs/argon2',
  'azure-devops-node-api',
  'koffi',
  'libsql',
  'linguist-languages',
  'msgpackr',
  'pg-native',
  'pino',
  'swagger-ui-dist',
  'uWebSockets.js',
  'web-tree-sitter',
];

await build({
  absWorkingDir: path.dirname(path.dirname(fileURLToPath(import.meta.url))),
  entryPoints: ['build/daemon/cli/main.js'],
  outfile: 'build/bundle/cli/main.js',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  mainFields: ['module', 'main'],
  // What CommonJS modules call for modules of Node.js.
  banner: {
    js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
  },
  keepNames: true,
  external: APART,
  logLevel: 'warning',
});
