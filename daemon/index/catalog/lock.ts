// Locks a data directory for one owner with kernel locks (flock) on an open file and on the folder. They end with the
// process and also work between containers that share the directory. The file's text names the owner for messages; its
// presence means nothing. The folder stays locked if somebody removes the file.

import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync } from 'node:fs';
import { statSync, unlinkSync, writeSync } from 'node:fs';
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
const LOCK_UN = 8;

/**
 * Takes the lock; returns the function that releases it.
 * @param isBrief  for a short command; others may wait for it
 * Errors: LockedError; an Error if the system or the file system has no such locks: without a lock nobody is the owner.
 */
export function lockDataDir(dataDir: string, isBrief = false): () => void {
  const file = path.join(dataDir, 'lock');
  for (;;) {
    // Why child processes do not inherit them: Node.js opens with O_CLOEXEC, so a git that outlives the daemon holds no
    // lock.
    // Why the folder first: the system closes it first when a process ends, so it is never locked without the file.
    const folder = openSync(dataDir, constants.O_RDONLY);
    let handle: number | undefined;
    try {
      handle = openOwn(file, O_RDWR | O_APPEND | O_CREAT);
      if (tryLocks(dataDir, folder, file, handle)) {
        noteOwner(handle, file, isBrief);
        return release.bind(undefined, folder, handle, file);
      }
    } catch (error) {
      close(folder, handle);
      throw atPath(error, file);
    }
    close(folder, handle);
  }
}

/** False: the previous owner removed the file meanwhile, and a lock on a removed file excludes nobody. */
function tryLocks(dataDir: string, folder: number, file: string, handle: number): boolean {
  const outcome = tryFlock(handle, file);
  if (outcome === 'taken') throw lockedError(dataDir, file);
  if (outcome !== 'locked')
    throw new Error(
      `${file} cannot be locked (errno ${outcome}); use a data directory on a file system with locks`,
    );
  if (!isAt(handle, file)) return false;
  // Some file systems cannot lock a folder; the file's lock remains.
  if (tryFlock(folder, file) !== 'taken') return true;
  const owner = 'a process whose lock file was removed';
  throw new LockedError(`data directory ${dataDir} is in use by ${owner}`, false);
}

function close(folder: number, handle: number | undefined): void {
  unlock(folder);
  if (handle !== undefined) unlock(handle);
}

/** Why not closed only: a child that is being started has the open file too, until it executes its program. */
function unlock(handle: number): void {
  flock?.(handle, LOCK_UN);
  closeSync(handle);
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
function release(folder: number, handle: number, file: string): void {
  unlock(folder);
  try {
    if (isAt(handle, file)) unlinkSync(file);
  } finally {
    unlock(handle);
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

/** `taken`: another open file has the lock. A number: the system's error. */
function tryFlock(handle: number, file: string): 'locked' | 'taken' | number {
  flock ??= findFlock(file);
  if (flock(handle, LOCK_EX | LOCK_NB) === 0) return 'locked';
  const { errno, codes } = loadLibc();
  const code = errno();
  return code === codes.EWOULDBLOCK || code === codes.EAGAIN ? 'taken' : code;
}

function findFlock(file: string): Flock {
  try {
    return loadLibc().functions.func('int flock(int handle, int operation)') as Flock;
  } catch (error) {
    throw new Error(`${file} cannot be locked: this system has no flock`, { cause: error });
  }
}
