// Relations between the numbers of every answer (API.md 7.3): asserted by each helper that searches, blocking or as a
// stream, in this process or through a daemon. S11, S13, S14 and S15 compare several answers; they are in test/oracle
// and test/core/lookups.test.ts.

import assert from 'node:assert/strict';

interface FoundFile {
  readonly fileName: { readonly matchRanges: readonly unknown[] };
  readonly chunks: readonly { readonly matchRanges: readonly unknown[] }[];
}

/** The part of an answer that the numbers are about; of a stream: all its files, and its final event. */
export interface Counted {
  readonly stats: Readonly<Record<string, unknown>>;
  readonly files: readonly FoundFile[];
  readonly isSearchExhaustive: boolean;
  readonly incompleteReasons?: readonly string[] | undefined;
}

/** What is known of a search beside its answer. */
export interface SearchFacts {
  readonly matches: number;
  readonly shardCount?: number;
  /** Whether an atom needs the regular expression engine. */
  readonly needsEngine?: boolean;
}

const NUMBERS = [
  'actualMatchCount',
  'totalMatchCount',
  'duration',
  'fileCount',
  'filesSkipped',
  'contentBytesLoaded',
  'indexBytesLoaded',
  'crashes',
  'shardFilesConsidered',
  'filesConsidered',
  'filesLoaded',
  'shardsScanned',
  'shardsSkipped',
  'shardsSkippedFilter',
  'ngramMatches',
  'ngramLookups',
  'wait',
  'matchTreeConstruction',
  'matchTreeSearch',
  'regexpsConsidered',
] as const;

const REASONS = [
  'match_limit',
  'size_limit',
  'deadline',
  'shard_crashed',
  'shard_quarantined',
  'revision_unreadable',
  'symbols_missing',
  'internal_error',
] as const;

export function rangeCountOf(files: readonly FoundFile[]): number {
  return files.reduce(
    (sum, { fileName, chunks }) =>
      sum +
      fileName.matchRanges.length +
      chunks.reduce((count, { matchRanges }) => count + matchRanges.length, 0),
    0,
  );
}

/** Asserts that the answer agrees with itself. */
export function checkInvariants(answer: Counted, facts: SearchFacts): void {
  const { stats, files } = answer;
  assert.deepEqual(Object.keys(stats).sort(), [...NUMBERS, 'flushReason'].sort());
  for (const name of NUMBERS) {
    const value = stats[name];
    assert.ok(Number.isSafeInteger(value) && Number(value) >= 0, `${name}: ${String(value)}`);
  }
  const s = (name: (typeof NUMBERS)[number]): number => Number(stats[name]);
  assert.equal(s('actualMatchCount'), rangeCountOf(files), 'S1');
  assert.ok(s('actualMatchCount') <= facts.matches, 'S1');
  assert.ok(s('actualMatchCount') <= s('totalMatchCount'), 'S2');
  assert.ok(s('fileCount') <= s('filesConsidered'), 'S3');
  assert.ok(s('filesConsidered') <= s('shardFilesConsidered'), 'S3');
  assert.ok(s('fileCount') <= s('totalMatchCount'), 'S3');
  assert.ok(s('filesLoaded') <= s('filesConsidered'), 'S4');
  assert.equal(s('contentBytesLoaded') === 0, s('filesLoaded') === 0, 'S5');
  assert.ok(files.length <= s('fileCount'), 'S6');
  const classes = s('shardsScanned') + s('shardsSkippedFilter') + s('shardsSkipped') + s('crashes');
  if (facts.shardCount !== undefined) assert.equal(classes, facts.shardCount, 'S8');
  assert.ok(s('wait') <= s('duration'), 'S9');
  assert.ok(s('fileCount') === 0 || s('shardsScanned') + s('crashes') >= 1, 'S10');
  if (facts.needsEngine === false) assert.equal(s('regexpsConsidered'), 0, 'S12');
  checkHonesty(answer, s);
}

/** S6, S7 and API.md 6.6: an answer is exhaustive exactly if nothing is missing, and else says why. */
function checkHonesty(
  { files, isSearchExhaustive, incompleteReasons }: Counted,
  s: (name: (typeof NUMBERS)[number]) => number,
): void {
  const isCut = s('totalMatchCount') > s('actualMatchCount');
  const reasons = incompleteReasons ?? [];
  assert.equal(isSearchExhaustive, incompleteReasons === undefined);
  assert.deepEqual(
    reasons,
    REASONS.filter((reason) => reasons.includes(reason)),
    'known reasons, in order',
  );
  if (isSearchExhaustive) {
    assert.equal(files.length, s('fileCount'), 'S6');
    assert.deepEqual([s('filesSkipped'), s('shardsSkipped'), s('crashes')], [0, 0, 0], 'S7');
    assert.ok(!isCut, 'S7');
    return;
  }
  assert.ok(reasons.length > 0);
  // Matches in a shard that fails later cannot be shown.
  const isLost = reasons.includes('internal_error') || reasons.includes('shard_crashed');
  const isShort = reasons.includes('match_limit') || reasons.includes('size_limit');
  if (!isLost) assert.equal(isShort, isCut, 'match_limit');
  assert.equal(reasons.includes('shard_crashed'), s('crashes') > 0, 'shard_crashed');
  if (reasons.includes('shard_quarantined')) assert.ok(s('shardsSkipped') > 0, 'quarantined');
}
