// Scans in another thread: failures of the thread, of a scan, and callers that leave.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { claimOwnFolder } from '../../../daemon/sources/disk/own-folder.ts';
import { scanDisk, ScanThread } from '../../../daemon/sources/docs/scan-thread.ts';
import type { Scan } from '../../../daemon/sources/docs/scan-worker.ts';
import { temporaryFolder } from '../git/fixture.ts';

const FAILING = new URL('./failing-scan-thread.js', import.meta.url);

function listOf(folder: string): Scan & { readonly kind: 'list' } {
  return { kind: 'list', spec: { kind: 'folder', path: folder }, options: {} };
}

test('scans of a thread that ends fail, and the next one has a new thread', async () => {
  const thread = new ScanThread(FAILING);
  for (const [folder, message] of [
    ['/throws', /out of luck/],
    ['/ends', /the thread that reads files ended early/],
  ] as const) {
    const waiting = assert.rejects(thread.run(listOf('/silent')), message);
    await assert.rejects(thread.run(listOf(folder)), message);
    await waiting;
    assert.equal((await thread.run(listOf('/works'))).fingerprint, '/works');
  }
});

test('a scan that is not awaited any more keeps neither its caller nor the process', async () => {
  const thread = new ScanThread(FAILING);
  const stop = new AbortController();
  const blocked = thread.run(listOf('/blocks'), stop.signal);
  stop.abort(new Error('closing'));
  await assert.rejects(blocked, /closing/);
  await assert.rejects(thread.run(listOf('/works'), stop.signal), /closing/);
});

test('errors keep code, name and properties', async () => {
  const folder = temporaryFolder();
  await assert.rejects(scanDisk({ kind: 'folder', path: path.join(folder, 'no') }), {
    code: 'ENOENT',
    syscall: 'lstat',
  });
  await assert.rejects(scanDisk({ kind: 'worktree', path: folder }), {
    name: 'GitError',
    command: 'ls-files',
    failure: 'exit',
  });
});

test('a data directory that is declared while the thread runs is not a source', async () => {
  const folder = temporaryFolder();
  await scanDisk({ kind: 'folder', path: folder });
  claimOwnFolder(folder);
  await assert.rejects(scanDisk({ kind: 'folder', path: folder }), /is the data directory/);
});
