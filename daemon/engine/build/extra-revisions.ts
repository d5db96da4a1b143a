// Builds what further revisions of an indexed repo need to be searched: shards of the docs that none of its shards holds,
// and which docs of all these each of them has. What the repo has indexed stays as it is.

import { Breather } from '../../base/next-turn.ts';
import {
  type CommittedRules,
  RULES_PATH,
  rulesOfCommits,
} from '../../sources/docs/committed-rules.ts';
import { FileList } from '../../sources/docs/file-list.ts';
import { findObjects } from '../../sources/git/objects.ts';
import { diffTrees, type TreeChange, type TreeItem } from '../../sources/git/tree-diff.ts';
import { RevisionWriter } from '../shards/revisions.ts';
import { type BuildOptions, buildDocs, type ListedShard } from './build.ts';
import type { KnownIndex } from './delta.ts';
import { KnownDocs } from './known-docs.ts';
import { MissingDocs, type MissingRow } from './missing-docs.ts';
import { findRuleDocs, rulesOf } from './rule-docs.ts';

export interface ExtraOptions extends BuildOptions {
  readonly known: KnownIndex;
  /** Full ids, each once. */
  readonly commits: readonly string[];
  /** Docs that are built at most. */
  readonly docsMax: number;
  readonly signal: AbortSignal;
}

export interface ExtraRevisions {
  readonly shards: readonly ListedShard[];
  /** The revision file of these commits alone, over the shards that were built and, behind them, the known ones. */
  readonly revisions: Buffer;
}

/** Revisions have more docs than may be built. */
export class TooManyDocsError extends Error {
  readonly count: number;

  constructor(count: number) {
    super(`${count} docs`);
    this.count = count;
  }
}

/** Source: `git hash-object -t blob` of nothing, with SHA-1 and SHA-256. */
const EMPTY_BLOBS = [
  'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
  '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813',
];

/**
 * Builds the docs of further commits of a repo. On failure and abort no file is left behind.
 *
 * Errors: TooManyDocsError, before any is read; ShardError where a known shard is damaged or gone; as buildDocs.
 */
export async function buildExtraRevisions(options: ExtraOptions): Promise<ExtraRevisions> {
  const { module, known } = options;
  const docs = KnownDocs.open(module, known.shards, known.table);
  try {
    return await new Extra(options, docs).run();
  } finally {
    docs.close();
  }
}

class Extra {
  readonly #options: ExtraOptions;
  readonly #docs: KnownDocs;
  readonly #missing = new MissingDocs();

  constructor(options: ExtraOptions, docs: KnownDocs) {
    this.#options = options;
    this.#docs = docs;
  }

  async run(): Promise<ExtraRevisions> {
    const { spec, known, commits, docsMax } = this.#options;
    // Each asks a git of its own.
    const [basis, rules] = await Promise.all([
      this.#basis(),
      rulesOfCommits(spec.path, commits),
      this.#docs.learnBlobs(spec.path, known.revisions[0]?.commit),
    ]);
    this.#learnEmpty();
    const sets: Uint8Array[][] = [];
    for (const [index, commit] of commits.entries())
      // Why behind 0: that is the default revision.
      sets.push(await this.#docsOf(index + 1, commit, rules[index], basis));
    if (this.#missing.size > docsMax) throw new TooManyDocsError(this.#missing.size);
    const { shards, rows } = await this.#build();
    const ofBuilt = this.#missing.docsOf(
      commits.map((_, index) => index + 1),
      shards,
      rows,
    );
    const stay = this.#docs.shards.map(({ docCount }, shard) => ({
      docCount,
      unstored: this.#docs.unstoredOf(shard),
    }));
    const writer = new RevisionWriter([...shards, ...stay]);
    for (const [index, ofKnown] of sets.entries()) writer.add([...ofBuilt[index]!, ...ofKnown]);
    return { shards, revisions: writer.bytes() };
  }

  /** The shards of the docs that no known one holds, and these docs as listed. */
  async #build(): Promise<{ shards: readonly ListedShard[]; rows: readonly MissingRow[] }> {
    if (this.#missing.size === 0) return { shards: [], rows: [] };
    const { spec, known, signal } = this.#options;
    const found = await findRuleDocs(this.#docs, this.#missing.all);
    const [rows, rules] = await Promise.all([
      this.#missing.rows(spec.path, { signal }),
      rulesOf(spec.path, known.revisions[0]?.commit, found),
    ]);
    const files = FileList.of(rows.map(({ file }) => file));
    const { shards } = await buildDocs(this.#options, { ...rules, files });
    return { shards, rows };
  }

  /** Of indexed docs without stored content (files on disk) notes which blob they are, where that is certain: of empty files. */
  #learnEmpty(): void {
    const oid = EMPTY_BLOBS.find(({ length }) => length === this.#options.commits[0]?.length)!;
    for (const place of this.#docs.unknownDocs())
      if (this.#docs.sizeOf(place) === 0) this.#docs.learn(place, oid);
  }

  /** The first indexed revision that is a commit which is there, and its rules; undefined: there is none. */
  async #basis(): Promise<Basis | undefined> {
    const { spec, known, signal } = this.#options;
    const revision = known.revisions.findIndex(({ commit }) => commit !== undefined);
    const commit = known.revisions[revision]?.commit;
    if (commit === undefined) return undefined;
    const [tree] = await findObjects(spec.path, [`${commit}^{tree}`], { timeoutMs: 0, signal });
    if (tree === undefined) return undefined;
    const [rules] = await rulesOfCommits(spec.path, [commit]);
    return { revision, commit, rules };
  }

  /** The docs of a commit in the known shards; notes those that are in none. */
  async #docsOf(
    target: number,
    commit: string,
    rules: CommittedRules | undefined,
    found: Basis | undefined,
  ): Promise<Uint8Array[]> {
    const { spec, signal } = this.#options;
    // Rules that differ leave out what does not.
    const basis = found?.rules?.oid === rules?.oid ? found : undefined;
    const options = { timeoutMs: 0, signal };
    const sets = basis === undefined ? this.#docs.noDocs() : this.#docs.docsIn(basis.revision);
    if (basis?.commit === commit) return sets;
    const changes = await diffTrees(spec.path, basis?.commit, commit, options);
    // A link in the place of a file of rules is none, and they are not told apart by their blobs.
    const isDoubted = basis !== undefined && changes.some(({ path }) => path === RULES_PATH);
    if (isDoubted) return this.#docsOf(target, commit, rules, undefined);
    const breather = new Breather();
    for (const change of changes) {
      await breather.pause();
      if (rules?.ruleFor(change.path) === undefined) this.#apply(target, sets, change);
    }
    signal.throwIfAborted();
    return sets;
  }

  #apply(target: number, sets: readonly Uint8Array[], change: TreeChange): void {
    if (change.isOuter) return;
    const [before, after] = [docOf(change.before), docOf(change.after)];
    if (this.#docs.replace(sets, change, before !== undefined, after)) return;
    this.#missing.addItem(target, change, after!);
  }
}

/** What the docs of a commit are told from. */
interface Basis {
  /** Its index. */
  readonly revision: number;
  readonly commit: string;
  readonly rules: CommittedRules | undefined;
}

function docOf(item: TreeItem | undefined): TreeItem | undefined {
  return item?.kind === 'submodule' ? undefined : item;
}
