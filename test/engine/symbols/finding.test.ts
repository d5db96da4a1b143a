// Finds the ctags program: folders of PATH in order, and programs that are refused.

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { findPrograms } from '../../../daemon/engine/symbols/confine.ts';
import { findCtags } from '../../../daemon/engine/symbols/ctags.ts';
import { enginesHere } from '../../../daemon/engine/symbols/extractor.ts';
import { temporaryFolder, writeFiles } from '../../sources/git/fixture.ts';
import { NO_CTAGS } from './harness.ts';

/** A folder with a program of this name and these answers. */
function folderWith(name: string, features: string): string {
  const folder = temporaryFolder();
  const script = `#!/bin/sh
case $2 in
  --list-features) printf '${features}' ;;
  --list-languages) printf 'C\\nNoSuchParser\\nPython\\n' ;;
  --version) echo 'Universal Ctags 9.8.7(p9.8.7), Copyright' ;;
esac
`;
  writeFiles(folder, { [name]: script });
  chmodSync(path.join(folder, name), 0o755);
  return folder;
}

const GOOD = 'interactive  yes\\njson x\\nsandbox x\\n';

test('the first ctags on the path with JSON and a sandbox is used', async () => {
  const other = folderWith('ctags', 'wildcards\\n');
  const good = folderWith('uctags', GOOD);
  const found = await findCtags(`${temporaryFolder()}:${other}:${good}`);
  assert.deepEqual(found, {
    command: [path.join(good, 'uctags')],
    version: '9.8.7',
    parsers: ['C', 'Python'],
  });
});

test('relative folders, and the current one, are ignored', () => {
  const good = folderWith('no-such-ctags', GOOD);
  const elsewhere = process.cwd();
  process.chdir(good);
  try {
    for (const folder of ['', '.', './', good, `${good}/`, `${good}/../${path.basename(good)}`])
      assert.deepEqual(findPrograms(['no-such-ctags'], `${folder}:x`), [], folder);
  } finally {
    process.chdir(elsewhere);
  }
  assert.deepEqual(findPrograms(['no-such-ctags'], good), [path.join(good, 'no-such-ctags')]);
});

test('files that are not programs are skipped', () => {
  const folder = temporaryFolder();
  writeFiles(folder, { plain: 'x' });
  mkdirSync(path.join(folder, 'folder'));
  symlinkSync('gone', path.join(folder, 'dangling'));
  assert.deepEqual(findPrograms(['plain', 'folder', 'dangling', 'none'], folder), []);
});

test('engines are reported with their versions', { skip: NO_CTAGS }, async () => {
  const reported = (await enginesHere()).map(({ name, version }) => `${name} ${version}`);
  assert.match(reported.join(), /^ctags \d[\d.]* \/.*ctags\S*,tree-sitter \d+\.\d+\.\d+$/);
});

test('the event loop runs while engines are searched', async () => {
  let timeSliceCount = 0;
  const count = (): void => {
    timeSliceCount++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const engines = await enginesHere();
  clearImmediate(next);
  assert.ok(engines.length > 0);
  assert.ok(timeSliceCount > 0);
});
