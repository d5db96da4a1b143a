#!/usr/bin/env node
// The command `trawl` of a checkout: installs what is missing, builds what is stale, then runs the
// command line in this same process. What few starts need is loaded when needed: child_process and net take 10 ms.

import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isInstalled } from './installed.mjs';
import { isStale, PARTS } from './stale.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

if (process.argv[2] === 'serve')
  await (await import('./free-port.mjs')).ensurePortIsFree(process.argv.slice(2), process.env);
if (!isInstalled(root)) (await import('./install.mjs')).ensureInstalled(root);
// Tests and benchmarks are not run here, and what the program has of this part is in the bundle.
if (PARTS.some((part) => part.name !== 'daemon' && isStale(root, part))) {
  const { spawnSync } = await import('node:child_process');
  // Why a child: the build exits on failure.
  const build = spawnSync(process.execPath, [path.join(root, 'scripts', 'build.mjs')], {
    stdio: ['ignore', 2, 2],
  });
  if (build.status !== 0) process.exit(2);
}
await import(pathToFileURL(path.join(root, 'build', 'bundle', 'cli', 'main.js')).href);
