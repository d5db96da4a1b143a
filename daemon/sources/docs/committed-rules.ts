// The `.trawlignore` at the root of a repository, as committed in each revision, leaves docs out of that revision
// (API.md 19.4).

import { BlobReader } from '../git/blob-reader.ts';
import { findObjects, listTree } from '../git/objects.ts';
import type { TreeDoc, TreeUnion } from '../git/trees.ts';
import { IgnoreRules } from '../disk/ignore-rules.ts';
import { FileList } from './file-list.ts';
import { IgnoredCounter, type IgnoredCounts } from './ignored.ts';

export const RULES_PATH = '.trawlignore';

/** The rules in blobs, in their order; of one that is missing none. Errors: GitError. */
async function readRules(repoPath: string, ids: readonly string[]): Promise<IgnoreRules[]> {
  const reader = await BlobReader.open(repoPath);
  try {
    const rules: IgnoreRules[] = [];
    await reader.readBlobs(ids, (index, bytes) => {
      const text = Buffer.from(bytes ?? []).toString('utf8');
      rules[index] = IgnoreRules.none().with('.trawlignore', '', text);
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
  /** The rule that leaves a path out; undefined: none. */
  ruleFor(path: string): string | undefined;
}

/**
 * The rules of each commit; undefined: it has none. Errors: GitError.
 *
 * Cost: a git process; where a commit has a file of rules two more.
 */
export async function rulesOfCommits(
  repoPath: string,
  commits: readonly string[],
): Promise<(CommittedRules | undefined)[]> {
  const names = commits.map((commit) => `${commit}:${RULES_PATH}`);
  const found = await findObjects(repoPath, names, { timeoutMs: 0 });
  return Promise.all(
    found.map(async (blob, index) => {
      if (blob?.type !== 'blob') return undefined;
      let isFile = false;
      await listTree(repoPath, commits[index]!, { within: RULES_PATH }, (entry) => {
        isFile ||= !entry.isSymlink;
      });
      if (!isFile) return undefined;
      const [rules] = await readRules(repoPath, [blob.oid]);
      return { oid: blob.oid, ruleFor: (path: string) => rules?.ruleFor(path) };
    }),
  );
}

/**
 * The files of a commit without those that its rules leave out. Errors: GitError.
 *
 * @param rulesId  blob id of its file of rules
 */
export async function withoutIgnored(
  repoPath: string,
  files: FileList,
  rulesId: string,
): Promise<{ readonly files: FileList; readonly ignored: IgnoredCounts }> {
  const [rules] = await readRules(repoPath, [rulesId]);
  const counter = new IgnoredCounter();
  const kept = new FileList();
  for (const file of files) {
    const rule = rules?.ruleFor(file.path);
    if (rule === undefined) kept.add(file);
    else counter.add(rule);
  }
  return { files: kept, ignored: counter.counts() };
}

/** A union of trees without what the rules of each commit leave out of it. */
export interface FilteredUnion extends TreeUnion {
  /** What the rules leave out of a commit. */
  ignored(commit: number): IgnoredCounts;
}

/**
 * The union without what the rules of each commit leave out of it. Errors: GitError.
 *
 * Cost: nothing where no commit has a file of rules, else a test of each doc for each version of that file.
 */
export async function filterUnion(
  repoPath: string,
  union: TreeUnion,
  commitCount: number,
): Promise<FilteredUnion> {
  const files = [...union.docs.entries()].filter(
    ([, { path, isSymlink }]) => path === RULES_PATH && !isSymlink,
  );
  if (files.length === 0) return { ...union, ignored: () => ({}) };
  const rules = await readRules(
    repoPath,
    files.map(([, { oid }]) => oid),
  );
  const rulesByDoc = new Map(files.map(([doc], index) => [doc, rules[index]!]));
  const filtered = new Filtered(union, rulesByDoc);
  for (let commit = 0; commit < commitCount; commit++) filtered.add(commit);
  return filtered;
}

class Filtered implements FilteredUnion {
  readonly docs: TreeDoc[] = [];
  readonly submodulePaths: readonly string[];
  readonly outerPaths: readonly string[];
  readonly #union: TreeUnion;
  readonly #rulesByDoc: ReadonlyMap<number, IgnoreRules>;
  /** Rules of each commit; undefined: it has none. */
  readonly #rules: (IgnoreRules | undefined)[] = [];
  /** Rule that leaves a doc out, "" for none, by rules. */
  readonly #verdicts = new Map<IgnoreRules, string[]>();
  /** Place among the docs that are left, of each doc. */
  readonly #places = new Map<number, number>();

  constructor(union: TreeUnion, rulesByDoc: ReadonlyMap<number, IgnoreRules>) {
    this.#union = union;
    this.submodulePaths = union.submodulePaths;
    this.outerPaths = union.outerPaths;
    this.#rulesByDoc = rulesByDoc;
  }

  /** Looks at the next commit. */
  add(commit: number): void {
    this.#union.visit(commit, (doc) => (this.#rules[commit] ??= this.#rulesByDoc.get(doc)));
    this.#visit(commit, (doc, rule) => {
      if (rule !== '' || this.#places.has(doc)) return;
      this.#places.set(doc, this.docs.push(this.#union.docs[doc]!) - 1);
    });
  }

  #visit(commit: number, onDoc: (doc: number, rule: string) => void): void {
    const rules = this.#rules[commit];
    const verdicts = rules === undefined ? [] : (this.#verdicts.get(rules) ?? []);
    if (rules !== undefined) this.#verdicts.set(rules, verdicts);
    this.#union.visit(commit, (doc) => {
      verdicts[doc] ??= rules?.ruleFor(this.#union.docs[doc]!.path) ?? '';
      onDoc(doc, verdicts[doc]);
    });
  }

  visit(commit: number, onDoc: (doc: number) => void): void {
    this.#visit(commit, (doc, rule) => {
      if (rule === '') onDoc(this.#places.get(doc)!);
    });
  }

  ignored(commit: number): IgnoredCounts {
    const counter = new IgnoredCounter();
    this.#visit(commit, (_, rule) => {
      if (rule !== '') counter.add(rule);
    });
    return counter.counts();
  }
}
