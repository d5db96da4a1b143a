// The core is built to the same bytes again: who checks a release can compare. The build that there is was another run.
// tier: ci (a build)

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { runProgram } from '../base/run-program.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';

test('a second build of the core has the same bytes', () => {
  const file = path.join(temporaryFolder(), 'core.wasm');
  const args = ['node_modules/assemblyscript/bin/asc.js', '--target', 'release', '--outFile', file];
  const { status, stderr } = runProgram(process.execPath, args, { cwd: '.', env: process.env });
  assert.equal(status, 0, String(stderr));
  const isSame = readFileSync(file).equals(readFileSync('build/core.release.wasm'));
  assert.ok(isSame, 'other bytes; is build/ of these sources? npm run build');
});
