// `npm run bench -- [OPTIONS]`: installs what is missing, builds what is stale, then runs the benchmarks
// in this same process.

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled } from './install.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

ensureInstalled(root);
const build = spawnSync(process.execPath, [path.join(root, 'scripts', 'build.mjs')], {
  stdio: ['ignore', 2, 2],
});
if (build.status !== 0) process.exit(build.status ?? 1);
await import(pathToFileURL(path.join(root, 'build', 'bench', 'main.js')).href);
