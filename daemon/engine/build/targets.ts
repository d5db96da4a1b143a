// New revisions computed from existing ones: their differences, their docs, and the revision file.

import { type CommittedRules, RULES_PATH } from '../../sources/docs/committed-rules.ts';
import { findObjects, type ReadOptions } from '../../sources/git/objects.ts';
import { diffTrees, type TreeChange, type TreeItem } from '../../sources/git/tree-diff.ts';
import { bitmapSizeOf, setBit } from '../shards/bits.ts';
import { RevisionWriter } from '../shards/revisions.ts';
import type { ListedShard } from './build.ts';
import type { IndexedDocs } from './indexed-docs.ts';
import type { MissingDocs, MissingRow } from './missing-docs.ts';

export interface RuledCommit {
  readonly commit: string;
  readonly rules: CommittedRules | undefined;
}

export interface BuiltRows {
  readonly shards: readonly ListedShard[];
  readonly rows: readonly MissingRow[];
}

/** The commits that the repository has with their trees. Errors: GitError. */
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
 * The differences from a known, present commit; undefined: the rules differ, which may affect unchanged paths. Errors:
 * GitError.
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
  // A symbolic link instead of a rules file counts as none, and blobs do not tell links from files.
  return changes.some(({ path }) => path === RULES_PATH) ? undefined : changes;
}

/** The item of a change, if it is a doc. */
export function docOf({ isOuter }: TreeChange, item: TreeItem | undefined): TreeItem | undefined {
  return isOuter || item?.kind === 'submodule' ? undefined : item;
}

/** Applies a change to the docs of a revision in each shard; a doc that no shard holds is added to the missing ones. */
export function applyChange(
  docs: IndexedDocs,
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

/** The revision file over the new shards, then the kept ones. @param sets  by revision its docs in each known shard */
export function revisionFileOver(
  docs: IndexedDocs,
  kept: readonly number[],
  { shards, rows }: BuiltRows,
  sets: ReadonlyMap<number, readonly Uint8Array[]>,
): Buffer {
  const keptShards = kept.map((shard) => ({
    docCount: docs.shards[shard]!.docCount,
    unstored: docs.unstoredOf(shard),
  }));
  const writer = new RevisionWriter([...shards, ...keptShards]);
  for (const [target, indexed] of sets)
    writer.add([
      ...shards.map((shard) => builtDocsOf(target, shard, rows)),
      ...kept.map((shard) => indexed[shard]!),
    ]);
  return writer.bytes();
}

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
