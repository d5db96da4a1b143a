// A small file system that can be filled up to a few pages.

import assert from 'node:assert/strict';
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { ftruncateSync, closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../sources/git/fixture.ts';

const FILLER = 'filler';

function run(program: string, ...args: string[]): SpawnSyncReturns<Buffer> {
  return spawnSync(program, args);
}

export class SmallDisk {
  readonly folder: string;
  readonly pageSize: number;

  private constructor(folder: string) {
    this.folder = folder;
    this.pageSize = statfsSync(folder).bsize;
  }

  /** Gone when the process ends. A text: why none can be had here. */
  static mount(size: string): SmallDisk | string {
    const folder = temporaryFolder();
    const mounted = run('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder);
    if (mounted.status !== 0) return `no file system can be mounted: ${String(mounted.stderr)}`;
    // Why first: the folder is removed then too.
    process.prependOnceListener('exit', () => void run('umount', '-l', folder));
    // Of a run that is ended too: what is mounted takes memory.
    process.once('SIGTERM', () => process.exit(1));
    return new SmallDisk(folder);
  }

  setReadOnly(isReadOnly: boolean): void {
    const mounted = run('mount', '-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, this.folder);
    assert.equal(mounted.status, 0, String(mounted.stderr));
  }

  /** Leaves room for so many pages. */
  fill(pagesRemaining: number): void {
    this.clear();
    const file = openSync(path.join(this.folder, FILLER), 'w');
    const page = Buffer.alloc(this.pageSize, 'x');
    let size = 0;
    try {
      for (;;) size += writeSync(file, page);
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
    }
    ftruncateSync(file, size - pagesRemaining * this.pageSize);
    closeSync(file);
  }

  clear(): void {
    rmSync(path.join(this.folder, FILLER), { force: true });
  }
}
