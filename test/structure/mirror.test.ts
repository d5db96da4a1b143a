// test/ mirrors the daemon: each folder of tests has a folder of the daemon, and each test in it uses a file of that
// folder, directly or through shared helpers. Tests of the core, of several folders or of the whole have their own
// folders.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { filesBelow, importsOf } from './imports.ts';

/** Folders of test/ that mirror no folder of the daemon. */
const OTHERS = ['bench', 'core', 'e2e', 'fuzz', 'oracle', 'structure', 'web'];

const FILES = filesBelow('test', '.ts').filter((file) => !OTHERS.includes(file.split('/')[1]!));
const IMPORTS = importsOf([...filesBelow('test', '.ts'), ...filesBelow('daemon', '.ts')]);

/** The files that a file imports, directly or through helpers in test/ and the wiring in `daemon/app/`. */
function usedBy(file: string, visited = new Set<string>()): Set<string> {
  for (const { file: user, target } of IMPORTS) {
    if (user !== file || visited.has(target)) continue;
    visited.add(target);
    if (/^(?:test\/|daemon\/app\/)/.test(target)) usedBy(target, visited);
  }
  return visited;
}

test('each folder of tests mirrors a folder of the daemon', () => {
  const folders = FILES.map((file) => path.posix.dirname(file).replace('test', 'daemon'));
  assert.deepEqual(
    folders.filter((folder) => !existsSync(folder)),
    [],
  );
});

test('each test uses a file of its folder', () => {
  const astray = FILES.filter((file) => {
    // The commands are run as programs.
    if (!file.endsWith('.test.ts') || file.startsWith('test/cli/')) return false;
    const folder = path.posix.dirname(file).replace('test', 'daemon');
    return ![...usedBy(file)].some((used) => used.startsWith(`${folder}/`));
  });
  assert.deepEqual(astray, []);
});
