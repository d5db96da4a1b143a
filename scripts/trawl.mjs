#!/usr/bin/env node
// The command `trawl` of a checkout: installs what is missing, builds what is stale, then runs the
// command line in this same process.

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensurePortIsFree } from './free-port.mjs';
import { ensureInstalled } from './install.mjs';
import { isStale, PARTS } from './stale.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

await ensurePortIsFree(process.argv.slice(2), process.env);
ensureInstalled(root);
// Why a child: the build exits on failure.
if (PARTS.some((part) => isStale(root, part))) {
  const build = spawnSync(process.execPath, [path.join(root, 'scripts', 'build.mjs')], {
    stdio: ['ignore', 2, 2],
  });
  if (build.status !== 0) process.exit(2);
}
await import(pathToFileURL(path.join(root, 'build', 'bundle', 'cli', 'main.js')).href);
