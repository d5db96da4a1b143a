// Programs are started without forking, and behave as those of Node.js do: exit codes, signals, failed starts, the
// folder, the variables, a separate session, and ignored signals.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import {
  type Child,
  SECRET_SIZE_MAX,
  SpawnedChild,
  startProgram,
} from '../../daemon/base/spawn.ts';

const isLinux = process.platform === 'linux';
const ENV = { PATH: process.env['PATH'] ?? '' };

function shell(
  script: string,
  options: { cwd?: string; env?: Record<string, string> } = {},
): Child {
  return startProgram('/bin/sh', ['-c', script], { env: options.env ?? ENV, cwd: options.cwd });
}

async function textOf(child: Child): Promise<string> {
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  child.stderr.resume();
  await once(child, 'close');
  return text;
}

async function codeOf(child: Child): Promise<unknown> {
  child.stdout.resume();
  child.stderr.resume();
  const [code]: unknown[] = await once(child, 'close');
  return code;
}

test('a program is started without forking', { skip: !isLinux }, async () => {
  const child = shell('exit 0');
  assert.ok(child instanceof SpawnedChild);
  assert.equal(await codeOf(child), 0);
});

test('exit codes and signals', async () => {
  assert.equal(await codeOf(shell('exit 7')), 7);
  assert.equal(await codeOf(shell('kill -9 $$')), null);
  // The output is closed long before the end.
  assert.equal(await codeOf(shell('exec >&- 2>&-; sleep 0.3; exit 5')), 5);
});

test('a program that cannot be started is an error', async () => {
  for (const start of [
    () => startProgram('no-such-program-of-trawl', [], { env: ENV }),
    () => shell('true', { cwd: '/no/such/folder' }),
  ]) {
    const [error]: unknown[] = await once(start(), 'error');
    assert.ok(error instanceof Error);
  }
});

test('input and output of any size are passed', async () => {
  const child = shell('cat');
  const bytes = Buffer.alloc(3_000_000, 'line\n');
  const text = textOf(child);
  child.stdin.end(bytes);
  assert.equal((await text).length, bytes.length);
});

test('working folder and variables are the requested ones', async () => {
  const folder = realpathSync(tmpdir());
  assert.equal(await textOf(shell('pwd -P', { cwd: folder })), `${folder}\n`);
  const text = await textOf(shell('echo "$ONE|$HOME"', { env: { ...ENV, ONE: '1 = 2' } }));
  assert.equal(text, '1 = 2|\n');
});

test('a program has its own session and default signals', { skip: !isLinux }, async () => {
  const text = await textOf(
    // Why exec: while a shell starts another program it may block all signals.
    shell('cut -d" " -f1,5,6 /proc/$$/stat; exec grep -E "Sig(Blk|Ign)" /proc/self/status'),
  );
  const [ids, blocked, ignored] = text.trim().split('\n');
  const [pid, group, session] = ids!.split(' ');
  assert.equal(group, pid);
  assert.equal(session, pid);
  assert.match(blocked!, /\t0+$/);
  // Bit 12 is SIGPIPE, which Node.js ignores.
  assert.equal(BigInt(`0x${ignored!.split('\t')[1]}`) & (1n << 12n), 0n);
});

test('no process is left when a program has ended', { skip: !isLinux }, async () => {
  const child = shell('exit 0');
  assert.equal(await codeOf(child), 0);
  assert.equal(existsSync(`/proc/${child.pid}`), false);
});

test('another thread starts it; an aborted request ends it', { skip: !isLinux }, async () => {
  const child = shell('sleep 60');
  assert.ok(child instanceof SpawnedChild);
  assert.equal(child.pid, undefined, 'nobody has waited for it');
  child.killGroup();
  assert.equal(await codeOf(child), null);
  assert.equal(existsSync(`/proc/${String(child.pid)}`), false);
});

test('a secret is read once from descriptor 3, by the program or its child, and by nobody else', async () => {
  const secret = 'user\npass word\n';
  const program = startProgram('/bin/sh', ['-c', '(cat <&3); echo "rest: $(cat <&3)"; env'], {
    env: ENV,
    secret,
  });
  const text = await textOf(program);
  assert.ok(text.startsWith(`${secret}rest: \n`), text);
  assert.ok(!text.slice(secret.length).includes('pass word'));
  // One that nobody reads holds up nothing.
  const many = Array.from({ length: 20 }, () =>
    startProgram('/bin/sh', ['-c', 'true'], { env: ENV, secret: 'x'.repeat(SECRET_SIZE_MAX) }),
  );
  assert.deepEqual(await Promise.all(many.map((child) => codeOf(child))), Array(20).fill(0));
  const without = await textOf(shell('cat <&3 2>&1 || echo none'));
  assert.match(without, /none/);
  assert.throws(
    () => startProgram('true', [], { env: ENV, secret: 'x'.repeat(SECRET_SIZE_MAX + 1) }),
    RangeError,
  );
});
