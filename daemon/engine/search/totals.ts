// Counts what a run found (API.md 6.6 and 7). `totalsOfRun` counts for a final answer, in the order of the search up to the
// limit, so that a cut answer depends only on the snapshot. A stream counts everything it gets.

import type { BindFinding, UnitFinding } from '../host/search-messages.ts';
import type { RunOutcome } from './run.ts';
import { liveDocCount } from '../shards/parts.ts';
import type { LiveShard, QuarantinedShard, Snapshot } from './snapshot.ts';
import { UnitOrder } from './unit-order.ts';

/** The numbers of API.md 7 that come from the run. */
export interface Counts {
  totalMatchCount: number;
  fileCount: number;
  filesSkipped: number;
  contentBytesLoaded: number;
  indexBytesLoaded: number;
  crashes: number;
  shardFilesConsidered: number;
  filesConsidered: number;
  filesLoaded: number;
  shardsScanned: number;
  shardsSkipped: number;
  shardsSkippedFilter: number;
  ngramMatches: number;
  ngramLookups: number;
  regexpsConsidered: number;
}

/** What the search found in a shard, as far as it counts; units apart. */
export interface ShardTotals {
  readonly shard: number;
  /** Of its heads, then of its first part; counts until the whole shard is bound. */
  readonly partBinding: BindFinding | undefined;
  readonly binding: BindFinding | undefined;
  readonly unitCount: number;
  readonly considered: number;
  readonly isFailed: boolean;
}

/** Cut at the limit of the search. */
export interface Totals {
  readonly counts: Counts;
  /** By index. */
  readonly shards: readonly ShardTotals[];
  /** In the order of the search. */
  readonly units: readonly UnitFinding[];
  readonly isOverLimit: boolean;
}

export interface SearchProgress {
  readonly shardsDone: number;
  readonly shardsEligible: number;
}

/** Adds up findings as they come; `close` adds what depends on the end of the search. */
export class RunningTotals {
  readonly counts = emptyCounts();
  readonly #shards: readonly LiveShard[];
  readonly #quarantined: Snapshot['quarantined'];
  readonly #shardTotals: { -readonly [Name in keyof ShardTotals]: ShardTotals[Name] }[];

  /** @param quarantined  eligible shards out of service */
  constructor(shards: readonly LiveShard[], quarantined: Snapshot['quarantined']) {
    this.#shards = shards;
    this.#quarantined = quarantined;
    this.#shardTotals = shards.map((_, shard) => ({
      shard,
      partBinding: undefined,
      binding: undefined,
      unitCount: 0,
      considered: 0,
      isFailed: false,
    }));
  }

  get shardTotals(): readonly ShardTotals[] {
    return this.#shardTotals;
  }

  /** Of a shard's heads or first part; counts until more of it is bound. */
  addPartBinding(binding: BindFinding): void {
    const totals = this.#shardTotals[binding.shard]!;
    const { partBinding } = totals;
    if (totals.binding !== undefined || partBinding?.isPart === true) return;
    if (partBinding !== undefined && !binding.isPart) return;
    if (partBinding !== undefined) this.#count(partBinding, -1);
    totals.partBinding = binding;
    this.#count(binding, 1);
  }

  /** Only the first binding of a shard counts. */
  addBinding(binding: BindFinding): void {
    const totals = this.#shardTotals[binding.shard]!;
    if (totals.binding !== undefined) return;
    totals.binding = binding;
    if (totals.partBinding !== undefined) this.#count(totals.partBinding, -1);
    this.#count(binding, 1);
  }

  #count(binding: BindFinding, sign: 1 | -1): void {
    if (this.#hidesDocs(binding.shard)) return;
    this.counts.ngramLookups += sign * binding.lookups;
    this.counts.regexpsConsidered += sign * binding.regexps;
    this.counts.indexBytesLoaded += sign * binding.indexBytes;
    this.counts.ngramMatches += sign * binding.candidateBlocks;
  }

  addUnit(unit: UnitFinding): void {
    const { counts } = this;
    counts.totalMatchCount += unit.matches;
    counts.fileCount += unit.rows.length / 4;
    const totals = this.#shardTotals[unit.shard]!;
    totals.unitCount++;
    if (this.#hidesDocs(unit.shard)) return;
    counts.filesConsidered += unit.considered;
    counts.regexpsConsidered += unit.regexps;
    counts.filesLoaded += unit.loaded;
    counts.contentBytesLoaded += unit.contentBytes;
    totals.considered += unit.considered;
  }

  /** Costs of such a shard depend on hidden docs, so its visible docs all count as scanned. */
  #hidesDocs(shard: number): boolean {
    return this.#shards[shard]!.hidesDocs === true;
  }

  /** False: the failure of this shard is already counted. */
  addFailure(shard: number): boolean {
    const totals = this.#shardTotals[shard]!;
    if (totals.isFailed) return false;
    totals.isFailed = true;
    return true;
  }

  get progress(): SearchProgress {
    const done = this.#shardTotals.filter(
      ({ binding, unitCount, isFailed }) =>
        isFailed ||
        (binding !== undefined && (binding.candidateDocs === 0 || unitCount >= binding.unitCount)),
    );
    const shardsEligible = this.#shardTotals.length + this.#quarantined.length;
    return { shardsDone: done.length, shardsEligible };
  }

  /** Classifies each shard by API.md 7.1. Called once, at the end. */
  close(): void {
    const { counts } = this;
    for (const totals of this.#shardTotals) {
      const docCount = liveDocCount(this.#shards[totals.shard]!);
      if (this.#hidesDocs(totals.shard)) this.#countScanned(totals, docCount);
      else this.#classify(totals, docCount);
    }
    for (const shard of this.#quarantined) {
      counts.shardsSkipped++;
      counts.filesSkipped += liveDocCount(shard);
    }
  }

  #countScanned({ isFailed }: ShardTotals, docCount: number): void {
    const { counts } = this;
    counts.shardFilesConsidered += docCount;
    counts.filesConsidered += docCount;
    if (isFailed) counts.crashes++;
    else counts.shardsScanned++;
  }

  #classify({ binding, unitCount, considered, isFailed }: ShardTotals, docCount: number): void {
    const { counts } = this;
    const candidates = binding?.candidateDocs ?? 0;
    const isRuledOut = binding !== undefined && candidates === 0;
    if (!isRuledOut && unitCount === 0 && !isFailed) {
      counts.shardsSkipped++;
      counts.filesSkipped += docCount;
      return;
    }
    counts.shardFilesConsidered += docCount;
    // With only a part bound, or nothing, no doc is ruled out.
    counts.filesSkipped += (binding === undefined ? docCount : candidates) - considered;
    if (isFailed) counts.crashes++;
    else if (isRuledOut) counts.shardsSkippedFilter++;
    else counts.shardsScanned++;
  }
}

/** @param quarantined  eligible shards out of service */
export function totalsOfRun(
  shards: readonly LiveShard[],
  quarantined: Snapshot['quarantined'],
  outcome: RunOutcome,
  limit: number,
): Totals {
  const totals = new RunningTotals(shards, quarantined);
  const units: UnitFinding[] = [];
  const order = new UnitOrder(shards.length, limit, {
    addPartBinding: (binding) => totals.addPartBinding(binding),
    addBinding: (binding) => totals.addBinding(binding),
    addUnit: (unit) => {
      units.push(unit);
      totals.addUnit(unit);
    },
  });
  order.add(outcome);
  order.end();
  for (const { shard } of outcome.failures) totals.addFailure(shard);
  totals.close();
  const { counts, shardTotals } = totals;
  return { counts, shards: shardTotals, units, isOverLimit: order.isOverLimit };
}

/** Whether a search without regard to case may match: one that did not bind all shards cannot tell. */
export function mayMatchFolded(shards: readonly ShardTotals[]): boolean {
  return shards.some(({ binding }) => binding?.mayMatchFolded ?? true);
}

/** A shard's share of the counts. @param units  those of the shard */
export function shareOf(
  shard: LiveShard,
  { partBinding, binding, isFailed }: ShardTotals,
  units: readonly UnitFinding[],
): Counts {
  const totals = new RunningTotals([shard], []);
  if (partBinding !== undefined) totals.addPartBinding({ ...partBinding, shard: 0 });
  if (binding !== undefined) totals.addBinding({ ...binding, shard: 0 });
  for (const unit of units) totals.addUnit({ ...unit, shard: 0 });
  if (isFailed) totals.addFailure(0);
  totals.close();
  return totals.counts;
}

export function shareOfQuarantined(shard: QuarantinedShard): Counts {
  const totals = new RunningTotals([], [shard]);
  totals.close();
  return totals.counts;
}

function emptyCounts(): Counts {
  return {
    totalMatchCount: 0,
    fileCount: 0,
    filesSkipped: 0,
    contentBytesLoaded: 0,
    indexBytesLoaded: 0,
    crashes: 0,
    shardFilesConsidered: 0,
    filesConsidered: 0,
    filesLoaded: 0,
    shardsScanned: 0,
    shardsSkipped: 0,
    shardsSkippedFilter: 0,
    ngramMatches: 0,
    ngramLookups: 0,
    regexpsConsidered: 0,
  };
}
