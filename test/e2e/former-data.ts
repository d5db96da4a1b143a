// A data directory of the version at hand, with its sources, as one small file: later versions open it (upgrade.test.ts).
// `node build/test/e2e/former-data.js` writes former/VERSION.tgz for a release. There is no release yet: former/0.1.0.tgz has the
// form of the development version.

import assert from 'node:assert/strict';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readProductVersion } from '../../daemon/base/config/version.ts';
import { runProgram } from '../base/run-program.ts';
import { commitFiles, git, makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { index, trawl } from './daemon.ts';

/** Below test/e2e/, one for each released version. */
export const FORMER_FOLDER = path.resolve('test/e2e/former');

const SOURCES = ['one', 'two'];

function runTar(args: readonly string[]): void {
  const { status, stderr } = runProgram('tar', args, { cwd: '.', env: process.env });
  assert.equal(status, 0, String(stderr));
}

/** Unpacks one into a new folder: `data`, `one`, `two` and `facts.json`. */
export function unpackFormer(file: string): string {
  const folder = temporaryFolder();
  runTar(['-xzf', path.join(FORMER_FOLDER, file), '-C', folder]);
  return folder;
}

/** Two repositories with a branch and symbols; an owner, a member who may see one of them, and a key of each. */
async function make(): Promise<void> {
  const folder = temporaryFolder();
  const at = (name: string): string => path.join(folder, name);
  for (const name of SOURCES) {
    const code = `export function needle_${name}(): number {\n  return 1;\n}\n`;
    renameSync(makeRepo({ 'code.ts': code, 'read.me': `needle of ${name}\n` }), at(name));
    commitFiles(at(name), { 'more/late.txt': `late needle of ${name}\n` });
    git(at(name), 'remote', 'add', 'origin', `https://example.com/former/${name}.git`);
  }
  await index(at('data'), SOURCES.map(at));
  const run = async (...args: string[]): Promise<string> => {
    const outcome = await trawl([...args, '--data-dir', at('data')], { input: 'a long password' });
    assert.equal(outcome.code, 0, outcome.stderr);
    return outcome.stdout.trim();
  };
  const repos = ['example.com/former/one', 'example.com/former/two'];
  await run('repo', 'set', ...repos, '--visibility', 'private', '--enforce-permissions');
  await run('user', 'add', 'owner@example.com', '--role', 'owner', '--password-stdin');
  await run('user', 'add', 'member@example.com', '--password-stdin');
  await run('grant', 'add', 'member@example.com', 'example.com/former/one');
  const ownerKey = await run('key', 'create', '--user', 'owner@example.com', '--name', 'k');
  const memberKey = await run('key', 'create', '--user', 'member@example.com', '--name', 'k');
  writeFileSync(at('facts.json'), JSON.stringify({ ownerKey, memberKey }));
  mkdirSync(FORMER_FOLDER, { recursive: true });
  const file = path.join(FORMER_FOLDER, `${readProductVersion()}.tgz`);
  runTar(['-czf', file, '-C', folder, '--exclude=hooks', 'data', 'facts.json', ...SOURCES]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await make();
