// Invented answers of searches: complete according to the API description, with the parts that a test needs.

import type { StatsNumbers } from '../../daemon/engine/search/answer.ts';
import type { Stats } from '../../daemon/api/search/search-schemas.ts';

/** The object `stats` of a search that did nothing, changed by `more`. */
export function statsOf(more: Partial<StatsNumbers> = {}): Stats {
  const numbers: StatsNumbers = {
    actualMatchCount: 0,
    totalMatchCount: 0,
    duration: 1000,
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
    wait: 0,
    matchTreeConstruction: 0,
    matchTreeSearch: 0,
    regexpsConsidered: 0,
    ...more,
  };
  return { ...numbers, flushReason: 'FLUSH_REASON_UNKNOWN_UNSPECIFIED' };
}

export function resultOf(content: string, more: object = {}): object {
  return {
    fileName: { text: 'a.txt', matchRanges: [] },
    webUrl: 'http://localhost/browse/r@HEAD/-/blob/a.txt',
    repository: 'r',
    repositoryId: 1,
    language: 'Text',
    chunks: [],
    branches: ['HEAD'],
    content,
    ...more,
  };
}

export function answerOf(files: readonly object[] = [], stats: Partial<StatsNumbers> = {}): object {
  return { stats: statsOf(stats), files, repositoryInfo: [], isSearchExhaustive: true };
}

export function chunkEvent(
  files: readonly object[] = [],
  stats: Partial<StatsNumbers> = {},
): object {
  return { type: 'chunk', stats: statsOf(stats), files, repositoryInfo: [] };
}

export const FINAL_EVENT = { type: 'final', accumulatedStats: statsOf(), isSearchExhaustive: true };

/** Answer of a search that is explained. */
export function explanationOf(canonical: string): object {
  const { flushReason: _, ...numbers } = statsOf();
  return {
    query: { canonical },
    plan: { conditions: { kind: 'none' }, regexps: [], estimatedBytes: 0, verifiedBytes: 0 },
    totals: { shardsEligible: 0, shardsOutOfScope: 0, docsInScope: 0, bytesInScope: 0, ...numbers },
    best: [],
    stats: statsOf(),
    isSearchExhaustive: true,
  };
}
