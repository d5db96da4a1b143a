// Makes search responses by hand: a chunk is written as its text with the matched stretches between
// guillemets, `one «two» three`, and the positions are worked out from that.

import type { IndexReport } from '../../daemon/cli/index-files.ts';
import { statsOf } from '../http/answers.ts';
import type {
  Chunk,
  FileResult,
  Location,
  MatchRange,
  SearchResponse,
} from '../../daemon/api/search/search-schemas.ts';
import type { Explanation } from '../../daemon/api/search/explain-schemas.ts';

function advance({ byteOffset, lineNumber, column }: Location, character: string): Location {
  // A bad byte is one byte in the file and U+FFFD here.
  const size = character === '\ufffd' ? 1 : Buffer.byteLength(character);
  return character === '\n'
    ? { byteOffset: byteOffset + size, lineNumber: lineNumber + 1, column: 1 }
    : { byteOffset: byteOffset + size, lineNumber, column: column + 1 };
}

function parseMarked(marked: string, from: Location): { content: string; ranges: MatchRange[] } {
  const ranges: MatchRange[] = [];
  let content = '';
  let at = from;
  let start = from;
  for (const character of Array.from(marked)) {
    if (character === '«') start = at;
    else if (character === '»') ranges.push({ start, end: at });
    else {
      content += character;
      at = advance(at, character);
    }
  }
  return { content, ranges };
}

/** A chunk whose first line has number `lineNumber`. */
export function chunk(marked: string, lineNumber = 1): Chunk {
  const contentStart = { byteOffset: (lineNumber - 1) * 1000, lineNumber, column: 1 };
  const { content, ranges } = parseMarked(marked, contentStart);
  return { content, matchRanges: ranges, contentStart };
}

/** A file result; the path may be marked like a chunk. */
export function file(path: string, chunks: Chunk[] = [], repository = 'r/a'): FileResult {
  const name = parseMarked(path, { byteOffset: 0, lineNumber: 1, column: 1 });
  const fileName = { text: name.content, matchRanges: name.ranges };
  return { fileName, repository, repositoryId: 1, webUrl: '', language: '', chunks };
}

export function response(files: FileResult[], more: Partial<SearchResponse> = {}): SearchResponse {
  return {
    stats: statsOf({ totalMatchCount: 7, duration: 1_500_000 }),
    files,
    repositoryInfo: [],
    isSearchExhaustive: true,
    ...more,
  };
}

const PLAN: Explanation['plan'] = {
  conditions: {
    kind: 'and',
    children: [
      {
        kind: 'content',
        condition: 'text:"pear"',
        blocks: 1,
        docs: 2,
        shardsScanned: 0,
        grams: {
          kind: 'and',
          children: [
            { kind: 'gram', gram: 'pea' },
            { kind: 'gram', gram: 'ear' },
          ],
        },
      },
      { kind: 'content', condition: 'regex:/x+/', docs: 3000, grams: { kind: 'scan' } },
      { kind: 'filter', condition: 'lang:"Go"', docs: 1 },
    ],
  },
  regexps: [
    { expression: 'regex:/x+/', engine: 'DFA', requires: 'ALL', begins: '"x"' },
    {
      expression: 'regex:/a.foo/',
      engine: 'inner needles by line + DFA',
      requires: '"foo"',
      needles: ['foo'],
    },
  ],
  estimatedBytes: 4096,
  verifiedBytes: 1,
};

const BEST: Explanation['best'] = [
  {
    repository: 'r/a',
    fileName: 'src/pear.go',
    score: 20_134,
    parts: { symbol: 16_400, name: 0, text: 3334, near: 9000, tier: 0.7, path: 0, leaves: 400 },
  },
  { repository: 'r/a', fileName: 'x.go', score: 400 },
];

/** The explanation of `pear lang:go` over three shards, a row of each kind but one. */
export function explanation(more: Partial<Explanation> = {}): Explanation {
  const { flushReason, ...nothing } = statsOf({ duration: 0 });
  const row = { repository: 'r/a', docs: 1000, estimatedBytes: 0 };
  return {
    query: { canonical: 'and(text:"pear", lang:"go")', implicitRevision: 'rev:"HEAD"' },
    plan: PLAN,
    totals: {
      shardsEligible: 3,
      shardsOutOfScope: 1,
      docsInScope: 3000,
      bytesInScope: 90000,
      ...nothing,
      totalMatchCount: 2,
    },
    best: BEST,
    shards: [
      {
        ...row,
        id: 'aa',
        class: 'scanned',
        reason: 'candidate docs: 2',
        stats: { ...nothing, totalMatchCount: 2, filesConsidered: 2, shardsScanned: 1 },
      },
      {
        ...row,
        id: 'bb',
        class: 'skipped_filter',
        reason: 'trigram "pea" absent',
        stats: { ...nothing, shardsSkippedFilter: 1 },
      },
      {
        ...row,
        id: 'cc',
        class: 'skipped',
        reason: 'limit reached',
        stats: { ...nothing, filesSkipped: 1000, shardsSkipped: 1 },
      },
    ],
    stats: {
      ...nothing,
      flushReason,
      totalMatchCount: 2,
      filesConsidered: 2,
      filesSkipped: 1000,
      shardsScanned: 1,
      shardsSkipped: 1,
      shardsSkippedFilter: 1,
    },
    isSearchExhaustive: false,
    incompleteReasons: ['match_limit'],
    ...more,
  };
}

/** The output of `trawl inspect` for an index of four shards; nothing is to be merged by default. */
export function surveyed(more: Partial<IndexReport> = {}): IndexReport {
  const shard = {
    size: 1500,
    contentSize: 1000,
    docCount: 10,
    deadCount: 0,
    deadSize: 0,
    level: 1,
    isMergedNext: false,
  };
  return {
    dataDir: '/data',
    repoCount: 6,
    damagedRepoCount: 0,
    docCount: 40,
    deadCount: 4,
    contentSize: 4000,
    deadSize: 400,
    levels: [1000, 16_000],
    mergedShardCount: 16,
    nextMerge: null,
    shards: [
      {
        ...shard,
        shardId: 'aa',
        deadCount: 4,
        deadSize: 400,
        repos: ['r/a', 'r/b', 'r/c', 'r/d', 'r/e'],
      },
      { ...shard, shardId: 'bb', level: null, repos: ['r/a'] },
      { ...shard, shardId: 'cc', outOfService: 'page 1 is damaged', repos: ['r/a'] },
      { ...shard, shardId: 'dd', deadCount: null, deadSize: null, level: null, repos: ['r/\x1bf'] },
    ],
    ...more,
  };
}
