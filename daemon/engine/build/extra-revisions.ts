// Builds additional revisions of an indexed repo: shards for missing docs, and the docs of each revision. The index is not
// changed.

import { LoopYielder } from '../../base/next-time-slice.ts';
import { someNames } from '../../repos/some-names.ts';
import { type CommittedRules, rulesOfCommits } from '../../sources/docs/committed-rules.ts';
import { FileList } from '../../sources/docs/file-list.ts';
import { LostObjectError } from '../../sources/git/git.ts';
import type { TreeChange } from '../../sources/git/tree-diff.ts';
import { readTrees } from '../../sources/git/trees.ts';
import { type BuildOptions, buildDocs, type ListedShard } from './build.ts';
import { IndexedDocs, type IndexedState } from './indexed-docs.ts';
import { MissingDocs } from './missing-docs.ts';
import { rulesFor } from './rule-docs.ts';
import {
  applyChange,
  type BuiltRows,
  changesFrom,
  presentCommits,
  revisionFileOver,
  type RuledCommit,
} from './targets.ts';

export interface ExtraOptions extends BuildOptions {
  readonly indexed: IndexedState;
  /** Full ids, distinct. */
  readonly commits: readonly string[];
  readonly docsMax: number;
  readonly signal: AbortSignal;
}

export interface ExtraRevisions {
  readonly shards: readonly ListedShard[];
  /** The revision file of only these commits, over the new shards and, after them, the known ones. */
  readonly revisions: Buffer;
  readonly unread: string | undefined;
}

export class TooManyDocsError extends Error {
  readonly count: number;

  constructor(count: number) {
    super(`${count} docs`);
    this.count = count;
  }
}

/** Source: `git hash-object -t blob` of empty input, with SHA-1 and SHA-256. */
const EMPTY_BLOBS = [
  'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
  '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813',
];

/** Failure and abort leave no file behind. Errors: TooManyDocsError, before any doc is read; ShardError; as buildDocs. */
export async function buildExtraRevisions(options: ExtraOptions): Promise<ExtraRevisions> {
  const { module, indexed } = options;
  const docs = IndexedDocs.open(module, indexed.shards, indexed.table);
  try {
    return await new Extra(options, docs).run();
  } finally {
    docs.close();
  }
}

class Extra {
  readonly #options: ExtraOptions;
  readonly #docs: IndexedDocs;
  readonly #missing = new MissingDocs();
  readonly #unread = new Set<string>();

  constructor(options: ExtraOptions, docs: IndexedDocs) {
    this.#options = options;
    this.#docs = docs;
  }

  async run(): Promise<ExtraRevisions> {
    const { spec, indexed, commits, docsMax } = this.#options;
    const [basis, rules] = await Promise.all([
      this.#basis(),
      rulesOfCommits(spec, commits),
      this.#docs.learnBlobs(spec.path, indexed.revisions[0]?.commit),
    ]);
    this.#learnEmpty();
    const sets = new Map<number, readonly Uint8Array[]>();
    for (const [index, commit] of commits.entries()) {
      // Why not 0: that is the default revision.
      const target = index + 1;
      sets.set(target, await this.#docsOf(target, commit, rules[index], basis));
    }
    if (this.#missing.size > docsMax) throw new TooManyDocsError(this.#missing.size);
    const built = await this.#build();
    const all = [...this.#docs.shards.keys()];
    const revisions = revisionFileOver(this.#docs, all, built, sets);
    return { shards: built.shards, revisions, unread: this.#unreadText() };
  }

  #unreadText(): string | undefined {
    if (this.#unread.size === 0) return undefined;
    return `git cannot read ${someNames([...this.#unread])}: the repository is a partial clone, or damaged.`;
  }

  async #build(): Promise<BuiltRows> {
    if (this.#missing.size === 0) return { shards: [], rows: [] };
    const { spec, indexed, signal } = this.#options;
    const source = {
      repoPath: spec.path,
      commit: indexed.revisions[0]?.commit,
      docs: this.#docs,
      sets: this.#docs.docsIn(0),
      newPaths: [],
    };
    const [rows, rules] = await Promise.all([
      this.#missing.rows(spec.path, { signal }),
      rulesFor(source, this.#missing.all),
    ]);
    const files = FileList.of(rows.map(({ file }) => file));
    const { shards, failures } = await buildDocs(this.#options, { ...rules, files });
    for (const { path } of failures) this.#unread.add(path);
    return { shards, rows };
  }

  /** Records the blob of indexed docs without stored content (files on disk) where it is certain: for empty files. */
  #learnEmpty(): void {
    const oid = EMPTY_BLOBS.find(({ length }) => length === this.#options.commits[0]?.length)!;
    for (const position of this.#docs.unknownDocs())
      if (this.#docs.sizeOf(position) === 0) this.#docs.learn(position, oid);
  }

  /** The first indexed revision whose commit is present, with its rules; undefined: there is none. */
  async #basis(): Promise<Basis | undefined> {
    const { spec, indexed, signal } = this.#options;
    const revision = indexed.revisions.findIndex(({ commit }) => commit !== undefined);
    const commit = indexed.revisions[revision]?.commit;
    if (commit === undefined) return undefined;
    const present = await presentCommits(spec.path, [commit], { signal });
    if (!present.has(commit)) return undefined;
    const [rules] = await rulesOfCommits(spec, [commit]);
    return { revision, commit, rules };
  }

  async #docsOf(
    target: number,
    commit: string,
    rules: CommittedRules | undefined,
    basis: Basis | undefined,
  ): Promise<Uint8Array[]> {
    const { spec, signal } = this.#options;
    const options = { signal };
    const diffed =
      basis &&
      (await changesFrom(spec.path, basis, { commit, rules }, options).catch(ifLostObject));
    const hasDiff = basis !== undefined && diffed !== undefined;
    const sets = hasDiff ? this.#docs.docsIn(basis.revision) : this.#docs.noDocs();
    const changes = diffed ?? (await this.#itemsOf(commit));
    const yielder = new LoopYielder();
    for (const change of changes) {
      await yielder.pause();
      if (rules?.ruleFor(change.path) === undefined)
        applyChange(this.#docs, this.#missing, target, sets, change);
    }
    signal.throwIfAborted();
    return sets;
  }

  /** The content of a commit, as changes from nothing; records folders that git cannot read. */
  async #itemsOf(commit: string): Promise<readonly TreeChange[]> {
    const { spec, signal } = this.#options;
    const { docs, lostPaths } = await readTrees(spec.path, [commit], { signal });
    for (const path of lostPaths) this.#unread.add(path);
    return docs.map(({ oid, isSymlink, ...treePath }) => ({
      ...treePath,
      isOuter: false,
      after: { oid, kind: isSymlink ? 'symlink' : 'file' },
    }));
  }
}

function ifLostObject(error: unknown): undefined {
  if (!(error instanceof LostObjectError)) throw error;
}

interface Basis extends RuledCommit {
  readonly revision: number;
}
