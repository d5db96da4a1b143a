// `npm run check`: the one gate. Form, lint, dead code, builds, then all tests; goes on after a failure, so
// that one run shows everything, and ends with exit code 1 if anything failed.

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './install.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

const STEPS = [
  ['format', 'node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.'],
  ['lint', 'node_modules/oxlint/bin/oxlint', '--type-aware'],
  ['dead code', 'node_modules/knip/bin/knip.js', '--no-progress'],
  ['build', 'scripts/build.mjs', '--force'],
  ['test', 'scripts/test.mjs', '--all'],
];

ensureInstalled(root);
const failed = STEPS.filter(([name, script, ...args]) => {
  console.error(`== ${name}`);
  const options = { cwd: root, stdio: 'inherit' };
  return spawnSync(process.execPath, [path.join(root, script), ...args], options).status !== 0;
}).map(([name]) => name);
console.error(failed.length === 0 ? '== all passed' : `== failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
