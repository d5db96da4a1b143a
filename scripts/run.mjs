// `npm run bench`, `fuzz`, `golden`: installs what is missing, builds what is stale, then runs the programs below build/ that
// come first among the arguments, each with the other arguments. Look at what `golden` changed before you commit it.

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './install.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const given = process.argv.slice(2);
const count = given.findLastIndex((text) => text.startsWith('build/')) + 1;

ensureInstalled(root);
run('scripts/build.mjs', [], ['ignore', 2, 2]);
for (const program of given.slice(0, count)) run(program, given.slice(count), 'inherit');

function run(script, args, stdio) {
  const { status } = spawnSync(process.execPath, [path.join(root, script), ...args], { stdio });
  if (status !== 0) process.exit(status ?? 1);
}
