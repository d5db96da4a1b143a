// Puts matching docs in order and cuts them to what the answer may hold (API.md 6.6, 6.7): by score, then
// ordinary docs before tests before vendored ones, then by repo name, then by path; of one path what the default revision
// holds is first.

import { MATCH_ROW_SIZE, MATCH_TIER_SHIFT } from '../../../core/shared/plan.ts';
import type { UnitFinding } from '../host/search-messages.ts';
import { compareText } from '../../base/paths.ts';
import { KEPT_WORDS } from '../host/searcher.ts';
import type { Steps } from '../../base/steps.ts';

/** One matching doc. */
export interface FoundDoc {
  /** Index of the shard in the run. */
  readonly shard: number;
  readonly docId: number;
  /** Ranges found. */
  readonly count: number;
  readonly score: number;
  readonly tier: number;
  /** Order of the path within its shard. */
  readonly pathRank: number;
  /** Its ranges, if they were kept (engine/host/searcher.ts). */
  readonly kept: Uint32Array | undefined;
  /** Ranges that the answer may show of it; set by cutDocs. */
  rangeMax: number;
}

/** What the order needs to know beyond the findings. */
export interface OrderContext {
  /** Whether what is seen of a shard is of one repo, and no path in it twice. */
  isPlain(shard: number): boolean;
  /** Place of a doc's repo among all repos by name. */
  repoRank(shard: number, docId: number): number;
  pathOf(shard: number, docId: number): Uint8Array;
  /** Orders docs at one path of one repo, which are of different revisions. */
  versionOf(shard: number, docId: number): DocVersion;
}

/** What the default revision holds comes first, then lower blob ids. */
export interface DocVersion {
  readonly isDefault: boolean;
  readonly oid: string;
}

const ROW_WORDS = MATCH_ROW_SIZE / 4;
const SCORE_MASK = (1 << MATCH_TIER_SHIFT) - 1;
/** The tier has the bits above MATCH_TIER_SHIFT. */
const TIERS = 2 ** (32 - MATCH_TIER_SHIFT);

/** Docs that one step merges. Guess: 1 ms. */
const STEP_DOCS = 2048;
/** Docs that one step sorts. Measured: 2026-11-28: 49,000 docs take 13 ms as one run; as four, 12 ms and 33 ms to merge them. */
const RUN_DOCS = 65_536;

/** The docs of all units, best first. */
export function* orderDocs(
  units: readonly UnitFinding[],
  context: OrderContext,
): Steps<readonly FoundDoc[]> {
  const docs: FoundDoc[] = [];
  for (const unit of units) {
    for (const doc of docsOf(unit)) docs.push(doc);
    yield;
  }
  return withDiversity(yield* sortDocs(docs, context), context);
}

/** The docs in order. Cost: as of a merge sort; up to RUN_DOCS are sorted in one step. */
export function* sortDocs(
  docs: readonly FoundDoc[],
  context: OrderContext,
): Steps<readonly FoundDoc[]> {
  let runs: (readonly FoundDoc[])[] = [];
  for (let start = 0; start < docs.length; start += RUN_DOCS) {
    runs.push(sortRun(docs.slice(start, start + RUN_DOCS), context));
    if (docs.length > RUN_DOCS) yield;
  }
  while (runs.length > 1) {
    const longer: (readonly FoundDoc[])[] = [];
    for (let i = 0; i < runs.length; i += 2)
      longer.push(yield* mergeDocs(runs[i]!, runs[i + 1] ?? [], context));
    runs = longer;
  }
  return runs[0] ?? [];
}

/**
 * Up to RUN_DOCS docs in order: sorted as numbers of score, tier and place, then those that tie by what else counts. Why
 * numbers: typed arrays are sorted without a call for each comparison.
 */
function sortRun(docs: readonly FoundDoc[], context: OrderContext): FoundDoc[] {
  const keys = new Float64Array(docs.length);
  for (let place = 0; place < docs.length; place++)
    keys[place] = rankOf(docs[place]!) * RUN_DOCS + place;
  keys.sort();
  const sorted = Array.from(keys, (key) => docs[key % RUN_DOCS]!);
  for (let start = 0; start < sorted.length;) {
    let end = start + 1;
    while (end < sorted.length && rankOf(sorted[end]!) === rankOf(sorted[start]!)) end++;
    if (end - start > 1) {
      const ties = sorted.slice(start, end).sort((a, b) => compareTies(a, b, context));
      for (let i = start; i < end; i++) sorted[i] = ties[i - start]!;
    }
    start = end;
  }
  return sorted;
}

/** Less for what comes first by score, then by tier. Below 2 ** 32. */
function rankOf({ score, tier }: FoundDoc): number {
  return (SCORE_MASK - score) * TIERS + tier;
}

/** Two lists in order as one. Cost: linear. */
export function* mergeDocs(
  left: readonly FoundDoc[],
  right: readonly FoundDoc[],
  context: OrderContext,
): Steps<readonly FoundDoc[]> {
  if (left.length === 0 || right.length === 0) return left.length === 0 ? right : left;
  const merged: FoundDoc[] = [];
  let [i, j] = [0, 0];
  while (i < left.length && j < right.length) {
    merged.push(compare(left[i]!, right[j]!, context) <= 0 ? left[i++]! : right[j++]!);
    if (merged.length % STEP_DOCS === 0) yield;
  }
  return merged.concat(left.slice(i), right.slice(j));
}

function compare(a: FoundDoc, b: FoundDoc, context: OrderContext): number {
  return rankOf(a) - rankOf(b) || compareTies(a, b, context);
}

/** The docs that a unit found. */
export function docsOf({ shard, rows, kept }: UnitFinding): FoundDoc[] {
  const docs: FoundDoc[] = [];
  let next = 0;
  for (let i = 0; i < rows.length; i += ROW_WORDS) {
    const keptCount = kept?.[next] ?? 0;
    const start = next + 1;
    next = start + keptCount * KEPT_WORDS;
    docs.push({
      shard,
      docId: rows[i]!,
      count: rows[i + 1]!,
      kept: keptCount === 0 ? undefined : kept!.subarray(start, next),
      score: rows[i + 2]! & SCORE_MASK,
      tier: rows[i + 2]! >>> MATCH_TIER_SHIFT,
      pathRank: rows[i + 3]!,
      rangeMax: 0,
    });
  }
  return docs;
}

function compareTies(a: FoundDoc, b: FoundDoc, context: OrderContext): number {
  if (a.shard === b.shard && context.isPlain(a.shard)) return a.pathRank - b.pathRank;
  return (
    context.repoRank(a.shard, a.docId) - context.repoRank(b.shard, b.docId) ||
    Buffer.compare(context.pathOf(a.shard, a.docId), context.pathOf(b.shard, b.docId)) ||
    compareVersions(context.versionOf(a.shard, a.docId), context.versionOf(b.shard, b.docId))
  );
}

function compareVersions(a: DocVersion, b: DocVersion): number {
  if (a.isDefault !== b.isDefault) return a.isDefault ? -1 : 1;
  return compareText(a.oid, b.oid);
}

/** Share of the third doc's score that lets a doc of another kind take its place. */
const DIVERSITY_SHARE = 0.9;
/** Guess: how far down such a doc is looked for. */
const DIVERSITY_REACH = 1000;

/** The docs with the first from place 3 on whose extension differs from the first two at place 3. */
export function withDiversity(
  docs: readonly FoundDoc[],
  context: OrderContext,
): readonly FoundDoc[] {
  const [first, second, third] = docs;
  if (first === undefined || second === undefined || third === undefined) return docs;
  const taken = [first, second].map((doc) => extensionOf(doc, context));
  const least = third.score * DIVERSITY_SHARE;
  for (let place = 2; place < Math.min(docs.length, DIVERSITY_REACH); place++) {
    const doc = docs[place]!;
    if (doc.score < least) break;
    if (taken.includes(extensionOf(doc, context))) continue;
    return [first, second, doc].concat(docs.slice(2, place), docs.slice(place + 1));
  }
  return docs;
}

function extensionOf(doc: FoundDoc, context: OrderContext): string {
  const path = Buffer.from(context.pathOf(doc.shard, doc.docId)).toString();
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(dot);
}

/** The first docs that together hold `matches` ranges; the last one may show fewer than it has. */
export function cutDocs(docs: readonly FoundDoc[], matches: number): FoundDoc[] {
  let left = matches;
  let count = 0;
  for (; count < docs.length && left > 0; count++) {
    const doc = docs[count]!;
    doc.rangeMax = Math.min(doc.count, left);
    left -= doc.rangeMax;
  }
  return docs.slice(0, count);
}
