// Builds everything into build/: the core (debug and release WebAssembly), the table of languages, the grammars
// of tree-sitter, some packages, the daemon, tests and benchmarks (JavaScript), the API description, what browsers load, and
// the bundle that `trawl` runs. Skips a part whose sources are older than its output. `--force` builds all.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { alone } from './lock.mjs';
import { isStale, newestSource, PARTS, stampOf } from './stale.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
/** What the compiler knows of its last run; in build/, so that it goes with the outputs it speaks of. */
const BUILD_INFO = 'build/.tsbuildinfo';
const force = process.argv.includes('--force');

function run(script, args) {
  const result = spawnSync(process.execPath, [path.join(root, script), ...args], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

/** Runs `build` when a source is newer than the stamp of the last successful run. */
function buildIfStale(name, build) {
  const part = PARTS.find((one) => one.name === name);
  if (!force && !isStale(root, part)) return;
  const newest = newestSource(root, part);
  const step = `${PARTS.indexOf(part) + 1} of ${PARTS.length}`;
  console.error(`Building ${name} (${part.what}; part ${step}) ...`);
  const startMs = Date.now();
  build();
  console.error(`Built ${name} in ${((Date.now() - startMs) / 1000).toFixed(1)} s`);
  const stamp = stampOf(root, part);
  writeFileSync(stamp, '');
  const seconds = Math.max(newest, Date.now()) / 1000;
  utimesSync(stamp, seconds, seconds);
}

/** Removes outputs below build/`folder` whose sources are gone: they would still be run as tests. */
function removeOrphans(folder) {
  const output = path.join(root, 'build', folder);
  if (!existsSync(output)) return;
  for (const name of readdirSync(output, { recursive: true })) {
    // What another part has written here.
    if (name.endsWith('.json')) continue;
    const source = path.join(root, folder, name.replace(/\.js(\.map)?$/, '.ts'));
    if (!existsSync(source)) rmSync(path.join(output, name), { recursive: true, force: true });
  }
}

alone(root, () => {
  buildIfStale('core', () => {
    run('node_modules/assemblyscript/bin/asc.js', ['--target', 'release']);
    run('node_modules/assemblyscript/bin/asc.js', ['--target', 'debug']);
  });
  buildIfStale('languages', () => run('scripts/languages.mjs', []));
  buildIfStale('grammars', () => run('scripts/grammars.mjs', []));
  buildIfStale('packages', () => run('scripts/packages.mjs', []));
  buildIfStale('daemon', () => {
    for (const folder of ['bench', 'daemon', 'test']) removeOrphans(folder);
    // With --force what is known of the last build goes, so that every file is written again.
    if (force) rmSync(path.join(root, BUILD_INFO), { force: true });
    const incremental = ['--incremental', '--tsBuildInfoFile', BUILD_INFO];
    run('node_modules/typescript/bin/tsc', ['-p', '.', ...incremental]);
  });
  buildIfStale('openapi', () => {
    run('build/daemon/api/write-document.js', []);
    run('build/test/api/write-whole-document.js', []);
  });
  buildIfStale('web', () => {
    run('node_modules/typescript/bin/tsc', ['-p', 'daemon/web']);
    run('scripts/web.mjs', []);
  });
  buildIfStale('bundle', () => run('scripts/bundle.mjs', []));
});
