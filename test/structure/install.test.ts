// Dependencies are installed where they are missing or others than the lock file names, and never where they are there.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';

const root = mkdtempSync(path.join(tmpdir(), 'trawl-install-'));
after(() => rmSync(root, { recursive: true, force: true }));
const SCRIPT = pathToFileURL(path.resolve('scripts/install.mjs')).href;
const LOCK = path.join(root, 'package-lock.json');

/** A project with one dependency, a folder of its own, so that nothing is fetched. */
function makeProject(): void {
  mkdirSync(path.join(root, 'one'));
  write('one/package.json', { name: 'one', version: '1.0.0' });
  write('package.json', { name: 'project', version: '1.0.0', dependencies: { one: 'file:one' } });
  npm('install');
}

function write(name: string, content: object): void {
  writeFileSync(path.join(root, name), JSON.stringify(content));
}

function npm(command: string): void {
  const result = spawnSync('npm', [command, '--offline', '--no-audit', '--no-fund'], { cwd: root });
  assert.equal(result.status, 0, String(result.stderr));
}

/** Whether it installed something. */
function ensureInstalled(): boolean {
  const code = `import { ensureInstalled } from '${SCRIPT}'; ensureInstalled(${JSON.stringify(root)});`;
  const result = spawnSync(process.execPath, ['--input-type=module', '-e', code]);
  assert.equal(result.status, 0, String(result.stderr));
  return String(result.stderr).includes('Installing');
}

test('what npm has installed is not installed again, what is missing or another version is', () => {
  makeProject();
  npm('ci');
  assert.equal(ensureInstalled(), false);
  rmSync(path.join(root, 'node_modules'), { recursive: true });
  assert.equal(ensureInstalled(), true);
  assert.equal(ensureInstalled(), false);
  write('one/package.json', { name: 'one', version: '1.0.1' });
  writeFileSync(
    LOCK,
    readFileSync(LOCK, 'utf8').replace('"version": "1.0.0"\n    }', '"version": "1.0.1"\n    }'),
  );
  assert.match(readFileSync(LOCK, 'utf8'), /1\.0\.1/);
  assert.equal(ensureInstalled(), true);
  assert.equal(ensureInstalled(), false);
});
