// Finds the data directory for a folder: `.trawl` in it or above it, as git does, or the one in which it was indexed from
// elsewhere. For the latter `serve` and `index` note each source outside of their data directory's folder, in a file of the
// user's: `sources` in $XDG_STATE_HOME/trawl. It is a convenience: without it the data directory is named.

import { existsSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { readOwn, replaceOwn } from '../base/own-file.ts';
import { UsageError } from './errors.ts';

export const DATA_DIR = '.trawl';

/** Bound: size of the file. */
const SOURCES_MAX = 500;

/**
 * The nearest one at or above a folder, not another user's; if none exists, the path that it would have. Errors: as
 * `ownDataDir`.
 */
export function findDataDir(folder: string): string {
  const known = readKnown();
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    for (const dataDir of [path.join(at, DATA_DIR), known.get(at)])
      if (dataDir !== undefined && isOwn(dataDir)) return dataDir;
    if (at === path.dirname(at)) return DATA_DIR;
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
  const above = path.dirname(path.resolve(dataDir));
  const added = sources.filter((source) => {
    const isFoundAbove = path.basename(dataDir) === DATA_DIR && isBelow(source, above);
    return !isFoundAbove && !/[\t\n]/.test(source + dataDir);
  });
  const known = readKnown();
  if (added.every((source) => known.get(source) === path.resolve(dataDir))) return;
  for (const source of added) {
    known.delete(source);
    known.set(source, path.resolve(dataDir));
  }
  const lines = [...known]
    .filter((entry) => isOwn(entry[1]))
    .slice(-SOURCES_MAX)
    .map((entry) => `${entry.join('\t')}\n`);
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    replaceOwn(file, lines.join(''));
  } catch {
    // A home that is read-only.
  }
}

/** Undefined: there is no home, as of many services. */
function fileName(): string | undefined {
  const { HOME: home = '', XDG_STATE_HOME: state = '' } = process.env;
  if (path.isAbsolute(state)) return path.join(state, 'trawl', 'sources');
  const isHome = path.isAbsolute(home) && existsSync(home);
  return isHome ? path.join(home, '.local', 'state', 'trawl', 'sources') : undefined;
}

/** Data directories by source. */
function readKnown(): Map<string, string> {
  try {
    const lines = readOwn(fileName() ?? '')
      .toString()
      .split('\n');
    const entries = lines.map((line) => line.split('\t'));
    return new Map(
      entries.flatMap(([source, dataDir]) => (source && dataDir ? [[source, dataDir]] : [])),
    );
  } catch {
    return new Map();
  }
}

function isOwn(folder: string): boolean {
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === (process.getuid?.() ?? stat.uid);
}

function isBelow(place: string, folder: string): boolean {
  return (
    place === folder || place.startsWith(folder === path.sep ? folder : `${folder}${path.sep}`)
  );
}
