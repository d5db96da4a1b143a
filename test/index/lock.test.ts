// One owner of a data directory: many processes over a stale lock, many that lock and unlock, a killed owner, and one
// whose git survives.
// tier: ci (kills and full disks)

import assert from 'node:assert/strict';
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readlinkSync } from 'node:fs';
import { rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { takeDataDir } from '../../daemon/index/catalog/data-dir.ts';
import { LockedError, lockDataDir } from '../../daemon/index/catalog/lock.ts';
import type { Answer, Order } from './lock-child.ts';

const PROGRAM = path.join(import.meta.dirname, 'lock-child.js');
const PROCESS_COUNT = 6;
const ROUND_COUNT = 60;

const root = mkdtempSync(path.join(tmpdir(), 'trawl-lock-'));
const children: ChildProcess[] = [];

async function startChild(): Promise<ChildProcess> {
  const child = fork(PROGRAM);
  await once(child, 'message');
  return child;
}

before(async () => {
  children.push(...(await Promise.all(Array.from({ length: PROCESS_COUNT }, startChild))));
});

after(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(root, { recursive: true });
});

async function order(child: ChildProcess, what: Order): Promise<Answer> {
  const answer = once(child, 'message');
  child.send(what);
  return (await answer)[0];
}

/** The children that own the directory after all have tried at the same moment. */
async function race(dataDir: string): Promise<ChildProcess[]> {
  const atMs = Date.now() + 20;
  const answers = await Promise.all(
    children.map((child) => order(child, { kind: 'take', dataDir, atMs })),
  );
  return children.filter((_, index) => answers[index]?.kind === 'won');
}

function newDataDir(): string {
  return mkdtempSync(path.join(root, 'data-'));
}

void test('a killed owner whose child keeps the lock for a while: waited for', async () => {
  const dataDir = newDataDir();
  const file = path.join(dataDir, 'lock');
  const clientKey = spawn('flock', [file, '-c', 'echo; read _'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(clientKey.stdout, 'data');
  writeFileSync(file, `4194999 ${hostname()} \n`);
  assert.throws(() => lockDataDir(dataDir), LockedError);
  const taking = takeDataDir(dataDir);
  setTimeout(() => clientKey.stdin.end(), 400);
  (await taking)();
  // One that lives is not waited for.
  const second = spawn('flock', [file, '-c', 'echo; sleep 20'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  await once(second.stdout, 'data');
  writeFileSync(file, `${process.pid} ${hostname()} \n`);
  await assert.rejects(takeDataDir(dataDir), LockedError);
  process.kill(-second.pid!, 'SIGKILL');
});

void test('many processes at once over a stale lock: one owner, each time', async () => {
  for (let round = 0; round < ROUND_COUNT; round++) {
    const dataDir = newDataDir();
    // As a killed process leaves it; no process has this number. Every other one was cut off before it said anything.
    writeFileSync(path.join(dataDir, 'lock'), round % 2 === 0 ? '4194999 1 \n' : '');
    const winners = await race(dataDir);
    assert.equal(winners.length, 1, `round ${round}`);
    await order(winners[0]!, { kind: 'release' });
    assert.equal(existsSync(path.join(dataDir, 'lock')), false);
  }
});

void test('many processes that lock and unlock: never two owners at the same time', async () => {
  const dataDir = newDataDir();
  const answers = await Promise.all(
    children.map((child) => order(child, { kind: 'churn', dataDir, ownedMax: 300 })),
  );
  for (const answer of answers) assert.deepEqual(answer, { kind: 'churned', clashes: 0 });
});

void test('a killed owner with a living child owns nothing; the message names a living owner', async () => {
  const dataDir = newDataDir();
  const owner = await startChild();
  assert.deepEqual(await order(owner, { kind: 'take', dataDir, atMs: 0 }), { kind: 'won' });
  const refused = (error: unknown): boolean =>
    error instanceof LockedError &&
    !error.isBrief &&
    error.message.startsWith(`data directory ${dataDir} is in use by process ${owner.pid} (`);
  assert.throws(() => lockDataDir(dataDir), refused);
  const spawned = await order(owner, { kind: 'spawn' });
  assert.ok(spawned.kind === 'spawned');
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  try {
    lockDataDir(dataDir)();
  } finally {
    process.kill(spawned.pid, 'SIGKILL');
  }
});

void test('the owner cannot lock twice; a short-lived owner says so', () => {
  const dataDir = newDataDir();
  const unlock = lockDataDir(dataDir, true);
  assert.throws(
    () => lockDataDir(dataDir),
    (error: unknown) => error instanceof LockedError && error.isBrief,
  );
  unlock();
  lockDataDir(dataDir)();
});

void test('the lock file is removed by hand: the owner stays the only one', () => {
  const dataDir = newDataDir();
  const unlock = lockDataDir(dataDir);
  unlinkSync(path.join(dataDir, 'lock'));
  const refused = (error: unknown): boolean =>
    error instanceof LockedError && !error.isBrief && /lock file was removed/.test(error.message);
  assert.throws(() => lockDataDir(dataDir), refused);
  unlock();
  lockDataDir(dataDir)();
});

void test('a child that still has the open files of the lock: they are free at once', async () => {
  const dataDir = newDataDir();
  const unlock = lockDataDir(dataDir);
  // As between fork and exec: both open files are the child's, too.
  const open = readdirSync('/proc/self/fd').filter((fd) => pathOf(fd)?.startsWith(dataDir));
  assert.equal(open.length, 2);
  const child = spawn('sleep', ['20'], {
    stdio: ['ignore', 'ignore', 'inherit', ...open.map(Number)],
  });
  await once(child, 'spawn');
  unlock();
  try {
    lockDataDir(dataDir)();
  } finally {
    child.kill('SIGKILL');
  }
});

function pathOf(fd: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}
