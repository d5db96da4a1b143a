// `npm run fuzz -- TARGET [SECONDS] [SEED]`: installs what is missing, builds what is stale, then fuzzes a target
// (test/fuzz/targets.ts).

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './install.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

ensureInstalled(root);
for (const script of ['scripts/build.mjs', 'build/test/fuzz/main.js']) {
  const args = script.startsWith('build') ? process.argv.slice(2) : [];
  const result = spawnSync(process.execPath, [path.join(root, script), ...args], {
    cwd: root,
    stdio: 'inherit',
  });
  if (result.status !== 0) process.exit(result.status ?? 1);
}
