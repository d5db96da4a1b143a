// Parts of answers and stream events: the numbers of API.md 7, the reasons of 6.6, repos, and JSON around file results.

import { omitUndefined } from '../../base/omit-undefined.ts';
import type { ShardTimes } from '../host/search-messages.ts';
import type { Hint } from '../query/hints.ts';
import type { RepoRecord } from '../../repos/records.ts';
import type { DocList } from './found-docs.ts';
import type { FileResults, RenderSums } from './render.ts';
import type { RunStop } from './run.ts';
import type { ScopeView } from './scope.ts';
import type { Counts, Totals } from './totals.ts';

/** Summed over all threads, ns. */
export interface WorkTimes {
  readonly matchTreeConstruction: number;
  readonly matchTreeSearch: number;
}

/** API.md 7, ns. */
export interface Durations extends WorkTimes {
  readonly duration: number;
  readonly wait: number;
}

export type CountNumbers = Counts & { readonly actualMatchCount: number };
/** The numbers of `stats` that are sums over shards. */
export type AdditiveNumbers = CountNumbers & WorkTimes;
export type StatsNumbers = CountNumbers & Durations;

const NO_WORK: WorkTimes = { matchTreeConstruction: 0, matchTreeSearch: 0 };

export function workTimes(times: readonly ShardTimes[], before = NO_WORK): WorkTimes {
  let { matchTreeConstruction, matchTreeSearch } = before;
  for (const { bindNs, searchNs } of times) {
    matchTreeConstruction += bindNs;
    matchTreeSearch += searchNs;
  }
  return { matchTreeConstruction, matchTreeSearch };
}

export function countNumbers(counts: Counts, rendered: RenderSums): CountNumbers {
  return {
    actualMatchCount: rendered.rangeCount,
    ...counts,
    contentBytesLoaded: counts.contentBytesLoaded + rendered.contentBytes,
    filesLoaded: counts.filesLoaded + rendered.loadCount,
  };
}

export function statsNumbers(
  counts: Counts,
  rendered: RenderSums,
  durations: Durations,
): StatsNumbers {
  // Not spread: 1 us of an answer against 8.
  return {
    actualMatchCount: rendered.rangeCount,
    totalMatchCount: counts.totalMatchCount,
    fileCount: counts.fileCount,
    filesSkipped: counts.filesSkipped,
    contentBytesLoaded: counts.contentBytesLoaded + rendered.contentBytes,
    indexBytesLoaded: counts.indexBytesLoaded,
    crashes: counts.crashes,
    shardFilesConsidered: counts.shardFilesConsidered,
    filesConsidered: counts.filesConsidered,
    filesLoaded: counts.filesLoaded + rendered.loadCount,
    shardsScanned: counts.shardsScanned,
    shardsSkipped: counts.shardsSkipped,
    shardsSkippedFilter: counts.shardsSkippedFilter,
    ngramMatches: counts.ngramMatches,
    ngramLookups: counts.ngramLookups,
    regexpsConsidered: counts.regexpsConsidered,
    duration: durations.duration,
    wait: durations.wait,
    matchTreeConstruction: durations.matchTreeConstruction,
    matchTreeSearch: durations.matchTreeSearch,
  };
}

/** Times in ns: from the arrival of the request, up to the first unit, and of work, summed over all threads. */
export interface CompletedSearch {
  readonly kind: 'search' | 'stream';
  readonly durationNs: number;
  readonly waitNs: number;
  readonly bindNs: number;
  readonly matchNs: number;
  /** Why it is not exhaustive; empty if it is. */
  readonly reasons: readonly string[];
  readonly steps: StepTimes;
}

/** When steps began or ended, in ns from the arrival of the request. */
export interface StepTimes {
  readonly beganNs: number;
  readonly parsedNs: number;
  readonly plannedNs: number;
  /** All units are over. */
  readonly foundNs: number;
}

export function completedSearch(
  kind: CompletedSearch['kind'],
  numbers: StatsNumbers,
  reasons: readonly string[],
  steps: StepTimes,
): CompletedSearch {
  const { duration, wait, matchTreeConstruction, matchTreeSearch } = numbers;
  return {
    kind,
    durationNs: duration,
    waitNs: wait,
    bindNs: matchTreeConstruction,
    matchNs: matchTreeSearch,
    reasons,
    steps,
  };
}

export type FlushReason = 'UNKNOWN_UNSPECIFIED' | 'TIMER_EXPIRED' | 'FINAL_FLUSH' | 'MAX_SIZE';

export function statsObject(numbers: StatsNumbers, reason: FlushReason): object {
  return { ...numbers, flushReason: `FLUSH_REASON_${reason}` };
}

export interface Gaps {
  /** A shard in scope is out of service, or may be. */
  readonly hasQuarantined: boolean;
  /** A revision named by the query could not be read, or only partly. */
  readonly hasUnread: boolean;
  /** The query needs symbols, and those of a shard in scope are not available yet. */
  readonly lacksSymbols: boolean;
}

/** In the order of API.md 6.6; empty: the search is exhaustive. */
export function incompleteReasons(
  { counts, isOverLimit }: Pick<Totals, 'counts' | 'isOverLimit'>,
  returnedCount: number,
  stop: RunStop | undefined,
  gaps: Gaps,
): string[] {
  const isFailed = stop === 'failed';
  const reasons: string[] = [];
  if (isOverLimit || (counts.totalMatchCount > returnedCount && !isFailed))
    reasons.push('match_limit');
  if (stop === 'deadline') reasons.push('deadline');
  if (counts.crashes > 0) reasons.push('shard_crashed');
  if (gaps.hasQuarantined) reasons.push('shard_quarantined');
  if (gaps.hasUnread) reasons.push('revision_unreadable');
  if (gaps.lacksSymbols) reasons.push('symbols_missing');
  if (isFailed) reasons.push('internal_error');
  return reasons;
}

/** In place of other hints, where not even the best file fits. Bound: what the least `maxBytes`, 1,024, leaves beside `stats`. */
export const TOO_SMALL: Hint = { message: 'The best file alone exceeds maxBytes: raise it.' };

export function withSizeLimit(reasons: readonly string[]): string[] {
  const limits = reasons.filter((reason) => reason === 'match_limit');
  return [...limits, 'size_limit', ...reasons.slice(limits.length)];
}

/** How many of the results fit into `sizeMax` bytes, commas included. */
export function fittingCount(files: FileResults, sizeMax: number): number {
  let size = 0;
  for (let position = 0; position < files.count; position++) {
    size += files.sizeOf(position, position + 1) + 1;
    if (size > sizeMax) return position;
  }
  return files.count;
}

export interface Exhaustiveness {
  readonly isSearchExhaustive: boolean;
  readonly incompleteReasons?: readonly string[];
}

export function exhaustiveness(reasons: readonly string[]): Exhaustiveness {
  return reasons.length === 0
    ? { isSearchExhaustive: true }
    : { isSearchExhaustive: false, incompleteReasons: reasons };
}

interface RepositoryInfo {
  readonly id: number;
  readonly codeHostType: string;
  readonly name: string;
  readonly displayName?: string;
  readonly webUrl?: string;
}

/** In order of first occurrence. */
export function repositoryInfos({ found, docs }: DocList, view: ScopeView): RepositoryInfo[] {
  const repos = new Set<RepoRecord>();
  /** Shards of a single repo that is already listed. */
  const singleRepoShards = new Set<number>();
  for (const doc of docs) {
    const shard = found.shard(doc);
    if (singleRepoShards.has(shard)) continue;
    repos.add(view.repoOf(shard, found.docId(doc)));
    if (view.isPlain(shard)) singleRepoShards.add(shard);
  }
  return [...repos].map(repositoryInfo);
}

function repositoryInfo(repo: RepoRecord): RepositoryInfo {
  return {
    id: repo.repoId,
    codeHostType: repo.codeHostType,
    name: repo.name,
    ...omitUndefined({ displayName: repo.displayName, webUrl: repo.webUrl }),
  };
}

/** One JSON object: `head`, `files` with the results from `start` to `end`, `tail` (at least one member). */
export function writeWithFiles(
  head: object,
  files: FileResults,
  tail: object,
  start = 0,
  end = files.count,
): Buffer {
  const { before, after } = textsAround(head, tail);
  const commas = Math.max(end - start - 1, 0);
  const size = Buffer.byteLength(before) + files.sizeOf(start, end) + commas;
  const json = Buffer.allocUnsafe(size + Buffer.byteLength(after));
  json.write(after, files.writeTo(json, json.write(before), start, end));
  return json;
}

export function textsAround(head: object, tail: object): { before: string; after: string } {
  return {
    before: `${JSON.stringify(head).slice(0, -1)},"files":[`,
    after: `],${JSON.stringify(tail).slice(1)}`,
  };
}
