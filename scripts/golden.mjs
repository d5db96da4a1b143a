// `npm run golden`: builds what is stale, then writes test/http/api/api.golden.txt, the listing of the API description
// that tests compare with. Look at its difference before you commit it: within a label the API only grows.

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './install.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

ensureInstalled(root);
for (const script of ['scripts/build.mjs', 'build/test/http/api/write-golden.js']) {
  const options = { cwd: root, stdio: 'inherit' };
  const { status } = spawnSync(process.execPath, [path.join(root, script)], options);
  if (status !== 0) process.exit(status ?? 1);
}
