// Seal of the embedded store's file: a SHA-256 in a file beside it, written when a store that passed its check is closed.
// An unchanged file is not checked again. The seal is removed when the store is opened, so that after a crash, damage in
// between included, everything is checked.
//
// Measured: 2026-11-24: 6.4 MB, 5,000 repositories: 8 ms in place of 228.

import { rmSync, statSync } from 'node:fs';
import { hashFile } from '../base/file-hash.ts';
import { readOwn, replaceOwn } from '../base/own-file.ts';

const sealOf = (file: string): string => `${file}.sealed`;

/** Open stores of this process, by file. Safety: reading a file as a whole would release SQLite's locks on it. */
const openCounts = new Map<string, number>();

/**
 * Whether the file matches its seal; `open`: this process has it open, so it is not read. Call before each opening; removes
 * the seal.
 */
export function breakSeal(file: string): 'sealed' | 'unsealed' | 'open' {
  const openCount = openCounts.get(file) ?? 0;
  openCounts.set(file, openCount + 1);
  const isWhole = openCount === 0 && !hasLog(file) && isSealed(file);
  rmSync(sealOf(file), { force: true, recursive: true });
  if (openCount > 0) return 'open';
  return isWhole ? 'sealed' : 'unsealed';
}

/** Call after each closing. A seal that cannot be written is skipped. @param isIntact  the file passed its check when opened */
export function seal(file: string, isIntact: boolean): void {
  const openCount = (openCounts.get(file) ?? 0) - 1;
  openCounts.set(file, openCount);
  if (openCount > 0) return;
  openCounts.delete(file);
  if (!isIntact || hasLog(file)) return;
  try {
    replaceOwn(sealOf(file), hashFile(file));
  } catch {
    // The next opening checks the file then.
  }
}

/** Committed data may not be in the file itself yet. */
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
