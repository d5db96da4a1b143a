// New revisions computed from existing ones: their differences, their sets of docs, and the revision file that records them.

import { type CommittedRules, RULES_PATH } from '../../sources/docs/committed-rules.ts';
import { findObjects, type ReadOptions } from '../../sources/git/objects.ts';
import { diffTrees, type TreeChange, type TreeItem } from '../../sources/git/tree-diff.ts';
import { bitmapSizeOf, setBit } from '../shards/bits.ts';
import { RevisionWriter } from '../shards/revisions.ts';
import type { ListedShard } from './build.ts';
import type { KnownDocs } from './known-docs.ts';
import type { MissingDocs, MissingRow } from './missing-docs.ts';

/** A commit and what its rules leave out. */
export interface RuledCommit {
  readonly commit: string;
  readonly rules: CommittedRules | undefined;
}

/** Docs that were missing, as rows, and the shards that were built of them. */
export interface BuiltRows {
  readonly shards: readonly ListedShard[];
  readonly rows: readonly MissingRow[];
}

/** Those of the commits that the repository has, with their trees. Errors: GitError. */
export async function presentCommits(
  repoPath: string,
  commits: readonly string[],
  options: ReadOptions = {},
): Promise<ReadonlySet<string>> {
  const names = commits.map((commit) => `${commit}^{tree}`);
  const trees = await findObjects(repoPath, names, { timeoutMs: 0, ...options });
  return new Set(commits.filter((_, index) => trees[index] !== undefined));
}

/**
 * What differs between a known commit, which is present, and another one; undefined: their rules do, so that they leave
 * out what does not. Errors: GitError.
 */
export async function changesFrom(
  repoPath: string,
  basis: RuledCommit,
  { commit, rules }: RuledCommit,
  options: ReadOptions = {},
): Promise<readonly TreeChange[] | undefined> {
  if (basis.rules?.oid !== rules?.oid) return undefined;
  if (basis.commit === commit) return [];
  const changes = await diffTrees(repoPath, basis.commit, commit, options);
  // A link in the place of a file of rules is none, and they are not told apart by their blobs.
  return changes.some(({ path }) => path === RULES_PATH) ? undefined : changes;
}

/** An item of a change, if it is a doc. */
export function docOf({ isOuter }: TreeChange, item: TreeItem | undefined): TreeItem | undefined {
  return isOuter || item?.kind === 'submodule' ? undefined : item;
}

/**
 * Does to the docs of a revision what a change says; a doc that no shard holds is missing.
 *
 * @param target  index of the revision
 * @param sets  its docs in each known shard
 */
export function applyChange(
  docs: KnownDocs,
  missing: MissingDocs,
  target: number,
  sets: readonly Uint8Array[],
  change: TreeChange,
): void {
  if (change.isOuter) return;
  const [before, after] = [docOf(change, change.before), docOf(change, change.after)];
  if (!docs.replace(sets, change, before !== undefined, after))
    missing.addItem(target, change, after!);
}

/**
 * The revision file over the shards that were built and, behind them, those of the known ones that stay.
 *
 * @param kept  indexes of the latter
 * @param sets  by the index of each revision its docs in each known shard
 */
export function revisionFileOver(
  docs: KnownDocs,
  kept: readonly number[],
  { shards, rows }: BuiltRows,
  sets: ReadonlyMap<number, readonly Uint8Array[]>,
): Buffer {
  const stay = kept.map((shard) => ({
    docCount: docs.shards[shard]!.docCount,
    unstored: docs.unstoredOf(shard),
  }));
  const writer = new RevisionWriter([...shards, ...stay]);
  for (const [target, known] of sets)
    writer.add([
      ...shards.map((shard) => builtDocsOf(target, shard, rows)),
      ...kept.map((shard) => known[shard]!),
    ]);
  return writer.bytes();
}

/** The docs of a revision in a shard that was built of these rows, as a bitmap. */
function builtDocsOf(
  target: number,
  { docCount, fileOfDoc }: ListedShard,
  rows: readonly MissingRow[],
): Uint8Array {
  const bits = new Uint8Array(bitmapSizeOf(docCount));
  for (const [docId, file] of fileOfDoc.entries())
    if (rows[file]!.targets.has(target)) setBit(bits, docId);
  return bits;
}
