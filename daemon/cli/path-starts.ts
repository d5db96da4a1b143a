// How paths of results are shown. Where the file is on this machine: relative to the current folder, if that is in the source or
// above it, else absolute. All others: `repository:path`.

import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import type { FileResult } from '../api/search/search-schemas.ts';
import { byRepository, type PathStart, type PathStarts } from './search-output.ts';
import type { SearchSource } from './search-source.ts';

type Start = (file: string) => PathStart;

/** Revision of files on disk. */
const ON_DISK = 'HEAD';

/** For the files of one answer. */
export async function pathStarts(
  source: Pick<SearchSource, 'folders'>,
  files: readonly FileResult[],
  here = process.cwd(),
): Promise<PathStarts> {
  if (files.length === 0) return byRepository;
  const names = new Set(files.map(({ repository }) => repository));
  const starts = new Map<
    string,
    { readonly start: Start; readonly revisions: readonly string[] }
  >();
  for (const [name, folder] of await source.folders([...names])) {
    if (!hasFiles(folder)) continue;
    const start = startIn(realpathSync.native(folder), here);
    starts.set(name, { start, revisions: [ON_DISK, checkedOut(folder)] });
  }
  return (file) => {
    const found = starts.get(file.repository);
    const { branches = [ON_DISK] } = file;
    const isThere = branches.some((name) => found?.revisions.includes(name));
    return found && isThere ? found.start(file.fileName.text) : byRepository(file);
  };
}

/** Whether a folder is there and is not a bare repository. */
function hasFiles(folder: string): boolean {
  const has = (name: string): boolean => existsSync(path.join(folder, name));
  return has('.git') || (has('.') && !['HEAD', 'objects', 'refs'].every(has));
}

/** The branch that a work tree shows, as a full ref; "" if unknown. */
function checkedOut(folder: string): string {
  const git = path.join(folder, '.git');
  try {
    // A file in a linked work tree.
    const linked = statSync(git).isFile() && /^gitdir: (.+)$/m.exec(readFileSync(git, 'utf8'))?.[1];
    const head = readFileSync(
      path.join(linked ? path.resolve(folder, linked) : git, 'HEAD'),
      'utf8',
    );
    return /^ref: (\S+)/.exec(head)?.[1] ?? '';
  } catch {
    return '';
  }
}

function startIn(folder: string, here: string): Start {
  const down = below(folder, here);
  if (down !== undefined) return () => ({ lead: down === '' ? '' : `${down}/`, cut: 0 });
  const inside = below(here, folder)?.split(path.sep);
  if (inside === undefined) return () => ({ lead: `${folder}/`, cut: 0 });
  return (file) => {
    let [same, cut] = [0, 0];
    // The last part of a path is its file.
    while (same < inside.length && file.startsWith(`${inside[same]!}/`, cut))
      cut += inside[same++]!.length + 1;
    return { lead: '../'.repeat(inside.length - same), cut };
  };
}

/** The path from `folder` to `place`; undefined: it is not below. */
function below(place: string, folder: string): string | undefined {
  const relative = path.relative(folder, place);
  const isBelow = relative.split(path.sep, 1)[0] !== '..' && !path.isAbsolute(relative);
  return isBelow ? relative : undefined;
}
