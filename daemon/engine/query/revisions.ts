// Revisions in a search (API.md 9.6): resolves `rev:`, makes the sets of docs that a plan names, and tells which revisions a
// result lists.

import type { DocSet, EncodedPlan } from '../host/encoded-plan.ts';
import { leavesOf, type QueryNode } from './tree.ts';
import type { Steps } from '../../base/steps.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { isSteppedName } from '../../sources/git/names.ts';
import { type ChosenRevisions, docsOfParts, type PartedShard } from '../shards/parts.ts';
import type { ShardRevisions } from '../shards/revisions.ts';

/** `rev:` values for the default revision, and for any. */
export const DEFAULT_REVISION = 'HEAD';
export const ANY_REVISION = '*';
/** Any revision, including on-demand ones; cannot be written in a `rev:`. */
const LIVE_REVISIONS = '\x01*';

/** Prefix of a `rev:` text that means only the revision with this exact name; no ref name contains it. */
const EXACT_MARK = '\0';
/** Prefix of a `rev:` text that means only the on-demand revision with this name. */
const DEMAND_MARK = '\x01';

/** The text of a `rev:` for the revision with this full name. */
export function exactRevision(name: string): string {
  return name === DEFAULT_REVISION ? name : EXACT_MARK + name;
}

/** The text of a `rev:` if git may know it as a revision; undefined: it cannot. */
export function onDemandName(text: string): string | undefined {
  const name = text.startsWith(EXACT_MARK) ? text.slice(EXACT_MARK.length) : text;
  return isSteppedName(name) ? name : undefined;
}

/** Rewrites each non-negated `rev:` that names one of these on-demand revisions to mean only that. */
export function withOnDemand(query: QueryNode, names: ReadonlySet<string>): QueryNode {
  if (query.kind === 'and' || query.kind === 'or')
    return { ...query, children: query.children.map((child) => withOnDemand(child, names)) };
  if (query.kind !== 'value' || query.prefix !== 'rev') return query;
  const name = onDemandName(query.value);
  return name === undefined || !names.has(name) ? query : { ...query, value: DEMAND_MARK + name };
}

/** The text of a `rev:` as people write it. */
export function writtenRevision(text: string): string {
  return text.startsWith(DEMAND_MARK) ? text.slice(DEMAND_MARK.length) : text;
}

type RevisionNames = Pick<RepoRecord, 'defaultRevision' | 'revisions' | 'onDemand'>;

/** Full ref names of the indexed revisions, the default one first. */
function revisionsOf({ revisions, defaultRevision }: RevisionNames): readonly string[] {
  return revisions ?? [defaultRevision];
}

/** Indexes of the revisions of a repo that the text of a `rev:` selects. */
export function matchRevisions(repo: RevisionNames, text: string): number[] {
  if (text === DEFAULT_REVISION) return [0];
  const names = revisionsOf(repo);
  if (text.startsWith(DEMAND_MARK)) {
    const index = repo.onDemand?.indexOf(text.slice(DEMAND_MARK.length)) ?? -1;
    return index < 0 ? [] : [names.length + index];
  }
  if (text.startsWith(EXACT_MARK)) {
    const index = names.indexOf(text.slice(EXACT_MARK.length));
    return index < 0 ? [] : [index];
  }
  const isAny = text === ANY_REVISION;
  const exact = names.indexOf(text);
  if (exact >= 0) return [exact];
  return [...names.keys()].filter((index) => isAny || names[index]!.includes(text));
}

export function hasRevisionFilter(query: QueryNode): boolean {
  return leavesOf(query).some((leaf) => leaf.kind === 'value' && leaf.prefix === 'rev');
}

/** Leaf of a plan: the doc is in one of these revisions of its repo. */
export interface DocsNode {
  readonly kind: 'docs';
  /** The `rev:` text; nodes with the same text are equal. */
  readonly text: string;
  readonly chosenOf: (repoId: number) => ChosenRevisions;
}

/** The docs of a `rev:` text. Not a constant for repos without the revision: their docs are counted as excluded by a filter. */
export function planRevisions(repos: readonly RepoRecord[], text: string): DocsNode {
  if (text === DEFAULT_REVISION) return { kind: 'docs', text, chosenOf: () => [0] };
  const isAny = text === ANY_REVISION && repos.every(({ onDemand }) => onDemand === undefined);
  if (isAny || text === LIVE_REVISIONS) return { kind: 'docs', text, chosenOf: () => 'any' };
  const chosen = new Map<number, readonly number[]>();
  for (const repo of repos) {
    const indexes = matchRevisions(repo, text);
    if (indexes.length > 0) chosen.set(repo.repoId, indexes);
  }
  return { kind: 'docs', text, chosenOf: (repoId) => chosen.get(repoId) };
}

/** The leaf added to every query: the default revisions if it has no `rev:`, else the docs of any revision. */
export function planLiveDocs(query: QueryNode, hasOnDemand: boolean): DocsNode {
  if (!hasRevisionFilter(query)) return planRevisions([], DEFAULT_REVISION);
  return planRevisions([], hasOnDemand ? LIVE_REVISIONS : ANY_REVISION);
}

export interface PlannedShardView extends PartedShard {
  readonly shardId: string;
}

let lastId = 0;

/** The sets of docs in these shards for the leaves of a plan, in the order of their indexes. */
export function* docSetsFor(
  leaves: readonly DocsNode[],
  shards: readonly PlannedShardView[],
): Steps<Omit<EncodedPlan, 'bytes'>> {
  const docSets = new Map<string, readonly DocSet[]>();
  for (const shard of leaves.length === 0 ? [] : shards) {
    yield;
    const sets = leaves.map((leaf) => docSetOf(leaf, shard));
    if (sets.some((set) => set !== 'all')) docSets.set(shard.shardId, sets);
  }
  return {
    docSetCount: leaves.length,
    docSets,
    docSetsId: docSets.size === 0 ? 0 : ++lastId,
  };
}

/** Sets of docs by shard, cached for the two texts that nearly every query uses: the default revision, and any revision. */
const usualSets = {
  [DEFAULT_REVISION]: new WeakMap<PlannedShardView, DocSet>(),
  [ANY_REVISION]: new WeakMap<PlannedShardView, DocSet>(),
};

function docSetOf({ text, chosenOf }: DocsNode, shard: PlannedShardView): DocSet {
  const cache = text === DEFAULT_REVISION || text === ANY_REVISION ? usualSets[text] : undefined;
  const cached = cache?.get(shard);
  if (cached !== undefined) return cached;
  const set = docsOfParts(shard, chosenOf);
  cache?.set(shard, set);
  return set;
}

/**
 * `rev:` texts that select the revisions listed for a doc; an empty list: all that hold it. Undefined: every doc found is in
 * the default revision, and only that is listed.
 */
export function displayedRevisionTexts(query: QueryNode): readonly string[] | undefined {
  if (!hasRevisionFilter(query)) return undefined;
  const texts = revisionTexts(query);
  return texts.size === 1 && requiresDefault(query) ? undefined : [...texts];
}

/** Whether every doc found is in the default revision. A `rev:HEAD` below an `or` restricts one side only. */
function requiresDefault(query: QueryNode): boolean {
  if (query.kind === 'and') return query.children.some(requiresDefault);
  return query.kind === 'value' && query.prefix === 'rev' && query.value === DEFAULT_REVISION;
}

export function revisionTexts(query: QueryNode, texts = new Set<string>()): Set<string> {
  if (query.kind === 'and' || query.kind === 'or')
    for (const child of query.children) revisionTexts(child, texts);
  if (query.kind === 'value' && query.prefix === 'rev') texts.add(query.value);
  return texts;
}

export interface BranchGroup {
  readonly branches: readonly string[];
  /** Indexes into the requested docs. */
  readonly docs: readonly number[];
}

/**
 * Groups docs of a repo in a shard by the revisions that a result lists: those that hold the doc and match a text; if none
 * does (the doc matched another side of an `or`), all that hold it.
 * @param docIds  counted from the first doc of the repo's part
 */
export function groupByBranches(
  repo: RepoRecord,
  shard: ShardRevisions | undefined,
  texts: readonly string[] | undefined,
  docIds: readonly number[],
): BranchGroup[] {
  const names = [...revisionsOf(repo), ...(repo.onDemand ?? [])];
  if (shard === undefined || texts === undefined)
    return [{ branches: names.slice(0, 1), docs: [...docIds.keys()] }];
  const selected = new Set(texts.flatMap((text) => matchRevisions(repo, text)));
  const order = [...docIds.keys()].sort((a, b) => docIds[a]! - docIds[b]!);
  const sorted = Uint32Array.from(order, (index) => docIds[index]!);
  const revisionLists = shard.revisionsHaving(sorted, [...names.keys()]);
  const groups = new Map<string, { branches: string[]; docs: number[] }>();
  for (const [position, index] of order.entries()) {
    const containing = revisionLists[position]!;
    const matching = containing.filter((revision) => selected.has(revision));
    const revisions = matching.length === 0 ? containing : matching;
    const key = revisions.join();
    const group = groups.get(key);
    if (group !== undefined) group.docs.push(index);
    else groups.set(key, { branches: namesOf(revisions, names, repo), docs: [index] });
  }
  return [...groups.values()];
}

/** Names of revisions of a repo, the default one first, then by name. */
function namesOf(
  revisions: readonly number[],
  names: readonly string[],
  { onDemand }: RevisionNames,
): string[] {
  const found = revisions.map((one) => names[one]!);
  if (onDemand === undefined) return found;
  const first = revisions[0] === 0 ? found.splice(0, 1) : [];
  return [...first, ...found.sort()];
}
