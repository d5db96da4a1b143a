// Applies the `.trawlignore` at a repository's root, as committed in each revision, to the docs of that revision (API.md
// 19.4).

import { BlobReader } from '../git/blob-reader.ts';
import { findLinks, findObjects } from '../git/objects.ts';
import type { TreeDoc, TreeUnion } from '../git/trees.ts';
import { LoopYielder } from '../../base/next-time-slice.ts';
import { IgnoreRules, RULES_SIZE_MAX } from '../disk/ignore-rules.ts';
import { FileList } from './file-list.ts';
import { IgnoredCounter, type IgnoredCounts } from './ignored.ts';
import type { SourceSpec } from './source.ts';

export const RULES_PATH = '.trawlignore';

/** The rules in blobs, in order; a missing or too large blob has none. Errors: GitError. */
async function readRules(repoPath: string, ids: readonly string[]): Promise<IgnoreRules[]> {
  const blobs = await findObjects(repoPath, ids, { timeoutMs: 0 });
  const read = [...ids.keys()].filter((index) => (blobs[index]?.size ?? 0) <= RULES_SIZE_MAX);
  const rules = ids.map(() => IgnoreRules.none());
  const reader = await BlobReader.open(repoPath);
  try {
    const oids = read.map((index) => ids[index]!);
    await reader.readBlobs(oids, (index, bytes) => {
      const text = Buffer.from(bytes ?? []).toString('utf8');
      rules[read[index]!] = IgnoreRules.none().with('.trawlignore', '', text);
    });
    return rules;
  } finally {
    await reader.close();
  }
}

/** The rules of one version of the file. */
export interface CommittedRules {
  /** Blob id of the file. */
  readonly oid: string;
  /** The rule that excludes a path; undefined: none. */
  ruleFor(path: string): string | undefined;
}

/**
 * The rules of each commit; undefined: it has no file. Errors: GitError. Cost: a git process; two more if a commit has such
 * a file.
 */
export async function rulesOfCommits(
  { path: repoPath, noIgnore }: Pick<SourceSpec, 'path' | 'noIgnore'>,
  commits: readonly string[],
): Promise<(CommittedRules | undefined)[]> {
  if (noIgnore === true) return commits.map(() => undefined);
  const names = commits.map((commit) => `${commit}:${RULES_PATH}`);
  const found = await findObjects(repoPath, names, { timeoutMs: 0 });
  return Promise.all(
    found.map(async (blob, index) => {
      if (blob?.type !== 'blob') return undefined;
      if ((await findLinks(repoPath, commits[index]!, [RULES_PATH])).size > 0) return undefined;
      const [rules] = await readRules(repoPath, [blob.oid]);
      return { oid: blob.oid, ruleFor: (path: string) => rules?.ruleForAny(path) };
    }),
  );
}

/** The files of a commit that its rules do not exclude. Errors: GitError. @param rulesId  blob id of its ignore file */
export async function withoutIgnored(
  repoPath: string,
  files: FileList,
  rulesId: string,
): Promise<{ readonly files: FileList; readonly ignored: IgnoredCounts }> {
  const [rules] = await readRules(repoPath, [rulesId]);
  const counter = new IgnoredCounter();
  const kept = new FileList();
  const yielder = new LoopYielder();
  for (const file of files) {
    await yielder.pause();
    const rule = rules?.ruleForAny(file.path);
    if (rule === undefined) kept.add(file);
    else counter.add(rule);
  }
  return { files: kept, ignored: counter.counts() };
}

/** A union of trees without the docs excluded by the rules of each commit. */
export interface FilteredUnion extends TreeUnion {
  /** What the rules exclude from a commit. */
  ignored(commit: number): IgnoredCounts;
}

/**
 * Removes from the union what the rules of each commit exclude. Errors: GitError. Cost: nothing if no commit has an ignore
 * file, else a test of each doc for each version of that file.
 */
export async function filterUnion(
  { path: repoPath, noIgnore }: Pick<SourceSpec, 'path' | 'noIgnore'>,
  union: TreeUnion,
  commitCount: number,
): Promise<FilteredUnion> {
  const files = [...union.docs.entries()].filter(
    ([, { path, isSymlink }]) => path === RULES_PATH && !isSymlink,
  );
  if (files.length === 0 || noIgnore === true) return { ...union, ignored: () => ({}) };
  const rules = await readRules(
    repoPath,
    files.map(([, { oid }]) => oid),
  );
  const verdicts = new Map<number, readonly string[]>();
  const yielder = new LoopYielder();
  for (const [index, [doc]] of files.entries()) {
    const ofDocs: string[] = [];
    for (const { path } of union.docs) {
      await yielder.pause();
      ofDocs.push(rules[index]!.ruleForAny(path) ?? '');
    }
    verdicts.set(doc, ofDocs);
  }
  return filtered(union, verdicts, commitCount);
}

/** @param verdicts  by ignore file (a doc): the rule that excludes each doc, "" for none */
function filtered(
  union: TreeUnion,
  verdicts: ReadonlyMap<number, readonly string[]>,
  commitCount: number,
): FilteredUnion {
  const commits = Array.from({ length: commitCount }, (_, commit) => commit);
  const ofCommits = commits.map((commit) => {
    let ofCommit: readonly string[] | undefined;
    union.visit(commit, (doc) => (ofCommit ??= verdicts.get(doc)));
    return ofCommit;
  });
  const visit = (commit: number, onDoc: (doc: number, rule: string) => void): void =>
    union.visit(commit, (doc) => onDoc(doc, ofCommits[commit]?.[doc] ?? ''));
  const docs: TreeDoc[] = [];
  /** Index of each doc among the remaining docs. */
  const locations = new Map<number, number>();
  for (const commit of commits)
    visit(commit, (doc, rule) => {
      if (rule !== '' || locations.has(doc)) return;
      locations.set(doc, docs.push(union.docs[doc]!) - 1);
    });
  return {
    ...union,
    docs,
    visit: (commit, onDoc) =>
      visit(commit, (doc, rule) => {
        if (rule === '') onDoc(locations.get(doc)!);
      }),
    ignored(commit) {
      const counter = new IgnoredCounter();
      visit(commit, (_, rule) => {
        if (rule !== '') counter.add(rule);
      });
      return counter.counts();
    },
  };
}
