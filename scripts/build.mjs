// Builds everything into build/: the core (debug and release WebAssembly), the table of languages, the grammars
// of tree-sitter, the daemon, tests and benchmarks (JavaScript), the bundle that `trawl` runs, and the API description. Skips a part whose sources are
// older than its output. `--force` builds all.

import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
/** What the compiler knows of its last run; in build/, so that it goes with the outputs it speaks of. */
const BUILD_INFO = 'build/.tsbuildinfo';

/** Newest modification time, in ms, of the .ts and .json files below the given files and folders. */
function newestSource(places) {
  let newest = 0;
  for (const place of places) {
    const full = path.join(root, place);
    if (!existsSync(full)) continue;
    const stat = statSync(full);
    if (!stat.isDirectory()) newest = Math.max(newest, stat.mtimeMs);
    else
      newest = Math.max(
        newest,
        stat.mtimeMs,
        newestSource(readdirSync(full).map((n) => path.join(place, n))),
      );
  }
  return newest;
}

function run(script, args) {
  const result = spawnSync(process.execPath, [path.join(root, script), ...args], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

/** Runs `build` when a source is newer than the stamp of the last successful run. */
function buildIfStale(name, places, force, build) {
  const stamp = path.join(root, 'build', `.${name}`);
  const newest = newestSource(places);
  if (!force && existsSync(stamp) && statSync(stamp).mtimeMs >= newest) return;
  build();
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

const force = process.argv.includes('--force');
mkdirSync(path.join(root, 'build'), { recursive: true });
buildIfStale('core', ['core', 'asconfig.json', 'package-lock.json'], force, () => {
  run('node_modules/assemblyscript/bin/asc.js', ['--target', 'release']);
  run('node_modules/assemblyscript/bin/asc.js', ['--target', 'debug']);
});
buildIfStale('languages', ['scripts/languages.mjs', 'package-lock.json'], force, () => {
  run('scripts/languages.mjs', []);
});
buildIfStale('grammars', ['scripts/grammars.mjs', 'package-lock.json'], force, () => {
  run('scripts/grammars.mjs', []);
});
buildIfStale(
  'daemon',
  ['core/shared', 'daemon', 'test', 'bench', 'tsconfig.json', 'package-lock.json'],
  force,
  () => {
    for (const folder of ['bench', 'daemon', 'test']) removeOrphans(folder);
    // With --force what is known of the last build goes, so that every file is written again.
    if (force) rmSync(path.join(root, BUILD_INFO), { force: true });
    run('node_modules/typescript/bin/tsc', [
      '-p',
      '.',
      '--incremental',
      '--tsBuildInfoFile',
      BUILD_INFO,
    ]);
  },
);
buildIfStale(
  'bundle',
  ['scripts/bundle.mjs', 'core/shared', 'daemon', 'package-lock.json'],
  force,
  () => {
    run('scripts/bundle.mjs', []);
  },
);
buildIfStale('openapi', ['daemon', 'package.json', 'package-lock.json'], force, () => {
  run('build/daemon/http/api/write-document.js', []);
});
