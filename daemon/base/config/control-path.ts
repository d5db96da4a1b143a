// Path of the socket through which commands reach the daemon that owns a data directory. The socket is in the data
// directory. If that path exceeds about 100 bytes, the system's limit, or no socket can be there, it is in a private folder
// named by a file in the data directory.

import { chmodSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isThere, readOwn, writeOwn } from '../own-file.ts';

const SOCKET_FILE = 'control.sock';
/**
 * Header of requests through the socket: the operating-system account that runs the command, encoded by encodeURIComponent.
 */
export const ACCOUNT_HEADER = 'x-trawl-account';

/** Holds the socket's path if that is elsewhere. */
const PATH_FILE = 'control.path';
const FOLDER_PREFIX = 'trawl-control-';
/** Linux takes 107 bytes, macOS 103. */
const PATH_SIZE_MAX = 100;

/** Names in the data directory that belong to a running daemon. */
export const CONTROL_FILES: readonly string[] = [SOCKET_FILE, PATH_FILE];

/** Path on which the daemon that owns `dataDir` listens, if it runs. */
export function findControlPath(dataDir: string): string {
  return readPathFile(dataDir) ?? path.join(dataDir, SOCKET_FILE);
}

/**
 * A free path for the daemon's socket. Only for the owner of the data directory.
 *
 * Errors: Error if no folder gives a path that is short enough.
 */
export function makeControlPath(dataDir: string, isElsewhere = false): string {
  removeControlPath(dataDir);
  const own = path.join(dataDir, SOCKET_FILE);
  if (!isElsewhere && Buffer.byteLength(own) <= PATH_SIZE_MAX) return own;
  const folder = mkdtempSync(path.join(shortFolder(), FOLDER_PREFIX));
  chmodSync(folder, 0o700);
  const file = path.join(folder, SOCKET_FILE);
  writeOwn(path.join(dataDir, PATH_FILE), `${file}\n`, { mode: 0o600 });
  return file;
}

/** Removes the socket files of a daemon that has ended or is about to. Only for the owner of the data directory. */
export function removeControlPath(dataDir: string): void {
  rmSync(path.join(dataDir, SOCKET_FILE), { force: true });
  const elsewhere = readPathFile(dataDir);
  if (elsewhere === undefined) return;
  const folder = path.dirname(elsewhere);
  // Safety: whatever the file says, only a socket in a folder made for it is removed.
  if (path.basename(elsewhere) === SOCKET_FILE && path.basename(folder).startsWith(FOLDER_PREFIX)) {
    rmSync(elsewhere, { force: true });
    removeEmpty(folder);
  }
  rmSync(path.join(dataDir, PATH_FILE), { force: true });
}

function shortFolder(): string {
  const suffixSize = `/${FOLDER_PREFIX}XXXXXX/${SOCKET_FILE}`.length;
  const found = [tmpdir(), '/tmp'].find(
    (folder) => Buffer.byteLength(folder) + suffixSize <= PATH_SIZE_MAX,
  );
  if (found === undefined) throw new Error('no temporary folder has a path of less than 60 bytes');
  return found;
}

function readPathFile(dataDir: string): string | undefined {
  const file = path.join(dataDir, PATH_FILE);
  try {
    // Why: the usual case; the stack of an error takes longer than most of a search.
    if (!isThere(file)) return undefined;
    return readOwn(file).toString().trim() || undefined;
  } catch {
    return undefined;
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Removed already, or shared.
  }
}
