// Anything a test leaves open fails its file and is named, after the whole report; a file that closes everything ends
// normally (scripts/test-setup.mjs). Temporary folders last as long as their process (sources/git/fixture.ts).
// tier: ci (long)

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../sources/git/fixture.ts';

const TEST_SETUP = fileURLToPath(new URL('../../../scripts/test-setup.mjs', import.meta.url));
const FIXTURE = new URL('../sources/git/fixture.js', import.meta.url).href;
const CHECKS = 500;
/** Longer than a report is interrupted, and a file takes to end, on a machine that has much else to do. */
const GRACE_MS = 3000;

interface Run {
  readonly code: number | null;
  readonly checkCount: number;
  /** What is said of things left open. */
  readonly open: string;
}

/** The run of a file with many checks, of which the last does `last`. */
async function run(last: string): Promise<Run> {
  const folder = mkdtempSync(path.join(tmpdir(), 'trawl-test-end-'));
  const file = path.join(folder, 'one.test.mjs');
  const text = `
    import { createServer } from 'node:http';
    import { test } from 'node:test';
    import { Worker } from 'node:worker_threads';
    for (let i = 1; i < ${CHECKS}; i++) test('check', () => {});
    test('check', (t) => { ${last} });`;
  writeFileSync(file, text);
  const { code, stdout } = await outcomeOf([
    '--test',
    '--import',
    TEST_SETUP,
    '--test-reporter=tap',
    file,
  ]);
  rmSync(folder, { recursive: true });
  const checks = stdout.match(/^(?:not )?ok \d+ - check$/gm) ?? [];
  const open = stdout.split('\n').filter((line) => line.includes('still open'));
  return { code, checkCount: checks.length, open: open.join('\n') };
}

function outcomeOf(
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; stdout: string }> {
  const env = { PATH: process.env['PATH'], TRAWL_TEST_GRACE_MS: `${GRACE_MS}`, ...more };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { env }, (_, stdout) =>
      resolve({ code: child.exitCode, stdout }),
    );
  });
}

const LEAKS = {
  'a server': ['createServer().listen(0);', 'TCPServerWrap'],
  'a timer': ['setInterval(() => {}, 10);', 'Timeout'],
  'a thread': [`new Worker('setInterval(() => {}, 10)', { eval: true });`, 'threads are not named'],
  'a server, by a check that fails,': ['createServer().listen(0); throw 1;', 'TCPServerWrap'],
} as const;

// At the same time: it is the waiting that takes long.
describe('the end of a test file', { concurrency: true }, () => {
  for (const [what, [last, reported]] of Object.entries(LEAKS))
    test(`${what} left open is reported, after all checks`, async () => {
      const { code, checkCount, open } = await run(last);
      assert.deepEqual([code, checkCount], [1, CHECKS]);
      assert.match(open, new RegExp(`one\\.test\\.mjs: still open.*${reported}`));
    });

  test('a file that closes everything ends by itself', async () => {
    const closing = 'const server = createServer().listen(0); t.after(() => server.close());';
    assert.deepEqual(await run(closing), { code: 0, checkCount: CHECKS, open: '' });
  });
});

test('a temporary folder of a hook exists until the process ends, and is then removed', async () => {
  const folder = temporaryFolder();
  const file = path.join(folder, 'one.test.mjs');
  const text = `
    import assert from 'node:assert/strict';
    import { existsSync } from 'node:fs';
    import { before, test } from 'node:test';
    import { temporaryFolder } from '${FIXTURE}';
    let made;
    before(() => void (made = temporaryFolder()));
    test('check', () => assert.ok(existsSync(made)));`;
  writeFileSync(file, text);
  const { code, stdout } = await outcomeOf(['--test', file], { TMPDIR: folder });
  assert.equal(code, 0, stdout);
  assert.deepEqual(readdirSync(folder), ['one.test.mjs']);
});
