// Faults of the file of the embedded store while it is open: another process locks it, the disk is full. Operations
// fail with NOT_READY, the event loop continues, and everything recovers.
// tier: ci (kills and full disks)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import Libsql from 'libsql';
import { newUser, onEmbedded, refuses, type Location } from './harness.ts';
import { startChild, type Child } from './processes.ts';

const MIB = 1_048_576;

onEmbedded('a locked file', ({ within }) => {
  test('writes are refused after the timeout, reads and the event loop continue', () =>
    within(async (location) => {
      const store = await location.open({ busyTimeoutMs: 300 });
      const { id } = await newUser(store);
      const child = startChild(['lock', path.join(location.dataDir, 'store.db'), 'immediate']);
      await child.line('locked');
      let timeSliceCount = 0;
      const timer = setInterval(() => timeSliceCount++, 5);
      const writing = refuses(newUser(store), 'NOT_READY');
      assert.equal((await store.users.get(id))?.id, id);
      assert.match((await writing).message, /^store\.db is locked by another process$/);
      clearInterval(timer);
      assert.ok(timeSliceCount > 3, `${timeSliceCount} turns`);
      await child.end();
      await newUser(store);
      assert.equal(await store.users.count(), 2);
    }));

  test('a lock released in time is waited for', () =>
    within(async (location) => {
      const store = await location.open({ busyTimeoutMs: 60_000 });
      const child = startChild(['lock', path.join(location.dataDir, 'store.db'), 'exclusive']);
      await child.line('locked');
      const writing = newUser(store);
      await child.end();
      const { id } = await writing;
      assert.equal((await store.users.get(id))?.id, id);
    }));

  test('opening works beside a writer', () =>
    within(async (location) => {
      await (await location.open()).close();
      const file = path.join(location.dataDir, 'store.db');
      const writer = startChild(['lock', file, 'immediate']);
      await writer.line('locked');
      const store = await location.open({ busyTimeoutMs: 100 });
      assert.equal(await store.users.count(), 0);
      await refuses(newUser(store), 'NOT_READY');
      await store.close();
      await writer.end();
    }));

  test('opening waits for an exclusive lock, and names the file', () =>
    within(async (location) => {
      // Without a write-ahead log a file is locked as a whole.
      const file = path.join(location.dataDir, 'store.db');
      const connection = new Libsql(file);
      connection.exec('CREATE TABLE other (a)');
      connection.close();
      const clientKey = startChild(['lock', file, 'exclusive']);
      await clientKey.line('locked');
      const error = await refuses(location.open({ busyTimeoutMs: 100 }), 'NOT_READY');
      assert.equal(error.message, `${file} is locked by another process`);
      const opening = location.open();
      await clientKey.end();
      await newUser(await opening);
    }));
});

onEmbedded('a lost file', ({ within }) => {
  const moved = (file: string): (() => void) => {
    renameSync(file, `${file}.away`);
    return () => renameSync(`${file}.away`, file);
  };
  for (const name of ['store.db', 'store.db-wal'])
    test(`${name} is moved away: writes and backups are refused until it is back, reads continue`, () =>
      within(async (location) => {
        const store = await location.open();
        const { id } = await newUser(store);
        const file = path.join(location.dataDir, name);
        const moveBack = moved(file);
        const { message } = await refuses(newUser(store), 'NOT_READY');
        assert.ok(message.startsWith(`${file} was removed, replaced or cut while it was in use`));
        await refuses(store.dump()[Symbol.asyncIterator]().next(), 'NOT_READY');
        assert.equal((await store.users.get(id))?.id, id);
        moveBack();
        await newUser(store);
      }));

  test('store.db is cut: writes are refused', () =>
    within(async (location) => {
      const store = await location.open();
      await newUser(store);
      truncateSync(path.join(location.dataDir, 'store.db'));
      await refuses(newUser(store), 'NOT_READY');
    }));
});

/** Undefined: done; else why it cannot be. */
function tryRun(program: string, ...args: string[]): string | undefined {
  const { error, status, stderr } = spawnSync(program, args);
  if (error === undefined && status === 0) return undefined;
  return `${program} ${args.join(' ')}: ${error?.message ?? String(stderr).trim()}`;
}

/** Checks the lines of a child that filled its disk, twice over. */
async function checkFilling(
  child: Child,
  location: Pick<Location, 'open'>,
  dataDir: string,
  message: RegExp,
  addSpace: () => void,
): Promise<void> {
  const first = await child.line('failed');
  assert.match(first, message);
  const keptCount = () => child.lines.filter((line) => line.startsWith('kept')).length;
  assert.equal(await child.line('count'), `count ${keptCount()}`);
  assert.ok(keptCount() > 10);
  // Still full.
  const again = child.lines.length;
  child.process.stdin?.write('\n');
  assert.match(await child.line('failed', again), message);
  addSpace();
  const later = child.lines.length;
  const before = keptCount();
  child.process.stdin?.write('\n');
  assert.match(await child.line('failed', later), message);
  assert.ok(keptCount() > before + 10, 'it did not go on');
  await child.end();
  assert.equal(child.lines.at(-1), 'closed');
  const store = await location.open({ dataDir });
  const emails = new Set((await store.users.list()).map(({ email }) => email));
  const kept = child.lines.filter((line) => line.startsWith('kept')).map((line) => line.slice(5));
  assert.deepEqual(emails, new Set(kept));
  await store.close();
}

onEmbedded('a full disk', ({ within }) => {
  test('a full file system', (t) =>
    within(async (location) => {
      const dataDir = path.join(location.dataDir, 'small');
      mkdirSync(dataDir);
      const missing = tryRun('mount', '-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', dataDir);
      if (missing !== undefined) {
        t.skip(missing);
        return;
      }
      const child = startChild(['fill', dataDir]);
      try {
        await checkFilling(
          child,
          location,
          dataDir,
          /NOT_READY store\.db cannot grow: .* full/,
          () => assert.equal(tryRun('mount', '-o', 'remount,size=6m', dataDir), undefined),
        );
      } finally {
        await child.end('SIGKILL');
        assert.equal(tryRun('umount', '-l', dataDir), undefined);
      }
    }));

  test('a limit on the size of files', (t) =>
    within(async (location) => {
      const missing = tryRun('prlimit', '--version');
      if (missing !== undefined) {
        t.skip(`${missing}: Debian package util-linux`);
        return;
      }
      const child = startChild(['fill', location.dataDir], ['prlimit', `--fsize=${MIB}:`]);
      await checkFilling(child, location, location.dataDir, /NOT_READY store\.db cannot/, () =>
        assert.equal(
          tryRun('prlimit', `--pid=${child.process.pid}`, `--fsize=${3 * MIB}:`),
          undefined,
        ),
      );
    }));
});
