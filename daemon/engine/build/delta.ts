// Updates a repo's shards: docs that no shard holds go into a new one, and a new revision file lists the docs of each
// revision. Small shards are merged into the new one, so that their number stays low.

import { SKIP_NONE } from '../../../core/shared/format.ts';
import { LoopYielder } from '../../base/next-time-slice.ts';
import { nameKey, parentOf } from '../../base/paths.ts';
import { statOnDisk } from '../../sources/disk/disk.ts';
import type { ExcludedPath } from '../../sources/disk/excluded-path.ts';
import {
  type CommittedRules,
  RULES_PATH,
  rulesOfCommits,
} from '../../sources/docs/committed-rules.ts';
import { FileList, type SourceFile } from '../../sources/docs/file-list.ts';
import type { IgnoredCounts } from '../../sources/docs/ignored.ts';
import type { ReadFailure } from '../../sources/docs/source.ts';
import { isAttributeFile } from '../../sources/languages/attributes.ts';
import { findHeaderFolders, isHeader, SOURCE_NAME } from '../../sources/languages/languages.ts';
import { LostObjectError } from '../../sources/git/git.ts';
import { diffTrees, type TreeChange, type TreeItem } from '../../sources/git/tree-diff.ts';
import { ShardError } from '../host/space.ts';
import { bitmapSizeOf, clearBit, countBits, hasBit } from '../shards/bits.ts';
import { SKIP_REASON_NAMES } from '../shards/skip-reasons.ts';
import {
  type BuildOptions,
  buildDocs,
  type DocList,
  type ListedShard,
  NOTHING_SKIPPED,
} from './build.ts';
import { diffDisk, type DiskScan } from './disk-diff.ts';
import { type DocLocation, IndexedDocs, type IndexedState } from './indexed-docs.ts';
import { type MissingDoc, MissingDocs } from './missing-docs.ts';
import { rulesFor } from './rule-docs.ts';
import { applyChange, changesFrom, docOf, presentCommits, revisionFileOver } from './targets.ts';

export interface DeltaOptions extends BuildOptions {
  readonly indexed: IndexedState;
  readonly disk?: DiskScan | undefined;
  readonly defaultRevision: string;
}

export interface DeltaResult {
  readonly isSame: boolean;
  readonly kept: readonly number[];
  readonly shards: readonly ListedShard[];
  readonly revisions: Buffer | undefined;
  readonly skipped: Readonly<Record<string, number>>;
  readonly ignored: IgnoredCounts;
  readonly excluded: Readonly<Record<string, number>>;
  /** New paths that are not docs, and new files that could not be read. */
  readonly newlyExcluded: readonly (ExcludedPath | ReadFailure)[];
}

interface Target {
  readonly commit: string | undefined;
  /** Index of the known revision that it is compared with; undefined: with nothing. */
  readonly basis: number | undefined;
  readonly changes: readonly TreeChange[];
  readonly rules: CommittedRules | undefined;
  /** Its docs in each known shard. */
  readonly sets: Uint8Array[];
}

/**
 * The shards and sets that update a repo to the commits of the spec; a text: why a full build is needed. Errors: as buildRepo.
 */
export async function buildDelta(options: DeltaOptions): Promise<DeltaResult | string> {
  try {
    return await deltaOf(options);
  } catch (error) {
    if (!(error instanceof LostObjectError)) throw error;
    return `git cannot compare commits: ${error.message}`;
  }
}

async function deltaOf(options: DeltaOptions): Promise<DeltaResult | string> {
  const targets = await targetsOf(options);
  if (typeof targets === 'string') return targets;
  const docs = openDocs(options);
  if (docs === undefined) return 'a shard is damaged';
  try {
    const { disk } = options;
    if (disk === undefined) return await new Delta(options, docs, targets).run();
    const isShared = targets.length > 1;
    const changes = await diffDisk(options, disk, docs, isShared);
    const [first, ...further] = targets;
    return await new Delta(options, docs, [{ ...first!, changes }, ...further]).run();
  } finally {
    docs.close();
  }
}

/** Undefined: a shard is damaged or missing. */
function openDocs({ module, indexed }: DeltaOptions): IndexedDocs | undefined {
  try {
    return IndexedDocs.open(module, indexed.shards, indexed.table);
  } catch (error) {
    if (error instanceof ShardError && error.fault !== 'unmapped') return undefined;
    throw error;
  }
}

/** The differences of each new revision from a known one; a text: why they cannot be found. */
async function targetsOf({
  spec,
  indexed,
  defaultRevision,
}: DeltaOptions): Promise<Omit<Target, 'sets'>[] | string> {
  const isCommitted = spec.kind === 'commits';
  // Why: docs of a commit have no states of files on disk, and their changes from files on disk are unknown.
  if (isCommitted !== (indexed.revisions[0]?.commit !== undefined))
    return 'files on disk take the place of a commit, or a commit that of files on disk';
  if (isCommitted && spec.commit === undefined) return 'the repository has no commit any more';
  const nextRevisions = [
    { name: defaultRevision, commit: isCommitted ? spec.commit : undefined },
    ...(spec.revisions ?? []),
  ];
  const basisOf = basesOf(indexed);
  const placed = nextRevisions.map(({ name, commit }, index) => {
    if (index === 0) return { commit, basis: 0 };
    return { commit, basis: commit === undefined ? undefined : basisOf(name) };
  });
  const commits = [...indexed.revisions, ...nextRevisions].flatMap(({ commit }) => commit ?? []);
  const [rules, isThere] = await Promise.all([
    rulesOf(spec, commits),
    presentCommits(spec.path, commits),
  ]);
  const targets: Omit<Target, 'sets'>[] = [];
  for (const { commit, basis } of placed) {
    if (commit === undefined) {
      targets.push({ commit, basis, changes: [], rules: undefined });
      continue;
    }
    const before = basis === undefined ? undefined : indexed.revisions[basis]!.commit;
    const now = { commit, rules: rules.get(commit) };
    // After a rewrite of the branch its former commit may be gone.
    if (before !== undefined && commit !== before && !isThere.has(before))
      return 'a commit that was indexed is gone';
    const changes =
      before === undefined
        ? await diffTrees(spec.path, undefined, commit)
        : await changesFrom(spec.path, { commit: before, rules: rules.get(before) }, now);
    if (changes === undefined) return `${RULES_PATH} changed`;
    targets.push({ ...now, basis, changes });
  }
  return targets;
}

/** The known revision to compare a name with: the same name, else the default one. Why a map: there may be 100,000. */
function basesOf({ revisions }: IndexedState): (name: string) => number | undefined {
  const placed = [...revisions.entries()].filter(([, { commit }]) => commit !== undefined);
  const byName = new Map(placed.toReversed().map(([index, { name }]) => [name, index]));
  const first = placed[0]?.[0];
  return (name) => byName.get(name) ?? first;
}

async function rulesOf(
  spec: DeltaOptions['spec'],
  commits: readonly string[],
): Promise<Map<string, CommittedRules>> {
  const distinct = [...new Set(commits)];
  const rules = await rulesOfCommits(spec, distinct);
  return new Map(
    distinct.flatMap((commit, i) => (rules[i] === undefined ? [] : [[commit, rules[i]]])),
  );
}

class Delta {
  readonly #options: DeltaOptions;
  readonly #docs: IndexedDocs;
  readonly #targets: readonly Target[];
  readonly #missing = new MissingDocs();
  readonly #ignored: Map<string, number>;
  readonly #excluded: Map<string, number>;
  readonly #newlyExcluded: (ExcludedPath | ReadFailure)[] = [];

  constructor(options: DeltaOptions, docs: IndexedDocs, targets: readonly Omit<Target, 'sets'>[]) {
    this.#options = options;
    this.#docs = docs;
    this.#targets = targets.map((target) => ({
      ...target,
      sets: target.basis === undefined ? docs.noDocs() : docs.docsIn(target.basis),
    }));
    this.#ignored = new Map(Object.entries(options.indexed.ignored));
    this.#excluded = new Map(Object.entries(options.indexed.excluded));
  }

  async run(): Promise<DeltaResult | string> {
    if (!this.#canCount()) return 'it cannot be counted what is left out now';
    const { spec, indexed } = this.#options;
    await this.#docs.learnBlobs(spec.path, indexed.revisions[0]!.commit);
    const yielder = new LoopYielder();
    for (const [index, target] of this.#targets.entries())
      for (const change of target.changes) {
        await yielder.pause();
        this.#apply(index, target, change);
      }
    this.#options.signal?.throwIfAborted();
    // Attribute files may change the language and the tier of any doc.
    if (this.#defaultChanges().some(({ path }) => isAttributeFile(path)))
      return 'an attribute file changed';
    const areSetsSame = this.#areSetsSame();
    if (!this.#rebuild(await this.#staleHeaders())) return 'it is not known what a header is';
    const retired = this.#retire();
    if (!this.#isWorthwhile(retired))
      return 'more than half of the docs are new, or in no revision any more';
    const rows = await this.#missing.rows(spec.path, { onDisk: (doc) => this.#onDisk(doc) });
    const files = rows.map(({ file }) => file);
    const kept = this.#kept(retired);
    const built =
      files.length === 0
        ? { shards: [], skipped: {}, failures: [] }
        : await buildDocs(this.#options, { ...(await this.#rules()), files: FileList.of(files) });
    for (const { reason } of built.failures) add(this.#excluded, reason, 1);
    const sets = new Map(this.#targets.map((target, index) => [index, target.sets]));
    return {
      isSame: areSetsSame && files.length === 0,
      kept,
      shards: built.shards,
      revisions:
        kept.length + built.shards.length === 0
          ? undefined
          : revisionFileOver(this.#docs, kept, { shards: built.shards, rows }, sets),
      skipped: await this.#countSkipped(kept, built.skipped),
      ignored: countsOf(this.#ignored),
      excluded: countsOf(this.#excluded),
      newlyExcluded: [...this.#newlyExcluded, ...built.failures],
    };
  }

  /** Whether each new revision is a known one with the same docs, except docs to be built. */
  #areSetsSame(): boolean {
    const { indexed } = this.#options;
    if (this.#missing.size > 0 || this.#targets.length !== indexed.revisions.length) return false;
    return this.#targets.every(({ basis, sets }, index) => {
      if (basis !== index) return false;
      const before = this.#docs.docsIn(index);
      return sets.every((bits, shard) => Buffer.compare(bits, before[shard]!) === 0);
    });
  }

  /** Whether the excluded paths can be counted from the changes; for files on disk the listing's counts are used. */
  #canCount(): boolean {
    const { ignored, revisions, excluded } = this.#options.indexed;
    const { changes } = this.#targets[0]!;
    const { disk } = this.#options;
    const listed = disk?.within === undefined ? disk?.listing.excluded : undefined;
    if (disk !== undefined && this.#targets.length === 1) {
      if (listed !== undefined) this.#excluded.clear();
      for (const { reason } of listed ?? []) add(this.#excluded, reason, 1);
      return true;
    }
    // Unknown which of the paths are those of files on disk.
    const isMixed = Object.keys(excluded).length + (listed?.length ?? 0) > 0;
    if (listed !== undefined && isMixed && changes.length > 0) return false;
    if (disk === undefined && 'other rules' in ignored) return false;
    if (this.#targets.length === 1 && revisions.length === 1) return true;
    // A path of many revisions counts once.
    const bases = new Set(this.#targets.map((target) => target.basis));
    const areSame = bases.size === revisions.length && this.#targets.length === revisions.length;
    if (Object.keys(excluded).length > 0 && !areSame) return false;
    return !this.#targets.some(({ changes }) => changes.some(changesNoDoc));
  }

  #apply(index: number, { sets, rules }: Target, change: TreeChange): void {
    const [before, after] = [docOf(change, change.before), docOf(change, change.after)];
    this.#countExcluded(
      change,
      before === undefined ? change.before : undefined,
      after === undefined ? change.after : undefined,
    );
    const rule = change.isOuter ? undefined : rules?.ruleFor(change.path);
    if (rule === undefined) applyChange(this.#docs, this.#missing, index, sets, change);
    else if (index === 0)
      add(this.#ignored, rule, Number(after !== undefined) - Number(before !== undefined));
  }

  #countExcluded(
    { path, isOuter }: TreeChange,
    before: TreeItem | undefined,
    after: TreeItem | undefined,
  ): void {
    const reason = isOuter ? 'outer_path' : 'submodule';
    add(this.#excluded, reason, Number(after !== undefined) - Number(before !== undefined));
    if (after !== undefined && before === undefined) this.#newlyExcluded.push({ path, reason });
  }

  #defaultChanges(): TreeChange[] {
    const { changes, rules } = this.#targets[0]!;
    return changes.filter((one) => !one.isOuter && rules?.ruleFor(one.path) === undefined);
  }

  /** Headers whose language changes because the default revision has other sources beside them. */
  async #staleHeaders(): Promise<DocLocation[]> {
    const addedOrRemoved = this.#defaultChanges().filter(
      (change) =>
        SOURCE_NAME.test(change.path) &&
        (docOf(change, change.before) === undefined) !==
          (docOf(change, change.after) === undefined),
    );
    const folders = new Map(
      addedOrRemoved.map(parentOf).map((folder) => [nameKey(folder), folder]),
    );
    const [before, now, union] = [this.#docs.docsIn(0), this.#targets[0]!.sets, this.#union()];
    const [pathsBefore, pathsNow]: [string[], string[]] = [[], this.#newDefaultPaths()];
    const yielder = new LoopYielder();
    for (const folder of folders.values()) {
      await yielder.pause();
      this.#docs.forEachIn(before, folder, (_, { path }) => pathsBefore.push(path));
      this.#docs.forEachIn(now, folder, (_, { path }) => pathsNow.push(path));
    }
    const [foldersBefore, foldersNow] = [
      findHeaderFolders(pathsBefore),
      findHeaderFolders(pathsNow),
    ];
    const stale: DocLocation[] = [];
    for (const folder of folders.values()) {
      if (foldersBefore.get(folder.path) === foldersNow.get(folder.path)) continue;
      await yielder.pause();
      this.#docs.forEachIn(union, folder, (location, { path }) => {
        if (isHeader(path)) stale.push(location);
      });
    }
    return stale;
  }

  #rules(): Promise<Omit<DocList, 'files'>> {
    const { commit, sets } = this.#targets[0]!;
    const source = { repoPath: this.#options.spec.path, commit, docs: this.#docs, sets };
    return rulesFor({ ...source, newPaths: this.#newDefaultPaths() }, this.#missing.all);
  }

  /** Paths of the docs of the default revision that no shard holds. */
  #newDefaultPaths(): string[] {
    return this.#missing.all.filter(({ targets }) => targets.has(0)).map(({ path }) => path);
  }

  /** Removes docs from all revisions and marks them to be built again; false: a blob is unknown, and nothing is changed. */
  #rebuild(locations: readonly DocLocation[]): boolean {
    const isContained = (location: DocLocation): boolean =>
      this.#docs.oidOf(location) !== undefined || this.#isOnDiskAlone(this.#revisionsOf(location));
    if (!locations.every(isContained)) return false;
    for (const location of locations) {
      const oid = this.#docs.oidOf(location) ?? '';
      const treePath = this.#docs.nameOf(location);
      for (const index of this.#revisionsOf(location)) {
        clearBit(this.#targets[index]!.sets[location.shard]!, location.docId);
        this.#missing.add(index, { ...treePath, oid, isSymlink: false });
      }
    }
    return true;
  }

  #revisionsOf({ shard, docId }: DocLocation): Set<number> {
    const indexes = [...this.#targets.keys()];
    return new Set(indexes.filter((index) => hasBit(this.#targets[index]!.sets[shard]!, docId)));
  }

  /** Whether a doc with these holders is only a file on disk, which no commit has. */
  #isOnDiskAlone(holding: ReadonlySet<number>): boolean {
    return this.#options.disk !== undefined && holding.size === 1 && holding.has(0);
  }

  /** The docs of each known shard that any revision holds now. */
  #union(): Uint8Array[] {
    return this.#docs.shards.map(({ docCount }, shard) => {
      const union = new Uint8Array(bitmapSizeOf(docCount));
      for (const { sets } of this.#targets)
        for (const [i, byte] of sets[shard]!.entries()) union[i]! |= byte;
      return union;
    });
  }

  /**
   * Marks the docs of small shards to be built again, up to the first larger shard; returns these shards. Small: at most twice
   * the new docs, and, to bound the work of a small change, 4,000 docs and 64 MiB.
   */
  #retire(): Set<number> {
    const retired = new Set<number>();
    if (this.#missing.size === 0) return retired;
    const union = this.#union();
    for (let shard = 0; shard < union.length; shard++) {
      const { size, isShared } = this.#docs.shards[shard]!;
      const isSmall =
        !isShared &&
        countBits(union[shard]!) <= Math.min(2 * this.#missing.size, 4000) &&
        size <= 64 << 20;
      if (!isSmall || !this.#rebuild(locationsIn(union[shard]!, shard))) break;
      retired.add(shard);
    }
    return retired;
  }

  #kept(retired: ReadonlySet<number>): number[] {
    const union = this.#union();
    return [...union.keys()].filter((shard) => !retired.has(shard) && countBits(union[shard]!) > 0);
  }

  /** Guess: if more than half of the docs are in no revision, or in no shard yet, a full build is better. */
  #isWorthwhile(retired: ReadonlySet<number>): boolean {
    const { shards } = this.#docs;
    const kept = shards.filter((_, shard) => !retired.has(shard));
    const all = kept.reduce((sum, { docCount }) => sum + docCount, 0) + this.#missing.size;
    const live = this.#union().reduce((sum, bits) => sum + countBits(bits), this.#missing.size);
    return this.#missing.size <= all / 2 + 1 && live >= all / 2;
  }

  /** The file on disk at the path of a doc that only files on disk hold; undefined: other revisions hold it too. */
  #onDisk({ path, rawPath, targets }: MissingDoc): SourceFile | undefined {
    if (!this.#isOnDiskAlone(targets)) return undefined;
    const treePath = rawPath === undefined ? { path } : { path, rawPath };
    const stat = statOnDisk(this.#options.spec.path, treePath);
    return { ...treePath, size: stat?.size ?? 0, isSymlink: stat?.isSymbolicLink() ?? false };
  }

  async #countSkipped(
    kept: readonly number[],
    built: Readonly<Record<string, number>>,
  ): Promise<Record<string, number>> {
    const skipped = new Map(Object.entries({ ...NOTHING_SKIPPED, ...built }));
    const union = this.#union();
    const yielder = new LoopYielder();
    for (const shard of kept) {
      const { docCount } = this.#docs.shards[shard]!;
      for (let docId = 0; docId < docCount; docId++) {
        if (!hasBit(union[shard]!, docId)) continue;
        await yielder.pause();
        const reason = this.#docs.skipReasonOf({ shard, docId });
        if (reason === SKIP_NONE) continue;
        const name = SKIP_REASON_NAMES[reason] ?? 'unknown';
        skipped.set(name, (skipped.get(name) ?? 0) + 1);
      }
    }
    return Object.fromEntries(skipped);
  }
}

function changesNoDoc({ isOuter, before, after }: TreeChange): boolean {
  return isOuter || (before?.kind === 'submodule') !== (after?.kind === 'submodule');
}

function locationsIn(bits: Uint8Array, shard: number): DocLocation[] {
  const locations: DocLocation[] = [];
  for (const [index, byte] of bits.entries())
    for (let bit = 0; byte >> bit !== 0; bit++)
      if (((byte >> bit) & 1) === 1) locations.push({ shard, docId: index * 8 + bit });
  return locations;
}

/** Adds to a count; removes it at zero. */
function add(counts: Map<string, number>, name: string, more: number): void {
  const count = (counts.get(name) ?? 0) + more;
  if (count <= 0) counts.delete(name);
  else counts.set(name, count);
}

/** In the order of IgnoredCounter: the largest first. */
function countsOf(counts: ReadonlyMap<string, number>): Record<string, number> {
  const rows = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return Object.fromEntries(rows);
}
