// What a test leaves open fails its file and is named, after the whole report; a file that closes all ends as it should
// (scripts/test-end.mjs).

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const TEST_END = fileURLToPath(new URL('../../../scripts/test-end.mjs', import.meta.url));
const CHECKS = 500;

interface Run {
  readonly code: number | null;
  readonly checkCount: number;
  /** What is said of things left open. */
  readonly open: string;
}

/** The run of a file with many checks, of which the last does `last`. */
function run(last: string): Run {
  const folder = mkdtempSync(path.join(tmpdir(), 'trawl-test-end-'));
  const file = path.join(folder, 'one.test.mjs');
  const text = `
    import { createServer } from 'node:http';
    import { test } from 'node:test';
    import { Worker } from 'node:worker_threads';
    for (let i = 1; i < ${CHECKS}; i++) test('check', () => {});
    test('check', (t) => { ${last} });`;
  writeFileSync(file, text);
  const args = ['--test', '--import', TEST_END, '--test-reporter=tap', file];
  const env = { PATH: process.env['PATH'], TRAWL_TEST_GRACE_MS: '100' };
  const { status, stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  const checks = stdout.match(/^(?:not )?ok \d+ - check$/gm) ?? [];
  const open = stdout.split('\n').filter((line) => line.includes('still open'));
  return { code: status, checkCount: checks.length, open: open.join('\n') };
}

const LEFT_OPEN = {
  'a server': ['createServer().listen(0);', 'TCPServerWrap'],
  'a timer': ['setInterval(() => {}, 10);', 'Timeout'],
  'a thread': [`new Worker('setInterval(() => {}, 10)', { eval: true });`, 'threads are not named'],
  'a server, by a check that fails,': ['createServer().listen(0); throw 1;', 'TCPServerWrap'],
} as const;

for (const [what, [last, named]] of Object.entries(LEFT_OPEN))
  test(`${what} left open is named, after all checks`, () => {
    const { code, checkCount, open } = run(last);
    assert.deepEqual([code, checkCount], [1, CHECKS]);
    assert.match(open, new RegExp(`one\\.test\\.mjs: still open.*${named}`));
  });

test('a file that closes everything ends by itself', () => {
  const closing = 'const server = createServer().listen(0); t.after(() => server.close());';
  assert.deepEqual(run(closing), { code: 0, checkCount: CHECKS, open: '' });
});
