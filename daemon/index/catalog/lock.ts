// One owner at a time for a data directory: a lock of the kernel (flock) on an open file, which ends with the process
// however that ends, and holds between containers that share the directory. What the file says, who the owner is, is
// for messages alone; its presence says nothing.

import { closeSync, constants, fstatSync, ftruncateSync, readFileSync, statSync } from 'node:fs';
import { unlinkSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { named, systemCodeOf } from '../../base/caught.ts';
import { openOwn } from '../../base/own-file.ts';
import { loadLibc } from '../../base/libc.ts';

const { O_RDWR, O_APPEND, O_CREAT } = constants;

/** Another process owns the data directory. */
export class LockedError extends Error {
  readonly exitCode = 2;
  /** Which directory, and who has it. */
  readonly fact: string;
  /** The directory will soon be free: its owner is a command, or is no more. */
  readonly isBrief: boolean;

  constructor(fact: string, isBrief: boolean) {
    super(`${fact}; end that one first, or take another folder by --data-dir`);
    this.fact = fact;
    this.isBrief = isBrief;
  }
}

const BRIEF = 'brief';

/** Source: flock(2), the same on Linux, macOS and the BSDs. */
const LOCK_EX = 2;
const LOCK_NB = 4;

/**
 * Takes the lock; returns how to give it back.
 *
 * @param isBrief  for the time of a command; others may wait for that
 *
 * Errors: LockedError; an Error where the system or the file system has no such locks: nobody owns without one.
 */
export function lockDataDir(dataDir: string, isBrief = false): () => void {
  const file = path.join(dataDir, 'lock');
  for (;;) {
    // Why the handle is not inherited: Node.js opens with O_CLOEXEC; a git that outlives the daemon holds nothing.
    const handle = openOwn(file, O_RDWR | O_APPEND | O_CREAT);
    try {
      if (!tryFlock(handle, file)) throw lockedError(dataDir, file);
      if (isAt(handle, file)) {
        noteOwner(handle, file, isBrief);
        return () => release(handle, file);
      }
    } catch (error) {
      closeSync(handle);
      throw named(error, file);
    }
    // The owner before has removed the file in between: a lock on what is no longer there keeps nobody out.
    closeSync(handle);
  }
}

/** Errors: the file cannot be written; it is gone then. */
function noteOwner(handle: number, file: string, isBrief: boolean): void {
  try {
    ftruncateSync(handle);
    writeSync(handle, `${process.pid} ${hostname()} ${isBrief ? BRIEF : ''}\n`);
  } catch (error) {
    unlinkSync(file);
    throw error;
  }
}

/** Invariant: only the owner removes the file, while it is locked. */
function release(handle: number, file: string): void {
  try {
    if (isAt(handle, file)) unlinkSync(file);
  } finally {
    closeSync(handle);
  }
}

/** Whether the open file is the one at the path. */
function isAt(handle: number, file: string): boolean {
  const open = fstatSync(handle, { bigint: true });
  const named = statSync(file, { bigint: true, throwIfNoEntry: false });
  return named !== undefined && named.ino === open.ino && named.dev === open.dev;
}

function lockedError(dataDir: string, file: string): LockedError {
  const [owner = '', host = '', kind] = readOwner(file).trim().split(' ');
  const name = owner === '' ? 'another process' : `process ${owner} (${host})`;
  // An empty file: its owner has only just taken it, or is giving it back. An owner that is no more: a program that it was
  // starting when it was killed holds the lock, until that program really begins.
  const isBrief = kind === BRIEF || owner === '' || isGone(Number(owner), host);
  return new LockedError(`${dataDir} is in use by ${name}`, isBrief);
}

/** Whether a process of this machine is no more. */
function isGone(pid: number, host: string): boolean {
  if (host !== hostname() || !Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return systemCodeOf(error) === 'ESRCH';
  }
}

function readOwner(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

type Flock = (handle: number, operation: number) => number;

let flock: Flock | undefined;

/** False: another open file has the lock. */
function tryFlock(handle: number, file: string): boolean {
  flock ??= findFlock(file);
  if (flock(handle, LOCK_EX | LOCK_NB) === 0) return true;
  const { errno, codes } = loadLibc();
  const code = errno();
  const { EWOULDBLOCK, EAGAIN } = codes;
  if (code === EWOULDBLOCK || code === EAGAIN) return false;
  throw new Error(
    `${file} cannot be locked (errno ${code}); put the data directory on a disk that has locks`,
  );
}

function findFlock(file: string): Flock {
  try {
    return loadLibc().functions.func('int flock(int handle, int operation)') as Flock;
  } catch (error) {
    throw new Error(`${file} cannot be locked: this system has no flock`, { cause: error });
  }
}
