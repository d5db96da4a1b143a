// Where the socket is through which commands reach the daemon that owns a data directory: in the directory itself. The
// path of a socket has about 100 bytes at most; where it would be longer, the socket is in a private folder of its own
// that a file in the data directory names.

import { chmodSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readOwn, writeOwn } from '../own-file.ts';

const SOCKET_FILE = 'control.sock';
/** Of requests through the socket: the operating-system account that the command runs under, as encodeURIComponent has it. */
export const ACCOUNT_HEADER = 'x-trawl-account';

/** Names the socket where its path is too long. */
const PATH_FILE = 'control.path';
const FOLDER_PREFIX = 'trawl-control-';
/** Linux takes 107 bytes, macOS 103. */
const PATH_SIZE_MAX = 100;

/** Names in the data directory that belong to a running daemon. */
export const CONTROL_FILES: readonly string[] = [SOCKET_FILE, PATH_FILE];

/** Where the daemon that owns `dataDir` listens, if one does. */
export function findControlPath(dataDir: string): string {
  return readPathFile(dataDir) ?? path.join(dataDir, SOCKET_FILE);
}

/**
 * Where the daemon is to listen; nothing is there. Only for the owner of the data directory.
 *
 * Errors: Error if no folder has a path that is short enough.
 */
export function makeControlPath(dataDir: string): string {
  removeControlPath(dataDir);
  const own = path.join(dataDir, SOCKET_FILE);
  if (Buffer.byteLength(own) <= PATH_SIZE_MAX) return own;
  const folder = mkdtempSync(path.join(shortFolder(), FOLDER_PREFIX));
  chmodSync(folder, 0o700);
  const file = path.join(folder, SOCKET_FILE);
  writeOwn(path.join(dataDir, PATH_FILE), `${file}\n`, { mode: 0o600 });
  return file;
}

/** Removes what a daemon that is gone, or is about to go, has left. Only for the owner of the data directory. */
export function removeControlPath(dataDir: string): void {
  rmSync(path.join(dataDir, SOCKET_FILE), { force: true });
  const elsewhere = readPathFile(dataDir);
  if (elsewhere === undefined) return;
  const folder = path.dirname(elsewhere);
  // Safety: whatever the file says, only a socket in a folder that was made for it goes.
  if (path.basename(elsewhere) === SOCKET_FILE && path.basename(folder).startsWith(FOLDER_PREFIX)) {
    rmSync(elsewhere, { force: true });
    removeEmpty(folder);
  }
  rmSync(path.join(dataDir, PATH_FILE), { force: true });
}

function shortFolder(): string {
  const roomSize = `/${FOLDER_PREFIX}XXXXXX/${SOCKET_FILE}`.length;
  const found = [tmpdir(), '/tmp'].find(
    (folder) => Buffer.byteLength(folder) + roomSize <= PATH_SIZE_MAX,
  );
  if (found === undefined) throw new Error('no temporary folder has a path of less than 60 bytes');
  return found;
}

function readPathFile(dataDir: string): string | undefined {
  try {
    return readOwn(path.join(dataDir, PATH_FILE)).toString().trim() || undefined;
  } catch {
    return undefined;
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Gone already, or not ours alone.
  }
}
