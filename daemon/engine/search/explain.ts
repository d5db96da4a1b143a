// Explains a search (API.md 7.5): runs it, then reports its plan, each shard's outcome and share of the numbers, and the
// scores of the best files. Shares are counted independently of the totals, so that a difference is visible.

import { addToList } from '../../base/lists.ts';
import { omitUndefined } from '../../base/omit-undefined.ts';
import { printQuery, quoteText } from '../query/print.ts';
import {
  type AdditiveNumbers,
  countNumbers,
  type WorkTimes,
  workTimes,
  type Exhaustiveness,
  exhaustiveness,
  statsObject,
} from './answer.ts';
import {
  type ConditionNode,
  type CountsByNode,
  explainConditions,
  explainRegexps,
  type RegexReport,
} from './explain-plan.ts';
import { type BestDoc, explainBest } from './explain-best.ts';
import { bytesOf } from './docs-in-scope.ts';
import { isRuledOut, sumCounts } from './node-counts.ts';
import { runInSlices } from './run-in-slices.ts';
import type { Steps } from '../../base/steps.ts';
import type { NodeRows } from '../query/encode.ts';
import type { EngineParts, SearchEnvironment } from './prepare.ts';
import type { PlanNode } from '../query/plan-tree.ts';
import type { SearchRequest } from '../query/request.ts';
import type { RenderSums } from './render.ts';
import type { UnitFinding } from '../host/search-messages.ts';
import { DEFAULT_REVISION, hasRevisionFilter } from '../query/revisions.ts';
import { acquireFor } from './demanded-revisions.ts';
import { type Completed, completeSearch, withSnapshot } from './search.ts';
import { liveDocCount } from '../shards/parts.ts';
import { someNames } from '../../repos/some-names.ts';
import type { LiveShard, Snapshot } from './snapshot.ts';
import { type Counts, type ShardTotals, shareOf, shareOfQuarantined } from './totals.ts';
import { ALL_REPOS } from '../query/repo-set.ts';
import { visibleQuarantined, visibleShards } from './visible.ts';
import { printPlan } from '../query/print-plan.ts';

export type ShardClass = 'scanned' | 'skipped_filter' | 'skipped' | 'crashed';

export interface ShardRow {
  readonly id: string;
  /** Names of its repos, separated by ", ". */
  readonly repository: string;
  readonly class: ShardClass;
  /** Why it is in this class. */
  readonly reason: string;
  /** Live docs. */
  readonly docs: number;
  /** Estimate of content to read for verifying its candidates. */
  readonly estimatedBytes: number;
  /** Its share of `stats`, except durations and waits. */
  readonly stats: AdditiveNumbers;
}

export interface Explanation extends Exhaustiveness {
  readonly query: {
    readonly canonical: string;
    /** The restriction of a query without `rev:`. */
    readonly implicitRevision?: string;
  };
  readonly plan: {
    readonly conditions: ConditionNode;
    readonly regexps: readonly RegexReport[];
    /** To verify, estimated from the index; bytes read only for the answer do not count. */
    readonly estimatedBytes: number;
    readonly verifiedBytes: number;
  };
  readonly totals: Readonly<Record<string, number>>;
  readonly best: readonly BestDoc[];
  /** In search order, those out of service last; absent if the explanation covers only the caller's own scope. */
  readonly shards?: readonly ShardRow[];
  readonly stats: object;
}

/** Errors: as `search` of search.ts. @param seesShards  includes shards, and index data of docs that the caller cannot see */
export function explain(
  parts: EngineParts,
  request: SearchRequest,
  environment: SearchEnvironment,
  seesShards: boolean,
): Promise<Explanation> {
  const acquire = () => acquireFor(parts, request, environment);
  return withSnapshot(parts, acquire, async (snapshot) => {
    const rendered = new Map<number, RenderSums>();
    const rows: NodeRows = new Map();
    const completed = await completeSearch(
      parts,
      request,
      { ...environment, nodeRows: rows },
      snapshot,
      {
        onRendered: (shard, done) =>
          void rendered.set(shard, addRendered(rendered.get(shard), done)),
      },
    );
    const { prepared, totals, numbers, reasons } = completed;
    const { tree, plan } = prepared;
    const best = await runInSlices(explainBest(completed, parts.searcher), environment);
    const counts = await runInSlices(countsOf(completed, rows, seesShards), environment);
    const shards = seesShards
      ? await runInSlices(explainShards(completed, rendered, snapshot, rows), environment)
      : undefined;
    const implicitRevision = `rev:${quoteText(DEFAULT_REVISION)}`;
    return {
      query: {
        canonical: printQuery(tree),
        ...(hasRevisionFilter(tree) ? {} : { implicitRevision }),
      },
      plan: {
        conditions: explainConditions(plan, counts),
        regexps: await runInSlices(explainRegexps(tree, parts.searcher), environment),
        estimatedBytes: estimatedBytesOf(completed, seesShards),
        verifiedBytes: totals.counts.contentBytesLoaded,
      },
      totals: { ...(await scopeTotals(completed, snapshot, environment)), ...numbers },
      best,
      ...omitUndefined({ shards }),
      stats: statsObject(numbers, 'UNKNOWN_UNSPECIFIED'),
      ...exhaustiveness(reasons),
    };
  });
}

/** None if some shard has docs that the caller cannot see: its counts include them. */
function* countsOf(
  { totals, prepared: { scope } }: Completed,
  rows: NodeRows,
  seesShards: boolean,
): Steps<CountsByNode> {
  const isHidden = !seesShards && scope.shards.some(({ hidesDocs }) => hidesDocs === true);
  if (isHidden) return new Map();
  const bindings = totals.shards.flatMap(({ binding, partBinding }) => {
    const bound = binding ?? (partBinding?.isPart === true ? partBinding : undefined);
    return bound === undefined ? [] : [bound];
  });
  return yield* sumCounts(bindings, rows);
}

/** Shards with hidden docs are included only if `seesShards`: their candidates include hidden docs. */
function estimatedBytesOf({ totals, prepared }: Completed, seesShards: boolean): number {
  const { shards } = prepared.scope;
  return totals.shards
    .filter(({ shard }) => seesShards || shards[shard]!.hidesDocs !== true)
    .reduce((sum, { binding }) => sum + (binding?.candidateBytes ?? 0), 0);
}

const NOTHING_RENDERED: RenderSums = { rangeCount: 0, contentBytes: 0, loadCount: 0 };

function addRendered(sums: RenderSums = NOTHING_RENDERED, done: RenderSums): RenderSums {
  return {
    rangeCount: sums.rangeCount + done.rangeCount,
    contentBytes: sums.contentBytes + done.contentBytes,
    loadCount: sums.loadCount + done.loadCount,
  };
}

async function scopeTotals(
  { prepared: { scope, view } }: Completed,
  snapshot: Snapshot,
  { repoAccess, signal }: SearchEnvironment,
): Promise<Readonly<Record<string, number>>> {
  const eligible = [...scope.shards, ...scope.quarantined];
  // Only what the caller sees.
  const all =
    visibleShards(snapshot, repoAccess, ALL_REPOS).length +
    visibleQuarantined(snapshot, repoAccess, ALL_REPOS).length;
  return {
    shardsEligible: eligible.length,
    shardsOutOfScope: all - eligible.length,
    docsInScope: eligible.reduce((sum, shard) => sum + liveDocCount(shard), 0),
    bytesInScope: await bytesOf(scope.shards, view, signal),
  };
}

function* explainShards(
  completed: Completed,
  rendered: ReadonlyMap<number, RenderSums>,
  snapshot: Snapshot,
  nodeRows: NodeRows,
): Steps<ShardRow[]> {
  const { scope } = completed.prepared;
  const names = new Map(snapshot.repos.map(({ repoId, name }) => [repoId, name]));
  const units = new Map<number, UnitFinding[]>();
  for (const unit of completed.totals.units) addToList(units, unit.shard, unit);
  const times = new Map<number, WorkTimes>();
  for (const one of completed.outcome.times)
    times.set(one.shard, workTimes([one], times.get(one.shard)));
  const rows: ShardRow[] = [];
  const addRow = (
    shard: LiveShard,
    counts: Counts,
    more: Pick<ShardRow, 'reason' | 'estimatedBytes'>,
    sums = NOTHING_RENDERED,
    work = workTimes([]),
  ): void => {
    const repository = someNames(shard.parts.map(({ repoId }) => names.get(repoId) ?? ''));
    const head = { id: shard.shardId, repository, class: classOf(counts) };
    const docs = liveDocCount(shard);
    rows.push({ ...head, ...more, docs, stats: { ...countNumbers(counts, sums), ...work } });
  };
  for (const [index, shard] of scope.shards.entries()) {
    const found = completed.totals.shards[index]!;
    const counts = shareOf(shard, found, units.get(index) ?? []);
    const reason = whyOf(completed, shard, counts, found, nodeRows);
    const estimatedBytes = found.binding?.candidateBytes ?? 0;
    addRow(shard, counts, { reason, estimatedBytes }, rendered.get(index), times.get(index));
    yield;
  }
  for (const shard of scope.quarantined) {
    const reason = `quarantined: ${withoutName(shard.reason, shard.shardId)}`;
    addRow(shard, shareOfQuarantined(shard), { reason, estimatedBytes: 0 });
  }
  return rows;
}

function classOf(counts: Counts): ShardClass {
  if (counts.crashes > 0) return 'crashed';
  if (counts.shardsSkippedFilter > 0) return 'skipped_filter';
  return counts.shardsScanned > 0 ? 'scanned' : 'skipped';
}

function whyOf(
  { prepared, outcome, totals }: Completed,
  shard: LiveShard,
  counts: Counts,
  found: ShardTotals,
  rows: NodeRows,
): string {
  const isLate = outcome.stop === 'deadline';
  const end = totals.isOverLimit ? 'limit reached' : isLate ? 'deadline reached' : 'search ended';
  switch (classOf(counts)) {
    case 'crashed': {
      const failure = outcome.failures.find((one) => one.shard === found.shard);
      return withoutName(failure?.reason ?? 'failed', shard.shardId);
    }
    case 'skipped_filter': {
      const { binding } = found;
      const isOut = (part: PlanNode): boolean =>
        binding !== undefined && isRuledOut(part, binding, rows);
      return reasonOf(prepared.plan, shard, isOut);
    }
    case 'skipped':
      return end;
    case 'scanned': {
      const candidates = `candidate docs: ${found.binding?.candidateDocs ?? 0}`;
      return counts.filesSkipped > 0 ? `${candidates}; ${end}` : candidates;
    }
  }
}

function withoutName(reason: string, shardId: string): string {
  return reason.replace(`shard ${shardId}: `, '');
}

/** Sides of an `or` named in a reason. */
const SIDES_MAX = 3;

/** Why no doc of `shard` satisfies `plan`. @param isOut  no doc of the shard satisfies a part, as far as it was looked up */
function reasonOf(
  plan: PlanNode,
  shard: Pick<LiveShard, 'symbols'>,
  isOut: (part: PlanNode) => boolean,
): string {
  switch (plan.kind) {
    case 'and': {
      const culprit = plan.children.find(isOut);
      return culprit === undefined
        ? 'no doc passes all conditions together'
        : reasonOf(culprit, shard, isOut);
    }
    case 'or': {
      const sides = plan.children.slice(0, SIDES_MAX).map((side) => reasonOf(side, shard, isOut));
      const distinct = [...new Set(sides)];
      return `${distinct.join('; ')}${plan.children.length > SIDES_MAX ? '; ...' : ''}`;
    }
    case 'not':
      return 'every doc is excluded by a negation';
    case 'text':
      return `no block contains ${printPlan(plan)}`;
    case 'regex':
      return `no block contains the texts required by ${printPlan(plan)}`;
    case 'symbol':
    case 'symbolRegex':
      return shard.symbols === undefined
        ? 'its symbols are not available'
        : `no symbol for ${printPlan(plan)}`;
    case 'language':
      return `no doc of language ${plan.name}`;
    case 'path':
    case 'pathRegex':
      return `no path for ${printPlan(plan)}`;
    case 'docs':
      return `no doc in ${printPlan(plan)}`;
    case 'repos':
      return 'no repository passes the filters';
    case 'const':
      return 'the query matches nothing';
  }
}
