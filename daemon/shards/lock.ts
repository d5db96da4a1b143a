// One owner at a time for a data directory: a file that names the process, made with O_EXCL. A file left by
// a process that is gone is taken over.

import { closeSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import path from 'node:path';
import { systemCodeOf } from '../telemetry/caught.ts';

/** Another process owns the data directory. */
export class LockedError extends Error {
  readonly exitCode = 2;
}

/** Takes the lock; returns how to give it back. Errors: LockedError. */
export function lockDataDir(dataDir: string): () => void {
  const file = path.join(dataDir, 'lock');
  for (let attempt = 0; ; attempt++) {
    try {
      const handle = openSync(file, 'wx', 0o600);
      writeSync(handle, `${process.pid}\n`);
      closeSync(handle);
      return () => unlinkSync(file);
    } catch (error) {
      if (systemCodeOf(error) !== 'EEXIST') throw error;
      const owner = Number(readOwner(file));
      if (attempt > 2 || isAlive(owner)) {
        throw new LockedError(`${dataDir} is in use by process ${owner}`, { cause: error });
      }
      unlinkSync(file);
    }
  }
}

function readOwner(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Whether a process has this id; a process that may not be signalled is alive too. */
function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCodeOf(error) === 'EPERM';
  }
}
