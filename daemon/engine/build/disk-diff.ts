// Finds the differences between files on disk and the docs in a repo's shards: by the file state stored when each file was
// read, and by content where the state does not decide.

import { nameKey, type NamedPath } from '../../base/paths.ts';
import { hashFiles } from '../../sources/docs/disk-reader.ts';
import { type DiskListing, isLinkState } from '../../sources/docs/source-disk.ts';
import type { SourceFile } from '../../sources/docs/file-list.ts';
import { type FileStates, UNSETTLED } from '../../sources/docs/source.ts';
import type { TreeChange } from '../../sources/git/tree-diff.ts';
import { isAttributeFile } from '../../sources/languages/attributes.ts';
import type { DocFilter } from './filters.ts';
import type { DocPlace, KnownDocs } from './known-docs.ts';

/** The current files on disk, and the state of those indexed. */
export interface DiskLook {
  readonly listing: DiskListing;
  /** The listing covers these paths and everything below them; undefined: all. */
  readonly within: readonly string[] | undefined;
  /** File states from the listing before the files were read; undefined: lost. */
  readonly known: FileStates | undefined;
}

export interface DiskDiff {
  readonly changes: readonly TreeChange[];
  /** Returns those of the paths that were symbolic links. */
  readonly linksBefore: (paths: readonly string[]) => ReadonlySet<string>;
}

/** Blob id of a file that is not read; no doc has it. */
const UNKNOWN = '';

/** A listed file that may differ from its doc, or has none. */
interface Suspect {
  readonly file: SourceFile;
  readonly place: DocPlace | undefined;
  /** Unchanged, but its blob is unknown. */
  readonly isSame: boolean;
}

/**
 * Compares files on disk with the docs of the default revision.
 *
 * @param isShared  other revisions may hold the same docs, so that each content must be known
 *
 * @returns  undefined: former attribute files are unknown
 *
 * Cost: a test of each doc that the listing may hold; reads files that may have changed.
 */
export async function diffDisk(
  root: string,
  look: DiskLook,
  docs: KnownDocs,
  filter: DocFilter,
  isShared: boolean,
): Promise<DiskDiff | undefined> {
  const changes: TreeChange[] = [];
  const suspects = await findSuspects(look, docs, isShared, (place, named) => {
    const before = { oid: docs.oidOf(place) ?? UNKNOWN, kind: 'file' as const };
    changes.push({ ...named, isOuter: false, before });
  });
  const isRead = ({ file }: Suspect): boolean =>
    isShared || filter.skipReasonOfSize(file.path, file.size) === undefined;
  const read = suspects.filter((one) => isRead(one) && (isShared || one.place !== undefined));
  const ids = await hashFiles(
    root,
    read.map(({ file }) => file),
  );
  for (const suspect of suspects) {
    const change = changeOf(suspect, docs, ids.get(suspect.file));
    if (change !== undefined) changes.push(change);
  }
  if (look.known === undefined && changes.some(({ path }) => isAttributeFile(path)))
    return undefined;
  const states = look.known ?? look.listing.states;
  const wasLink = (path: string): boolean => isLinkState(states.get(path) ?? '');
  return { changes, linksBefore: (paths) => new Set(paths.filter(wasLink)) };
}

/** The listed files that may differ from their docs, those without a doc last. */
async function findSuspects(
  { listing, within, known }: DiskLook,
  docs: KnownDocs,
  isShared: boolean,
  onGone: (place: DocPlace, named: NamedPath) => void,
): Promise<Suspect[]> {
  const without = new Map(Array.from(listing.files, (file) => [nameKey(file), file]));
  const suspects: Suspect[] = [];
  const onDoc = (place: DocPlace, named: NamedPath): void => {
    const key = nameKey(named);
    const file = without.get(key);
    if (file === undefined) {
      onGone(place, named);
      return;
    }
    without.delete(key);
    const isSame = isSettled(listing.states.get(key), known?.get(key));
    const isTold = !isShared || docs.oidOf(place) !== undefined;
    if (!isSame || !isTold) suspects.push({ file, place, isSame });
  };
  const held = docs.docsIn(0);
  if (within === undefined) await docs.forEach(held, () => true, onDoc);
  else docs.forEachWithin(held, within, onDoc);
  for (const file of without.values()) suspects.push({ file, place: undefined, isSame: false });
  return suspects;
}

/** Undefined: the doc matches the file. */
function changeOf(
  { file, place, isSame }: Suspect,
  docs: KnownDocs,
  id: string | undefined,
): TreeChange | undefined {
  const { path, rawPath, isSymlink } = file;
  const wasId = place === undefined ? undefined : docs.oidOf(place);
  if (wasId !== undefined && wasId === id) return undefined;
  if (place !== undefined && isSame) {
    if (id !== undefined) docs.learn(place, id);
    return undefined;
  }
  return {
    ...(rawPath === undefined ? { path } : { path, rawPath }),
    isOuter: false,
    ...(place === undefined ? {} : { before: { oid: wasId ?? UNKNOWN, kind: 'file' as const } }),
    after: { oid: id ?? UNKNOWN, kind: isSymlink ? 'symlink' : 'file' },
  };
}

/** Whether a file is certainly unchanged. */
function isSettled(state: string | undefined, before: string | undefined): boolean {
  return state !== undefined && state === before && !state.startsWith(UNSETTLED);
}
