// Docs of several revisions: the default one as its own source lists it, further ones from their trees. Docs with equal
// path and blob are one file of the listing. Files on disk that equal a committed doc are read from git, only the others
// from disk.

import { hash } from 'node:crypto';
import { nameKey, type TreePath } from '../../base/paths.ts';
import { findObjects } from '../git/objects.ts';
import { readTrees, type TreeUnion } from '../git/trees.ts';
import { filterUnion } from './committed-rules.ts';
import { hashFiles } from './disk-reader.ts';
import { FileList, type SourceFile } from './file-list.ts';
import type { IgnoredCounts } from './ignored.ts';
import { type ExcludedPath, OBJECT_MISSING } from '../disk/excluded-path.ts';
import type { IngestSource, SourceListing, SourceSpec } from './source.ts';

const MARK = ' revisions:';

/** @param base  source of the default revision only */
export function openRevisionSource(spec: SourceSpec, base: IngestSource): IngestSource {
  const suffix = revisionSuffix(spec);
  return {
    spec,
    fingerprint: async () => (await base.fingerprint()) + suffix,
    list: () => listRevisions(spec, base, suffix),
  };
}

/** Fingerprint part for the further revisions; "" without any. */
export function revisionSuffix({ revisions = [] }: SourceSpec): string {
  if (revisions.length === 0) return '';
  const lines = revisions.map(({ name, commit }) => `${commit} ${name}\n`).join('');
  return `${MARK}${hash('sha256', lines, 'hex')}`;
}

/** A unique key per path and content, whatever the bytes of the path. */
export function docKey(treePath: TreePath, oid: string): string {
  return `${nameKey(treePath)}\0${oid}`;
}

/** A union under construction. */
interface Draft {
  readonly files: SourceFile[];
  readonly excluded: ExcludedPath[];
  /** Indexes of the files of each revision. */
  readonly visitors: ((onFile: (file: number) => void) => void)[];
}

/** Lists all revisions. Missing folders are reported as excluded. Errors: GitError. */
export async function listRevisions(
  spec: SourceSpec,
  base: IngestSource,
  suffix: string,
): Promise<SourceListing> {
  const further = (spec.revisions ?? []).map(({ commit }) => commit);
  const isCommitted = spec.kind === 'commits';
  const commits = isCommitted && spec.commit !== undefined ? [spec.commit, ...further] : further;
  const trees = await readTrees(spec.path, commits);
  const union = await filterUnion(spec, trees, commits.length);
  const ids = union.docs.map(({ oid }) => oid);
  const blobs = await findObjects(spec.path, ids, { timeoutMs: 0 });
  const draft: Draft = {
    files: union.docs.map((doc, index) => ({ ...doc, size: blobs[index]?.size ?? 0 })),
    excluded: [
      ...union.submodulePaths.map((path) => ({ path, reason: 'submodule' as const })),
      ...union.outerPaths.map((path) => ({ path, reason: 'outer_path' as const })),
      ...union.lostPaths.map((path) => ({ path, reason: OBJECT_MISSING })),
    ],
    visitors: commits.map((_, commit) => (onFile) => union.visit(commit, onFile)),
  };
  if (isCommitted) {
    const hasDefault = spec.commit !== undefined;
    if (!hasDefault) draft.visitors.unshift(() => {});
    const ignored = (): Promise<IgnoredCounts> =>
      Promise.resolve(hasDefault ? union.ignored(0) : {});
    return { ...sortDraft(draft), ignored, fingerprint: (await base.fingerprint()) + suffix };
  }
  const listing = await base.list();
  await addDisk(spec, listing, union, draft);
  return { ...listing, ...sortDraft(draft), fingerprint: listing.fingerprint + suffix };
}

/** Adds the files on disk as the default revision. */
async function addDisk(
  spec: SourceSpec,
  listing: SourceListing,
  union: TreeUnion,
  draft: Draft,
): Promise<void> {
  const indexByKey = new Map(union.docs.map((doc, index) => [docKey(doc, doc.oid), index]));
  const sizes = new Set(draft.files.map((file) => docKey(file, String(file.size))));
  const files = [...listing.files];
  const ids = await hashFiles(
    spec.path,
    files.filter((file) => sizes.has(docKey(file, String(file.size)))),
  );
  const indexes = files.map((file) => {
    const oid = ids.get(file);
    const committed = oid === undefined ? undefined : indexByKey.get(docKey(file, oid));
    return committed ?? draft.files.push(file) - 1;
  });
  const submodules = new Set(union.submodulePaths);
  draft.excluded.push(...listing.excluded.filter(({ path }) => !submodules.has(path)));
  draft.visitors.unshift((onFile) => indexes.forEach((index) => onFile(index)));
}

/**
 * Order of a listing: by path; for equal paths the default revision first.
 *
 * @param byRevision  less than 0 if the first one is of the default revision and the other one is not, and so on
 */
export function compareListed(one: SourceFile, other: SourceFile, byRevision: number): number {
  if (one.path !== other.path) return one.path < other.path ? -1 : 1;
  if (byRevision !== 0) return byRevision;
  return (one.oid ?? '') < (other.oid ?? '') ? -1 : 1;
}

/** Sorts the files into the order of a listing. */
function sortDraft({
  files,
  excluded,
  visitors,
}: Draft): Omit<SourceListing, 'fingerprint' | 'ignored'> {
  const isDefault = new Uint8Array(files.length);
  visitors[0]?.((file) => (isDefault[file] = 1));
  const order = [...files.keys()].sort((a, b) =>
    compareListed(files[a]!, files[b]!, isDefault[b]! - isDefault[a]!),
  );
  const positions = new Uint32Array(files.length);
  for (const [position, index] of order.entries()) positions[index] = position;
  excluded.sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    files: FileList.of(order.map((index) => files[index]!)),
    excluded,
    revisions: {
      count: visitors.length,
      visit: (revision, onFile) => visitors[revision]?.((file) => onFile(positions[file]!)),
    },
  };
}
