// Finds the files on disk that differ from a repo's docs: by their states, and by content where the state does not decide.

import { nameKey, type TreePath } from '../../base/paths.ts';
import { LoopYielder } from '../../base/next-time-slice.ts';
import { blobIdAt } from '../../sources/docs/disk-reader.ts';
import type { SourceFile } from '../../sources/docs/file-list.ts';
import { type FileStates, isLinkState, UNSETTLED } from '../../sources/docs/file-states.ts';
import { hashOnDisk } from '../../sources/docs/scan-thread.ts';
import type { DiskListing } from '../../sources/docs/source.ts';
import type { TreeChange } from '../../sources/git/tree-diff.ts';
import type { BuildOptions } from './build.ts';
import { DocFilter } from './filters.ts';
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
  /** In the listing. */
  readonly index: number;
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
  { spec, filters, signal }: Pick<BuildOptions, 'spec' | 'filters' | 'signal'>,
  scan: DiskScan,
  docs: IndexedDocs,
  isShared: boolean,
): Promise<TreeChange[]> {
  const { files } = scan.listing;
  const filter = new DocFilter(filters);
  const changes: TreeChange[] = [];
  const suspects = await findSuspects(scan, docs, isShared, (location, treePath) => {
    const before = { oid: docs.oidOf(location) ?? UNKNOWN, kind: 'file' as const };
    changes.push({ ...treePath, isOuter: false, before });
  });
  const isRead = ({ index, location }: Suspect): boolean =>
    isShared ||
    (location !== undefined && !filter.isTooLarge(files.pathOf(index), files.sizeOf(index)));
  const read = suspects.filter(isRead);
  const indexes = read.map(({ index }) => index);
  const ids = await hashOnDisk(spec.path, files, indexes, signal);
  const idOf = new Map(read.map(({ index }, nth) => [index, blobIdAt(ids, nth)]));
  const yielder = new LoopYielder();
  for (const suspect of suspects) {
    await yielder.pause();
    const change = changeOf(suspect, files.at(suspect.index), docs, idOf.get(suspect.index));
    if (change !== undefined) changes.push(change);
  }
  return changes;
}

async function findSuspects(
  { listing: { files, states }, within, indexed }: DiskScan,
  docs: IndexedDocs,
  isShared: boolean,
  onGone: (location: DocLocation, treePath: TreePath) => void,
): Promise<Suspect[]> {
  const unmatched = new Map<string, number>();
  const yielder = new LoopYielder();
  for (let index = 0; index < files.length; index++) {
    await yielder.pause();
    unmatched.set(nameKey(files.at(index)), index);
  }
  const suspects: Suspect[] = [];
  const onDoc = (location: DocLocation, treePath: TreePath): void => {
    const key = nameKey(treePath);
    const index = unmatched.get(key);
    if (index === undefined) {
      onGone(location, treePath);
      return;
    }
    unmatched.delete(key);
    const before = indexed?.get(key);
    const state = states.at(index);
    const isSame = isSettled(state, before);
    const isRelinked = before !== undefined && isLinkState(before) !== isLinkState(state);
    const hasStoredId = !isShared || docs.oidOf(location) !== undefined;
    if (!isSame || !hasStoredId) suspects.push({ index, location, isSame, isRelinked });
  };
  const headDocs = docs.docsIn(0);
  if (within === undefined) await docs.forEach(headDocs, onDoc);
  else docs.forEachWithin(headDocs, within, onDoc);
  for (const index of unmatched.values())
    suspects.push({ index, location: undefined, isSame: false, isRelinked: false });
  return suspects;
}

/** Undefined: the doc matches the file. */
function changeOf(
  { location, isSame, isRelinked }: Suspect,
  file: SourceFile,
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

function isSettled(state: string, before: string | undefined): boolean {
  return state === before && !state.startsWith(UNSETTLED);
}
