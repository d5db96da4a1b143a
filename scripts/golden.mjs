// `npm run golden`: builds what is stale, then writes what tests compare with: test/api/api.golden.txt, the listing of
// the API description, and test/engine/search/order.golden.txt, the order of files in answers about a small tree. Look at
// the difference before you commit it: within a label the API only grows.

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './install.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

ensureInstalled(root);
const WRITERS = ['api/write-golden.js', 'engine/search/write-golden-order.js'];
for (const script of ['scripts/build.mjs', ...WRITERS.map((file) => `build/test/${file}`)]) {
  const options = { cwd: root, stdio: 'inherit' };
  const { status } = spawnSync(process.execPath, [path.join(root, script)], options);
  if (status !== 0) process.exit(status ?? 1);
}
