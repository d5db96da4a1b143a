// Lists the docs of a source: files on disk, those of one commit, or of several revisions. Docs with equal path and blob are
// one file of the listing. Files on disk that equal a doc of a further revision are read from git, only the others from disk.

import { hash } from 'node:crypto';
import { nameKey, type TreePath } from '../../base/paths.ts';
import { type ExcludedPath, OBJECT_MISSING } from '../disk/excluded-path.ts';
import { RULES_SIZE_MAX, RULES_TOO_LARGE } from '../disk/ignore-rules.ts';
import { isGitExit } from '../git/git.ts';
import { findObjects, listTree } from '../git/objects.ts';
import { readTrees, type TreeUnion } from '../git/trees.ts';
import { filterUnion, RULES_PATH, withoutIgnored } from './committed-rules.ts';
import { blobIdAt } from './disk-reader.ts';
import { FileList, type SourceFile } from './file-list.ts';
import type { IgnoredCounts } from './ignored.ts';
import { hashOnDisk, scanDisk } from './scan-thread.ts';
import type { SourceListing, SourceSpec } from './source.ts';

/**
 * The current docs of a source. Errors: GitError; an error of the file system if the root folder cannot be read; the reason of
 * the signal, for files on disk. Problems of single files go to `excluded`.
 */
export async function listSource(spec: SourceSpec, signal?: AbortSignal): Promise<SourceListing> {
  if ((spec.revisions ?? []).length > 0) return listRevisions(spec, signal);
  if (spec.kind !== 'commits') return scanDisk(spec, undefined, signal);
  return listCommit(spec).catch(async (error: unknown) => {
    // Git lists nothing of a commit if a folder, or in a partial clone a file, is missing.
    if (!isGitExit(error)) throw error;
    const { revisions: _, ...listing } = await listRevisions(spec);
    return listing;
  });
}

/**
 * A text that changes when the docs may have changed: equal texts of one source mean equal docs. Errors: as `listSource`.
 * Cost: nothing for commits, a listing for files on disk.
 */
export async function fingerprintOfSource(spec: SourceSpec): Promise<string> {
  if (spec.kind === 'commits') return commitFingerprint(spec);
  return (await scanDisk(spec)).fingerprint + revisionSuffix(spec);
}

/** The commit id never changes its content, so it is the fingerprint. */
function commitFingerprint(spec: SourceSpec): string {
  return `commit:${spec.commit ?? 'none'}${revisionSuffix(spec)}`;
}

async function listCommit(spec: SourceSpec): Promise<SourceListing> {
  const listed = new FileList();
  const fingerprint = commitFingerprint(spec);
  if (spec.commit === undefined)
    return { files: listed, excluded: [], ignored: () => Promise.resolve({}), fingerprint };
  let rulesId: string | undefined;
  const unread: ExcludedPath[] = [];
  const { submodulePaths, outerPaths } = await listTree(spec.path, spec.commit, {}, (entry) => {
    if (entry.path === RULES_PATH && !entry.isSymlink && spec.noIgnore !== true) {
      if (entry.size > RULES_SIZE_MAX) unread.push({ path: RULES_PATH, reason: RULES_TOO_LARGE });
      rulesId = entry.oid;
    }
    listed.add(entry);
  });
  const { files, ignored } =
    rulesId === undefined
      ? { files: listed, ignored: {} }
      : await withoutIgnored(spec.path, listed, rulesId);
  const excluded = [
    ...unread,
    ...submodulePaths.map((path) => ({ path, reason: 'submodule' as const })),
    ...outerPaths.map((path) => ({ path, reason: 'outer_path' as const })),
  ];
  return { files, excluded, ignored: () => Promise.resolve(ignored), fingerprint };
}

/** Fingerprint part for the further revisions; "" without any. */
export function revisionSuffix({ revisions = [] }: SourceSpec): string {
  if (revisions.length === 0) return '';
  const lines = revisions.map(({ name, commit }) => `${commit} ${name}\n`).join('');
  return ` revisions:${hash('sha256', lines, 'hex')}`;
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
async function listRevisions(spec: SourceSpec, signal?: AbortSignal): Promise<SourceListing> {
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
    return { ...sortDraft(draft), ignored, fingerprint: commitFingerprint(spec) };
  }
  const listing = await scanDisk(spec, undefined, signal);
  await addDisk(spec, listing, union, draft);
  const fingerprint = listing.fingerprint + revisionSuffix(spec);
  return { ...listing, ...sortDraft(draft), fingerprint };
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
  const hashed = [...files.keys()].filter((index) =>
    sizes.has(docKey(files[index]!, String(files[index]!.size))),
  );
  const ids = await hashOnDisk(spec.path, listing.files, hashed);
  const idOf = new Map(hashed.map((index, nth) => [index, blobIdAt(ids, nth)]));
  const indexes = files.map((file, index) => {
    const oid = idOf.get(index);
    const committed = oid === undefined ? undefined : indexByKey.get(docKey(file, oid));
    return committed ?? draft.files.push(file) - 1;
  });
  const submodules = new Set(union.submodulePaths);
  draft.excluded.push(...listing.excluded.filter(({ path }) => !submodules.has(path)));
  draft.visitors.unshift((onFile) => indexes.forEach((index) => onFile(index)));
}

/**
 * Order of a listing: by path; for equal paths the default revision first.
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
