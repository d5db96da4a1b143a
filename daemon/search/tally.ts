// Adds up what a run found, as API.md 6.6 and 7 define it: walks shards and units in order, stops behind
// the unit in which the limit was exceeded, and counts only what stands before. So the answer to a cut
// search depends on the snapshot alone, not on how threads raced.

import type { BindFinding, UnitFinding } from '../engine/search-messages.ts';
import type { RunOutcome } from './run.ts';
import { type LiveShard, liveDocCount, type Snapshot } from './snapshot.ts';

/** The numbers of API.md 7 that the run decides. */
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

export interface Tally {
  readonly counts: Counts;
  /** Units that count, in order. */
  readonly units: readonly UnitFinding[];
  /** More ranges than the limit were found. */
  readonly isOverLimit: boolean;
}

/**
 * @param shards  the shards of the run, in order
 * @param quarantined  eligible shards out of service
 */
export function tallyRun(
  shards: readonly LiveShard[],
  quarantined: Snapshot['quarantined'],
  outcome: RunOutcome,
  limit: number,
): Tally {
  const counts = emptyCounts();
  const bindings = new Map(outcome.bindings.map((binding) => [binding.shard, binding]));
  const failed = new Set(outcome.failures.map(({ shard }) => shard));
  const byShard = groupUnits(outcome.units);
  const units: UnitFinding[] = [];
  let isOverLimit = false;
  for (const [index, shard] of shards.entries()) {
    const binding = bindings.get(index);
    const isStarted = binding?.candidateDocs === 0 || byShard.has(index) || failed.has(index);
    if (isOverLimit || !isStarted) {
      counts.shardsSkipped++;
      counts.filesSkipped += liveDocCount(shard);
      continue;
    }
    addBinding(counts, binding);
    counts.shardFilesConsidered += liveDocCount(shard);
    const counted = takeUnits(byShard.get(index) ?? [], limit - counts.totalMatchCount);
    isOverLimit = counted.isOverLimit;
    for (const unit of counted.units) addUnit(counts, unit);
    units.push(...counted.units);
    classify(counts, binding, counted.units, failed.has(index));
  }
  for (const shard of quarantined) {
    counts.shardsSkipped++;
    counts.filesSkipped += liveDocCount(shard);
  }
  return { counts, units, isOverLimit };
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

function groupUnits(units: readonly UnitFinding[]): Map<number, UnitFinding[]> {
  const byShard = new Map<number, UnitFinding[]>();
  for (const unit of units) {
    const group = byShard.get(unit.shard);
    if (group === undefined) byShard.set(unit.shard, [unit]);
    else group.push(unit);
  }
  for (const group of byShard.values()) group.sort((a, b) => a.unit - b.unit);
  return byShard;
}

function takeUnits(
  units: readonly UnitFinding[],
  left: number,
): { units: UnitFinding[]; isOverLimit: boolean } {
  const taken: UnitFinding[] = [];
  let sum = 0;
  for (const unit of units) {
    taken.push(unit);
    sum += unit.matches;
    if (sum > left) return { units: taken, isOverLimit: true };
  }
  return { units: taken, isOverLimit: false };
}

function addBinding(counts: Counts, binding: BindFinding | undefined): void {
  counts.ngramLookups += binding?.lookups ?? 0;
  counts.regexpsConsidered += binding?.regexps ?? 0;
  counts.indexBytesLoaded += binding?.indexBytes ?? 0;
  counts.ngramMatches += binding?.candidateBlocks ?? 0;
}

function addUnit(counts: Counts, unit: UnitFinding): void {
  counts.totalMatchCount += unit.matches;
  counts.fileCount += unit.rows.length / 4;
  counts.filesConsidered += unit.considered;
  counts.filesLoaded += unit.loaded;
  counts.contentBytesLoaded += unit.contentBytes;
  counts.regexpsConsidered += unit.regexps;
}

/** Puts the shard into one of the four classes of API.md 7.1. */
function classify(
  counts: Counts,
  binding: BindFinding | undefined,
  units: readonly UnitFinding[],
  isFailed: boolean,
): void {
  const candidates = binding?.candidateDocs ?? 0;
  const considered = units.reduce((sum, unit) => sum + unit.considered, 0);
  counts.filesSkipped += candidates - considered;
  if (isFailed) counts.crashes++;
  else if (candidates === 0) counts.shardsSkippedFilter++;
  else counts.shardsScanned++;
}
