// scripts/lock.mjs: one process at a time builds; the lock of a dead process blocks nobody.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from '../sources/git/fixture.ts';

const LOCK = pathToFileURL(path.resolve('scripts/lock.mjs')).href;
/** Adds to a count that it reads, waits, and writes: two at once lose one. The first of four waits until all have come. */
const ADD = `
  import { alone } from ${JSON.stringify(LOCK)};
  import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
  const [root, file] = process.argv.slice(1);
  const wait = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  const isHere = (name) => name.startsWith('here-');
  writeFileSync(root + '/here-' + process.pid, '');
  alone(root, () => {
    const before = Number(readFileSync(file, 'utf8'));
    while (before === 0 && readdirSync(root).filter(isHere).length < 4) wait();
    wait();
    writeFileSync(file, String(before + 1));
    if (before === 1) process.exit(1);
  });`;

function add(root: string, file: string): Promise<{ code: number | null; words: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', ADD, root, file]);
  let words = '';
  child.stderr.on('data', (chunk) => (words += String(chunk)));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, words })));
}

test('concurrent builds run one after the other, also after a failed one', async () => {
  const root = temporaryFolder();
  const file = path.join(root, 'count');
  writeFileSync(file, '0');
  const ended = await Promise.all([1, 2, 3, 4].map(() => add(root, file)));
  assert.equal(readFileSync(file, 'utf8'), '4');
  assert.deepEqual(
    ended.map(({ code }) => Number(code)).sort((a, b) => a - b),
    [0, 0, 0, 1],
  );
  assert.ok(ended.some(({ words }) => words.startsWith('Waiting for another build')));
  assert.ok(!existsSync(path.join(root, 'build', 'lock')));
});

test('the lock of a dead process is taken over by one of many', async () => {
  const root = temporaryFolder();
  const file = path.join(root, 'count');
  writeFileSync(file, '10');
  const gone = spawn(process.execPath, ['-e', '']);
  await new Promise((resolve) => gone.on('close', resolve));
  mkdirSync(path.join(root, 'build'));
  writeFileSync(path.join(root, 'build', 'lock'), String(gone.pid));
  const ended = await Promise.all([1, 2, 3].map(() => add(root, file)));
  assert.deepEqual(
    ended.map(({ code }) => code),
    [0, 0, 0],
  );
  assert.equal(readFileSync(file, 'utf8'), '13');
});
