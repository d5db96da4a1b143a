// What `trawl search` loads: code is most of its time. Compiled files are read, as imports of types are gone there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Import, importsOf } from './imports.ts';

const ENTRY = 'build/daemon/cli/search-main.js';
const LOCAL = 'build/daemon/cli/local-search.js';

/** WHOLE of scripts/bundle.mjs: the whole program begins there instead. */
const WHOLE = /\/(?:cli\/main|config\/configuration|catalog\/catalog-schemas)\.js$/;

/** What is reached from a file, itself included. */
function reached(isFollowed: (one: Import) => boolean, entry = ENTRY): readonly string[] {
  const found = new Set<string>();
  const visit = (file: string): void => {
    if (found.has(file) || WHOLE.test(file)) return;
    found.add(file);
    if (!file.startsWith('build/')) return;
    for (const one of importsOf([file])) if (isFollowed(one)) visit(one.target);
  };
  visit(entry);
  return [...found].sort();
}

function packagesAmong(files: readonly string[]): readonly string[] {
  return files.filter((file) => !/^(?:build\/|node:)/.test(file));
}

test('until it is known where to search there is a parser of arguments alone', () => {
  const files = reached(({ isLater }) => !isLater);
  assert.ok(files.includes('build/daemon/cli/query-options.js'));
  assert.deepEqual(packagesAmong(files), ['commander']);
  const others =
    /\/(?:log|search|local-search|control-client|settings|file-check)\.js$|^node:http$/;
  assert.deepEqual(
    files.filter((file) => others.test(file) && !file.includes('/commands/')),
    [],
  );
});

test('a search of an index loads what searches: no schemas, queries of the store, git, threads that build', () => {
  const files = reached(() => true);
  assert.ok(files.includes('build/daemon/engine/search/search.js'));
  assert.ok(files.includes('build/daemon/cli/control-client.js'));
  assert.deepEqual(packagesAmong(files), [
    'commander',
    'libsql',
    'libsql/promise',
    'lru-cache',
    'picomatch',
    'pino',
  ]);
  const others =
    /^build\/daemon\/(?:accounts|backup|hosts|http|sync|web|app\/(?:instance|main|open-index)|sources\/(?:docs|history)|sources\/git\/git)\b[^-]/;
  assert.deepEqual(
    files.filter((file) => others.test(file)),
    [],
  );
});

test('a search of an index that has nothing to log loads neither a log nor rules of languages', () => {
  const files = reached(({ isLater }) => !isLater, LOCAL);
  assert.ok(files.includes('build/daemon/engine/search/search.js'));
  const others = /\/(?:log|languages|language-rules)\.js$|^pino$|^node:child_process$/;
  assert.deepEqual(
    files.filter((file) => others.test(file)),
    [],
  );
});
