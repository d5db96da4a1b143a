// The parts of the build, and which of them is older than its sources.

import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** In the order of building: name, what it is for people, and its sources. */
export const PARTS = [
  {
    name: 'core',
    what: 'the search engine, WebAssembly, twice',
    locations: ['core', 'asconfig.json', 'package-lock.json'],
  },
  {
    name: 'languages',
    what: 'names of languages',
    locations: ['scripts/languages.mjs', 'scripts/contents.mjs', 'package-lock.json'],
  },
  {
    name: 'grammars',
    what: 'grammars of tree-sitter',
    locations: ['scripts/grammars.mjs', 'scripts/contents.mjs', 'package-lock.json'],
  },
  {
    name: 'packages',
    what: 'dependencies of many files, one file each',
    locations: ['scripts/packages.mjs', 'scripts/contents.mjs', 'package-lock.json'],
  },
  {
    name: 'daemon',
    what: 'the daemon and its tests',
    locations: ['core/shared', 'daemon', 'test', 'bench', 'tsconfig.json', 'package-lock.json'],
  },
  {
    name: 'openapi',
    what: 'the description of the API',
    locations: [
      'daemon',
      'test/api/document.ts',
      'test/api/write-whole-document.ts',
      'package.json',
      'package-lock.json',
    ],
  },
  {
    name: 'web',
    what: 'the page',
    locations: [
      'scripts/web.mjs',
      'scripts/contents.mjs',
      'daemon/web',
      'daemon/api',
      'package-lock.json',
    ],
  },
  {
    name: 'bundle',
    what: 'the program',
    locations: [
      'scripts/bundle.mjs',
      'scripts/packages.mjs',
      'scripts/contents.mjs',
      'scripts/keep-code.mjs',
      'scripts/libsql-target.cjs',
      'scripts/main.cjs',
      'scripts/versions.mjs',
      'package.json',
      'core/shared',
      'daemon',
      'package-lock.json',
    ],
  },
];

/** Touched by a build of the part. */
export function stampOf(root, { name }) {
  return path.join(root, 'build', `.${name}`);
}

/** Whether a source is newer than the last successful build of the part, or there was none. */
export function isStale(root, part) {
  const stamp = statSync(stampOf(root, part), { throwIfNoEntry: false });
  return stamp === undefined || stamp.mtimeMs < newestSource(root, part);
}

/** Newest modification time, in ms, of the files below the places of a part. */
export function newestSource(root, { locations }) {
  return Math.max(0, ...locations.map((place) => newestBelow(path.join(root, place))));
}

/** By path: parts share places. */
const known = new Map();

function newestBelow(file) {
  const newest = known.get(file) ?? findNewest(file);
  known.set(file, newest);
  return newest;
}

function findNewest(file) {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(
    stat.mtimeMs,
    // Why not path.join: it takes a tenth of a start.
    ...readdirSync(file).map((name) => findNewest(`${file}/${name}`)),
  );
}
