// Opens the source of a description: docs of one commit, or of several revisions. The default revision is listed by its own
// source, further ones by their trees. Docs with equal path and blob are one file of the listing. Files on disk that equal a
// committed doc are read from git, only the others from disk.

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
import type { IngestSource, SourceListing, SourceSpec } from './source.ts';

/** The source. Reads nothing yet. */
export function openSource(spec: SourceSpec): IngestSource {
  const base = spec.kind === 'commits' ? openCommitSource(spec) : openDiskSource(spec);
  return (spec.revisions ?? []).length > 0 ? openRevisionSource(spec, base) : base;
}

function openDiskSource(spec: SourceSpec): IngestSource {
  return {
    spec,
    fingerprint: async () => (await scanDisk(spec)).fingerprint,
    list: (signal) => scanDisk(spec, undefined, signal),
  };
}

/** The commit id never changes its content, so it is the fingerprint. */
function openCommitSource(spec: SourceSpec): IngestSource {
  const fingerprint = `commit:${spec.commit ?? 'none'}`;
  const source: IngestSource = {
    spec,
    fingerprint: () => Promise.resolve(fingerprint),
    list: () => listCommit(spec, fingerprint).catch(listWithoutLost),
  };
  return source;

  /** Git lists nothing of a commit if a folder, or in a partial clone a file, is missing. */
  async function listWithoutLost(error: unknown): Promise<SourceListing> {
    if (!isGitExit(error)) throw error;
    const { revisions: _, ...listing } = await listRevisions(spec, source, '');
    return listing;
  }
}

async function listCommit(spec: SourceSpec, fingerprint: string): Promise<SourceListing> {
  const listed = new FileList();
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

const MARK = ' revisions:';

/** @param base  source of the default revision only */
function openRevisionSource(spec: SourceSpec, base: IngestSource): IngestSource {
  const suffix = revisionSuffix(spec);
  return {
    spec,
    fingerprint: async () => (await base.fingerprint()) + suffix,
    list: (signal) => listRevisions(spec, base, suffix, signal),
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
async function listRevisions(
  spec: SourceSpec,
  base: IngestSource,
  suffix: string,
  signal?: AbortSignal,
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
  const listing = await base.list(signal);
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
