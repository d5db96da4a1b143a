// What the file of the embedded store was when it was closed, having been sound when it was opened: one that is the same still
// is not looked at again. The seal is a SHA-256 in a file beside it. It is taken away when the store is opened, so that after a
// process that did not end by itself, because of damage that came meanwhile, everything is looked at.
//
// Measured: 2026-11-24: 6.4 MB, 5,000 repositories: 8 ms in place of 228.

import { rmSync, statSync } from 'node:fs';
import { hashFile } from '../base/file-hash.ts';
import { readOwn, replaceOwn } from '../base/own-file.ts';

const sealOf = (file: string): string => `${file}.sealed`;

/** Stores that this process has open, by file. Safety: to read a file as a whole ends the locks that SQLite has on it. */
const openCounts = new Map<string, number>();

/**
 * Whether the file is what was sealed; `open`: this process has it open, and it is not looked at. To be called before each
 * opening; the seal is broken.
 */
export function breakSeal(file: string): 'sealed' | 'unsealed' | 'open' {
  const openCount = openCounts.get(file) ?? 0;
  openCounts.set(file, openCount + 1);
  const isWhole = openCount === 0 && !hasLog(file) && isSealed(file);
  rmSync(sealOf(file), { force: true, recursive: true });
  if (openCount > 0) return 'open';
  return isWhole ? 'sealed' : 'unsealed';
}

/** To be called after each closing. What cannot be written is not sealed. @param isSound  it was when it was opened */
export function seal(file: string, isSound: boolean): void {
  const openCount = (openCounts.get(file) ?? 0) - 1;
  openCounts.set(file, openCount);
  if (openCount > 0) return;
  openCounts.delete(file);
  if (!isSound || hasLog(file)) return;
  try {
    replaceOwn(sealOf(file), hashFile(file));
  } catch {
    // It is looked at then.
  }
}

/** Somebody has written, or writes, what is not in the file itself yet. */
function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function isSealed(file: string): boolean {
  try {
    return readOwn(sealOf(file)).toString() === hashFile(file);
  } catch {
    return false;
  }
}
