// Finds the files on disk that differ from a repo's docs: by their states, and by content where the state does not decide.

import { nameKey, type TreePath } from '../../base/paths.ts';
import { hashFiles } from '../../sources/docs/disk-reader.ts';
import { type DiskListing, isLinkState } from '../../sources/docs/source-disk.ts';
import type { SourceFile } from '../../sources/docs/file-list.ts';
import { type FileStates, UNSETTLED } from '../../sources/docs/source.ts';
import type { TreeChange } from '../../sources/git/tree-diff.ts';
import type { DocFilter } from './filters.ts';
import type { DocLocation, IndexedDocs } from './indexed-docs.ts';

export interface DiskScan {
  readonly listing: DiskListing;
  /** The listing covers these paths and everything below them; undefined: all. */
  readonly within: readonly string[] | undefined;
  /** File states from the listing before the files were read; undefined: lost. */
  readonly indexed: FileStates | undefined;
}

/** Blob id of a file that is not read; no doc has it. */
const UNKNOWN = '';

interface Suspect {
  readonly file: SourceFile;
  readonly location: DocLocation | undefined;
  /** Unchanged, but its blob is unknown. */
  readonly isSame: boolean;
  /** It became a symbolic link, or is none any more. */
  readonly isRelinked: boolean;
}

/**
 * Compares files on disk with the docs of the default revision. Cost: a test of each doc that the listing may hold; reads
 * files that may have changed.
 * @param isShared  other revisions may hold the same docs, so that each content must be known
 */
export async function diffDisk(
  root: string,
  scan: DiskScan,
  docs: IndexedDocs,
  filter: DocFilter,
  isShared: boolean,
): Promise<TreeChange[]> {
  const changes: TreeChange[] = [];
  const suspects = await findSuspects(scan, docs, isShared, (location, treePath) => {
    const before = { oid: docs.oidOf(location) ?? UNKNOWN, kind: 'file' as const };
    changes.push({ ...treePath, isOuter: false, before });
  });
  const isRead = ({ file }: Suspect): boolean =>
    isShared || !filter.isTooLarge(file.path, file.size);
  const read = suspects.filter((one) => isRead(one) && (isShared || one.location !== undefined));
  const ids = await hashFiles(
    root,
    read.map(({ file }) => file),
  );
  for (const suspect of suspects) {
    const change = changeOf(suspect, docs, ids.get(suspect.file));
    if (change !== undefined) changes.push(change);
  }
  return changes;
}

async function findSuspects(
  { listing, within, indexed }: DiskScan,
  docs: IndexedDocs,
  isShared: boolean,
  onGone: (location: DocLocation, treePath: TreePath) => void,
): Promise<Suspect[]> {
  const unmatched = new Map(Array.from(listing.files, (file) => [nameKey(file), file]));
  const suspects: Suspect[] = [];
  const onDoc = (location: DocLocation, treePath: TreePath): void => {
    const key = nameKey(treePath);
    const file = unmatched.get(key);
    if (file === undefined) {
      onGone(location, treePath);
      return;
    }
    unmatched.delete(key);
    const state = indexed?.get(key);
    const isSame = isSettled(listing.states.get(key), state);
    const isRelinked = state !== undefined && isLinkState(state) !== file.isSymlink;
    const hasStoredId = !isShared || docs.oidOf(location) !== undefined;
    if (!isSame || !hasStoredId) suspects.push({ file, location, isSame, isRelinked });
  };
  const headDocs = docs.docsIn(0);
  if (within === undefined) await docs.forEach(headDocs, onDoc);
  else docs.forEachWithin(headDocs, within, onDoc);
  for (const file of unmatched.values())
    suspects.push({ file, location: undefined, isSame: false, isRelinked: false });
  return suspects;
}

/** Undefined: the doc matches the file. */
function changeOf(
  { file, location, isSame, isRelinked }: Suspect,
  docs: IndexedDocs,
  id: string | undefined,
): TreeChange | undefined {
  const { path, rawPath, isSymlink } = file;
  const wasId = location === undefined ? undefined : docs.oidOf(location);
  if (wasId !== undefined && wasId === id && !isRelinked) return undefined;
  if (location !== undefined && isSame) {
    if (id !== undefined) docs.learn(location, id);
    return undefined;
  }
  return {
    ...(rawPath === undefined ? { path } : { path, rawPath }),
    isOuter: false,
    ...(location === undefined ? {} : { before: { oid: wasId ?? UNKNOWN, kind: 'file' as const } }),
    after: { oid: id ?? UNKNOWN, kind: isSymlink ? 'symlink' : 'file' },
  };
}

function isSettled(state: string | undefined, before: string | undefined): boolean {
  return state !== undefined && state === before && !state.startsWith(UNSETTLED);
}
