// One owner at a time for a data directory: a file that names the process and, where the system tells it,
// when that process began, made with O_EXCL. A file left by a process that is gone is taken over, also
// when its number belongs to another one by now.

import { closeSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import path from 'node:path';
import { systemCodeOf } from '../telemetry/caught.ts';

/** Another process owns the data directory. */
export class LockedError extends Error {
  readonly exitCode = 2;
  /** The owner is a command that soon gives the directory back. */
  readonly isBrief: boolean;

  constructor(message: string, isBrief: boolean, cause: unknown) {
    super(message, { cause });
    this.isBrief = isBrief;
  }
}

const BRIEF = 'brief';

/**
 * Takes the lock; returns how to give it back.
 *
 * @param isBrief  for the time of a command; others may wait for that
 *
 * Errors: LockedError.
 */
export function lockDataDir(dataDir: string, isBrief = false): () => void {
  const file = path.join(dataDir, 'lock');
  for (let attempt = 0; ; attempt++) {
    try {
      const handle = openSync(file, 'wx', 0o600);
      writeSync(handle, `${process.pid} ${startOf(process.pid)} ${isBrief ? BRIEF : ''}\n`);
      closeSync(handle);
      return () => unlinkSync(file);
    } catch (error) {
      if (systemCodeOf(error) !== 'EEXIST') throw error;
      const [owner = '', start = '', kind] = readOwner(file).trim().split(' ');
      if (attempt > 2 || isAlive(Number(owner), start)) {
        throw new LockedError(`${dataDir} is in use by process ${owner}`, kind === BRIEF, error);
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

/** When a process began, in ticks since the system started; "" where that is not known. */
function startOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may hold blanks; the 20th field behind it is the start.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

/** Whether this very process lives; one that may not be signalled is alive too. */
function isAlive(pid: number, start: string): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  if (start !== '' && startOf(pid) !== '' && startOf(pid) !== start) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCodeOf(error) === 'EPERM';
  }
}
