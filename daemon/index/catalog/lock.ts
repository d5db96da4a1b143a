// Locks a data directory for one owner with a kernel lock (flock) on an open file. The lock ends with the process and
// also works between containers that share the directory. The file's text names the owner for messages; its presence
// means nothing.

import { closeSync, constants, fstatSync, ftruncateSync, readFileSync, statSync } from 'node:fs';
import { unlinkSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { atPath, systemCodeOf } from '../../base/caught.ts';
import { openOwn } from '../../base/own-file.ts';
import { loadLibc } from '../../base/libc.ts';

const { O_RDWR, O_APPEND, O_CREAT } = constants;

/** Another process owns the data directory. */
export class LockedError extends Error {
  readonly exitCode = 2;
  /** The directory and its owner. */
  readonly fact: string;
  /** The lock will be free soon: its owner is a command, or has exited. */
  readonly isBrief: boolean;

  constructor(fact: string, isBrief: boolean) {
    super(`${fact}. Stop it or pass another --data-dir.`);
    this.fact = fact;
    this.isBrief = isBrief;
  }
}

const BRIEF = 'brief';

/** Source: flock(2), the same on Linux, macOS and the BSDs. */
const LOCK_EX = 2;
const LOCK_NB = 4;

/**
 * Takes the lock; returns the function that releases it.
 *
 * @param isBrief  for a short command; others may wait for it
 * Errors: LockedError; an Error if the system or the file system has no such locks: without a lock nobody is the owner.
 */
export function lockDataDir(dataDir: string, isBrief = false): () => void {
  const file = path.join(dataDir, 'lock');
  for (;;) {
    // Why child processes do not inherit it: Node.js opens with O_CLOEXEC, so a git that outlives the daemon holds no
    // lock.
    const handle = openOwn(file, O_RDWR | O_APPEND | O_CREAT);
    try {
      if (!tryFlock(handle, file)) throw lockedError(dataDir, file);
      if (isAt(handle, file)) {
        noteOwner(handle, file, isBrief);
        return () => release(handle, file);
      }
    } catch (error) {
      closeSync(handle);
      throw atPath(error, file);
    }
    // The previous owner removed the file meanwhile: a lock on a removed file excludes nobody.
    closeSync(handle);
  }
}

/** Errors: the file cannot be written, and is removed. */
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
  const atPath = statSync(file, { bigint: true, throwIfNoEntry: false });
  return atPath !== undefined && atPath.ino === open.ino && atPath.dev === open.dev;
}

function lockedError(dataDir: string, file: string): LockedError {
  const [owner = '', host = '', kind] = readOwner(file).trim().split(' ');
  const name = owner === '' ? 'another process' : `process ${owner} (${host})`;
  // An empty file: the owner has just taken or is releasing the lock. A dead owner: a child that it was starting holds
  // the lock until it executes its program.
  const isBrief = kind === BRIEF || owner === '' || isGone(Number(owner), host);
  return new LockedError(`data directory ${dataDir} is in use by ${name}`, isBrief);
}

/** Whether a process of this machine has exited. */
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
    `${file} cannot be locked (errno ${code}); use a data directory on a file system with locks`,
  );
}

function findFlock(file: string): Flock {
  try {
    return loadLibc().functions.func('int flock(int handle, int operation)') as Flock;
  } catch (error) {
    throw new Error(`${file} cannot be locked: this system has no flock`, { cause: error });
  }
}
