// Finds the data directory for a folder: `.trawl` in it or above it, as git does, or the one in which it was indexed from
// elsewhere. For the latter `serve` and `index` note each source outside of their data directory's folder, in a file of the
// user's: `sources` in $XDG_STATE_HOME/trawl. It is a convenience: without it the data directory is named.

import { appendFileSync, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { readOwn, replaceOwn } from '../base/own-file.ts';
import { UsageError } from './errors.ts';

export const DATA_DIR = '.trawl';

/** Bound: size of the file. */
const NOTES_MAX = 500;

/**
 * The nearest one at or above a folder, not another user's; if none exists, the path that it would have. Errors: as
 * `ownDataDir`.
 */
export function findDataDir(folder: string): string {
  const known = new Map(readNotes());
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    for (const dataDir of [path.join(at, DATA_DIR), known.get(at)])
      if (dataDir !== undefined && isOwn(dataDir)) return dataDir;
    if (at === path.dirname(at)) break;
  }
  ownDataDir(folder);
  return DATA_DIR;
}

/** The path of the one in a folder, or that it would have. Errors: UsageError if another user has made it. */
export function ownDataDir(folder: string): string {
  const dataDir = path.join(folder, DATA_DIR);
  const owner = statSync(dataDir, { throwIfNoEntry: false })?.uid;
  // Safety: its owner would get queries and passwords, and see what is stored in it.
  if (owner !== undefined && owner !== (process.getuid?.() ?? owner))
    throw new UsageError(
      `${path.resolve(dataDir)} is of another user (${owner}); if you trust that user, name it with --data-dir`,
    );
  return dataDir;
}

/** Never fails: where the file cannot be written, nothing is noted. @param sources  absolute paths */
export function noteSources(dataDir: string, sources: readonly string[]): void {
  const file = fileName();
  if (file === undefined) return;
  const real = realPathOf(dataDir);
  const above = path.dirname(real);
  const isFoundAbove = (source: string): boolean =>
    path.basename(real) === DATA_DIR && isBelow(source, above);
  const notes = readNotes();
  const known = new Map(notes);
  const added = sources
    .map(realPathOf)
    .filter((source) => known.get(source) !== real && !isFoundAbove(source))
    .filter((source) => !/[\t\n]/.test(source + real));
  if (added.length === 0) return;
  const lines = added.map((source) => `${source}\t${real}\n`);
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    // Another process may note a source at the same moment.
    if (notes.length < NOTES_MAX) appendFileSync(file, lines.join(''), { mode: 0o600 });
    else {
      const kept = [...known].filter((entry) => isOwn(entry[1])).slice(-NOTES_MAX / 2);
      replaceOwn(file, [...kept.map((entry) => `${entry.join('\t')}\n`), ...lines].join(''));
    }
  } catch {
    // A home that is read-only.
  }
}

/** What the current folder is called inside of it; of a place that is gone, its absolute path. */
export function realPathOf(place: string): string {
  try {
    return realpathSync.native(place);
  } catch {
    return path.resolve(place);
  }
}

/** Undefined: there is no home, as of many services. */
function fileName(): string | undefined {
  const { HOME: home = '', XDG_STATE_HOME: state = '' } = process.env;
  if (path.isAbsolute(state)) return path.join(state, 'trawl', 'sources');
  const isHome = path.isAbsolute(home) && existsSync(home);
  return isHome ? path.join(home, '.local', 'state', 'trawl', 'sources') : undefined;
}

/** Sources and their data directories; of a source the last one counts. */
function readNotes(): (readonly [source: string, dataDir: string])[] {
  try {
    const lines = readOwn(fileName() ?? '')
      .toString()
      .split('\n');
    const entries = lines.map((line) => line.split('\t'));
    return entries.flatMap(([source, dataDir]) => (source && dataDir ? [[source, dataDir]] : []));
  } catch {
    return [];
  }
}

function isOwn(folder: string): boolean {
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === (process.getuid?.() ?? stat.uid);
}

/** Whether an absolute path is that of a folder, or below it. */
export function isBelow(place: string, folder: string): boolean {
  return folder === path.sep || `${place}${path.sep}`.startsWith(`${folder}${path.sep}`);
}
